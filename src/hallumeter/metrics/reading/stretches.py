"""A response cut into what was read and what was not, and the places where something is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from .moved import unread_runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .matching import Matching
    from .repeats import Repeat
    from .wording import Wording

StretchKind = Literal["run", "insertion", "block", "loop", "omission"]
SHORTEST_BLOCK = 4
"""Unread words in a row from which an insertion is a block."""
WIDEST_ISLAND = 2
"""Words between unread ones that are no reading of the page, but shared by chance."""


class Stretch(Struct, frozen=True):
    """Words in a row that one thing happened to."""

    kind: StretchKind
    """Read, perhaps misread (run); not on the page (insertion; block from four words on); repeated; left out."""
    words: int
    """Words of the response that have a letter or digit; of the reference, for an omission."""
    start: int | None
    """First code point in the original response; None for an omission."""
    end: int | None
    reference_start: int | None
    """First code point in the original reference; None for what is not there."""
    reference_end: int | None
    is_moved: bool = False
    """Whether a run was read at another place of the page."""
    period: int | None = None
    """Words that a loop repeats."""
    copies: float | None = None
    """Copies in the whole repetition, also those that were read."""
    misread_words: int = 0
    """Words of a run that are not spelled as on the page, case and signs aside."""


def absorb_islands(matching: Matching, repeats: Sequence[Repeat]) -> None:
    """Count one or two read words between unread ones as unread, when these are four together or more.

    Any two texts of a language share words such as "of the". A whole copy inside a loop is left as it is: there it is
    chance which of the copies was aligned with the page.
    """
    runs = list(unread_runs(matching))
    if len(runs) < 2:
        return
    short_loops = [repeat for repeat in repeats if repeat.period <= WIDEST_ISLAND]
    may_be_copies = {place for repeat in short_loops for place in range(repeat.start, repeat.end)}
    start, end = runs[0]
    unread = end - start
    islands: list[int] = []
    for next_start, next_end in runs[1:]:
        island = range(end, next_start)
        is_near = len(island) <= WIDEST_ISLAND and unread + next_end - next_start >= SHORTEST_BLOCK
        if is_near and may_be_copies.isdisjoint(island):
            islands += island
            unread += next_end - end
        else:
            unread = next_end - next_start
        end = next_end
    if islands:
        matching.forget(islands)


def cut_into_stretches(
    matching: Matching, reference: Wording, response: Wording, *, repeats: Sequence[Repeat]
) -> tuple[Stretch, ...]:
    """Everything in the order of the response; an omission stands before the first word read after it."""
    loop_of = _loop_by_word(repeats, matching)
    stretches: list[Stretch] = []
    cursor = start = 0
    size = len(response)
    while start < size:
        end = _end_of_stretch(matching, loop_of, start)
        if matching.firsts[start] >= 0 and not matching.is_moved[start]:
            reached = matching.lasts[start] + 1
            stretches += _omissions(matching, reference, start=cursor, end=reached)
            cursor = max(cursor, max(matching.lasts[start:end]) + 1)
        stretches.append(_stretch(matching, reference, response, span=(start, end), loop=loop_of.get(start)))
        start = end
    stretches += _omissions(matching, reference, start=cursor, end=len(reference))
    return tuple(stretches)


def _loop_by_word(repeats: Sequence[Repeat], matching: Matching) -> dict[int, Repeat]:
    """The longest loop that each unread word is part of; a repetition of which the page has half is none."""
    loop_of: dict[int, Repeat] = {}
    for repeat in sorted(repeats, key=lambda each: each.end - each.start):
        unread = [place for place in range(repeat.start, repeat.end) if matching.firsts[place] < 0]
        if 2 * len(unread) > repeat.end - repeat.start:
            loop_of.update(dict.fromkeys(unread, repeat))
    return loop_of


def _end_of_stretch(matching: Matching, loop_of: dict[int, Repeat], start: int) -> int:
    """Where a stretch ends: at another kind of word, or where the next read word does not follow on the page."""
    firsts, lasts = matching.firsts, matching.lasts
    end = start + 1
    if firsts[start] < 0:
        loop = loop_of.get(start)
        while end < len(firsts) and firsts[end] < 0 and loop_of.get(end) is loop:
            end += 1
        return end
    is_moved, omitted = matching.is_moved, matching.is_omitted
    while end < len(firsts) and firsts[end] >= 0 and is_moved[end] == is_moved[start]:
        last = lasts[end - 1]
        if last > lasts[end] or omitted.find(1, last + 1, lasts[end] + 1) >= 0:
            break
        end += 1
    return end


def _omissions(matching: Matching, reference: Wording, *, start: int, end: int) -> Iterator[Stretch]:
    """The runs of left-out words in a part of the reference."""
    first = None
    for place in range(start, end + 1):
        if place < end and matching.is_omitted[place]:
            first = place if first is None else first
        elif first is not None:
            yield Stretch("omission", place - first, None, None, reference.starts[first], reference.ends[place - 1])
            first = None


def _stretch(
    matching: Matching, reference: Wording, response: Wording, *, span: tuple[int, int], loop: Repeat | None
) -> Stretch:
    first, end = span
    words, start, stop = end - first, response.starts[first], response.ends[end - 1]
    if matching.firsts[first] >= 0:
        return Stretch(
            "run",
            words,
            start,
            stop,
            reference.starts[min(matching.firsts[first:end])],
            reference.ends[max(matching.lasts[first:end])],
            is_moved=bool(matching.is_moved[first]),
            misread_words=sum(matching.is_misread[first:end]),
        )
    if loop is not None:
        return Stretch("loop", words, start, stop, None, None, period=loop.period, copies=loop.copies)
    return Stretch("block" if words >= SHORTEST_BLOCK else "insertion", words, start, stop, None, None)
