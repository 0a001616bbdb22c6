"""Measure verdicts that already exist."""

from .commands import measure, measure_files, measure_to_folder, read_policy
from .measuring import count, record_measurements
from .pipeline import MeasuredRun, counts_of, summary_of
from .settings import MeasureSettings

__all__ = [
    "MeasureSettings",
    "MeasuredRun",
    "count",
    "counts_of",
    "measure",
    "measure_files",
    "measure_to_folder",
    "read_policy",
    "record_measurements",
    "summary_of",
]
