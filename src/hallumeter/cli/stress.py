"""`hallumeter stress`: errors of known kinds in, how many of them a judge catches out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .experiments import UNMEASURED
from .output import say_what_happened
from .parameters import interval_options, quiet_option

if TYPE_CHECKING:
    from hallumeter.challenge.stress.cases import StressSettings
    from hallumeter.challenge.stress.pipeline import StressOutcome


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--judge", "judges", multiple=True, metavar="JUDGE", help="Who judges; repeat for several. Default: embedded."
)
@click.option(
    "--claims",
    type=click.Choice(["given", "evidence"]),
    help="Which claims are edited: those labelled SUPPORTED, or sentences of the evidence.  [default: given if any]",
)
@click.option("--limit", type=int, default=200, show_default=True, metavar="N", help="Edit N claims at most.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write every edited claim and the summary.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What to print.",
)
@interval_options
@click.option("--concurrency", type=int, default=16, show_default=True, help="Calls to one model at the same time.")
@click.option("--timeout", type=float, default=60, show_default=True, metavar="SECONDS", help="Of one call.")
@click.option("--no-cache", is_flag=True, help="Neither use nor fill the verdict cache.")
@click.option("--workers", type=int, metavar="N", help="Processes for judges on this machine.  [default: all cores]")
@click.option("--strict", is_flag=True, help="Stop at the first record that cannot be used.")
@quiet_option
def stress(paths: tuple[Path, ...], **options: Any) -> None:
    """Put errors into supported claims and see which a judge catches: numbers, dates, units, names, negation, ...

    PATHS are read as by `hallumeter audit`: one answer per row, with its evidence. Claims that are supported (labelled
    so, or sentences of the evidence itself) are edited by rule in one known place; the same claims unchanged and in
    other words show how often the judge raises a false alarm.

    \b
    Examples:
      hallumeter stress answers.jsonl
      hallumeter stress answers.jsonl --judge rules --judge http://127.0.0.1:8080/v1#qwen --limit 50
      hallumeter stress answers.jsonl --claims evidence --out stress-run
    """
    from hallumeter.challenge.stress.pipeline import stress_files
    from hallumeter.challenge.stress.result import result_text

    from .progress import shown_audit

    form, is_quiet, out = str(options.pop("form")), bool(options.pop("quiet")), options.pop("out")
    sources = _sources(paths)
    settings = _settings(options)
    with shown_audit(is_quiet=is_quiet) as progress:
        outcome = stress_files(sources, out, settings=settings, progress=progress)
    if not is_quiet:
        _say_troubles(outcome)
    click.echo(result_text(outcome.result, form), nl=False)
    if out is not None and not is_quiet:
        click.echo(f"folder: {out}", err=True)
    if all(judge.mutation_score.value is None for judge in outcome.result.judges):
        raise click.exceptions.Exit(UNMEASURED)


def _sources(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    if paths:
        return paths
    if sys.stdin.isatty():
        raise click.UsageError("give a file of answers, or pipe JSONL in", click.get_current_context())
    return (Path("-"),)


def _settings(options: dict[str, Any]) -> StressSettings:
    from hallumeter.challenge.stress.cases import StressSettings
    from hallumeter.claims.settings import DEFAULT_JUDGE, AuditSettings, LanguageModelSettings, MeasureSettings
    from hallumeter.models.pace import PaceSettings
    from hallumeter.run.engines.local import available_cores
    from hallumeter.run.verdict_cache import cache_folder

    measure = MeasureSettings(
        seed=options["seed"],
        resamples=options["resamples"],
        confidence=options["confidence"],
        is_strict=options["strict"],
    )
    judging = AuditSettings(
        judges=options["judges"] or (DEFAULT_JUDGE,),
        measure=measure,
        cache=None if options["no_cache"] else cache_folder(),
        workers=options["workers"] or available_cores(),
        language_model=LanguageModelSettings(seed=options["seed"]),
        pace=PaceSettings(timeout_seconds=options["timeout"]),
        concurrency=options["concurrency"],
    )
    return StressSettings(claims=options["claims"], limit=options["limit"], judging=judging)


def _say_troubles(outcome: StressOutcome) -> None:
    for trouble in outcome.troubles:
        click.echo(f"note: {trouble}", err=True)
    say_what_happened(outcome.failures, outcome.result.notices)
