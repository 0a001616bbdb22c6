"""One page from one file, whatever its format."""

from __future__ import annotations

import re
import stat
import unicodedata
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from hallumeter.errors import InputError
from hallumeter.text.normalize import one_line

from .alto import AltoReader
from .hocr import read_hocr
from .json_page import read_json_page
from .layout import LinePlace
from .page_xml import PageLevel, PageXmlReader
from .plain_text import decode, read_plain_text
from .safe_xml import read_elements, root_name
from .tei import TeiReader

# The name of a page from the name of its file, so that files of different engines find each other.

_GROUP = re.compile(r"OCR-D(?:-[A-Z0-9]+)+_(?=[^.])", re.IGNORECASE)
"""The file group of OCR-D that a file's name begins with."""
_ROLE = re.compile(r"(?:gt|ocrd?|pred)(?:-.*)?", re.IGNORECASE)


def composed_name(name: str) -> str:
    """A file's or folder's name in the form NFC: some systems take é and 한 apart."""
    # Names that are not UTF-8 reach Python in pieces that cannot be written again.
    readable = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return unicodedata.normalize("NFC", readable)


def page_name(file_name: str) -> str:
    """A file's name without its endings, in the form NFC.

    First the endings that tell a format go (`.txt`, `.page.xml`, `.alto.xml`). Then the name is cut at the first part
    between dots that says whose reading it is: `gt`, `ocr`, `ocrd` or `pred`, alone or followed by a dash. The part
    before the first dot always stays, but for a file group of OCR-D before it: `OCR-D-GT-PAGE_0001` is page `0001`.

    >>> page_name("00000139.gt.page.xml"), page_name("00000139.ocrd-tess.ocr.page.xml"), page_name("vol.2.page.7.txt")
    ('00000139', '00000139', 'vol.2.page.7')
    """
    parts = _GROUP.sub("", composed_name(file_name), count=1).split(".")
    while len(parts) > 1 and f".{parts[-1].lower()}" in _FORMAT_ENDINGS:
        parts.pop()
    role = next((place for place, part in enumerate(parts) if place and _ROLE.fullmatch(part)), len(parts))
    return ".".join(parts[:role])


LARGEST_BYTES = 256 << 20
"""A larger file is refused: it is hardly one page, and it must not fill the memory."""


Read = tuple[str, list[str], float | None, tuple[LinePlace, ...]]
"""A text, notices of what was guessed, how sure the engine is of its words, and where the lines stand."""


def _read_html(data: bytes) -> Read:
    text, notices = decode(data, is_markup=True)
    read, confidence, places = read_hocr(text)
    return read, notices, confidence, places


def _read_plain(data: bytes) -> Read:
    return (*read_plain_text(data), None, ())


def _read_json(data: bytes) -> Read:
    return read_json_page(data), [], None, ()


_READERS: dict[str, Callable[[bytes], Read]] = {
    **dict.fromkeys((".txt", ".text", ".md"), _read_plain),
    **dict.fromkeys((".hocr", ".html", ".htm", ".xhtml"), _read_html),
    ".json": _read_json,
}
"""Who makes text, and notices, of the bytes of a file that ends so."""
_XML = ".xml"
PAGE_SUFFIXES = (*_READERS, _XML)
"""How the names of page files end."""
_FORMAT_ENDINGS = {*PAGE_SUFFIXES, ".page", ".alto"}


def _alto(_: PageLevel) -> AltoReader:
    return AltoReader()


def _tei(_: PageLevel) -> TeiReader:
    return TeiReader()


ROOTS: dict[str, Callable[[PageLevel], AltoReader | PageXmlReader | TeiReader] | None] = {
    "alto": _alto,
    "PcGts": PageXmlReader,
    "TEI": _tei,
    "html": None,
}
"""The outermost elements of the formats in XML; HTML has a reader of its own."""


class Page(Struct, frozen=True):
    """The text of one page."""

    name: str
    """The file's name without its endings, as in `page_name`."""
    text: str
    """Lines joined by line feeds; empty when the file holds no text."""
    notices: tuple[str, ...] = ()
    """What had to be guessed or left out, for people."""
    confidence: float | None = None
    """How sure the engine is of its words, as hOCR and ALTO state it; None when the file does not say."""
    places: tuple[LinePlace, ...] = ()
    """Where the lines stand on the image of the page, as far as the file says."""


def read_page_file(path: Path, *, level: PageLevel = "line") -> Page:
    """Read a page from plain text, hOCR, JSON, ALTO, PAGE XML or TEI; of XML the content decides, not the name.

    `level` says which text of a PAGE XML file counts where regions, lines and words have one each.

    Raises InputError, in one line, for whatever cannot be used.
    """
    suffix = path.suffix.lower()
    if suffix not in PAGE_SUFFIXES:
        known = ", ".join(PAGE_SUFFIXES)
        raise InputError(f"{path}: unknown ending {suffix!r} of a page; expected one of {known}")
    _check(path)
    try:
        read = _read_xml(path, level) if suffix == _XML else _read_bytes(path, _READERS[suffix])
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    text, notices, confidence, places = read
    return Page(page_name(path.name), text, tuple(notices), confidence, places)


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


def _read_xml(path: Path, level: PageLevel) -> Read:
    if path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty; expected ALTO, PAGE XML, TEI or hOCR")
    root = root_name(path)
    if root not in ROOTS:
        raise InputError(
            f"{path}: the outermost element is <{one_line(root)[:40]}>; "
            f"expected <alto> of ALTO, <PcGts> of PAGE XML, <TEI> or <html> of hOCR"
        )
    make_reader = ROOTS[root]
    if make_reader is None:
        return _read_bytes(path, _read_html)
    reader = make_reader(level)
    read_elements(path, reader)
    notices = reader.notices if isinstance(reader, TeiReader) else []
    confidence = reader.confidence.mean if isinstance(reader, AltoReader) else None
    places = () if isinstance(reader, TeiReader) else reader.places()
    return reader.text(), notices, confidence, places


def _read_bytes(path: Path, read: Callable[[bytes], Read]) -> Read:
    try:
        return read(path.read_bytes())
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
