"""Lines of files: typed where they fit, understood as well as possible where they do not."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import IO, Any, Final, Generic, NamedTuple, TypeVar, cast

import msgspec
from msgspec import inspect

from hallumeter.aspects.records.aspect import AspectTerm, TextSpan
from hallumeter.aspects.records.outputs import EditTarget
from hallumeter.aspects.sentiment_words import repaired_polarity
from hallumeter.errors import InputError, RecordError
from hallumeter.formats.batch import plain_message
from hallumeter.formats.files import STDIN, STDIN_NAME, check_readable
from hallumeter.formats.jsonl import BROKEN, LONGEST_LINE, open_binary
from hallumeter.records.claim import Failure

# Rows that were made elsewhere, as the records that they mean.
#
# Decoding takes only what fits. Here a field that does not fit is left out instead, a span may be a pair, a name may
# be a number, a term may stand alone: what can be understood is kept, and the rest is missing.

_Kind = TypeVar("_Kind", bound=msgspec.Struct)

UNFIT: Final = object()
"""What a value becomes that cannot be understood."""


def tolerant_record(row: Mapping[str, object], kind: type[_Kind], required: tuple[str, ...] = ()) -> _Kind:
    """The record that a row means.

    >>> from hallumeter.aspects.records.aspect import Aspect
    >>> aspect = tolerant_record({"term": 7, "span": [0, 1], "confidence": "high"}, Aspect)
    >>> aspect.term, aspect.span, aspect.confidence
    ('7', TextSpan(start=0, end=1), None)

    Raises:
        RecordError: A field that must be there is not.
    """
    for name in required:
        if not isinstance(row.get(name), str | int | float):
            raise RecordError(f"no {name}; expected an object with {', '.join(required)}")
    found = _converted(row, _type_of(kind))
    if found is UNFIT:
        raise RecordError(f"no {kind.__name__}; expected an object")
    return cast("_Kind", found)


@cache
def _type_of(kind: type[msgspec.Struct]) -> inspect.Type:
    return inspect.type_info(kind)


def _converted(value: object, kind: inspect.Type) -> object:
    """A value as a type has it, or `UNFIT`. Types nest as deep as records do, however deep values nest."""
    if isinstance(value, msgspec.Struct):
        value = msgspec.to_builtins(value)
    if isinstance(kind, inspect.UnionType):
        return _of_union(value, kind)
    if isinstance(kind, inspect.StructType):
        return _of_struct(value, kind)
    if isinstance(kind, inspect.VarTupleType | inspect.ListType):
        if not isinstance(value, list | tuple):
            return UNFIT
        found = [_converted(each, kind.item_type) for each in value]
        return tuple(each for each in found if each is not UNFIT)
    if isinstance(kind, inspect.DictType):
        return _of_dict(value, kind)
    return _of_scalar(value, kind)


def _of_union(value: object, kind: inspect.UnionType) -> object:
    """The first of several types that fits; None where it may be."""
    if value is None:
        return None if any(isinstance(each, inspect.NoneType) for each in kind.types) else UNFIT
    for each in sorted(kind.types, key=lambda each: isinstance(each, inspect.StrType)):
        found = _converted(value, each)
        if found is not UNFIT:
            return found
    return UNFIT


def _of_struct(value: object, kind: inspect.StructType) -> object:
    row = _row_of(value, kind.cls)
    if row is None:
        return UNFIT
    given: dict[str, Any] = {}
    for field in kind.fields:
        found = UNFIT
        name = field.encode_name
        if name == "aspect_term" and name not in row and kind.cls is not EditTarget:
            name = "aspect_ref"  # as other makers call it; an edit has both
        if name in row:
            found = _converted(row[name], field.type)
        if found is UNFIT and field.required:
            found = _missing(field.type)
            if found is UNFIT:
                return UNFIT
        if found is not UNFIT:
            given[field.name] = found
    return kind.cls(**given)


def _row_of(value: object, kind: type) -> Mapping[str, object] | None:
    """A value as an object; a span may be a pair, and the term of an aspect may stand alone."""
    if kind is TextSpan and isinstance(value, list | tuple):
        return dict(zip(("start", "end"), value, strict=True)) if len(value) == 2 else None
    if kind is AspectTerm and isinstance(value, str):
        return {"term": value}
    return value if isinstance(value, Mapping) else None


def _missing(kind: inspect.Type) -> object:
    """What stands for a required field that is not there: nothing, an empty text, or no number."""
    if isinstance(kind, inspect.UnionType) and any(isinstance(each, inspect.NoneType) for each in kind.types):
        return None
    if isinstance(kind, inspect.StrType):
        return ""
    return math.nan if isinstance(kind, inspect.FloatType) else UNFIT


def _of_dict(value: object, kind: inspect.DictType) -> object:
    if not isinstance(value, Mapping):
        return UNFIT
    found = {str(key): _converted(each, kind.value_type) for key, each in value.items()}
    return {key: each for key, each in found.items() if each is not UNFIT}


def _of_scalar(value: object, kind: inspect.Type) -> object:
    if isinstance(kind, inspect.LiteralType):
        meant = (value.strip().lower(), repaired_polarity(value).value) if isinstance(value, str) else ()
        return next((each for each in (value, *meant) if each in kind.values), UNFIT)
    if isinstance(kind, inspect.BoolType):
        return value if isinstance(value, bool) else UNFIT
    if isinstance(kind, inspect.StrType):
        return _text(value)
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        return _number(value, is_whole=isinstance(kind, inspect.IntType))
    return UNFIT


def _text(value: object) -> object:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else UNFIT


def _number(value: object, *, is_whole: bool) -> object:
    """A number, given as one or as text; an infinite one is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return UNFIT
    if isinstance(value, int):
        return value if is_whole or abs(value) < 1 << 53 else UNFIT
    try:
        number = float(value)
    except ValueError:
        return UNFIT
    if not math.isfinite(number) or (is_whole and not number.is_integer()):
        return UNFIT
    return int(number) if is_whole else number


_LineKind = TypeVar("_LineKind", bound=msgspec.Struct)

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


class LineReader(Generic[_LineKind]):
    """Decodes lines as one kind of record, tolerantly where they were made elsewhere."""

    def __init__(
        self,
        kind: type[_LineKind],
        *,
        required: tuple[str, ...] = (),
        renamed: Callable[[dict[str, object]], dict[str, object]] = dict,
        is_complete: Callable[[_LineKind, bytes], bool] = lambda *_: True,
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

    def records(self, chunk: Chunk, failures: list[Failure]) -> Iterator[_LineKind]:
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

    def record_of(self, row: dict[str, object]) -> _LineKind:
        """The record that a row means.

        Raises:
            RecordError: It means none.
        """
        return tolerant_record(self._renamed(row), self._kind, self._required)

    def _read(self, line: bytes) -> _LineKind | str:
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
