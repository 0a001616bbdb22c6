"""TEI: the transcription of a page, as it is written and not as an editor reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping

_WHITE = re.compile(r"[ \t\r\n]+")
_LEFT_OUT = {"teiHeader", "facsimile", "standOff", "reg", "corr", "expan", "del", "figDesc", "desc"}
"""What is not on the page, or is there only in another form; `orig`, `sic` and `abbr` stand for the last."""
_BREAKING = {"ab", "cb", "closer", "div", "head", "item", "l", "lb", "lg", "opener", "p", "pb", "row", "fw", "salute"}


class TeiReader:
    """Gathers the text of a TEI file.

    Lines end at `lb` and around paragraphs, verses, headings and the like. Where an editor gives two readings, the one
    of the page counts (`orig`, `sic`, `abbr`); what was deleted, and notes without a place on the page, are left out.
    """

    def __init__(self) -> None:
        self._unseen = 0
        self._is_seen: list[bool] = []
        self._line: list[str] = []
        self._lines: list[str] = []
        self._pages = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        is_unseen = name in _LEFT_OUT or (name == "note" and "place" not in attributes)
        self._is_seen.append(not is_unseen)
        self._unseen += is_unseen
        self._pages += name == "pb"
        if name in _BREAKING:
            self._break()

    def data(self, text: str) -> None:
        """Some text."""
        if not self._unseen:
            self._line.append(text)

    def end(self, name: str) -> None:
        """An element ends."""
        self._unseen -= not self._is_seen.pop()
        if name in _BREAKING:
            self._break()

    def text(self) -> str:
        """The whole page."""
        self._break()
        return "\n".join(self._lines)

    @property
    def notices(self) -> list[str]:
        """That the file holds several pages, which are read as one."""
        return ["holds several pages, which were read as one; export a file for each page"] * (self._pages > 1)

    def _break(self) -> None:
        line = _WHITE.sub(" ", "".join(self._line)).strip(" ")
        self._line.clear()
        if line:
            self._lines.append(line)
