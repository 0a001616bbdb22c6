"""`hallumeter baselines`: a labelled run in, its judges beside what needs no judge out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .experiments import UNMEASURED
from .output import echo_result, indented_json, opened_run, say_what_happened
from .parameters import (
    JUDGING,
    LABELLED_RUN,
    OUTPUT,
    STATISTICS,
    command,
    form_option,
    label_options,
    label_settings,
    no_verify_option,
    option,
    quiet_option,
)

if TYPE_CHECKING:
    from hallumeter.claims.labelled.scoring import BaselineSettings


@command(short_help="See whether your judge beats trivial baselines.")
@click.argument("run", type=LABELLED_RUN, metavar="RUN")
@label_options
@option(
    "--limit",
    type=int,
    default=200,
    metavar="N",
    section=JUDGING,
    help="Ask judges again on at most N labelled responses; 0: none.",
)
@option("--shuffle", is_flag=True, section=JUDGING, help="Also ask judges that need a network, and your functions.")
@option("--concurrency", type=int, default=16, section=JUDGING, help="Calls to one model at the same time.")
@option("--timeout", type=float, default=60, metavar="SECONDS", section=JUDGING, help="Time limit of one call.")
@option("--no-keep", is_flag=True, section=OUTPUT, help="Do not write baselines.json into the run folder.")
@option("--seed", type=int, default=0, section=STATISTICS, help="Seed of the random numbers.")
@option("--confidence", type=float, default=0.95, section=STATISTICS, help="Confidence of the intervals.")
@option("--workers", type=int, metavar="N", help="Processes on this machine.  [default: all cores]")
@form_option
@quiet_option
@no_verify_option
def baselines(run: Path, **options: Any) -> None:
    """See whether your judge beats trivial baselines, such as counting characters.

    Compares each judge of a labelled run with flagging everything, with text length, with word overlap with the
    evidence, with word overlap with the wrong evidence, and with itself on the wrong evidence. Offline judges are asked
    again; for others the cost is printed, and --shuffle allows the calls. The result is kept in the run folder as
    baselines.json and shown in its report. With --by, evidence is swapped within slices only. Exit code 3: there are
    too few labels to tell.

    \b
    Examples:
      hallumeter baselines run
      hallumeter baselines run --labels labels.csv
      hallumeter baselines run --reference human --by task
      hallumeter baselines run --gold is_hallucinated --format markdown
    """
    from hallumeter.claims.labelled.baselines import keep_baselines
    from hallumeter.decide.baselines import baselines_markdown, baselines_text, is_inconclusive, null_baselines
    from hallumeter.report.table import terminal_width

    from .progress import shown_audit

    form, is_quiet, is_kept = str(options.pop("form")), bool(options.pop("quiet")), not options.pop("no_keep")
    is_verified = not options.pop("no_verify")
    settings = _settings(options)
    opened = opened_run(run, is_verified=is_verified, is_quiet=is_quiet)
    with shown_audit(is_quiet=is_quiet) as progress:
        found = null_baselines(opened, settings, progress=progress)
    if not is_quiet:
        say_what_happened((), found.notices)
    texts = {"json": indented_json, "markdown": baselines_markdown}
    text = texts[form](found) if form in texts else baselines_text(found, **terminal_width())
    echo_result(text, form, is_quiet=is_quiet)
    if is_kept:
        place = keep_baselines(run, found)
        if not is_quiet:
            click.echo(f"kept: {place}; `hallumeter report` shows it", err=True)
    if is_inconclusive(found):
        raise click.exceptions.Exit(UNMEASURED)


def _settings(options: dict[str, Any]) -> BaselineSettings:
    from hallumeter.claims.labelled.scoring import BaselineSettings
    from hallumeter.run.engines.local import available_cores
    from hallumeter.run.verdict_cache import cache_folder

    return BaselineSettings(
        labels=label_settings(options),
        is_any_judge_asked=options.pop("shuffle"),
        timeout_seconds=options.pop("timeout"),
        workers=options.pop("workers") or available_cores(),
        cache=cache_folder(),
        **options,
    )
