"""`hallumeter calibrate`: a run and labels in, a threshold with a promise out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .output import echo_result, indented_json, opened_run, refuse_as_file, say_what_happened
from .parameters import (
    JUDGING,
    OUTPUT,
    PATH,
    RUN,
    STATISTICS,
    command,
    form_option,
    label_options,
    label_settings,
    no_verify_option,
    option,
    quiet_option,
)

NOTHING_PROMISED = 3


@command(short_help="Find the threshold that keeps a promise.")
@click.argument("run", type=RUN, metavar="RUN")
@option(
    "--target",
    default="at most 5% hallucinated among accepted",
    metavar="WORDS",
    section=JUDGING,
    help='What to promise; or "at most 2% of all hallucinated and accepted", "miss at most 10% of hallucinations".',
)
@option("--confidence", type=float, default=0.9, section=JUDGING, help="Confidence of the promise and the intervals.")
@option(
    "--on-average",
    "is_on_average",
    is_flag=True,
    section=JUDGING,
    help="Promise it on average instead (not for shares among accepted).",
)
@option(
    "--unit",
    type=click.Choice(["claim", "response"]),
    section=JUDGING,
    help="What is accepted or rejected.  [default: what is labelled]",
)
@label_options
@option("--jointly", "is_joint", is_flag=True, section=JUDGING, help="Keep the promise in all slices at once.")
@form_option
@option("--out", type=PATH, metavar="FILE", section=OUTPUT, help="Write it as JSON, for `audit --calibration FILE`.")
@option("--seed", type=int, default=0, section=STATISTICS, help="Seed of the random numbers.")
@option("--resamples", type=int, default=2000, section=STATISTICS, help="Resamples of the bootstrap.")
@quiet_option
@no_verify_option
def calibrate(run: Path, **options: Any) -> None:
    """Find the threshold that keeps a promise, such as at most 5 % hallucinated.

    Tests the judge's probabilities against labels and takes the most permissive threshold that is shown to keep the
    target, however good or bad the judge is (Learn-then-Test, conformal risk control). If there is none, you see the
    best that can be promised. A table and a diagram show whether the probabilities can be believed. Labels are given as
    for `hallumeter correct`. Use the result with `audit --calibration`. Exit code 3: no threshold can promise the
    target.

    \b
    Examples:
      hallumeter calibrate run --target "at most 5% hallucinated among accepted"
      hallumeter calibrate run --labels labels.csv --out calibration.json
      hallumeter calibrate run --target "miss at most 10% of hallucinations"
      hallumeter calibrate run --reference human --judge embedded --by task
    """
    from hallumeter.decide.calibrate.pipeline import calibrate as calibrate_run
    from hallumeter.decide.calibrate.settings import CalibrateSettings
    from hallumeter.decide.calibrate.text import calibration_markdown, calibration_text
    from hallumeter.report.table import terminal_width

    form, is_quiet, out = str(options.pop("form")), bool(options.pop("quiet")), options.pop("out")
    if out is not None:
        refuse_as_file(out)
    source = label_settings(options)
    opened = opened_run(run, is_verified=not options.pop("no_verify"), is_quiet=is_quiet)
    found = calibrate_run(opened, settings=CalibrateSettings(source=source, **options))
    if not is_quiet:
        say_what_happened((), found.notices)
    encoded = indented_json(found)
    if out is not None:
        out.write_text(encoded, encoding="utf-8")
    texts = {"json": encoded, "markdown": calibration_markdown(found)}
    text = texts.get(form) or calibration_text(found, **terminal_width())
    echo_result(text, form, is_quiet=is_quiet)
    if not found.is_promised:
        raise click.exceptions.Exit(NOTHING_PROMISED)
