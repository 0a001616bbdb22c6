"""Counts of all that was ever wrong: on its way through the steps, at the end, and where nobody listened."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

from hallumeter.metrics.aspects.blame import is_repair
from hallumeter.records.aspects.blame import ERROR_KINDS, STATUSES

from .sections import BlameSection, FlowMove, FlowSection, FlowStep, IgnoredErrors
from .tracing import ORDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hallumeter.records import MetricSummary
    from hallumeter.records.aspects.blame import ErrorKind, UnitBlame

_History = tuple[str, tuple[tuple[str, str], ...]]
"""A kind of error, and each step that changed one with how it stood then."""


class ErrorCount:
    """Counts errors sentence by sentence; equal histories are kept once."""

    def __init__(self) -> None:
        self.sentences = 0
        self._histories: Counter[_History] = Counter()
        self._standing: Counter[tuple[str, str]] = Counter()
        self._ignored: Counter[tuple[str, str, str]] = Counter()

    def add(self, errors: Iterable[UnitBlame]) -> None:
        """Take in the errors of a sentence."""
        self.sentences += 1
        for unit in errors:
            self._histories[unit.error, tuple((change.step, change.became) for change in unit.changes)] += 1
            if unit.does_stand_at_end:
                self._standing[unit.error, unit.introduced_by] += 1
                self._ignored.update((each.by, each.reason, unit.error) for each in unit.ignored_by)

    def flow(self, taken: Iterable[str]) -> tuple[FlowStep, ...]:
        """What every step did; `taken` are the steps of the run, also those that changed nothing."""
        if not self._histories:
            return ()
        known = {step for _, changes in self._histories for step, _ in changes} | set(taken)
        now: dict[_History, str] = dict.fromkeys(self._histories, STATUSES[0])
        found = []
        for step in sorted(known, key=_rank):
            moves: Counter[tuple[str, str, str]] = Counter()
            for history, units in self._histories.items():
                became = dict(history[1]).get(step, now[history])
                moves[history[0], now[history], became] += units
                now[history] = became
            found.append(FlowStep(step, tuple(_moves(moves))))
        return tuple(found)

    def blame(self, rows: Sequence[MetricSummary]) -> BlameSection:
        """The rates of steps, with what stands at the end."""
        standing: dict[str, dict[str, int]] = {}
        for (error, step), errors in sorted(self._standing.items(), key=lambda item: _rank(item[0][1])):
            standing.setdefault(error, {})[step] = errors
        ignored = sorted(self._ignored.items(), key=lambda item: (_rank(item[0][0]), -item[1], item[0]))
        return BlameSection(tuple(rows), standing, tuple(IgnoredErrors(*told, errors) for told, errors in ignored))


def deed(move: FlowMove) -> str | None:
    """What a step did that moved something so: one of `DEEDS`; None where it was neither wrong before nor after.

    >>> deed(FlowMove("spurious", "wrong", "absent", 1)), deed(FlowMove("polarity", "wrong", "absent", 1))
    ('repaired', 'lost')
    """
    if move.became == "wrong":
        return {"absent": "introduced", "right": "broken", "wrong": "kept"}[move.was]
    if move.was != "wrong":
        return None
    kind: ErrorKind = next(kind for kind in ERROR_KINDS if kind == move.error)
    return "repaired" if is_repair(STATUSES.index(move.became), kind) else "lost"


def deeds_of(step: FlowStep, error: str | None = None) -> Counter[str]:
    """How much of everything a step did, to errors of one kind or of all."""
    counts: Counter[str] = Counter()
    for move in step.moves:
        done = deed(move)
        if done is not None and error in (None, move.error):
            counts[done] += move.units
    return counts


def flow_section(count: ErrorCount, rows: Iterable[MetricSummary], *, missing: str | None) -> FlowSection:
    """The way of errors; what cannot be told says why."""
    if missing is not None:
        return FlowSection(missing="outputs" if missing == "outputs" else "blame")
    told = list(rows)
    steps = [row.by["step"] for row in told if row.metric == "step_introduction_rate"]
    has_gold = any(row.by["error"] != "ungrounded" for row in told)
    return FlowSection(count.flow(steps), count.sentences, has_gold=has_gold)


def _moves(moves: Counter[tuple[str, str, str]]) -> Iterable[FlowMove]:
    for kind, was, became in product(ERROR_KINDS, STATUSES, STATUSES):
        if units := moves[kind, was, became]:
            yield FlowMove(kind, was, became, units)


def _rank(step: str) -> tuple[int, str]:
    return (ORDER.index(step) if step in ORDER else len(ORDER), step)
