"""Lines of files: typed where they fit, understood as well as possible where they do not."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING, Generic, NamedTuple, TypeVar

import msgspec

from hallumeter.errors import InputError, RecordError
from hallumeter.formats import STDIN, check_readable, plain_message
from hallumeter.formats.jsonl import BROKEN, LONGEST_LINE, open_binary
from hallumeter.pipelines.input_files import STDIN_NAME
from hallumeter.records import Failure

from .tolerant import tolerant_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_Kind = TypeVar("_Kind", bound=msgspec.Struct)

CHUNK_BYTES = 1 << 20
"""Enough to be worth sending to another process, little enough that memory stays flat."""
_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_BROKEN_LINES = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, RecordError)
_ROW = msgspec.json.Decoder(dict[str, object])


class Chunk(NamedTuple):
    """Some whole lines of a file."""

    name: str
    first: int
    """The number of the first line."""
    content: bytes


class LineReader(Generic[_Kind]):
    """Decodes lines as one kind of record, tolerantly where they were made elsewhere."""

    def __init__(
        self,
        kind: type[_Kind],
        *,
        required: tuple[str, ...] = (),
        renamed: Callable[[dict[str, object]], dict[str, object]] = dict,
        is_complete: Callable[[_Kind, bytes], bool] = lambda *_: True,
    ) -> None:
        """Take the kind, and what is special about its lines.

        Args:
            kind: What lines are.
            required: The fields that no line may lack.
            renamed: Gives a row the names that the kind has.
            is_complete: Whether a line that fits says all; if not, it is read as one that does not fit.
        """
        self._kind = kind
        self._required = required
        self._renamed = renamed
        self._is_complete = is_complete
        self._line = msgspec.json.Decoder(kind)

    def records(self, chunk: Chunk, failures: list[Failure]) -> Iterator[_Kind]:
        """The records of a chunk, one by one, so that each is gone before the next; other lines become failures."""
        for number, line in zip(count(chunk.first), chunk.content.split(b"\n")):
            if not line.strip():
                continue
            found = self._read(line)
            if isinstance(found, str):
                message = f"{chunk.name}:{number}: {found}"
                failures.append(Failure(None, None, "read", None, "bad_line", message))
                continue
            yield found

    def record_of(self, row: dict[str, object]) -> _Kind:
        """The record that a row means.

        Raises:
            RecordError: It means none.
        """
        return tolerant_record(self._renamed(row), self._kind, self._required)

    def _read(self, line: bytes) -> _Kind | str:
        """The record that a line means, or why it means none."""
        try:
            record = self._line.decode(line)
            if self._is_complete(record, line):
                return record
        except msgspec.ValidationError:
            pass  # It has another shape, which may be understood.
        except _BROKEN_LINES as error:
            return plain_message(error)
        try:
            return self.record_of(_ROW.decode(line))
        except _BROKEN_LINES as fault:
            return str(fault) if isinstance(fault, RecordError) else plain_message(fault)


@contextmanager
def opened_lines(path: Path) -> Iterator[Iterator[Chunk]]:
    """The lines of a file, plain or compressed by gzip; a dash reads the standard input.

    Raises:
        InputError: It cannot be read, or is empty.
    """
    if str(path) == STDIN:
        yield chunks_of(sys.stdin.buffer, STDIN_NAME, CHUNK_BYTES)
        return
    check_readable(path)
    with open_binary(path) as stream:
        yield chunks_of(stream, path.name, CHUNK_BYTES)


def chunks_of(stream: IO[bytes], name: str, size: int) -> Iterator[Chunk]:
    r"""Whole lines of a stream, about so many bytes at a time.

    >>> import io
    >>> [(chunk.first, chunk.content) for chunk in chunks_of(io.BytesIO(b"a\nbc\nd"), "file", 2)]
    [(1, b'a\n'), (2, b'bc\n'), (3, b'd')]
    """
    pending = b""
    number = 1
    for block in _blocks(stream, name, size):
        cut = block.rfind(b"\n") + 1
        if not cut:
            pending += block
            if len(pending) > LONGEST_LINE:
                raise InputError(f"{name}:{number}: line of more than {LONGEST_LINE >> 20} MiB; split it")
            continue
        content = pending + block[:cut]
        yield Chunk(name, number, content)
        number += content.count(b"\n")
        pending = block[cut:]
    if pending:
        yield Chunk(name, number, pending)


def _blocks(stream: IO[bytes], name: str, size: int) -> Iterator[bytes]:
    is_first = True
    while True:
        try:
            block = stream.read(size)
        except BROKEN as error:
            raise InputError(f"{name}: cannot be read to its end ({error}); is it a whole gzip file?") from error
        if is_first and block.startswith(_UTF16_MARKS):
            raise InputError(f"{name}: the text is encoded as UTF-16; save it as UTF-8")
        if not block:
            return
        yield block.removeprefix(_MARK) if is_first else block
        is_first = False
