"""Runs beside what people say is true of them."""

from .reading import LabelledRun, read_labelled
from .settings import LabelSettings
from .slices import record_slices

__all__ = ["LabelSettings", "LabelledRun", "read_labelled", "record_slices"]
