"""`hallumeter compare`: runs in, what changed out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .output import indented_json, refuse_as_file, say_what_happened
from .parameters import PATH, form_option, interval_options, joined_names, known_language, option, quiet_option

if TYPE_CHECKING:
    from hallumeter.decide.compare.reading import CompareSettings
    from hallumeter.records.comparison import Comparison, RunRanking


REGRESSION, INCONCLUSIVE = 1, 3
EXIT_CODES = {"no_regression": 0, "regression": REGRESSION, "inconclusive": INCONCLUSIVE, "unmeasured": INCONCLUSIVE}


@click.command()
@click.argument("runs", type=PATH, metavar="RUN_A RUN_B [RUN_C...]", nargs=-1, required=True)
@option(
    "--metric",
    "metrics",
    multiple=True,
    callback=joined_names,
    metavar="METRIC",
    help="Compare only these; 'all' for every one.",
)
@option(
    "--by", multiple=True, callback=joined_names, metavar="FIELD", help="Compare slices as well; repeat for several."
)
@option(
    "--on", multiple=True, callback=joined_names, metavar="FIELD", help="Align records by fields instead of their ids."
)
@option(
    "--margin",
    "margins",
    multiple=True,
    metavar="[METRIC=]NUMBER",
    help="Largest change for the worse that does not matter.  [default: 0.05 for rates]",
)
@option(
    "--max-unmeasured", type=float, default=0.05, metavar="SHARE", help="Of records and claims that a run may lack."
)
@option("--cluster", metavar="FIELD", help="The unit of resampling.  [default: as in the runs]")
@option("--similarity", type=float, default=0.7, metavar="S", help="Claims at least this alike are one, reworded.")
@option("--examples", type=int, default=20, metavar="N", help="Changed claims kept per transition.")
@option("--out", type=PATH, metavar="FILE", help="Write a page as well, one HTML file that loads nothing.")
@option("--language", default="en", metavar="CODE", callback=known_language, help="Of the page: en, fr or ko.")
@form_option
@interval_options
@quiet_option
def compare(runs: tuple[Path, ...], **options: Any) -> None:
    """Tell what changed between runs over the same records: did it get better?

    Records are aligned by id and claims by place and wording. Exit code 0: no metric is worse by more than chance, and
    a change for the worse as large as the margin is ruled out. 1: regression, a metric is worse by more than chance
    after correction for all tests. 3: neither is shown, or too much is unmeasured. Not shown to differ is not equal.

    Three runs or more are ranked instead (Friedman, Nemenyi's critical difference); 3 when nothing can be ranked.

    \b
    Examples:
      hallumeter compare baseline candidate
      hallumeter compare baseline candidate --by task --margin 0.02
      hallumeter compare baseline candidate --metric mihr --format markdown > comment.md
      hallumeter compare tesseract vlm --on page
      hallumeter compare baseline candidate --out comparison.html
      hallumeter compare small medium large --out ranking.html
    """
    form, is_quiet = str(options.pop("form")), bool(options.pop("quiet"))
    out, language = options.pop("out"), str(options.pop("language"))
    if len(runs) < 2:
        raise click.UsageError("give two runs or more", click.get_current_context())
    if out is not None:
        refuse_as_file(out)
    found, exit_code = (_ranked if len(runs) > 2 else _compared)(runs, _settings(options))
    if not is_quiet:
        say_what_happened((), found.notices)
    click.echo(_text(found, form), nl=False)
    if out is not None:
        from hallumeter.decide.compare.page import write_comparison

        write_comparison(found, out, language=language)
        if not is_quiet:
            click.echo(f"page: {out}", err=True)
    raise click.exceptions.Exit(exit_code)


def _compared(runs: tuple[Path, ...], settings: CompareSettings) -> tuple[Comparison | RunRanking, int]:
    from hallumeter.decide.compare.pipeline import compare as compare_runs

    found = compare_runs(runs[0], runs[1], settings=settings)
    return found, EXIT_CODES[found.outcome]


def _ranked(runs: tuple[Path, ...], settings: CompareSettings) -> tuple[Comparison | RunRanking, int]:
    from hallumeter.decide.compare.pipeline import rank_runs

    found = rank_runs(runs, settings=settings)
    return found, INCONCLUSIVE if all(each.p_value is None for each in found.rankings) else 0


def _text(found: Comparison | RunRanking, form: str) -> str:
    from hallumeter.decide.compare.text import comparison_markdown, comparison_text, ranking_markdown, ranking_text
    from hallumeter.records.comparison import Comparison
    from hallumeter.report.table import terminal_width

    if form == "json":
        return indented_json(found)
    if isinstance(found, Comparison):
        return comparison_markdown(found) if form == "markdown" else comparison_text(found, **terminal_width())
    return ranking_markdown(found) if form == "markdown" else ranking_text(found, **terminal_width())


def _settings(options: dict[str, Any]) -> CompareSettings:
    from hallumeter.decide.compare.reading import CompareSettings
    from hallumeter.decide.policy import ComparePolicy

    margins = dict(_margin(text) for text in options.pop("margins"))
    everywhere = margins.pop(None, None)
    policy = ComparePolicy(
        margin=ComparePolicy().margin if everywhere is None else everywhere,
        margins={name: margin for name, margin in margins.items() if name is not None},
        is_margin_chosen=everywhere is not None,
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
