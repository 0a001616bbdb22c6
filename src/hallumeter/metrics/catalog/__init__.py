"""The catalog: one row per metric."""

from .abstention import ABSTENTION_METRICS
from .agreement import AGREEMENT_METRICS
from .anchoring import ANCHORING_METRICS
from .aspect_blame import ASPECT_BLAME_METRICS
from .aspect_stages import STAGE_METRICS
from .aspect_tuples import CASE_METRICS, TUPLE_METRICS
from .aspects import GROUNDING_METRICS
from .claims import CLAIM_METRICS
from .clinical import CLINICAL_METRICS
from .consensus import CONSENSUS_METRICS
from .listing import ASPECT_METRICS, METRICS, METRICS_BY_ID
from .metric import IntervalKind, Metric, Reads
from .reading import READING_METRICS
from .samples import SAMPLE_METRICS
from .uncertainty import UNCERTAINTY_METRICS

__all__ = [
    "ABSTENTION_METRICS",
    "AGREEMENT_METRICS",
    "ANCHORING_METRICS",
    "ASPECT_BLAME_METRICS",
    "ASPECT_METRICS",
    "CASE_METRICS",
    "CLAIM_METRICS",
    "CLINICAL_METRICS",
    "CONSENSUS_METRICS",
    "GROUNDING_METRICS",
    "METRICS",
    "METRICS_BY_ID",
    "READING_METRICS",
    "SAMPLE_METRICS",
    "STAGE_METRICS",
    "TUPLE_METRICS",
    "UNCERTAINTY_METRICS",
    "IntervalKind",
    "Metric",
    "Reads",
]
