"""`hallumeter correct`: a run and labels in, rates corrected for the judge's errors out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .output import echo_result, indented_json, opened_run, say_what_happened
from .parameters import (
    RUN,
    command,
    form_option,
    interval_options,
    label_options,
    label_settings,
    no_verify_option,
    quiet_option,
    width_option,
)

INCONCLUSIVE = 3


@command(short_help="Correct rates for the judge's errors.")
@click.argument("run", type=RUN, metavar="RUN")
@label_options
@width_option
@form_option
@interval_options
@quiet_option
@no_verify_option
def correct(run: Path, **options: Any) -> None:
    """Correct rates for the judge's errors, with the help of a few labels by people.

    Labels come from `hallumeter label` and the viewer (kept in the run folder), from a table (record_id, claim_id,
    label, annotator; without claim_id a label is about the whole response), from a judge of the run that you trust, or
    from a field of the records. The labelled claims must be a random sample of all claims, or of those with the same
    verdict. Exit code 3: no rate could be corrected.

    \b
    Examples:
      hallumeter correct run
      hallumeter correct run --labels labels.csv --by model
      hallumeter correct run --reference human --judge embedded --width 0.02
      hallumeter correct run --gold hallucinated --format json
    """
    from hallumeter.claims.labelled.correction import CorrectSettings
    from hallumeter.decide.correct import correct as correct_run
    from hallumeter.decide.correct import correction_markdown, correction_text
    from hallumeter.report.table import terminal_width

    form, is_quiet = str(options.pop("form")), bool(options.pop("quiet"))
    source = label_settings(options)
    opened = opened_run(run, is_verified=not options.pop("no_verify"), is_quiet=is_quiet)
    found = correct_run(opened, settings=CorrectSettings(source=source, **options))
    if not is_quiet:
        say_what_happened((), found.notices)
    if form == "json":
        text = indented_json(found)
    else:
        text = correction_markdown(found) if form == "markdown" else correction_text(found, **terminal_width())
    echo_result(text, form, is_quiet=is_quiet)
    if not found.is_corrected:
        raise click.exceptions.Exit(INCONCLUSIVE)
