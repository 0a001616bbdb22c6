"""Where the sentences of a text begin and end."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import sentencex
from msgspec import Struct

from .lexicon import languages_with, load_lexicon

if TYPE_CHECKING:
    from collections.abc import Iterator


# sentencex stops on white space outside ASCII and on surrogates, and does not end a sentence at an ellipsis
# character. Each stand-in is one character, so that positions stay.
_STAND_INS = {
    **dict.fromkeys([0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " "),
    **dict.fromkeys([0x2026, 0xFF0E], "."),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}
_NEEDS_STAND_IN = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2026\uff0e\ud800-\udfff]")
_LINE = re.compile(r"[^\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")

_BEFORE_CAPITAL = re.compile(r"(?<!\S)(\S+) +(?=[A-ZÀ-ÖØ-Þ가-힣])")
_ONE_LETTER_UNIT = re.compile(r"\d ?[ghlmst]\.(?= )")  # the splitter takes it for an initial
_PARENTHESIS_OF_ITS_OWN = re.compile(r"\([^()]*[.!?]\) +(?=\S)")

_WORD = re.compile(r"[^\W_]")
_ENUMERATOR = re.compile(r"[-*+•·▪◦–—]*\s*\(?(?:\d{1,4}|[A-Za-z]|[ivxIVX]{1,5})[.)]")
_INITIALS = re.compile(r"(?:[A-ZÀ-ÖØ-Þ]\.-)+[A-ZÀ-ÖØ-Þ]\.")
_DATE_SO_FAR = re.compile(r"(?:^|\D)\d{4}\.(?: ?\d{1,2}\.)?$")
_DATE_IN_FULL = re.compile(r"(?:^|\D)\d{4}\. ?\d{1,2}\. ?\d{1,2}\.$")
_DATE_PART = re.compile(r"\d{1,2}\.")
_NUMBER = re.compile(r"[\"'(\[]*(?:\d|[IVXLC]+\b)")
_SMALL_LETTER = re.compile(r"[\"'(\[“‘«]*\s*[a-zß-öø-ÿœ]")
_HANGUL = re.compile("[가-힣]")
_OPENING = "\"'([“‘«"
_CLOSING = frozenset("\"'”’»)]」』")

# As much of a sentence's end, and of the next one's start, as any rule here looks at.
_TAIL, _HEAD = 24, 12


class _Endings(Struct, frozen=True):
    """The abbreviations of a language as they are looked up: the first as written, the others in lower case."""

    never_last: frozenset[str]
    before_number: frozenset[str]
    may_be_last: frozenset[str]


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
    # What the splitter breaks too often is mended here, so English serves for the languages that have a lexicon.
    engine = "en" if language is None or language in languages_with("abbreviations") else language
    endings = _endings(language)
    for line in _LINE.finditer(text):
        yield from _spans_in_line(line.group(), line.start(), engine=engine, endings=endings)


def _spans_in_line(line: str, offset: int, *, engine: str, endings: _Endings) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    last_start = last_end = 0
    last_has_word = True
    for start, end in _pieces(line, engine):
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


def _pieces(line: str, engine: str) -> list[tuple[int, int]]:
    """Sentences as the splitter sees them, without the white space around them."""
    if not line.isascii() and _NEEDS_STAND_IN.search(line) is not None:
        line = line.translate(_STAND_INS)
    is_cut = "://" in line or "www." in line or _ONE_LETTER_UNIT.search(line) is not None
    pieces = []
    end = 0
    for segment in sentencex.segment(engine, line):
        for piece in _parts(segment) if is_cut or segment[0] == "(" else (segment,):
            start, end = end, end + len(piece)
            if words := piece.strip():
                first = start + piece.index(words[0])
                pieces.append((first, first + len(words)))
    return pieces


def _parts(segment: str) -> list[str]:
    """A segment, cut where a sentence ends that the splitter does not see."""
    parts = []
    start = 0
    if (parenthesis := _PARENTHESIS_OF_ITS_OWN.match(segment)) is not None:
        start = parenthesis.end()
        parts.append(segment[:start])
    for last_word in _BEFORE_CAPITAL.finditer(segment, start):
        word = last_word.group(1)
        is_unit = _ONE_LETTER_UNIT.search(segment, max(0, last_word.end(1) - 4), last_word.end()) is not None
        if is_unit or (word[-1] in ".!?" and ("://" in word or "www." in word)):
            parts.append(segment[start : last_word.end()])
            start = last_word.end()
    return [*parts, segment[start:]]


def _ends_at(line: str, span: tuple[int, int], *, following: int, endings: _Endings) -> bool:
    """Whether a sentence really ends where the splitter ended it, with the next one starting at `following`."""
    start, end = span
    tail = line[max(start, end - _TAIL) : end]
    head = line[following : following + _HEAD]
    if end == following and _is_glued(tail, head):
        return False
    if end - start <= _HEAD and _ENUMERATOR.fullmatch(tail) is not None:
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
    last_word = words[-1].lstrip(_OPENING)
    if last_word in endings.never_last or " ".join(words[-2:]) in endings.never_last:
        return True
    last_word_lower = last_word.lower()
    if last_word_lower in endings.before_number:
        return _NUMBER.match(head) is not None
    return last_word_lower not in endings.may_be_last and _INITIALS.fullmatch(last_word) is not None


@cache
def _endings(language: str | None) -> _Endings:
    languages = languages_with("abbreviations")
    known = [load_lexicon(each).abbreviations for each in (languages if language not in languages else (language,))]
    return _Endings(
        never_last=frozenset(word for each in known for word in each.never_last),
        before_number=frozenset(word.lower() for each in known for word in each.before_number),
        may_be_last=frozenset(word.lower() for each in known for word in each.may_be_last),
    )
