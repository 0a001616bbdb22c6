"""The name of a page from the name of its file, so that files of different engines find each other."""

from __future__ import annotations

import re
import unicodedata

_FORMAT_WORDS = {"txt", "text", "md", "xml", "html", "htm", "xhtml", "hocr", "page", "alto"}
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
    before the first dot always stays.

    >>> page_name("00000139.gt.page.xml"), page_name("00000139.ocrd-tess.ocr.page.xml"), page_name("vol.2.page.7.txt")
    ('00000139', '00000139', 'vol.2.page.7')
    """
    parts = composed_name(file_name).split(".")
    while len(parts) > 1 and parts[-1].lower() in _FORMAT_WORDS:
        parts.pop()
    role = next((place for place, part in enumerate(parts) if place and _ROLE.fullmatch(part)), len(parts))
    return ".".join(parts[:role])
