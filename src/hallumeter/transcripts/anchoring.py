"""Picarones' vocabulary metrics: is what an engine wrote made of the words and phrases of the page?

Words are lower-cased runs of what is not white space; punctuation stays attached. A word is *unknown* when the
reference does not have it anywhere; an n-gram is *anchored* when the reference has it somewhere. Place and number of
occurrences play no part, so a page repeated three times over is anchored: `page_reading` sees that.

Many pages are measured at once: their words become numbers of one array, and one pass finds all n-grams and blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.errors import SettingsError

Whole = NDArray[np.int64]
Codes = NDArray[np.uint64]
Flags = NDArray[np.bool_]


LENGTH_RATIO_CAP = 9.99
"""The largest length ratio that Picarones writes down and averages; its badge looks at the uncapped one."""
_BYTES_AT_ONCE = 1 << 19
"""Bytes of texts whose words are compared at once: few enough that their arrays stay in the processor's cache."""
_MOST_IN_SETS = 16_000
"""Characters of a page and a response together up to which sets are quicker than arrays."""
_EIGHT = 8
_STEPS = 4
"""Words are compared by so many times eight bytes in arrays, and the few that are longer in a dict."""
_CODE_BITS = 64
"""Codes of n-grams are numbered anew before they could need more bits."""
_TABLE_PLACES = 8
"""Places of a table for each code in it, at least: more make it slower than the few that it then loses."""
_FACTORS = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)))
"""Large odd numbers that spread neighbouring codes over a table; the first is 2**64 divided by the golden ratio."""
_PAIR = np.array([True, False])
"""Which of two texts is the reference."""
_SPREAD = np.uint64(0xA0761D6478BD642F)
_WIDE_SPACES = "\x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
"""White space beyond ASCII, at which str.split() splits."""


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
    return anchored_blocks(reference, response, settings=settings)[0]


def anchored_blocks(
    reference: str, response: str, *, settings: AnchoringSettings = PICARONES
) -> tuple[Anchoring, list[str]]:
    """Measure one response, and give the lower-cased words of each of its blocks, joined by one space."""
    compare = _compared_by_sets if len(reference) + len(response) <= _MOST_IN_SETS else _compared_by_arrays
    found = compare(reference, response, settings.ngram)
    size, unknown = found.response_words, found.unknown
    ngrams = size - settings.ngram + 1 if size >= settings.ngram else min(size, 1)
    score = found.anchored / ngrams if ngrams else float(not found.reference_words)
    on_page, in_response = len(reference.strip()), len(response.strip())
    ratio = in_response / on_page if on_page else (math.inf if in_response else 1.0)
    blocks = _blocks_by(settings, unknown, size) if unknown else []
    measured = Anchoring(
        reference_words=found.reference_words,
        response_words=size,
        unknown_words=len(unknown),
        anchored_ngrams=found.anchored,
        ngrams=ngrams,
        reference_characters=on_page,
        response_characters=in_response,
        net_insertion_rate=len(unknown) / size if size else 0.0,
        anchor_score=score,
        length_ratio=ratio,
        is_hallucinating=score < settings.anchor_limit or ratio > settings.length_ratio_limit,
        blocks=tuple(blocks),
    )
    return measured, [found.text(first, last) for first, last in blocks]


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


class _Compared(NamedTuple):
    """A response beside its page."""

    reference_words: int
    response_words: int
    anchored: int
    unknown: list[int]
    """Places of the words that the page does not have."""
    text: Callable[[int, int], str]
    """The words from one place to another, joined by one space."""


def _compared_by_sets(reference: str, response: str, size: int) -> _Compared:
    words, written = reference.lower().split(), response.lower().split()
    known = set(words)
    unknown = [place for place, word in enumerate(written) if word not in known]
    if min(len(words), len(written)) < size:
        anchored = int(words == written and bool(words))
    else:
        ngrams = set(zip(*(words[step:] for step in range(size)), strict=False))
        shifted = (written[step:] for step in range(size))
        anchored = sum(map(ngrams.__contains__, zip(*shifted, strict=False)))
    return _Compared(
        len(words), len(written), anchored, unknown, lambda first, last: " ".join(written[first : last + 1])
    )


def _compared_by_arrays(reference: str, response: str, size: int) -> _Compared:
    """The same by arrays, which take longer to make and less for each word."""
    words, edges = _words_of([reference, response])
    numbers = _numbered_words(words, edges, _PAIR)
    middle, end = edges[1:].tolist()
    if end - middle < size:
        anchored = int(end > middle and np.array_equal(numbers[:middle], numbers[middle:]))
    else:
        anchored = int((_anchored_places(numbers, edges, _PAIR, size=size) >= middle).sum())

    def text(first: int, last: int) -> str:
        begin, final = words.starts[middle + first], words.starts[middle + last] + words.sizes[middle + last]
        return " ".join(words.joined[begin:final].decode("utf-8", "surrogatepass").split())

    return _Compared(middle, end - middle, anchored, np.flatnonzero(numbers[middle:] == 0).tolist(), text)


def anchor_pages(pages: Iterable[PageTexts], *, settings: AnchoringSettings = PICARONES) -> Iterator[AnchoringColumns]:
    """Measure many pages, each with all its responses, a batch of them at a time.

    Only one batch is held, so memory does not grow with the corpus.
    """
    batch = _Batch(settings)
    for page in pages:
        batch.add(page)
        if batch.size >= _BYTES_AT_ONCE:
            yield batch.measured()
            batch = _Batch(settings)
    if batch.size:
        yield batch.measured()


class _Batch:
    """The texts of some pages, each page's reference before its responses."""

    def __init__(self, settings: AnchoringSettings) -> None:
        self._settings = settings
        self.size = 0
        self._texts: list[str] = []
        self._references: list[int] = []
        """Which text each response was written for; -1 for a reference."""

    def add(self, page: PageTexts) -> None:
        """Take a page and its responses."""
        texts = [page.reference, *page.responses]
        self._references += [-1, *repeat(len(self._texts), len(texts) - 1)]
        self._texts += texts
        self.size += sum(map(len, texts)) + len(texts)

    def measured(self) -> AnchoringColumns:
        """One row per response, in the order in which they were added."""
        size = self._settings.ngram
        lengths = [len(text.strip()) for text in self._texts]
        references, characters = np.array([self._references, lengths], dtype=np.int64)
        responses = np.flatnonzero(references >= 0)
        owners = references[responses]
        words, edges = _words_of(self._texts)
        numbers = _numbered_words(words, edges, references < 0)
        words_of = np.diff(edges)
        starts, ends = edges[:-1][responses], edges[1:][responses]
        sizes = words_of[responses]
        unknown = np.flatnonzero(numbers == 0)
        ngrams = np.where(sizes < size, np.minimum(sizes, 1), sizes - size + 1)
        anchored = _counts_within(_anchored_places(numbers, edges, references < 0, size=size), starts, ends - size + 1)
        for row in np.flatnonzero(sizes < size).tolist():
            # Fewer words than an n-gram are one n-gram, which only a page of the same few words has.
            first, last = edges[owners[row] : owners[row] + 2]
            is_whole_page = np.array_equal(numbers[first:last], numbers[starts[row] : ends[row]])
            anchored[row] = ngrams[row] if is_whole_page else 0
        rows, firsts, lasts = self._blocks(unknown, starts, ends)
        return AnchoringColumns(
            settings=self._settings,
            reference_words=words_of[owners],
            response_words=sizes,
            unknown_words=_counts_within(unknown, starts, ends),
            anchored_ngrams=anchored,
            ngrams=ngrams,
            reference_characters=characters[owners],
            response_characters=characters[responses],
            block_rows=rows,
            block_firsts=firsts - starts[rows],
            block_lasts=lasts - starts[rows],
        )

    def _blocks(self, unknown: Whole, starts: Whole, ends: Whole) -> tuple[Whole, Whole, Whole]:
        """Row, first and last place of each block."""
        rows = np.searchsorted(starts, unknown, side="right") - 1
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
    """How many of the ascending places lie in each stretch; none in one that ends before it begins."""
    counts: Whole = np.maximum(np.searchsorted(places, ends) - np.searchsorted(places, starts), 0)
    return counts


def _anchored_places(numbers: Whole, edges: Whole, are_references: Flags, *, size: int) -> Whole:
    """The places of the n-grams that a reference has; one that runs over the end of its text holds words of two."""
    held = np.where(are_references, np.maximum(np.diff(edges) - size + 1, 0), 0)
    # The place of every n-gram of a reference: none of them runs into the next text.
    wanted = np.repeat(edges[:-1] - (np.cumsum(held) - held), held) + np.arange(held.sum())
    if not len(wanted):
        return wanted
    codes, bits = numbers.view(np.uint64), len(numbers).bit_length()
    held_bits = bits
    for step in range(1, size):
        if held_bits + bits > _CODE_BITS:
            codes, held_bits = _numbered(codes, None, wanted).view(np.uint64), bits
        codes = (codes[:-1] << np.uint64(bits)) | numbers[step:].view(np.uint64)
        held_bits += bits
    return np.flatnonzero(_numbered(codes, None, wanted))


# Words as numbers, without a Python object for any of them: eight bytes of a word are one number of an array.


class _Words(NamedTuple):
    """Where the words of some texts stand in their bytes."""

    joined: bytes
    eights: Codes
    """The eight bytes from every place on."""
    starts: Whole
    sizes: Whole


def _lower_bytes(text: str) -> bytes:
    """The lower-cased text in UTF-8, with white space of one byte only."""
    lower = text.lower()
    if not lower.isascii():
        for space in _WIDE_SPACES:
            if space in lower:
                lower = lower.replace(space, " ")
    return lower.encode("utf-8", "surrogatepass")


def _in_bytes(texts: list[str]) -> tuple[bytes, list[int]]:
    """All texts in lower case, each behind a line feed, and how many bytes each has."""
    whole = "\n".join(["", *texts, ""])
    if whole.isascii():
        return whole.lower().encode(), list(map(len, texts))
    found = [_lower_bytes(text) for text in texts]
    return b"\n".join([b"", *found, b""]), list(map(len, found))


def _words_of(texts: list[str]) -> tuple[_Words, Whole]:
    """The words of all texts in turn, and at which of them each text begins, then their number."""
    whole, lengths = _in_bytes(texts)
    joined = whole + bytes(_EIGHT)
    letters = np.frombuffer(joined, np.uint8, len(joined) - _EIGHT)
    # What str.split() splits at: from tab to carriage return, and from the file separator to the space.
    spaces = np.flatnonzero((letters - 9 <= 13 - 9) | (letters - 28 <= 32 - 28))
    starts, sizes = spaces[:-1] + 1, np.diff(spaces) - 1
    if not sizes.all():
        is_word = sizes > 0
        starts, sizes = starts[is_word], sizes[is_word]
    begins = np.cumsum([0, *(length + 1 for length in lengths)])
    eights: Codes = np.ndarray(len(joined) - _EIGHT + 1, dtype="<u8", buffer=joined, strides=(1,))
    return _Words(joined, eights, starts, sizes), np.searchsorted(starts, begins)


def _numbered_words(words: _Words, edges: Whole, are_references: Flags) -> Whole:
    """For each word the place, from 1, of the same word of its page's reference; 0 when that does not have it.

    Eight bytes of the words are compared at a time, then by the number of what came before them.
    """
    counts = np.diff(edges)
    owners = np.repeat(np.cumsum(are_references, dtype=np.int64), counts)
    is_wanted = np.repeat(are_references, counts)
    numbers = _numbered(*_eight_bytes(words, owners, step=0), np.flatnonzero(is_wanted))
    longer = np.flatnonzero((words.sizes > _EIGHT) & (numbers > 0))
    for step in range(1, _STEPS):
        if not len(longer):
            return numbers
        some = _Words(words.joined, words.eights, words.starts[longer], words.sizes[longer])
        codes, sizes = _eight_bytes(some, numbers[longer], step=step)
        found = _numbered(codes, sizes, np.flatnonzero(is_wanted[longer]))
        numbers[longer] = np.where(found > 0, longer[found - 1] + 1, 0)
        longer = longer[(some.sizes > _EIGHT * (step + 1)) & (found > 0)]
    known: dict[tuple[int, bytes], int] = {}
    for place in longer.tolist():
        start = int(words.starts[place])
        word = int(numbers[place]), words.joined[start : start + int(words.sizes[place])]
        numbers[place] = known.setdefault(word, place + 1) if is_wanted[place] else known.get(word, 0)
    return numbers


def _eight_bytes(words: _Words, owners: Whole, *, step: int) -> tuple[Codes, Whole]:
    """Eight bytes of each word, or what is left of it, and who owns it and how much is left, as one number."""
    left = np.minimum(words.sizes - _EIGHT * step, _EIGHT + 1)
    # What follows the word is shifted out.
    shifts = (np.maximum(_EIGHT - left, 0) << 3).astype(np.uint64)
    return words.eights[words.starts + _EIGHT * step] << shifts, (owners << 4) | left


def _numbered(codes: Codes, owners: Whole | None, wanted: Whole, *, depth: int = 0) -> Whole:
    """For each code of its owner the place, from 1, of the same one among those at the wanted places; 0 if none is.

    A table has one place for all codes with the same hash, and the last one written there. What it lost is looked
    up once more in another table, so that nothing depends on the hash but the time.
    """
    if not len(wanted):
        return np.zeros(len(codes), dtype=np.int64)
    if depth == len(_FACTORS):
        return _numbered_by_dict(codes, owners, wanted)
    bits = (_TABLE_PLACES * len(wanted)).bit_length()
    mixed = codes if owners is None else codes + owners.view(np.uint64) * _SPREAD
    slots = ((mixed * _FACTORS[depth]) >> np.uint64(64 - bits)).view(np.int64)
    table = np.full(1 << bits, -1)
    table[slots.take(wanted)] = wanted
    places: Whole = table.take(slots)
    # Where nobody took the place, -1 stands in it, and what is compared with the last code is thrown away.
    is_same = codes.take(places, mode="wrap") == codes
    if owners is not None:
        is_same &= owners.take(places, mode="wrap") == owners
    is_same &= places >= 0
    places += 1
    lost = wanted[~is_same.take(wanted)]
    if len(lost):
        rest = np.flatnonzero(~is_same & (places > 0))
        own = None if owners is None else owners.take(rest)
        found = _numbered(codes.take(rest), own, np.searchsorted(rest, lost), depth=depth + 1)
        places[rest] = np.where(found > 0, rest.take(found - 1, mode="wrap") + 1, 0)
        is_same[rest] = True
    places *= is_same
    return places


def _numbered_by_dict(codes: Codes, owners: Whole | None, wanted: Whole) -> Whole:
    """The same for the few codes that share their places with others in every table, or were made to."""
    held = repeat(0) if owners is None else owners.tolist()
    pairs = list(zip(codes.tolist(), held, strict=False))
    known: dict[tuple[int, int], int] = {}
    for place in wanted.tolist():
        known.setdefault(pairs[place], place + 1)
    return np.array([known.get(pair, 0) for pair in pairs], dtype=np.int64)
