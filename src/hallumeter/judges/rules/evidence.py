"""The evidence of a record, prepared once: sentences and values, and where words, numbers, dates and names stand."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from functools import cached_property, lru_cache

from msgspec import Struct

from hallumeter.records import Passage, Quote
from hallumeter.text import sentence_spans
from hallumeter.text.dates import Date, find_dates, touches
from hallumeter.text.names import Name, find_names
from hallumeter.text.quantities import Quantity, find_quantities
from hallumeter.text.terms import Terms, language_of, terms_of

from .json_leaves import Leaf, json_leaves

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
            for key in dict.fromkeys([*sentence.block.keys, *sentence.keys]):
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
    def initials(self) -> frozenset[str]:
        """First letters of names of several words, as in WHO."""
        found = [(self.sentences[each.sentence].block.terms, each.name) for each in self.names]
        return frozenset(
            "".join(word[0] for word in terms.folded[name.first_term : name.last_term + 1]) for terms, name in found
        )

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
    for start, end in sentence_spans(terms.text):
        last = bisect_right(terms.starts, end - 1, first)
        if last > first:
            found.append(Sentence(block, start, end, first, last))
        first = last
    return found
