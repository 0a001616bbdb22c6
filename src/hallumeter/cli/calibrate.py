"""`hallumeter calibrate`: a run and labels in, a threshold with a promise out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .label_options import label_options, label_settings
from .output import indented_json, refuse_as_file, say_what_happened
from .parameters import PATH, form_option, option, quiet_option

NOTHING_PROMISED = 3


@click.command()
@click.argument("run", type=PATH, metavar="RUN")
@option(
    "--target",
    default="at most 5% hallucinated among accepted",
    metavar="WORDS",
    help='What to promise; also "at most 2% of all hallucinated and accepted", "miss at most 10% of hallucinations".',
)
@option("--confidence", type=float, default=0.9, help="Of the promise, and of the intervals.")
@option("--on-average", "is_on_average", is_flag=True, help="Promise it on average instead; not among accepted.")
@option("--unit", type=click.Choice(["claim", "response"]), help="What is accepted.  [default: what is labelled]")
@label_options
@option("--jointly", "is_joint", is_flag=True, help="Let the confidence hold for all slices at once.")
@form_option
@option("--out", type=PATH, metavar="FILE", help="Write the calibration as JSON.")
@option("--seed", type=int, default=0, help="Of the random numbers.")
@option("--resamples", type=int, default=2000, help="Of the bootstrap.")
@quiet_option
def calibrate(run: Path, **options: Any) -> None:
    """Choose up to which probability claims or responses can be accepted, so that a promise is kept.

    The judge's probabilities are tested against labels; the threshold is the most permissive one that is shown to keep
    the target, whatever the judge is worth (Learn-then-Test, conformal risk control). Without one, the best that can be
    promised is said. A table and a diagram show whether the probabilities hold. Labels are given as for `hallumeter
    correct`. Exit code 3: no threshold can promise the target, in all of the run or in any slice.

    \b
    Examples:
      hallumeter calibrate run --target "at most 5% hallucinated among accepted" --confidence 0.9
      hallumeter calibrate run --labels labels.csv --target "miss at most 10% of hallucinations"
      hallumeter calibrate run --reference human --judge embedded --by task --out calibration.json
    """
    from hallumeter.decide.calibrate.pipeline import calibrate as calibrate_run
    from hallumeter.decide.calibrate.settings import CalibrateSettings
    from hallumeter.decide.calibrate.text import calibration_markdown, calibration_text
    from hallumeter.report.table import terminal_width

    form, is_quiet, out = str(options.pop("form")), bool(options.pop("quiet")), options.pop("out")
    if out is not None:
        refuse_as_file(out)
    source = label_settings(options)
    found = calibrate_run(run, settings=CalibrateSettings(source=source, **options))
    if not is_quiet:
        say_what_happened((), found.notices)
    encoded = indented_json(found)
    if out is not None:
        out.write_text(encoded, encoding="utf-8")
    texts = {"json": encoded, "markdown": calibration_markdown(found)}
    click.echo(texts.get(form) or calibration_text(found, **terminal_width()), nl=False)
    if not found.is_promised:
        raise click.exceptions.Exit(NOTHING_PROMISED)
