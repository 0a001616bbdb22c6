"""Compositions: the only place that knows several steps at once."""

from hallumeter.pipelines.measurement import (
    MeasuredRun,
    MeasureSettings,
    measure,
    measure_files,
    measure_to_folder,
    read_policy,
)
from hallumeter.pipelines.transcripts import (
    MeasuredTranscripts,
    TranscriptSettings,
    opened_paths,
    transcripts,
    transcripts_of_jobs,
    transcripts_to_folder,
)

from .demo import Demo, run_demo
from .run import Run, load

__all__ = [
    "Demo",
    "MeasureSettings",
    "MeasuredRun",
    "MeasuredTranscripts",
    "Run",
    "TranscriptSettings",
    "load",
    "measure",
    "measure_files",
    "measure_to_folder",
    "opened_paths",
    "read_policy",
    "run_demo",
    "transcripts",
    "transcripts_of_jobs",
    "transcripts_to_folder",
]
