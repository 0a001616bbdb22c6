"""Numbers in a text with their value, unit and place: digits in several notations, words, fractions, ranges, money.

The one reader of numbers of all instruments. Where an instrument looks for numbers by a pattern of its own, it reads
what it found by `value_of`, `spoken_value` and `korean_value`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from msgspec import Struct, structs

from .lexicon import QuantityWords, load_lexicon
from .terms import Terms, fold, language_of, terms_of
from .units import CURRENCY_SIGNS, PERCENT, UNITS, Unit, is_currency, unit_named, unit_words

# One number at a place in a text: digits in several notations, words, and both mixed as in "1.2 billion".

_GROUPED = {
    ",": re.compile(r"\d{1,3}(?:,\d{3})+"),
    ".": re.compile(r"\d{1,3}(?:\.\d{3})+"),
    " ": re.compile(r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+"),
}
_SIGNED = re.compile(r"([-+]?)([0-9]+(?:[.,][0-9]+)*)(?:[eE]([-+]?\d{1,3}))?")
_NO_DIGITS = str.maketrans("", "", "0123456789")
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])\d+,(?:\d{1,2}|\d{4,})(?![\d.,])")
_INDIAN = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}")
# No number has more parts or digits than these; without a limit a long row would be read anew at every term.
_KOREAN_DIGITS = r"\d[\d,]{0,40}(?:\.\d{1,40})?"
_KOREAN_NUMBER = re.compile(
    rf"(?:(?:{_KOREAN_DIGITS}\s?[십백천]?[만억조]|{_KOREAN_DIGITS}\s?[십백천](?=[\s\d만억조]|$|[명개원년마달])"
    r"|[일이삼사오육칠팔구]?[십백천만억조])\s?){1,20}(?:\d[\d,]{0,40})?(?<=\S)"
)
_KOREAN_PART = re.compile(r"(\d[\d,]*(?:\.\d+)?|[일이삼사오육칠팔구](?=[십백천만억조]|$))|([십백천])|([만억조])")
_KOREAN_NATIVE = re.compile(
    r"(열|스물|서른|마흔|쉰|예순|일흔|여든|아흔)?(한|두|세|네|다섯|여섯|일곱|여덟|아홉|열|스무)?"
)
_KOREAN_COUNTED = re.compile(
    r"\s?(?:명|개월|개국|개|마리|대|권|장|번째|번|곳|건|가지|배|살|달|시간|팀|편|채|척|쌍|잔|병|차례|사람)"
)
_KOREAN_SINO_AFTER = re.compile(r"\s?(?:여\s?)?(?:명|원|개|년|달러|킬로|미터|톤|퍼센트|마리|대|가구|건|표|점|인|종|회)")
_VULGAR_FRACTIONS = {mark: unicodedata.numeric(mark) for mark in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"}
_SLASH_FRACTION = re.compile(r"([1-9])[/⁄]([234568]|10|12|16)(?![\d/⁄.,]*\d)")
"""Fractions that people write of cups, miles and hours; 9/11 and 24/7 are none."""
_FRACTION_GAPS = frozenset(("", " ", "-", "\u00a0", "\u202f"))
_GAPS = frozenset((" ", "-", "\u00a0", "\u202f", "\u2011", ""))


class Number(Struct, frozen=True):
    """A number without its unit."""

    start: int
    end: int
    first: int
    """Number of its first term."""
    last: int
    values: tuple[float, ...]
    """Its readings, the likeliest first."""
    step: float
    """The unit of its last digit that is not a trailing zero."""
    scale: float = 1.0
    """What a scale word multiplied it by."""
    is_rounded: bool = False
    is_word: bool = False
    is_ordinal: bool = False
    is_slashed: bool = False
    """It is a fraction such as 1/2 and nothing else, which may be a date."""


class NumberWords(Struct, frozen=True):
    """The number words of a language, folded."""

    numbers: dict[str, float]
    scales: dict[str, float]
    ordinals: dict[str, float]
    joiners: frozenset[str]
    starts: frozenset[str]
    """Words with which a number may begin."""


@cache
def number_words(language: str) -> NumberWords:
    """The number words of a language."""
    words = load_lexicon(language).quantities
    numbers, scales, ordinals = (
        {fold(word): float(value) for word, value in table.items()}
        for table in (words.numbers, words.scales, words.ordinals)
    )
    if language == "ko":  # found by patterns, for there words are glued together
        numbers, scales, ordinals = {}, {}, {word: value for word, value in ordinals.items() if " " not in word}
    starts = frozenset(numbers) | frozenset(ordinals) | (frozenset(scales) & {"cent", "mille"})
    return NumberWords(numbers, scales, ordinals, frozenset(map(fold, words.joiners)), starts)


def number_at(terms: Terms, index: int, *, language: str) -> Number | None:
    """The longest number that begins with this term; None when there is none.

    >>> from hallumeter.text.terms import terms_of
    >>> number_at(terms_of("1.2 billion"), 0, language="en").values
    (1200000000.0,)
    >>> number_at(terms_of("3만 5천 명"), 0, language="ko").values
    (35000.0,)
    """
    if language == "ko" and (korean := _korean_number(terms, index)) is not None:
        return korean
    word = terms.folded[index]
    words = number_words(language)
    if word[0].isdecimal() or word in _VULGAR_FRACTIONS:
        return _digits(terms, index, words=words, joins_spaces=language == "fr")
    if word in words.ordinals:
        value = words.ordinals[word]
        return Number(
            terms.starts[index], terms.ends[index], index, index, (value,), 1.0, is_word=True, is_ordinal=True
        )
    return _worded(terms, index, words=words) if word in words.starts else None


def readings(written: str) -> tuple[tuple[float, ...], float]:
    """What digits with points, commas or spaces may mean, the likeliest first, and the unit of the last digit.

    >>> readings("1,234.5"), readings("1.234"), readings("0,5")
    (((1234.5,), 0.1), ((1.234, 1234.0), 0.001), ((0.5,), 0.1))
    """
    plain = written.replace("\u00a0", " ").replace("\u202f", " ")
    if plain.isdigit():
        return (float(plain),), _step_of(plain)
    marks = [mark for mark in plain if not mark.isdigit()]
    last, rest = marks[-1], marks[:-1]
    whole, _, decimals = plain.rpartition(last)
    as_decimal = float(re.sub(r"\D", "", whole) + "." + decimals)
    joined = re.sub(r"\D", "", plain)
    if len(set(marks)) > 1 or last == " ":
        return ((float(joined),), _step_of(joined)) if last == " " else ((as_decimal,), 10.0 ** -len(decimals))
    is_grouped = _GROUPED[last].fullmatch(plain) is not None or _INDIAN.fullmatch(plain) is not None
    if rest:
        return (float(joined),), _step_of(joined) if is_grouped else 1.0
    if not is_grouped or whole == "0":
        return (as_decimal,), 10.0 ** -len(decimals)
    if last == ",":
        return (float(joined), as_decimal), _step_of(joined)
    return (as_decimal, float(joined)), 10.0 ** -len(decimals)


def value_of(written: str) -> float | None:
    """The likeliest value of digits with a sign, points, commas or an exponent; None when no notation explains them.

    >>> value_of("245,000"), value_of("7,2"), value_of("-1.5e3"), value_of("1.2.3")
    (245000.0, 7.2, -1500.0, None)
    """
    match = _SIGNED.fullmatch(written)
    if match is None:
        return None
    sign, digits, exponent = match.groups()
    marks = digits.translate(_NO_DIGITS)
    if len(marks) > 1:
        grouped = digits if len(set(marks)) == 1 else digits[: digits.rindex(marks[-1])]
        if not any(pattern.fullmatch(grouped) for pattern in (*_GROUPED.values(), _INDIAN)):
            return None
    value = readings(digits)[0][0] * float(f"1e{exponent or 0}")
    return -value if sign == "-" else value


def spoken_value(values: Sequence[float]) -> float:
    """The value of number words as they are spoken, where "one thirty" is 130.

    >>> spoken_value([70, 6]), spoken_value([1, 30]), spoken_value([2, 100, 50])
    (76.0, 130.0, 250.0)
    """
    total = 0.0
    for value in values:
        if value == 100:
            total = (total or 1.0) * 100
        elif value >= 10 and 0 < total < 10:
            total = total * 100 + value
        else:
            total += value
    return total


def _step_of(digits: str) -> float:
    zeros = len(digits) - len(digits.rstrip("0"))
    return float(f"1e{zeros}") if zeros < len(digits) else 1.0  # a power would fail where a number becomes infinite


def _digits(terms: Terms, index: int, *, words: NumberWords, joins_spaces: bool) -> Number:
    last = index
    while joins_spaces and last + 1 < len(terms) and _is_group(terms, last + 1, first=index):
        last += 1
    fraction = _fraction_at(terms, index)
    values: tuple[float, ...]
    if fraction is not None:
        values, step, last = (fraction.value,), 1.0, fraction.last
    else:
        values, step = readings(terms.text[terms.starts[index] : terms.ends[last]])
    if len(values) > 1 and "," in terms.folded[index] and not (joins_spaces and _has_decimal_commas(terms.text)):
        values = values[:1]  # "54,000" is no 54
    end = terms.ends[last]
    scale = 1.0
    while last + 1 < len(terms) and terms.folded[last + 1] in words.scales and _gap(terms, last) in _GAPS:
        scale *= words.scales[terms.folded[last + 1]]
        last += 1
        end = terms.ends[last]
    return Number(
        start=terms.starts[index],
        end=end,
        first=index,
        last=last,
        values=tuple(value * scale for value in values),
        step=step * scale,
        scale=scale,
        is_rounded=scale > 1 or step < 1,
        is_slashed=fraction is not None and fraction.is_slashed,
    )


class _Fraction(NamedTuple):
    """A fraction, with the whole number before it if there is one."""

    value: float
    last: int
    """Number of its last term."""
    is_slashed: bool = False


def _fraction_at(terms: Terms, index: int) -> _Fraction | None:
    """The fraction that begins with a term: ½, 1/2, or with a whole number 1½ and 1 1/2."""
    if (part := _proper_fraction_at(terms, index)) is not None:
        return part
    is_followed = index + 1 < len(terms) and terms.folded[index].isdecimal() and _gap(terms, index) in _FRACTION_GAPS
    part = _proper_fraction_at(terms, index + 1) if is_followed else None
    if part is None or (part.is_slashed and _gap(terms, index) == ""):
        return None
    return _Fraction(float(terms.folded[index]) + part.value, part.last)


def _proper_fraction_at(terms: Terms, index: int) -> _Fraction | None:
    if terms.folded[index] in _VULGAR_FRACTIONS:
        return _Fraction(_VULGAR_FRACTIONS[terms.folded[index]], index)
    match = _SLASH_FRACTION.match(terms.text, terms.starts[index])
    if match is None or (above := int(match.group(1))) >= (below := int(match.group(2))):
        return None
    return _Fraction(above / below, index + 1, is_slashed=True)


@lru_cache(maxsize=8)
def _has_decimal_commas(text: str) -> bool:
    """Whether a text has a number such as "0,5", so that "1,234" may be one and a bit."""
    return _DECIMAL_COMMA.search(text) is not None


def _is_group(terms: Terms, index: int, *, first: int) -> bool:
    """Whether three digits after a space go on with the number, as in "1 234"."""
    written = terms.text[terms.starts[index] : terms.ends[index]]
    leads = terms.ends[first] - terms.starts[first] <= 3
    return leads and _gap(terms, index - 1) == " " and re.fullmatch(r"\d{3}(?:[,.]\d+)?", written) is not None


def _gap(terms: Terms, index: int) -> str:
    """What stands between a term and the next."""
    return terms.text[terms.ends[index] : terms.starts[index + 1]]


def _worded(terms: Terms, index: int, *, words: NumberWords) -> Number | None:
    """A number in letters, as long as it goes on; a lone "one" is none."""
    total, section, scale, last, place = 0.0, 0.0, 1.0, index - 1, index
    while place < len(terms) and (place == index or _goes_on(terms, place, words)):
        word = terms.folded[place]
        place += 1
        if word in words.joiners:
            continue
        if word in words.scales and not (word in words.numbers and place == index + 1):
            scale = words.scales[word]
            section = (section or 1.0) * scale
            if scale > 100:
                total, section = total + section, 0.0
        elif word in words.numbers and (added := _added(section, words.numbers[word])) is not None:
            section = added
        else:
            break
        last = place - 1
    value = total + section
    if last == index and value == 1.0:
        return None
    return Number(
        terms.starts[index],
        terms.ends[last],
        index,
        last,
        (value,),
        step=1.0 if terms.folded[last] in words.numbers else scale,
        scale=scale if scale >= 1e3 else 1.0,
        is_rounded=scale >= 1e3,
        is_word=True,
    )


def _goes_on(terms: Terms, place: int, words: NumberWords) -> bool:
    """Whether a word after number words may continue the number; a joiner only before another number word."""
    if _gap(terms, place - 1) not in _GAPS:
        return False
    word = terms.folded[place]
    if word not in words.joiners:
        return True
    follows = place + 1 < len(terms) and terms.folded[place + 1] in words.numbers
    previous = terms.folded[place - 1]
    return follows and (previous in words.scales or (words.numbers.get(previous, 0) >= 20 and "et" in words.joiners))


def _added(section: float, value: float) -> float | None:
    """What a number word makes of the number before it: "sixty five", "soixante-douze"; None for "five six"."""
    if section == 4.0 and value == 20.0:
        return 80.0  # quatre-vingts
    adds_ones = section % 100 >= 20 and section % 10 == 0 and value < 10
    adds_teens = section % 100 in {10.0, 60.0, 80.0} and value < 20
    return section + value if section % 100 == 0 or adds_ones or adds_teens else None


def _korean_number(terms: Terms, index: int) -> Number | None:
    """A number with 만, 억, 조, in Chinese-style syllables, or a native one before a counter."""
    text, start = terms.text, terms.starts[index]
    match = _KOREAN_NUMBER.match(text, start)
    if match is not None:
        has_digit = any(character.isdigit() for character in match.group())
        if has_digit or (len(match.group()) > 1 and _KOREAN_SINO_AFTER.match(text, match.end()) is not None):
            value, scale = korean_value(match.group())
            return _korean(terms, index, end=match.end(), value=value, scale=scale)
    native = _KOREAN_NATIVE.match(text, start)
    if native is not None and native.group() and _KOREAN_COUNTED.match(text, native.end()) is not None:
        table = load_lexicon("ko").quantities.numbers
        value = sum(table[part] for part in native.groups() if part is not None)
        return None if value == 1 else _korean(terms, index, end=native.end(), value=value, scale=1.0)
    return None


def _korean(terms: Terms, index: int, *, end: int, value: float, scale: float) -> Number:
    last = index
    while last + 1 < len(terms) and terms.starts[last + 1] < end:
        last += 1
    has_digits = terms.folded[index][0].isdecimal()
    step = _step_of(f"{value:.0f}") if value == int(value) else 1.0
    return Number(
        terms.starts[index], end, index, last, (value,), step, scale, is_rounded=scale > 1, is_word=not has_digits
    )


def korean_value(written: str) -> tuple[float, float]:
    """The value of a number with Korean scales, and its largest scale.

    >>> korean_value("3만 5천"), korean_value("1.5만")
    ((35000.0, 10000.0), (15000.0, 10000.0))
    """
    words = load_lexicon("ko").quantities
    total = section = number = 0.0
    largest = 1.0
    for digits, small, large in _KOREAN_PART.findall(written):
        if digits:
            number = words.numbers[digits] if digits in words.numbers else readings(digits.strip(","))[0][0]
        elif small:
            section += (number or 1.0) * words.scales[small]
            number = 0.0
        else:
            total += ((section + number) or 1.0) * words.scales[large]
            section = number = 0.0
            largest = max(largest, words.scales[large])
    return total + section + number, largest


_SIGN_BEFORE = re.compile(r"(?:US|A|C)?[$€£₩￦¥₹]\s?$")
_SIGN_AFTER = re.compile(r"\s?([%％]|[$€£₩￦¥₹](?!\d))")
_UNIT_GAPS = frozenset(" -\u00a0\u202f\n")
_SQUARE_LETTERS = {
    "℃": "°C", "℉": "°F", "㎞": "km", "㎏": "kg", "㎡": "m²", "㎝": "cm", "㎜": "mm", "㎎": "mg",
}  # fmt: skip
_SYMBOL_AFTER = re.compile(
    rf"[\s-]?([{''.join(_SQUARE_LETTERS)}]|(?:[mµμnp]?mol|[mµμnp]?g|mcg|m?I?U)/[dm]?[lL]|mm\s?Hg|kPa"
    r"|°\s?[CF]|°|km/h|km²|km2|m²|m2"
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
_OUT_OF = re.compile(r"\s(?:out of|sur)\s", re.IGNORECASE)
_PARTS = {"ft": ("in", 12, re.compile(r"\s?in(?![^\W_])")), "lb": ("oz", 16, re.compile(r"\s?oz(?![^\W_])"))}
"""Units that are given with a smaller one: which, how many of it they hold, and how it is written there."""
_PART_GAPS = frozenset((" ", ", ", " and ", "\u00a0"))
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
    out_of: float | None = None
    """The 5 of "4 out of 5"; it is a number of its own as well."""
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
        if index < after or not (_may_begin(word, words) or (spoken == "ko" and word[0] >= "가")):
            continue
        number = number_at(terms, index, language=spoken)
        if number is None or (not number.is_word and _is_code(terms, number)):
            continue
        quantity = _with_unit(terms, number, load_lexicon(spoken).quantities)
        if number.is_slashed and quantity.unit is None:
            continue
        after = quantity.last_term + 1
        if found and (joined := _joined(terms, found[-1], quantity, language=spoken)) is not None:
            found[-1] = joined
            continue
        if found and _OUT_OF.fullmatch(terms.text, found[-1].end, quantity.start) and quantity.value >= found[-1].value:
            found[-1] = structs.replace(found[-1], out_of=quantity.value)
        found.append(quantity)
    return found


def _may_begin(word: str, words: NumberWords) -> bool:
    return word[0].isdecimal() or word in words.starts or word in _VULGAR_FRACTIONS


def _is_code(terms: Terms, number: Number) -> bool:
    """Whether digits belong to a name such as B12, COVID-19 or #4, or to something like 24/7."""
    start = number.start
    if _FRACTION_AFTER.match(terms.text, number.end) is not None:
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
        if "/" in name and name[-1] in "lL":  # the litre may be written small, micro as a Greek letter or in letters
            name = name[:-1].replace("μ", "µ").replace("mcg", "µg") + "L"
        return _Unit("measure", UNITS[_LONG_SYMBOLS.get(name, name)], symbol.end())
    is_spaced = text[end : end + 1] in _UNIT_GAPS
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


def _joined(terms: Terms, first: Quantity, second: Quantity, *, language: str) -> Quantity | None:
    """Two numbers as one, when they are a range, or one length or weight in two units as 5 ft 3 in."""
    return _range(terms, first, second, language=language) or _compound(terms, first, second)


def _compound(terms: Terms, large: Quantity, small: Quantity) -> Quantity | None:
    """Feet with inches and pounds with ounces, in the smaller unit."""
    if large.unit is None or large.unit.symbol not in _PARTS or terms.text[large.end : small.start] not in _PART_GAPS:
        return None
    symbol, parts, written = _PARTS[large.unit.symbol]
    end = small.end
    if small.unit is None and (match := written.match(terms.text, small.end)) is not None:
        end = match.end()
    elif small.unit is None or small.unit.symbol != symbol:
        return None
    if small.value >= parts or small.high is not None:
        return None
    last = small.last_term
    while last + 1 < len(terms) and terms.starts[last + 1] < end:
        last += 1
    return structs.replace(
        large,
        end=end,
        values=(large.value * parts + small.value,),
        unit=UNITS[symbol],
        step=small.step,
        is_rounded=small.is_rounded,
        is_word=large.is_word and small.is_word,
        last_term=last,
    )


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
