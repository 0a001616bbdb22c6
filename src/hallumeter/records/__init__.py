"""The nouns: frozen records, validated on creation."""

from .claim import Claim, Finding, Label, Verdict, check_distribution, check_probability
from .columns import Answers, LabelCounts, Ratings, Support, UncertaintySums
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

__all__ = [
    "MANIFEST_VERSION",
    "SUMMARY_VERSION",
    "Answers",
    "Claim",
    "Counts",
    "Direction",
    "EnginePair",
    "Failure",
    "FieldValue",
    "Finding",
    "InputFile",
    "JudgeEntry",
    "Label",
    "LabelCounts",
    "Manifest",
    "Measurement",
    "MetricSummary",
    "PageColumns",
    "PageCounts",
    "PageRow",
    "PageStatus",
    "Passage",
    "Profile",
    "Quote",
    "RankedEngine",
    "Ranking",
    "Rate",
    "Rates",
    "Ratings",
    "Response",
    "Scope",
    "Signature",
    "Summary",
    "Support",
    "Transcript",
    "UncertaintySums",
    "Verdict",
    "check_distribution",
    "check_probability",
    "check_span",
]
