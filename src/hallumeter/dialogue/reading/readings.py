"""Labs and vitals with their numbers: which number belongs to which name, and whether it was measured or is a bound."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from hallumeter.text.normalize import CleanText

from .cues import CueWords
from .lexicon import Found, Measurement
from .numbers import Number, NumberReader, WordsAfter, WordsBefore, words_pattern
from .scopes import Span
from .units import converted, unit_key

_WINDOW = 60
"""Within how many characters after a name its number may stand, when the unit tells that it is one."""
_BARE_WINDOW = 40
_MARKS = r"[\s:=,()\[\]|*~≈→<>≤≥＜＞'\"-]"
_ALIAS_GAP = re.compile(r"[\s(/,=\[*-]*")
_LISTED = re.compile(r"(?:은|는|이|가|의)?\s?(?:,|/|·|and|및|와|과|, and)\s?(?:your\s|각각\s)?")
_MOST_LISTED = 7
_YOURS = re.compile(
    r"\s*(?:yours\b|your\sown\b|you,?\s(?:are\sat|at|with|have|had)\b|(?:환자분|환자님|귀하|본인|당신)"
    r"(?:(?:은|는|의 경우)|(?:의|께서는)?\s(?:수치|값|결과|검사 결과|경우)(?:은|는|가|에는)?)\s)"
)
"""At the start of a sentence that gives the patient's value of what the last one named: "Yours is 7.4 %."."""
_PRESSURES = frozenset({"bp", "bp_systolic", "bp_diastolic"})
_MIDDLE = 1.5
"""A value without a unit is read in another one when that is nearer to the middle of its bounds by so much (ln)."""


class Reading(Struct, gc=False):
    """A value of a lab or vital, in the positions of the clean text."""

    measurement: Measurement
    start: int
    """From the name or the number on, whichever comes first."""
    end: int
    value_start: int
    value_end: int
    value: float
    unit: str | None
    slot_value: float | None
    name_start: int
    bound: Span | None = None
    """The words that make it a threshold or the end of a range."""


class _Name(Struct, frozen=True, gc=False):
    """A measurement's name, or several of one beside each other."""

    measurement: Measurement
    start: int
    end: int
    starts: tuple[int, ...]
    limit: int
    """Where the next name or the end of the sentence makes an end to its numbers."""
    sentence_end: int
    """It lies before the limit when the next sentence goes on about the patient."""


class ReadingFinder:
    """Finds the values of labs and vitals."""

    def __init__(self, measurements: Iterable[Measurement], words: Sequence[CueWords], numbers: NumberReader) -> None:
        self._measurements = {each.name: each for each in measurements}
        self._unit_keys = {each.name: frozenset(map(unit_key, each.units)) for each in self._measurements.values()}
        self._numbers = numbers
        thresholds = [each.thresholds for each in words]
        self._words_before = WordsBefore(
            bound=[word for each in thresholds for word in each.before],
            change=[word for each in thresholds for word in each.change_before],
            reached=[word for each in thresholds for word in each.reached_before],
        )
        self._words_after = WordsAfter(
            bound=[word for each in thresholds for word in each.after],
            change=[word for each in thresholds for word in each.change_after],
            reached=[word for each in thresholds for word in each.reached_after],
        )
        self._range = frozenset(word for each in thresholds for word in each.range)
        self._joined = frozenset(word for each in thresholds for word in each.joined)
        self._pair = frozenset(word for each in thresholds for word in each.pair)
        self._link = re.compile(f"(?:{_MARKS}|{words_pattern(word for each in words for word in each.links.words)})*+")
        before_name = words_pattern(word for each in words for word in each.links.before_name)
        self._before_name = re.compile(rf"\s?(?:{before_name})?\s?")

    def find(
        self, clean: CleanText, names: Sequence[Found], *, numbers: list[Number], sentence_ends: Sequence[int]
    ) -> tuple[list[Reading], set[int]]:
        """The values of a text, and where the names begin that have one."""
        readings: list[Reading] = []
        named: set[int] = set()
        listed: list[_Name] = []
        for name in self._names(clean.lower, names, sentence_ends):
            if clean.lower[name.end : name.end + 1].isdigit():
                self._read_glued(clean, name, numbers)
            goes_on = listed and _LISTED.fullmatch(clean.lower, listed[-1].end, name.start) is not None
            listed = [*listed[-_MOST_LISTED:], name] if goes_on else [name]
            found = self._respectively(clean.lower, listed, numbers)
            if found:
                named.update(start for each in listed for start in each.starts)
            else:
                found = self._after(clean.lower, name, numbers) or self._before(clean.lower, name, numbers)
            if found:
                readings += found
                named.update(name.starts)
        for place, number in enumerate(numbers):
            if number.second is not None and not number.is_taken and unit_key(number.unit or "") == "mmhg":
                pressure = self._measurements["bp"]
                name = _Name(pressure, number.start, number.start, (), number.end, number.end)
                if place and (range_mark := _between(clean.lower, numbers[place - 1], number)) is not None:
                    number.bound = range_mark
                readings += self._pressures(clean.lower, name, number)
        return readings, named

    def _names(self, lower: str, names: Sequence[Found], sentence_ends: Sequence[int]) -> Iterator[_Name]:
        """The names of measurements; synonyms beside each other are one."""
        measured = [
            (name.start, name.end, meaning.name)
            for name in names
            for meaning in name.meanings
            if meaning.kind == "measurement"
        ]
        begun: list[int] = []
        for place, (start, end, key) in enumerate(measured):
            following = measured[place + 1] if place + 1 < len(measured) else None
            begun.append(start)
            if following is not None and following[2] == key and _ALIAS_GAP.fullmatch(lower, end, following[0]):
                continue
            number = bisect_left(sentence_ends, end)
            sentence_end = limit = sentence_ends[number] if sentence_ends else len(lower)
            if number + 1 < len(sentence_ends) and _YOURS.match(lower, sentence_end):
                limit = sentence_ends[number + 1]
            limit = limit if following is None else min(limit, following[0])
            yield _Name(self._measurements[key], begun[0], end, tuple(begun), limit, sentence_end)
            begun = []

    def _read_glued(self, clean: CleanText, name: _Name, numbers: list[Number]) -> None:
        """Add the number that is glued to a name in Latin letters, as in BP150/95."""
        if clean.lower[name.end - 1].isascii():
            number = self._numbers.at(clean, name.end)
            if number is not None:
                numbers.insert(bisect_left(numbers, name.end, key=_start_of), number)

    def _after(self, lower: str, name: _Name, numbers: list[Number]) -> list[Reading]:
        """The values that follow a name."""
        found: list[Reading] = []
        last = name.end
        place = bisect_left(numbers, name.end, key=_start_of)
        while place < len(numbers) and (number := numbers[place]).start < name.limit:
            place += 1
            if number.start - last > _WINDOW:
                break
            following = numbers[place] if place < len(numbers) and numbers[place].start < name.limit else None
            self._join(lower, name, number, following=following)
            if number.is_taken or not self._fits(lower, name, number, since=last):
                continue
            found += self._made(lower, name, number, before=found)
            last = number.end
        return found

    def _respectively(self, lower: str, names: list[_Name], numbers: list[Number]) -> list[Reading]:
        """The values of names in a row that are followed by as many numbers: "AST and ALT are 41 and 62 U/L"."""
        if len(names) < 2:
            return []
        last, limit = names[-1].end, names[-1].limit
        place = bisect_left(numbers, last, key=_start_of)
        row: list[Number] = []
        while place < len(numbers) and numbers[place].start < limit:
            gap = _LISTED if row else self._link
            if gap.fullmatch(lower, last, numbers[place].start) is None:
                break
            row.append(numbers[place])
            last = numbers[place].end
            place += 1
        if len(row) != len(names) or any(number.second is not None for number in row):
            return []
        pairs = list(zip(names, row, strict=True))
        if any(number.unit is not None and not self._belongs(name.measurement, number) for name, number in pairs):
            return []
        return [reading for name, number in pairs for reading in self._made(lower, name, number)]

    def _before(self, lower: str, name: _Name, numbers: list[Number]) -> list[Reading]:
        """The value that stands directly before a name: 150/95의 혈압."""
        place = bisect_left(numbers, name.start, key=_start_of) - 1
        if place < 0 or (number := numbers[place]).is_taken or number.end > name.start:
            return []
        gap = self._before_name.fullmatch(lower, number.end, name.start)
        if gap is None or (number.is_bare and number.second is None and not gap.group().strip()):
            return []
        return self._made(lower, name, number) if self._belongs(name.measurement, number) else []

    def _fits(self, lower: str, name: _Name, number: Number, *, since: int) -> bool:
        """Whether a number is a value of the name before it."""
        measurement = name.measurement
        is_linked = self._link.fullmatch(lower, since, number.start) is not None
        if number.is_counted and is_linked and unit_key(measurement.unit) == "/min" and lower[number.end - 1] == "회":
            number.unit, number.is_counted = "/min", False
        if not self._belongs(measurement, number):
            return False
        self._look_beside(lower, number)
        if number.is_change:
            return False
        if number.is_bare and number.second is None:
            return is_linked and number.start - since <= _BARE_WINDOW and not _is_other(lower, name, number)
        return is_linked or self._is_possible(measurement, number)

    def _belongs(self, measurement: Measurement, number: Number) -> bool:
        """Whether a number can be of this measurement by its unit and form."""
        if number.is_counted or number.is_age:
            return False
        if number.second is not None:
            return measurement.name in _PRESSURES and 30 <= number.second < number.value <= 330
        return number.unit is None or self._is_unit_of(measurement, number.unit)

    def _is_unit_of(self, measurement: Measurement, unit: str) -> bool:
        return unit_key(unit) in self._unit_keys[measurement.name] or converted(1.0, unit, measurement) is not None

    def _is_possible(self, measurement: Measurement, number: Number) -> bool:
        value = converted(number.value, number.unit, measurement)
        return value is None or measurement.holds(value)

    def _look_beside(self, lower: str, number: Number) -> None:
        """Read the words on both sides of a number."""
        if number.is_seen:
            return
        number.is_seen = True
        for beside in (self._words_before.find(lower, number.start), self._words_after.find(lower, number.end)):
            if beside is not None and beside.list_name == "change":
                number.is_change = True
            elif beside is not None and beside.list_name == "bound":
                number.bound = beside.start, beside.end

    def _join(self, lower: str, name: _Name, number: Number, *, following: Number | None) -> None:
        """Take together what is said of two numbers: a pressure in words, the unit after a range."""
        if following is None or number.unit is not None or number.second is not None:
            return
        between = lower[number.end : following.start].strip()
        is_pressure = name.measurement.name == "bp" and between in self._pair and following.second is None
        if is_pressure and 30 <= following.value < number.value <= 330 and not following.is_counted:
            number.second, number.unit, number.end = following.value, following.unit, following.end
            following.is_taken = True
        elif between in self._range and following.unit is not None and number.is_bare:
            number.unit = following.unit

    def _range_of(self, lower: str, last: Reading, number: Number) -> Span | None:
        """What joins a value and the number after it to a range; a change from one to the other is none."""
        start, end = last.value_end, number.start
        between = lower[start:end].strip()
        if between in self._range:
            is_change = lower[max(0, last.value_start - 12) : last.value_start].rstrip().endswith("from")
            return None if is_change else (start, end)
        is_joined = between in self._joined and (
            lower[number.end : number.end + 4].lstrip().startswith("사이")
            or (last.bound is not None and lower[slice(*last.bound)] == "between")
        )
        return (start, end) if is_joined else None

    def _made(self, lower: str, name: _Name, number: Number, *, before: Sequence[Reading] = ()) -> list[Reading]:
        """The readings that a number is: two for a blood pressure."""
        number.is_taken = True
        if number.second is not None:
            readings = self._pressures(lower, name, number)
        elif name.measurement.name == "bp":
            readings = [self._reading(lower, name, number, measurement=self._measurements["bp_systolic"])]
        else:
            readings = [self._reading(lower, name, number, measurement=name.measurement)]
        if before and (range_mark := self._range_of(lower, before[-1], number)) is not None:
            lower_end = [each for each in before if each.value_start == before[-1].value_start]
            for reading in [*lower_end, *readings]:
                reading.bound = reading.bound or range_mark
        return readings

    def _pressures(self, lower: str, name: _Name, number: Number) -> list[Reading]:
        number.is_taken = True
        assert number.second is not None
        systolic = self._reading(lower, name, number, measurement=self._measurements["bp_systolic"])
        diastolic = self._reading(lower, name, number, measurement=self._measurements["bp_diastolic"])
        diastolic.value = number.second
        diastolic.slot_value = _slot_value(diastolic.measurement, number.second, number.unit)
        return [systolic, diastolic]

    def _reading(self, lower: str, name: _Name, number: Number, *, measurement: Measurement) -> Reading:
        self._look_beside(lower, number)
        name_start = name.start if number.start < name.sentence_end else number.start
        return Reading(
            measurement=measurement,
            start=min(name_start, number.start),
            end=max(name.end, number.end),
            value_start=number.start,
            value_end=number.end,
            value=number.value,
            unit=number.unit,
            slot_value=_slot_value(measurement, number.value, number.unit),
            name_start=name_start,
            bound=number.bound,
        )


def _between(lower: str, one: Number, other: Number) -> Span | None:
    """The words that make a number the upper end of a range: between 120/70 and 135/85."""
    start = one.start - len("between ")
    is_range = lower[max(0, start) : one.start] == "between " and lower[one.end : other.start].strip() == "and"
    return (start, one.end) if is_range else None


def _slot_value(measurement: Measurement, value: float, unit: str | None) -> float | None:
    """The value in the unit of its slot; without a unit, in the one in which a patient can have it."""
    if unit is not None:
        return converted(value, unit, measurement)
    likeliest = value if measurement.holds(value) else None
    for other in measurement.units:
        candidate = converted(value, other, measurement)
        if candidate is None or not measurement.holds(candidate):
            continue
        if likeliest is None or _distance(measurement, candidate) + _MIDDLE < _distance(measurement, likeliest):
            likeliest = candidate
    return likeliest


def _distance(measurement: Measurement, value: float) -> float:
    """How far a value is from the middle of what patients have, in logarithms."""
    if measurement.low <= 0 or value <= 0:
        return 0.0
    return abs(math.log(value) - (math.log(measurement.low) + math.log(measurement.high)) / 2)


def _is_other(lower: str, name: _Name, number: Number) -> bool:
    """Whether a bare number is a year, or part of a name such as GPT-4."""
    return lower[name.end : number.start] == "-" or (number.value.is_integer() and 1900 <= number.value <= 2100)


def _start_of(number: Number) -> int:
    return number.start
