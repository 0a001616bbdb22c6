"""Reads clinical texts: what they mention of drugs, conditions, labs, vitals, age and sex, and how it stands."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.records.dialogue import Mention, MentionKind, Occurrence
from hallumeter.text.normalize import clean_text
from hallumeter.text.sentences import sentence_spans

from .clinical_text import ClinicalText, Hint, HintKind, TextStanding, occurrence, original_span
from .cue_words import all_cue_words
from .numbers import NumberReader
from .particles import Endings
from .people import Age, AgeFinder, SexReader
from .readings import Reading, ReadingFinder
from .roles import SCOPE_NAMES
from .scopes import Target
from .standing import ScopeFinder
from .tables import load_tables
from .vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.text.normalize import CleanText

    from .numbers import Number
    from .tables import ClinicalTables
    from .vocabulary import Finds, Found

_HINT_KINDS: dict[str, HintKind] = {
    "condition_hint": "condition",
    "life_stage": "life_stage",
    "class": "medication_class",
    "measurement": "measurement",
}
_KINDS: dict[str, MentionKind] = {
    "medication": "medication", "condition": "condition", "lab": "lab", "vital": "vital", "age": "age", "sex": "sex",
}  # fmt: skip
_TARGET_KINDS = {"condition": "condition", "sex": "person"}


class _Stated(Struct, gc=False):
    """A mention or a hint before its scope is known, in the positions of the clean text."""

    kind: str
    name: str
    start: int
    end: int
    target: Target
    value: float | str | None = None
    unit: str | None = None
    slot_value: float | None = None


class _Parts:
    """What is made from the lexicons once."""

    def __init__(self, tables: ClinicalTables) -> None:
        words = all_cue_words()
        endings = Endings([each.particles for each in words])
        self.vocabulary = Vocabulary(tables, words, endings)
        self.numbers = NumberReader(words, endings)
        self.readings = ReadingFinder(tables.measurements, words, self.numbers)
        self.ages = AgeFinder(words)
        self.sexes = SexReader(words)
        self.scopes = ScopeFinder(words, endings)


@cache
def _shared_parts() -> _Parts:
    return _Parts(load_tables())


def shared_vocabulary() -> Vocabulary:
    """The names of the lexicons that ship with the package."""
    return _shared_parts().vocabulary


class ClinicalReader:
    """Reads texts; the lexicons are loaded when the first is made, and it can be used for any number of texts.

    >>> text = ClinicalReader().read("You take metformin. Avoid ibuprofen.")
    >>> [(mention.name, mention.occurrences[0].scope) for mention in text.mentions]
    [('metformin', 'asserted'), ('ibuprofen', 'avoided')]
    """

    def __init__(self, tables: ClinicalTables | None = None) -> None:
        self._tables = tables
        self._parts = _shared_parts() if tables is None else _Parts(tables)

    def __reduce__(self) -> tuple[type[ClinicalReader], tuple[ClinicalTables | None]]:
        """Another process makes its own from the same lexicons."""
        return ClinicalReader, (self._tables,)

    def read(self, text: str) -> ClinicalText:
        """What a text mentions, and how; an empty text mentions nothing."""
        parts = self._parts
        clean = clean_text(text)
        finds = parts.vocabulary.find(clean)
        sentences = sentence_spans(clean.text)
        numbers = _outside(parts.numbers.find(clean, finds.number_words), finds.names)
        stated = self._stated(clean, finds, numbers, sentence_ends=[end for _, end in sentences])
        stated.sort(key=_start)
        standing = parts.scopes.find(clean.lower, sentences, cues=finds, targets=[each.target for each in stated])
        hinted = [each for each in stated if each.kind in _HINT_KINDS]
        if hinted:
            stated = [each for each in stated if each.kind not in _HINT_KINDS]
        return ClinicalText(
            text,
            mentions=_mentions(clean, stated),
            hints=tuple([_hint(clean, each) for each in hinted]),
            standing=TextStanding(clean, standing, parts.scopes),
        )

    def _stated(
        self, clean: CleanText, finds: Finds, numbers: list[Number], *, sentence_ends: Sequence[int]
    ) -> list[_Stated]:
        """Everything that has a scope."""
        readings, named = self._parts.readings.find(clean, finds.names, numbers=numbers, sentence_ends=sentence_ends)
        stated = [_from_reading(reading) for reading in readings]
        stated += [_from_age(age) for age in self._parts.ages.find(clean.lower, numbers)]
        for start, end, meanings in finds.names:
            kind, name = meanings[0].kind, meanings[0].name
            if kind == "nothing" or start in named:
                continue
            target = Target(start, end, start, _TARGET_KINDS.get(kind, "medication"))
            if kind == "sex":
                target.bound = self._parts.sexes.general(clean.lower, end)
                stated.append(_Stated(kind, "sex", start, end, target, name))
            else:
                stated.append(_Stated(kind, name, start, end, target))
        for start, end, meanings in finds.hints:
            target = Target(start, end, start, "condition")
            stated += [_Stated(meaning.kind, meaning.name, start, end, target) for meaning in meanings]
        return stated


def _from_reading(reading: Reading) -> _Stated:
    target = Target(reading.value_start, reading.value_end, reading.name_start, "value", reading.bound)
    measurement = reading.measurement
    return _Stated(
        measurement.kind,
        measurement.name,
        reading.start,
        reading.end,
        target,
        reading.value,
        reading.unit,
        reading.slot_value,
    )


def _from_age(age: Age) -> _Stated:
    target = Target(age.start, age.end, age.start, "person", age.bound, age.is_past)
    return _Stated("age", "age", age.start, age.end, target, age.years, None, age.years)


def _mentions(clean: CleanText, stated: list[_Stated]) -> tuple[Mention, ...]:
    """One mention for each thing or value, with all its places."""
    places: dict[tuple[str, str, float | str | None], list[Occurrence]] = {}
    firsts: list[_Stated] = []
    for each in stated:
        value = each.value if each.slot_value is None else round(each.slot_value, 6)
        key = each.kind, each.name, value
        if key not in places:
            places[key] = []
            firsts.append(each)
        places[key].append(occurrence(clean, each.start, each.end, target=each.target))
    return tuple(
        Mention(_KINDS[each.kind], each.name, tuple(found), each.value, each.unit, each.slot_value)
        for each, found in zip(firsts, places.values(), strict=True)
    )


def _hint(clean: CleanText, stated: _Stated) -> Hint:
    start, end = original_span(clean, stated.start, stated.end)
    return Hint(_HINT_KINDS[stated.kind], stated.name, start, end, SCOPE_NAMES[stated.target.scope])


def _outside(numbers: list[Number], names: Sequence[Found]) -> list[Number]:
    """The numbers that are no part of a name, such as the 1 of HbA1c or the 2 of type 2 diabetes."""
    kept = []
    place, count = 0, len(names)
    for number in numbers:
        while place < count and names[place].end <= number.start:
            place += 1
        if place == count or names[place].start > number.start:
            kept.append(number)
    return kept


def _start(stated: _Stated) -> int:
    return stated.start
