"""XML from unknown hands, element by element: nothing is expanded, fetched, or kept that is not asked for."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Protocol
from xml.parsers import expat

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
    parser = _parser(_Target(reader, path))
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK_BYTES):
                parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except _EntityError as error:
        raise InputError(
            f"{path}: declares the XML entity{error}; entities are not expanded, because they can hide a bomb or "
            f"another file: remove the declaration"
        ) from error
    except (expat.ExpatError, _UndefinedError) as error:
        line, column = error.args[1:] if isinstance(error, _UndefinedError) else (error.lineno, error.offset)
        reason = str(error.args[0]).partition(": line")[0]
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


class _EntityError(Exception):
    """An entity is declared, or another file is referred to; the message is its name, quoted, after a space."""


class _UndefinedError(Exception):
    """Something stands for a text that nothing declares; what, in which line and column."""


def _parser(target: _Target) -> expat.XMLParserType:
    """A parser that stops at whatever could make it expand or fetch something.

    Expat tells of a declaration before it uses it, and fetches nothing by itself.
    """
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler = target.start
    parser.EndElementHandler = target.end
    parser.CharacterDataHandler = target.data
    parser.EntityDeclHandler = _refuse_declaration
    parser.UnparsedEntityDeclHandler = _refuse_declaration
    parser.ExternalEntityRefHandler = _refuse_reference
    parser.SkippedEntityHandler = partial(_refuse_undefined, parser)
    return parser


def _refuse_declaration(name: str, *_: object) -> None:
    raise _EntityError(f" {_quoted(name)}")


def _refuse_reference(*_: object) -> int:
    raise _EntityError


def _refuse_undefined(parser: expat.XMLParserType, name: str, is_parameter: bool) -> None:
    if not is_parameter:
        raise _UndefinedError(f"undefined entity &{name};", parser.CurrentLineNumber, parser.CurrentColumnNumber)


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
        self._reader.start(tag.rpartition("}")[2], {_with_braces(name): text for name, text in attributes.items()})

    def end(self, tag: str) -> None:
        self._depth -= 1
        self._reader.end(tag.rpartition("}")[2])


def _with_braces(name: str) -> str:
    """The name of an attribute; its namespace, where it has one, between braces."""
    return f"{{{name}" if "}" in name else name


def _quoted(name: str) -> str:
    return repr(name if len(name) <= _LONGEST_QUOTE else f"{name[:_LONGEST_QUOTE]}…")
