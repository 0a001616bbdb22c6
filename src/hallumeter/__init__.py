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
    from .pipelines import MeasureSettings, Run, TranscriptSettings, load, measure, transcripts
    from .records import Claim, Failure, Finding, Label, Measurement, MetricSummary, PageRow, Rate, Response, Summary
    from .records import Transcript, Verdict

# Where each public name lives: it is imported when it is first used, so that importing hallumeter stays light.
_HOMES = {
    "Claim": "records",
    "Failure": "records",
    "Finding": "records",
    "HallumeterError": "errors",
    "InputError": "errors",
    "Label": "records",
    "METRICS": "metrics.catalog",
    "MeasureSettings": "pipelines",
    "Measurement": "records",
    "MetricSummary": "records",
    "MissingExtraError": "errors",
    "PageRow": "records",
    "Rate": "records",
    "RecordError": "errors",
    "Response": "records",
    "Run": "pipelines",
    "SettingsError": "errors",
    "Summary": "records",
    "Transcript": "records",
    "TranscriptSettings": "pipelines",
    "Verdict": "records",
    "load": "pipelines",
    "measure": "pipelines",
    "read": "formats",
    "transcripts": "pipelines",
}

__all__ = [
    "METRICS",
    "Claim",
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
    "Summary",
    "Transcript",
    "TranscriptSettings",
    "Verdict",
    "load",
    "measure",
    "read",
    "transcripts",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'hallumeter' has no attribute {name!r}")
    found: object = getattr(import_module(f"hallumeter.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
