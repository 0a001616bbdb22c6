"""Values that can be put into a claim: numbers, dates and names of its evidence, and of other records."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain

from msgspec import Struct

from hallumeter.text import sentence_spans

from .forms.dates import date_form, date_key
from .forms.names import is_sure_name, name_class, name_shape
from .forms.numbers import number_core, number_shape
from .reading import Reading, read


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
    classes = _classes(readings)
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


def _classes(readings: Iterable[Reading]) -> dict[str, str]:
    """A person's name may stand after "from", but no place speaks."""
    told = [
        (reading.text[name.start : name.end], name_class(reading, name))
        for reading in readings
        for name in reading.names
    ]
    places = {written: kind for written, kind in told if kind == "place"}
    return places | {written: kind for written, kind in told if kind == "person"}


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
