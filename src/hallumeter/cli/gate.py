"""`hallumeter gate`: a run and a policy in, pass or fail out."""

from __future__ import annotations

from pathlib import Path

import click

from .output import say_what_happened
from .parameters import PATH, option, quiet_option

EXIT_CODES = {"passed": 0, "broken": 1, "unmeasured": 3}
FORMATS = ("table", "json", "junit", "github", "sarif")


@click.command()
@click.argument("run", type=PATH, metavar="RUN")
@option("--policy", type=PATH, metavar="FILE", help="The TOML policy to hold the run to.")
@option("--init", is_flag=True, help="Write a policy that this run passes, with every line explained.")
@option("--source", type=PATH, default=Path(), metavar="DIR", help="Where the files are that the run was made from.")
@option("--format", "form", type=click.Choice(FORMATS), default="table", help="What to print.")
@quiet_option
def gate(run: Path, policy: Path | None, init: bool, source: Path, form: str, quiet: bool) -> None:
    """Hold a run to the bounds of a policy: does it pass?

    A bound is on a value, on the end of its interval, or on the worst that the unmeasured claims allow; for all records
    or for slices. Exit code 0: every bound is kept. 1: one is broken, and the records behind it are named. 3: none is
    broken, but one could not be measured, or too much is unmeasured.

    \b
    Examples:
      hallumeter gate run --init                            writes policy.toml
      hallumeter gate run --policy policy.toml
      hallumeter gate run --policy policy.toml --format junit > gate.xml
      hallumeter gate run --policy policy.toml --format sarif --source data > gate.sarif
    """
    from hallumeter.catalog import METRICS_BY_ID
    from hallumeter.claims.measure.commands import read_policy
    from hallumeter.decide.gate.pipeline import gate as checked
    from hallumeter.decide.gate.text import gate_github, gate_json, gate_junit, gate_sarif, gate_text
    from hallumeter.report.table import terminal_width
    from hallumeter.run.finished import load

    if init:
        _begin(run, policy or Path("policy.toml"))
        return
    if policy is None:
        raise click.UsageError(
            "give a policy with --policy FILE, or write one with --init", click.get_current_context()
        )
    held_to = read_policy(policy, METRICS_BY_ID)
    result = checked(load(run), held_to, source=source)
    texts = {
        "json": gate_json,
        "junit": gate_junit,
        "github": gate_github,
        "sarif": gate_sarif,
    }
    text = texts[form](result) if form in texts else gate_text(result, **terminal_width())
    if not quiet and form in ("sarif", "github"):
        say_what_happened((), result.notices)
    click.echo(text, nl=False)
    raise click.exceptions.Exit(EXIT_CODES[result.outcome])


def _begin(run: Path, target: Path) -> None:
    from hallumeter.decide.gate.first_policy import first_policy
    from hallumeter.errors import InputError
    from hallumeter.run.finished import load

    text = first_policy(load(run))
    try:
        with target.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise InputError(f"{target}: exists already; choose another file with --policy or remove it first") from None
    click.echo(target)
