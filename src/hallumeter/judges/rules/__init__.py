"""The judge that works by rules, offline: it compares numbers, dates, names, quotations, polarity and words."""

from .findings import MISMATCHES, MISSING, REASONS, Finding
from .judge import RulesJudge

__all__ = ["MISMATCHES", "MISSING", "REASONS", "Finding", "RulesJudge"]
