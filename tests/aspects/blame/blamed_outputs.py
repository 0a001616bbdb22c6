"""Outputs made by hand, whose blame is known."""

from __future__ import annotations

from hallumeter.aspects.records.aspect import AspectTuple, TextSpan
from hallumeter.aspects.records.outputs import AspectState, PipelineOutput, Step, StepState

TEXT = "The battery is good but the screen is not bright, and the service was slow."


def place(term: str, text: str = TEXT) -> TextSpan:
    start = text.find(term)
    return TextSpan(start, start + len(term)) if start >= 0 else TextSpan(0, len(term))


def said(term: str, polarity: str | None = None, *, shift: int = 0, text: str = TEXT) -> AspectState:
    """An aspect with a polarity, at its place or somewhat beside it."""
    span = place(term, text)
    return AspectState(term, TextSpan(span.start + shift, span.end + shift) if term else None, polarity)


def found(term: str, *, shift: int = 0, text: str = TEXT) -> AspectState:
    """An aspect that nobody has said anything about yet."""
    stated = said(term, shift=shift, text=text)
    return AspectState(stated.term, stated.span, None, has_sentiment=False)


def gold(*pairs: tuple[str, str], text: str = TEXT) -> tuple[AspectTuple, ...]:
    return tuple(AspectTuple(term, polarity, span=place(term, text) if term else None) for term, polarity in pairs)


GOLD = gold(("battery", "positive"), ("screen", "negative"), ("service", "negative"))


def states(**steps: tuple[AspectState, ...]) -> tuple[StepState, ...]:
    named: dict[str, Step] = {
        "ate": "ate",
        "ate_tidying": "ate_tidying",
        "atsa": "atsa",
        "atsa_tidying": "atsa_tidying",
        "validator_proposals": "validator_proposals",
        "ate_review": "ate_review",
        "atsa_review": "atsa_review",
        "debate_override": "debate_override",
        "anchoring": "anchoring",
        "moderator": "moderator",
    }
    return tuple(StepState(named[step], aspects) for step, aspects in steps.items())


def output(*steps: StepState, gold_tuples: tuple[AspectTuple, ...] | None = GOLD, text: str = TEXT) -> PipelineOutput:
    return PipelineOutput("s1", text, states=steps, gold_tuples=gold_tuples)
