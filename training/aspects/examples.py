"""Marked sentences as the networks are trained on them: arrays, and batches of sentences of like length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.aspects.readers.english.networks import (
    BEGIN,
    INSIDE,
    LEXICAL,
    ORDER,
    PLACED,
    Numbers,
    PieceTable,
    around,
    lexical_numbers,
    places_around,
)
from hallumeter.aspects.readers.english.reader import Sentence, placed_numbers, sentence_of
from hallumeter.aspects.readers.english.words import wording

from .corpus import Marked

Places = NDArray[np.int64]
RARE = 2
"""Words seen fewer times get no vector of their own."""


class Example(Struct, frozen=True):
    """A sentence, the rows of its words, and its marked terms as words."""

    sentence: Sentence
    rows: Places
    placed: Numbers
    labels: Places
    terms: tuple[tuple[int, int, int], ...]
    """First word, one past the last, place of the polarity in `ORDER`."""


class Lexis(Struct, frozen=True):
    """The words of the training part; row 0 stands beyond the ends of a sentence."""

    vectors: Numbers
    lexical: Numbers
    words: tuple[str, ...]
    """Those that get a vector of their own, rows 1 to their number; the others follow."""


def make_examples(sentences: Sequence[Marked], pieces: PieceTable) -> tuple[list[Example], Lexis]:
    """All sentences, and the table of their words."""
    known = wording()
    read = [sentence_of(marked.text, known) for marked in sentences]
    counts = Counter(word for sentence in read for word in sentence.tokens.words)
    learned = sorted(word for word, count in counts.items() if count >= RARE)
    every = [*learned, *sorted(counts.keys() - set(learned))]
    row_of = {word: row for row, word in enumerate(every, start=1)}
    vectors = np.zeros((len(every) + 1, pieces.vectors.shape[1]), np.float32)
    lexical = np.zeros((len(every) + 1, LEXICAL), np.float32)
    for word, row in row_of.items():
        vectors[row] = pieces.vector(word)
        lexical[row] = lexical_numbers(word, known)
    examples = [_example(marked, sentence, row_of) for marked, sentence in zip(sentences, read, strict=True)]
    return examples, Lexis(vectors, lexical, tuple(learned))


def _example(marked: Marked, sentence: Sentence, row_of: dict[str, int]) -> Example:
    labels = np.zeros(len(sentence.tokens), np.int64)
    terms = []
    for start, end, polarity in marked.terms:
        first, last = sentence.tokens.covering(start, end)
        if first < last and not labels[first:last].any():
            labels[first:last] = INSIDE
            labels[first] = BEGIN
            terms.append((first, last, ORDER.index(polarity)))
    rows = np.array([row_of[word] for word in sentence.tokens.words], np.int64)
    return Example(sentence, rows, placed_numbers(sentence), labels, tuple(terms))


class Batch(Struct, frozen=True):
    """Sentences side by side, filled up at their ends; two rows of nothing before and behind each."""

    rows: Places
    placed: Numbers
    mask: Numbers
    labels: Places
    owners: Places
    """Of each term its sentence in the batch."""
    places: Places
    """Of each term and word the rows of the table of places."""
    near: Numbers
    """Of each term and word whether it is read for it."""
    inside: Numbers
    """Of each term and word its share of the term."""
    polarities: Places


def batches(examples: Sequence[Example], size: int, random: np.random.Generator | None = None) -> Iterator[Batch]:
    """Batches of sentences; shuffled and with some terms hidden from each other where chance is given."""
    order = np.arange(len(examples)) if random is None else random.permutation(len(examples))
    groups = []
    for first in range(0, len(order), size * 20):
        group = sorted(order[first : first + size * 20], key=lambda index: len(examples[index].rows))
        groups += [group[start : start + size] for start in range(0, len(group), size)]
    if random is not None:
        random.shuffle(groups)
    for group in groups:
        yield make_batch([examples[index] for index in group], random)


def make_batch(chosen: Sequence[Example], random: np.random.Generator | None = None) -> Batch:
    """One batch."""
    longest = max(len(example.rows) for example in chosen)
    count = sum(len(example.terms) for example in chosen)
    batch = Batch(
        rows=np.zeros((len(chosen), longest + 4), np.int64),
        placed=np.zeros((len(chosen), longest + 4, PLACED), np.float32),
        mask=np.zeros((len(chosen), longest), np.float32),
        labels=np.zeros((len(chosen), longest), np.int64),
        owners=np.zeros(count, np.int64),
        places=np.zeros((count, 4, longest), np.int64),
        near=np.zeros((count, longest), np.float32),
        inside=np.zeros((count, longest), np.float32),
        polarities=np.zeros(count, np.int64),
    )
    number = 0
    for place, example in enumerate(chosen):
        length = len(example.rows)
        batch.rows[place, 2 : 2 + length] = example.rows
        batch.placed[place, 2 : 2 + length] = example.placed
        batch.mask[place, :length] = 1
        batch.labels[place, :length] = example.labels
        for first, last, polarity in example.terms:
            seen = [t[:2] for t in example.terms if random is None or t[0] == first or random.random() > 0.2]
            places = places_around(around(example.sentence.clauses, seen), first, last)
            low, high = places.low, places.high
            batch.owners[number] = place
            batch.places[number, :, low:high] = places.rows
            batch.near[number, low:high] = 1
            batch.inside[number, first:last] = 1 / (last - first)
            batch.polarities[number] = polarity
            number += 1
    return batch
