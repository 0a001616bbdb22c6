"""Where the sentences of a text begin and end."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from .lexicon import languages_with, load_lexicon

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = re.compile(r"[^\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_SPACE = re.compile(r"\s*")

# Marks that end a sentence, of the scripts that have one of their own as well; a row of dots with spaces is one mark.
_MARKS = "!.?…‼‽⁇⁈⁉։؟۔।॥။።！？。｡．﹒﹖﹗"
_END = re.compile(rf"[{_MARKS}]+(?:\s+[{_MARKS}]+)*")
_AFTER_QUOTATION = re.compile(rf"[\s{_MARKS}]*")
_REFERENCES = re.compile(r"(?:\s*\[\d+\])+")
_GOES_ON = re.compile(r"[0-9a-z,;:=]|['’]s\b")
_SMALL_OR_COMMA = re.compile("[a-z,;]")
_COMMA = re.compile("[,;]")
_COMMA_OR_NUMBER = re.compile(r"[,;\d]")  # after a row of dots, which lists fill their lines with
_NO_CAPITAL = re.compile(r"(?![\"'“‘«(\[]*\s*[^\W\d_a-z])")  # after a mark that stands alone: "Really ? Yes"
_STRAY_CLOSING = re.compile(r"[\"'”’»“)\]」』]+(?=\s|$)")

_BRACKET = re.compile(r"[(（<{\[)\]}>）]")
_OPENING_BRACKETS = "(（<{["
_QUOTE = re.compile("[\"'`“”„‘’«»‹›《》「」]")
_OPENED_BY = {"”": "“„", "“": "„", "’": "‘", "»": "«", "›": "‹", "》": "《", "」": "「"}
_OPENING_QUOTES = "“„‘«‹《「"
_BEFORE_OPENING, _AFTER_OPENING = "([{—–-", "'‘(["
_CLITIC = re.compile(r"'(?:s|t|d|m|ll|re|ve|em|n)\b")  # "the team 's", as texts cut into words write it
_EMAIL = re.compile(r"[\w.%+-]{1,64}@[\w-]+(?:\.[\w-]+)+")

_WORD = re.compile(r"[^\W_]")
_NEXT_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?(?![\w.])")
_ENUMERATOR = re.compile(r"[-*+•·▪◦–—]*\s*\(?(?:\d{1,4}|[A-Za-z]|[ivxIVX]{1,5})[.)]")
_INITIALS = re.compile(r"(?:[A-Za-zÀ-ÖØ-öø-ÿ]{1,2}\.)*[A-Za-zÀ-ÖØ-öø-ÿ]\.|(?:[A-ZÀ-ÖØ-Þ]\.-)+[A-ZÀ-ÖØ-Þ]\.")
_ONE_LETTER_UNIT = re.compile(r"\d\s?[ghlmst]\.$")
_DATE_SO_FAR = re.compile(r"(?:^|\D)\d{4}\.(?: ?\d{1,2}\.)?$")
_DATE_IN_FULL = re.compile(r"(?:^|\D)\d{4}\. ?\d{1,2}\. ?\d{1,2}\.$")
_DATE_PART = re.compile(r"\d{1,2}\.")
_NUMBER = re.compile(r"[\"'(\[]*(?:\d|[IVXLC]+\b)")
_SMALL_LETTER = re.compile(r"[\"'(\[“‘«]*\s*[a-zß-öø-ÿœ]")
_HANGUL = re.compile("[가-힣]")
_OPENING = "\"'([“‘«"
_CLOSING = frozenset("\"'”’»)]」』")

# As much of a sentence's end, and of the next one's start, as any rule here looks at.
_TAIL, _HEAD = 24, 20
_LONGEST_ENUMERATOR = 12


class _Endings(Struct, frozen=True):
    """The abbreviations of a language as they are looked up: `before_number` and `may_be_last` in lower case."""

    never_last: frozenset[str]
    seldom_last: frozenset[str]
    before_number: frozenset[str]
    may_be_last: frozenset[str]
    first_words: frozenset[str]


class _Enclosed(Struct, frozen=True):
    """A part of a line between quotation marks or brackets, or an address: a sentence does not end inside of it."""

    start: int
    end: int
    is_quotation: bool = False


def sentence_spans(text: str, *, language: str | None = None) -> list[tuple[int, int]]:
    """Positions of the sentences of a text: start, and end exclusive, in code points.

    The spans are in order, do not overlap, begin and end with something other than white space, and leave out
    nothing but white space. A line end always ends a sentence; a list mark stays with its item. Without a
    `language` the abbreviations of all known languages hold.

    >>> text = "Le Dr. Martin est parti à 3.30. Il reviendra !"
    >>> [text[start:end] for start, end in sentence_spans(text, language="fr")]
    ['Le Dr. Martin est parti à 3.30.', 'Il reviendra !']
    """
    return list(iterate_sentence_spans(text, language=language))


def iterate_sentence_spans(text: str, *, language: str | None = None) -> Iterator[tuple[int, int]]:
    """The same one after the other, for a reader who may stop early; no line is split before it is needed."""
    endings = _endings(language)
    for line in _LINE.finditer(text):
        yield from _spans_in_line(line.group(), line.start(), endings)


def _spans_in_line(line: str, offset: int, endings: _Endings) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    last_start = last_end = 0
    last_has_word = True
    for start, end in _pieces(line):
        has_word = _WORD.search(line, start, end) is not None
        if spans and not (
            last_has_word and has_word and _ends_at(line, (last_start, last_end), following=start, endings=endings)
        ):
            spans[-1] = (offset + last_start, offset + end)
            last_has_word |= has_word
        else:
            spans.append((offset + start, offset + end))
            last_start, last_has_word = start, has_word
        last_end = end
    return spans


def _pieces(line: str) -> Iterator[tuple[int, int]]:
    """What stands between the marks that may end a sentence, without the white space around it."""
    enclosed = _enclosed_parts(line)
    starts = [each.start for each in enclosed]
    start = _after_space(line, 0)
    for mark in _END.finditer(line):
        before = bisect_left(starts, mark.end()) - 1
        if before >= 0 and mark.end() < enclosed[before].end:
            end = _end_after_enclosed(line, mark.end(), enclosed=enclosed[before], start=start)
        else:
            end = _end_after(line, mark)
        if end is not None and start < end:
            yield start, end
            start = _after_space(line, end)
    if start < len(line):
        yield start, len(line.rstrip())


def _after_space(line: str, position: int) -> int:
    found = _SPACE.match(line, position)
    assert found is not None
    return found.end()


def _end_after(line: str, mark: re.Match[str]) -> int | None:
    """Where a piece ends that a mark ends; None when what follows belongs to it."""
    start, end = mark.span()
    if (references := _REFERENCES.match(line, end)) is not None:
        return references.end()
    if (closing := _STRAY_CLOSING.match(line, end)) is not None:
        end = closing.end()
    following = _after_space(line, end)
    if following == end or closing is not None:
        goes_on = _GOES_ON.match(line, following) is not None
    elif line[max(0, start - 1) : start].isspace():
        goes_on = (_SMALL_OR_COMMA if mark.group() == "." else _NO_CAPITAL).match(line, following) is not None
    else:
        goes_on = (_COMMA if len(mark.group()) == 1 else _COMMA_OR_NUMBER).match(line, following) is not None
    return None if goes_on and following < len(line) else end


def _end_after_enclosed(line: str, end: int, *, enclosed: _Enclosed, start: int) -> int | None:
    """Where a piece ends whose mark is enclosed: nowhere, unless it is the last mark in there."""
    if _after_space(line, end) < enclosed.end - 1 or not (enclosed.is_quotation or enclosed.start == start):
        return None
    after = _AFTER_QUOTATION.match(line, enclosed.end)
    assert after is not None
    if _GOES_ON.match(line, after.end()) is not None:
        return None
    return enclosed.end + len(after.group().rstrip())


def _enclosed_parts(line: str) -> list[_Enclosed]:
    """The outermost ones, in order."""
    parts = [_Enclosed(*each.span()) for each in _EMAIL.finditer(line)] if "@" in line else []
    parts += _brackets(line)
    parts += _quotations(line)
    parts.sort(key=lambda part: part.start)
    outermost: list[_Enclosed] = []
    for part in parts:
        if not outermost or outermost[-1].end <= part.start:
            outermost.append(part)
    return outermost


def _brackets(line: str) -> Iterator[_Enclosed]:
    opened = None
    for bracket in _BRACKET.finditer(line):
        if bracket.group() in _OPENING_BRACKETS:
            opened = bracket.start() if opened is None else opened
        elif opened is not None:
            yield _Enclosed(opened, bracket.end())
            opened = None


def _quotations(line: str) -> Iterator[_Enclosed]:
    """From an opening mark to the closing one after it; a mark that is never closed encloses nothing."""
    opened: dict[str, int] = {}
    for quote in _QUOTE.finditer(line):
        mark, position = quote.group(), quote.start()
        opens, closes = _side(line, position)
        pending = [opened.pop(kind) for kind in _OPENED_BY.get(mark, mark) if kind in opened] if closes else []
        if pending:
            yield _Enclosed(pending[0], position + 1, is_quotation=True)
        elif opens:
            opened[mark] = position


def _side(line: str, position: int) -> tuple[bool, bool]:
    """Whether a quotation mark may open and whether it may close; the neighbours of straight ones tell."""
    mark = line[position]
    before, after = line[position - 1 : position] or " ", line[position + 1 : position + 2] or " "
    if mark == "`":
        return True, True
    if mark == '"':
        is_free_before = before.isspace() or before in _BEFORE_OPENING
        is_free_after = not after.isalnum() and after not in _AFTER_OPENING
        return is_free_before or not is_free_after, is_free_after or not is_free_before
    if mark == "'":
        opens = not before.isalnum() and after.isalnum() and _CLITIC.match(line, position) is None
        return opens, not before.isspace() and not after.isalnum()
    return mark in _OPENING_QUOTES, mark in _OPENED_BY and not (mark == "’" and after.isalnum())


def _ends_at(line: str, span: tuple[int, int], *, following: int, endings: _Endings) -> bool:
    """Whether a sentence really ends where a piece does, with the next one starting at `following`."""
    start, end = span
    tail = line[max(start, end - _TAIL) : end]
    head = line[following : following + _HEAD]
    if end == following and _is_glued(tail, head):
        return False
    if end - start <= _LONGEST_ENUMERATOR and _ENUMERATOR.fullmatch(tail) is not None:
        return False
    return tail[-1] not in ".…" or not _period_goes_on(tail, head, endings)


def _is_glued(tail: str, head: str) -> bool:
    """Whether words that touch belong together: "O.M.S.", or a quotation and the particle after it."""
    if tail[-1] in _CLOSING:
        return _HANGUL.match(head) is not None
    return tail[-1] == "." and head[0].isalpha() and len(tail) > 1 and tail[-2].isupper()


def _period_goes_on(tail: str, head: str, endings: _Endings) -> bool:
    if _SMALL_LETTER.match(head) is not None:
        return True
    if tail[-2:-1].isdigit():
        return _DATE_IN_FULL.search(tail) is not None or (
            _DATE_PART.match(head) is not None and _DATE_SO_FAR.search(tail) is not None
        )
    words = tail.split()
    last_word = (words[-2] + "." if words[-1] == "." and len(words) > 1 else words[-1]).lstrip(_OPENING)
    if last_word in endings.never_last or " ".join(words[-2:]) in endings.never_last:
        return True
    last_word_lower = last_word.lower()
    if last_word_lower in endings.before_number and _NUMBER.match(head) is not None:
        return True
    if last_word not in endings.seldom_last and not _are_initials(last_word, tail, endings):
        return False
    first_word = _NEXT_WORD.match(head)
    return first_word is None or first_word.group() not in endings.first_words


def _are_initials(last_word: str, tail: str, endings: _Endings) -> bool:
    return (
        _INITIALS.fullmatch(last_word) is not None
        and last_word.lower() not in endings.may_be_last
        and _ONE_LETTER_UNIT.search(tail) is None
    )


@cache
def _endings(language: str | None) -> _Endings:
    languages = languages_with("abbreviations")
    # English names and titles stand in texts of every language.
    known = [
        load_lexicon(each).abbreviations for each in languages if language not in languages or each in (language, "en")
    ]
    return _Endings(
        never_last=frozenset(form for each in known for word in each.never_last for form in (word, word.upper())),
        seldom_last=frozenset(
            form for each in known for word in each.seldom_last for form in (word, word.upper(), word.capitalize())
        ),
        before_number=frozenset(word.lower() for each in known for word in each.before_number),
        may_be_last=frozenset(word.lower() for each in known for word in each.may_be_last),
        first_words=frozenset(word for each in known for word in each.first_words),
    )


# Quotations, in a text that `clean_text` has folded.

_DOUBLE = re.compile('"')
# An apostrophe stands between letters, or after one before a space; a quotation opens before a letter and closes before
# a space, a mark or a Korean particle.
_OPENS = re.compile(r"(?<![^\W_])'(?=[^\W_])")
_CLOSES = re.compile(r"(?<=[^\s'])'(?![^\W_])|(?<=[^\s'])'(?=[가-힣])")


class Quotations:
    """Where a response quotes; one that is a quotation as a whole is the writer's own words."""

    def __init__(self, text: str) -> None:
        whole = text.strip()
        marks = [match.start() for match in _DOUBLE.finditer(text)] if '"' in text else []
        self._marks = [] if len(marks) == 2 and whole[0] == whole[-1] == '"' else marks
        self._singles = _single_quotations(text) if "'" in text else []
        if len(self._singles) == 1 and whole[0] == whole[-1] == "'":
            self._singles = []

    def hold(self, place: int, *, sentence_start: int) -> bool:
        """Whether words that begin at a place are someone else's."""
        if (bisect_left(self._marks, place) - bisect_left(self._marks, sentence_start)) % 2:
            return True
        before = bisect_right(self._singles, (place, 0)) - 1
        return before >= 0 and place < self._singles[before][1]


def _single_quotations(text: str) -> list[tuple[int, int]]:
    """Quotations in single marks, none within another and none beyond its line."""
    found: list[tuple[int, int]] = []
    place = 0
    while (opening := _OPENS.search(text, place)) is not None:
        line_end = text.find("\n", opening.end())
        end = len(text) if line_end < 0 else line_end
        closing = _CLOSES.search(text, opening.end(), end)
        if closing is None:
            place = end
        else:
            found.append((opening.start(), closing.start()))
            place = closing.end()
    return found
