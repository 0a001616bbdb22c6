"""Reads clinical texts: what they mention of drugs, conditions, labs, vitals, age and sex, and how it stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from msgspec import Struct

from hallumeter.dialogue.records import Mention, MentionKind, MentionScope, Occurrence
from hallumeter.text.normalize import CleanText, clean_text
from hallumeter.text.sentences import sentence_spans

from .cues import SCOPE_NAMES, CueWords, Endings, all_cue_words
from .lexicon import ClinicalTables, Finds, Found, Measurement, Vocabulary, load_tables
from .numbers import Number, NumberReader, WordsAfter, WordsBefore
from .readings import Reading, ReadingFinder
from .scopes import Span, Target
from .standing import ScopeFinder, Standing
from .units import measurements_by_name

# A text as the clinical reader sees it.

HintKind = Literal["condition", "medication_class", "measurement", "life_stage"]


class Hint(Struct, frozen=True):
    """Words that speak of something without naming it, or name a measurement without its value."""

    kind: HintKind
    name: str
    """A condition, a class of drugs or a measurement of the lexicons; of a life stage its years, as in ``60-69``."""
    start: int
    end: int
    scope: MentionScope


class TextStanding(NamedTuple):
    """What is needed to tell the scope of any place."""

    clean: CleanText
    standing: Standing
    finder: ScopeFinder


class ClinicalText:
    """What a text mentions, and how everything in it stands. Positions are those of the text, in code points."""

    __slots__ = ("_sentences", "_standing", "hints", "mentions", "text")

    def __init__(
        self, text: str, *, mentions: tuple[Mention, ...], hints: tuple[Hint, ...], standing: TextStanding
    ) -> None:
        self.text = text
        self.mentions = mentions
        self.hints = hints
        self._standing = standing
        self._sentences: tuple[tuple[int, int], ...] | None = None

    @property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Where the sentences begin and end."""
        if self._sentences is None:
            clean, standing, _ = self._standing
            self._sentences = tuple(original_span(clean, start, end) for start, end in standing.sentences)
        return self._sentences

    def scope_at(self, start: int, end: int) -> Occurrence:
        """How any part of the text stands, with the words that decide it.

        >>> from hallumeter.dialogue.reading.reader import ClinicalReader
        >>> ClinicalReader().read("Avoid interval training for now.").scope_at(6, 23).scope
        'avoided'
        """
        clean, standing, finder = self._standing
        first, last = _clean_position(clean, start), _clean_position(clean, end)
        target = Target(first, last, first, "medication")
        finder.scope_of(standing, target)
        return _occurrence(clean, (start, end), target)


def occurrence(clean: CleanText, start: int, end: int, *, target: Target) -> Occurrence:
    """A place of the clean text with the scope that was decided for it, as a place of the text."""
    if len(clean.part_starts) > 1:
        start, end = clean.original_span(start, end)
    return _occurrence(clean, (start, end), target)


def _occurrence(clean: CleanText, span: tuple[int, int], target: Target) -> Occurrence:
    scope, cue = SCOPE_NAMES[target.scope], target.cue
    if cue is None:
        return Occurrence(span[0], span[1], scope)
    cue_start, cue_end = original_span(clean, *cue)
    return Occurrence(span[0], span[1], scope, cue_start, cue_end)


def original_span(clean: CleanText, start: int, end: int) -> tuple[int, int]:
    """Where a part of the clean text stands in the text."""
    return (start, end) if len(clean.part_starts) == 1 else clean.original_span(start, end)


def _clean_position(clean: CleanText, position: int) -> int:
    """The place in the clean text of a place in the original."""
    part = bisect_right(clean.original_starts, position) - 1
    if clean.changed[part]:
        return clean.part_starts[part]
    return clean.part_starts[part] + position - clean.original_starts[part]


# Ages and sexes that a text states.

_OLDEST = 120


class Age(Struct, frozen=True, gc=False):
    """An age, in the positions of the clean text."""

    start: int
    end: int
    years: float
    bound: Span | None = None
    is_past: bool = False
    """Whether it is an age at which something happened."""


class AgeFinder:
    """Finds ages."""

    def __init__(self, words: Sequence[CueWords]) -> None:
        ages = [each.ages for each in words]
        self._before = WordsBefore(age=[word for each in ages for word in each.before])
        self._past_before = WordsBefore(past=[word for each in ages for word in each.past_before])
        self._past_after = WordsAfter(past=[word for each in ages for word in each.past_after])
        self._bound_before = WordsBefore(bound=[word for each in words for word in each.thresholds.before])
        self._bound_after = WordsAfter(bound=[word for each in words for word in each.thresholds.after])

    def find(self, lower: str, numbers: Sequence[Number]) -> Iterator[Age]:
        """The ages of a text in order."""
        for number in numbers:
            if number.is_taken or number.value > _OLDEST:
                continue
            start, end = number.start, number.end
            is_bare = number.is_bare and number.second is None
            if number.is_age or (is_bare and self._before.find(lower, start) is not None):
                number.is_taken = True
                past = self._past_before.find(lower, start) or self._past_after.find(lower, end)
                bound = self._bound_after.find(lower, end) or self._bound_before.find(lower, start)
                yield Age(start, end, number.value, None if bound is None else bound[1:], past is not None)


class SexReader:
    """Tells whether a word for a sex speaks of the sex at large."""

    def __init__(self, words: Sequence[CueWords]) -> None:
        after = {word for each in words for word in each.sexes.general_after}
        self._after = re.compile("|".join(re.escape(word) for word in sorted(after, key=len, reverse=True)))
        self._before = WordsBefore(general=[word for each in words for word in each.sexes.general_before])

    def general(self, lower: str, start: int, end: int) -> Span | None:
        """The words beside it that make it so."""
        before = self._before.find(lower, start)
        match = self._after.match(lower, end)
        return before[1:] if before is not None else None if match is None else match.span()


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
                target.bound = self._parts.sexes.general(clean.lower, start, end)
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


# The lexicon's names for what patients' records and questions call drugs, conditions, labs and vitals.


@lru_cache(maxsize=4096)
def drug_named(text: str) -> str | None:
    """The drug that a text names first; None when it names none.

    >>> drug_named("Metformin hydrochloride 500 MG Oral Tablet"), drug_named("아스피린"), drug_named("statin")
    ('metformin', 'aspirin', None)
    """
    return next((name for found in shared_vocabulary().names_in(text) for name in _meant(found, "medication")), None)


@lru_cache(maxsize=4096)
def condition_named(text: str) -> str | None:
    """The condition that a text names, by the longest name in it; None when it names none.

    >>> condition_named("Type 2 Diabetes Mellitus"), condition_named("고혈압"), condition_named("신장")
    ('type 2 diabetes mellitus', 'hypertension', None)
    """
    found = [each for each in shared_vocabulary().names_in(text) if _meant(each, "condition")]
    longest = max(found, key=lambda each: each.end - each.start, default=None)
    return None if longest is None else _meant(longest, "condition")[0]


def measurement_named(key: str) -> Measurement | None:
    """The lab or vital of a slot; None when the lexicon does not have it.

    >>> measurement_named("hba1c").unit
    '%'
    """
    return measurements_by_name().get(key)


def is_same_condition(one: str, other: str) -> bool:
    """Whether two texts name the same condition, or one a form of the other.

    >>> is_same_condition("diabetes", "Type 2 diabetes mellitus"), is_same_condition("제1형 당뇨병", "제2형 당뇨병")
    (True, False)
    """
    first, second = condition_named(one), condition_named(other)
    if first is None or second is None:
        return False
    return first == second or first in _wider(second) or second in _wider(first)


def is_wider_condition(wider: str, narrower: str) -> bool:
    """Whether the second text names a form of what the first names.

    >>> is_wider_condition("당뇨병", "제2형 당뇨병"), is_wider_condition("제2형 당뇨병", "당뇨병")
    (True, False)
    """
    first, second = condition_named(wider), condition_named(narrower)
    return first is not None and second is not None and first in _wider(second)


def classes_of(drug: str) -> tuple[str, ...]:
    """The classes of a drug of the lexicon, the narrowest first; none when it is unknown.

    >>> classes_of("metformin")
    ('biguanide', 'antidiabetic')
    """
    return _classes().get(drug, ())


def _meant(found: Found, kind: str) -> list[str]:
    return [meaning.name for meaning in found.meanings if meaning.kind == kind]


@cache
def _classes() -> dict[str, tuple[str, ...]]:
    return {drug.name: drug.classes for drug in load_tables().drugs}


@cache
def _wider_names() -> dict[str, tuple[str, ...]]:
    return {condition.name: condition.wider for condition in load_tables().conditions}


@cache
def _wider(name: str) -> frozenset[str]:
    """All conditions of which one is a form, at any remove."""
    reached: set[str] = set()
    ahead = [name]
    while ahead:
        following = [wider for each in ahead for wider in _wider_names().get(each, ()) if wider not in reached]
        reached.update(following)
        ahead = following
    return frozenset(reached)
