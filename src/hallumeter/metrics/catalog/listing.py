"""Every metric in one tuple: the command line, the docs, the reports and the property tests are made from it."""

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
from .reading import READING_METRICS
from .samples import SAMPLE_METRICS
from .uncertainty import UNCERTAINTY_METRICS

ASPECT_METRICS = (*GROUNDING_METRICS, *STAGE_METRICS, *TUPLE_METRICS, *CASE_METRICS)
METRICS = (
    *CLAIM_METRICS,
    *CONSENSUS_METRICS,
    *AGREEMENT_METRICS,
    *UNCERTAINTY_METRICS,
    *SAMPLE_METRICS,
    *ABSTENTION_METRICS,
    *READING_METRICS,
    *ANCHORING_METRICS,
    *CLINICAL_METRICS,
    *ASPECT_METRICS,
    *ASPECT_BLAME_METRICS,
)
METRICS_BY_ID = {metric.id: metric for metric in METRICS}
