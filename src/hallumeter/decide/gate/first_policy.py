"""A policy to begin with: what a run measured, a little looser, with every line explained."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.claims.profiles import headline_rows
from hallumeter.decide.policy import usual_metrics
from hallumeter.errors import InputError
from hallumeter.records.measurement import MetricSummary
from hallumeter.run.finished import Run
from hallumeter.text.normalize import one_line

SLACK = 0.01
"""How much looser than measured a bound is: a point of a rate."""
DIGITS = 2
_STEPS = 100
FEWEST_UNMEASURED = 0.02


def first_policy(run: Run) -> str:
    """The text of a policy that this run passes.

    Raises:
        InputError: The run measured nothing that has a better side.
    """
    summary = run.summary
    whole = [row for row in summary.metrics if not row.by]
    rows = headline_rows(summary.metrics, whole[0].judge if whole else None)
    chosen = [rows[name] for name in usual_metrics(summary.instrument, list(rows)) if rows[name].value is not None]
    chosen = [row for row in chosen if row.direction != "none"]
    if not chosen:
        raise InputError(f"{run.path}: nothing was measured that a policy could bound")
    return "\n".join(_lines(run, chosen)) + "\n"


def _lines(run: Run, rows: list[MetricSummary]) -> Iterator[str]:
    missing = max(
        (row.undecided + row.failed) / max((row.total or 0.0) + row.undecided + row.failed, 1) for row in rows
    )
    yield f"# Made by `hallumeter gate --init` from {one_line(run.path.name)}: what that run measured, a little looser."
    yield "# Tighten it to what you can stand behind; `hallumeter metrics` says what each metric means."
    yield "#"
    yield "# looks_at: point (the value), interval (its unfavourable end), worst_case (what the unmeasured allow)."
    yield '# by = { task = "QA" } bounds one slice; each = ["task"] bounds every slice of a field on its own.'
    yield f'name = "{_quoted(run.path.resolve().name)}"'
    yield ""
    yield "# At most this share of the claims may be undecided or failed, or of the records without a score; beyond it"
    yield "# nothing passes (exit code 3)."
    yield f"max_unmeasured = {max(FEWEST_UNMEASURED, _up(missing)):.{DIGITS}f}"
    for row in rows:
        yield from _bound(row)


def _bound(row: MetricSummary) -> Iterator[str]:
    known = METRICS_BY_ID.get(row.metric)
    is_upper = row.direction == "lower"
    looks_at, end = "point", row.value or 0.0
    measured = f"measured {end:.3f}"
    if row.interval is not None:
        looks_at, end = "interval", row.interval[1 if is_upper else 0]
        measured += f", its interval ends at {end:.3f}"
    loose = _up(end + SLACK) if is_upper else _down(end - SLACK)
    # A score of another tool that was between 0 and 1 is taken to stay there.
    low, high = known.range if known else (0.0 if end >= 0 else -math.inf, 1.0 if end <= 1 else None)
    loose = max(low, loose if high is None else min(high, loose))
    yield ""
    yield (
        f"# {known.name}: {one_line(known.question)}" if known else f"# {one_line(row.metric)}: as that tool scores it."
    )
    yield f"# {measured}; {'less' if is_upper else 'more'} is better."
    yield "[[bounds]]"
    yield f'metric = "{_quoted(row.metric)}"'
    yield f"{'at_most' if is_upper else 'at_least'} = {loose:.{DIGITS}f}"
    yield f'looks_at = "{looks_at}"'


def _up(value: float) -> float:
    return math.ceil(value * _STEPS - 1e-9) / _STEPS


def _down(value: float) -> float:
    return math.floor(value * _STEPS + 1e-9) / _STEPS


def _quoted(text: str) -> str:
    """Text as a basic string of TOML."""
    return one_line(text).replace("\\", "\\\\").replace('"', '\\"')
