"""`hallumeter compare`: runs in, what changed out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .output import echo_result, indented_json, opened_run, refuse_as_file, say_what_happened
from .parameters import (
    OUTPUT,
    PATH,
    RUN,
    STATISTICS,
    command,
    form_option,
    interval_options,
    joined_names,
    known_language,
    no_verify_option,
    option,
    quiet_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.decide.compare.sides import CompareSettings
    from hallumeter.records.comparison import Comparison, RunRanking
    from hallumeter.run.finished import Run


WHAT, DECISION = "What is compared", "What counts as a regression"
REGRESSION, INCONCLUSIVE = 1, 3
EXIT_CODES = {"no_regression": 0, "regression": REGRESSION, "inconclusive": INCONCLUSIVE, "unmeasured": INCONCLUSIVE}


@command(short_help="See what changed between runs, better or worse.")
@click.argument("runs", type=RUN, metavar="RUN_A RUN_B [RUN_C...]", nargs=-1, required=True)
@option(
    "--metric",
    "metrics",
    multiple=True,
    callback=joined_names,
    metavar="METRIC",
    section=WHAT,
    help="Compare only these; 'all' for every metric.",
)
@option(
    "--by",
    multiple=True,
    callback=joined_names,
    metavar="FIELD",
    section=WHAT,
    help="Also show slices, such as each task; repeat for several fields.",
)
@option(
    "--on",
    multiple=True,
    callback=joined_names,
    metavar="FIELD",
    section=WHAT,
    help="Match records by a field instead of by id.",
)
@option(
    "--similarity",
    type=float,
    default=0.7,
    metavar="S",
    section=WHAT,
    help="How alike two wordings of a claim must be, 0 to 1.",
)
@option("--gate-slices", is_flag=True, section=DECISION, help="Let slices decide too; otherwise they only inform.")
@option(
    "--margin",
    "margins",
    multiple=True,
    metavar="[METRIC=]NUMBER",
    section=DECISION,
    help="The largest change for the worse that you accept.  [default: 0.05 for rates]",
)
@option(
    "--max-unmeasured",
    type=float,
    default=0.05,
    metavar="SHARE",
    section=DECISION,
    help="Share of records and claims that a run may lack.",
)
@option("--verbose", is_flag=True, section=OUTPUT, help="Add p values and the smallest difference that could be seen.")
@form_option
@quiet_option
@option("--out", type=PATH, metavar="FILE", section=OUTPUT, help="Also write one self-contained HTML page.")
@option(
    "--language",
    default="en",
    metavar="CODE",
    callback=known_language,
    section=OUTPUT,
    help="Language of the page: en, fr or ko.",
)
@option("--examples", type=int, default=20, metavar="N", section=OUTPUT, help="Changed claims to keep per transition.")
@option("--cluster", metavar="FIELD", section=STATISTICS, help="The unit that is resampled.  [default: as in the runs]")
@interval_options
@no_verify_option
def compare(runs: tuple[Path, ...], **options: Any) -> None:
    """See what changed between two runs over the same records: better or worse?

    Records are matched by id, claims by place and wording. Exit code 0: no metric is worse by more than chance, and a
    change for the worse beyond the margin is ruled out. 1: regression, a metric is worse by more than chance after
    correction for all tests. 3: neither is shown, or too much is unmeasured: no evidence of a difference is not
    evidence of none. Slices (--by) only inform, unless you add --gate-slices.

    Three or more runs are ranked instead (Friedman test, Nemenyi's critical difference); exit code 3 if they cannot be.

    \b
    Examples:
      hallumeter compare baseline candidate
      hallumeter compare baseline candidate --by task --margin 0.02
      hallumeter compare baseline candidate --by task --gate-slices
      hallumeter compare baseline candidate --format markdown > comment.md
      hallumeter compare tesseract vlm --on page
      hallumeter compare baseline candidate --out comparison.html
      hallumeter compare small medium large --out ranking.html
    """
    form, is_quiet, is_verbose = str(options.pop("form")), bool(options.pop("quiet")), bool(options.pop("verbose"))
    out, language = options.pop("out"), str(options.pop("language"))
    if len(runs) < 2:
        raise click.UsageError("give two runs or more", click.get_current_context())
    if out is not None:
        refuse_as_file(out)
    is_verified = not options.pop("no_verify")
    settings = _settings(options)
    opened = [opened_run(run, is_verified=is_verified, is_quiet=is_quiet) for run in runs]
    found, exit_code = (_ranked if len(runs) > 2 else _compared)(opened, settings)
    if not is_quiet:
        say_what_happened((), found.notices)
    echo_result(_text(found, form, is_verbose=is_verbose), form, is_quiet=is_quiet)
    if out is not None:
        from hallumeter.decide.compare.page import write_comparison

        write_comparison(found, out, language=language)
        if not is_quiet:
            click.echo(f"page: {out}", err=True)
    raise click.exceptions.Exit(exit_code)


def _compared(runs: Sequence[Run], settings: CompareSettings) -> tuple[Comparison | RunRanking, int]:
    from hallumeter.decide.compare.pipeline import compare as compare_runs

    found = compare_runs(runs[0], runs[1], settings=settings)
    return found, EXIT_CODES[found.outcome]


def _ranked(runs: Sequence[Run], settings: CompareSettings) -> tuple[Comparison | RunRanking, int]:
    from hallumeter.decide.compare.pipeline import rank_runs

    found = rank_runs(runs, settings=settings)
    return found, INCONCLUSIVE if all(each.p_value is None for each in found.rankings) else 0


def _text(found: Comparison | RunRanking, form: str, *, is_verbose: bool) -> str:
    from hallumeter.decide.compare.text import comparison_markdown, comparison_text, ranking_markdown, ranking_text
    from hallumeter.records.comparison import Comparison
    from hallumeter.report.table import terminal_width

    if form == "json":
        return indented_json(found)
    if isinstance(found, Comparison) and form == "markdown":
        return comparison_markdown(found)
    if isinstance(found, Comparison):
        return comparison_text(found, is_verbose=is_verbose, **terminal_width())
    return ranking_markdown(found) if form == "markdown" else ranking_text(found, **terminal_width())


def _settings(options: dict[str, Any]) -> CompareSettings:
    from hallumeter.decide.compare.sides import CompareSettings
    from hallumeter.decide.policy import ComparePolicy

    margins = dict(_margin(text) for text in options.pop("margins"))
    everywhere = margins.pop(None, None)
    policy = ComparePolicy(
        margin=ComparePolicy().margin if everywhere is None else everywhere,
        margins={name: margin for name, margin in margins.items() if name is not None},
        is_margin_chosen=everywhere is not None,
        are_slices_gated=options.pop("gate_slices"),
        largest_unmeasured=options.pop("max_unmeasured"),
    )
    return CompareSettings(policy=policy, **options)


def _margin(text: str) -> tuple[str | None, float]:
    metric, sign, number = text.rpartition("=")
    try:
        return (metric if sign else None), float(number)
    except ValueError:
        raise click.UsageError(
            f"--margin {text!r}: expected NUMBER or METRIC=NUMBER, such as mihr=0.02", click.get_current_context()
        ) from None
