"""The lines of a page that an engine read worst, and the names and numbers that it invented."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from hallumeter.text.align import count_edits
from hallumeter.text.spelling import Spelling

from .alignment import Matching, Stretch, Wording
from .records import InventedToken, LineError, severity_of_line

LINES_OF_A_PAGE = 5
"""Lines of one page that are kept: a page that is bad throughout must not hide all others."""
_TRIED = 12
"""Lines with most words in trouble whose characters are compared: that takes time."""
_LEAST_READ = 1 / 3
"""Share of the words of a line that must be read: else a stray "the" would be the reading of a line left out."""
_LONGEST = 400
"""Characters of a line that are kept; a page without line breaks is one line."""
TOKENS_OF_A_PAGE = 20
_AROUND = 40
"""Characters before and after an invented name or number that are kept with it."""
_ASIDE = ("loop", "remark")
"""Stretches of a response that belong to no line of the page; nor do long blocks."""
_BLOCK_IN_LINE = 12
"""Words that fit into a line."""
_LINE = re.compile(r"[^\n]*[^\s][^\n]*")
_WHITE = re.compile(r"\s+")
_NUMBER = re.compile(r"\d+(?:[^\w\s]\d+)*")


class Aligned(NamedTuple):
    """What became of every word of a page, and of what was written for it."""

    matching: Matching
    on_page: Wording
    written: Wording
    left_out: Collection[int] = ()
    """Places of words of the response that count nowhere, because they are remarks."""


def worst_lines(
    aligned: Aligned, *, reference: str, response: str, spelling: Spelling, stretches: Sequence[Stretch]
) -> tuple[LineError, ...]:
    """The lines with the highest CER that were read at all, worst first; what was left out whole is an omission.

    What was read for a line are the words that were read from it, wherever they stand, and words beside them on their
    own line that were read from nowhere. Loops, remarks and blocks that are longer than a line belong to no line.

    """
    places = _Places(aligned, response, stretches)
    spans = [match.span() for match in _LINE.finditer(reference)]
    starts = [start for start, _ in spans]
    troubled = Counter(
        bisect_right(starts, aligned.on_page.starts[word]) - 1 for word in _words_in_trouble(aligned, places)
    )
    found = []
    for line, _ in troubled.most_common(_TRIED):
        error = _line_error(line, spans[line], places, reference=reference, spelling=spelling)
        if error is not None:
            found.append(error)
    return tuple(sorted(found, key=severity_of_line, reverse=True)[:LINES_OF_A_PAGE])


class _Places:
    """Which words of a response belong to which words of the page."""

    def __init__(self, aligned: Aligned, response: str, stretches: Sequence[Stretch]) -> None:
        self.aligned, self.response = aligned, response
        self.by_word: dict[int, list[int]] = {}
        for place, first in enumerate(aligned.matching.firsts):
            if first >= 0:
                self.by_word.setdefault(first, []).append(place)
        starts = aligned.written.starts
        self.aside: set[int] = set()
        for stretch in stretches:
            is_aside = stretch.kind in _ASIDE or (stretch.kind == "block" and stretch.words > _BLOCK_IN_LINE)
            if is_aside and stretch.start is not None and stretch.end is not None:
                self.aside.update(range(bisect_left(starts, stretch.start), bisect_left(starts, stretch.end)))

    def is_free(self, place: int) -> bool:
        """Whether a word was read from nowhere and is part of nothing larger."""
        firsts = self.aligned.matching.firsts
        return 0 <= place < len(firsts) and firsts[place] < 0 and place not in self.aside

    def is_beside(self, place: int, other: int) -> bool:
        """Whether two words next to each other stand on one line of the response."""
        written = self.aligned.written
        return "\n" not in self.response[written.ends[min(place, other)] : written.starts[max(place, other)]]

    def of_line(self, first: int, last: int) -> list[int]:
        """The words of the response for some words of the page, in its order."""
        own = sorted({place for word in range(first, last) for place in self.by_word.get(word, ())})
        found = set(own)
        for place in own:
            after = place + 1
            while self.is_free(after) and self.is_beside(after - 1, after):
                found.add(after)
                after += 1
            before = place - 1
            # What stands before the first word of a line is its own; elsewhere it follows the word before it.
            run = []
            while self.is_free(before) and self.is_beside(before, before + 1):
                run.append(before)
                before -= 1
            if run and (before < 0 or not self.is_beside(before, before + 1)):
                found.update(run)
        return sorted(found)


def _words_in_trouble(aligned: Aligned, places: _Places) -> Iterator[int]:
    """Words of the page that were left out or misread, or beside which others were written."""
    matching, here, there = aligned.matching, aligned.on_page.texts, aligned.written.texts
    yield from (word for word, is_omitted in enumerate(matching.is_omitted) if is_omitted)
    before = -1
    is_beside = False
    for place, first in enumerate(matching.firsts):
        if first < 0:
            if place not in places.aside:
                yield from [before] * (before >= 0)
                is_beside = True
            continue
        if is_beside or first != matching.lasts[place] or here[first] != there[place]:
            yield first
        before, is_beside = first, False


def _line_error(
    line: int, span: tuple[int, int], places: _Places, *, reference: str, spelling: Spelling
) -> LineError | None:
    """A line with its edits; None when nothing was read for it, or all of it right."""
    start, end = span
    words = places.aligned.on_page.starts
    first, last = bisect_left(words, start), bisect_left(words, end)
    read = sum(word in places.by_word for word in range(first, last))
    if not read or read < _LEAST_READ * (last - first):
        return None
    own = places.of_line(first, last)
    there, here = _joined(own, places), _WHITE.sub(" ", reference[start:end].strip())
    characters = spelling.profile.characters
    compared = characters(spelling.text(here))
    errors = sum(count_edits(compared, characters(spelling.text(there)))[:3])
    if not errors or not compared:
        return None
    return LineError(line + 1, start, end, errors, len(compared), here[:_LONGEST], there[:_LONGEST])


def _joined(places: list[int], known: _Places) -> str:
    """Words of the response as they stand there, with a space where others stand between them."""
    written = known.aligned.written
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return " ".join(
        _WHITE.sub(" ", known.response[written.starts[run[0]] : written.ends[run[-1]]]).strip() for run in runs
    )


# Names and numbers that are not on the page, with what stands around them.


def invented_tokens(aligned: Aligned, response: str, *, names: Iterable[int]) -> tuple[InventedToken, ...]:
    """The invented names, given by their places among the words, and the numbers beyond those of the page."""
    found = [("name", place) for place in names]
    found += [("number", place) for place in _number_places(aligned)]
    written = aligned.written
    kept = sorted(found, key=lambda entry: entry[1])[:TOKENS_OF_A_PAGE]
    return tuple(
        InventedToken(
            kind,
            _token(kind, response[written.starts[place] : written.ends[place]]),
            written.starts[place],
            _context(response, written.starts[place], written.ends[place]),
        )
        for kind, place in kept
    )


def _number_places(aligned: Aligned) -> Iterator[int]:
    """Words with numbers that the page does not have so often."""
    left = Counter(_numbers(text) for text in aligned.on_page.texts)
    with_digits = [
        (place, numbers)
        for place, text in enumerate(aligned.written.texts)
        if place not in aligned.left_out and (numbers := _numbers(text))
    ]
    # Those that were read from the page have the first claim on its numbers.
    firsts = aligned.matching.firsts
    for place, numbers in sorted(with_digits, key=lambda entry: (firsts[entry[0]] < 0, entry[0])):
        if left[numbers] > 0:
            left[numbers] -= 1
        else:
            yield place


def _numbers(text: str) -> str:
    return "" if text.isalpha() else " ".join(_NUMBER.findall(text))


def _token(kind: str, word: str) -> str:
    return _numbers(word) if kind == "number" else word.strip("\"'()[]{}<>*_«»“”‘’„¿¡—-.,;:!?")


def _context(text: str, start: int, end: int) -> str:
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    return _WHITE.sub(" ", before + text[start:end] + after).strip()
