"""A conformance kit for evaluators: do they say when they have measured nothing?"""

from .outcome import CaseResult, IntegrityResult
from .probing import IntegritySettings, check_integrity
from .result_text import FORMS, result_text

__all__ = ["FORMS", "CaseResult", "IntegrityResult", "IntegritySettings", "check_integrity", "result_text"]
