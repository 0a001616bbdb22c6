"""Claims and verdicts: anything in a response that can be checked, and what a judge said of it."""

import math
from enum import Enum

from msgspec import Struct

from hallumeter.errors import RecordError

from .response import Quote, check_span, is_span

# Notes on verdicts that judges write and that reports count: each is worded here alone.

_UNCHECKED = "judged by rules: the model was trained and checked on English, not "
_LANGUAGES = {
    "de": "on German",
    "es": "on Spanish",
    "fr": "on French",
    "it": "on Italian",
    "ko": "on Korean",
    "nl": "on Dutch",
    "pt": "on Portuguese",
}
_ANOTHER = "in this language"
_CUT = "judged on {shown:,} of {windows:,} windows ({shown_characters:,} of {characters:,} characters)"
_CUT_OPENING, _CUT_MIDDLE = "judged on ", " windows ("


def unchecked_language_note(language: str) -> str:
    """What the embedded judge notes where its model does not know the language.

    >>> unchecked_language_note("fr")
    'judged by rules: the model was trained and checked on English, not on French'
    """
    return _UNCHECKED + _LANGUAGES.get(language, _ANOTHER)


def unchecked_language_in(note: str) -> str | None:
    """The language that a judge notes as one that its model does not know, or ``another``; None where it notes none.

    >>> unchecked_language_in(unchecked_language_note("ko")), unchecked_language_in("the year is wrong")
    ('ko', None)
    """
    _, found, text = note.rpartition(_UNCHECKED)
    if not found:
        return None
    return next((code for code, words in _LANGUAGES.items() if text.startswith(words)), "another")


def cut_evidence_note(*, shown: int, windows: int, shown_characters: int, characters: int) -> str:
    """What a judge notes that has not seen all of the evidence.

    >>> cut_evidence_note(shown=1, windows=3, shown_characters=8_000, characters=21_000)
    'judged on 1 of 3 windows (8,000 of 21,000 characters)'
    """
    return _CUT.format(shown=shown, windows=windows, shown_characters=shown_characters, characters=characters)


def is_cut_evidence(note: str) -> bool:
    """Whether a judge notes that it has not seen all of the evidence.

    >>> is_cut_evidence("it says so; judged on 1 of 3 windows (8,000 of 21,000 characters)"), is_cut_evidence("no")
    (True, False)
    """
    return _CUT_MIDDLE in note and _CUT_OPENING in note


# What could not be done, and why.


class Failure(Struct, frozen=True):
    """A measurement that broke; it is counted, listed, and never turned into a number."""

    record_id: str | None
    claim_id: str | None
    step: str
    """Where it broke: ``read``, ``extract``, ``judge``, ``samples``, ``measure``."""
    judge: str | None
    code: str
    """What broke, in one word: ``unknown_label``, ``timeout``, ``bad_line``."""
    message: str
    attempts: int = 1


_NO_NUMBERS = (None, None, None)


class Label(Enum):
    """What a judge says of a claim."""

    SUPPORTED = "SUPPORTED"
    """The evidence says so."""
    REFUTED = "REFUTED"
    """The evidence says otherwise."""
    NOT_ENOUGH_INFO = "NOT_ENOUGH_INFO"
    """The evidence is silent: this speaks of the evidence."""
    UNDECIDED = "UNDECIDED"
    """The judge could not tell: this speaks of the judge."""


class Claim(Struct, frozen=True):
    """Any checkable unit of a response: a statement, a block of text, a slot, a rule, an aspect."""

    record_id: str
    claim_id: str
    """Unique within its response."""
    kind: str = "claim"
    start: int | None = None
    """First character of the claim in the response; None when it could not be aligned."""
    end: int | None = None
    text: str | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not is_span(self.start, self.end):
            check_span(self.start, self.end, f"claim {self.claim_id!r}")
        if not 0 <= self.weight < math.inf:
            raise RecordError(f"claim {self.claim_id!r} weighs {self.weight}; expected a number >= 0")


class Verdict(Struct, frozen=True):
    """One judge's word on one claim."""

    record_id: str
    claim_id: str
    judge: str
    label: Label
    unsupported_probability: float | None = None
    """How probable it is, in the judge's eyes, that the evidence does not support the claim."""
    reason: str | None = None
    """A code such as ``number_mismatch`` or ``out_of_text``."""
    start: int | None = None
    """First character of the unsupported part inside the response, else of the claim."""
    end: int | None = None
    evidence: tuple[Quote, ...] = ()
    note: str | None = None
    cost_usd: float | None = None
    """What the verdict cost; None when not known, never 0 for unknown."""
    confidence: float | None = None
    """How sure the judge is of its label."""
    probabilities: tuple[float, ...] | None = None
    """A distribution over SUPPORTED, REFUTED, NOT_ENOUGH_INFO."""
    inference_samples: tuple[tuple[float, ...], ...] = ()
    """Further distributions of the same judge for the same claim, from repeated inference."""

    def __post_init__(self) -> None:
        # Millions of verdicts are read: the words for a fault are made only where there may be one.
        numbers = self.unsupported_probability, self.confidence, self.probabilities
        if numbers == _NO_NUMBERS and not self.inference_samples and is_span(self.start, self.end):
            return
        owner = f"verdict of {self.judge!r} on claim {self.claim_id!r}"
        check_span(self.start, self.end, owner)
        for name in ("unsupported_probability", "confidence"):
            check_probability(getattr(self, name), f"{owner}: {name}")
        if self.probabilities is not None:
            check_distribution(self.probabilities, f"{owner}: probabilities")
        for sample in self.inference_samples:
            check_distribution(sample, f"{owner}: inference_samples")


class Finding(Struct, frozen=True):
    """A claim joined with what every judge said of it: the thing that a report highlights."""

    claim: Claim
    verdicts: tuple[Verdict, ...]


def check_probability(value: float | None, owner: str) -> None:
    """Refuse a probability outside 0..1; None means not known and passes."""
    if value is not None and not 0 <= value <= 1:
        raise RecordError(f"{owner} is {value}; expected a number from 0 to 1")


def check_distribution(values: tuple[float, ...], owner: str, tolerance: float = 1e-6) -> None:
    """Refuse what is not a probability distribution: negative, not finite, or not adding up to 1.

    >>> check_distribution((0.7, 0.2, 0.1), "probabilities")
    >>> check_distribution((0.7, 0.7), "p")
    Traceback (most recent call last):
    hallumeter.errors.RecordError: p [0.7, 0.7] add up to 1.4; expected numbers >= 0 that add up to 1
    """
    total = sum(values)
    if not values or not all(value >= 0 for value in values) or not abs(total - 1) <= tolerance:
        shown = ", ".join(f"{value:g}" for value in values)
        raise RecordError(f"{owner} [{shown}] add up to {total:g}; expected numbers >= 0 that add up to 1")
