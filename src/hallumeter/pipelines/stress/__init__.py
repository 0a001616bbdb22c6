"""Stress tests: errors of known kinds are put into supported claims, and judges are to catch them."""

from .commands import stress, stress_files
from .pipeline import StressOutcome
from .result import JudgeResult, KindResult, Score, StressResult
from .result_text import result_text
from .settings import StressSettings

__all__ = [
    "JudgeResult",
    "KindResult",
    "Score",
    "StressOutcome",
    "StressResult",
    "StressSettings",
    "result_text",
    "stress",
    "stress_files",
]
