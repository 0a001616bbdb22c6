"""Metrics over what a model says when it is asked again, and over the probabilities of its own tokens."""

from hallumeter.metrics import meanings, token_logprobs

from .metric import Metric

_NO_SAMPLES = "no response comes with samples"
_NO_TOKENS = "no response comes with token log-probabilities"
_WHO_DECIDES = (
    "A model that repeats the same error is consistent. It depends on who decides what means the same, which the "
    "signature names; sentence vectors hardly see a changed name, and by them consistency told wrong responses from "
    "right ones hardly better than their length did."
)
_OWN_WORDS = (
    "A rare but right word surprises as much as a wrong one, and probabilities of models that were tuned to please are "
    "rarely calibrated. Figures of models with different tokenizers cannot be compared."
)

SAMPLE_METRICS = (
    Metric(
        id="semantic_entropy",
        alias="semantic entropy",
        name="entropy over the meanings of sampled answers",
        reads="meanings",
        compute=meanings.mean_semantic_entropy,
        direction="lower",
        range=(0, None),
        undefined_when=_NO_SAMPLES,
        is_poolable=True,
        interval="cluster_bootstrap",
        settings=(("unit", "nats"),),
        question="If the model is asked again, does it mean the same thing?",
        formula="mean over responses with samples of -sum over meanings of mass log mass; the mass of a meaning is the "
        "share of the answers, the response and its samples, that have it",
        example="Four answers, two meanings, two answers each: log 2 = 0.693 nats.",
        caution=_WHO_DECIDES,
        source="Kuhn, Gal and Farquhar, ICLR 2023; Farquhar et al., Nature 2024",
    ),
    Metric(
        id="sample_consistency",
        alias="consistency",
        name="share of samples that mean the same as the response",
        reads="meanings",
        compute=meanings.sample_consistency,
        direction="higher",
        range=(0, 1),
        undefined_when=_NO_SAMPLES,
        is_poolable=True,
        interval="cluster_bootstrap",
        question="How often does the model stand by its response when it is asked again?",
        formula="samples that mean the same as their response / samples",
        example="A response with 3 samples, of which 2 mean the same, and one with 1 that does not: 2 / 4 = 0.5.",
        caution=_WHO_DECIDES,
        source="Manakul, Liusie and Gales (SelfCheckGPT), EMNLP 2023, with whole answers in place of sentences",
    ),
    Metric(
        id="meanings_per_response",
        alias="meanings",
        name="different meanings per response and its samples",
        reads="meanings",
        compute=meanings.mean_meanings,
        direction="lower",
        range=(1, None),
        undefined_when=_NO_SAMPLES,
        is_poolable=True,
        interval="cluster_bootstrap",
        question="How many different things does the model say to one question?",
        formula="mean over responses with samples of the number of different meanings among its answers; at least 1",
        example="Answers with the meanings a, a, b and answers with the meanings c, c: (2 + 1) / 2 = 1.5.",
        caution="It grows with the number of samples; compare runs with equally many. " + _WHO_DECIDES,
        source="Kuhn, Gal and Farquhar, ICLR 2023; Lin, Trivedi and Sun, TMLR 2024 (number of semantic sets)",
    ),
    Metric(
        id="token_surprisal",
        alias="surprisal",
        name="mean surprisal of the model by its own tokens",
        reads="token_logprobs",
        compute=token_logprobs.token_surprisal,
        direction="lower",
        range=(0, None),
        undefined_when=_NO_TOKENS,
        is_poolable=True,
        interval="cluster_bootstrap",
        settings=(("unit", "nats"),),
        question="How improbable did the model find what it wrote?",
        formula="-sum of the natural log-probabilities of all tokens / tokens; its exponential is the perplexity",
        example="Tokens with the probabilities 1, 0.5 and 0.5: 2 log 2 / 3 = 0.462 nats.",
        caution=_OWN_WORDS,
        source="Shannon 1948; as a sign of hallucination: Guerreiro, Voita and Martins, EACL 2023",
    ),
    Metric(
        id="least_token_probability",
        alias="least probability",
        name="probability of the least probable token",
        reads="token_logprobs",
        compute=token_logprobs.least_token_probability,
        direction="higher",
        range=(0, 1),
        undefined_when=_NO_TOKENS,
        is_poolable=True,
        interval="cluster_bootstrap",
        question="How unsure was the model where it was least sure?",
        formula="mean over responses of the smallest probability among their tokens",
        example="Responses whose tokens have the probabilities 0.9, 0.2 and 0.8, 0.6: (0.2 + 0.6) / 2 = 0.4.",
        caution="It falls with the length of a response. " + _OWN_WORDS,
        source="Varshney et al. 2023, A stitch in time saves nine (smallest probability of a concept's tokens)",
    ),
)
