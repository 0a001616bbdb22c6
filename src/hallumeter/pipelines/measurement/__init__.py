"""Measure verdicts that already exist."""

from .commands import measure, measure_files, measure_to_folder, read_policy
from .pipeline import MeasuredRun
from .settings import MeasureSettings

__all__ = ["MeasureSettings", "MeasuredRun", "measure", "measure_files", "measure_to_folder", "read_policy"]
