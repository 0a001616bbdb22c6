"""Thresholds to opinions: the only place where a number becomes good or bad."""

from .checks import nearest
from .comparing import COMPARED, ComparePolicy
from .gating import LOOKS_AT_WORDS, Bound, LooksAt
from .pages import EnginePolicy, PagePolicy, WitnessPolicy
from .profiles import (
    HALLUMETER,
    JUDGE_AUDITOR,
    Policy,
    Rule,
    headline_rows,
    judges_apart,
    opinion_on,
    parse_policy,
    profile_of,
)

__all__ = [
    "COMPARED",
    "HALLUMETER",
    "JUDGE_AUDITOR",
    "LOOKS_AT_WORDS",
    "Bound",
    "ComparePolicy",
    "EnginePolicy",
    "LooksAt",
    "PagePolicy",
    "Policy",
    "Rule",
    "WitnessPolicy",
    "headline_rows",
    "judges_apart",
    "nearest",
    "opinion_on",
    "parse_policy",
    "profile_of",
]
