"""Count why judges did not call claims supported."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.records import Label
from hallumeter.report.document import ReasonCount, ReasonSection
from hallumeter.report.segmentation import CONSENSUS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hallumeter.records import Verdict

EXPLAINED = (Label.REFUTED, Label.NOT_ENOUGH_INFO, Label.UNDECIDED)
"""The labels that need a reason, worst first."""
MOST_CODES = 1_000
"""Different reasons that are told apart while counting; a judge that writes sentences would fill the memory."""
ROWS_OF_A_LABEL = 15
TOP = 3
"""Reasons of a label that are named where there is little room."""


class ReasonTally(Struct):
    """Reasons, while they are being counted."""

    counts: Counter[tuple[Label, str | None, str]]
    """Verdicts by label, reason and judge."""
    beyond: int = 0
    """Verdicts whose reason came after the last one that was told apart."""

    def add(self, label: Label, reason: str | None, *, judge: str, verdicts: int = 1) -> None:
        """Count verdicts, if their label needs a reason."""
        if label not in EXPLAINED:
            return
        key = (label, reason, judge)
        if key in self.counts or len(self.counts) < MOST_CODES:
            self.counts[key] += verdicts
        else:
            self.beyond += verdicts


def count_reasons(verdicts: Iterable[Verdict]) -> tuple[ReasonCount, ...]:
    """Why claims were not called supported, by label, most frequent first; empty when no judge gave a reason."""
    tally = ReasonTally(Counter())
    for verdict in verdicts:
        tally.add(verdict.label, verdict.reason, judge=verdict.judge)
    section = reason_section(tally)
    return () if section is None else section.rows


def reason_section(tally: ReasonTally) -> ReasonSection | None:
    """The most frequent reasons of each label; None when no judge gave a reason.

    The settled verdict of a panel is left out: it has no reason beside those of its judges.
    """
    judges = {judge for _, _, judge in tally.counts}
    found: dict[tuple[Label, str | None], dict[str, int]] = {}
    for (label, reason, judge), verdicts in tally.counts.items():
        if judge != CONSENSUS or len(judges) == 1:
            found.setdefault((label, reason), {})[judge] = verdicts
    if all(reason is None for _, reason in found):
        return None
    rows = [
        ReasonCount(label, reason, sum(judges.values()), dict(sorted(judges.items())))
        for (label, reason), judges in found.items()
    ]
    rows.sort(key=lambda row: (EXPLAINED.index(row.label), row.reason is None, -row.verdicts, row.reason or ""))
    kept = [row for label in EXPLAINED for row in _shown(_of(rows, label))]
    left_out = sum(row.verdicts for row in rows) - sum(row.verdicts for row in kept) + tally.beyond
    return ReasonSection(tuple(kept), left_out)


def top_reasons(reasons: Sequence[ReasonCount]) -> list[ReasonCount]:
    """The most frequent reasons of each label, for where there is little room."""
    given = [row for row in reasons if row.reason is not None]
    return [row for label in EXPLAINED for row in _of(given, label)[:TOP]]


def _of(rows: Sequence[ReasonCount], label: Label) -> list[ReasonCount]:
    return [row for row in rows if row.label is label]


def _shown(rows: list[ReasonCount]) -> list[ReasonCount]:
    """The most frequent rows; the verdicts without a reason stand last, whatever else is cut."""
    return [row for place, row in enumerate(rows) if place < ROWS_OF_A_LABEL or row.reason is None]
