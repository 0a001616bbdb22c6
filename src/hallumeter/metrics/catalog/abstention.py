"""Metrics over answers to questions that can, and cannot, be answered."""

from hallumeter.metrics import abstention

from .metric import Metric

_DETECTOR = (("abstention", "lexicon-en-fr-ko-1"),)
_CAUTION = (
    "Whether a response abstains is decided by cue phrases in English, French and Korean, in the sentence that "
    "answers; other languages are read as answers. The matched cue is in the run's records for audit."
)
_SOURCE = "judge-auditor; the idea also in HalluLens (ACL 2025)"

ABSTENTION_METRICS = (
    Metric(
        id="far",
        alias="FAR",
        name="false acceptance rate",
        reads="answers",
        compute=abstention.false_acceptance_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="no question is marked unanswerable",
        is_poolable=True,
        interval="wilson",
        settings=_DETECTOR,
        question="Asked about something that does not exist, how often does the model answer all the same?",
        formula="unanswerable questions answered / unanswerable questions",
        example='"X was a painter." and "I don\'t know about Y." on two people who never lived: 1 / 2.',
        caution=_CAUTION,
        source=_SOURCE,
    ),
    Metric(
        id="correct_refusal_rate",
        alias="correct refusals",
        name="correct refusal rate",
        reads="answers",
        compute=abstention.correct_refusal_rate,
        direction="higher",
        range=(0, 1),
        undefined_when="no question is marked unanswerable",
        is_poolable=True,
        interval="wilson",
        settings=_DETECTOR,
        question="Asked about something that does not exist, how often does the model say so?",
        formula="unanswerable questions refused / unanswerable questions = 1 - FAR",
        example="As for FAR: 1 / 2.",
        caution=f"A model that refuses everything scores 1: read it beside over_refusal_rate. {_CAUTION}",
        source=_SOURCE,
    ),
    Metric(
        id="over_refusal_rate",
        alias="over-refusal",
        name="over-refusal rate",
        reads="answers",
        compute=abstention.over_refusal_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="no question is marked answerable",
        is_poolable=True,
        interval="wilson",
        settings=_DETECTOR,
        question="How often does the model refuse a question that it could have answered?",
        formula="answerable questions refused / answerable questions",
        example='Three questions about real people, one answered with "I have no information about her": 1 / 3.',
        caution=_CAUTION,
        source="hallumeter; the counterpart of FAR",
    ),
)
