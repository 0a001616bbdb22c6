"""Metrics over the probabilities that judges give."""

from hallumeter.metrics import uncertainty

from .metric import Metric

_UNDEFINED = "no verdict comes with probabilities"
_SOURCE = "Depeweg et al. 2018 and Houlsby et al. 2011 for the information form; names from judge-auditor"
_CAUTION = (
    "A judge can be certain and wrong. Probabilities of language models are rarely calibrated. With fewer than two "
    "samples per claim the epistemic part is 0 because nothing was observed, not because the judges agree."
)

UNCERTAINTY_METRICS = (
    Metric(
        id="shannon_entropy",
        alias="entropy",
        name="mean entropy of the judge's probabilities",
        reads="distributions",
        compute=uncertainty.mean_entropy,
        direction="lower",
        range=(0, None),
        undefined_when=_UNDEFINED,
        is_poolable=True,
        interval="cluster_bootstrap",
        settings=(("unit", "nats"),),
        question="How unsure is the judge of its labels?",
        formula="mean over claims of -sum p log p, natural logarithm; at most log 3 = 1.099 with three labels",
        example="(0.7, 0.2, 0.1): 0.802 nats.",
        caution=_CAUTION,
        source="Shannon 1948",
    ),
    Metric(
        id="uncertainty_total",
        alias="uncertainty",
        name="total uncertainty of the judge",
        reads="distributions",
        compute=uncertainty.mean_total,
        direction="lower",
        range=(0, None),
        undefined_when=_UNDEFINED,
        is_poolable=True,
        interval="cluster_bootstrap",
        question="How unsure is the judge, over repeated inference, in all?",
        formula="information form: entropy of the mean distribution = epistemic + aleatoric",
        example="Samples (0.9, 0.1) and (0.1, 0.9): entropy of (0.5, 0.5) = 0.693 nats.",
        caution=_CAUTION,
        source=_SOURCE,
    ),
    Metric(
        id="uncertainty_epistemic",
        alias="epistemic",
        name="uncertainty that more knowledge could remove",
        reads="distributions",
        compute=uncertainty.mean_epistemic,
        direction="lower",
        range=(0, None),
        undefined_when=_UNDEFINED,
        is_poolable=True,
        interval="cluster_bootstrap",
        question="How much do repeated answers of the judge disagree with each other?",
        formula="information form: entropy of the mean - mean entropy (mutual information)",
        example="Samples (0.9, 0.1) and (0.1, 0.9): 0.693 - 0.325 = 0.368 nats.",
        caution=_CAUTION,
        source=_SOURCE,
    ),
    Metric(
        id="uncertainty_aleatoric",
        alias="aleatoric",
        name="uncertainty inside every single answer",
        reads="distributions",
        compute=uncertainty.mean_aleatoric,
        direction="lower",
        range=(0, None),
        undefined_when=_UNDEFINED,
        is_poolable=True,
        interval="cluster_bootstrap",
        question="How unsure is each single answer of the judge by itself?",
        formula="information form: mean entropy of the samples",
        example="Samples (0.9, 0.1) and (0.1, 0.9): 0.325 nats.",
        caution=_CAUTION,
        source=_SOURCE,
    ),
)
