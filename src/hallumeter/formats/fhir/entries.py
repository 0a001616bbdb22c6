"""Files of a folder to the resources in them: bundles, NDJSON, single resources."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Raw, Struct

from hallumeter.errors import InputError
from hallumeter.formats.jsonl import BROKEN, open_binary
from hallumeter.formats.plain_words import plain_message

from .resources import Meta
from .versions import profile_version

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

SUFFIXES = (".json", ".ndjson", ".jsonl")
_LINES = (".ndjson", ".jsonl")
_JOINED_BUNDLES = {"searchset", "history"}
"""Bundles that may go on in another file."""
_HEAD = re.compile(rb'\s*\{\s*"resourceType"\s*:\s*"(\w+)"')
_UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Entry(NamedTuple):
    """One resource, not yet decoded."""

    kind: str
    """Its type; empty when it names none."""
    resource: Raw
    full_url: str | None
    place: str
    """The file, and in NDJSON the line."""


class Trouble(NamedTuple):
    """Something that could not be read, or was odd."""

    place: str
    code: str
    """What is wrong, in one word: ``bad_json``, ``no_patient``."""
    message: str
    is_fault: bool = True
    """False when it is only worth saying."""


class Bundle(NamedTuple):
    """Resources that came together."""

    place: str
    entries: list[Entry]
    is_whole: bool
    """Whether all that is said of its patients stands in it; a search comes in pages that are joined by reference."""
    version: tuple[str, str] | None = None
    """The version of FHIR that the bundle itself names, when it is not R4."""


class _BundleEntry(Struct, rename="camel"):
    full_url: str | None = None
    resource: Raw = Raw()


class _Bundle(Struct, rename="camel"):
    resource_type: str | None = None
    type: str | None = None
    meta: Meta | None = None
    entry: list[_BundleEntry] | None = None


class _Kind(Struct, rename="camel"):
    resource_type: str


_BUNDLE = msgspec.json.Decoder(_Bundle)
_KIND = msgspec.json.Decoder(_Kind)


def fhir_files(path: Path, *, without: Collection[Path] = ()) -> list[Path]:
    """The JSON files of a folder and the folders in it, in order of their names; or the one file that was named."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(f"{path}: there is no such folder; give the folder that holds the FHIR files")
    left_out = {each.resolve() for each in without}
    found = [each for each in sorted(path.rglob("*")) if each.is_file() and not _is_hidden(each.relative_to(path))]
    files = [each for each in found if _suffix(each) in SUFFIXES and each.resolve() not in left_out]
    if not files:
        others = f"; it has {len(found)} other files" if found else "; it is empty"
        raise InputError(f"{path}: no FHIR file found, expected names that end in {', '.join(SUFFIXES)}{others}")
    return files


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _suffix(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def read_file(path: Path, name: str) -> Iterator[Bundle | Entry | Trouble]:
    """What a file holds: bundles, resources on their own, and what cannot be read of it."""
    try:
        if _suffix(path) in _LINES:
            with open_binary(path) as stream:
                yield from _of_lines(stream, name)
        else:
            yield from _of_document(_content(path), name)
    except (*BROKEN, InputError) as error:
        cause = error.__cause__ if isinstance(error, InputError) else error
        yield Trouble(name, "unreadable", f"cannot be read ({getattr(cause, 'strerror', None) or cause})")


def _content(path: Path) -> bytes:
    with open_binary(path) as stream:
        return stream.read().removeprefix(_UTF8_MARK)


def _of_document(content: bytes, name: str) -> Iterator[Bundle | Entry | Trouble]:
    if not content.strip():
        yield Trouble(name, "empty", "the file is empty")
        return
    try:
        yield _decoded(content, name)
    except _UNDECODABLE as error:
        if "trailing" in str(error):  # NDJSON under a name that ends in .json
            yield from _of_lines(content.splitlines(keepends=True), name)
        else:
            yield _trouble(name, content, error)


def _of_lines(lines: Iterable[bytes], name: str) -> Iterator[Bundle | Entry | Trouble]:
    number = 0
    for number, line in enumerate(lines, 1):
        content = line.removeprefix(_UTF8_MARK) if number == 1 else line
        if content.startswith(_UTF16_MARKS) and number == 1:
            yield _trouble(name, content, ValueError())
            return
        if not content.strip():
            continue
        try:
            yield _decoded(content, f"{name}:{number}")
        except _UNDECODABLE as error:
            yield _trouble(f"{name}:{number}", content, error)
    if not number:
        yield Trouble(name, "empty", "the file is empty")


def _decoded(content: bytes, place: str) -> Bundle | Entry:
    kind = kind_of(content)
    if kind != "Bundle":
        _KIND.decode(content)  # looks at all of it, so that a line that was cut off is noticed
        return Entry(kind, Raw(content), None, place)
    bundle = _BUNDLE.decode(content)
    is_whole = bundle.type not in _JOINED_BUNDLES
    return Bundle(place, list(_entries(bundle, place)), is_whole, profile_version(bundle.meta))


def _entries(bundle: _Bundle, place: str) -> Iterator[Entry]:
    for entry in bundle.entry or ():
        if not entry.resource:
            continue  # an answer to a transaction, or the mark of a deletion
        try:
            kind = kind_of(entry.resource)
        except _UNDECODABLE:
            kind = ""
        if kind == "Bundle":
            yield from _entries(_BUNDLE.decode(entry.resource), place)
        else:
            yield Entry(kind, entry.resource, entry.full_url, place)


def kind_of(resource: bytes | Raw) -> str:
    """The type that a resource names, wherever in it that stands.

    Raises msgspec.DecodeError when it names none.

    >>> kind_of(b'{"id": "7", "resourceType": "Patient"}')
    'Patient'
    """
    head = _HEAD.match(resource)
    return head[1].decode() if head else _KIND.decode(resource).resource_type


def _trouble(place: str, content: bytes, error: Exception) -> Trouble:
    if content.startswith(_UTF16_MARKS):
        return Trouble(place, "bad_encoding", "the text is encoded as UTF-16; save it as UTF-8")
    if isinstance(error, UnicodeDecodeError):
        return Trouble(place, "bad_encoding", f"not UTF-8 (byte {error.start}); save the file as UTF-8")
    if isinstance(error, msgspec.ValidationError):
        return Trouble(place, "not_fhir", f"not a FHIR resource ({plain_message(error).removeprefix('row: ')})")
    reason = "nested too deeply" if isinstance(error, RecursionError) else str(error).removesuffix(".")
    return Trouble(place, "bad_json", f"not valid JSON ({reason.removeprefix('JSON is malformed: ')})")
