"""Measure hallucination: how much, where, of which kind, and whether it got better.

>>> import hallumeter
>>> hallumeter.check("The tower is 999 m high.", "The tower is 330 m high.", judge="rules")
Check: unsupported, 1 of 1 claim (rules@2)
  The tower is »999 m« high.
    REFUTED: response says 999 m, evidence says 330 m
    evidence e1: 330 m
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from .public_names import HOMES

if TYPE_CHECKING:
    from .aspects.commands import aspects
    from .batch import audit_batch, transcript_batch
    from .catalog import METRICS
    from .challenge.integrity.cases import IntegrityResult
    from .challenge.integrity.probe import IntegritySettings, integrity
    from .challenge.stress.cases import StressSettings
    from .challenge.stress.pipeline import stress
    from .challenge.stress.result import StressResult
    from .claims.audit.commands import audit
    from .claims.check import CheckSettings, acheck, check
    from .claims.checked import Check, CheckedClaim
    from .claims.judges.function import FunctionJudge
    from .claims.judges.language_model import LanguageModelJudge
    from .claims.labelled.correction import CorrectSettings
    from .claims.labelled.scoring import BaselineSettings
    from .claims.labelled.sources import LabelSettings
    from .claims.measure.commands import measure
    from .claims.profiles import Policy
    from .claims.settings import AuditSettings, LanguageModelSettings, MeasureSettings
    from .decide.baselines import baselines, null_baselines
    from .decide.calibrate.pipeline import calibrate
    from .decide.calibrate.settings import CalibrateSettings
    from .decide.compare.pipeline import compare
    from .decide.compare.sides import CompareSettings
    from .decide.correct import correct
    from .decide.gate.pipeline import gate
    from .decide.label.claims import AnnotateSettings
    from .decide.label.session import LabelSession, label
    from .decide.verify import verify
    from .dialogue.measure.settings import DialogueSettings
    from .dialogue_judges import dialogue
    from .errors import HallumeterError, InputError, MissingExtraError, RecordError, SettingsError
    from .formats.data_table import DataTable
    from .formats.records import read
    from .ingest.pipeline import ingest
    from .models.scripted import ScriptedProvider
    from .records.bounds import Bound
    from .records.claim import Claim, Failure, Finding, Label, Verdict
    from .records.comparison import Comparison
    from .records.decisions import Calibration, GateResult, NullBaselines, Verification
    from .records.judging import Judge, JudgeSpec, JudgeTask
    from .records.measurement import Measurement, MetricSummary, Summary
    from .records.page import PageRow, Transcript
    from .records.rate import Rate
    from .records.response import Response
    from .run.finished import Run, load, report
    from .run.labels import LabelStore
    from .text.abstention import AbstentionDetector, detect_abstention
    from .transcripts.commands import transcripts
    from .transcripts.settings import TranscriptSettings

__all__ = [
    "METRICS",
    "AbstentionDetector",
    "AnnotateSettings",
    "AuditSettings",
    "BaselineSettings",
    "Bound",
    "CalibrateSettings",
    "Calibration",
    "Check",
    "CheckSettings",
    "CheckedClaim",
    "Claim",
    "CompareSettings",
    "Comparison",
    "CorrectSettings",
    "DataTable",
    "DialogueSettings",
    "Failure",
    "Finding",
    "FunctionJudge",
    "GateResult",
    "HallumeterError",
    "InputError",
    "IntegrityResult",
    "IntegritySettings",
    "Judge",
    "JudgeSpec",
    "JudgeTask",
    "Label",
    "LabelSession",
    "LabelSettings",
    "LabelStore",
    "LanguageModelJudge",
    "LanguageModelSettings",
    "MeasureSettings",
    "Measurement",
    "MetricSummary",
    "MissingExtraError",
    "NullBaselines",
    "PageRow",
    "Policy",
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
    "Verification",
    "acheck",
    "aspects",
    "audit",
    "audit_batch",
    "baselines",
    "calibrate",
    "check",
    "compare",
    "correct",
    "detect_abstention",
    "dialogue",
    "gate",
    "ingest",
    "integrity",
    "label",
    "load",
    "measure",
    "null_baselines",
    "read",
    "report",
    "stress",
    "transcript_batch",
    "transcripts",
    "verify",
]

# Type checkers read the imports above: to them a name that is not there is an error.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in HOMES:
            raise AttributeError(f"module 'hallumeter' has no attribute {name!r}")
        found: object = getattr(import_module(f"hallumeter.{HOMES[name]}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """Lets `hallumeter.transcripts` stay the function when the folder of the same name is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
