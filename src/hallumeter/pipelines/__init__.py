"""Compositions: the only place that knows several steps at once."""

from hallumeter.pipelines.measurement import (
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
    "Run",
    "load",
    "measure",
    "measure_files",
    "measure_to_folder",
    "read_policy",
    "run_demo",
]
