"""The metrics of dialogues: how each is computed and summarised. Their words are in `metrics.<language>.toml`."""

from functools import partial

from hallumeter.records.metric import Metric
from hallumeter.text.metric_texts import with_texts

from .metrics import mean_of, pooled

_rate = partial(Metric, reads="turns", direction="higher", range=(0, 1), is_poolable=True, interval="cluster_bootstrap")

CLINICAL_METRICS = with_texts(
    "hallumeter.dialogue",
    _rate(id="sfs", compute=partial(mean_of, name="factuality")),
    _rate(id="sfs_pooled", compute=partial(pooled, name="factuality")),
    _rate(id="csp", compute=partial(mean_of, name="penalty"), direction="lower"),
    _rate(id="csp_pooled", compute=partial(pooled, name="penalty"), direction="lower"),
    _rate(id="cus_improved", compute=partial(mean_of, name="utilisation")),
    _rate(id="cus_improved_pooled", compute=partial(pooled, name="utilisation")),
    _rate(id="cus", compute=partial(mean_of, name="slots_used")),
    _rate(id="mcs", compute=partial(mean_of, name="consistency")),
    _rate(id="mcs_pooled", compute=partial(pooled, name="consistency")),
    _rate(id="ass", compute=partial(mean_of, name="actionability")),
    _rate(id="ass_pooled", compute=partial(pooled, name="actionability")),
    _rate(id="dialogue_score", compute=partial(mean_of, name="overall")),
)

METRICS = CLINICAL_METRICS
METRICS_BY_ID = {metric.id: metric for metric in METRICS}
