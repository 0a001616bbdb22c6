"""The instrument of dialogues, as report, viewer, compare and gate know it."""

from __future__ import annotations

from pathlib import Path

from hallumeter.records.instrument import Instrument
from hallumeter.report.languages.speaking import message

from .catalog import METRICS
from .records import EVENTS, SCRIPTS


def _presentation() -> object:
    from .report.presentation import PRESENTATION

    return PRESENTATION


def _recompute(run: Path, into: Path) -> dict[str, str]:
    from .measure.commands import recompute

    return recompute(run, into)


def _sharded(run: str) -> object:
    from .sharded import KINDS

    return KINDS.get(run)


def _partials() -> object:
    from . import partial

    return partial


INSTRUMENT = Instrument(
    name="dialogue",
    runs={"dialogue": message("dialogue"), "dialogue run": message("dialogue run")},
    metrics=METRICS,
    compared=("sfs", "csp", "cus_improved", "mcs", "ass"),
    headline=("sfs", "csp", "dialogue_score"),
    resample="patient",
    cluster="patient_id",
    files=(EVENTS, SCRIPTS),
    resume=message("Stopped. To go on, give the same command again."),
    presentation=_presentation,
    recompute=_recompute,
    sharded=_sharded,
    partials=_partials,
)
