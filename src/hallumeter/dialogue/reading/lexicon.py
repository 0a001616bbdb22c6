"""The lexicons of drugs, conditions, labs and vitals, read from the data files once."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import resources
from operator import itemgetter
from typing import Literal, NamedTuple, TypeVar

from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.text.normalize import CleanText, clean_text
from hallumeter.text.phrases import StringSet

from .cues import CLAUSE, PHRASE, SENTENCE, CueWords, Endings, Role, roles_of


class Drug(Struct, frozen=True, gc=False):
    """A drug and what it is called."""

    name: str
    names: tuple[str, ...]
    """All names in English and Korean, the first one included."""
    classes: tuple[str, ...]


class Condition(Struct, frozen=True, gc=False):
    """A disease and what it is called."""

    name: str
    names: tuple[str, ...]
    wider: tuple[str, ...]
    """Conditions of which it is a form."""


class Measurement(Struct, frozen=True, gc=False):
    """A lab or a vital, the unit of its slot, and the bounds of what a living patient can have."""

    name: str
    kind: Literal["lab", "vital"]
    unit: str
    low: float
    high: float
    names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    """Units in which it is written, the slot's own included."""

    def holds(self, value: float) -> bool:
        """Whether a patient can have this value, given in the slot's unit."""
        return self.low <= value <= self.high


class ClinicalTables(Struct, frozen=True):
    """What the clinical lexicons hold."""

    drugs: tuple[Drug, ...]
    conditions: tuple[Condition, ...]
    measurements: tuple[Measurement, ...]
    classes: dict[str, tuple[str, ...]]
    """Words for a class of drugs."""
    hints: dict[str, tuple[str, ...]]
    """Words that only make sense for a condition, by its name."""


def _rows(file: str, columns: tuple[str, ...]) -> list[list[str]]:
    """The cells of a table, in the order of the columns asked for."""
    path = resources.files("hallumeter.dialogue").joinpath("lexicons", file)
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    places = {name: index for index, name in enumerate(header.split("\t"))}
    if missing := [column for column in columns if column not in places]:
        raise SettingsError(f"{file}:1: expected the columns {', '.join(columns)}, but {', '.join(missing)} is missing")
    rows = []
    for number, line in enumerate(lines, 2):
        cells = line.split("\t")
        if len(cells) != len(places):
            raise SettingsError(f"{file}:{number}: expected {len(places)} cells, found {len(cells)}; separate by tabs")
        rows.append([cells[places[column]].strip() for column in columns])
    return rows


def _several(*cells: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for cell in cells for part in cell.split("|") if part.strip()))


@cache
def load_tables() -> ClinicalTables:
    """Read the lexicons.

    >>> next(drug.classes for drug in load_tables().drugs if drug.name == "metformin")
    ('biguanide', 'antidiabetic')
    """
    drugs = _rows("drugs.tsv", ("name", "english", "korean", "classes"))
    conditions = _rows("conditions.tsv", ("name", "english", "korean", "wider"))
    columns = ("name", "kind", "english", "korean", "unit", "units", "low", "high")
    return ClinicalTables(
        drugs=tuple(
            Drug(name, _several(name, english, korean), _several(classes)) for name, english, korean, classes in drugs
        ),
        conditions=tuple(
            Condition(name, _several(name, english, korean), _several(wider))
            for name, english, korean, wider in conditions
        ),
        measurements=tuple(_measurement(row) for row in _rows("measurements.tsv", columns)),
        classes={name: _several(*words) for name, *words in _rows("drug_classes.tsv", ("class", "english", "korean"))},
        hints={name: _several(*words) for name, *words in _rows("condition_hints.tsv", ("name", "english", "korean"))},
    )


def _measurement(row: list[str]) -> Measurement:
    name, kind, english, korean, unit, units, low, high = row
    return Measurement(
        name=name,
        kind="lab" if kind == "lab" else "vital",
        unit=unit,
        low=float(low),
        high=float(high),
        names=_several(english, korean),
        units=_several(unit, units),
    )


# All names and cues of the lexicons, looked for at once.
#
# One set of strings holds the names of drugs, conditions, labs and vitals, the words of indirect use, and the cues of
# scope, so that what a search costs depends on the text and hardly on how many names there are. Texts and names are
# compared in lower case with every punctuation mark as a space, so that "LDL-C" is "LDL C". Of names that overlap,
# the leftmost and longest counts among those that stand on word boundaries; a name may be glued to Korean particles
# on its right.

Span = tuple[int, int, int]
_Shared = TypeVar("_Shared")
_NEUTRAL = Role()
_ONLY_STOPS = frozenset(Role(stop=level, works_ahead=True, works_back=True) for level in (PHRASE, CLAUSE, SENTENCE))
_NAMES, _CUES, _STOPS, _NEUTRALS, _NUMBERS, _FAMILIES = range(6)
_FAR = 1 << 62
_ABBREVIATION = re.compile("[A-Z]{3,6}")
_PUNCTUATION = re.compile(r"[^\w ]")


class Meaning(Struct, frozen=True, gc=False):
    """What a name of the lexicons stands for."""

    kind: str
    """`medication`, `condition`, `measurement`, `sex`, `class`, `condition_hint`, `life_stage` or `nothing`."""
    name: str


class Found(NamedTuple):
    """A name in a text, in the positions of the clean text."""

    start: int
    end: int
    meanings: tuple[Meaning, ...]


FoundCue = tuple[int, int, Role]
"""A cue in a text: where it begins and ends, and what it does."""


class FoundNumber(NamedTuple):
    """A number word in a text."""

    start: int
    end: int
    value: int


class Finds(NamedTuple):
    """All that the lexicons know in a text, each list in the order of the text."""

    names: list[Found]
    hints: list[Found]
    cues: list[FoundCue]
    number_words: list[FoundNumber]
    families: list[int]
    """Where words begin that may speak of the family."""


class _Pattern:
    """What a string of the set may be; the string has a space where the word must begin or end."""

    __slots__ = (
        *("goes_on", "hints", "kind", "layer", "meanings", "number", "role", "spellings", "to_end", "to_start"),
    )

    def __init__(self, pattern: str) -> None:
        # From a match in the text with a space before it to the words in the text.
        self.to_start = pattern.startswith(" ") - 1
        self.to_end = pattern.endswith(" ") + 1
        self.layer = _NAMES
        self.meanings: tuple[Meaning, ...] = ()
        self.hints: tuple[Meaning, ...] = ()
        self.kind = ""
        self.goes_on = False
        self.spellings: frozenset[str] | None = None
        """The only ways in which it may be written; None where case does not count."""
        self.role: Role | None = None
        """What it does as a cue; None when it is none."""
        self.number = 0

    def set_role(self, role: Role) -> None:
        """Make it a cue, a stop that is nothing else, or words that are neither."""
        if role in _ONLY_STOPS:
            self.layer = _STOPS
        else:
            self.layer = _NEUTRALS if role == _NEUTRAL else _FAMILIES if role.is_family else _CUES
        self.role = None if role == _NEUTRAL else role

    def set_number(self, value: int) -> None:
        """Make it a number word."""
        self.layer, self.number = _NUMBERS, value


class Vocabulary:
    """Finds names and cues; made once, it can be used for any number of texts."""

    def __init__(self, tables: ClinicalTables, words: Sequence[CueWords], endings: Endings) -> None:
        self._patterns: dict[str, _Pattern] = {}
        for name, meaning in _names(tables, words):
            self._add_name(name, meaning)
        for language in words:
            for phrase, role in roles_of(language).items():
                self._pattern(phrase).set_role(role)
            for word, value in language.number_words.items():
                if word.isascii() or value >= 10:  # the small Korean ones are syllables of other words
                    self._pattern(word + ("" if word.isascii() else "*")).set_number(value)
        for spelling in (each for language in words for each in language.names.as_written):
            pattern = self._patterns.get(f" {spelling.lower()}")
            if pattern is not None:
                pattern.spellings = (pattern.spellings or frozenset()) | {spelling}
        self._endings = endings
        found = list(self._patterns.values())
        self._places = _shared((pattern.layer, pattern.to_start, pattern.to_end) for pattern in found)
        self._meanings = [pattern.meanings for pattern in found]
        self._hints = [pattern.hints for pattern in found]
        self._roles = _shared(pattern.role for pattern in found)
        self._numbers = [pattern.number for pattern in found]
        self._forms = _shared((pattern.goes_on, pattern.kind, pattern.spellings) for pattern in found)
        self._strings = StringSet(self._patterns)
        self._patterns.clear()

    def find(self, clean: CleanText) -> Finds:
        """All names and cues of a text."""
        layers: tuple[list[Span], ...] = ([], [], [], [], [], [])
        places = self._places
        for index, start, end in self._strings.find(f" {plain(clean.lower)} "):
            layer, to_start, to_end = places[index]
            layers[layer].append((start + to_start, to_end - end, index))
        names, cues, stops, neutrals, numbers, families = layers
        named, hinted = self._found(clean, names)
        cues += neutrals
        cues += families
        apart = _longest(cues)
        if stops:
            stops += neutrals
            apart = _with_stops(apart, _longest(stops))
        inside = bytearray(len(clean.lower) + 1)
        for start, end, _ in named:
            inside[start:end] = b"1" * (end - start)
        roles = self._roles
        return Finds(
            named,
            hinted,
            [(start, end, role) for start, end, index in apart if (role := roles[index]) and not inside[start]],
            sorted(FoundNumber(start, -end, self._numbers[index]) for start, end, index in numbers) if numbers else [],
            [start for start, _, _ in families],
        )

    def _found(self, clean: CleanText, spans: list[Span]) -> tuple[list[Found], list[Found]]:
        """The names that stand for something, and those of indirect use."""
        meanings, hints = self._meanings, self._hints
        names, beside = [], []
        for span in self._words(clean, spans):
            if meanings[span[2]]:
                names.append(span)
            if hints[span[2]]:
                beside.append(span)
        return (
            [Found(start, end, meanings[index]) for start, end, index in _longest(names)],
            [Found(start, end, hints[index]) for start, end, index in _longest(beside)],
        )

    def names_in(self, text: str) -> list[Found]:
        """The names of a short text alone, such as an entry of a patient's record."""
        return self.find(clean_text(text)).names

    def _add_name(self, name: str, meaning: Meaning) -> None:
        """A name; names of indirect use are found beside the others, also inside of them."""
        goes_on = name.endswith("*")
        pattern = self._pattern(name if goes_on else name + "*")
        pattern.goes_on = goes_on
        pattern.kind = pattern.kind or meaning.kind
        if meaning.kind in {"condition_hint", "life_stage"}:
            pattern.hints += (meaning,)
        elif meaning not in pattern.meanings:
            pattern.meanings += (meaning,)

    def _pattern(self, phrase: str) -> _Pattern:
        """The string for a phrase with stars, and what it stands for so far."""
        words = plain(clean_text(phrase.strip("*")).lower).rstrip()
        written = ("" if phrase.startswith("*") else " ") + words + ("" if phrase.endswith("*") else " ")
        return self._patterns.setdefault(written, _Pattern(written))

    def _words(self, clean: CleanText, spans: list[Span]) -> list[Span]:
        """The names that stand on word boundaries, and with their capitals where these count."""
        lower, forms, may_follow = clean.lower, self._forms, self._endings.may_follow
        kept = []
        for span in spans:
            start, negative_end, index = span
            end = -negative_end
            goes_on, kind, spellings = forms[index]
            if not goes_on and lower[end : end + 1].isalnum() and not may_follow(lower, end, kind):
                continue
            if spellings is None or clean.text[start:end] in spellings:
                kept.append(span)
        return kept


def _names(tables: ClinicalTables, words: Sequence[CueWords]) -> Iterator[tuple[str, Meaning]]:
    """Every name with what it stands for."""
    for drug in tables.drugs:
        yield from ((name, Meaning("medication", drug.name)) for name in drug.names)
    for condition in tables.conditions:
        yield from ((name, Meaning("condition", condition.name)) for name in condition.names)
        # In dictated texts letters stand apart, as in C O P D.
        letters = (name for name in condition.names if _ABBREVIATION.fullmatch(name) is not None)
        yield from ((" ".join(name), Meaning("condition", condition.name)) for name in letters)
    for measurement in tables.measurements:
        yield from ((name, Meaning("measurement", measurement.name)) for name in measurement.names)
    for class_name, class_words in tables.classes.items():
        yield from ((word, Meaning("class", class_name)) for word in class_words)
    for condition_name, hints in tables.hints.items():
        yield from ((word, Meaning("condition_hint", condition_name)) for word in hints)
    for language in words:
        yield from _language_names(language)


def _language_names(words: CueWords) -> Iterator[tuple[str, Meaning]]:
    yield from ((word, Meaning("sex", "male")) for word in words.sexes.male)
    yield from ((word, Meaning("sex", "female")) for word in words.sexes.female)
    yield from ((word, Meaning("nothing", "")) for word in (*words.sexes.not_sexes, *words.names.not_names))
    for name, verbs in words.names.measured.items():
        yield from ((verb, Meaning("measurement", name)) for verb in verbs)
    for stage, phrases in words.life_stages.items():
        yield from ((phrase, Meaning("life_stage", stage)) for phrase in phrases)


def _shared(values: Iterable[_Shared]) -> list[_Shared]:
    """The values, with one object for all that are equal: those in use stay in the processor's cache."""
    kept: dict[_Shared, _Shared] = {}
    return [kept.setdefault(value, value) for value in values]


def _longest(spans: list[Span]) -> list[Span]:
    """Of spans that overlap the leftmost, and of those the longest; ends come as negative numbers."""
    if not spans:
        return []
    spans.sort()
    kept = []
    done = 0
    for start, negative_end, index in spans:
        if start >= done:
            done = -negative_end
            kept.append((start, done, index))
    return kept


def _with_stops(cues: list[Span], stops: list[Span]) -> list[Span]:
    """Cues, and the stops that are no part of one: 있어 ends a clause also where 이 있 tells a fact."""
    apart = []
    for stop in stops:
        place = bisect_right(cues, (stop[0], _FAR)) - 1  # the last that does not begin after it
        if place < 0 or cues[place][1] < stop[1]:
            apart.append(stop)
    return sorted(cues + apart, key=itemgetter(0)) if apart else cues


def plain(lower: str) -> str:
    """A text in lower case as names are looked for in it, of the same length.

    >>> plain("ldl-c: 130 mg/dl")
    'ldl c  130 mg dl'
    """
    plain_text = _PUNCTUATION.sub(" ", lower)
    return plain_text.replace("_", " ") if "_" in plain_text else plain_text
