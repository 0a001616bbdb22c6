"""How answers are spread, group by group: sums per patient with intervals, and bins for charts."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs
from msgspec.structs import astuple

from hallumeter.engines import map_in_order
from hallumeter.metrics.catalog import CLINICAL_METRICS, METRICS_BY_ID
from hallumeter.records import Rates
from hallumeter.records.pairing import ScoreBins
from hallumeter.stats import manski_bounds
from hallumeter.summary import Slice, summarize_rates

from .ledger import metric_rates
from .settings import MODE, TURN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from hallumeter.judges.clinical.settings import TurnRequirements
    from hallumeter.records import MetricSummary
    from hallumeter.summary import SummarySettings

    from .ledger import LedgerFile

BINS = 20
_SLACK = 1e-9
"""0.15 times 20 must not fall into the bin below."""
ONE_ANSWER = tuple(metric for metric in CLINICAL_METRICS if not metric.id.endswith("_pooled"))
"""Metrics that every answer has a value of its own of."""
_IDS_OF_ONE_ANSWER = frozenset(metric.id for metric in ONE_ANSWER)


class Part(Struct, frozen=True):
    """Some of the answers: those of a mode, of a turn, of a group, or all of them."""

    by: dict[str, str]
    mode: int | None = None
    turn: int | None = None
    group: int | None = None

    def rows(self, block: NDArray[np.void]) -> NDArray[np.void]:
        """Its rows in a block."""
        is_in = np.ones(len(block), dtype=bool)
        for name in ("mode", "turn", "group"):
            wanted = getattr(self, name)
            if wanted is not None:
                is_in &= block[name] == wanted
        return block[is_in]


def parts_of(modes: Sequence[str], turns: Sequence[int], groups: Sequence[dict[str, str]]) -> list[Part]:
    """The whole, every mode, every turn, every turn of a mode, and every group that was asked for."""
    by_mode = [Part({MODE: name}, mode=code) for code, name in enumerate(modes)]
    by_turn = [Part({TURN: str(turn)}, turn=turn) for turn in turns]
    both = [
        Part({MODE: name, TURN: str(turn)}, mode=code, turn=turn) for code, name in enumerate(modes) for turn in turns
    ]
    known = [part.by for part in (*by_mode, *by_turn, *both)]
    asked = [Part(by, group=code) for code, by in enumerate(groups) if by and by not in known]
    return [Part({}), *by_mode, *by_turn, *both, *asked]


def summary_rows(
    ledger: LedgerFile,
    parts: Sequence[Part],
    *,
    settings: SummarySettings,
    requirements: TurnRequirements,
    workers: int = 1,
) -> Iterator[MetricSummary]:
    """Every metric of every part that has an answer, with an interval by resampling patients."""
    rows_of = partial(_part_rows, ledger=ledger, settings=settings, requirements=requirements)
    with closing(map_in_order(rows_of, parts, workers=workers)) as found:
        for rows in found:
            yield from rows


def _part_rows(
    part: Part, *, ledger: LedgerFile, settings: SummarySettings, requirements: TurnRequirements
) -> list[MetricSummary]:
    gathered = _gathered(ledger, part)
    rows = []
    for metric, rates in gathered.rates.items() if gathered.answers else ():
        bounds = None
        if gathered.failed and metric in _IDS_OF_ONE_ANSWER:
            # A failed answer could have had any value.
            bounds = manski_bounds(rates.pooled.count, rates.pooled.total, gathered.failed)
        slice_ = Slice(part.by, None, failed=gathered.failed)
        row = summarize_rates(METRICS_BY_ID[metric], rates, slice_, settings=settings, bounds=bounds)
        rows.append(_with_note(row, part, requirements))
    return rows


class _Gathered(Struct, frozen=True, eq=False):
    """The answers of a part: for each metric the rates of each patient."""

    rates: dict[str, Rates]
    answers: int
    failed: int


def _gathered(ledger: LedgerFile, part: Part) -> _Gathered:
    # Within a turn all answers are asked for the same, so that a pool says what the mean says.
    metrics = CLINICAL_METRICS if part.turn is None else ONE_ANSWER
    sums: dict[str, list[Rates]] = {metric.id: [] for metric in metrics}
    answers = failed = 0
    for block in ledger.blocks():
        rows = part.rows(block)
        answers += len(rows)
        failed += int(rows["is_failed"].sum())
        patients = np.unique(rows["patient"], return_inverse=True)[1].astype(np.intp)
        for metric in metrics:
            sums[metric.id].append(metric_rates(rows, metric).pooled_by(patients))
    joined = {
        metric: Rates(*(np.concatenate([np.empty(0), *columns]) for columns in zip(*map(astuple, parts), strict=True)))
        if parts
        else Rates(np.empty(0), np.empty(0))
        for metric, parts in sums.items()
    }
    return _Gathered(joined, answers, failed)


def _with_note(row: MetricSummary, part: Part, requirements: TurnRequirements) -> MetricSummary:
    """A warning where context is used less than the settings expect of a turn."""
    turn = None if part.turn is None else requirements.turn(part.turn)
    least = None if turn is None else turn.min_expected
    if row.metric != "cus_improved" or least is None or row.value is None or row.value >= least:
        return row
    return structs.replace(row, note=f"below the {least:g} that the settings expect of turn {part.turn}")


def score_bins(ledger: LedgerFile, modes: Sequence[str]) -> tuple[ScoreBins, ...]:
    """How the values of single answers are spread, for each mode and metric that has any."""
    places = [(metric.id, code) for metric in ONE_ANSWER for code in range(len(modes))]
    counted = {place: np.zeros(BINS + 1, dtype=np.int64) for place in places}
    for block in ledger.blocks():
        for metric in ONE_ANSWER:
            rates = metric_rates(block, metric)
            has_value = rates.totals > 0
            bins = np.minimum((rates.counts * BINS + _SLACK).astype(np.int64), BINS - 1)
            bins = np.where(has_value, bins, BINS)
            for code in range(len(modes)):
                counted[metric.id, code] += np.bincount(bins[block["mode"] == code], minlength=BINS + 1)
    return tuple(
        ScoreBins(metric, modes[code], tuple(bins[:BINS].tolist()), int(bins[BINS]))
        for (metric, code), bins in counted.items()
        if bins[:BINS].any()
    )
