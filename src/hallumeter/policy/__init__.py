"""Thresholds to opinions: the only place where a number becomes good or bad."""

from .checks import nearest
from .comparing import CLAIM_INSTRUMENTS, ComparePolicy, kind_of, usual_metrics
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
    "CLAIM_INSTRUMENTS",
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
    "kind_of",
    "nearest",
    "opinion_on",
    "parse_policy",
    "profile_of",
    "usual_metrics",
]
