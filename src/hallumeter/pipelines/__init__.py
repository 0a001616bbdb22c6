"""Compositions: the only place that knows several steps at once."""

from hallumeter.pipelines.audit import (
    AuditOutcome,
    AuditPlan,
    AuditSettings,
    audit,
    audit_files,
    free_place,
    is_finished,
    plan_audit,
)
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
    "AuditOutcome",
    "AuditPlan",
    "AuditSettings",
    "Demo",
    "MeasureSettings",
    "MeasuredRun",
    "MeasuredTranscripts",
    "Run",
    "TranscriptSettings",
    "audit",
    "audit_files",
    "free_place",
    "is_finished",
    "load",
    "measure",
    "measure_files",
    "measure_to_folder",
    "opened_paths",
    "plan_audit",
    "read_policy",
    "run_demo",
    "transcripts",
    "transcripts_of_jobs",
    "transcripts_to_folder",
]
