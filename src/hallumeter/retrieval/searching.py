"""A folder or file of texts in which evidence is looked up, by words and by meaning."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from hallumeter.errors import InputError, SettingsError
from hallumeter.records import Passage

from .documents import KNOWN_SUFFIXES, Skipped, digest_of, list_files, read_documents
from .index import Index, build_index, open_index, words_name
from .passages import PASSAGE_WORDS, cut
from .tokens import tokens_of
from .vectors import encode, encoder_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from .documents import BaseFile
    from .passages import CutPassage

INDEXES = "indexes"
"""The folder, inside of that of the cache, in which indexes are kept."""
INDEX_VERSION = 1
"""Raised whenever passages, words or vectors are made in another way: older indexes are then left alone."""
CANDIDATES = 50
"""How many passages the words and the vectors each propose."""
RANK_OFFSET = 10
WORDS_WEIGHT = 3
"""Of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009); benchmarks/retrieval_recall.py shows the gain.

The list by words weighs three times the share of the query's words that its first passage has, the list by vectors 1:
a question in another language than the texts shares few words with them, and those few by chance.
"""
_ROWS_AT_A_TIME = 16_384
_QUERIES_AT_A_TIME = 64


class Hit(Struct, frozen=True):
    """A passage that was found, and why."""

    passage: Passage
    score: float
    """Sum over both lists of weight / (10 + rank)."""
    words_rank: int | None
    """From 1; None when the words did not propose it."""
    words_score: float | None
    """BM25."""
    vectors_rank: int | None
    vectors_score: float | None
    """Cosine."""


class KnowledgeBase:
    """An indexed knowledge base; `open_knowledge_base` makes one."""

    def __init__(
        self,
        index: Index,
        *,
        digest: str,
        skipped: Sequence[Skipped] = (),
        trouble: str | None = None,
    ) -> None:
        self.digest = digest
        """Of all files and settings: what was found can be found again while it stays the same."""
        self.documents = index.facts.documents
        self.passages = index.facts.passages
        self.skipped = (*skipped, *index.facts.skipped)
        """Files and rows that are not looked up, with the reason."""
        self.trouble = trouble
        """Why the index could not be kept; None when it was."""
        self._index = index

    def search(self, queries: Sequence[str], *, top: int = 5) -> list[tuple[Passage, ...]]:
        """The passages that fit each query best, best first; none for a query without a word."""
        return [tuple(hit.passage for hit in found) for found in self.hits(queries, top=top)]

    def hits(self, queries: Sequence[str], *, top: int = 5) -> list[tuple[Hit, ...]]:
        """The same with their scores and ranks; equal ones in the order of the files."""
        if top < 1:
            raise SettingsError(f"top is {top}; expected 1 or more passages per query")
        found: list[tuple[Hit, ...]] = []
        for first in range(0, len(queries), _QUERIES_AT_A_TIME):
            some = queries[first : first + _QUERIES_AT_A_TIME]
            depth = max(CANDIDATES, top)
            lists = zip(some, self._by_words(some, depth), self._by_vectors(some, depth), strict=True)
            found += [
                self._fused(by_words, by_vectors, weight=self._weight(query, by_words), top=top)
                for query, by_words, by_vectors in lists
            ]
        return found

    def _by_words(self, queries: Sequence[str], depth: int) -> Iterator[dict[int, float]]:
        """Passages that share a word with each query, best first, with their scores."""
        words = self._index.words
        for query in queries:
            # Written twice, a word of the question weighs no more: it is the passage that is measured.
            numbers = words.get_tokens_ids(list(dict.fromkeys(tokens_of(query))))
            yield _best(words.get_scores_from_ids(numbers), depth) if numbers else {}

    def _by_vectors(self, queries: Sequence[str], depth: int) -> Iterator[dict[int, float]]:
        """Passages nearest in meaning to each query, best first, with their cosines."""
        vectors, wanted = self._index.vectors, encode(queries)
        near: list[list[NDArray[np.intp]]] = [[] for _ in queries]
        for first in range(0, len(vectors), _ROWS_AT_A_TIME):
            products = wanted @ vectors[first : first + _ROWS_AT_A_TIME].astype(np.float32).T
            for row, places in zip(products, near, strict=True):
                places.append(first + _top(row, depth))
        for query, places, vector in zip(queries, near, wanted, strict=True):
            candidates = np.sort(np.concatenate(places))
            # Summed row by row in one order: passages with the same text have the same cosine, to the last bit.
            cosines = np.einsum("ij,j->i", vectors[candidates].astype(np.float64), vector.astype(np.float64))
            best = _best(cosines, depth) if tokens_of(query) else {}
            yield {int(candidates[place]): cosine for place, cosine in best.items() if cosine > 0}

    def _weight(self, query: str, by_words: dict[int, float]) -> float:
        """How much the list by words counts beside the other."""
        if not by_words:
            return 0.0
        _, text = self._index.evidence(next(iter(by_words)))
        wanted = set(tokens_of(query))
        return WORDS_WEIGHT * len(wanted & set(tokens_of(text))) / len(wanted)

    def _fused(
        self, by_words: dict[int, float], by_vectors: dict[int, float], *, weight: float, top: int
    ) -> tuple[Hit, ...]:
        """Both lists in one by reciprocal rank fusion."""
        ranks = [{number: rank for rank, number in enumerate(found, start=1)} for found in (by_words, by_vectors)]
        scores: dict[int, float] = {}
        for ranked, share in zip(ranks, (weight, 1.0), strict=True):
            for number, rank in ranked.items():
                scores[number] = scores.get(number, 0.0) + share / (RANK_OFFSET + rank)
        chosen = sorted(scores, key=lambda number: (-scores[number], number))[:top]
        return tuple(
            Hit(
                Passage(*self._index.evidence(number)),
                scores[number],
                words_rank=ranks[0].get(number),
                words_score=by_words.get(number),
                vectors_rank=ranks[1].get(number),
                vectors_score=by_vectors.get(number),
            )
            for number in chosen
        )


def open_knowledge_base(
    path: Path, *, cache: Path | None, watch: Callable[[int, int], None] | None = None
) -> KnowledgeBase:
    """Open a folder of texts, or a file with one passage per row; the first time it is indexed.

    The index is kept under ``cache/indexes`` by the digest of all files, so that a changed file makes another one;
    without a cache, or with one that cannot be written, it lasts as long as the knowledge base is open. While it is
    made, `watch` is told how many passages of how many are done.
    """
    files, skipped = list_files(path)
    digest = digest_of(files, f"{INDEX_VERSION} {PASSAGE_WORDS} {words_name()} {encoder_name()}")
    trouble = None
    if cache is not None:
        folder = cache / INDEXES / digest
        try:
            index = open_index(folder) or _built(path, files, folder, watch=watch)
            return KnowledgeBase(index, digest=digest, skipped=skipped)
        except OSError as error:
            trouble = f"the index could not be kept in {folder.parent} ({error.strerror or error})"
    lasting = Path(tempfile.mkdtemp(prefix="hallumeter-"))
    try:
        index = _built(path, files, lasting / digest, watch=watch)
    except BaseException:
        shutil.rmtree(lasting, ignore_errors=True)
        raise
    base = KnowledgeBase(index, digest=digest, skipped=skipped, trouble=trouble)
    weakref.finalize(base, shutil.rmtree, lasting, ignore_errors=True)
    return base


def _built(
    path: Path, files: list[BaseFile], folder: Path, *, watch: Callable[[int, int], None] | None = None
) -> Index:
    skipped: list[Skipped] = []
    passages: list[CutPassage] = []
    documents = 0
    for document in read_documents(files, skipped.append):
        documents += 1
        passages += cut(document)
    if not passages:
        first = f"; the first: {skipped[0].place}, {skipped[0].reason}" if skipped else ""
        raise InputError(
            f"{path}: no text to look anything up in ({len(files)} files in {', '.join(KNOWN_SUFFIXES)}{first})"
        )
    build_index(passages, folder, documents=documents, skipped=tuple(skipped), watch=watch)
    index = open_index(folder)
    if index is None:
        raise OSError(f"{folder} was changed while it was written")
    return index


def _best(scores: NDArray[np.floating[Any]], depth: int) -> dict[int, float]:
    """The largest scores above 0 with their places, largest first, equal ones in order of place."""
    places = _top(scores, depth)
    places = places[np.lexsort((places, -scores[places]))][:depth]
    return {int(place): float(scores[place]) for place in places if scores[place] > 0}


def _top(scores: NDArray[np.floating[Any]], depth: int) -> NDArray[np.intp]:
    """Places of all scores that are no smaller than the `depth` largest: more than that many where some are equal."""
    if len(scores) <= depth:
        return np.arange(len(scores))
    return np.flatnonzero(scores >= np.partition(scores, -depth)[-depth])
