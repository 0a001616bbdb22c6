"""A run and a policy in, what is broken out: what `hallumeter gate` runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import structs

from hallumeter.errors import SettingsError
from hallumeter.metrics.catalog import METRICS_BY_ID
from hallumeter.pipelines.ingesting.ranges import metric_named
from hallumeter.policy import Bound, headline_rows, nearest
from hallumeter.records import Label, MetricSummary
from hallumeter.records.decisions.gate import GATE_VERSION, GateResult, OffendingClaim, OffendingRecord
from hallumeter.report import settled_label
from hallumeter.store import RunFolder

from .places import Places
from .slices import ReadRun

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hallumeter.pipelines.run import Run
    from hallumeter.policy import Policy
    from hallumeter.records.decisions.gate import BoundCheck

MOST_RECORDS = 20
"""Offending records that are named for each bound."""
MOST_CLAIMS = 5_000
"""Unsupported claims that are kept; code hosts show no more."""
UNSUPPORTED = (Label.REFUTED, Label.NOT_ENOUGH_INFO)


def gate(run: Run, policy: Policy, *, source: Path | None = None) -> GateResult:
    """Hold a run to the bounds of a policy, or of its rules where it has no bounds.

    `source` is the folder with the files that the run was made from, in which records are looked up.
    """
    bounds = policy.bounds or tuple(rule.bound for rule in policy.rules)
    gate_ = _Gate(run)
    gate_.refuse_unknown(bounds)
    checks = []
    places = Places(run.manifest, source or Path())
    for bound in bounds:
        for row in gate_.rows(bound):
            check = bound.check(row, claims=gate_.claims(row), max_unmeasured=policy.max_unmeasured)
            checks.append(gate_.with_offenders(check, bound, places) if check.status == "broken" else check)
    claims, total = _unsupported(run, gate_.headline, places)
    statuses = {check.status for check in checks}
    outcome: Literal["passed", "broken", "unmeasured"] = "passed"
    if "broken" in statuses:
        outcome = "broken"
    elif "unmeasured" in statuses:
        outcome = "unmeasured"
    return GateResult(
        version=GATE_VERSION,
        run=run.path.name or str(run.path),
        policy=policy.name,
        outcome=outcome,
        checks=tuple(checks),
        claims=tuple(claims),
        claims_total=total,
        notices=tuple(places.notices),
    )


class _Gate:
    """A run while it is held to bounds; its records are read only when a slice or a broken bound asks for them."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._summary = run.summary
        whole = [row for row in self._summary.metrics if not row.by]
        self._judge = whole[0].judge if whole else None
        judges = {entry.name for entry in run.manifest.judges}
        self.headline = self._judge if self._judge in judges else None
        self._read: dict[tuple[str, ...], ReadRun] = {}

    def refuse_unknown(self, bounds: Sequence[Bound]) -> None:
        """A metric that is neither in the catalog nor a score of this run is a mistake in the policy."""
        known = {*METRICS_BY_ID, *(row.metric for row in self._summary.metrics)}
        for bound in bounds:
            if bound.metric not in known:
                raise SettingsError(
                    f"unknown metric {bound.metric!r}: {self._run.path} has no such score; "
                    f"{nearest(bound.metric, [row.metric for row in self._summary.metrics])}"
                )

    def rows(self, bound: Bound) -> Iterator[MetricSummary]:
        """What a bound speaks of: the row of the run, of one slice, or of each."""
        fields = bound.each or tuple(bound.by)
        if not fields:
            found = headline_rows(self._summary.metrics, self._judge).get(bound.metric)
            yield found if found is not None else _unmeasured(bound.metric, {})
            return
        known = [
            row
            for row in self._summary.metrics
            if row.metric == bound.metric and set(row.by) == set(fields) and row.judge in (self._judge, None)
        ]
        if known:
            wanted = [row for row in known if not bound.by or row.by == bound.by]
            yield from wanted or [_unmeasured(bound.metric, bound.by)]
            return
        read = self.read(fields)
        for by in [bound.by] if bound.by else read.slices():
            yield read.row(bound.metric, by)

    def claims(self, row: MetricSummary) -> float:
        """All claims that a row speaks of, measured or not; of another tool's score, all records."""
        missing = row.undecided + row.failed
        if row.metric not in METRICS_BY_ID:
            return (row.total or 0.0) + missing
        for other in self._summary.metrics:
            if other.metric == "mihr" and other.by == row.by and other.judge == row.judge:
                return (other.total or 0.0) + missing
        if row.by and missing:
            return self.read(tuple(row.by)).claims_in(row.by)
        return (row.total or 0.0) + missing

    def read(self, fields: tuple[str, ...]) -> ReadRun:
        """The records, by some fields."""
        if fields not in self._read:
            self._read[fields] = ReadRun(self._run, fields)
        return self._read[fields]

    def with_offenders(self, check: BoundCheck, bound: Bound, places: Places) -> BoundCheck:
        """Name the records that count most against the bound; none for a figure that no record has on its own."""
        read = self.read(tuple(check.by))
        if check.metric not in read.side.metrics:
            return check
        chosen = read.records_in(check.by)
        rates = read.side.rates(check.metric)[chosen]
        against = rates.counts if bound.at_most is not None else rates.totals - rates.counts
        worst = np.argsort(-against, kind="stable")
        worst = worst[against[worst] > 0]
        offenders = tuple(
            OffendingRecord(
                record_id=(name := read.side.record_ids[int(chosen[place])]),
                count=float(against[place]),
                total=float(rates.totals[place]),
                place=places.of_record(name),
            )
            for place in worst[:MOST_RECORDS].tolist()
        )
        return structs.replace(check, offenders=offenders, offenders_total=len(worst))


def _unmeasured(metric: str, by: dict[str, str]) -> MetricSummary:
    """The row of a metric, or of a slice, that the run does not have."""
    return MetricSummary(
        metric=metric,
        by=by,
        judge=None,
        count=None,
        total=None,
        value=None,
        interval=None,
        interval_method=None,
        direction=metric_named(metric, direction="none").direction,
        undefined="the run has no such slice" if by else "the run does not measure it",
        undecided=0,
        failed=0,
        bounds=None,
        signature="",
    )


def _unsupported(run: Run, headline: str | None, places: Places) -> tuple[list[OffendingClaim], int]:
    """Every claim that the evidence does not support, with its place; the first of them, and how many there are."""
    found: list[OffendingClaim] = []
    total = 0
    for response, findings in RunFolder(run.path).findings():
        for finding in findings:
            label = settled_label(finding, headline)
            if label not in UNSUPPORTED:
                continue
            total += 1
            if len(found) >= MOST_CLAIMS:
                continue
            claim = finding.claim
            verdict = next(verdict for verdict in finding.verdicts if verdict.label is label)
            text = claim.text
            if text is None:
                text = (response.response or "")[claim.start : claim.end] if claim.start is not None else ""
            found.append(
                OffendingClaim(
                    record_id=claim.record_id,
                    claim_id=claim.claim_id,
                    text=text,
                    label=label.value,
                    reason=verdict.reason,
                    note=verdict.note,
                    place=places.of_claim(response, claim.start),
                )
            )
    return found, total
