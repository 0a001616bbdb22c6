"""The instrument of transcripts, as report, viewer, compare and gate know it."""

from __future__ import annotations

from hallumeter.records.instrument import Instrument
from hallumeter.report.languages.speaking import message

from .catalog import METRICS
from .pages_table import read_pages


def _presentation() -> object:
    from .report.presentation import PRESENTATION

    return PRESENTATION


INSTRUMENT = Instrument(
    name="transcripts",
    runs={"transcripts": message("transcripts")},
    metrics=METRICS,
    compared=("invented_rate", "omission_rate", "hallucinating_page_rate"),
    headline=("hallucinating_page_rate", "invented_rate", "cer"),
    resample="page",
    cluster="page",
    files=("pages.csv",),
    tables={"pages.csv": read_pages},
    presentation=_presentation,
)
