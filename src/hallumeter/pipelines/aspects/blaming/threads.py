"""Which aspect after a step is which aspect before it: terms are trimmed, spans corrected, aspects dropped and added.

A thread is one aspect through all steps. An aspect that is dropped and comes back with the same term is one thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from hallumeter.pipelines.aspects.stages.terms import term_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hallumeter.records.aspects import AspectState

ThreadRow: TypeAlias = "list[AspectState | None]"
"""Every thread as it stands after a step; None where it does not. Earlier rows are shorter than later ones."""


def follow(states: Sequence[tuple[AspectState, ...]]) -> list[ThreadRow]:
    """One row per state, the very same one while nothing changes."""
    rows: list[ThreadRow] = []
    current: ThreadRow = []
    last_seen: list[AspectState] = []
    for number, aspects in enumerate(states):
        if number and aspects == states[number - 1]:
            rows.append(current)
            continue
        places = _places(current, aspects, last_seen)
        row: ThreadRow = [None] * len(current)
        for place, aspect in zip(places, aspects, strict=True):
            if place is None:
                row.append(aspect)
                last_seen.append(aspect)
            else:
                row[place] = last_seen[place] = aspect
        rows.append(row)
        current = row
    return rows


def _places(
    current: ThreadRow, aspects: tuple[AspectState, ...], last_seen: Sequence[AspectState]
) -> Sequence[int | None]:
    """The thread of every aspect; None for a new one."""
    live = [place for place, aspect in enumerate(current) if aspect is not None]
    if [last_seen[place].term for place in live] == [aspect.term for aspect in aspects]:
        return live
    found: dict[int, int] = {}
    left = dict(enumerate(aspects))
    threads = {place: last_seen[place] for place in live}
    for is_same in _SAMENESS:
        found |= _paired(left, threads, is_same)
    gone = {place: last_seen[place] for place, aspect in enumerate(current) if aspect is None}
    found |= _paired(left, gone, _has_same_term)
    return [found.get(place) for place in range(len(aspects))]


def _paired(
    aspects: dict[int, AspectState],
    threads: dict[int, AspectState],
    is_same: Callable[[AspectState, AspectState], bool],
) -> dict[int, int]:
    """Give each aspect the first thread that is the same; both are then no longer to be had."""
    found: dict[int, int] = {}
    for place, aspect in aspects.items():
        thread = next((thread for thread, before in threads.items() if is_same(before, aspect)), None)
        if thread is not None:
            found[place] = thread
            del threads[thread]
    for place in found:
        del aspects[place]
    return found


def _is_equal(before: AspectState, after: AspectState) -> bool:
    return before == after


def _is_in_place(before: AspectState, after: AspectState) -> bool:
    return before.term == after.term and before.span == after.span


def _has_same_term(before: AspectState, after: AspectState) -> bool:
    return term_key(before.term) == term_key(after.term)


def _is_trimmed(before: AspectState, after: AspectState) -> bool:
    """A particle cut off, a word taken in: one term holds the other, and their places meet."""
    if before.span is None or after.span is None or not (before.term and after.term):
        return False
    do_meet = before.span.start < after.span.end and after.span.start < before.span.end
    return do_meet and (before.term in after.term or after.term in before.term)


def _is_renamed(before: AspectState, after: AspectState) -> bool:
    return before.span is not None and before.span == after.span and bool(before.term) == bool(after.term)


_SAMENESS = (_is_equal, _is_in_place, _has_same_term, _is_trimmed, _is_renamed)
"""From the strictest to the loosest."""
