"""`hallumeter aspects aggregate`: what many scorecards come to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hallumeter.cli.output import say_what_happened, say_where
from hallumeter.cli.parameters import interval_options, output_options, quiet_option

from .score import PROFILES

if TYPE_CHECKING:
    from hallumeter.pipelines.aspects.aggregating import Aggregated, AggregateSettings

EXIT_UNMEASURED = 3


@click.command(short_help="Rates of scorecards: H1, H2, risks, changes, F1.")
@click.argument("scorecards", type=click.Path(path_type=Path, allow_dash=True), metavar="SCORECARDS")
@click.option(
    "--profile", type=click.Choice(PROFILES), help="Only scorecards of this profile; none of them gives no rates."
)
@output_options
@click.option(
    "--thresholds",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A debate_thresholds.json with the bounds of warnings; default: the one that ships.",
)
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Processes to use; default: one per core.")
@interval_options
@click.option("--strict", is_flag=True, help="Stop at a line that is no scorecard.")
@quiet_option
def aggregate(scorecards: Path, **options: object) -> None:
    """Aggregate SCORECARDS: hallucinated aspects and their classes, risks, corrections, debates, F1 against gold.

    SCORECARDS is the scorecards.jsonl of `hallumeter aspects score`, or one made elsewhere in the same shape; a dash
    reads the standard input. Scorecards of several runs, or seeds, are told apart by run_id and seed, and sentences by
    text_id: their mean and deviation are shown, and how often a sentence gets the same label again.

    With --out, a run folder holds structural_metrics.csv and structural_metrics_table.md, aggregated_mean_std.csv and
    .md, triptych_table.tsv (stage 1, result and gold of every sentence), quality_report.md, and what every run has.

    \b
    Examples:
      hallumeter aspects aggregate runs/demo/scorecards.jsonl
      hallumeter aspects aggregate scorecards.jsonl --profile paper_main --out run
      hallumeter aspects aggregate scorecards.jsonl --format json | jq .aspects.breakdowns
    """
    from hallumeter.report.aspects.text import aspects_text

    out, form, is_quiet = options.pop("out"), str(options.pop("form")), bool(options.pop("quiet"))
    settings = _settings(options)
    found = _aggregated(scorecards, out if isinstance(out, Path) else None, settings)
    if not is_quiet:
        say_what_happened(found.failures, found.summary.notices)
    click.echo(aspects_text(found.summary, form), nl=False)
    if isinstance(out, Path) and not is_quiet:
        say_where(out)
    if not found.summary.counts.records:
        raise click.exceptions.Exit(EXIT_UNMEASURED)


def _aggregated(scorecards: Path, out: Path | None, settings: AggregateSettings) -> Aggregated:
    from hallumeter.pipelines.aspects.aggregating import aggregate_file, aggregate_to_folder

    return aggregate_file(scorecards, settings) if out is None else aggregate_to_folder(scorecards, out, settings)


def _settings(options: dict[str, object]) -> AggregateSettings:
    from hallumeter.engines import available_cores
    from hallumeter.pipelines.aspects.aggregating import AggregateSettings
    from hallumeter.pipelines.aspects.resource_files import load_mapping_thresholds

    path = options.pop("thresholds")
    options["thresholds"] = load_mapping_thresholds(path if isinstance(path, Path) else None)
    options["is_strict"] = options.pop("strict")
    options["workers"] = options["workers"] or available_cores()
    return AggregateSettings(**options)  # type: ignore[arg-type]
