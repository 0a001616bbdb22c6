"""XML from unknown hands, element by element: nothing is expanded, fetched, or kept that is not asked for."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from defusedxml.common import DefusedXmlException, EntitiesForbidden
from defusedxml.ElementTree import DefusedXMLParser, ParseError

from hallumeter.errors import InputError
from hallumeter.text.normalize import one_line

CHUNK_BYTES = 1 << 20
DEEPEST = 1000
"""Elements inside elements; the formats of pages need about twenty."""
_LONGEST_QUOTE = 40


class ElementReader(Protocol):
    """What is told of each element, by its name without namespace."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""

    def data(self, text: str) -> None:
        """Some of its text."""

    def end(self, name: str) -> None:
        """It ends."""


def read_elements(path: Path, reader: ElementReader) -> None:
    """Tell the reader of every element of a file, in memory that does not grow with the file.

    A document type is let pass, but a declaration of an entity is refused: it could be a bomb, or read another file.
    """
    parser = DefusedXMLParser(target=_Target(reader, path), forbid_dtd=False)
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK_BYTES):
                parser.feed(chunk)
        parser.close()
    except DefusedXmlException as error:
        name = f" {_quoted(error.name)}" if isinstance(error, EntitiesForbidden) else ""
        raise InputError(
            f"{path}: declares the XML entity{name}; entities are not expanded, because they can hide a bomb or "
            f"another file: remove the declaration"
        ) from error
    except ParseError as error:
        line, column = error.position
        reason = str(error).rpartition(": line")[0]
        raise InputError(
            f"{path}: not valid XML at line {line}, column {column + 1} ({one_line(reason)}); export the page again"
        ) from error
    except (LookupError, ValueError) as error:
        raise InputError(f"{path}: cannot be decoded ({one_line(str(error))}); save it as UTF-8") from error


def root_name(path: Path) -> str:
    """The name of the outermost element, read no further than that."""
    root = _Root()
    with suppress(_RootFoundError):
        read_elements(path, root)
    return root.name


class _RootFoundError(Exception):
    """Ends the reading early."""


class _Root:
    name = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:  # noqa: ARG002
        self.name = name
        raise _RootFoundError

    def data(self, text: str) -> None: ...

    def end(self, name: str) -> None: ...


class _Target:
    """Takes namespaces away, and refuses elements nested so deeply that only an attack explains them."""

    def __init__(self, reader: ElementReader, path: Path) -> None:
        self._reader = reader
        self._path = path
        self._depth = 0
        self.data = reader.data

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise InputError(f"{self._path}: elements stand more than {DEEPEST} deep in each other; no page needs that")
        self._reader.start(tag.rpartition("}")[2], attributes)

    def end(self, tag: str) -> None:
        self._depth -= 1
        self._reader.end(tag.rpartition("}")[2])


def _quoted(name: str) -> str:
    return repr(name if len(name) <= _LONGEST_QUOTE else f"{name[:_LONGEST_QUOTE]}…")
