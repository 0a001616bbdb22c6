"""Claims by rule: the sentences of a response that state something, or their clauses.

Works on English, French and Korean, and on Markdown: list marks, headings, fenced code and the heads of tables are
left out; every row of a table is one claim, and so is every field of a response that is JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from hallumeter.records.claim import Claim
from hallumeter.records.response import Response
from hallumeter.text.abstention import detect_abstention
from hallumeter.text.sentences import iterate_sentence_spans

from .assertions import Force, default_reader
from .clause_cuts import default_cutter
from .json_leaves import Leaf, json_leaves

# What stands at the edges of a sentence and is no part of it: marks of emphasis, footnotes, emoji.

_EMOJI = (
    "[\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\ufe0f\u200d\u20e3\U0001f000-\U0001faff\U000e0020-\U000e007f]"
)
_FOOTNOTE = r"\[\^?\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\]"
_BEFORE = re.compile(rf"(?:\s|{_EMOJI}|{_FOOTNOTE}(?!\())+")
_AFTER = re.compile(rf"(?:\s|{_EMOJI}|{_FOOTNOTE}|[;,；，](?=\s*$))+$")
_EMPHASIS = ("**", "__", "~~", "*", "_", "`")
_TAIL = 40


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Where a sentence begins and ends when marks that are no part of it are left out; empty when nothing is left.

    A mark of emphasis is left out when its partner stands at the other edge or in another sentence: what is bold
    inside of a sentence stays as it is.

    >>> text = "**Paris is large.**[1] **It** has a river."
    >>> [text[slice(*trimmed(text, *span))] for span in [(0, 22), (23, 42)]]
    ['Paris is large.', '**It** has a river.']
    """
    while start < end and not (text[start].isalnum() and (text[end - 1].isalnum() or text[end - 1] in ".!?")):
        before = start, end
        if (match := _BEFORE.match(text, start, end)) is not None:
            start = match.end()
        if (match := _AFTER.search(text, max(start, end - _TAIL), end)) is not None:
            end = match.start()
        start, end = _without_emphasis(text, start, end)
        if (start, end) == before:
            break
    return start, max(start, end)


def _without_emphasis(text: str, start: int, end: int) -> tuple[int, int]:
    for mark in _EMPHASIS:
        opens, closes = text.startswith(mark, start, end), text.endswith(mark, start, end)
        if not (opens or closes):
            continue
        size = len(mark)
        count = text.count(mark, start, end)
        if opens and closes and count == 2 and end - start >= 2 * size:
            return start + size, end - size
        if opens and count % 2:
            return start + size, end
        if closes and count % 2:
            return start, end - size
        return start, end
    return start, end


# The parts of a response that hold sentences: its lines without list marks, headings, code and table rules.

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


_STATEMENT_WORD = re.compile(r"[^\W_]")
_LINE_ENDS_AS_SPACES = str.maketrans("\n\r", "  ")


class SentenceExtractor:
    """Every sentence that states something is a claim.

    >>> response = Response("r1", response="Sure! Paris is in France. Do you need more?")
    >>> [(claim.claim_id, claim.text) for claim in SentenceExtractor().extract(response)]
    [('r1#0', 'Paris is in France.')]
    """

    name = "sentences"
    is_remote = False

    def extract(self, response: Response) -> list[Claim]:
        """The claims of a response in their order."""
        text = response.response or ""
        return _claims(response.record_id, text, _sentences(text))


class ClauseExtractor:
    """Every clause that states something is a claim; a sentence that cannot be cut is one clause.

    >>> response = Response("r1", response="He was born in 1950, and he died in 1990.")
    >>> [claim.text for claim in ClauseExtractor().extract(response)]
    ['He was born in 1950', 'he died in 1990.']
    """

    name = "clauses"
    is_remote = False

    def extract(self, response: Response) -> list[Claim]:
        """The claims of a response in their order."""
        text = response.response or ""
        return _claims(response.record_id, text, _clauses(text))


def statement_spans(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a text stand that state something: start, and end exclusive, in code points."""
    return [(start, end) for start, end, _ in _sentences(text)]


def _claims(record_id: str, text: str, spans: Iterator[tuple[int, int, bool]]) -> list[Claim]:
    return [
        Claim(record_id, f"{record_id}#{number}", start=start, end=end, text=text[start:end])
        for number, (start, end, _) in enumerate(spans)
    ]


def _sentences(text: str) -> Iterator[tuple[int, int, bool]]:
    """Start and end of every claim, and whether it is a sentence that could be cut."""
    leaves = json_leaves(text)
    if leaves is not None:
        for leaf in leaves:
            yield from _in_leaf(text, leaf)
        return
    refuses: bool | None = None
    for block in blocks_of(text):
        if block.is_row:
            yield block.start, block.end, False
            continue
        forces = _with_sources(text, _forces(text, block))
        if refuses is None and any(force is Force.DENIES for _, _, force in forces):
            refuses = detect_abstention(text).did_abstain
        for start, end, force in forces:
            if force is Force.STATES or (force is Force.DENIES and not refuses):
                yield start, end, True


def _forces(text: str, block: Block) -> Iterator[tuple[int, int, Force]]:
    force = default_reader().force
    for start, end in _sentences_within(text, block.start, block.end):
        yield start, end, force(text[start:end])


def _with_sources(text: str, sentences: Iterable[tuple[int, int, Force]]) -> list[tuple[int, int, Force]]:
    """The sentences of a block, each with the source in parentheses that follows it: "Stir well. (Passage 2)"."""
    joined: list[tuple[int, int, Force]] = []
    for start, end, force in sentences:
        if joined and force is Force.NOTHING and text[start] == "(" and text[end - 1] in ").":
            joined[-1] = (joined[-1][0], end, joined[-1][2])
        else:
            joined.append((start, end, force))
    return joined


def _sentences_within(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    # Lines of one block belong together, and the splitter would end a sentence with each of them.
    part = text[start:end].translate(_LINE_ENDS_AS_SPACES)
    for first, last in iterate_sentence_spans(part):
        span = trimmed(text, start + first, start + last)
        if span[0] < span[1]:
            yield span


def _in_leaf(text: str, leaf: Leaf) -> Iterator[tuple[int, int, bool]]:
    """A field as one claim, or the sentences of its text when there are several."""
    # Escaped line ends become line ends of the same length.
    value = text[leaf.value_start : leaf.value_end].replace("\\n", " \n")
    if _STATEMENT_WORD.search(value) is None:
        return
    spans = list(iterate_sentence_spans(value))
    if len(spans) < 2 or text[leaf.value_start - 1] != '"':
        yield leaf.start, leaf.end, False
        return
    for first, last in spans:
        if default_reader().force(value[first:last]) is not Force.NOTHING:
            yield leaf.value_start + first, leaf.value_start + last, True


def _clauses(text: str) -> Iterator[tuple[int, int, bool]]:
    force = default_reader().force
    cut = default_cutter().cut
    for start, end, can_be_cut in _sentences(text):
        spans = cut(text, start, end) if can_be_cut else [(start, end)]
        for first, last in spans:
            if len(spans) == 1 or force(text[first:last]) is not Force.NOTHING:
                yield first, last, False
