"""What aspects, stages and debates of a pipeline of agents are worth, in counts and rates."""

from .breakdowns import ARBITER_FLAGS, MODERATOR_RULES, OF_SENTENCES, WHOLE, breakdown_items, offset_bin
from .buckets import grounding_bucket, is_unsupported_by_the_older_rule
from .counting import count_row, count_scorecard
from .rates import RESOLUTION, case_difference, case_rate, rate_of, resolution_of_sums, risk_resolution
from .repetition import UNKNOWN, Repeated, case_columns, repeated
from .tuples import (
    Stated,
    TupleMatch,
    has_conflict,
    has_severe_error,
    match_explicit,
    match_implicit,
    match_stated,
    match_tuples,
    pairs_of,
    stated_by,
    tidy_polarity,
    tidy_term,
)

__all__ = [
    "ARBITER_FLAGS",
    "MODERATOR_RULES",
    "OF_SENTENCES",
    "RESOLUTION",
    "UNKNOWN",
    "WHOLE",
    "Repeated",
    "Stated",
    "TupleMatch",
    "breakdown_items",
    "case_columns",
    "case_difference",
    "case_rate",
    "count_row",
    "count_scorecard",
    "grounding_bucket",
    "has_conflict",
    "has_severe_error",
    "is_unsupported_by_the_older_rule",
    "match_explicit",
    "match_implicit",
    "match_stated",
    "match_tuples",
    "offset_bin",
    "pairs_of",
    "rate_of",
    "repeated",
    "resolution_of_sums",
    "risk_resolution",
    "stated_by",
    "tidy_polarity",
    "tidy_term",
]
