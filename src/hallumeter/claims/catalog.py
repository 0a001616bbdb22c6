"""The metrics of claims: how each is computed and summarised. Their words are in `metrics.<language>.toml`."""

from functools import partial

from hallumeter.records.metric import Metric
from hallumeter.stats import agreement
from hallumeter.text.lexicon import languages_with
from hallumeter.text.metric_texts import with_texts

from .metrics import consensus, rates, samples, uncertainty

_with_texts = partial(with_texts, "hallumeter.claims")
_rate = partial(Metric, range=(0, 1), is_poolable=True, interval="cluster_bootstrap")
_share = partial(Metric, range=(0, 1), is_poolable=True, interval="wilson")
"""A rate whose every response counts once, so that its interval is that of a proportion."""

_NATS = (("unit", "nats"),)

# Over the verdicts on claims.

_NEI = (("nei", "unsupported"),)

CLAIM_METRICS = _with_texts(
    _rate(id="mihr", reads="labels", compute=rates.micro_hallucination_rate, direction="lower", settings=_NEI),
    _rate(
        id="mihr_refuted",
        reads="labels",
        compute=rates.refuted_claim_rate,
        direction="lower",
        settings=(("nei", "not-counted"),),
    ),
    _rate(
        id="mihr_mean",
        reads="labels",
        compute=rates.mean_hallucination_rate,
        direction="lower",
        is_widened_by_claimless=True,
        settings=_NEI,
    ),
    _share(
        id="mahr",
        reads="labels",
        compute=rates.macro_hallucination_rate,
        direction="lower",
        is_widened_by_claimless=True,
        settings=_NEI,
    ),
    _rate(id="factscore", reads="labels", compute=rates.factual_precision, direction="higher", settings=_NEI),
    _rate(
        id="factscore_penalized",
        reads="labels",
        compute=rates.penalized_factual_precision,
        direction="higher",
        settings=(*_NEI, ("gamma", "10")),
    ),
)

# Over the probabilities that a judge gives claims of being unsupported.

EXPECTED_METRICS = _with_texts(
    _rate(
        id="expected_unsupported_rate",
        reads="probabilities",
        compute=rates.expected_unsupported_rate,
        direction="lower",
    ),
)

# Over the claims that several models make about the same question.

_CONSENSUS = (("share", "0.5"), ("identity", "normalized-text"))
_consensus = partial(
    Metric,
    reads="support",
    compute=consensus.consensus_scores,
    direction="higher",
    range=(0, 1),
    interval="cluster_bootstrap",
    settings=_CONSENSUS,
)

CONSENSUS_METRICS = _with_texts(
    _consensus(id="consensus_precision"),
    _consensus(id="consensus_recall"),
    _consensus(id="consensus_f1"),
    _consensus(id="consensus_f1_others", settings=(*_CONSENSUS, ("vote", "others"))),
)

# Over the votes of several judges on the same claims.

_COMPLETE = (("claims", "rated-by-all"), ("categories", "3"))
_PAIRED = (("claims", "rated-twice-or-more"), ("categories", "3"))
_TRUTH = (("truth", "dawid-skene"), ("smoothing", "0.01"))
_agreement = partial(
    Metric, reads="ratings", direction="higher", range=(-1, 1), interval="pattern_bootstrap", settings=_PAIRED
)

AGREEMENT_METRICS = _with_texts(
    _agreement(
        id="fleiss_kappa",
        compute=agreement.panel_fleiss_kappa,
        resample=agreement.resampled_fleiss,
        settings=_COMPLETE,
    ),
    _agreement(
        id="observed_agreement",
        compute=agreement.panel_observed_agreement,
        resample=agreement.resampled_observed,
        range=(0, 1),
    ),
    _agreement(id="krippendorff_alpha", compute=agreement.panel_krippendorff_alpha, resample=agreement.resampled_alpha),
    _agreement(id="gwet_ac1", compute=agreement.panel_gwet_ac1, resample=agreement.resampled_ac1),
    _agreement(
        id="cohen_kappa",
        compute=agreement.cohen_kappa,
        resample=agreement.resampled_cohen,
        settings=(("claims", "decided-by-both"), ("categories", "3")),
    ),
    Metric(
        id="judge_sensitivity",
        reads="ratings",
        compute=agreement.judge_accuracies,
        direction="higher",
        range=(0, 1),
        settings=_TRUTH,
    ),
    Metric(
        id="judge_specificity",
        reads="ratings",
        compute=agreement.judge_accuracies,
        direction="higher",
        range=(0, 1),
        settings=_TRUTH,
    ),
    Metric(
        id="agreement_with_others",
        reads="ratings",
        compute=agreement.agreement_with_others,
        direction="higher",
        range=(0, 1),
        interval="cluster_bootstrap",
        settings=(("claims", "decided-by-it-and-most-others"), ("categories", "3")),
    ),
    _agreement(id="alpha_without", compute=agreement.alpha_without, resample=agreement.resampled_alpha_without),
    _agreement(
        id="alpha_gain_without",
        compute=agreement.alpha_gain_without,
        resample=agreement.resampled_alpha_gain,
        direction="lower",
        range=(-2, 2),
    ),
)

# Over the probabilities that judges give.

_uncertainty = partial(_rate, reads="distributions", direction="lower", range=(0, None))

UNCERTAINTY_METRICS = _with_texts(
    _uncertainty(id="shannon_entropy", compute=uncertainty.mean_entropy, settings=_NATS),
    _uncertainty(id="uncertainty_total", compute=uncertainty.mean_total),
    _uncertainty(id="uncertainty_epistemic", compute=uncertainty.mean_epistemic),
    _uncertainty(id="uncertainty_aleatoric", compute=uncertainty.mean_aleatoric),
)

# Over what a model says when it is asked again, and over the probabilities of its own tokens.

SAMPLE_METRICS = _with_texts(
    _rate(
        id="semantic_entropy",
        reads="meanings",
        compute=samples.mean_semantic_entropy,
        direction="lower",
        range=(0, None),
        settings=_NATS,
    ),
    _rate(id="sample_consistency", reads="meanings", compute=samples.sample_consistency, direction="higher"),
    _rate(
        id="meanings_per_response",
        reads="meanings",
        compute=samples.mean_meanings,
        direction="lower",
        range=(1, None),
    ),
    _rate(
        id="token_surprisal",
        reads="token_logprobs",
        compute=samples.token_surprisal,
        direction="lower",
        range=(0, None),
        settings=_NATS,
    ),
    _rate(
        id="least_token_probability",
        reads="token_logprobs",
        compute=samples.least_token_probability,
        direction="higher",
    ),
)

# Over answers to questions that can, and cannot, be answered.

_DETECTOR = (("abstention", f"sentences-{'-'.join(languages_with('refusals'))}-1"),)
"""The languages whose refusals are found, and the version of the weights: other ones are another number."""
_answered = partial(_share, reads="answers", settings=_DETECTOR)

ABSTENTION_METRICS = _with_texts(
    _answered(id="far", compute=rates.false_acceptance_rate, direction="lower"),
    _answered(id="correct_refusal_rate", compute=rates.correct_refusal_rate, direction="higher"),
    _answered(id="over_refusal_rate", compute=rates.over_refusal_rate, direction="lower"),
)

METRICS = (
    *CLAIM_METRICS,
    *EXPECTED_METRICS,
    *CONSENSUS_METRICS,
    *AGREEMENT_METRICS,
    *UNCERTAINTY_METRICS,
    *SAMPLE_METRICS,
    *ABSTENTION_METRICS,
)
METRICS_BY_ID = {metric.id: metric for metric in METRICS}
