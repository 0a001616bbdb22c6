"""`hallumeter stress`: errors of known kinds in, how many of them a judge catches out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .experiments import UNMEASURED
from .output import echo_result, say_what_happened
from .parameters import (
    OUTPUT,
    PATH,
    PATH_OR_DASH,
    command,
    given_paths,
    interval_options,
    measure_settings,
    option,
    quiet_option,
)

if TYPE_CHECKING:
    from hallumeter.challenge.stress.cases import StressSettings


@command(short_help="See which kinds of errors a judge catches.")
@click.argument("paths", nargs=-1, type=PATH_OR_DASH)
@option(
    "--judge", "judges", multiple=True, metavar="JUDGE", help="Who judges; repeat for several.  [default: embedded]"
)
@option(
    "--claims",
    type=click.Choice(["given", "evidence"]),
    help="Edit claims labelled SUPPORTED, or sentences of the evidence.  [default: given if any]",
)
@option("--limit", type=int, default=200, metavar="N", help="Edit at most N claims.")
@option("--out", type=PATH, metavar="DIR", section=OUTPUT, help="Write every edited claim and the summary.")
@option("--format", "form", type=click.Choice(["text", "json"]), default="text", section=OUTPUT, help="What to print.")
@interval_options
@option("--concurrency", type=int, default=16, help="Calls to one model at the same time.")
@option("--timeout", type=float, default=60, metavar="SECONDS", help="Time limit of one call.")
@option("--no-cache", is_flag=True, help="Do not read or write the verdict cache.")
@option("--workers", type=int, metavar="N", help="Processes on this machine.  [default: all cores]")
@option("--strict", is_flag=True, help="Stop at the first record that cannot be used, instead of skipping it.")
@quiet_option
def stress(paths: tuple[Path, ...], **options: Any) -> None:
    """See which kinds of errors a judge catches, and how often it raises a false alarm.

    PATHS are read as by `hallumeter audit`: one answer per row, with its evidence. Supported claims (labelled so, or
    sentences of the evidence itself) get one error each, in a known place: a number, date, unit, name, negation and
    more. The same claims unchanged and reworded show false alarms.

    \b
    Examples:
      hallumeter stress answers.jsonl
      hallumeter stress answers.jsonl --judge rules --judge embedded --limit 50
      hallumeter stress answers.jsonl --claims evidence --out stress-run
    """
    from hallumeter.challenge.stress.pipeline import stress_files
    from hallumeter.challenge.stress.result import result_text

    from .progress import shown_audit

    form, is_quiet, out = str(options.pop("form")), bool(options.pop("quiet")), options.pop("out")
    sources = given_paths(paths, "answers")
    settings = _settings(options)
    with shown_audit(is_quiet=is_quiet) as progress:
        outcome = stress_files(sources, out, settings=settings, progress=progress)
    if not is_quiet:
        for trouble in outcome.troubles:
            click.echo(f"note: {trouble}", err=True)
        say_what_happened(outcome.failures, outcome.result.notices)
    echo_result(result_text(outcome.result, form), form, is_quiet=is_quiet)
    if out is not None and not is_quiet:
        click.echo(f"folder: {out}", err=True)
    if all(judge.mutation_score.value is None for judge in outcome.result.judges):
        raise click.exceptions.Exit(UNMEASURED)


def _settings(options: dict[str, Any]) -> StressSettings:
    from hallumeter.challenge.stress.cases import StressSettings
    from hallumeter.claims.settings import DEFAULT_JUDGE, AuditSettings, LanguageModelSettings
    from hallumeter.models.pace import PaceSettings
    from hallumeter.run.engines.local import available_cores
    from hallumeter.run.verdict_cache import cache_folder

    judging = AuditSettings(
        judges=options["judges"] or (DEFAULT_JUDGE,),
        language_model=LanguageModelSettings(seed=options["seed"]),
        measure=measure_settings(options),
        cache=None if options["no_cache"] else cache_folder(),
        workers=options["workers"] or available_cores(),
        pace=PaceSettings(timeout_seconds=options["timeout"]),
        concurrency=options["concurrency"],
    )
    return StressSettings(claims=options["claims"], limit=options["limit"], judging=judging)
