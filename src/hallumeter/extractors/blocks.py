"""The parts of a response that hold sentences: its lines without list marks, headings, code and table rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

# The line ends that the splitter of sentences knows.
_LINE = re.compile(r"[^\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_FENCE = re.compile(r"\s{0,3}(?:>\s?)*\s{0,3}(?P<marks>`{3,}(?=[^`]*$)|~{3,})\s*(?P<info>\S*)")
_QUOTE_MARK = r"(?:>\s?)*"
_BULLET = r"[-*+•·▪◦‣⁃●○■□➤►▶➔→✓✔✅☑–—]"
_NUMBER = (
    r"\*\*\d{1,3}[.)]\*\*|__\d{1,3}[.)]__|\d{1,3}[.)]|\(\d{1,3}\)|\(?[A-Za-z]\)|\(?[ivx]{1,5}\)|\d\ufe0f?\u20e3|[①-⑳]"
)
_MARKS = re.compile(rf"\s*{_QUOTE_MARK}\s*(?P<list>(?:{_BULLET}\s+|(?:{_NUMBER})(?:\s+|(?<=[⃣①-⑳])))*(?:\[[ xX]\]\s+)?)")
_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-{2,})\s*$")
_RULE = r"\s*+:?-++:?\s*+"
_TABLE_RULE = re.compile(rf"[\s>]*+\|?{_RULE}(?:\|{_RULE})++\|?\s*+$|[\s>]*+\|{_RULE}\|\s*+$")
_ALL_BOLD = re.compile(r"(?:\*\*(?:(?!\*\*).)+\*\*|__(?:(?!__).)+__)\s*$")
_ENDED = re.compile(r"[.!?:;…。！？：؟|][\"'”’»)\]*_`\s]*$")
_WORD = re.compile(r"[^\W_]")
_SMALL_LETTER = re.compile(r"[a-zß-öø-ÿœ]")
_TEXT_FENCES = frozenset({"markdown", "md", "text", "txt"})
_WRAPPED_FROM = 60
"""A line at least this long that has no mark at its end goes on in the next one."""


class Block(Struct, frozen=True):
    """A stretch of a response that is split into sentences, or is one claim as it stands."""

    start: int
    end: int
    is_row: bool = False
    """A row of a table: one claim."""


class _Line(Struct, frozen=True):
    start: int
    end: int
    text: str
    """What stands after the marks."""
    indent: int
    in_list: bool


def blocks_of(text: str) -> Iterator[Block]:
    r"""The blocks of a response in their order; headings, fenced code, and heads and rules of tables are none.

    A response that is one fenced block of Markdown or plain text as a whole is read as what it holds.

    >>> text = "# Paris\n- It is large.\n```\ncode\n```"
    >>> [text[block.start : block.end] for block in blocks_of(text)]
    ['It is large.']
    """
    lines = _lines(text)
    number = 0
    while number < len(lines):
        taken, block = _block_at(lines, number, text=text)
        if block is not None:
            yield block
        number += taken


def _lines(text: str) -> list[_Line]:
    """The lines outside of code that have something after their marks, or are a rule."""
    lines: list[_Line] = []
    opened: str | None = None
    reads_fence = _is_one_text_fence(text)
    for match in _LINE.finditer(text):
        line = match.group()
        fence = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence is not None and _closes(fence, opened):
            opened = None if opened else fence["marks"]
        elif opened is None or reads_fence:
            lines.append(_read_line(line, match.start()))
    return lines


def _is_one_text_fence(text: str) -> bool:
    whole = text.strip()
    fence = _FENCE.match(whole.partition("\n")[0]) if whole.startswith(("```", "~~~")) else None
    return (
        fence is not None
        and fence["info"].lower() in _TEXT_FENCES
        and whole.count(fence["marks"]) == 2
        and whole.endswith(fence["marks"])
    )


def _closes(fence: re.Match[str], opened: str | None) -> bool:
    """Whether a fence opens code, or closes the code that is open."""
    return opened is None or (fence["marks"].startswith(opened) and not fence["info"])


def _read_line(line: str, offset: int) -> _Line:
    marks = _MARKS.match(line)
    start = 0 if marks is None else marks.end()
    stripped = line[start:].rstrip()
    return _Line(
        start=offset + start,
        end=offset + start + len(stripped),
        text=stripped,
        indent=len(line) - len(line.lstrip()),
        in_list=marks is not None and bool(marks["list"]),
    )


def _block_at(lines: list[_Line], number: int, *, text: str) -> tuple[int, Block | None]:
    """How many lines the block at a line takes, and the block, if it can hold claims."""
    line = lines[number]
    following = lines[number + 1] if number + 1 < len(lines) else None
    if not line.text:
        return 1, None
    if "|" in line.text:
        if following is not None and "|" in following.text and _TABLE_RULE.match(following.text):
            return 2, None
        if line.text[0] == "|" or (number and "|" in lines[number - 1].text):
            return 1, _row(line)
    if _HEADING.match(line.text) is not None or _is_label(line, following):
        return 1, None
    taken = 1
    while number + taken < len(lines) and _goes_on(lines[number + taken - 1], lines[number + taken], text):
        taken += 1
    return taken, Block(line.start, lines[number + taken - 1].end)


def _row(line: _Line) -> Block | None:
    if _WORD.search(line.text) is None:
        return None
    cells = line.text.strip("| \t")
    start = line.start + line.text.find(cells)
    return Block(start, start + len(cells), is_row=True)


def _is_label(line: _Line, following: _Line | None) -> bool:
    """Whether a line only names what follows: underlined, or bold as a whole and without an end."""
    if following is None:
        return False
    if not line.in_list and _UNDERLINE.match(following.text) is not None:
        return _ENDED.search(line.text) is None
    if line.text[:2] not in {"**", "__"} or _ALL_BOLD.match(line.text) is None or _ENDED.search(line.text) is not None:
        return False
    return not line.in_list or following.indent > line.indent


def _goes_on(line: _Line, following: _Line, text: str) -> bool:
    """Whether a line was broken only because it was long."""
    return (
        not following.in_list
        and bool(following.text)
        and text[line.end : following.start].strip(" \t>") in {"\n", "\r\n"}
        and _ENDED.search(line.text) is None
        and (len(line.text) >= _WRAPPED_FROM or _SMALL_LETTER.match(following.text) is not None)
        and "|" not in following.text
        and _HEADING.match(following.text) is None
        and _UNDERLINE.match(following.text) is None
        and following.text[:2] not in {"**", "__"}
    )
