"""What an audit reads: files, or records in Python; each can be read again when the audit is resumed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import msgspec

from hallumeter.errors import RecordError
from hallumeter.formats.batch import Batch, Fault
from hallumeter.formats.files import STDIN, check_readable, read_rows
from hallumeter.formats.plain import plain_rows
from hallumeter.formats.shapes import ANY_SHAPE, RowShape
from hallumeter.records.manifest import InputFile
from hallumeter.run.inputs import rereadable_files, row_batches, sha256_of


class Inputs(Protocol):
    """Where records come from."""

    @property
    def files(self) -> tuple[InputFile, ...]:
        """What is read, by name and hash."""
        ...

    def sources(self, shape: RowShape = ANY_SHAPE) -> Iterator[tuple[str, Iterator[Batch]]]:
        """Rows by the name of their source, with every field, read by a shape."""
        ...


class FileInputs:
    """Records in files."""

    def __init__(self, named: Sequence[tuple[str, Path]]) -> None:
        self._named = named

    @property
    def files(self) -> tuple[InputFile, ...]:
        """What is read, by name and hash."""
        return tuple(InputFile(name, sha256_of(path), 0) for name, path in self._named)

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(path.stat().st_size for _, path in self._named)

    def sources(self, shape: RowShape = ANY_SHAPE) -> Iterator[tuple[str, Iterator[Batch]]]:
        """Rows by the name of their file."""
        for name, path in self._named:
            yield name, read_rows(path, fields=None, shape=shape)


class RecordInputs:
    """Records in Python, held by whatever holds rows."""

    def __init__(self, records: object) -> None:
        self._rows = list(plain_rows(records))
        if not self._rows:
            raise RecordError("audit: nothing given; expected responses")

    @property
    def files(self) -> tuple[InputFile, ...]:
        """The records, by their hash."""
        rows = [{"fault": row.message} if isinstance(row, Fault) else row for row in self._rows]
        encoded = msgspec.json.Encoder(order="sorted").encode(rows)
        return (InputFile("records", hashlib.sha256(encoded).hexdigest(), 0),)

    def sources(self, shape: RowShape = ANY_SHAPE) -> Iterator[tuple[str, Iterator[Batch]]]:
        """All rows, from one source."""
        yield "records", row_batches(self._rows, fields=None, shape=shape)


@contextmanager
def opened_files(paths: Sequence[Path]) -> Iterator[FileInputs]:
    """Files as inputs, for as long as they are needed."""
    for path in paths:
        if str(path) != STDIN:
            check_readable(path)
    with rereadable_files(paths) as named:
        yield FileInputs(named)
