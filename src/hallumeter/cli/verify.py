"""`hallumeter verify`: a run or a report in, whether its numbers are true out."""

from __future__ import annotations

from pathlib import Path

import click

from .output import indented_json
from .parameters import RUN, command, option

EXIT_CODES = {"equal": 0, "different": 1, "not_verifiable": 3}


@command(short_help="Recompute and check the numbers of a run or report.")
@click.argument("subject", type=RUN, metavar="RUN|REPORT.html")
@option(
    "--run",
    "runs",
    type=RUN,
    multiple=True,
    metavar="RUN",
    help="The run that the report should belong to; repeat for a report on several, in its order.",
)
@option("--format", "form", type=click.Choice(["table", "json"]), default="table", help="What to print.")
def verify(subject: Path, runs: tuple[Path, ...], form: str) -> None:
    """Recompute every number of a run or a report, and compare.

    A run: its files are compared with the digests in its manifest, then its summary and measurements are computed again
    from its records, claims and verdicts (transcripts are aligned again, dialogues and aspects scored again). No judge
    and no model is asked.

    A report alone, or the page of `hallumeter compare --out`: its digest and its arithmetic are checked, and that it
    prints the numbers it carries. With --run, also that it belongs to that run.

    Exit code 0: equal. 1: different; both values are shown. 3: something cannot be verified; the reason is shown.

    \b
    Examples:
      hallumeter verify run
      hallumeter verify run/report.html
      hallumeter verify friday.html --run run
      hallumeter verify comparison.html --run baseline --run candidate
    """
    from hallumeter.decide.verify import verification_text
    from hallumeter.decide.verify import verify as verified

    if runs and subject.is_dir():
        raise click.UsageError("--run goes with a report, not with a run", click.get_current_context())
    found = verified(subject, run=runs)
    click.echo(indented_json(found) if form == "json" else verification_text(found), nl=False)
    raise click.exceptions.Exit(EXIT_CODES[found.outcome])
