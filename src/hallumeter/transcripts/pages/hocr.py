"""hOCR: HTML whose classes say what is a line and what is a word."""

from __future__ import annotations

import functools
import html
import re
from collections import Counter

from hallumeter.errors import InputError

from .layout import Box, Confidence, LinePlace, placed_lines

# Every alternative takes all it has looked at, so that the time is linear in the length whatever is left unclosed;
# the standard library's parser takes minutes for some files of 100 kB. Hence the possessive forms (*+), and hence at
# most three angle brackets inside a quoted value.
_TOKEN = re.compile(
    r"""
      <!--.*?(?:-->|\Z)
    | <[!?][^<>]*+>?
    | <(?P<slash>/?)(?P<name>[A-Za-z][^\s/<>]*+)
       (?P<attributes>(?:[^<>"']++|"[^"<]*+(?:<[^"<]*+){0,3}+"|'[^'<]*+(?:<[^'<]*+){0,3}+')*+)>?
    | (?P<text>[^<]++|<)
    """,
    re.VERBOSE | re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""([^\s=/"']++)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s"']++))?+""")
_STATED = re.compile(r"x_wconf\s{1,9}(\d{1,3}(?:\.\d{1,9})?)")
_BOX = re.compile(r"\bbbox" + 4 * r"\s{1,9}(-?\d{1,7})(?:\.\d{1,9})?")
_WHITE = re.compile(r"[ \t\n\f\r]+")
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
_BREAKING = {"br", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "p", "table", "td", "tr"}
_UNSEEN = {"head", "script", "style", "title"}
_WORDS = {"ocrx_word", "ocr_word"}
_CHARACTERS = {"ocrx_cinfo", "ocr_cinfo", "ocr_glyph", "ocrx_glyph"}
_CLASS_BEGINNINGS = ("ocr_", "ocrx_")


def read_hocr(text: str) -> tuple[str, float | None, tuple[LinePlace, ...]]:
    """The text of an hOCR page: words joined by a space, lines by a line break, and paragraphs by one too.

    The second is how sure the engine is of its words, by their `x_wconf`; None when it does not say. The third is
    where the lines stand, by their `bbox`.

    Only text inside elements with a class of hOCR counts. Raises InputError, without the file's name, when there is
    no such element.

    >>> read_hocr("<p class=ocr_par><span class=ocrx_word>a&amp;b</span><span class=ocrx_word>c</span></p>")
    ('a&b c', None, ())
    """
    page, confidence = _Page(), Confidence()
    for token in _TOKEN.finditer(text):
        name = token["name"]
        if name is None:
            page.add(token["text"] or "")
        elif token["slash"]:
            page.end(name.lower())
        else:
            attributes = token["attributes"]
            stated = _STATED.search(attributes) if "x_wconf" in attributes else None
            if stated is not None:
                confidence.add(stated[1], of=100)
            element = _element_of(name.lower(), _classes(attributes))
            page.begin(element, attributes if element.is_area else "", is_empty=attributes.endswith("/"))
    if not page.is_hocr:
        raise InputError(
            "holds no hOCR: expected elements with classes such as ocr_page, ocr_line and ocrx_word; "
            "name it .txt if it is plain text"
        )
    return page.text(), confidence.mean, page.places()


def _classes(attributes: str) -> str:
    for attribute in _ATTRIBUTE.finditer(attributes):
        if attribute[1].lower() == "class":
            return (attribute[2] or "").strip("\"'")
    return ""


class _Element:
    __slots__ = ("is_area", "is_breaking", "is_character", "is_hocr", "is_page", "is_unseen", "is_word", "name")

    def __init__(self, name: str, classes: set[str]) -> None:
        self.name = name
        self.is_word = not classes.isdisjoint(_WORDS)
        self.is_character = not classes.isdisjoint(_CHARACTERS)
        self.is_hocr = any(label.startswith(_CLASS_BEGINNINGS) for label in classes)
        is_line_or_more = self.is_hocr and not self.is_word and not self.is_character
        self.is_breaking = is_line_or_more or name in _BREAKING
        self.is_area = is_line_or_more
        self.is_page = "ocr_page" in classes
        self.is_unseen = name in _UNSEEN


@functools.lru_cache(maxsize=1024)
def _element_of(name: str, classes: str) -> _Element:
    """One object for all elements of a kind, so that thousands left open take no memory."""
    return _Element(name, set(classes.split()))


class _Page:
    """The lines so far, and which elements are open."""

    def __init__(self) -> None:
        self.is_hocr = False
        self._open: list[_Element] = []
        self._open_names: Counter[str] = Counter()
        self._hocr = self._unseen = self._words = self._characters = 0
        self._has_characters = False
        self._after_word = False
        self._line: list[str] = []
        self._lines: list[tuple[str, Box | None]] = []
        self._box: Box | None = None
        self._whole: Box | None = None

    def begin(self, element: _Element, attributes: str, *, is_empty: bool) -> None:
        self.is_hocr |= element.is_hocr
        if element.is_breaking:
            self._break()
        if element.is_area:
            stated = _BOX.search(attributes)
            box: Box | None = (int(stated[1]), int(stated[2]), int(stated[3]), int(stated[4])) if stated else None
            if element.is_page:
                self._whole = box
            else:
                self._box = box
        if element.is_word:
            if self._after_word:
                self._line.append(" ")
            self._has_characters = False
        self._has_characters |= element.is_character
        if not is_empty and element.name not in _VOID:
            self._open.append(element)
            self._count(element, 1)

    def end(self, name: str) -> None:
        """End an element with all that was left open in it; an end without a beginning is passed over."""
        while self._open_names[name]:
            element = self._open.pop()
            self._count(element, -1)
            if element.is_breaking:
                self._break()
            if element.is_area:
                self._box = None
            if element.is_word:
                self._after_word = True
            if element.name == name:
                return

    def add(self, text: str) -> None:
        if not self._hocr or self._unseen:
            return
        # Characters with boxes of their own are set apart by white space that the word does not have.
        if self._words and self._has_characters and not self._characters:
            text = text.strip(" \t\n\f\r")
        if text:
            self._line.append(text)
            self._after_word = False

    def text(self) -> str:
        self._break()
        return "\n".join(line for line, _ in self._lines)

    def places(self) -> tuple[LinePlace, ...]:
        return placed_lines(self._lines, self._whole)

    def _count(self, element: _Element, change: int) -> None:
        self._open_names[element.name] += change
        self._hocr += change * element.is_hocr
        self._unseen += change * element.is_unseen
        self._words += change * element.is_word
        self._characters += change * element.is_character

    def _break(self) -> None:
        line = _WHITE.sub(" ", _unescaped("".join(self._line))).strip(" ")
        self._line.clear()
        self._after_word = False
        if line:
            self._lines.append((line, self._box))


def _unescaped(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # the number of a character with thousands of digits
        return text
