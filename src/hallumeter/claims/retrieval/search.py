"""A folder or file of texts in which evidence is looked up, by words and by meaning."""

from __future__ import annotations

import shutil
import tempfile
import time
import weakref
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
from msgspec import Struct

from hallumeter.errors import InputError, MissingExtraError, SettingsError
from hallumeter.models.vectors import DIMENSIONS, encode, encoder_name
from hallumeter.records.response import Passage
from hallumeter.run.engines.local import available_cores, map_in_order
from hallumeter.text.lookup import tokens_of

from .documents import KNOWN_SUFFIXES, PASSAGE_WORDS, Skipped, cut, digest_of, list_files, read_documents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bm25s import BM25
    from numpy.typing import NDArray

    from .documents import BaseFile, CutPassage


# An index on disk: passages, their words and their vectors, written once and then only read.
#
#     passages.jsonl     evidence_id and text of every passage
#     offsets.npy        where each line of it begins, and where the last one ends
#     words/             BM25 as bm25s keeps it
#     vectors.npy        one row of float16 per passage
#     index.json         what is in it, with the size of every other file; written last
#
# It is built in a folder beside its place and renamed when it is whole, so that a reader never meets half of one.

PASSAGES_AT_A_TIME = 128
WORTH_PROCESSES = 4_000
"""So many passages are encoded in several processes, each of which takes a second to start."""
_LEFT_BEHIND_SECONDS = 24 * 3600
_BUILDING = ".building-"
_PURPOSE = "searching a knowledge base"


class IndexFacts(Struct, frozen=True):
    """What an index holds."""

    documents: int
    passages: int
    skipped: tuple[Skipped, ...]
    """Files and rows in which no text was found."""
    sizes: dict[str, int]
    """Bytes of every file of the index, by its name."""


class Index(NamedTuple):
    """An open index; its arrays are mapped into memory and read as they are needed."""

    facts: IndexFacts
    words: BM25
    vectors: NDArray[np.float16]
    lines: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    def evidence(self, number: int) -> tuple[str, str]:
        """Id and text of a passage."""
        first, last = self.offsets[number : number + 2]
        evidence_id, text = msgspec.json.decode(self.lines[first:last].tobytes(), type=tuple[str, str])
        return evidence_id, text


def words_name() -> str:
    """Of the word index and its version, for the names of indexes."""
    _bm25_class()
    return f"bm25s-{version('bm25s')}"


def open_index(folder: Path) -> Index | None:
    """An index that was finished; None when there is none, or when a file of it is missing or cut short."""
    try:
        facts = msgspec.json.decode((folder / "index.json").read_bytes(), type=IndexFacts)
    except (OSError, msgspec.DecodeError):
        return None
    if _sizes(folder) != facts.sizes:
        return None
    return Index(
        facts,
        _bm25_class().load(folder / "words", mmap=True),
        np.load(folder / "vectors.npy", mmap_mode="r"),
        np.memmap(folder / "passages.jsonl", dtype=np.uint8, mode="r"),
        np.load(folder / "offsets.npy"),
    )


def build_index(
    passages: Sequence[CutPassage],
    folder: Path,
    *,
    documents: int,
    skipped: tuple[Skipped, ...],
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write an index to its folder, all of it or nothing. Another process that was faster is left its place."""
    _bm25_class()
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_left_behind(folder.parent)
    building = Path(tempfile.mkdtemp(prefix=f"{folder.name}{_BUILDING}", dir=folder.parent))
    try:
        _write_passages(passages, building)
        _write_words(passages, building)
        _write_vectors(passages, building, progress)
        facts = IndexFacts(documents, len(passages), skipped, _sizes(building))
        (building / "index.json").write_bytes(msgspec.json.encode(facts))
        if folder.exists() and open_index(folder) is None:
            shutil.rmtree(folder)  # damaged
        if not folder.exists():
            building.rename(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _write_passages(passages: Sequence[CutPassage], folder: Path) -> None:
    offsets = np.zeros(len(passages) + 1, dtype=np.int64)
    with (folder / "passages.jsonl").open("wb") as stream:
        for number, passage in enumerate(passages, start=1):
            stream.write(msgspec.json.encode((passage.evidence_id, passage.text)) + b"\n")
            offsets[number] = stream.tell()
    np.save(folder / "offsets.npy", offsets)


def _write_words(passages: Sequence[CutPassage], folder: Path) -> None:
    # The empty word holds the first number, so that a passage of which no word is known has one all the same.
    known: dict[str, int] = {"": 0}
    rows = [
        [known.setdefault(token, len(known)) for token in tokens_of(_searched(passage))] or [0] for passage in passages
    ]
    words = _bm25_class()(method="lucene", k1=1.2, b=0.75, backend="numpy")
    words.index((rows, known), show_progress=False)
    words.save(folder / "words", show_progress=False)


def _write_vectors(
    passages: Sequence[CutPassage], folder: Path, progress: Callable[[int, int], None] | None = None
) -> None:
    vectors = np.lib.format.open_memmap(
        folder / "vectors.npy", mode="w+", dtype=np.float16, shape=(len(passages), DIMENSIONS)
    )
    workers = available_cores() if len(passages) >= WORTH_PROCESSES else 1
    done = 0
    for block in map_in_order(encode, _blocks(passages), workers=workers):
        vectors[done : done + len(block)] = block
        done += len(block)
        if progress is not None:
            progress(done, len(passages))
    vectors.flush()


def _blocks(passages: Sequence[CutPassage]) -> Iterator[list[str]]:
    for first in range(0, len(passages), PASSAGES_AT_A_TIME):
        yield [_searched(passage) for passage in passages[first : first + PASSAGES_AT_A_TIME]]


def _searched(passage: CutPassage) -> str:
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


def _sizes(folder: Path) -> dict[str, int]:
    """Bytes of every file below a folder but the table of contents itself."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "index.json")
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}


def _remove_left_behind(folder: Path) -> None:
    """Remove what killed processes had begun; what is younger than a day may still be at work."""
    for path in folder.glob(f"*{_BUILDING}*"):
        if time.time() - path.stat().st_mtime > _LEFT_BEHIND_SECONDS:
            shutil.rmtree(path, ignore_errors=True)


def _bm25_class() -> type[BM25]:
    try:
        from bm25s import BM25
    except ImportError as error:
        raise MissingExtraError("retrieval", _PURPOSE) from error
    found: type[BM25] = BM25
    return found


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
    path: Path, *, cache: Path | None, progress: Callable[[int, int], None] | None = None
) -> KnowledgeBase:
    """Open a folder of texts, or a file with one passage per row; the first time it is indexed.

    The index is kept under ``cache/indexes`` by the digest of all files, so that a changed file makes another one;
    without a cache, or with one that cannot be written, it lasts as long as the knowledge base is open. While it is
    made, `progress` is told how many passages of how many are done.
    """
    files, skipped = list_files(path)
    digest = digest_of(files, f"{INDEX_VERSION} {PASSAGE_WORDS} {words_name()} {encoder_name()}")
    trouble = None
    if cache is not None:
        folder = cache / INDEXES / digest
        try:
            index = open_index(folder) or _built(path, files, folder, progress=progress)
            return KnowledgeBase(index, digest=digest, skipped=skipped)
        except OSError as error:
            trouble = f"the index could not be kept in {folder.parent} ({error.strerror or error})"
    lasting = Path(tempfile.mkdtemp(prefix="hallumeter-"))
    try:
        index = _built(path, files, lasting / digest, progress=progress)
    except BaseException:
        shutil.rmtree(lasting, ignore_errors=True)
        raise
    base = KnowledgeBase(index, digest=digest, skipped=skipped, trouble=trouble)
    weakref.finalize(base, shutil.rmtree, lasting, ignore_errors=True)
    return base


def _built(
    path: Path, files: list[BaseFile], folder: Path, *, progress: Callable[[int, int], None] | None = None
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
    build_index(passages, folder, documents=documents, skipped=tuple(skipped), progress=progress)
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
