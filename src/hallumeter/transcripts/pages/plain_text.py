"""Text from bytes in whatever encoding it came: nothing is lost, and what was guessed is said."""

from __future__ import annotations

import codecs
import re

from hallumeter.errors import InputError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins like the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"""(?:charset|encoding)\s{0,9}=\s{0,9}["']?([\w-]{1,40})""", re.IGNORECASE)
_TRUSTED = re.compile(
    r"iso-8859-\d+|latin-?1|(?:windows-|cp)\d+|euc-(?:kr|jp|cn)|ks_c_5601-1987|shift_jis|gb(?:2312|k|18030)|big5|koi8-[ru]",
    re.IGNORECASE,
)
"""Encodings of letters; Python knows others, of which some are slow and some are none."""
_DECLARED_WITHIN = 1024

_CONTROLS = bytes([*range(9), *range(14, 32), 127])
_FEWEST_CONTROLS = 8
_BINARY_SHARE = 0.05
"""Random bytes hold 0.11 of control characters."""
_BINARY_BEGINNINGS = (b"\x89PNG", b"\xff\xd8\xff", b"%PDF-", b"PK\x03\x04", b"\x1f\x8b", b"II*\0", b"MM\0*", b"PAR1")


def _by_escape() -> dict[int, str]:
    """The character of each byte that UTF-8 could not read, in cp1252 or, where that has none, in Latin-1."""
    table = {}
    for byte in range(0x80, 0x100):
        raw = bytes([byte])
        table[0xDC00 + byte] = raw.decode("cp1252", "ignore") or raw.decode("latin-1")
    return table


_BY_ESCAPE = _by_escape()


def decode(data: bytes, *, is_markup: bool = False) -> tuple[str, list[str]]:
    r"""The text of a file, and notices of what had to be guessed; line ends become line feeds.

    A byte order mark is obeyed and left out. Without one the text is UTF-8, and bytes that are not are read as cp1252,
    each on its own, so that files of mixed encodings come out whole; markup may declare another encoding. Raises
    InputError, without the file's name, for what is no text.

    >>> decode(b"\xef\xbb\xbfd\xc3\xa9j\xe0\r\nvu")
    ('déjà\nvu', ['some bytes are not UTF-8 and were read as cp1252; check the letters, or save the file as UTF-8'])
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text, notices = _marked(data[len(mark) :], encoding)
            break
    else:
        controls = len(data) - len(data.translate(None, _CONTROLS))
        is_full_of_controls = controls > _FEWEST_CONTROLS and controls > _BINARY_SHARE * len(data)
        if is_full_of_controls or data.startswith(_BINARY_BEGINNINGS):
            raise InputError("looks like a binary file, not text; if it is UTF-16 without a mark, save it as UTF-8")
        text, notices = _unmarked(data, is_markup=is_markup)
    if "\0" in text:
        notices.append("NUL characters were left out")
        text = text.replace("\0", "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, notices


def read_plain_text(data: bytes) -> tuple[str, list[str]]:
    r"""The text of a plain file and notices; line breaks and form feeds at its end are left out.

    >>> read_plain_text(b"a page of Tesseract\n\x0c")
    ('a page of Tesseract', [])
    """
    text, notices = decode(data)
    if text.lstrip()[:6].lower() in {"<?xml ", "<html>", "<html "}:
        notices.append("begins like XML or HTML but was read as plain text, because of its name")
    return text.rstrip("\n\f"), notices


def _marked(data: bytes, encoding: str) -> tuple[str, list[str]]:
    if encoding == "utf-8":
        return _unmarked(data, is_markup=False)
    text = data.decode(encoding, "replace")
    if "\ufffd" not in text:
        return text, []
    return text, [f"some characters are not valid {encoding[:6].upper()} and became \ufffd"]


def _unmarked(data: bytes, *, is_markup: bool) -> tuple[str, list[str]]:
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError:
        pass
    declared = _DECLARED.search(data[:_DECLARED_WITHIN]) if is_markup else None
    name = declared[1].decode("ascii", "replace") if declared else ""
    if _TRUSTED.fullmatch(name):
        try:
            return data.decode(name, "replace"), [f"read as {name}, as it declares"]
        except LookupError:
            pass  # a code page that Python does not have
    text = data.decode("utf-8", "surrogateescape").translate(_BY_ESCAPE)
    # Without a count, so that the notices of many files are one.
    how = "some bytes are not UTF-8 and were read as cp1252"
    return text, [f"{how}; check the letters, or save the file as UTF-8"]
