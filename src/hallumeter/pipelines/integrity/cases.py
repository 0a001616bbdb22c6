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
