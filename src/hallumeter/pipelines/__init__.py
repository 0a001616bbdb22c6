"""Compositions: the only place that knows several steps at once."""

from hallumeter.pipelines.measurement import (
    MeasuredRun,
    MeasureSettings,
    measure,
    measure_files,
    measure_to_folder,
    read_policy,
    run_demo,
)

from .run import Run, load

__all__ = [
    "MeasureSettings",
    "MeasuredRun",
    "Run",
    "load",
    "measure",
    "measure_files",
    "measure_to_folder",
    "read_policy",
    "run_demo",
]
