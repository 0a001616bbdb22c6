"""Measure hallucination: how much, where, of which kind, and whether it got better.

>>> import hallumeter
>>> summary = hallumeter.measure([{"record_id": "r1", "claim_id": "c1", "label": "REFUTED"}])
>>> summary.metrics[0].metric, summary.metrics[0].value
('mihr', 1.0)
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hallumeter.catalog import METRICS
    from hallumeter.claims.settings import LanguageModelSettings

    from .aspects.commands import aspects
    from .challenge.stress.cases import StressSettings
    from .challenge.stress.pipeline import stress
    from .challenge.stress.result import StressResult
    from .claims.abstention import AbstentionDetector, detect_abstention
    from .claims.audit.commands import audit
    from .claims.judges.function import FunctionJudge
    from .claims.judges.language_model import LanguageModelJudge
    from .claims.labelled.correction import CorrectSettings
    from .claims.labelled.sources import LabelSettings
    from .claims.measure.commands import measure
    from .claims.settings import AuditSettings, MeasureSettings
    from .decide.baselines.pipeline import null_baselines
    from .decide.calibrate.pipeline import calibrate
    from .decide.calibrate.settings import CalibrateSettings
    from .decide.compare.pipeline import compare
    from .decide.correct.pipeline import correct
    from .dialogue.measure.settings import DialogueSettings
    from .dialogue_judges import dialogue
    from .errors import HallumeterError, InputError, MissingExtraError, RecordError, SettingsError
    from .formats.records import read
    from .ingest.pipeline import ingest
    from .models.scripted import ScriptedProvider
    from .records.claim import Claim, Failure, Finding, Label, Verdict
    from .records.comparison import Comparison
    from .records.judging import Judge, JudgeSpec, JudgeTask
    from .records.measurement import Measurement, MetricSummary, Summary
    from .records.page import PageRow, Transcript
    from .records.rate import Rate
    from .records.response import Response
    from .run.finished import Run, load
    from .run.labels import LabelStore
    from .transcripts.commands import transcripts
    from .transcripts.settings import TranscriptSettings

# Each name is imported when it is first used, so that importing hallumeter stays light.
_PARTS = {
    "aspects.commands": ("aspects",),
    "catalog": ("METRICS",),
    "challenge.stress.cases": ("StressSettings",),
    "challenge.stress.pipeline": ("stress",),
    "challenge.stress.result": ("StressResult",),
    "claims.abstention": ("AbstentionDetector", "detect_abstention"),
    "claims.audit.commands": ("audit",),
    "claims.judges.function": ("FunctionJudge",),
    "claims.judges.language_model": ("LanguageModelJudge", "LanguageModelSettings"),
    "claims.labelled.correction": ("CorrectSettings",),
    "claims.labelled.sources": ("LabelSettings",),
    "claims.measure.commands": ("measure",),
    "claims.settings": ("AuditSettings", "MeasureSettings"),
    "decide.baselines.pipeline": ("null_baselines",),
    "decide.calibrate.pipeline": ("calibrate",),
    "decide.calibrate.settings": ("CalibrateSettings",),
    "decide.compare.pipeline": ("compare",),
    "decide.correct.pipeline": ("correct",),
    "dialogue.measure.settings": ("DialogueSettings",),
    "dialogue_judges": ("dialogue",),
    "errors": ("HallumeterError", "InputError", "MissingExtraError", "RecordError", "SettingsError"),
    "formats.records": ("read",),
    "ingest.pipeline": ("ingest",),
    "models.scripted": ("ScriptedProvider",),
    "records.claim": ("Claim", "Failure", "Finding", "Label", "Verdict"),
    "records.comparison": ("Comparison",),
    "records.judging": ("Judge", "JudgeSpec", "JudgeTask"),
    "records.measurement": ("Measurement", "MetricSummary", "Summary"),
    "records.page": ("PageRow", "Transcript"),
    "records.rate": ("Rate",),
    "records.response": ("Response",),
    "run.finished": ("Run", "load"),
    "run.labels": ("LabelStore",),
    "transcripts.commands": ("transcripts",),
    "transcripts.settings": ("TranscriptSettings",),
}
_HOMES = {name: part for part, names in _PARTS.items() for name in names}

__all__ = [
    "METRICS",
    "AbstentionDetector",
    "AuditSettings",
    "CalibrateSettings",
    "Claim",
    "Comparison",
    "CorrectSettings",
    "DialogueSettings",
    "Failure",
    "Finding",
    "FunctionJudge",
    "HallumeterError",
    "InputError",
    "Judge",
    "JudgeSpec",
    "JudgeTask",
    "Label",
    "LabelSettings",
    "LabelStore",
    "LanguageModelJudge",
    "LanguageModelSettings",
    "MeasureSettings",
    "Measurement",
    "MetricSummary",
    "MissingExtraError",
    "PageRow",
    "Rate",
    "RecordError",
    "Response",
    "Run",
    "ScriptedProvider",
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
    "detect_abstention",
    "dialogue",
    "ingest",
    "load",
    "measure",
    "null_baselines",
    "read",
    "stress",
    "transcripts",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'hallumeter' has no attribute {name!r}")
    found: object = getattr(import_module(f"hallumeter.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Lets `hallumeter.transcripts` stay the function when the folder of the same name is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
