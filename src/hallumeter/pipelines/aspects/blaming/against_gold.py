"""How the aspects of a sentence stand to gold after each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hallumeter.metrics.aspects.tuples import tidy_polarity, tidy_term
from hallumeter.records.aspects.blame import ABSENT, RIGHT, WRONG

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.records.aspects import TextSpan

    from .histories import History
    from .threads import ThreadRow

StatusRows: TypeAlias = "list[list[int]]"
"""The status of every unit of a kind, one row per step; the very same row while nothing changes."""
Pair: TypeAlias = tuple[str, str]
_SILENT_STEPS = ("ate", "ate_tidying", "ate_review")
"""Steps that find aspects and do not say what is felt about them."""


class Compared(NamedTuple):
    """Which thread stands for which pair of gold, and what is wrong, one row per step."""

    matches: list[list[int]]
    """-1 where none does."""
    spurious: StatusRows
    missing: StatusRows
    polarity: StatusRows


class _Line(NamedTuple):
    """A thread as it is compared."""

    thread: int
    term: str
    polarity: str
    span: TextSpan | None
    is_felt: bool


def compared(
    history: History, threads: list[ThreadRow], pairs: Sequence[Pair], *, spans: Sequence[TextSpan | None]
) -> Compared:
    """Compare the threads with gold after every step."""
    found = Compared([], [], [], [])
    before = None
    felt = [ABSENT] * len(pairs)
    for step, row, is_judged in zip(history.steps, threads, history.are_judged, strict=True):
        if before == (id(row), is_judged, step in _SILENT_STEPS):
            for rows in found:
                rows.append(rows[-1])
            continue
        before = (id(row), is_judged, step in _SILENT_STEPS)
        lines = [
            _Line(place, tidy_term(aspect.term), tidy_polarity(aspect.polarity), aspect.span, aspect.has_sentiment)
            for place, aspect in enumerate(row)
            if aspect is not None
        ]
        match = _matched(lines, pairs, spans) if is_judged else _named(lines, pairs)
        felt = _polarities(row, match, pairs, earlier=felt, is_silent=step in _SILENT_STEPS) if is_judged else felt
        found.matches.append(match)
        found.spurious.append(_spurious(len(row), lines, match, pairs=pairs, is_judged=is_judged))
        found.missing.append(_missing(match, pairs, is_judged=is_judged))
        found.polarity.append(felt)
    return found


def _named(lines: list[_Line], pairs: Sequence[Pair]) -> list[int]:
    """Before anyone spoke of polarities, a term stands for all pairs that have it."""
    first: dict[str, int] = {}
    for line in lines:
        first.setdefault(line.term, line.thread)
    return [first.get(term, -1) if term else -1 for term, _ in pairs]


def _matched(lines: list[_Line], pairs: Sequence[Pair], spans: Sequence[TextSpan | None]) -> list[int]:
    """Of the threads with a pair's term, the one of its polarity, at its place first; then any at its place, any."""
    candidates: dict[str, list[_Line]] = {}
    for line in lines:
        candidates.setdefault(line.term, []).append(line)
    if len(candidates) == len(lines) and len({term for term, _ in pairs}) == len(pairs):
        return [candidates[term][0].thread if term in candidates else -1 for term, _ in pairs]
    match = [-1] * len(pairs)
    for likeness in (3, 2, 1, 0):
        for number, (term, polarity) in enumerate(pairs):
            if match[number] >= 0:
                continue
            like = [line for line in candidates.get(term, ()) if _likeness(line, polarity, spans[number]) >= likeness]
            if like:
                match[number] = like[0].thread
                candidates[term].remove(like[0])
    return match


def _likeness(line: _Line, polarity: str, span: TextSpan | None) -> int:
    return 2 * (line.polarity == polarity) + (span is None or line.span == span)


def _spurious(size: int, lines: list[_Line], match: list[int], *, pairs: Sequence[Pair], is_judged: bool) -> list[int]:
    """Who says once more what gold says adds nothing; where polarities are not known, neither does who repeats a term.

    Nobody has spoken of the polarity of an aspect that was found but now, either.
    """
    row = [ABSENT] * size
    terms = {term for term, _ in pairs}
    for line in lines:
        is_open = not (is_judged and line.is_felt)
        is_repeated = line.term in terms if is_open else (line.term, line.polarity) in pairs
        row[line.thread] = RIGHT if line.thread in match or is_repeated else WRONG
    return row


def _missing(match: list[int], pairs: Sequence[Pair], *, is_judged: bool) -> list[int]:
    """Who extracts terms cannot find what is not named."""
    return [
        RIGHT if thread >= 0 else WRONG if is_judged or term else ABSENT
        for thread, (term, _) in zip(match, pairs, strict=True)
    ]


def _polarities(
    row: ThreadRow, match: list[int], pairs: Sequence[Pair], *, earlier: list[int], is_silent: bool
) -> list[int]:
    """To say nothing about an aspect is wrong, except of those that have just found it."""
    statuses = [ABSENT] * len(pairs)
    for number, (thread, (_, polarity)) in enumerate(zip(match, pairs, strict=True)):
        aspect = row[thread] if thread >= 0 else None
        if aspect is None or not polarity:
            continue
        if aspect.has_sentiment:
            statuses[number] = RIGHT if tidy_polarity(aspect.polarity) == polarity else WRONG
        else:
            statuses[number] = ABSENT if is_silent and earlier[number] == ABSENT else WRONG
    return statuses
