"""`hallumeter gate`: a run and a policy in, pass or fail out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .output import echo_result, opened_run, say_what_happened
from .parameters import (
    OUTPUT,
    PATH,
    RUN,
    command,
    finished_operating_options,
    given_operating_point,
    no_verify_option,
    option,
    quiet_option,
)

if TYPE_CHECKING:
    from hallumeter.claims.settings import OperatingPoint

EXIT_CODES = {"passed": 0, "broken": 1, "unmeasured": 3}
FORMATS = ("table", "markdown", "json", "junit", "github", "sarif")


@command(short_help="Pass or fail a run by a policy, for CI.")
@click.argument("run", type=RUN, metavar="RUN")
@option("--policy", type=PATH, metavar="FILE", help="The TOML policy with the bounds.")
@option("--init", is_flag=True, help="Write a policy that this run passes, with every line explained; then edit it.")
@option("--source", type=PATH, default=Path(), metavar="DIR", help="Folder of the input files, to name lines.")
@no_verify_option
@finished_operating_options
@option("--format", "form", type=click.Choice(FORMATS), default="table", section=OUTPUT, help="What to print.")
@quiet_option
def gate(run: Path, policy: Path | None, init: bool, source: Path, **options: Any) -> None:
    """Pass or fail a run by the bounds of a policy, for CI.

    A bound is on a value, on the end of its interval, or on the worst case that unmeasured claims allow; for all
    records or for slices. Exit code 0: passed. 1: a bound is broken, and the records behind it are named. 3: a bound
    could not be measured, or too much is unmeasured.

    Labels are those of the run. With --threshold or --calibration they are decided again from the probabilities that
    the run kept, without asking the judge. A --preset cannot be applied afterwards: it depends on the kind of text,
    which a run does not keep.

    \b
    Examples:
      hallumeter gate run --init                  writes policy.toml
      hallumeter gate run --policy policy.toml
      hallumeter gate run --policy policy.toml --calibration calibration.json
      hallumeter gate run --policy policy.toml --format junit > gate.xml
      hallumeter gate run --policy policy.toml --format sarif > gate.sarif
    """
    from hallumeter.catalog import METRICS_BY_ID
    from hallumeter.claims.measure.commands import read_policy
    from hallumeter.decide.gate.pipeline import gate_result
    from hallumeter.decide.gate.text import gate_github, gate_json, gate_junit, gate_markdown, gate_sarif, gate_text
    from hallumeter.report.table import terminal_width

    if init:
        _begin(run, policy or Path("policy.toml"), is_verified=not options["no_verify"])
        return
    if policy is None:
        raise click.UsageError(
            "give a policy with --policy FILE, or write one with --init", click.get_current_context()
        )
    form, quiet = options.pop("form"), options.pop("quiet")
    held_to = read_policy(policy, METRICS_BY_ID)
    opened = opened_run(run, is_verified=not options.pop("no_verify"), is_quiet=quiet)
    result = gate_result(opened, held_to, source=source, threshold=_threshold(options))
    texts = {
        "markdown": gate_markdown,
        "json": gate_json,
        "junit": gate_junit,
        "github": gate_github,
        "sarif": gate_sarif,
    }
    text = texts[form](result) if form in texts else gate_text(result, **terminal_width())
    if not quiet and form in ("sarif", "github"):
        say_what_happened((), result.notices)
    echo_result(text, form, is_quiet=quiet)
    raise click.exceptions.Exit(EXIT_CODES[result.outcome])


def _threshold(options: dict[str, Any]) -> float | OperatingPoint | None:
    """Where labels are decided again; None for those of the run."""
    from hallumeter.errors import SettingsError

    if options["preset"] is not None:
        raise SettingsError(
            "--preset cannot be applied to a finished run: it depends on the kind of text, which a run does not keep; "
            "give --threshold, or audit again with --preset"
        )
    point = given_operating_point(options)
    given: float | None = options["threshold"]
    return given if point is None else point


def _begin(run: Path, target: Path, *, is_verified: bool) -> None:
    from hallumeter.decide.gate.pipeline import first_policy
    from hallumeter.errors import InputError

    text = first_policy(opened_run(run, is_verified=is_verified))
    try:
        with target.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise InputError(f"{target}: exists already; choose another file with --policy or remove it first") from None
    click.echo(target)
