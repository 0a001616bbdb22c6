"""Runs beside what people say is true of them."""

from .opened_run import OpenedRun
from .reading import VERDICT_INSTRUMENTS, LabelledRun, drawing_order, read_labelled, read_labelled_judges
from .settings import LabelSettings
from .slices import record_slices

__all__ = [
    "VERDICT_INSTRUMENTS",
    "LabelSettings",
    "LabelledRun",
    "OpenedRun",
    "drawing_order",
    "read_labelled",
    "read_labelled_judges",
    "record_slices",
]
