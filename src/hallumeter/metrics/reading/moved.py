"""Text of the page that stands at another place of the response, as when columns are read in another order."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from .matching import read_gap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .matching import Matching

SHORTEST_MOVE = 4
"""Words that must be unread in a row before they are looked for elsewhere."""
_SEED = 3
_MOST_PLACES = 4
"""Places of one seed that are tried: what stands on a page more often tells little about where text came from."""
_MOST_BETWEEN = 8
"""Words between two moved runs that may belong to them, misread."""


def find_moved_words(matching: Matching, reference: Sequence[str], response: Sequence[str]) -> None:
    """Read runs of unread words from left-out words of the page, the longest shared runs first, each word once."""
    unread = [(start, end) for start, end in unread_runs(matching) if end - start >= SHORTEST_MOVE]
    seeds = _seeds(matching, reference) if unread else {}
    shared = (
        [run for start, end in unread for run in _shared_runs(response, seeds, start=start, end=end)] if seeds else []
    )
    taken = []
    page = _Page(matching, reference, response)
    for whole in sorted(shared, key=lambda run: (-run[2], run)):
        run = page.free_run(whole)
        if run is None:
            continue
        left, top, length = run
        for offset in range(length):
            matching.read(left + offset, top + offset, top + offset, is_misread=False)
        matching.is_moved[left : left + length] = b"\1" * length
        taken.append(run)
    _read_between(matching, reference, response, taken=sorted(taken))


def unread_runs(matching: Matching) -> Iterator[tuple[int, int]]:
    """Start and end of each run of words that were not read."""
    start = None
    for place, first in enumerate([*matching.firsts, 0]):
        if first < 0 and start is None:
            start = place
        elif first >= 0 and start is not None:
            yield start, place
            start = None


def _seeds(matching: Matching, reference: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
    """Where each few words in a row stand among the words left out."""
    seeds: dict[tuple[str, ...], list[int]] = {}
    omitted = matching.is_omitted
    for place in range(len(reference) - _SEED + 1):
        if omitted[place] and omitted[place + 1] and omitted[place + 2]:
            places = seeds.setdefault(tuple(reference[place : place + _SEED]), [])
            if len(places) < _MOST_PLACES:
                places.append(place)
    return seeds


def _shared_runs(
    response: Sequence[str], seeds: dict[tuple[str, ...], list[int]], *, start: int, end: int
) -> Iterator[tuple[int, int, int]]:
    """Runs of the response that stand in the reference as well: where, where there, and how many words."""
    begun: dict[int, int] = {}
    for place in range(start, end - _SEED + 2):
        # At the last place no seed fits, which ends all runs.
        tops = seeds.get(tuple(response[place : place + _SEED]), ()) if place + _SEED <= end else ()
        going_on = {top: begun.pop(top - 1, place) for top in tops}
        for top, first in begun.items():
            length = place - first + _SEED - 1
            yield first, top + _SEED - length, length
        begun = going_on


class _Page:
    """A page whose words are being looked for in unread parts of a response."""

    def __init__(self, matching: Matching, reference: Sequence[str], response: Sequence[str]) -> None:
        self.matching, self.reference, self.response = matching, reference, response

    def is_free(self, left: int, top: int) -> bool:
        """Whether a word of the response is the same as one of the page, and both are unused."""
        return (
            left < len(self.response)
            and top < len(self.reference)
            and self.matching.firsts[left] < 0
            and bool(self.matching.is_omitted[top])
            and self.response[left] == self.reference[top]
        )

    def free_run(self, run: tuple[int, int, int]) -> tuple[int, int, int] | None:
        """What is still free of a shared run, made as long as possible; None when it is too short to tell."""
        left, top, length = run
        offset = 0
        while offset < length and not self.is_free(left + offset, top + offset):
            offset += 1
        left, top, length = left + offset, top + offset, 0
        while self.is_free(left + length, top + length):
            length += 1
        while min(left, top) > 0 and self.is_free(left - 1, top - 1):
            left, top, length = left - 1, top - 1, length + 1
        return (left, top, length) if length >= _SEED else None


def _read_between(
    matching: Matching, reference: Sequence[str], response: Sequence[str], *, taken: list[tuple[int, int, int]]
) -> None:
    """Read the few words between two moved runs that follow each other on the page as well."""
    for (left, top, length), (next_left, next_top, _) in pairwise(taken):
        first, reference_first = left + length, top + length
        is_near = 0 < next_left - first <= _MOST_BETWEEN and 0 < next_top - reference_first <= _MOST_BETWEEN
        if is_near and max(matching.firsts[first:next_left]) < 0 and all(matching.is_omitted[reference_first:next_top]):
            read_gap(matching, reference, response, gap=(reference_first, next_top, first, next_left))
            for place in range(first, next_left):
                matching.is_moved[place] = matching.firsts[place] >= 0
