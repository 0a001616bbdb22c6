"""METS: which files of a digital object belong to which page, in groups such as OCR-D-GT-PAGE."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from hallumeter.errors import InputError
from hallumeter.formats.paths import path_below

from .safe_xml import read_elements, root_name

_HREF = "{http://www.w3.org/1999/xlink}href"


class MetsFile(Struct, frozen=True):
    """A file of a group."""

    page: str
    """The identifier of its page in the structure map; that of the file when the map does not name it."""
    href: str
    mimetype: str


class _Reader:
    """Gathers files by group, and the pages that they belong to."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[str, str, str]] = {}
        """By identifier the group, the address and the type of each file."""
        self.pages: dict[str, str] = {}
        """By identifier of a file the page."""
        self._groups: list[str] = []
        self._file: tuple[str, str] | None = None
        self._divisions: list[str | None] = []
        self._is_physical = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "fileGrp":
            self._groups.append(attributes.get("USE") or attributes.get("ID") or (self._groups or ["files"])[-1])
        elif name == "file":
            self._file = (attributes.get("ID", ""), attributes.get("MIMETYPE", ""))
        elif name == "FLocat" and self._file is not None and self._groups:
            identifier, mimetype = self._file
            self.files.setdefault(identifier, (self._groups[-1], attributes.get(_HREF, ""), mimetype))
        elif name == "structMap":
            self._is_physical = attributes.get("TYPE", "PHYSICAL").upper() != "LOGICAL"
        elif name == "div":
            self._divisions.append(attributes.get("ID") or attributes.get("ORDER"))
        elif name in {"fptr", "area"} and self._is_physical and self._divisions and self._divisions[-1]:
            self.pages.setdefault(attributes.get("FILEID", ""), self._divisions[-1])

    def data(self, text: str) -> None: ...

    def end(self, name: str) -> None:
        if name == "fileGrp":
            self._groups.pop()
        elif name == "file":
            self._file = None
        elif name == "div":
            self._divisions.pop()


def is_mets(path: Path) -> bool:
    """Whether a file is METS, by its outermost element."""
    if path.suffix.lower() != ".xml" or not path.is_file():
        return False
    try:
        return root_name(path) == "mets"
    except (InputError, OSError):
        return False


def read_mets(path: Path) -> dict[str, list[MetsFile]]:
    """The files of a METS file by group, in its order."""
    reader = _Reader()
    read_elements(path, reader)
    groups: dict[str, list[MetsFile]] = {}
    for identifier, (group, href, mimetype) in reader.files.items():
        groups.setdefault(group, []).append(MetsFile(reader.pages.get(identifier, identifier), href, mimetype))
    if not groups:
        raise InputError(f"{path}: lists no files; expected mets:fileGrp with mets:file and mets:FLocat")
    return groups


def local_path(href: str, folder: Path) -> Path | None:
    """The file that an address names, below a folder; None when it is on the web, or leads out of the folder."""
    try:
        parts = urlsplit(href)
    except ValueError:  # no address at all, such as one with a bracket in its host
        return None
    if parts.scheme not in {"", "file"} or parts.netloc not in {"", "localhost"}:
        return None
    return path_below(folder, PurePosixPath(unquote(parts.path)))
