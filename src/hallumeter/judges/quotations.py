"""Whether words that a judge quotes really stand in the evidence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from rapidfuzz import fuzz

from hallumeter.records import Quote
from hallumeter.text import clean_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .windows import Piece

    Search: TypeAlias = Callable[[str, str], "tuple[int, int] | None"]

_LEAST_LIKENESS = 90.0
_LEAST_LIKENESS_OF_WORDS = 80.0
_SHORT_WORD = 4
"""Words of fewer letters must be the same: a slip in one ("not", "now") is another word."""
_ELLIPSIS = re.compile(r"\[?(?:\.\.\.|…)\]?")
_WORD = re.compile(r"\S+")
_LETTER = re.compile(r"[^\W_]")
_EDGE = " \t\r\n\"'“”‘’«»「」『』"
_WORD_EDGE = _EDGE + ".,;:!?()[]"


def find_quote(quote: str, pieces: Sequence[Piece], *, first: int | None = None) -> Quote | None:
    """The place of a quotation in the evidence; None when it does not stand there.

    It is looked for as it is; then without regard to case, white space and the shapes of quotes and dashes; then with
    tiny slips: a likeness of 90 in 100, word for word, never another number or a word more or less. Of a quotation
    with an ellipsis all parts must be there, in one piece and in order; its place reaches from the first to the last.

    Args:
        quote: The words.
        pieces: The evidence that was shown.
        first: Index of the piece that the judge named; it is looked through before the others.
    """
    parts = [part for part in map(_trimmed, _ELLIPSIS.split(quote)) if _LETTER.search(part) is not None]
    if not parts:
        return None
    order = sorted(range(len(pieces)), key=lambda index: (index != first, index))
    for search in (_as_written, _as_typed, _with_slips):
        for index in order:
            if (span := _place_of(parts, pieces[index].text, search)) is not None:
                return _quote_of(pieces[index], *span)
    return None


def _trimmed(text: str) -> str:
    return text.strip(_EDGE)


def _quote_of(piece: Piece, start: int, end: int) -> Quote:
    first, last = piece.start + start, piece.start + end
    return Quote(piece.passage.evidence_id, start=first, end=last, quote=piece.passage.text[first:last])


def _place_of(parts: Sequence[str], text: str, search: Search) -> tuple[int, int] | None:
    start, end = None, 0
    for part in parts:
        span = search(part, text[end:])
        if span is None:
            return None
        start = end + span[0] if start is None else start
        end += span[1]
    return None if start is None else (start, end)


def _as_written(words: str, text: str) -> tuple[int, int] | None:
    start = text.find(words)
    return None if start < 0 else (start, start + len(words))


def _as_typed(words: str, text: str) -> tuple[int, int] | None:
    clean = clean_text(text)
    pattern = r"\s+".join(map(re.escape, _folded(words).split()))
    match = re.search(pattern, clean.lower)
    return None if match is None or not pattern else clean.original_span(*match.span())


def _with_slips(words: str, text: str) -> tuple[int, int] | None:
    """Where the words stand but for a few letters."""
    wanted = _folded(words)
    clean = clean_text(text)
    if len(wanted) > len(clean.lower):  # the shorter text is looked for in the longer, whichever it is
        return None
    found = fuzz.partial_ratio_alignment(wanted, clean.lower, score_cutoff=_LEAST_LIKENESS)
    if found is None or found.dest_end <= found.dest_start:
        return None
    span = _whole_words(clean.lower, found.dest_start, found.dest_end, count=len(wanted.split()))
    if span is None or not _are_slips(wanted, clean.lower[slice(*span)]):
        return None
    return clean.original_span(*span)


def _whole_words(text: str, start: int, end: int, *, count: int) -> tuple[int, int] | None:
    """The run of words of a certain number that covers most of a stretch."""
    words = [match.span() for match in _WORD.finditer(text) if match.end() > start and match.start() < end]
    runs = [words[first : first + count] for first in range(len(words) - count + 1)]
    if not runs:
        return None
    best = max(runs, key=lambda run: min(end, run[-1][1]) - max(start, run[0][0]))
    return best[0][0], best[-1][1]


def _are_slips(wanted: str, found: str) -> bool:
    """Whether two runs of as many words differ by nothing but slips of the pen."""
    pairs = zip(wanted.split(), found.split(), strict=True)
    return all(_is_slip(one.strip(_WORD_EDGE), other.strip(_WORD_EDGE)) for one, other in pairs)


def _is_slip(one: str, other: str) -> bool:
    if one == other:
        return True
    if min(len(one), len(other)) < _SHORT_WORD or any(character.isdigit() for character in one + other):
        return False
    return one[0] == other[0] and fuzz.ratio(one, other) >= _LEAST_LIKENESS_OF_WORDS


def _folded(words: str) -> str:
    return clean_text(words).lower
