"""The instrument of claims, as report, viewer, compare and gate know it."""

from __future__ import annotations

from pathlib import Path

from hallumeter.records.instrument import Instrument
from hallumeter.report.languages.speaking import message

from .catalog import METRICS


def _presentation() -> object:
    from .report.presentation import PRESENTATION

    return PRESENTATION


def _recompute(run: Path, into: Path) -> dict[str, str]:
    from .recompute import recompute

    return recompute(run, into)


def _sharded(run: str) -> object:
    from .sharded import KINDS

    return KINDS.get(run)


def _partials() -> object:
    from . import partial

    return partial


INSTRUMENT = Instrument(
    name="claims",
    runs={"audit": message("audit"), "measure": message("measure"), "ingest": message("ingest")},
    metrics=METRICS,
    compared=("mihr", "mihr_refuted", "mahr"),
    headline=("mihr", "mahr", "factscore"),
    resample="response",
    has_judges=True,
    resume=message("Stopped. To go on, give the same command again with --resume."),
    presentation=_presentation,
    recompute=_recompute,
    sharded=_sharded,
    partials=_partials,
)
