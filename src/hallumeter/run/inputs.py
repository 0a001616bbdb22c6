"""What a pipeline reads: files, what they are called and how they can be read twice; and rows in Python."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import structs

from hallumeter.errors import InputError, RecordError
from hallumeter.formats.batch import Batch, Fault
from hallumeter.formats.files import STDIN, STDIN_NAME, kept_stdin
from hallumeter.formats.jsonl import BROKEN, batch_of, open_binary
from hallumeter.formats.shapes import RowShape

_ROWS_AT_A_TIME = 4096
DAMAGE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding a line may raise."""
_MARK = b"\xef\xbb\xbf"


def only_paths(items: Sequence[object], mixed: str) -> list[Path]:
    """What was given in Python, if it is paths; nothing if it is something else.

    Raises:
        RecordError: It is both; `mixed` is the message.
    """
    paths = [Path(item) for item in items if isinstance(item, str | Path)]
    if paths and len(paths) < len(items):
        raise RecordError(mixed)
    return paths


def paths_or_rows(given: object, mixed: str) -> tuple[list[Path], object]:
    """What was given in Python: paths, or else what holds rows; a generator is gone through once.

    Raises:
        RecordError: It is both; `mixed` is the message.
    """
    if isinstance(given, str | Path):
        return [Path(given)], ()
    if not isinstance(given, list | tuple | set | Iterator):
        return [], given
    items = list(given)
    return only_paths(items, mixed), items


def named_files(paths: Sequence[Path]) -> list[tuple[str, Path]]:
    """What each file is called in messages: its name, or its path where two have the same name."""
    names = [path.name for path in paths]
    return [
        (STDIN_NAME if str(path) == STDIN else path.name if names.count(path.name) == 1 else str(path), path)
        for path in paths
    ]


@contextmanager
def rereadable_files(paths: Sequence[Path]) -> Iterator[list[tuple[str, Path]]]:
    """Named files that can be read twice: the standard input is kept in a temporary file meanwhile."""
    if not any(str(path) == STDIN for path in paths):
        yield named_files(paths)
        return
    with kept_stdin() as kept:
        if not kept.stat().st_size:
            raise InputError(f"{STDIN_NAME}: nothing came in; expected one record per line")
        yield [(name, kept if name == STDIN_NAME else path) for name, path in named_files(paths)]


def row_batches(
    rows: Iterable[Mapping[str, object] | Fault], *, fields: Collection[str] | None, shape: RowShape
) -> Iterator[Batch]:
    """Rows in Python as batches; faults among them, and rows that do not fit, are faults of their batch."""
    rest = enumerate(rows, 1)
    while part := list(islice(rest, _ROWS_AT_A_TIME)):
        sound = [(number, row) for number, row in part if not isinstance(row, Fault)]
        faults = [row for _, row in part if isinstance(row, Fault)]
        numbers = [number for number, _ in sound]
        batch = batch_of([row for _, row in sound], fields=fields, shape=shape, numbers=numbers)
        ordered = tuple(sorted((*batch.faults, *faults), key=lambda fault: fault.line))
        yield structs.replace(batch, faults=ordered) if faults else batch


def sha256_of(path: Path) -> str:
    """The hash of a file's contents."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def lines_of(path: Path, *, with_empty: bool = False) -> list[tuple[int, bytes]]:
    """The lines of a text file, plain or compressed, with their numbers from 1.

    Without spaces around them and without a byte order mark.

    Raises:
        InputError: The file cannot be read to its end.
    """
    try:
        with open_binary(path) as stream:
            lines = [(number, line.strip()) for number, line in enumerate(stream, 1)]
    except BROKEN as error:
        raise InputError(f"{path}: cannot be read ({error}); is it whole?") from error
    if lines:
        lines[0] = (1, lines[0][1].removeprefix(_MARK))
    return [(number, line) for number, line in lines if line or with_empty]
