"""Numbers in a text with their value, unit and place: digits in several notations, words, ranges, money, shares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from msgspec import Struct

from .lexicon import load_lexicon
from .lexicon_tables import QuantityWords
from .number_words import Number, number_at, number_words
from .terms import Terms, fold, language_of, terms_of
from .units import CURRENCY_SIGNS, PERCENT, UNITS, Unit, is_currency, unit_named, unit_words

_SIGN_BEFORE = re.compile(r"(?:US|A|C)?[$€£₩￦¥₹]\s?$")
_SIGN_AFTER = re.compile(r"\s?([%％]|[$€£₩￦¥₹](?!\d))")
_GAPS = frozenset(" -\u00a0\u202f\n")
_SQUARE_LETTERS = {
    "℃": "°C", "℉": "°F", "㎞": "km", "㎏": "kg", "㎡": "m²", "㎝": "cm", "㎜": "mm", "㎎": "mg",
}  # fmt: skip
_SYMBOL_AFTER = re.compile(
    rf"[\s-]?([{''.join(_SQUARE_LETTERS)}]|°\s?[CF]|°|km/h|km²|km2|m²|m2"
    r"|sq\.? ft|sq\.? mi(?:les)?|square (?:miles|feet|meters|metres|kilometers)"
    r"|kW|MW|GW|[kMG]Hz|Hz|[kMGT]B|KB|kJ|kcal|mcg|µg|μg|[kcm]?m|[km]?g|m[lL]|cc|mph|lb|oz|ft|yd|mi|[LhVWt]|min|ms)"
    r"(?![A-Za-zÀ-ÿ\d])|-?(in)(?![^\W_])"
)
_LONG_SYMBOLS = _SQUARE_LETTERS | {
    "km2": "km²", "m2": "m²", "sqft": "ft²", "sq.ft": "ft²", "sqmi": "mi²", "sq.mi": "mi²", "sqmiles": "mi²",
    "sq.miles": "mi²", "squaremiles": "mi²", "squarefeet": "ft²", "squaremeters": "m²", "squaremetres": "m²",
    "squarekilometers": "km²", "μg": "µg",
}  # fmt: skip
_HOURLY = {"km": "km/h", "mi": "mph"}
_LETTER_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "m": 1e6, "B": 1e9, "b": 1e9, "T": 1e12}
_LETTER_SCALE = re.compile(r"\s?([KkMmBbT])(?![^\W_]|-)")
_ORDINAL_ENDING = re.compile(r"(?:st|[nr]d|th|er|ère|re|e|è?me|ème|ième)(?![^\W_])", re.IGNORECASE)
_RANGE_DASH = re.compile(r"\s?[-–—~〜∼]\s?$")
_NOT_A_NUMBER_BEFORE = re.compile(r"(?:[^\W\d_]-?|#|no\.\s?|№\s?|[^\W\d_]/|\d[./:])$", re.IGNORECASE)
_FRACTION_AFTER = re.compile(r"[/⁄]\d")
_MINUS_BEFORE = re.compile(r"(?:(?<=[\s(])|^)[-−]$")


class Quantity(Struct, frozen=True):
    """A number as a text says it."""

    start: int
    """Where it begins with its sign or currency, in code points."""
    end: int
    values: tuple[float, ...]
    """What it may mean, the likeliest first: "1.234" is one and a bit in English and a thousand in French."""
    kind: str = "number"
    """`number`, `percent`, `money`, `measure` or `ordinal`."""
    unit: Unit | None = None
    high: float | None = None
    """The upper end when it is a range."""
    step: float = 1.0
    """The unit of its last digit: 0.1 million for "1.2 million", 100 for "1,200"."""
    bound: str = "exactly"
    """`exactly`, `about`, `at_least` or `at_most`."""
    scale: float = 1.0
    """What a scale word multiplied it by."""
    is_rounded: bool = False
    """It has a scale word or decimals, so that a more precise number may stand behind it."""
    is_word: bool = False
    """It is written in letters."""
    counter: str = ""
    """What is counted, where a language has words for that."""
    first_term: int = 0
    """Number of its first term in the terms of the text."""
    last_term: int = 0

    @property
    def value(self) -> float:
        """The likeliest meaning; the lower end of a range."""
        return self.values[0]


def find_quantities(text: str | Terms, *, language: str | None = None) -> list[Quantity]:
    """All numbers of a text in order, with their units; a language is needed for number words and guessed if None.

    Digits glued to a letter or after a "#" are codes or names, not numbers. "One" and its like count only as part of
    a longer number. Dates are found here as plain numbers: `find_dates` knows which are dates.

    >>> [(q.value, q.kind) for q in find_quantities("Profits rose 5% to $1.2 billion over two years.")]
    [(5.0, 'percent'), (1200000000.0, 'money'), (2.0, 'measure')]
    """
    terms = terms_of(text) if isinstance(text, str) else text
    spoken = language or language_of(terms)
    words = number_words(spoken)
    found: list[Quantity] = []
    after = 0
    for index, word in enumerate(terms.folded):
        if index < after or not (word[0].isdecimal() or word in words.starts or (spoken == "ko" and word[0] >= "가")):
            continue
        number = number_at(terms, index, language=spoken)
        if number is None or (not number.is_word and _is_code(terms, index)):
            continue
        quantity = _with_unit(terms, number, load_lexicon(spoken).quantities)
        after = quantity.last_term + 1
        if found and (joined := _range(terms, found[-1], quantity, language=spoken)) is not None:
            found[-1] = joined
        else:
            found.append(quantity)
    return found


def _is_code(terms: Terms, index: int) -> bool:
    """Whether digits belong to a name such as B12, COVID-19 or #4, or to a fraction such as 1/2."""
    start = terms.starts[index]
    if _FRACTION_AFTER.match(terms.text, terms.ends[index]) is not None:
        return True
    before = terms.text[max(0, start - 5) : start]
    if not before or before[-1].isspace():
        return False
    return _NOT_A_NUMBER_BEFORE.search(before) is not None and _SIGN_BEFORE.search(before) is None


def _with_unit(terms: Terms, number: Number, words: QuantityWords) -> Quantity:
    """A number with what stands around it."""
    text, start, end, factor = terms.text, number.start, number.end, 1.0
    unit: Unit | None = None
    if (sign := _SIGN_BEFORE.search(text, max(0, start - 4), start)) is not None:
        unit = unit_named(CURRENCY_SIGNS[sign.group().strip()])
        start = sign.start()
        if (scale := _LETTER_SCALE.match(text, end)) is not None:
            factor, end = _LETTER_SCALES[scale.group(1)], scale.end()
    elif (minus := _MINUS_BEFORE.search(text, max(0, start - 2), start)) is not None:
        factor, start = -1.0, minus.start()
    kind, counter = "number", ""
    if unit is None:
        kind, unit, end, counter = _unit_after(terms, end, number)
    if unit is not None:
        kind = "percent" if unit is PERCENT else "money" if is_currency(unit) else "measure"
    last = number.last
    while last + 1 < len(terms) and terms.starts[last + 1] < end:
        last += 1
    return Quantity(
        start=start,
        end=end,
        values=tuple(value * factor for value in number.values),
        kind=kind,
        unit=unit,
        step=number.step * abs(factor),
        scale=number.scale * abs(factor),
        bound=_bound(terms, number, end=end, words=words),
        is_rounded=number.is_rounded or abs(factor) > 1,
        is_word=number.is_word,
        counter=counter,
        first_term=number.first,
        last_term=last,
    )


class _Unit(NamedTuple):
    """What follows a number: its kind, its unit or counter, and where it ends."""

    kind: str
    unit: Unit | None
    end: int
    counter: str = ""


def _unit_after(terms: Terms, end: int, number: Number) -> _Unit:
    """What the number that ends here is a number of."""
    text = terms.text
    if number.is_ordinal:
        return _Unit("ordinal", None, end)
    if not number.is_word and (ordinal := _ORDINAL_ENDING.match(text, end)) is not None:
        return _Unit("ordinal", None, ordinal.end())
    if (sign := _SIGN_AFTER.match(text, end)) is not None:
        unit = PERCENT if sign.group(1) in "%％" else unit_named(CURRENCY_SIGNS[sign.group(1)])
        return _Unit("", unit, sign.end())
    if not number.is_word and (symbol := _SYMBOL_AFTER.match(text, end)) is not None:
        name = re.sub(r"\s", "", symbol.group(1) or symbol.group(2))
        return _Unit("measure", UNITS[_LONG_SYMBOLS.get(name, name)], symbol.end())
    is_spaced = text[end : end + 1] in _GAPS
    if not is_spaced or "가" <= text[end + 1 : end + 2] <= "힣":
        return _glued_unit(text, end + is_spaced)
    return _word_unit(terms, end, next_term=number.last + 1)


def _glued_unit(text: str, end: int) -> _Unit:
    """A unit or counter written without a space, as in Korean."""
    if (match := _korean_units().match(text, end)) is None:
        return _Unit("number", None, end)
    word = match.group(1)
    if word in unit_words():
        return _Unit("measure", unit_words()[word], match.end())
    return _Unit("ordinal" if word in {"번째", "위"} else "number", None, match.end(), word)


def _word_unit(terms: Terms, end: int, *, next_term: int) -> _Unit:
    """A unit that is the next word, or the next two as in "per cent" and "degrees Celsius"."""
    following = terms.folded[next_term : next_term + 4]
    if following and terms.starts[next_term] == end + 1:
        if following[0] in {"d", "de"}:  # "un million d'euros"
            next_term, following = next_term + 1, following[1:]
        for unit, size in _worded_units(following):
            if unit is not None:
                return _Unit("measure", unit, terms.ends[next_term + size - 1])
    return _Unit("number", None, end)


def _worded_units(words: list[str]) -> Iterator[tuple[Unit | None, int]]:
    """Units with which a row of words may begin, and of how many words, the longest first."""
    first = unit_words().get(words[0]) if words else None
    yield PERCENT if " ".join(words[:2]) in _percent_phrases() else None, 2
    yield _speed(first, words[1:3]) if first is not None else None, 3
    yield _degrees().get(words[1]) if first is not None and first.symbol == "°" and len(words) > 1 else None, 2
    yield first, 1


def _speed(unit: Unit, following: list[str]) -> Unit | None:
    """The speed that a length becomes before "per hour"."""
    is_hourly = (
        len(following) == 2 and following[0] in {"per", "an", "a", "par", "l"} and following[1] in {"hour", "heure"}
    )
    return unit_named(_HOURLY[unit.symbol]) if is_hourly and unit.symbol in _HOURLY else None


def _bound(terms: Terms, number: Number, *, end: int, words: QuantityWords) -> str:
    """How exact a number is meant to be, by the words around it."""
    first, start = number.first, number.start
    before = [" ".join(terms.folded[max(0, first - size) : first]) for size in (3, 2, 1)]
    if "~" in terms.text[max(0, start - 2) : start] or "≈" in terms.text[max(0, start - 2) : start]:
        return "about"
    after = terms.text[number.end : number.end + 1], terms.text[end : end + 10].lower().lstrip()
    for name in ("at_least", "at_most", "about"):
        if any(phrase in _phrases(getattr(words, name)) for phrase in before):
            return name
    for name in ("at_least", "at_most", "about"):
        if any(each.startswith(getattr(words, f"{name}_after")) for each in after):
            return name
    return "at_least" if "+" in after[0] else "exactly"


def _range(terms: Terms, low: Quantity, high: Quantity, *, language: str) -> Quantity | None:
    """Two numbers as one range, when that is what they are."""
    words = load_lexicon(language).quantities
    if low.high is not None or not low.value < high.value or high.start - low.end > 12:
        return None
    between = terms.text[low.end : high.start]
    joined = fold(between).strip(" ,$€£")
    is_range = _RANGE_DASH.fullmatch(between) is not None or joined in _phrases(words.range_words)
    if not is_range and joined in _phrases(words.joiners) and low.first_term > 0:
        is_range = terms.folded[low.first_term - 1] in _phrases(words.between)
    if not is_range or (low.unit is not None and high.unit is not None and low.unit.dimension != high.unit.dimension):
        return None
    unit = high.unit or low.unit
    scale = high.scale if low.scale == 1.0 and low.value < high.value / high.scale else 1.0
    return Quantity(
        start=low.start,
        end=high.end,
        values=tuple(value * scale for value in low.values),
        kind=high.kind if high.unit is not None else low.kind if low.unit is not None else high.kind,
        unit=unit,
        high=high.value,
        step=max(low.step * scale, high.step),
        scale=high.scale,
        bound=low.bound,
        is_rounded=low.is_rounded or high.is_rounded,
        is_word=low.is_word and high.is_word,
        counter=high.counter or low.counter,
        first_term=low.first_term,
        last_term=high.last_term,
    )


@cache
def _phrases(written: tuple[str, ...]) -> frozenset[str]:
    return frozenset(" ".join(terms_of(phrase).folded) for phrase in written)


@cache
def _degrees() -> dict[str, Unit]:
    exact = {"c": UNITS["°C"], "f": UNITS["°F"]}
    return exact | {word: unit for word, unit in unit_words().items() if unit in exact.values()}


@cache
def _percent_phrases() -> frozenset[str]:
    return frozenset(
        fold(phrase) for each in ("en", "fr") for phrase in load_lexicon(each).quantities.percent if " " in phrase
    )


@cache
def _korean_units() -> re.Pattern[str]:
    words = load_lexicon("ko").quantities
    names = {name for table in (words.units, words.currencies) for each in table.values() for name in each}
    choices = sorted(names | set(words.counters) | set(words.percent), key=lambda name: (-len(name), name))
    # A quarter of a year is no minute, and what comes first is no day.
    return re.compile(rf"여?\s?({'|'.join(map(re.escape, choices))})(?<!분(?=기))(?<!일(?=차))")
