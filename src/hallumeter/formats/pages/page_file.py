"""One page from one file, whatever its format."""

from __future__ import annotations

import stat
from pathlib import Path

from msgspec import Struct

from hallumeter.errors import InputError
from hallumeter.text.printable import one_line

from .alto import AltoReader
from .hocr import read_hocr
from .names import page_name
from .page_xml import PageXmlReader
from .plain_text import decode, read_plain_text
from .safe_xml import read_elements, root_name

LARGEST_BYTES = 256 << 20
"""A larger file is refused: it is hardly one page, and it must not fill the memory."""
_TEXT = (".txt", ".text", ".md")
_HTML = (".hocr", ".html", ".htm", ".xhtml")
_XML = (".xml",)
PAGE_SUFFIXES = (*_TEXT, *_HTML, *_XML)
"""How the names of page files end."""
ROOTS: dict[str, type[AltoReader | PageXmlReader] | None] = {"alto": AltoReader, "PcGts": PageXmlReader, "html": None}
"""The outermost elements of the formats in XML; HTML has a reader of its own."""


class Page(Struct, frozen=True):
    """The text of one page."""

    name: str
    """The file's name without its endings, as in `page_name`."""
    text: str
    """Lines joined by line feeds; empty when the file holds no text."""
    notices: tuple[str, ...] = ()
    """What had to be guessed or left out, for people."""


def read_page_file(path: Path) -> Page:
    """Read a page from plain text, hOCR, ALTO or PAGE XML; of the last two the content decides, not the name.

    Raises InputError, in one line, for whatever cannot be used.
    """
    suffix = path.suffix.lower()
    if suffix not in PAGE_SUFFIXES:
        known = ", ".join(PAGE_SUFFIXES)
        raise InputError(f"{path}: unknown ending {suffix!r} of a page; expected one of {known}")
    _check(path)
    try:
        text, notices = _read_xml(path) if suffix in _XML else _read_text(path, is_html=suffix in _HTML)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    return Page(page_name(path.name), text, tuple(notices))


def _check(path: Path) -> None:
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be opened ({error})") from error
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path}: is a folder; expected the file of one page")
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path}: is no ordinary file; save the page as one")
    if status.st_size > LARGEST_BYTES:
        raise InputError(
            f"{path}: has {status.st_size:,} bytes, but a page may have at most {LARGEST_BYTES:,}; split it"
        )


def _read_xml(path: Path) -> tuple[str, list[str]]:
    if path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty; expected ALTO, PAGE XML or hOCR")
    root = root_name(path)
    if root not in ROOTS:
        raise InputError(
            f"{path}: the outermost element is <{one_line(root)[:40]}>; "
            f"expected <alto> of ALTO, <PcGts> of PAGE XML or <html> of hOCR"
        )
    reader_type = ROOTS[root]
    if reader_type is None:
        return _read_text(path, is_html=True)
    reader = reader_type()
    read_elements(path, reader)
    return reader.text(), []


def _read_text(path: Path, *, is_html: bool) -> tuple[str, list[str]]:
    data = path.read_bytes()
    try:
        if not is_html:
            return read_plain_text(data)
        text, notices = decode(data, is_markup=True)
        return read_hocr(text), notices
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
