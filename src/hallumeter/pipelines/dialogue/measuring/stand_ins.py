"""What can stand beside the lexicon: a model of named entities for mentions, a sentence encoder for indirect use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from hallumeter.extractors.clinical import ClinicalReader, ClinicalText
from hallumeter.extractors.clinical.names import condition_named, drug_named
from hallumeter.records import Mention, MentionKind, Occurrence
from hallumeter.retrieval import encode, encoder_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.records import SlotUse

Entity = tuple[MentionKind, int, int]
"""Kind (``medication`` or ``condition``), first and last place of what a model found."""
_NAMED: dict[str, Callable[[str], str | None]] = {"medication": drug_named, "condition": condition_named}
NEAR = 0.4
"""Cosine from which a sentence is about a fact: above what unrelated advice reaches, not calibrated beyond that."""
INDIRECT = 0.5
_SENTENCES = {
    "age": "The patient is {value} years old.",
    "sex": "The patient is {value}.",
    "primary_condition": "The patient has {value}.",
    "comorbidities": "The patient has {value}.",
    "active_meds": "The patient takes {value}.",
    "labs": "The laboratory results are {value}.",
    "vitals": "The vital signs are {value}.",
    "major_procedures": "The patient had {value}.",
    "chief_symptom": "The patient complains of {value}.",
}


class EntityReader:
    """Reads texts by lexicon, and adds drugs and conditions that a model of named entities finds.

    Scopes are those of the lexicon's cues, so that a negated entity stays negated.

    >>> reader = EntityReader(lambda text: [("medication", 15, 24)], name="my-model")
    >>> [mention.name for mention in reader.read("You are taking newdrugol.").mentions]
    ['newdrugol']
    """

    def __init__(self, find: Callable[[str], Iterable[Entity]], *, name: str) -> None:
        self._find = find
        self._reader = ClinicalReader()
        self.name = name

    def read(self, text: str) -> ClinicalText:
        """The mentions of both."""
        found = self._reader.read(text)
        taken = [(place.start, place.end) for mention in found.mentions for place in mention.occurrences]
        added: dict[tuple[MentionKind, str], list[Occurrence]] = {}
        for kind, start, end in self._find(text):
            if kind in _NAMED and not any(first < end and start < last for first, last in taken):
                name = _NAMED[kind](text[start:end]) or text[start:end].casefold()
                added.setdefault((kind, name), []).append(found.scope_at(start, end))
        more = tuple(Mention(kind, name, tuple(places)) for (kind, name), places in added.items())
        return ClinicalText(text, mentions=(*found.mentions, *more), hints=found.hints, standing=found._standing)


class VectorUse:
    """Tells indirect use by the vectors of a sentence encoder."""

    def __init__(self) -> None:
        self._name = f"{encoder_name()}-{NEAR:g}"

    @property
    def name(self) -> str:
        """The encoder and the threshold."""
        return self._name

    def uses(self, answer: ClinicalText, uses: Sequence[SlotUse]) -> tuple[SlotUse, ...]:
        """Facts that no word of the lexicon shows in use, where a sentence is near to them."""
        spans = [(start, end) for start, end in answer.sentences if answer.text[start:end].strip()]
        unused = [place for place, use in enumerate(uses) if not use.confidence]
        if not spans or not unused:
            return tuple(uses)
        facts = encode([_sentence(uses[place]) for place in unused])
        sentences = encode([answer.text[start:end] for start, end in spans])
        cosines = facts @ sentences.T
        found = list(uses)
        for row, place in enumerate(unused):
            best = int(np.argmax(cosines[row]))
            if cosines[row, best] >= NEAR:
                start, end = spans[best]
                found[place] = structs.replace(uses[place], confidence=INDIRECT, start=start, end=end)
        return tuple(found)


def _sentence(use: SlotUse) -> str:
    return _SENTENCES.get(use.slot, "{value}").format(value=use.value)
