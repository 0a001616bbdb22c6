"""One number at a place in a text: digits in several notations, words, and both mixed as in "1.2 billion"."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from msgspec import Struct

from .lexicon import load_lexicon
from .terms import Terms, fold

_GROUPED = {
    ",": re.compile(r"\d{1,3}(?:,\d{3})+"),
    ".": re.compile(r"\d{1,3}(?:\.\d{3})+"),
    " ": re.compile(r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+"),
}
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
    if word[0].isdecimal():
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


def _step_of(digits: str) -> float:
    zeros = len(digits) - len(digits.rstrip("0"))
    return float(f"1e{zeros}") if zeros < len(digits) else 1.0  # a power would fail where a number becomes infinite


def _digits(terms: Terms, index: int, *, words: NumberWords, joins_spaces: bool) -> Number:
    last = index
    while joins_spaces and last + 1 < len(terms) and _is_group(terms, last + 1, first=index):
        last += 1
    end = terms.ends[last]
    values, step = readings(terms.text[terms.starts[index] : end])
    if len(values) > 1 and "," in terms.folded[index] and not (joins_spaces and _has_decimal_commas(terms.text)):
        values = values[:1]  # "54,000" is no 54
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
    )


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
            value, scale = _korean_value(match.group())
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


def _korean_value(written: str) -> tuple[float, float]:
    """The value of a number with Korean scales, and its largest scale."""
    words = load_lexicon("ko").quantities
    total = section = number = 0.0
    largest = 1.0
    for digits, small, large in _KOREAN_PART.findall(written):
        if digits:
            number = words.numbers[digits] if digits in words.numbers else float(digits.replace(",", ""))
        elif small:
            section += (number or 1.0) * words.scales[small]
            number = 0.0
        else:
            total += ((section + number) or 1.0) * words.scales[large]
            section = number = 0.0
            largest = max(largest, words.scales[large])
    return total + section + number, largest
