"""The pathological cases: what any evaluator of answers meets sooner or later, and what an honest one may say of it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Expects = Literal["nothing", "difference"]
"""`nothing`: nothing can be measured, so that a number is invented. `difference`: two answers, one of them wrong."""

QUESTION = "How long is the Seine, and through which city does it flow?"
EVIDENCE = "The Seine is 777 km long. It flows through Paris and enters the sea at Le Havre."
SUPPORTED = "The Seine is 777 km long. It flows through Paris."
_KOREAN = "센강의 길이는 777 km이다. 센강은 파리를 지나 르아브르에서 바다로 흘러든다."
_LAST = "The harbour wall of Veldoria is 84,213 metres long."
_LINES = 8_200
"""Sentences that make 100,000 tokens, counted by the tokenizer of the embedded judge; a test counts them."""
_LONG_ANSWER = 800
"""Sentences of an answer that no model with a window of 8,192 tokens reads to its end."""


class Case(Struct, frozen=True):
    """One thing to ask of an evaluator."""

    name: str
    title: str
    expects: Expects
    response: str | int | None
    evidence: tuple[str, ...] = (EVIDENCE,)
    question: str = QUESTION
    wrong: str | None = None
    """The same answer with an error in it; an evaluator that scores both alike did not see it."""
    reply: str | None = None
    """What the evaluator's own model is made to say; such a case needs an evaluator that can be given one."""


def all_cases() -> tuple[Case, ...]:
    """Every case, the quick ones first."""
    sentences = _sentences(_LINES)
    return (
        Case("empty_response", "empty answer", "nothing", ""),
        Case("empty_evidence", "empty evidence", "nothing", SUPPORTED, evidence=()),
        Case("no_claims", "no claims in the answer", "nothing", "Hello! How can I help you today?"),
        Case("refusal", "refusal", "nothing", "I'm sorry, but I cannot answer that question."),
        Case("missing_response", "None instead of a text", "nothing", None),
        Case("not_a_text", "a number instead of a text", "nothing", 777),
        Case("truncated_reply", "judge's reply cut short", "nothing", SUPPORTED, reply='{"verdicts": [{"verdict": "ye'),
        Case("unparsable_reply", "judge's reply unreadable", "nothing", SUPPORTED, reply="I would rather not say."),
        Case("refusing_reply", "judge refuses", "nothing", SUPPORTED, reply="I'm sorry, I can't help with that."),
        Case("number_changed", "a number changed", "difference", SUPPORTED, wrong=SUPPORTED.replace("777", "999")),
        Case(
            "other_language",
            "a number changed, in Korean",
            "difference",
            "센강의 길이는 777 km이다.",
            evidence=(_KOREAN,),
            question="센강의 길이는?",
            wrong="센강의 길이는 999 km이다.",
        ),
        Case(
            "invented_end",
            "invented end of a long answer",
            "difference",
            " ".join(sentences[:_LONG_ANSWER]),
            evidence=(" ".join(sentences[:_LONG_ANSWER]),),
            question="List the stations.",
            wrong=" ".join([*sentences[:_LONG_ANSWER], "The whole railway was sold to Napoleon for 12 francs."]),
        ),
        Case(
            "long_evidence",
            "100,000 tokens of evidence",
            "difference",
            _LAST,
            evidence=(" ".join([*sentences, _LAST]),),
            question="How long is the harbour wall?",
            wrong=_LAST.replace("84,213", "96,457"),
        ),
    )


def _sentences(number: int) -> list[str]:
    """Sentences that differ in their numbers alone."""
    return [
        f"Station {place} opened in {1850 + place % 149} and serves {100 + 7 * place} travellers."
        for place in range(1, number + 1)
    ]


# What an evaluator returned, and whether that is honest.

Kind = Literal["number", "nan", "nothing", "raised", "timeout", "crashed", "unreadable", "not_run"]
Opinion = Literal["honest", "silent", "nan", "blind", "unreadable", "unhandled", "not run"]
DISHONEST: frozenset[Opinion] = frozenset({"silent", "nan", "blind", "unreadable"})


class Outcome(Struct, frozen=True):
    """What came of one call."""

    kind: Kind
    value: float | None = None
    said: str | None = None
    """The reason, the error, or what was returned instead of a number."""

    @property
    def shown(self) -> str:
        """In a cell of a table."""
        if self.kind == "number" and self.value is not None:
            return f"{self.value:.4g}"
        words = {"nan": "NaN", "nothing": "undefined", "not_run": "–"}.get(self.kind, self.kind)
        return f"{words}: {self.said}" if self.said else words


class CaseResult(Struct, frozen=True):
    """What an evaluator made of one case."""

    case: str
    title: str
    returned: str
    returned_on_wrong: str | None
    """For the same answer with an error in it, where the case has one."""
    opinion: Opinion
    is_honest: bool | None
    """None when the case was not run."""
    is_measured: bool
    """Whether it gave a number where there was something to measure."""
    why: str


class IntegrityResult(Struct, frozen=True):
    """What an evaluator made of all cases."""

    evaluator: str
    cases: tuple[CaseResult, ...]
    honest: int
    unhandled: int
    """Of the honest, those that ended in an error."""
    dishonest: int
    not_run: int
    measured: int
    """Cases on which it gave a number where there was something to measure; 0 says that it was never seen at work."""


def judged(case: Case, outcome: Outcome, on_wrong: Outcome | None) -> CaseResult:
    """The opinion on what came of a case."""
    opinion, why = _opinion(outcome, on_wrong)
    return CaseResult(
        case=case.name,
        title=case.title,
        returned=outcome.shown,
        returned_on_wrong=None if on_wrong is None else on_wrong.shown,
        opinion=opinion,
        is_honest=None if opinion == "not run" else opinion not in DISHONEST,
        is_measured=on_wrong is not None and outcome.kind == "number",
        why=why,
    )


def summed(evaluator: str, cases: tuple[CaseResult, ...]) -> IntegrityResult:
    """All cases with their counts."""
    return IntegrityResult(
        evaluator=evaluator,
        cases=cases,
        honest=sum(case.is_honest is True for case in cases),
        unhandled=sum(case.opinion == "unhandled" for case in cases),
        dishonest=sum(case.is_honest is False for case in cases),
        not_run=sum(case.is_honest is None for case in cases),
        measured=sum(case.is_measured for case in cases),
    )


_BROKEN: dict[Kind, tuple[Opinion, str]] = {
    "not_run": ("not run", "the function has no parameter `ask`, by which its model could be played"),
    "nan": ("nan", "NaN is neither a number nor a reason, and poisons every mean"),
    "unreadable": ("unreadable", "neither a number, nor None, nor a mapping with a score"),
    "raised": ("unhandled", "an error is honest; whoever calls it must catch it, and count the record as failed"),
    "timeout": ("unhandled", "no answer in time; whoever calls it must count the record as failed"),
    "crashed": ("unhandled", "the process ended; whoever calls it must count the record as failed"),
}


def _opinion(outcome: Outcome, on_wrong: Outcome | None) -> tuple[Opinion, str]:
    for each in (outcome, on_wrong):
        if each is not None and each.kind in _BROKEN:
            return _BROKEN[each.kind]
    if on_wrong is None:
        if outcome.kind == "number":
            return "silent", "a number although nothing could be measured"
        return "honest", "says that nothing was measured"
    if "nothing" in (outcome.kind, on_wrong.kind):
        return "honest", "says that it could not measure"
    if outcome.value == on_wrong.value:
        return "blind", "the same number for an answer with an error and for one without"
    return "honest", "tells the two answers apart"
