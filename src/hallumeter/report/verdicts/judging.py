"""What each judge did, and how far they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.report.counting.tallies import tally_of
from hallumeter.report.document import JudgeRow, JudgeSection
from hallumeter.report.segmentation import CONSENSUS

from .comparing import JUDGES_SHOWN, calibrations, judge_pairs
from .panel import panel_advice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.records import Manifest
    from hallumeter.records.decisions.baselines import JudgeChecks
    from hallumeter.report.counting.tallies import Tallies
    from hallumeter.report.document import MetricRow

AGREEMENT = "agreement"
"""The family of the metrics that compare judges."""


def judge_section(
    rows: Sequence[MetricRow],
    manifest: Manifest,
    *,
    tallies: Tallies,
    confidence: float,
    checks: JudgeChecks | None = None,
) -> JudgeSection:
    """The judges of a run, alone, two by two, and all together."""
    found = tallies.judges()
    verdicts = {judge: sum(tally.labels.values()) for judge, tally in found.items()}
    agreement = [row for row in rows if row.text.family == AGREEMENT and not row.summary.by]
    known = {judge.name for judge in manifest.judges} | set(found)
    each = tuple(row for row in agreement if row.summary.judge in known)
    judges = sum(judge != CONSENSUS for judge in found)
    return JudgeSection(
        judges=_judge_rows(rows, manifest, tallies=tallies),
        agreement=tuple(row for row in agreement if row not in each),
        each=each,
        advice=panel_advice([row.summary for row in rows]),
        pairs=judge_pairs(tallies.votes, verdicts),
        calibrations=calibrations(tallies.votes, verdicts, confidence=confidence),
        left_out=max(0, judges - JUDGES_SHOWN),
        baselines=None if checks is None else checks.baselines,
    )


def _judge_rows(rows: Sequence[MetricRow], manifest: Manifest, *, tallies: Tallies) -> tuple[JudgeRow, ...]:
    specs = {judge.name: judge.spec for judge in manifest.judges}
    found = tallies.judges()
    own_rows = [row for row in rows if not row.summary.by and row.text.family != AGREEMENT]
    measured = [row.summary.judge for row in own_rows if row.summary.judge is not None]
    names = sorted(dict.fromkeys([*specs, *sorted(found), *measured]), key=CONSENSUS.__eq__)
    judges = []
    for name in names:
        tally = found.get(name)
        judges.append(
            JudgeRow(
                judge=name,
                spec=specs.get(name),
                tally=None if tally is None else tally_of(tally.labels),
                cost_usd=None if tally is None else tally.cost_usd,
                verdicts_without_cost=0 if tally is None else tally.without_cost,
                rows=tuple(row for row in own_rows if row.summary.judge == name),
            )
        )
    return tuple(judges)
