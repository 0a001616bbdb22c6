"""The instrument of transcripts, as report, viewer, compare and gate know it."""

from __future__ import annotations

from pathlib import Path

from hallumeter.records.instrument import Instrument
from hallumeter.report.languages.speaking import message

from .catalog import METRICS
from .example_tables import TABLES
from .pages_table import read_pages


def _presentation() -> object:
    from .report.presentation import PRESENTATION

    return PRESENTATION


def _recompute(run: Path, into: Path) -> dict[str, str]:
    from .recompute import recompute

    return recompute(run, into)


def _sharded(run: str) -> object:
    from .sharded import SHARDED

    return SHARDED if run == "transcripts" else None


def _partials() -> object:
    from . import partial

    return partial


INSTRUMENT = Instrument(
    name="transcripts",
    runs={"transcripts": message("transcripts")},
    metrics=METRICS,
    compared=("invented_rate", "omission_rate", "hallucinating_page_rate"),
    headline=("hallucinating_page_rate", "invented_rate", "cer"),
    resample="page",
    cluster="page",
    files=("pages.csv", *TABLES),
    tables={"pages.csv": read_pages, **TABLES},
    presentation=_presentation,
    recompute=_recompute,
    sharded=_sharded,
    partials=_partials,
)
