"""Numbers of a clinical text: digits and number words, with the unit, the age or the count that they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from hallumeter.text.normalize import CleanText
from hallumeter.text.quantities import korean_value, spoken_value, value_of

from .cues import CueWords, Endings
from .lexicon import FoundNumber
from .units import UNIT_PATTERN

# Words that stand directly before or after a number.

_LONGEST = 28
_FILLERS = (" a", " an", " the", " about")
_BETWEEN = frozenset(" \t\n-")


class Beside(NamedTuple):
    """Words beside a number: which list they are of, and where they stand."""

    list_name: str
    start: int
    end: int


class WordsBefore:
    """Finds the words of several lists that end right before a place; the longest counts.

    >>> WordsBefore(bounds=["below"]).find("keep it below a 7", 16)
    Beside(list_name='bounds', start=8, end=13)
    """

    def __init__(self, **lists: Iterable[str]) -> None:
        self._lists = _lists_of(lists)
        self._backwards = _any_of([word[::-1] for word in self._lists])

    def find(self, lower: str, place: int) -> Beside | None:
        """The words, and an article may come after them."""
        start = max(0, place - _LONGEST)
        head = lower[start:place].rstrip(" :")
        if head.endswith(_FILLERS):
            head = head[: head.rindex(" ")].rstrip()
        match = self._backwards.match(head[::-1])
        if match is None:
            return None
        begin = len(head) - match.end()
        return Beside(self._lists[head[begin:]], start + begin, start + len(head))


class WordsAfter:
    """Finds the words of several lists that begin right after a place; those in Latin letters do not go on.

    >>> WordsAfter(bounds=["or less"]).find("7% or less", 2)
    Beside(list_name='bounds', start=3, end=10)
    """

    def __init__(self, **lists: Iterable[str]) -> None:
        self._lists = _lists_of(lists)
        self._words = _any_of(self._lists)

    def find(self, lower: str, place: int) -> Beside | None:
        """The words, after a space or a hyphen or none."""
        if lower[place : place + 1] in _BETWEEN:
            place += 1
        match = self._words.match(lower, place)
        return None if match is None else Beside(self._lists[match.group()], place, match.end())


def _lists_of(lists: dict[str, Iterable[str]]) -> dict[str, str]:
    """The list of every word."""
    return {word: list_name for list_name, each in lists.items() for word in each}


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile(words_pattern(words) or "(?!)")


def words_pattern(words: Iterable[str]) -> str:
    """Any of the words, the longest first; one in Latin letters does not go on."""
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return "|".join(
        re.escape(word) + ("(?![a-z])" if word[-1].isascii() and word[-1].isalpha() else "") for word in ordered
    )


# A pattern that begins with a set of characters is looked for much faster than one with a condition before it.
_DIGITS = r"[0-9](?:[0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?(?![0-9])|[0-9]*(?:[.,][0-9]+)?)"
_GLUED_BEFORE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.,^_#$€£₩")
# What is counted or dosed is no lab: 2 weeks, 500 mg, 3 times, 30분, 하루 2회.
_COUNTED = (
    r"[\s-]?(?:weeks?|months?|days?|hours?|hrs?|minutes?|mins?|years?|yrs?|times?|tablets?|pills?|capsules?|doses?|units?|meq"
    r"|mmol|(?:mc?)?g|[µμu]g|ml|cc|cups?|glasses|servings?|steps|k?cal(?:ories)?|sets?|reps?|puffs?|am|pm|st|nd|rd|th|x"
    r"|개월|시간|차례|공기|그램|밀리그램|단계|가지|칼로리|걸음|세트|단위|리터)"
    r"|(?:주|일|년|월|분|시|번|회|정(?!도)|알|개|잔|컵|병|명|배|기|형|차|보|종|점|위|호)"
    r"|\s(?:주|일|년|분|번|회|정|알|개|잔|컵|병|배)(?=[^가-힣]|$|[을를이가은는씩간마동])"
)
_AFTER_SCALE = "(?![가-힣])|(?=입니|이[가-힣]|으로|로|은|는|을|를|개|정도)"
_PER_MINUTE = re.compile(r"(?:분당|1분에|분에)\s?$")
_RATE_ENDS = frozenset({"당", "에", "분당", "분에"})
_TIMES = re.compile(r"\s?(?:회|번|박동)")
_INCHES = re.compile(r"\s?(?:and\s)?([0-9]{1,2}(?:\.[0-9]+)?)\s?(?:inch(?:es)?|in|인치|\"|'')(?![a-z])")
_PRIME_FEET = re.compile(r"'\s?([0-9]{1,2})\s?(?:\"|''|(?=\s|[.,]))")
_CENTIMETRES = re.compile(r"\s?([0-9]{1,2})\s?(?:cm|㎝|centimet(?:er|re)s?|센티미터|센티)(?![a-z])")
_METRES = frozenset({"m", "meter", "meters", "미터"})
_FEET = frozenset({"ft", "feet", "foot", "피트"})
_WITHIN_WORDS = frozenset({" ", "-", " and "})


class Number(Struct, gc=False):
    """A number and what was written after it, in the positions of the clean text."""

    start: int
    end: int
    """After the unit."""
    value: float
    second: float | None = None
    """The number after a slash, as in 120/80."""
    unit: str | None = None
    """A unit of a lab or vital, as it was written."""
    is_counted: bool = False
    """Whether it counts or doses something."""
    is_age: bool = False
    is_taken: bool = False
    """Whether a measurement or an age has it already."""
    is_seen: bool = False
    """Whether the words beside it were looked at."""
    bound: tuple[int, int] | None = None
    """Those that make it a threshold."""
    is_change: bool = False
    """Whether they say that something changes by so much."""

    @property
    def is_bare(self) -> bool:
        """Whether nothing says what it is a number of."""
        return self.unit is None and not self.is_counted and not self.is_age


class NumberReader:
    """Finds the numbers of a text."""

    def __init__(self, words: Sequence[CueWords], endings: Endings) -> None:
        ages = sorted({age for each in words for age in each.ages.after}, key=lambda age: (-len(age), age))
        age = "|".join(re.escape(each).replace(r"\ ", r"[\s-]").replace(r"\-", r"[\s-]") for each in ages)
        rest = rf"(?=[^.,;)])(?:[\s-]?(?:({age})(?![a-z])|({UNIT_PATTERN})(?![a-z\d]))|({_COUNTED})(?![a-z\d]))"
        self._number = re.compile(
            rf"({_DIGITS})(?:\s?([만천])(?:\s?([0-9])천)?(?:{_AFTER_SCALE}))?(?:\s?/\s?([0-9]{{2,3}})(?![\d.,]*[\d/]))?(?:{rest})?"
        )
        self._rest = re.compile(rest)
        self._endings = endings
        self._korean_values = next(each.number_words for each in words if each.language == "ko")
        tens = "|".join(word for word, value in self._korean_values.items() if value >= 10)
        ones = "|".join(word for word, value in self._korean_values.items() if value < 10)
        self._korean = re.compile(rf"({tens})({ones})??(?:\s?(?:세|살))")

    def find(self, clean: CleanText, words: Sequence[FoundNumber]) -> list[Number]:
        """The numbers of a text in order."""
        lower = clean.lower
        found: list[Number] = []
        for match in self._number.finditer(lower):
            start = match.start()
            is_free = start == 0 or lower[start - 1] not in _GLUED_BEFORE
            if is_free and not (found and start < found[-1].end):  # the inches of 5 ft 3 in are read
                found.append(self._read(match, clean))
        if not words:
            return found
        worded = [*self._english(clean, words), *self._korean_ages(lower, words)]
        return sorted(found + worded, key=lambda number: number.start) if worded else found

    def at(self, clean: CleanText, start: int) -> Number | None:
        """The number that begins here, glued to what stands before."""
        match = self._number.match(clean.lower, start)
        return None if match is None else self._read(match, clean)

    def _read(self, match: re.Match[str], clean: CleanText) -> Number:
        written, scale, thousands, second, age, unit, counted = match.groups()
        start, end = match.span()
        lower = clean.lower
        number = Number(start, end, float(written) if written.isdigit() else value_of(written) or 0.0)
        if second is not None:
            number.second = float(second)
        if scale is not None:
            scaled_end = match.end(2) if thousands is None else match.end(3) + 1
            number.value = korean_value(lower[start:scaled_end])[0]
        if unit is not None:
            number.unit = clean.text[match.start(6) : match.end(6)]
            _add_smaller(number, lower)
        elif counted is not None:
            number.is_counted = True
        elif age is not None:
            self._make_age(number, lower)
        elif lower[end : end + 1] == "'":
            _read_prime_feet(number, lower)
        if start > 1 and lower[start - 2 : start].strip() in _RATE_ENDS:
            _set_rate(number, lower)
        return number

    def _make_age(self, number: Number, lower: str) -> None:
        end = number.end
        number.is_age = not lower[end : end + 1].isalnum() or self._endings.may_follow(lower, end, "sex")
        number.is_counted = not number.is_age  # 세트

    def _english(self, clean: CleanText, words: Sequence[FoundNumber]) -> Iterator[Number]:
        """Numbers in letters; small ones count only with a unit."""
        lower = clean.lower
        groups = list(_groups(lower, [word for word in words if lower[word.start].isascii()]))
        place = 0
        while place < len(groups):
            group = groups[place]
            place += 1
            number = Number(group[0].start, group[-1].end, spoken_value([word.value for word in group]))
            following = groups[place] if place < len(groups) else None
            between = lower[number.end : following[0].start] if following is not None else ""
            if following is not None and between in {" over ", " point "}:
                second = spoken_value([word.value for word in following])
                number.end = following[-1].end
                if between == " over ":
                    number.second = second
                else:
                    number.value += second / 10 ** len(str(int(second)))
                place += 1
            self._add_rest(number, clean)
            if number.second is not None or number.value >= 20 or not number.is_bare or between == " point ":
                yield number

    def _add_rest(self, number: Number, clean: CleanText) -> None:
        rest = self._rest.match(clean.lower, number.end)
        if rest is None:
            return
        age, unit, _ = rest.groups()
        number.end = rest.end()
        number.is_age = age is not None
        number.unit = clean.text[rest.start(2) : rest.end(2)] if unit is not None else None
        number.is_counted = age is None and unit is None

    def _korean_ages(self, lower: str, words: Sequence[FoundNumber]) -> Iterator[Number]:
        """Ages in Korean letters; other numbers are written in digits."""
        done = 0
        for word in words:
            if word.start < done or lower[word.start].isascii():
                continue
            match = self._korean.match(lower, word.start)
            if match is None:
                continue
            value = self._korean_values[match.group(1)] + self._korean_values.get(match.group(2) or "", 0)
            number = Number(match.start(), match.end(), float(value))
            self._make_age(number, lower)
            if number.is_age:
                done = match.end()
                yield number


def _groups(lower: str, words: Sequence[FoundNumber]) -> Iterator[list[FoundNumber]]:
    """Number words that follow each other."""
    group: list[FoundNumber] = []
    for word in words:
        if group and lower[group[-1].end : word.start] not in _WITHIN_WORDS:
            yield group
            group = []
        group.append(word)
    if group:
        yield group


def _add_smaller(number: Number, lower: str) -> None:
    """Feet with inches after them, all in inches; metres with centimetres, all in centimetres."""
    unit = (number.unit or "").lower()
    if unit in _FEET and (inches := _INCHES.match(lower, number.end)) is not None:
        number.value = number.value * 12 + float(inches.group(1))
        number.unit, number.end = "in", inches.end()
    elif unit in _METRES and (rest := _CENTIMETRES.match(lower, number.end)) is not None:
        number.value = number.value * 100 + float(rest.group(1))
        number.unit, number.end = "cm", rest.end()


def _read_prime_feet(number: Number, lower: str) -> None:
    if 3 <= number.value <= 8 and (inches := _PRIME_FEET.match(lower, number.end)) is not None:
        number.value = number.value * 12 + float(inches.group(1))
        number.unit, number.end = "in", inches.end()


def _set_rate(number: Number, lower: str) -> None:
    """Korean rates: 분당 72회."""
    start = number.start
    if _PER_MINUTE.search(lower, max(0, start - 5), start):
        number.unit, number.is_counted = "/min", False
        if (times := _TIMES.match(lower, number.end)) is not None:
            number.end = times.end()
