"""The nouns: frozen records, validated on creation."""

from .claim import Claim, Finding, Label, Verdict, check_distribution, check_probability
from .columns import Answers, LabelCounts, Ratings, Support, UncertaintySums
from .decisions.comparison import Comparison
from .dialogue import (
    EVENT_VERSION,
    Consistency,
    Element,
    Event,
    EventQuestion,
    EventUsage,
    Mention,
    MentionKind,
    MentionScope,
    Mode,
    Occurrence,
    PatientSlots,
    RuleOutcome,
    Script,
    ScriptTurn,
    SlotFinding,
    SlotUse,
    TurnFindings,
)
from .failure import Failure
from .measurement import SUMMARY_VERSION, Counts, Measurement, MetricSummary, Profile, Scope, Summary
from .page_columns import PageColumns, PageCounts
from .ranking import Direction, EnginePair, RankedEngine, Ranking
from .rate import Rate, Rates
from .response import FieldValue, Response
from .run import MANIFEST_VERSION, InputFile, JudgeEntry, Manifest
from .signature import Signature
from .source import Passage, Quote
from .span import check_span
from .transcript import PageRow, PageStatus, Transcript
from .turn_columns import TurnColumns, TurnRates

__all__ = [
    "EVENT_VERSION",
    "MANIFEST_VERSION",
    "SUMMARY_VERSION",
    "Answers",
    "Claim",
    "Comparison",
    "Consistency",
    "Counts",
    "Direction",
    "Element",
    "EnginePair",
    "Event",
    "EventQuestion",
    "EventUsage",
    "Failure",
    "FieldValue",
    "Finding",
    "InputFile",
    "JudgeEntry",
    "Label",
    "LabelCounts",
    "Manifest",
    "Measurement",
    "Mention",
    "MentionKind",
    "MentionScope",
    "MetricSummary",
    "Mode",
    "Occurrence",
    "PageColumns",
    "PageCounts",
    "PageRow",
    "PageStatus",
    "Passage",
    "PatientSlots",
    "Profile",
    "Quote",
    "RankedEngine",
    "Ranking",
    "Rate",
    "Rates",
    "Ratings",
    "Response",
    "RuleOutcome",
    "Scope",
    "Script",
    "ScriptTurn",
    "Signature",
    "SlotFinding",
    "SlotUse",
    "Summary",
    "Support",
    "Transcript",
    "TurnColumns",
    "TurnFindings",
    "TurnRates",
    "UncertaintySums",
    "Verdict",
    "check_distribution",
    "check_probability",
    "check_span",
]
