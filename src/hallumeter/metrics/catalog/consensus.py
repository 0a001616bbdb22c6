"""Metrics over the claims that several models make about the same question."""

from hallumeter.metrics import consensus

from .metric import Metric

_SETTINGS = (("share", "0.5"), ("identity", "normalized-text"))
_EXAMPLE = "Models a: A B X; b: A B; c: A C. Consensus (half of three or more): A and B."
_SOURCE = "judge-auditor"
_CAUTION = (
    "Models trained on the same texts repeat the same error: consensus is not truth. Claims are the same only when "
    "their texts are, up to case, white space, Unicode form and a final period; a paraphrase is another claim."
)

CONSENSUS_METRICS = (
    Metric(
        id="consensus_precision",
        alias="consensus precision",
        name="share of a model's claims that another model supports",
        reads="support",
        compute=consensus.consensus_scores,
        direction="higher",
        range=(0, 1),
        undefined_when="no question is answered by two models, or the model makes no claim",
        interval="cluster_bootstrap",
        settings=_SETTINGS,
        question="How many of a model's claims does at least one other model make as well?",
        formula="claims of the model supported by another model / claims of the model; mean over models for the run",
        example=f"{_EXAMPLE} Precision of a: 2 / 3.",
        caution=_CAUTION,
        source=_SOURCE,
    ),
    Metric(
        id="consensus_recall",
        alias="consensus recall",
        name="share of the consensus claims that a model makes",
        reads="support",
        compute=consensus.consensus_scores,
        direction="higher",
        range=(0, 1),
        undefined_when="no question is answered by two models, or no claim is consensus",
        interval="cluster_bootstrap",
        settings=_SETTINGS,
        question="How many of the claims on which the models agree does a model make?",
        formula=(
            "consensus claims of the model / consensus claims; a claim is consensus when half of the models make it"
        ),
        example=f"{_EXAMPLE} Recall of c: 1 / 2.",
        caution=f"{_CAUTION} The scored model votes too: with two models every claim is consensus.",
        source=_SOURCE,
    ),
    Metric(
        id="consensus_f1",
        alias="consensus F1",
        name="harmonic mean of consensus precision and recall",
        reads="support",
        compute=consensus.consensus_scores,
        direction="higher",
        range=(0, 1),
        undefined_when="consensus precision or recall is undefined",
        interval="cluster_bootstrap",
        settings=_SETTINGS,
        question="How far does a model go along with the other models?",
        formula="2 * precision * recall / (precision + recall), 0 when both are 0; mean over models for the run",
        example=f"{_EXAMPLE} F1: a 0.8, b 1, c 0.5; mean 0.767.",
        caution=f"{_CAUTION} The scored model votes on what is consensus; see consensus_f1_others.",
        source=_SOURCE,
    ),
    Metric(
        id="consensus_f1_others",
        alias="consensus F1, others",
        name="consensus F1 with the scored model left out of the vote",
        reads="support",
        compute=consensus.consensus_scores,
        direction="higher",
        range=(0, 1),
        undefined_when="no question is answered by two models, or precision or recall is undefined",
        interval="cluster_bootstrap",
        settings=(*_SETTINGS, ("vote", "others")),
        question="How far does a model go along with the consensus of the others alone?",
        formula="as consensus_f1, but a claim is consensus when half of the OTHER models make it, for both parts",
        example=f"{_EXAMPLE} For a, the others' consensus is A, B, C: precision 2 / 3, recall 2 / 3, F1 0.667.",
        caution=_CAUTION,
        source="hallumeter: agreeing with oneself should count for nothing",
    ),
)
