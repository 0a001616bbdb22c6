"""The files of a knowledge base, read into documents; what cannot be read is listed, never left out in silence."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from hallumeter.errors import InputError
from hallumeter.text.sentences import sentence_spans

# Documents cut into passages that a judge can read at once and a reader can find again.

PASSAGE_WORDS = 120
"""About as many words as a passage has; measured as recall in benchmarks/retrieval_recall.py."""
_LONGEST_SENTENCE = 2 * PASSAGE_WORDS
"""A longer one, such as a table without periods, is cut between words."""
_SHORTEST_END = PASSAGE_WORDS // 3
"""The end of a document that is shorter stays with the passage before it."""


class Document(Struct, frozen=True):
    """A text with the name under which its passages are cited."""

    name: str
    """A path below the knowledge base, or the id of a row."""
    text: str
    title: str = ""
    """Looked up with every passage of the document, and not part of any."""
    is_row: bool = False
    """Whether it is a passage already, which keeps its name as it is when it is short enough."""


class CutPassage(Struct, frozen=True):
    """A passage of a document, with its place."""

    evidence_id: str
    """The document's name, ``#``, and the places in it of the first character and of the one past the last."""
    text: str
    title: str = ""


def cut(document: Document) -> list[CutPassage]:
    """Cut a document between sentences into passages of about 120 words; sentences are never shared by two.

    >>> [passage.evidence_id for passage in cut(Document("notes.txt", "One. Two."))]
    ['notes.txt#0-9']
    """
    spans = _groups(_units(document.text))
    if document.is_row and len(spans) == 1:
        return [CutPassage(document.name, document.text, document.title)]
    return [
        CutPassage(f"{document.name}#{start}-{end}", document.text[start:end], document.title) for start, end in spans
    ]


def _units(text: str) -> list[tuple[int, int, int]]:
    """Start, end and number of words of every sentence, and of the parts of those that are too long."""
    units = []
    for start, end in sentence_spans(text):
        words = len(text[start:end].split())
        if words <= _LONGEST_SENTENCE:
            units.append((start, end, words))
        else:
            units += _parts(text, start, end)
    return units


def _parts(text: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """A sentence cut between words."""
    starts = []
    place = start
    for word in text[start:end].split():
        place = text.index(word, place)
        starts.append((place, place + len(word)))
        place += len(word)
    parts = [starts[first : first + PASSAGE_WORDS] for first in range(0, len(starts), PASSAGE_WORDS)]
    return [(part[0][0], part[-1][1], len(part)) for part in parts]


def _groups(units: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Neighbouring units joined until the next one would lead further from the wanted length."""
    groups: list[tuple[int, int, int]] = []
    for start, end, words in units:
        held = groups[-1][2] if groups else math.inf
        if held + words / 2 <= PASSAGE_WORDS:
            groups[-1] = (groups[-1][0], end, int(held) + words)
        else:
            groups.append((start, end, words))
    if len(groups) > 1 and groups[-1][2] < _SHORTEST_END:
        _, end, _ = groups.pop()
        groups[-1] = (groups[-1][0], end, 0)
    return [(start, end) for start, end, _ in groups]


TEXT_SUFFIXES = (".txt", ".md", ".markdown", ".rst")
ROW_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
KNOWN_SUFFIXES = (*TEXT_SUFFIXES, *ROW_SUFFIXES)
_TEXT_FIELDS = ("text", "passage", "content")
_NAME_FIELDS = ("evidence_id", "id", "_id")
_TITLE_FIELDS = ("title", "source")


class Skipped(Struct, frozen=True):
    """Something in a knowledge base that is not looked up."""

    place: str
    """A file, or a file and a line."""
    reason: str


class BaseFile(Struct, frozen=True):
    """A file of a knowledge base."""

    name: str
    """Its path below the knowledge base, with slashes."""
    path: Path
    has_passage_per_line: bool = False
    """Whether a text file holds one passage per line, after a source and a tab or not."""


def list_files(base: Path) -> tuple[list[BaseFile], list[Skipped]]:
    """The files that may hold documents, in order of their names, and the others.

    A text file given by itself holds one passage per line; inside a folder it is one document.
    """
    if base.is_file():
        suffix = base.suffix.lower()
        if suffix not in KNOWN_SUFFIXES:
            expected = ", ".join(KNOWN_SUFFIXES)
            raise InputError(
                f"{base}: a knowledge base is a folder or a file in {expected}; found {suffix or 'none'!r}"
            )
        return [BaseFile(base.name, base, has_passage_per_line=suffix in {".txt", ".tsv"})], []
    if not base.is_dir():
        raise InputError(f"{base}: there is no such file or folder; name a folder of texts or a JSONL file")
    files: list[BaseFile] = []
    skipped: list[Skipped] = []
    for folder, below, names in os.walk(base):
        hidden = {name for name in below if name.startswith(".")}
        skipped += [Skipped(f"{_name(base, Path(folder, name))}/", "hidden folder") for name in hidden]
        below[:] = sorted(set(below) - hidden)
        for path in [Path(folder, name) for name in names]:
            file = BaseFile(_name(base, path), path)
            if (reason := _reason_to_skip(path)) is None:
                files.append(file)
            else:
                skipped.append(Skipped(file.name, reason))
    return sorted(files, key=lambda file: file.name), sorted(skipped, key=lambda entry: entry.place)


def _reason_to_skip(path: Path) -> str | None:
    if path.name.startswith("."):
        return "hidden file"
    if not path.is_file():
        return "not a file: a broken link, a pipe or a device"
    if path.suffix.lower() not in KNOWN_SUFFIXES:
        return f"not a text file: {path.suffix or 'no suffix'}"
    return None


def digest_of(files: list[BaseFile], settings: str) -> str:
    """Changes whenever a file is added, removed, renamed or changed, or a setting is."""
    total = hashlib.blake2b(settings.encode(), digest_size=16)
    for file in files:
        with _opened(file.path) as stream:
            content = hashlib.file_digest(stream, "blake2b").digest()
        total.update(file.name.encode("utf-8", "surrogatepass") + b"\0" + content)
    return total.hexdigest()


def read_documents(files: list[BaseFile], skip: Callable[[Skipped], None]) -> Iterator[Document]:
    """The documents of all files, each under a name of its own; what holds none is handed to `skip`."""
    seen: set[str] = set()
    for file in files:
        try:
            with _opened(file.path) as stream:
                text = stream.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            skip(Skipped(file.name, f"not UTF-8 (byte {error.start})"))
            continue
        for place, document in _documents_in(file, text):
            if isinstance(document, str):
                skip(Skipped(place, document))
            elif not any(character.isalnum() for character in document.text):
                skip(Skipped(place, "no words"))
            else:
                name = document.name if document.name not in seen else f"{document.name}@{place}"
                seen.add(name)
                yield msgspec.structs.replace(document, name=name)


def _documents_in(file: BaseFile, text: str) -> Iterator[tuple[str, Document | str]]:
    """Places with their document, or with the reason why there is none."""
    suffix = file.path.suffix.lower()
    if file.has_passage_per_line:
        yield from _passage_lines(file.name, text)
    elif suffix in TEXT_SUFFIXES:
        yield file.name, Document(file.name, text)
    elif suffix in {".jsonl", ".ndjson"}:
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield _row(f"{file.name}:{number}", _decoded(line))
    elif suffix == ".json":
        value = _decoded(text)
        rows = value if isinstance(value, list) else [value]
        for number, row in enumerate(rows, start=1):
            yield _row(f"{file.name}:{number}" if isinstance(value, list) else file.name, row)
    else:
        yield from _table_rows(file.name, text, delimiter="\t" if suffix == ".tsv" else ",")


def _passage_lines(name: str, text: str) -> Iterator[tuple[str, Document]]:
    for number, line in enumerate(text.split("\n"), start=1):
        source, tab, passage = line.partition("\t")
        if line.strip():
            place = f"{name}:{number}"
            found = (passage, source) if tab else (line, "")
            yield place, Document(place, found[0].strip(), title=found[1].strip(), is_row=True)


def _table_rows(name: str, text: str, *, delimiter: str) -> Iterator[tuple[str, Document | str]]:
    # The lines of a cell stay together, and a quoted cell may be as long as it is.
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    if not set(_TEXT_FIELDS) & set(rows.fieldnames or ()):
        yield name, f"no column called {', '.join(_TEXT_FIELDS)}"
        return
    for row in rows:
        yield _row(f"{name}:{rows.line_num}", row)


def _row(place: str, row: Any) -> tuple[str, Document | str]:
    """The document of one row, or why there is none."""
    if isinstance(row, _NotJson):
        return place, f"not JSON: {row}"
    if isinstance(row, str):
        return place, Document(place, row, is_row=True)
    if not isinstance(row, dict):
        return place, f"expected an object with a text, found {type(row).__name__}"
    text = _first(row, _TEXT_FIELDS)
    if text is None:
        return place, f"no text in {', '.join(_TEXT_FIELDS)}"
    name, title = _first(row, _NAME_FIELDS) or place, _first(row, _TITLE_FIELDS) or ""
    return place, Document(name, text, title=title, is_row=True)


def _first(row: dict[str, Any], names: tuple[str, ...]) -> str | None:
    """The first of these fields that holds something."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value)
    return None


class _NotJson(str):
    """What is wrong with a text that should have been JSON."""

    __slots__ = ()


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text.encode("utf-8", "surrogatepass"))
    except (msgspec.DecodeError, RecursionError) as error:
        return _NotJson(error)


def _opened(path: Path) -> io.BufferedReader:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be opened ({error.strerror or error})") from error


def _name(base: Path, path: Path) -> str:
    return path.relative_to(base).as_posix()
