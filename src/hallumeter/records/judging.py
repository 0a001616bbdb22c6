"""What every judge does: take claims with their evidence, and say of each whether the evidence supports it."""

from __future__ import annotations

import hashlib
from typing import Protocol, runtime_checkable

import msgspec
from msgspec import Struct

from .claim import Claim, Failure, Verdict
from .response import Response

GIVES_INSTRUCTIONS = "the evidence gives the judge instructions"
"""In the note of a verdict: a language model read such evidence, and the verdict may have been dictated."""

# The words of a claim, and the place of a part of it.


def claim_text(claim: Claim, response: Response) -> str:
    """What a claim says; one that only has a place says what stands there, one without either says nothing.

    >>> claim_text(Claim("r1", "c1", start=0, end=4), Response("r1", response="Oui. Non."))
    'Oui.'
    """
    if claim.text is None and claim.start is not None and response.response is not None:
        return response.response[claim.start : claim.end]
    return claim.text or ""


def place_in_response(claim: Claim, response: Response, span: tuple[int, int]) -> tuple[int | None, int | None]:
    """A part of a claim as a place in the response; the claim's own place when it is worded otherwise there.

    >>> claim = Claim("r1", "c1", text="Non.", start=5, end=9)
    >>> place_in_response(claim, Response("r1", response="Oui. Non."), (0, 3))
    (5, 8)
    """
    if claim.start is None or claim.end is None:
        return None, None
    text = claim.text
    if text is not None and (response.response or "")[claim.start : claim.end] != text:
        return claim.start, claim.end
    return claim.start + span[0], claim.start + span[1]


def span_within(start: int | None, end: int | None, length: int) -> tuple[int, int] | None:
    """A place in a text so long; None for one that is missing, empty or beyond the text.

    >>> span_within(0, 3, 4), span_within(2, 5, 4), span_within(None, None, 4)
    ((0, 3), None, None)
    """
    return None if start is None or end is None or not start < end <= length else (start, end)


def unsupported_span(claim: Claim, verdict: Verdict | None, length: int) -> tuple[int, int] | None:
    """Where the unsupported words of a claim stand in a response so long: what the verdict points to, else all of it.

    People mark whole paragraphs: of those only what is in the claim counts.

    >>> from hallumeter.records.claim import Label
    >>> said = Verdict("r1", "c1", "human", Label.REFUTED, start=5, end=20)
    >>> unsupported_span(Claim("r1", "c1", start=0, end=9), said, 30)
    (5, 9)
    """
    pointed = span_within(verdict.start, verdict.end, length) if verdict else None
    whole = span_within(claim.start, claim.end, length)
    if pointed is None or whole is None:
        return pointed or whole
    return span_within(max(pointed[0], whole[0]), min(pointed[1], whole[1]), length) or whole


class JudgeSpec(Struct, frozen=True):
    """Who judges, with everything that could change a verdict."""

    name: str
    """As it stands in verdicts: ``rules@2``, ``openai:gpt-4o-mini``."""
    settings: tuple[tuple[str, str], ...] = ()
    """Names and values, in a fixed order; prompts by their hash."""
    claims_per_task: int | None = None
    """How many claims of a response are judged together; None for all of them."""
    is_remote: bool = False
    """It waits for something outside: several are asked at once, and what they said is cached."""
    is_parallel: bool = False
    """Copies of it may work in several processes at once."""

    def __str__(self) -> str:
        settings = dict(self.settings)
        if self.claims_per_task is not None:
            settings["batch"] = str(self.claims_per_task)
        return " ".join([self.name, *(f"{name}={value}" for name, value in settings.items())])

    @property
    def digest(self) -> bytes:
        """Differs whenever a verdict could differ."""
        said = msgspec.json.encode((self.name, self.settings, self.claims_per_task))
        return hashlib.blake2b(said, digest_size=16).digest()


class JudgeTask(Struct, frozen=True):
    """Claims of one response, to be judged together."""

    response: Response
    """With its question and its evidence."""
    claims: tuple[Claim, ...]


@runtime_checkable
class CalibratedJudge(Protocol):
    """A judge whose labels follow from calibrated probabilities, and that says how far those could be off."""

    @property
    def spec(self) -> JudgeSpec:
        """Who this is; its settings, the threshold and the calibration, are stated in every signature."""
        ...

    @property
    def refits(self) -> dict[str, tuple[tuple[float, float], ...]]:
        """By kind of text: shift and slope of the logit in refits of its calibration; empty when there are none."""
        ...

    def kind_of(self, task: JudgeTask) -> str | None:
        """The kind of text by which it calibrates its probabilities for a task; None when it does not."""
        ...


class Judge(Protocol):
    """Anyone who judges. It may be called from several threads at once when its spec says that it is remote."""

    @property
    def spec(self) -> JudgeSpec:
        """Who this is."""
        ...

    def judge(self, task: JudgeTask) -> list[Verdict | Failure]:
        """One verdict or failure for each claim, in the order of the claims."""
        ...
