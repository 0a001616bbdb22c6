"""What an audit reads: files, or records in Python; each can be read again when the audit is resumed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import msgspec

from hallumeter.errors import RecordError
from hallumeter.formats.batch import Batch
from hallumeter.formats.files import STDIN, check_readable, read_rows
from hallumeter.records.manifest import InputFile
from hallumeter.records.response import Response
from hallumeter.run.inputs import rereadable_files, row_batches, sha256_of


class Inputs(Protocol):
    """Where records come from."""

    @property
    def files(self) -> tuple[InputFile, ...]:
        """What is read, by name and hash."""
        ...

    def sources(self) -> Iterator[tuple[str, Iterator[Batch]]]:
        """Rows by the name of their source, with every field."""
        ...


class FileInputs:
    """Records in files."""

    def __init__(self, named: Sequence[tuple[str, Path]]) -> None:
        self._named = named

    @property
    def files(self) -> tuple[InputFile, ...]:
        """What is read, by name and hash."""
        return tuple(InputFile(name, sha256_of(path), 0) for name, path in self._named)

    def sources(self) -> Iterator[tuple[str, Iterator[Batch]]]:
        """Rows by the name of their file."""
        for name, path in self._named:
            yield name, read_rows(path, fields=None)


class RecordInputs:
    """Records in Python."""

    def __init__(self, records: Iterable[Response | Mapping[str, object]]) -> None:
        self._rows = [_row(record, number) for number, record in enumerate(records, 1)]
        if not self._rows:
            raise RecordError("audit: nothing given; expected responses")

    @property
    def files(self) -> tuple[InputFile, ...]:
        """The records, by their hash."""
        encoded = msgspec.json.Encoder(order="sorted").encode(self._rows)
        return (InputFile("records", hashlib.sha256(encoded).hexdigest(), 0),)

    def sources(self) -> Iterator[tuple[str, Iterator[Batch]]]:
        """All rows, from one source."""
        yield "records", row_batches((dict(row) for row in self._rows), "records", fields=None)


@contextmanager
def opened_files(paths: Sequence[Path]) -> Iterator[FileInputs]:
    """Files as inputs, for as long as they are needed."""
    for path in paths:
        if str(path) != STDIN:
            check_readable(path)
    with rereadable_files(paths) as named:
        yield FileInputs(named)


def _row(record: object, number: int) -> dict[str, object]:
    try:
        if isinstance(record, Response):
            built = msgspec.to_builtins(record)
            record = {**built.pop("fields"), **{name: value for name, value in built.items() if value is not None}}
        if isinstance(record, Mapping):
            row = {str(name): value for name, value in record.items()}
            msgspec.json.encode(row)
            return row
    except UnicodeEncodeError as error:
        message = f"records:{number}: a text holds half of a character (a lone surrogate); repair it"
        raise RecordError(message) from error
    except TypeError as error:
        raise RecordError(f"records:{number}: {error}") from error
    raise RecordError(f"records:{number}: expected a Response or a mapping, found {type(record).__name__}")
