"""Measure hallucination: how much, where, of which kind, and whether it got better.

>>> import hallumeter
>>> summary = hallumeter.measure([{"record_id": "r1", "claim_id": "c1", "label": "REFUTED"}])
>>> summary.metrics[0].metric, summary.metrics[0].value
('mihr', 1.0)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import HallumeterError, InputError, MissingExtraError, RecordError, SettingsError
    from .formats import read
    from .metrics.catalog import METRICS
    from .pipelines import MeasureSettings, Run, load, measure
    from .pipelines.aspects.commands import aspects
    from .pipelines.audit import AuditSettings, audit
    from .pipelines.calibrating import CalibrateSettings, calibrate
    from .pipelines.comparing import compare
    from .pipelines.correcting.pipeline import correct
    from .pipelines.correcting.settings import CorrectSettings
    from .pipelines.dialogue.measuring import DialogueSettings, dialogue
    from .pipelines.stress import StressResult, StressSettings, stress
    from .pipelines.transcripts import TranscriptSettings, transcripts
    from .records import (
        Claim,
        Comparison,
        Failure,
        Finding,
        Label,
        Measurement,
        MetricSummary,
        PageRow,
        Rate,
        Response,
        Summary,
        Transcript,
        Verdict,
    )

# Where public names live, if not among the records: each is imported when it is first used, so that importing
# hallumeter stays light.
_PARTS = {
    "errors": ("HallumeterError", "InputError", "MissingExtraError", "RecordError", "SettingsError"),
    "formats": ("read",),
    "metrics.catalog": ("METRICS",),
    "pipelines": ("MeasureSettings", "Run", "load", "measure"),
    "pipelines.aspects.commands": ("aspects",),
    "pipelines.audit": ("AuditSettings", "audit"),
    "pipelines.calibrating": ("CalibrateSettings", "calibrate"),
    "pipelines.comparing": ("compare",),
    "pipelines.correcting.pipeline": ("correct",),
    "pipelines.correcting.settings": ("CorrectSettings",),
    "pipelines.dialogue.measuring": ("DialogueSettings", "dialogue"),
    "pipelines.stress": ("StressResult", "StressSettings", "stress"),
    "pipelines.transcripts": ("TranscriptSettings", "transcripts"),
}
_HOMES = {name: part for part, names in _PARTS.items() for name in names}

__all__ = [
    "METRICS",
    "AuditSettings",
    "CalibrateSettings",
    "Claim",
    "Comparison",
    "CorrectSettings",
    "DialogueSettings",
    "Failure",
    "Finding",
    "HallumeterError",
    "InputError",
    "Label",
    "MeasureSettings",
    "Measurement",
    "MetricSummary",
    "MissingExtraError",
    "PageRow",
    "Rate",
    "RecordError",
    "Response",
    "Run",
    "SettingsError",
    "StressResult",
    "StressSettings",
    "Summary",
    "Transcript",
    "TranscriptSettings",
    "Verdict",
    "aspects",
    "audit",
    "calibrate",
    "compare",
    "correct",
    "dialogue",
    "load",
    "measure",
    "read",
    "stress",
    "transcripts",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'hallumeter' has no attribute {name!r}")
    found: object = getattr(import_module(f"hallumeter.{_HOMES.get(name, 'records')}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
