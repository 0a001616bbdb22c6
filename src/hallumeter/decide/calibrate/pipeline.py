"""A run and labels in, a threshold with a promise out: what `hallumeter calibrate` runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hallumeter.claims.labelled.reading import LabelledRun, read_labelled
from hallumeter.claims.labelled.strata import record_slices
from hallumeter.records.decisions import CALIBRATION_VERSION, AcceptanceThreshold, Calibration, Promise
from hallumeter.run.finished import Run, load

from .settings import CalibrateSettings
from .thresholds import RunUnits, acceptance_threshold, partly_labelled, reliability, run_units


def calibrate(run: Run | str | Path, *, settings: CalibrateSettings | None = None) -> Calibration:
    """Choose the threshold up to which claims or responses of a run can be accepted, so that a promise is kept.

    Raises:
        InputError: There are no labels or no probabilities, or labels speak of nothing in the run or contradict.
    """
    chosen = settings or CalibrateSettings()
    target = chosen.promised
    opened = run if isinstance(run, Run) else load(run)
    labelled = read_labelled(opened, chosen.source)
    units = run_units(labelled, chosen.unit)
    slices = [(by, units.chosen(rows[units.records])) for by, rows in record_slices(labelled, chosen.source.by)]
    error = 1 - chosen.confidence
    if chosen.is_joint:
        error /= len(slices)
    rows = tuple(
        acceptance_threshold(part, by, target, error=None if chosen.is_on_average else error) for by, part in slices
    )
    return Calibration(
        version=CALIBRATION_VERSION,
        run=opened.path.name or str(opened.path),
        judge=labelled.judge,
        unit=units.unit,
        cluster=labelled.unit,
        confidence=chosen.confidence,
        promise=Promise(
            risk=target.risk,
            limit=target.limit,
            words=target.words,
            confidence=None if chosen.is_on_average else chosen.confidence,
            is_joint=chosen.is_joint,
        ),
        labels=labelled.census,
        unscored=int((~units.is_scored).sum()),
        thresholds=rows,
        reliability=reliability(units, chosen),
        notices=tuple(_notices(labelled, units, rows)),
    )


def _notices(run: LabelledRun, units: RunUnits, rows: tuple[AcceptanceThreshold, ...]) -> Iterator[str]:
    if any(row.is_weighted for row in rows):
        yield (
            "labels were drawn at different rates by what the judge said: each stands for as many as it was drawn "
            "from, which costs certainty"
        )
    part = partly_labelled(run) if units.unit == "response" else 0
    if part:
        yield f"{part:,} responses are labelled only in part; they do not count"
    unscored = int((~units.is_scored).sum())
    if unscored:
        yield f"{unscored:,} of {len(units):,} {units.unit}s have no probability; they are never accepted"
    census = run.census
    if census.detached:
        yield f"{census.detached:,} labels speak of claims that now say something else, or are gone; they do not count"
    if census.disputed:
        yield f"annotators disagree on {census.disputed:,} claims; they count by their shares"
