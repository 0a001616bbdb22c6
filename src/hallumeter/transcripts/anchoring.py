"""Picarones' vocabulary metrics: is what an engine wrote made of the words and phrases of the page?

Words are lower-cased runs of what is not white space; punctuation stays attached. A word is *unknown* when the
reference does not have it anywhere; an n-gram is *anchored* when the reference has it somewhere. Place and number of
occurrences play no part, so a page repeated three times over is anchored: `page_reading` sees that.

Many pages are measured at once: their words become numbers of one array, and one pass finds all n-grams and blocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, repeat
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.errors import SettingsError

Whole = NDArray[np.int64]


LENGTH_RATIO_CAP = 9.99
"""The largest length ratio that Picarones writes down and averages; its badge looks at the uncapped one."""
_WORDS_AT_ONCE = 1 << 14
"""Words numbered in one array: few enough that it stays in the processor's cache."""
_MOST_WORDS_IN_SETS = 1_500
"""Words of a page and a response together up to which sets are quicker than arrays."""
_CODE_BITS = 62
"""Codes of n-grams are made smaller before they could need more bits."""
_TABLE_PLACES = 2
"""Places of the table of n-grams for each n-gram, at least: more make it slower than the few that it then loses."""
_FACTOR = np.int64(-7046029254386353131)
"""2**64 divided by the golden ratio, which spreads neighbouring codes over a table."""


class AnchoringSettings(Struct, frozen=True):
    """The parameters of Picarones' metrics; its own values are the defaults."""

    ngram: int = 3
    length_ratio_limit: float = 1.2
    """A longer response is badged."""
    anchor_limit: float = 0.5
    """A response with a lower anchor score is badged."""
    block_tolerance: int = 3
    """So many known words in a row end a block; 0 is taken as 1."""
    shortest_block: int = 4

    def __post_init__(self) -> None:
        if self.ngram < 1:
            raise SettingsError(f"n-grams of {self.ngram} words; expected at least 1")


PICARONES = AnchoringSettings()


class PageTexts(NamedTuple):
    """A page and what one engine or several wrote for it."""

    reference: str
    responses: Sequence[str]


class Block(NamedTuple):
    """A stretch of a response whose words the page does not have, by the places of its first and its last word."""

    first: int
    last: int


class Anchoring(Struct, frozen=True):
    """What the vocabulary says of one response."""

    reference_words: int
    response_words: int
    unknown_words: int
    anchored_ngrams: int
    ngrams: int
    reference_characters: int
    response_characters: int
    net_insertion_rate: float
    anchor_score: float
    length_ratio: float
    """Uncapped: infinite for text on an empty page."""
    is_hallucinating: bool
    blocks: tuple[Block, ...]


class AnchoringColumns(Struct, frozen=True, eq=False):
    """What the vocabulary says of many responses: one row each, in the order of the pages and their responses."""

    settings: AnchoringSettings
    reference_words: Whole
    response_words: Whole
    unknown_words: Whole
    anchored_ngrams: Whole
    ngrams: Whole
    reference_characters: Whole
    """Of the text without white space around it, as all lengths here."""
    response_characters: Whole
    block_rows: Whole
    """Which row each block belongs to, ascending; then the places of its first and its last word."""
    block_firsts: Whole
    block_lasts: Whole

    def __len__(self) -> int:
        return len(self.response_words)

    @property
    def net_insertion_rates(self) -> NDArray[np.float64]:
        """Unknown words over words of the response; 0 for an empty response."""
        return self.unknown_words / np.maximum(self.response_words, 1)

    @property
    def anchor_scores(self) -> NDArray[np.float64]:
        """Anchored n-grams over n-grams of the response; of an empty response 1 if the page is empty too, else 0."""
        scores = self.anchored_ngrams / np.maximum(self.ngrams, 1)
        scores[(self.ngrams == 0) & (self.reference_words == 0)] = 1.0
        return scores

    @property
    def length_ratios(self) -> NDArray[np.float64]:
        """Characters of the response over characters of the reference; infinite for text on an empty page."""
        ratios = self.response_characters / np.maximum(self.reference_characters, 1)
        is_empty_page = self.reference_characters == 0
        ratios[is_empty_page] = np.where(self.response_characters[is_empty_page] == 0, 1.0, np.inf)
        return ratios

    @property
    def are_hallucinating(self) -> NDArray[np.bool_]:
        """Picarones' badge. It is on for an empty response to a page with text, whose anchor score is 0."""
        limits = self.settings
        return (self.anchor_scores < limits.anchor_limit) | (self.length_ratios > limits.length_ratio_limit)

    def rows(self) -> Iterator[Anchoring]:
        """One record per response."""
        blocks: list[list[Block]] = [[] for _ in range(len(self))]
        for owner, first, last in zip(
            self.block_rows.tolist(), self.block_firsts.tolist(), self.block_lasts.tolist(), strict=True
        ):
            blocks[owner].append(Block(first, last))
        columns = (
            self.reference_words,
            self.response_words,
            self.unknown_words,
            self.anchored_ngrams,
            self.ngrams,
            self.reference_characters,
            self.response_characters,
            self.net_insertion_rates,
            self.anchor_scores,
            self.length_ratios,
            self.are_hallucinating,
        )
        for row in zip(*(column.tolist() for column in columns), map(tuple, blocks), strict=True):
            yield Anchoring(*row)


def anchoring(reference: str, response: str, *, settings: AnchoringSettings = PICARONES) -> Anchoring:
    """Measure one response.

    >>> found = anchoring("a b c d e f", "a x b c y d e f")
    >>> found.net_insertion_rate, found.blocks
    (0.25, (Block(first=1, last=4),))
    """
    characters = len(reference.strip()), len(response.strip())
    return anchored_words(lower_words(reference), lower_words(response), characters, settings=settings)


def lower_words(text: str) -> list[str]:
    """Lower-cased runs of what is not white space."""
    return text.lower().split()


def anchored_words(
    words: list[str], written: list[str], characters: tuple[int, int], *, settings: AnchoringSettings = PICARONES
) -> Anchoring:
    """Measure one response by its words, those of its page, and how many characters both have."""
    compare = _compared_by_arrays if len(words) + len(written) > _MOST_WORDS_IN_SETS else _compared_by_sets
    anchored, unknown = compare(words, written, settings.ngram)
    size = len(written)
    ngrams = size - settings.ngram + 1 if size >= settings.ngram else min(size, 1)
    score = anchored / ngrams if ngrams else float(not words)
    on_page, in_response = characters
    ratio = in_response / on_page if on_page else (math.inf if in_response else 1.0)
    return Anchoring(
        reference_words=len(words),
        response_words=size,
        unknown_words=len(unknown),
        anchored_ngrams=anchored,
        ngrams=ngrams,
        reference_characters=on_page,
        response_characters=in_response,
        net_insertion_rate=len(unknown) / size if size else 0.0,
        anchor_score=score,
        length_ratio=ratio,
        is_hallucinating=score < settings.anchor_limit or ratio > settings.length_ratio_limit,
        blocks=tuple(_blocks_by(settings, unknown, size)) if unknown else (),
    )


def _blocks_by(settings: AnchoringSettings, unknown: Sequence[int], words: int) -> list[Block]:
    return blocks_of(unknown, words, tolerance=settings.block_tolerance, shortest=settings.shortest_block)


def blocks_of(unknown: Sequence[int], words: int, *, tolerance: int, shortest: int) -> list[Block]:
    """The blocks that unknown words make, by their ascending places among so many words."""
    tolerance = max(tolerance, 1)
    blocks = []
    first = last = unknown[0]
    for place in unknown:
        if place - last > tolerance:
            if last - first + 1 >= shortest:
                blocks.append(Block(first, last))
            first = place
        last = place
    # A block that is still open at the end of the text takes the known words behind it along.
    if words - 1 - last < tolerance:
        last = words - 1
    if last - first + 1 >= shortest:
        blocks.append(Block(first, last))
    return blocks


def _compared_by_sets(words: list[str], written: list[str], size: int) -> tuple[int, list[int]]:
    """How many n-grams of a response its page has, and the places of the words that it does not have."""
    known = set(words)
    unknown = [place for place, word in enumerate(written) if word not in known]
    if min(len(words), len(written)) < size:
        return int(words == written and bool(words)), unknown
    ngrams = set(zip(*(words[step:] for step in range(size)), strict=False))
    shifted = (written[step:] for step in range(size))
    return sum(map(ngrams.__contains__, zip(*shifted, strict=False))), unknown


def _compared_by_arrays(words: list[str], written: list[str], size: int) -> tuple[int, list[int]]:
    """The same by arrays, which take longer to make and less for each word."""
    known: dict[str, int] = {}
    on_page = np.fromiter(map(known.setdefault, words, count(1)), np.int64, len(words))
    numbers = np.fromiter(map(known.get, written, repeat(0)), np.int64, len(written))
    unknown = np.flatnonzero(numbers == 0).tolist()
    if min(len(words), len(written)) < size:
        return int(words == written), unknown
    base = len(words) + 1
    if base.bit_length() * size > _CODE_BITS:
        every = np.concatenate([on_page, [0], numbers])
        are_among = _are_among(every, np.arange(len(words) - size + 1), size=size, base=base)
        return int(are_among[len(words) + 1 :].sum()), unknown
    codes, wanted = numbers, on_page
    for step in range(1, size):
        codes, wanted = codes[:-1] * base + numbers[step:], wanted[:-1] * base + on_page[step:]
    return int(_are_in(codes, wanted).sum()), unknown


def anchor_pages(pages: Iterable[PageTexts], *, settings: AnchoringSettings = PICARONES) -> Iterator[AnchoringColumns]:
    """Measure many pages, each with all its responses, a batch of them at a time.

    Only one batch is held, so memory does not grow with the corpus.
    """
    batch = _Batch(settings)
    for page in pages:
        batch.add(page)
        if batch.size >= _WORDS_AT_ONCE:
            yield batch.measured()
            batch = _Batch(settings)
    if batch.size:
        yield batch.measured()


class _Batch:
    """The words of some pages as numbers: 0 for an unknown word and after each text, else one per page and word."""

    def __init__(self, settings: AnchoringSettings) -> None:
        self._settings = settings
        self.size = 0
        self._numbers: list[Whole] = []
        self._next = 1
        self._references: list[tuple[int, int]] = []
        """Place of the first word, and how many words; the responses have the characters of both texts as well."""
        self._responses: list[tuple[int, int, int, int, int]] = []
        self._short: dict[int, bool] = {}
        """Responses with fewer words than an n-gram: whether they are the whole, equally short, page."""

    def add(self, page: PageTexts) -> None:
        """Number the words of a page and of its responses."""
        words = lower_words(page.reference)
        known: dict[str, int] = {}
        size = len(words) + 1
        # Taken in turn: the page's words have their numbers before those of a response are looked up.
        numbers: list[Iterable[int]] = [map(known.setdefault, words, count(self._next)), (0,)]
        self._next += len(words)
        self._references.append((self.size, len(words)))
        characters = len(page.reference.strip())
        for response in page.responses:
            written = lower_words(response)
            if len(written) < self._settings.ngram:
                self._short[len(self._responses)] = written == words
            self._responses.append((self.size + size, len(written), len(words), characters, len(response.strip())))
            numbers += [map(known.get, written, repeat(0)), (0,)]
            size += len(written) + 1
        self._numbers.append(np.fromiter(chain.from_iterable(numbers), np.int64, size))
        self.size += size

    def measured(self) -> AnchoringColumns:
        """One row per response, in the order in which they were added."""
        numbers = np.concatenate(self._numbers)
        table = np.array(self._responses, dtype=np.int64).reshape(-1, 5)
        starts, sizes, reference_words, reference_characters, characters = np.ascontiguousarray(table.T)
        ends = starts + sizes
        unknown = np.flatnonzero(numbers == 0)
        anchored = self._anchored(numbers, starts, ends)
        ngrams = np.where(sizes < self._settings.ngram, np.minimum(sizes, 1), sizes - self._settings.ngram + 1)
        for row, is_whole_page in self._short.items():
            anchored[row] = ngrams[row] if is_whole_page else 0
        owners, firsts, lasts = self._blocks(unknown, starts, ends)
        return AnchoringColumns(
            settings=self._settings,
            reference_words=reference_words,
            response_words=sizes,
            unknown_words=_counts_within(unknown, starts, ends),
            anchored_ngrams=anchored,
            ngrams=ngrams,
            reference_characters=reference_characters,
            response_characters=characters,
            block_rows=owners,
            block_firsts=firsts - starts[owners],
            block_lasts=lasts - starts[owners],
        )

    def _anchored(self, numbers: Whole, starts: Whole, ends: Whole) -> Whole:
        """How many n-grams of each response its page has."""
        size = self._settings.ngram
        places, words = np.array(self._references, dtype=np.int64).T
        held = np.maximum(words - size + 1, 0)
        # The place of every n-gram of a reference: none of them runs into the next text.
        places = np.repeat(places - (np.cumsum(held) - held), held) + np.arange(held.sum())
        if not len(places):
            return np.zeros(len(starts), dtype=np.int64)
        is_anchored = _are_among(numbers, places, size=size, base=self._next)
        # An n-gram that runs over the end of its text holds the 0 there, which no reference has.
        return _counts_within(np.flatnonzero(is_anchored), starts, ends)

    def _blocks(self, unknown: Whole, starts: Whole, ends: Whole) -> tuple[Whole, Whole, Whole]:
        """Row, first and last place of each block."""
        rows = np.searchsorted(starts, unknown, side="right") - 1
        is_word = (rows >= 0) & (unknown < ends[rows]) if len(starts) else np.zeros(len(unknown), dtype=bool)
        unknown, rows = unknown[is_word], rows[is_word]
        tolerance = max(1, self._settings.block_tolerance)
        opens = np.ones(len(unknown), dtype=bool)
        opens[1:] = (np.diff(unknown) > tolerance) | (np.diff(rows) != 0)
        opening = np.flatnonzero(opens)
        firsts, owners = unknown[opening], rows[opening]
        lasts = unknown[np.append(opening[1:], len(unknown))[: len(opening)] - 1]
        # A block that is still open at the end of the text takes the known words behind it along.
        text_lasts = ends[owners] - 1
        lasts = np.where(text_lasts - lasts < tolerance, text_lasts, lasts)
        is_kept = lasts - firsts + 1 >= self._settings.shortest_block
        return owners[is_kept], firsts[is_kept], lasts[is_kept]


def _counts_within(places: Whole, starts: Whole, ends: Whole) -> Whole:
    """How many of the ascending places lie in each stretch."""
    return np.asarray(np.searchsorted(places, ends) - np.searchsorted(places, starts))


def _are_among(numbers: Whole, places: Whole, *, size: int, base: int) -> NDArray[np.bool_]:
    """Whether the n-gram at each place equals one of those at the given places, none of which holds a 0."""
    codes, largest = numbers, base - 1
    for step in range(1, size):
        if largest >= (1 << _CODE_BITS) // base:
            codes, largest = _renumbered(codes, places)
        codes = codes[:-1] * base + numbers[step:]
        largest = largest * base + base - 1
    return _are_in(codes, codes[places])


def _renumbered(codes: Whole, places: Whole) -> tuple[Whole, int]:
    """Small codes, from 1, for what stands at the given places; 0 for all that stands nowhere among them."""
    wanted = np.sort(codes[places])
    nearest = np.searchsorted(wanted[:-1], codes)
    return np.where(wanted[nearest] == codes, nearest + 1, 0), len(wanted)


def _are_in(codes: Whole, wanted: Whole) -> NDArray[np.bool_]:
    """Whether each code is one of those wanted, all of which are positive.

    A table has one place for all codes with the same hash, and the last one written there. What it lost is looked up
    once more by itself, so that nothing depends on the hash but the time.
    """
    bits = (_TABLE_PLACES * len(wanted)).bit_length()
    shift = np.uint64(64 - bits)
    table = np.zeros(1 << bits, dtype=np.int64)
    wanted_places = ((wanted * _FACTOR).view(np.uint64) >> shift).view(np.int64)
    table[wanted_places] = wanted
    found = table[((codes * _FACTOR).view(np.uint64) >> shift).view(np.int64)]
    are_in: NDArray[np.bool_] = (found == codes) & (codes != 0)
    lost = wanted[table[wanted_places] != wanted]
    if len(lost):
        doubtful = np.flatnonzero((found != codes) & (found != 0))
        held = set(lost.tolist())
        are_in[doubtful] = [code in held for code in codes[doubtful].tolist()]
    return are_in
