"""The instrument of aspects, as report, viewer, compare and gate know it."""

from __future__ import annotations

from pathlib import Path

from hallumeter.records.instrument import Instrument
from hallumeter.report.languages.speaking import message

from .catalog import METRICS


def _presentation() -> object:
    from .report.presentation import PRESENTATION

    return PRESENTATION


def _recompute(run: Path, into: Path) -> dict[str, str]:
    from .commands import recompute

    return recompute(run, into)


def _sharded(run: str) -> object:
    from .sharded import KINDS

    return KINDS.get(run)


def _partials() -> object:
    from .aggregate import overview

    return overview


INSTRUMENT = Instrument(
    name="aspects",
    runs={
        "aspects": message("aspects"),
        "aspects run": message("aspects run"),
        "aspects replay": message("aspects replay"),
        "aspects score": message("aspects score"),
    },
    metrics=METRICS,
    compared=("aspect_hallucination_rate", "out_of_text_aspect_rate", "misplaced_aspect_rate", "tuple_f1_final"),
    headline=("aspect_hallucination_rate", "tuple_f1_final"),
    resample="sentence",
    files=(
        *("outputs.jsonl", "traces.jsonl", "scorecards.jsonl", "experiment.json", "demos.jsonl"),
        *("blame.jsonl", "blame.csv", "blame.md", "structural_metrics.csv", "structural_metrics_table.md"),
        *("aggregated_mean_std.csv", "aggregated_mean_std.md", "triptych_table.tsv", "quality_report.md"),
    ),
    resume=message("Stopped. To go on, give the same command again."),
    presentation=_presentation,
    recompute=_recompute,
    sharded=_sharded,
    partials=_partials,
)
