"""Values that can be put into a claim: numbers, dates and names of its evidence, and of other records."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain

from msgspec import Struct

from hallumeter.text.dates import Date
from hallumeter.text.lexicon import lexicons_with
from hallumeter.text.names import Name
from hallumeter.text.quantities import Quantity
from hallumeter.text.sentences import sentence_spans
from hallumeter.text.terms import fold

from .protocol import Reading, read

# Particles after a Korean word, which depend on whether it ends in a consonant.

_TO_VOWEL = {"은": "는", "이": "가", "을": "를", "과": "와", "으로": "로"}
_TO_CONSONANT = {vowel: consonant for consonant, vowel in _TO_VOWEL.items()}
_PARTICLE = re.compile(r"(으로|은|는|이|가|을|를|과|와|로)(?![가-힣])")
_SYLLABLE = re.compile("[가-힣]")
_RIEUL = 8


def ends_in_consonant(word: str) -> bool:
    """Whether the last syllable of a Korean word is closed.

    >>> ends_in_consonant("톤"), ends_in_consonant("미터")
    (True, False)
    """
    return _SYLLABLE.match(word[-1:]) is not None and (ord(word[-1]) - 0xAC00) % 28 != 0


def particle_after(text: str, place: int, word: str) -> tuple[str, str]:
    """The particle at a place, and the form it takes after another word; twice nothing where none stands.

    >>> particle_after("미터를 달렸다", 2, "마일")
    ('를', '을')
    """
    match = _PARTICLE.match(text, place)
    if match is None or _SYLLABLE.match(word[-1:]) is None:
        return "", ""
    old = match.group(1)
    is_closed = ends_in_consonant(word)
    if old in {"으로", "로"} and (ord(word[-1]) - 0xAC00) % 28 == _RIEUL:
        return old, "로"
    return old, _TO_CONSONANT.get(old, old) if is_closed else _TO_VOWEL.get(old, old)


# What kind of thing a name is likely to name, by its form and by what stands beside it.

_PLACE_BEFORE = frozenset({"in", "at", "near", "from", "à", "a", "dans", "depuis", "into", "across", "outside"})
_PERSON_AFTER = frozenset(
    {"said", "says", "told", "added", "wrote", "who", "he", "she", "tweeted", "explained", "admitted", "dit", "qui"}
)
_ARTICLES = frozenset({"the", "a", "an", "this", "le", "la", "les", "l", "un", "une", "du", "au", "des", "aux"})
_NAME_GOES_ON = frozenset({"da", "di", "dos", "del", "el", "ibn"})
_LIST_MARK = re.compile(r"(?:\d|:|•)[.)]?\s*$")
_FEW_WORDS = 3


def is_sure_name(reading: Reading, name: Name, common: frozenset[str]) -> bool:
    """Whether capitals surely make a name: not for a first word, nor where the text writes all words of it small too.

    `common` are the words that stand in the text with a small first letter.
    """
    if "가" <= reading.text[name.start] <= "힣":
        return True  # a title after it tells
    words = reading.terms.folded[name.first_term : name.last_term + 1]
    if all(word in common for word in words) or any(len(word) == 1 for word in words):
        return False
    after = reading.terms.folded[name.last_term + 1 : name.last_term + 2]
    if after and after[0] in _NAME_GOES_ON:
        return False
    opens = _LIST_MARK.search(reading.text[: name.start]) is not None or not any(
        map(str.isalpha, reading.text[: name.start])
    )
    return not (name.is_opening or (opens and name.first_term == name.last_term))


def name_shape(reading: Reading, name: Name, classes: Mapping[str, str]) -> str:
    """Names of one shape can stand for one another: as many words, capitals alike, a place or a person alike.

    `classes` are those that other sentences tell.
    """
    written = reading.text[name.start : name.end]
    words = min(name.last_term - name.first_term + 1, _FEW_WORDS)
    letters = "capitals" if written.isupper() else "korean" if "가" <= written[0] <= "힣" else "words"
    form = "possessive" if written.endswith(("'s", "’s")) else "joined" if "&" in written or "." in written else "plain"
    article = "article" if _before(reading, name) in _ARTICLES else ""
    kind = classes.get(written) or name_class(reading, name)
    return f"{words}|{letters}|{form}|{article}|{kind}"


def name_class(reading: Reading, name: Name) -> str:
    """What the words beside a name tell of it: `person`, `place`, or nothing."""
    terms = reading.terms
    before = _before(reading, name)
    after = terms.folded[name.last_term + 1] if name.last_term + 1 < len(terms) else ""
    if before in _titles() or after in _PERSON_AFTER:
        return "person"
    return "place" if before in _PLACE_BEFORE else ""


def _before(reading: Reading, name: Name) -> str:
    return reading.terms.folded[name.first_term - 1] if name.first_term > 0 else ""


@cache
def _titles() -> frozenset[str]:
    return frozenset(fold(word) for each in lexicons_with("names") for word in each.names.titles)


# How a number is written, and how another one is written in the same way.

_DIGITS = re.compile(r"\d+(?:([.,\u00a0\u202f ])\d{3}(?!\d))*(?:[.,]\d+)?")
_GROUPED = re.compile(r"\d{1,3}(?:[.,\u00a0\u202f ]\d{3})+(?:[.,]\d+)?")
_ORDINAL_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_WORD = re.compile(r"[^\W\d_]+")
_BEFORE_UNIT = frozenset({"per", "pour", "d", "de", "percentage", "square"})
_MOST_DIGITS = 15
"""More digits than this are an identifier rather than a number."""


class NumberCore(Struct, frozen=True):
    """The part of a quantity that is a number, without sign, scale word and unit."""

    start: int
    """Where it stands in the text."""
    end: int
    written: str
    key: str
    """Its value with its scale."""
    digits: int | None = None
    """All of its digits as one whole number; None for a number in letters."""
    decimals: int = 0
    """How many of them stand after the decimal sign."""

    def with_digits(self, digits: int) -> str:
        """Other digits in the same form, with as many decimals and the same separators.

        >>> NumberCore(0, 7, "1,234.5", "", digits=12345, decimals=1).with_digits(98765)
        '9,876.5'
        """
        padded = str(digits).zfill(self.decimals + 1)
        whole, fraction = (padded[: -self.decimals], padded[-self.decimals :]) if self.decimals else (padded, "")
        mark = self.written[-self.decimals - 1] if self.decimals else ""
        grouping = next(
            (sign for sign in self.written[: len(self.written) - self.decimals - 1] if not sign.isdigit()), ""
        )
        if grouping:
            groups = [whole[max(0, last - 3) : last] for last in range(len(whole), 0, -3)]
            whole = grouping.join(reversed(groups))
        return whole + mark + fraction


def number_core(text: str, quantity: Quantity) -> NumberCore | None:
    """The number of a quantity as it is written; the upper end of a range; None when it cannot be rewritten."""
    written = text[quantity.start : quantity.end]
    if quantity.is_word:
        return _word_core(text, quantity)
    matches = list(_DIGITS.finditer(written))
    if not matches or len(matches[-1].group()) > _MOST_DIGITS:
        return None
    match = matches[-1] if quantity.high is not None else matches[0]
    digits = "".join(sign for sign in match.group() if sign.isdigit())
    value = quantity.high if quantity.high is not None else quantity.value
    return NumberCore(
        start=quantity.start + match.start(),
        end=quantity.start + match.end(),
        written=match.group(),
        key=f"{abs(value):g}",
        digits=int(digits),
        decimals=_decimals(match.group(), value=abs(value) / (quantity.scale or 1.0)),
    )


def number_shape(quantity: Quantity) -> str:
    """Numbers of one shape can stand for one another: the same unit, scale, counter and way of writing."""
    unit = quantity.unit.symbol if quantity.unit is not None else ""
    form = "word" if quantity.is_word else "decimal" if quantity.step < quantity.scale else "whole"
    is_range = quantity.high is not None
    return f"{quantity.kind}|{unit}|{quantity.counter}|{quantity.scale:g}|{form}|{is_range}"


def ordinal(value: int) -> str:
    """A number with the ending of an English ordinal.

    >>> ordinal(3), ordinal(12), ordinal(21)
    ('3rd', '12th', '21st')
    """
    return f"{value}{'th' if value % 100 in {11, 12, 13} else _ORDINAL_ENDINGS.get(value % 10, 'th')}"


def _word_core(text: str, quantity: Quantity) -> NumberCore:
    """The words of a number, without a unit or a counter after them."""
    written = text[quantity.start : quantity.end]
    words = _WORD.findall(written)
    unit = quantity.counter or (words[-1] if quantity.unit is not None and len(words) > 1 else "")
    bare = written.removesuffix(unit).rstrip(" -\u00a0")
    while len(_WORD.findall(bare)) > 1 and _WORD.findall(bare)[-1].lower() in _BEFORE_UNIT:
        bare = bare[: bare.rindex(_WORD.findall(bare)[-1])].rstrip(" -'’")
    return NumberCore(quantity.start, quantity.start + len(bare), bare, f"{quantity.value:g}")


def _decimals(written: str, *, value: float) -> int:
    """How many digits stand after the decimal sign, going by the value that the number was read as."""
    mark = max(written.rfind("."), written.rfind(","))
    if mark < 0 or (_GROUPED.fullmatch(written) is not None and value >= 1000):
        has_fraction = re.search(r"\D\d{3}[.,](\d+)$", written) if mark >= 0 else None
        return len(has_fraction.group(1)) if has_fraction is not None and value != int(value) else 0
    return len(written) - mark - 1


# The parts of a date as it is written, and its form without them.

_NUMBER = re.compile(r"\d+")
_DATE_WORD = re.compile(r"[^\W\d_]+")


class DatePart(Struct, frozen=True):
    """A part of a date in a text."""

    name: str
    """`year`, `month`, `day`, `weekday`, `hour` or `minute`."""
    start: int
    end: int
    written: str


def date_parts(text: str, date: Date) -> list[DatePart]:
    """The parts of a date in the order in which they are written.

    >>> from hallumeter.text.dates import find_dates
    >>> text = "It opened on Monday, 5 March 2018."
    >>> [(part.name, part.written) for part in date_parts(text, find_dates(text)[0])]
    [('weekday', 'Monday'), ('day', '5'), ('month', 'March'), ('year', '2018')]
    """
    written = text[date.start : date.end]
    parts = []
    for match in _DATE_WORD.finditer(written):
        name = _worded_part(fold(match.group()))
        if name:
            parts.append(DatePart(name, date.start + match.start(), date.start + match.end(), match.group()))
    has_month = any(part.name == "month" for part in parts)
    names = _number_names(date, written, has_month=has_month)
    for match, name in zip(_NUMBER.finditer(written), names, strict=False):
        parts.append(DatePart(name, date.start + match.start(), date.start + match.end(), match.group()))
    return sorted(parts, key=lambda part: part.start)


def date_form(text: str, date: Date) -> str:
    """How a date is written, with its parts left out: dates of one form can stand for one another."""
    form, last = [], date.start
    for part in date_parts(text, date):
        width = len(part.written) if part.name in {"year", "hour"} else ""
        is_short = part.name == "month" and len(part.written) <= 4 and not part.written.isdigit()
        form += [text[last : part.start], f"{{{part.name}{width}{'.' * is_short}}}"]
        last = part.end
    return "".join([*form, text[last : date.end]])


def date_key(date: Date) -> str:
    """What a date says, in a form in which two can be compared."""
    said = (date.year, date.month, date.day, date.weekday, date.last_year, date.minutes)
    return "date:" + ",".join("" if part is None else str(part) for part in said)


def _worded_part(word: str) -> str:
    if word in _month_names():
        return "month"
    is_korean_weekday = len(word) >= 3 and word[1:3] == "요일"
    return "weekday" if word in _weekday_names() or is_korean_weekday else ""


def _number_names(date: Date, written: str, *, has_month: bool) -> list[str]:
    """What the numbers of a date are, in order."""
    if date.minutes is not None:
        return ["hour", "minute"]
    numbers = _NUMBER.findall(written)
    if date.last_year is not None:
        return ["year" if len(numbers[0]) == 4 else "century"] if numbers else []
    if has_month or len(numbers) <= 1:
        is_year = [len(number) == 4 for number in numbers]
        lone = "month" if date.month is not None and not has_month and date.day is None else "day"
        return ["year" if year else lone for year in is_year]
    if len(numbers[0]) == 4:
        return ["year", "month", "day"]
    if len(numbers) == 2:
        return ["month", "day"]
    return ["month", "day", "year"] if numbers[0] == f"{date.month:0{len(numbers[0])}d}" else ["day", "month", "year"]


@cache
def _month_names() -> frozenset[str]:
    return frozenset(fold(name) for each in lexicons_with("dates") for names in each.dates.months for name in names)


@cache
def _weekday_names() -> frozenset[str]:
    return frozenset(fold(name) for each in lexicons_with("dates") for names in each.dates.weekdays for name in names)


class Fact(Struct, frozen=True):
    """A value as a text writes it."""

    written: str
    sentence: int
    """Number of the sentence in which it stands."""
    key: str
    """Its value, in a form in which two can be compared."""


class Facts(Struct, frozen=True):
    """The values of some texts, by shape: only values of one shape can stand for one another."""

    numbers: dict[str, tuple[Fact, ...]] = {}
    dates: dict[str, tuple[Fact, ...]] = {}
    names: dict[str, tuple[Fact, ...]] = {}
    sentences: dict[str, tuple[int, ...]] = {}
    """The sentences that have a word, in the form in which texts are compared."""
    places: dict[str, tuple[int, ...]] = {}
    """The sentences that have a value, by its key."""
    number_keys: frozenset[str] = frozenset()
    """All numbers, of whatever shape."""
    date_keys: frozenset[str] = frozenset()
    sure_names: frozenset[str] = frozenset()
    """Names that stand elsewhere than at the beginning of a sentence."""
    common: frozenset[str] = frozenset()
    """Words that are written with a small first letter."""
    words: frozenset[str] = frozenset()
    """All words."""
    classes: dict[str, str] = {}
    """Names that are surely a person's or a place's, by what stands beside them somewhere."""


class Donors(Struct, frozen=True):
    """Where the values for one claim come from."""

    own: Facts = Facts()
    """Of its own evidence: a value from here is hard to tell from a right one, for its words stand in the evidence."""
    others: Facts = Facts()
    """Of other records, for a claim whose own evidence has no value of that shape."""

    def silent(self, neighbours: frozenset[str], key: str, *, share: float) -> frozenset[int]:
        """Sentences of the own evidence whose values may be true of the claim, so that none is taken from them.

        Those with more than a share of the words that stand around the value in the claim, and those with the value
        itself. A sentence that says the same in other words is not recognised.
        """
        shared = Counter(number for word in neighbours for number in self.own.sentences.get(word, ()))
        alike = (number for number, words in shared.items() if words > share * len(neighbours))
        return frozenset((*self.own.places.get(key, ()), *alike))


def facts_of(texts: Iterable[str]) -> Facts:
    """The numbers, dates and names of some texts.

    >>> facts = facts_of(["Ada Lovelace met Mary Somerville in 1834."])
    >>> sorted(fact.written for facts in facts.names.values() for fact in facts)
    ['Ada Lovelace', 'Mary Somerville']
    """
    numbers, dates, names = (defaultdict[str, list[Fact]](list) for _ in range(3))
    readings = [read(sentence) for sentence in _sentences(texts)]
    common = frozenset(word for reading in readings for word in _small_words(reading))
    # A person's name may stand after "from", but no place speaks.
    text = [
        (reading.text[name.start : name.end], name_class(reading, name))
        for reading in readings
        for name in reading.names
    ]
    places = {written: kind for written, kind in text if kind == "place"}
    classes = places | {written: kind for written, kind in text if kind == "person"}
    for number, reading in enumerate(readings):
        _take(numbers, _number_facts(reading, number))
        _take(dates, _date_facts(reading, number))
        _take(names, _name_facts(reading, number, common=common, classes=classes))
    return Facts(
        numbers=_frozen(numbers),
        dates=_frozen(dates),
        names=_frozen(names),
        sentences=_index(
            (key, number) for number, reading in enumerate(readings) for key in set(reading.terms.keys) if key
        ),
        places=_index((fact.key, fact.sentence) for fact in (*_all(numbers), *_all(dates), *_all(names))),
        number_keys=frozenset(fact.key for fact in _all(numbers)),
        date_keys=frozenset(fact.key for fact in _all(dates)),
        sure_names=frozenset(fact.written for fact in _all(names)),
        common=common,
        classes=classes,
        words=frozenset(word for reading in readings for word in reading.terms.folded),
    )


def donors_of(evidence: Iterable[str], *, others: Facts | None = None) -> Donors:
    """The donors for claims about some evidence."""
    return Donors(facts_of(evidence), others or Facts())


def _sentences(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for start, end in sentence_spans(text):
            yield text[start:end]


def _number_facts(reading: Reading, sentence: int) -> Iterator[tuple[str, Fact]]:
    for quantity in reading.numbers:
        if (core := number_core(reading.text, quantity)) is not None:
            yield number_shape(quantity), Fact(core.written, sentence, core.key)


def _date_facts(reading: Reading, sentence: int) -> Iterator[tuple[str, Fact]]:
    for date in reading.dates:
        yield date_form(reading.text, date), Fact(reading.text[date.start : date.end], sentence, date_key(date))


def _small_words(reading: Reading) -> Iterator[str]:
    terms = reading.terms
    return (word for word, start in zip(terms.folded, terms.starts, strict=True) if reading.text[start].islower())


def _name_facts(
    reading: Reading, sentence: int, *, common: frozenset[str], classes: dict[str, str]
) -> Iterator[tuple[str, Fact]]:
    for name in reading.names:
        if is_sure_name(reading, name, common):
            written = reading.text[name.start : name.end]
            yield name_shape(reading, name, classes), Fact(written, sentence, written.casefold())


def _take(table: dict[str, list[Fact]], facts: Iterable[tuple[str, Fact]]) -> None:
    for shape, fact in facts:
        table[shape].append(fact)


def _all(table: dict[str, list[Fact]]) -> Iterator[Fact]:
    return chain.from_iterable(table.values())


def _index(pairs: Iterable[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    index = defaultdict[str, list[int]](list)
    for key, number in pairs:
        index[key].append(number)
    return {key: tuple(numbers) for key, numbers in index.items()}


def _frozen(table: dict[str, list[Fact]]) -> dict[str, tuple[Fact, ...]]:
    return {shape: tuple(facts) for shape, facts in table.items()}
