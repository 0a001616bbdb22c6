"""Metrics over the verdicts on claims."""

from hallumeter.metrics import claims

from .metric import Metric

_THREE = "Verdicts SUPPORTED, REFUTED, NOT_ENOUGH_INFO on the three claims of one response"
_TWO = "Two responses: one claim, unsupported; and nine claims, all supported"
_JUDGE_AUDITOR = "judge-auditor"
_HALUEVAL = "Li et al., The Dawn After the Dark (HaluEval 2.0), ACL 2024"
_NEI = (("nei", "unsupported"),)

CLAIM_METRICS = (
    Metric(
        id="mihr",
        alias="MiHR",
        name="micro hallucination rate",
        reads="labels",
        compute=claims.micro_hallucination_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="no claim is decided",
        is_poolable=True,
        interval="cluster_bootstrap",
        settings=_NEI,
        question="Of all the claims that were made, how many does the evidence not support?",
        formula="(REFUTED + NOT_ENOUGH_INFO) / (SUPPORTED + REFUTED + NOT_ENOUGH_INFO), all responses pooled",
        example=f"{_THREE}: 2 / 3 = 0.667. {_TWO}: 1 / 10 = 0.1.",
        caution=(
            "Long responses weigh more than short ones; see mihr_mean. It counts a claim on which the evidence is "
            "silent as unsupported; see mihr_refuted. It says nothing about how bad an unsupported claim is, nor about "
            "what the response left out. The literature's MiHR (HaluEval 2.0) is mihr_mean."
        ),
        source=_JUDGE_AUDITOR,
    ),
    Metric(
        id="mihr_refuted",
        alias="MiHR refuted",
        name="refuted claim rate",
        reads="labels",
        compute=claims.refuted_claim_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="no claim is decided",
        is_poolable=True,
        interval="cluster_bootstrap",
        settings=(("nei", "not-counted"),),
        question="Of all the claims that were made, how many does the evidence contradict?",
        formula="REFUTED / (SUPPORTED + REFUTED + NOT_ENOUGH_INFO), all responses pooled",
        example=f"{_THREE}: 1 / 3 = 0.333.",
        caution=(
            "An invented claim that the evidence does not mention is not counted, so poor evidence makes the rate look "
            "good. Read it beside mihr: the gap is what the evidence is silent about."
        ),
        source=f"{_HALUEVAL}, whose reference implementation counts only statements judged false",
    ),
    Metric(
        id="mihr_mean",
        alias="MiHR mean",
        name="mean of the responses' hallucination rates",
        reads="labels",
        compute=claims.mean_hallucination_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="no response has a decided claim",
        is_poolable=True,
        interval="cluster_bootstrap",
        is_widened_by_claimless=True,
        settings=_NEI,
        question="In an average response, what share of the claims does the evidence not support?",
        formula="mean over responses of unsupported claims / decided claims",
        example=f"{_TWO}: (1 + 0) / 2 = 0.5, where pooling gives 0.1.",
        caution=(
            "A response with a single claim weighs as much as one with fifty, so it is noisy when responses are short. "
            "Responses without a decided claim are left out and widen the bounds."
        ),
        source=f"{_HALUEVAL}; there NOT_ENOUGH_INFO is not counted, here it is",
    ),
    Metric(
        id="mahr",
        alias="MaHR",
        name="macro hallucination rate",
        reads="labels",
        compute=claims.macro_hallucination_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="no response has a decided claim",
        is_poolable=True,
        interval="wilson",
        is_widened_by_claimless=True,
        settings=_NEI,
        question="How many responses contain at least one unsupported claim?",
        formula="responses with an unsupported claim / responses with a decided claim",
        example="Two responses, [SUPPORTED] and [REFUTED]: 1 / 2 = 0.5.",
        caution=(
            "It rises with the length of the responses: more claims, more chances. A response without a claim is left "
            "out, counted, and widens the bounds; judge-auditor counts it as clean."
        ),
        source=f"{_JUDGE_AUDITOR}; {_HALUEVAL}",
    ),
    Metric(
        id="factscore",
        alias="FactScore",
        name="factual precision",
        reads="labels",
        compute=claims.factual_precision,
        direction="higher",
        range=(0, 1),
        undefined_when="no claim is decided",
        is_poolable=True,
        interval="cluster_bootstrap",
        settings=_NEI,
        question="Of all the claims that were made, how many does the evidence support?",
        formula="SUPPORTED / (SUPPORTED + REFUTED + NOT_ENOUGH_INFO), all responses pooled",
        example=f"{_THREE}: 1 / 3 = 0.333.",
        caution=(
            "It is one minus mihr and adds no information. A response with one safe claim scores 1; see "
            "factscore_penalized for the published FActScore with its length penalty."
        ),
        source=_JUDGE_AUDITOR,
    ),
    Metric(
        id="factscore_penalized",
        alias="FActScore γ=10",
        name="length-penalised factual precision",
        reads="labels",
        compute=claims.penalized_factual_precision,
        direction="higher",
        range=(0, 1),
        undefined_when="no response has a decided claim",
        is_poolable=True,
        interval="cluster_bootstrap",
        settings=(*_NEI, ("gamma", "10")),
        question="How precise is an average answer, when answers too short to be useful are marked down?",
        formula="mean over responses with a claim of precision * min(1, exp(1 - 10 / claims))",
        example="A response with 5 claims, 4 supported: 0.8 * exp(1 - 10 / 5) = 0.8 * 0.3679 = 0.294.",
        caution=(
            "Responses without a claim count as abstentions and are left out, so a model that answers only what it "
            "knows looks good: read it beside the number of responses. Ten claims suit a biography, not a one-line "
            "answer."
        ),
        source="Min et al., FActScore, EMNLP 2023 (gamma 10)",
    ),
)
