"""The evidence of a record, prepared once: sentences and values, and where words, numbers, dates and names stand."""

from __future__ import annotations

import ast
import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable
from functools import cached_property, lru_cache

import msgspec
from msgspec import Struct

from hallumeter.records.response import Passage, Quote
from hallumeter.text.dates import Date, find_dates, touches
from hallumeter.text.names import Name, find_names
from hallumeter.text.quantities import Quantity, find_quantities
from hallumeter.text.sentences import sentence_spans
from hallumeter.text.terms import Terms, language_of, terms_of

from .turns import utterances_of

# The values of a JSON text, or of the same as Python prints it, with their keys and their places in it.

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_PYTHON_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"']+""")
_PYTHON_BEGIN = re.compile(r"""\s*[\[{]+\s*(?:'|"[^"]*"\s*:|\d)""")
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|.)")
LABELS = frozenset({"name", "label", "title", "category", "key", "property"})
"""Keys whose values name what stands beside them."""
_PLAIN = frozenset({"value", "val", "text", "amount"})
_LONGEST_LABEL = 6
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_|-")


Value = str | int | float | bool | None


class Leaf(Struct, frozen=True):
    """One value that is neither an object nor an array."""

    path: tuple[str, ...]
    """Keys from the outside in, in words: "BusinessParking" is "Business Parking"."""
    start: int
    """Where the value begins in the passage, inside its quotation marks."""
    end: int
    text: str
    """The value as text."""
    value: Value
    places: tuple[int, ...] = ()
    """Where each character of the text stands in the passage, when escapes make that uneven; with the end."""


def json_leaves(text: str) -> list[Leaf] | None:
    """All values of a JSON object or array in the order of the text; None when the text is nothing of the kind.

    What Python prints of a dictionary or a list is read as well: people often have their records in that form.
    A short value of a key such as "name" also names the values that follow it in the same object.

    >>> [(leaf.path, leaf.text, leaf.start) for leaf in json_leaves('{"goodFor": {"kids": true}, "stars": [4.5]}')]
    [(('good For', 'kids'), 'true', 21), (('stars',), '4.5', 38)]
    >>> [leaf.path for leaf in json_leaves('[{"name": "Weight", "value": "221 g"}]')]
    [('name',), ('Weight',)]
    >>> [(leaf.path, leaf.value) for leaf in json_leaves("{'open': True, 'WiFi': None}")]
    [(('open',), True), (('Wi Fi',), None)]
    """
    if not text.lstrip().startswith(("{", "[")):
        return None
    notation = _notation(text)
    if notation is None:
        return None
    leaves: list[Leaf] = []
    levels: list[_Level] = []
    tokens = list(notation.token.finditer(text))
    for place, token in enumerate(tokens):
        written = token.group()
        if written in "{[":
            levels.append(_Level())
        elif written in "}]":
            levels.pop()
        elif written not in ":,":
            if place + 1 < len(tokens) and tokens[place + 1].group() == ":":
                levels[-1].key = _CAMEL.sub(" ", str(notation.value(written)))
            else:
                leaves.append(_leaf(_path(levels), token, notation.value(written)))
                _keep_label(levels[-1], leaves[-1])
    return leaves


class _Notation(Struct, frozen=True):
    """A way in which records are written."""

    token: re.Pattern[str]
    value: Callable[[str], Value]


def _notation(text: str) -> _Notation | None:
    """How a text is written: JSON, or a dictionary or list as Python prints it; None when it is neither."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):  # the last: nested too deeply
        return _Notation(_PYTHON_TOKEN, _python_value) if _is_python(text) else None
    return _Notation(_TOKEN, msgspec.json.decode)


def _is_python(text: str) -> bool:
    if _PYTHON_BEGIN.match(text) is None:
        return False
    try:
        return isinstance(ast.literal_eval(text.strip()), dict | list)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return False


def _python_value(written: str) -> Value:
    try:
        value: Value = ast.literal_eval(written)
    except (SyntaxError, ValueError):  # a part of a tuple, or of a number with a sign apart
        return written
    return value if isinstance(value, Value) else written


class _Level(Struct):
    """An object or array that is open: its current key, and what names it."""

    key: str = ""
    label: str = ""


def _keep_label(level: _Level, leaf: Leaf) -> None:
    is_label = level.key.lower() in LABELS and isinstance(leaf.value, str)
    if is_label and 0 < len(leaf.text.split()) <= _LONGEST_LABEL:
        level.label = leaf.text


def _path(levels: list[_Level]) -> tuple[str, ...]:
    path: list[str] = []
    for depth, level in enumerate(levels):
        is_plain = bool(level.label) and level.key.lower() in _PLAIN
        label = level.label if depth or is_plain else ""  # the name of the whole names no part of it
        path += [part for part in (label, "" if is_plain else level.key) if part]
    return tuple(path)


def _leaf(path: tuple[str, ...], token: re.Match[str], value: Value) -> Leaf:
    written = token.group()
    start, end = token.span()
    if not isinstance(value, str) or written[0] not in "'\"":
        return Leaf(path, start, end, written, value)
    if "\\" not in written:
        return Leaf(path, start + 1, end - 1, value, value)
    return Leaf(path, start + 1, end - 1, value, value, _places(written, start))


def _places(written: str, start: int) -> tuple[int, ...]:
    """Where each decoded character of a string with escapes stands, and where the string ends."""
    places: list[int] = []
    place = 1
    while place < len(written) - 1:
        escape = _ESCAPE.match(written, place)
        places.append(start + place)
        end = escape.end() if escape is not None else place + 1
        is_pair = escape is not None and escape.group()[2:4].lower() in {"d8", "d9", "da", "db"}
        place = end + 6 if is_pair else end
    return (*places, start + len(written) - 1)


# A few, for answers of several models to one question that come one after the other; each may be large.
_REMEMBERED = 8


class Block(Struct, frozen=True):
    """A text of its own: a passage, or one value of a JSON passage."""

    passage: Passage
    terms: Terms
    language: str
    keys: tuple[str, ...] = ()
    """Keys of the words of the path to a JSON value."""
    leaf: Leaf | None = None

    def quote(self, start: int, end: int) -> Quote:
        """A part of the block's text as a place in the passage."""
        if self.leaf is not None:
            places = self.leaf.places
            start, end = (places[start], places[end]) if places else (self.leaf.start + start, self.leaf.start + end)
        return Quote(self.passage.evidence_id, start, end, self.passage.text[start:end])


class Sentence(Struct, frozen=True):
    """A sentence of a block, or a whole JSON value."""

    block: Block
    start: int
    end: int
    first: int
    """Number of its first term in the block."""
    last: int
    """One past its last term."""
    speaker: str = ""
    """Who says it, in a dialogue."""

    def quote(self) -> Quote:
        """The whole sentence as a place in the passage."""
        return self.block.quote(self.start, self.end)

    @property
    def keys(self) -> list[str]:
        """Keys of its terms in order, the empty ones too."""
        return self.block.terms.keys[self.first : self.last]


class PlacedQuantity(Struct, frozen=True):
    """A number of the evidence and its sentence."""

    quantity: Quantity
    sentence: int
    is_in_date: bool = False


class PlacedDate(Struct, frozen=True):
    """A date of the evidence and its sentence."""

    date: Date
    sentence: int


class PlacedName(Struct, frozen=True):
    """A name of the evidence and its sentence."""

    name: Name
    sentence: int


class Evidence:
    """All passages of a record, ready to be searched. Nothing is cut, whatever the length."""

    def __init__(self, passages: tuple[Passage, ...]) -> None:
        self.blocks: list[Block] = [block for passage in passages for block in _blocks(passage)]
        self.sentences: list[Sentence] = []
        self._first_sentence: list[int] = []
        for block in self.blocks:
            self._first_sentence.append(len(self.sentences))
            self.sentences += _sentences(block)
        self._starts = [sentence.start for sentence in self.sentences]
        self.postings: dict[str, list[int]] = {}
        for number, sentence in enumerate(self.sentences):
            said_by = terms_of(sentence.speaker).keys if sentence.speaker else []
            for key in dict.fromkeys([*sentence.block.keys, *sentence.keys, *said_by]):
                if key:
                    self.postings.setdefault(key, []).append(number)
        count = len(self.sentences)
        self.weights = {key: math.log1p(count / len(numbers)) for key, numbers in self.postings.items()}
        self.weight_of_unknown = math.log1p(max(1, count))

    @cached_property
    def leaf_counts(self) -> Counter[tuple[str, ...]]:
        """How many JSON values have the same path: only where there is one is it clear what it speaks of."""
        return Counter(block.leaf.path for block in self.blocks if block.leaf is not None)

    @cached_property
    def words(self) -> frozenset[str]:
        """All folded words."""
        return frozenset(word for block in self.blocks for word in block.terms.folded)

    @cached_property
    def syllable_pairs(self) -> frozenset[str]:
        """Pairs of neighbouring Hangul syllables, for compounds that are written apart or together."""
        keys = [key for key in self.postings if "가" <= key[0] <= "힣"]
        return frozenset(key[place : place + 2] for key in keys for place in range(len(key) - 1))

    @cached_property
    def dates(self) -> list[PlacedDate]:
        """Dates and times of all blocks."""
        return [
            PlacedDate(date, self._sentence_at(number, date.start))
            for number, block in enumerate(self.blocks)
            for date in find_dates(block.terms)
        ]

    @cached_property
    def quantities(self) -> list[PlacedQuantity]:
        """Numbers of all blocks, those in dates too."""
        found = []
        for number, block in enumerate(self.blocks):
            spans = [(date.start, date.end) for date in find_dates(block.terms)]
            for quantity in find_quantities(block.terms, language=block.language):
                is_in_date = touches(spans, quantity.start, quantity.end)
                found.append(PlacedQuantity(quantity, self._sentence_at(number, quantity.start), is_in_date))
        return found

    @cached_property
    def names(self) -> list[PlacedName]:
        """Names of all blocks."""
        return [
            PlacedName(name, self._sentence_at(number, name.start))
            for number, block in enumerate(self.blocks)
            for name in find_names(block.terms)
        ]

    @cached_property
    def names_by_sentence(self) -> dict[int, list[Name]]:
        """Names of each sentence that has any."""
        found: dict[int, list[Name]] = {}
        for each in self.names:
            found.setdefault(each.sentence, []).append(each.name)
        return found

    @cached_property
    def initials(self) -> frozenset[str]:
        """First letters of names of several words, as in WHO."""
        found = [(self.sentences[each.sentence].block.terms, each.name) for each in self.names]
        return frozenset(
            "".join(word[0] for word in terms.folded[name.first_term : name.last_term + 1]) for terms, name in found
        )

    @cached_property
    def word_initials(self) -> frozenset[str]:
        """First letters of three to five words in a row that say something, as OMS of "organisation mondiale …"."""
        found: set[str] = set()
        for block in self.blocks:
            pairs = zip(block.terms.folded, block.terms.keys, strict=True)
            letters = "".join(word[0] for word, key in pairs if key)
            found.update(letters[place : place + size] for place in range(len(letters)) for size in (3, 4, 5))
        return frozenset(found)

    @cached_property
    def capitals(self) -> dict[str, frozenset[str]]:
        """Folded words with a capital, by their first letter and by their first four letters."""
        found: dict[str, set[str]] = {}
        for block in self.blocks:
            terms = block.terms
            for start, word in zip(terms.starts, terms.folded, strict=True):
                if terms.text[start].isupper() and len(word) > 3:
                    found.setdefault(word[:1], set()).add(word)
                    found.setdefault(word[:4], set()).add(word)
        return {letters: frozenset(words) for letters, words in found.items()}

    @cached_property
    def glued(self) -> frozenset[str]:
        """Two and three words in a row as one, for names that are written apart there."""
        return frozenset(
            "".join(block.terms.folded[place : place + size])
            for block in self.blocks
            for place in range(len(block.terms))
            for size in (2, 3)
        )

    def has(self, key: str, sentence: int) -> bool:
        """Whether a sentence has a word of this key."""
        numbers = self.postings.get(key, [])
        place = bisect_left(numbers, sentence)
        return place < len(numbers) and numbers[place] == sentence

    def _sentence_at(self, block: int, place: int) -> int:
        first = self._first_sentence[block]
        last = self._first_sentence[block + 1] if block + 1 < len(self.blocks) else len(self.sentences)
        return max(first, bisect_right(self._starts, place, first, last) - 1)


@lru_cache(maxsize=_REMEMBERED)
def prepared_evidence(passages: tuple[Passage, ...]) -> Evidence:
    """The evidence, prepared; the same passages are prepared once."""
    return Evidence(passages)


def _blocks(passage: Passage) -> list[Block]:
    leaves = json_leaves(passage.text)
    if leaves is None:
        terms = terms_of(passage.text)
        return [Block(passage, terms, language_of(terms))] if len(terms) else []
    blocks = []
    for leaf in leaves:
        terms = terms_of(leaf.text)
        # "WiFi" is looked for as one word and as two.
        words = [word for part in leaf.path for word in (part, part.replace(" ", ""))]
        keys = tuple(dict.fromkeys(key for word in words for key in terms_of(word).keys if key))
        blocks.append(Block(passage, terms, language_of(terms), keys, leaf))
    return blocks


def _sentences(block: Block) -> list[Sentence]:
    terms = block.terms
    if block.leaf is not None and len(terms) < 12:
        return [Sentence(block, 0, len(terms.text), 0, len(terms))]
    found = []
    first = 0
    # "I" and "my" are the speaker's, and a short answer says nothing without its question.
    said = utterances_of(terms.text) if block.leaf is None else []
    spans = [(each.start, each.end, each.speaker) for each in said]
    for start, end, speaker in spans or [(*span, "") for span in sentence_spans(terms.text)]:
        last = bisect_right(terms.starts, end - 1, first)
        if last > first:
            found.append(Sentence(block, start, end, first, last, speaker))
        first = last
    return found
