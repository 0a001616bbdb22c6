"""How everything that can be wrong with the aspects of a sentence stands after each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hallumeter.judges.aspects.grounding import drop_class_of, is_at
from hallumeter.judges.aspects.offset_conventions import CountedText
from hallumeter.metrics.aspects.tuples import tidy_polarity, tidy_term
from hallumeter.records.aspects.blame import ABSENT, RIGHT, WRONG

from .against_gold import compared
from .threads import follow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.records.aspects import AspectTuple, TextSpan
    from hallumeter.records.aspects.blame import ErrorKind

    from .against_gold import StatusRows
    from .histories import History
    from .threads import ThreadRow


class Units(NamedTuple):
    """All units of a sentence, one row per step."""

    threads: list[ThreadRow]
    gold: tuple[AspectTuple, ...]
    """Each pair of a term and a polarity once."""
    matches: list[list[int]]
    """The thread that stands for each aspect of gold; -1 for none."""
    statuses: dict[ErrorKind, StatusRows]
    """Only the kinds that can be told: without gold, ``ungrounded`` alone."""
    details: dict[int, str]
    """By thread: what was last wrong with its place, ``H1`` or ``H2``."""


def units_of(history: History, *, text: str, gold: Sequence[AspectTuple] | None) -> Units:
    """Follow aspects through the steps and look at each after each step.

    As in tuple F1, what gold or a step says twice counts once. An aspect that is not named in gold is found only by
    one that is not named either.
    """
    threads = follow(history.states)
    for row in threads:
        row.extend([None] * (len(threads[-1]) - len(row)))
    details: dict[int, str] = {}
    statuses: dict[ErrorKind, StatusRows] = {"ungrounded": _grounded(threads, text, details)}
    if gold is None:
        return Units(threads, (), [], statuses, details)
    wanted = {(tidy_term(each.aspect_term), tidy_polarity(each.polarity)): each for each in reversed(gold)}
    pairs = list(reversed(wanted))
    found = compared(history, threads, pairs, spans=[wanted[pair].span for pair in pairs])
    statuses |= {"spurious": found.spurious, "missing": found.missing, "polarity": found.polarity}
    return Units(threads, tuple(wanted[pair] for pair in pairs), found.matches, statuses, details)


def _grounded(threads: list[ThreadRow], text: str, details: dict[int, str]) -> StatusRows:
    """An aspect that is not named stands nowhere, so that it can be neither right nor wrong."""
    known: dict[tuple[str, TextSpan | None], str | None] = {}
    rows: StatusRows = []
    for number, aspects in enumerate(threads):
        if number and aspects is threads[number - 1]:
            rows.append(rows[-1])
            continue
        row = [ABSENT] * len(aspects)
        for place, aspect in enumerate(aspects):
            if aspect is None or not aspect.term:
                continue
            stated = (aspect.term, aspect.span)
            if stated not in known:
                known[stated] = _misgrounded(text, aspect.term, aspect.span)
            fault = known[stated]
            row[place] = RIGHT if fault is None else WRONG
            if fault is not None:
                details[place] = fault
        rows.append(row)
    return rows


def _misgrounded(text: str, term: str, span: TextSpan | None) -> str | None:
    """``H1`` for a term that is not in the text, ``H2`` for one that does not stand at its span, else None."""
    if span is not None and is_at(text, term, span):
        return None
    return drop_class_of(CountedText(text), term, span)
