"""Faults of agents, planted in right answers at known places, so that blame can be compared with the truth.

A plan says what each agent of one sentence gets wrong, and which of these errors a later agent puts right again.
`aspect_planting.planted` changes the answers; what the plan does not speak of stays as it was. The same seed, text and
gold make the same plan.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct, structs

from hallumeter.errors import SettingsError
from hallumeter.records.aspects import POLARITIES, AspectTuple, Polarity, TextSpan
from hallumeter.records.aspects.blame import ErrorKind

from .choosing import Choice

FaultKind = Literal[
    "miscounted_span",
    "other_units",
    "invented_aspect",
    "spurious_span",
    "missed_aspect",
    "flipped_polarity",
    "proposed_flip",
    "reviewed_drop",
    "reviewed_flip",
    "pushed_polarity",
]
FAULT_STEPS: dict[FaultKind, str] = {
    "miscounted_span": "ate",
    "other_units": "ate",
    "invented_aspect": "ate",
    "spurious_span": "ate",
    "missed_aspect": "ate",
    "flipped_polarity": "atsa",
    "proposed_flip": "validator_proposals",
    "reviewed_drop": "ate_review",
    "reviewed_flip": "atsa_review",
    "pushed_polarity": "debate_override",
}
"""The step that introduces the error: offsets that are one to three too small, more so further on; offsets in UTF-16
units or bytes; a term that is not in the text; a word that is no aspect; an aspect that nobody names; a wrong polarity;
a validator that wants a right polarity turned; a review that drops a right aspect, or turns a right polarity; a debate
that agrees on a wrong polarity."""
FAULT_KINDS: tuple[FaultKind, ...] = tuple(FAULT_STEPS)
FAULT_ERRORS: dict[FaultKind, tuple[ErrorKind, ...]] = {
    "miscounted_span": ("ungrounded",),
    "other_units": ("ungrounded",),
    "invented_aspect": ("ungrounded", "spurious"),
    "spurious_span": ("spurious",),
    "missed_aspect": ("missing",),
    "flipped_polarity": ("polarity",),
    "proposed_flip": ("polarity",),
    "reviewed_drop": ("missing",),
    "reviewed_flip": ("polarity",),
    "pushed_polarity": ("polarity",),
}
"""The kinds of error that a fault is."""
_REPAIRS: dict[FaultKind, tuple[str, ...]] = {
    "miscounted_span": ("ate_review", "validator_proposals"),
    "other_units": ("ate_review", "validator_proposals"),
    "invented_aspect": ("ate_review", "validator_proposals"),
    "spurious_span": ("ate_review", "validator_proposals"),
    "missed_aspect": ("ate_review",),
    "flipped_polarity": ("atsa_review", "debate_override"),
}
"""The steps that can put a fault of stage 1 right."""
_WORDS = re.compile(r"\w+")
_LONG_WORD = re.compile(r"[^\W\d_]{2,}")
_OPPOSITE: dict[str, Polarity] = {"positive": "negative", "negative": "positive"}
_MOST_SHIFTED = 3


class PlantedFault(Struct, frozen=True, kw_only=True):
    """One fault, and all that is known about it."""

    kind: FaultKind
    step: str
    """Who introduces it."""
    term: str
    span: TextSpan
    """As it is stated: wrong, for faults about spans."""
    true_span: TextSpan | None = None
    """Where the term stands; None for a term that is not in the text."""
    polarity: Polarity
    """As it is stated or asked for: wrong, for faults about polarities."""
    true_polarity: Polarity | None = None
    """As gold has it; None for an aspect that is not in gold."""
    repaired_by: str | None = None
    """The step that puts it right again; None when none does."""


class _Place(Struct, frozen=True):
    """An aspect of gold in which a fault can be planted."""

    term: str
    span: TextSpan
    polarity: Polarity


class _Sentence(Struct, frozen=True):
    """What faults are made of."""

    text: str
    gold: tuple[AspectTuple, ...]
    donors: Sequence[str]
    choice: Choice

    def fault(self, kind: FaultKind, place: _Place) -> PlantedFault:
        """A fault that leaves everything about an aspect right so far."""
        return PlantedFault(
            kind=kind,
            step=FAULT_STEPS[kind],
            term=place.term,
            span=place.span,
            true_span=place.span,
            polarity=place.polarity,
            true_polarity=place.polarity,
        )


def planned_faults(
    text: str,
    gold: Sequence[AspectTuple],
    *,
    seed: int = 0,
    kinds: Iterable[FaultKind] = FAULT_KINDS,
    donors: Sequence[str] = (),
    are_repaired: bool = True,
) -> tuple[PlantedFault, ...]:
    """What agents get wrong in a sentence: each kind once where it finds a place, no aspect twice.

    Miscounted spans are planted in all aspects that are left. Aspects are passed over whose term stands in the text,
    or in another aspect, a second time: nobody could tell which one an agent means. `donors` are terms for invented
    aspects; the first one that shares no word with the text is taken. With `are_repaired` some faults of stage 1 are
    put right by a later step.

    >>> gold = [AspectTuple("battery", "positive", span=TextSpan(4, 11))]
    >>> [fault] = planned_faults("The battery is fine.", gold, kinds=["flipped_polarity"], are_repaired=False)
    >>> fault.step, fault.term, fault.polarity, fault.true_polarity
    ('atsa', 'battery', 'negative', 'positive')
    """
    wanted = tuple(kinds)
    if unknown := [kind for kind in wanted if kind not in FAULT_STEPS]:
        raise SettingsError(f"there is no fault of kind {unknown[0]!r}; choose from {', '.join(FAULT_KINDS)}")
    free = list(_places(text, gold))
    planned: list[PlantedFault] = []
    for kind in wanted:
        sentence = _Sentence(text, tuple(gold), donors, Choice(seed, text, kind))
        for fault in _MAKERS[kind](sentence, kind, list(sentence.choice.ordered(free))):
            planned.append(_repaired(fault, sentence.choice) if are_repaired else fault)
            free = [place for place in free if place.term != fault.term]
    return tuple(planned)


def _places(text: str, gold: Sequence[AspectTuple]) -> Iterator[_Place]:
    terms = [each.aspect_term.casefold() for each in gold]
    for each in gold:
        key, span = each.aspect_term.casefold(), each.span
        is_alone = sum(key in term or term in key for term in terms) == 1
        is_placed = span is not None and span.is_within(text) and text[span.start : span.end] == each.aspect_term
        polarity = next((known for known in POLARITIES if known == each.polarity), None)
        if key and span is not None and polarity and is_placed and is_alone and text.casefold().count(key) == 1:
            yield _Place(each.aspect_term, span, polarity)


def _repaired(fault: PlantedFault, choice: Choice) -> PlantedFault:
    """Half of the faults that can be repaired are; a debate can make nothing neutral."""
    steps = [
        step for step in _REPAIRS.get(fault.kind, ()) if step != "debate_override" or fault.true_polarity in _OPPOSITE
    ]
    chosen = next(choice.ordered([*steps, *[None] * len(steps)], "repair"), None)
    return structs.replace(fault, repaired_by=chosen)


def _miscounted(sentence: _Sentence, kind: FaultKind, free: list[_Place]) -> Iterator[PlantedFault]:
    """One character too early at the beginning of the sentence, three at its end; too late where there is no room."""
    for place in free:
        shift = 1 + _MOST_SHIFTED * place.span.start // (len(sentence.text) + 1)
        shift = -shift if place.span.start >= shift else shift
        span = TextSpan(place.span.start + shift, place.span.end + shift)
        yield structs.replace(sentence.fault(kind, place), span=span)


def _in_other_units(sentence: _Sentence, kind: FaultKind, free: list[_Place]) -> Iterator[PlantedFault]:
    for place in free:
        before = sentence.text[: place.span.start]
        for encoding, size in (("utf-16-le", 2), ("utf-8", 1)):
            start = len(before.encode(encoding, "surrogatepass")) // size
            length = len(place.term.encode(encoding, "surrogatepass")) // size
            span = TextSpan(start, start + length)
            if span != place.span:
                yield structs.replace(sentence.fault(kind, place), span=span)
                return


def _invented(sentence: _Sentence, kind: FaultKind, _: list[_Place]) -> Iterator[PlantedFault]:
    taken = {word.casefold() for word in _WORDS.findall(sentence.text)}
    for donor in sentence.choice.ordered(sentence.donors, "donor"):
        if donor.casefold() not in sentence.text.casefold() and taken.isdisjoint(_WORDS.findall(donor.casefold())):
            start = min(len(sentence.text) // 2, max(len(sentence.text) - len(donor), 0))
            yield _stranger(sentence, kind, donor, span=TextSpan(start, start + len(donor)))
            return


def _spurious(sentence: _Sentence, kind: FaultKind, _: list[_Place]) -> Iterator[PlantedFault]:
    folded = sentence.text.casefold()
    spans = [each.span for each in sentence.gold if each.span is not None]
    terms = [each.aspect_term.casefold() for each in sentence.gold]
    for match in sentence.choice.ordered(list(_LONG_WORD.finditer(sentence.text)), "word"):
        word = match.group().casefold()
        is_outside = all(match.end() <= span.start or span.end <= match.start() for span in spans)
        if is_outside and folded.count(word) == 1 and not any(word in term or term in word for term in terms):
            found = _stranger(sentence, kind, match.group(), span=TextSpan(match.start(), match.end()))
            yield structs.replace(found, true_span=found.span)
            return


def _stranger(sentence: _Sentence, kind: FaultKind, term: str, *, span: TextSpan) -> PlantedFault:
    """An aspect that is not in gold, with any polarity."""
    polarity = next(sentence.choice.ordered(POLARITIES, "polarity"))
    return PlantedFault(kind=kind, step=FAULT_STEPS[kind], term=term, span=span, polarity=polarity)


def _about_one(sentence: _Sentence, kind: FaultKind, free: list[_Place]) -> Iterator[PlantedFault]:
    for place in free[:1]:
        yield sentence.fault(kind, place)


def _flipped(sentence: _Sentence, kind: FaultKind, free: list[_Place]) -> Iterator[PlantedFault]:
    for place in free[:1]:
        either: list[Polarity] = ["positive", "negative"]
        wrong = _OPPOSITE.get(place.polarity) or next(sentence.choice.ordered(either, "polarity"))
        yield structs.replace(sentence.fault(kind, place), polarity=wrong)


def _turned(sentence: _Sentence, kind: FaultKind, free: list[_Place]) -> Iterator[PlantedFault]:
    """A validator can turn only what has an opposite."""
    return _flipped(sentence, kind, [place for place in free if place.polarity in _OPPOSITE])


_MAKERS: dict[FaultKind, Callable[[_Sentence, FaultKind, list[_Place]], Iterator[PlantedFault]]] = {
    "miscounted_span": _miscounted,
    "other_units": _in_other_units,
    "invented_aspect": _invented,
    "spurious_span": _spurious,
    "missed_aspect": _about_one,
    "flipped_polarity": _flipped,
    "proposed_flip": _turned,
    "reviewed_drop": _about_one,
    "reviewed_flip": _flipped,
    "pushed_polarity": _flipped,
}
