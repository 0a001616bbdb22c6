"""An index on disk: passages, their words and their vectors, written once and then only read.

    passages.jsonl     evidence_id and text of every passage
    offsets.npy        where each line of it begins, and where the last one ends
    words/             BM25 as bm25s keeps it
    vectors.npy        one row of float16 per passage
    index.json         what is in it, with the size of every other file; written last

It is built in a folder beside its place and renamed when it is whole, so that a reader never meets half of one.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
from msgspec import Struct

from hallumeter.engines import available_cores, map_in_order
from hallumeter.errors import MissingExtraError

from .documents import Skipped
from .tokens import tokens_of
from .vectors import DIMENSIONS, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bm25s import BM25
    from numpy.typing import NDArray

    from .passages import CutPassage

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
    watch: Callable[[int, int], None] | None = None,
) -> None:
    """Write an index to its folder, all of it or nothing. Another process that was faster is left its place."""
    _bm25_class()
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_left_behind(folder.parent)
    building = Path(tempfile.mkdtemp(prefix=f"{folder.name}{_BUILDING}", dir=folder.parent))
    try:
        _write_passages(passages, building)
        _write_words(passages, building)
        _write_vectors(passages, building, watch)
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
    passages: Sequence[CutPassage], folder: Path, watch: Callable[[int, int], None] | None = None
) -> None:
    vectors = np.lib.format.open_memmap(
        folder / "vectors.npy", mode="w+", dtype=np.float16, shape=(len(passages), DIMENSIONS)
    )
    workers = available_cores() if len(passages) >= WORTH_PROCESSES else 1
    done = 0
    for block in map_in_order(encode, _blocks(passages), workers=workers):
        vectors[done : done + len(block)] = block
        done += len(block)
        if watch is not None:
            watch(done, len(passages))
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
