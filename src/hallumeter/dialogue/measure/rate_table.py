"""The rates of all answers on disk, one row each, so that a million answers take no more memory than a hundred."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numpy as np
from msgspec import Struct, structs
from msgspec.structs import astuple
from numpy.typing import NDArray

from hallumeter.dialogue.catalog import CLINICAL_METRICS, METRICS_BY_ID
from hallumeter.dialogue.judges.settings import TurnRequirements
from hallumeter.dialogue.records import TurnColumns, TurnRates
from hallumeter.records.measurement import MetricSummary
from hallumeter.records.metric import Metric
from hallumeter.records.rate import Rates
from hallumeter.records.summaries import ScoreBins
from hallumeter.run.engines.local import map_in_order
from hallumeter.stats.intervals import manski_bounds
from hallumeter.stats.summarize import Slice, SummarySettings, summarize_rates

from .settings import MODE, TURN

_NAMES = TurnRates.__struct_fields__
_ROW = np.dtype(
    [
        ("patient", "<i8"),
        ("mode", "<i4"),
        ("turn", "<i4"),
        ("question", "<i4"),
        ("group", "<i4"),
        ("is_failed", "<i4"),
        ("unused", "<i4"),
        ("rates", "<f8", (2 * len(_NAMES),)),
    ]
)
_ROWS_AT_ONCE = 1 << 16


class RateRow(NamedTuple):
    """One answer."""

    patient: int
    mode: int
    turn_id: int
    question: int
    """Which question of its patient it answers: the same number for the same turn and words in all modes."""
    group: int
    is_failed: bool
    rates: tuple[float, ...]
    """Counts and totals in turn."""


class RateTable:
    """Rows in the order of the patients."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hallumeter-")
        self._path = Path(self._folder.name) / "turns.bin"
        self._stream = self._path.open("wb")
        self._waiting: list[RateRow] = []
        self._rows = 0

    def __enter__(self) -> RateTable:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._stream.close()
        self._folder.cleanup()

    def __len__(self) -> int:
        return self._rows

    def add(self, rows: list[RateRow]) -> None:
        """Write the answers of one patient."""
        self._waiting += rows
        self._rows += len(rows)
        if len(self._waiting) >= _ROWS_AT_ONCE // 16:
            self._write()

    def finished(self) -> RateFile:
        """All rows up to now, for any process to read."""
        self._write()
        return RateFile(self._path)

    def _write(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            rows = [(*row[:-2], row.is_failed, 0, row.rates) for row in waiting]
            np.array(rows, dtype=_ROW).tofile(self._stream)
        self._stream.flush()


class RateFile(NamedTuple):
    """Rows on disk."""

    path: Path

    def blocks(self) -> Iterator[NDArray[np.void]]:
        """All rows, some patients at a time; the rows of one patient stay together."""
        rest = np.empty(0, dtype=_ROW)
        with self.path.open("rb") as stream:
            while True:
                block = np.fromfile(stream, dtype=_ROW, count=_ROWS_AT_ONCE)
                rows = np.concatenate([rest, block])
                if not len(block):
                    break
                cut = int(np.searchsorted(rows["patient"], rows["patient"][-1]))
                yield rows[:cut]
                rest = rows[cut:]
        if len(rest):
            yield rest


def metric_rates(rows: NDArray[np.void], metric: Metric) -> Rates:
    """What a metric of the catalog makes of some rows."""
    rates: Rates = metric.compute(TurnColumns(rows["rates"]))
    return rates


def numbers_of(rates: TurnRates) -> tuple[float, ...]:
    """Counts and totals of an answer in turn."""
    pairs = (getattr(rates, name) for name in _NAMES)
    return tuple(number for rate in pairs for number in (float(rate.count), float(rate.total)))


# How answers are spread, group by group: sums per patient with intervals, and bins for charts.

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
    rate_table: RateFile,
    parts: Sequence[Part],
    *,
    settings: SummarySettings,
    requirements: TurnRequirements,
    workers: int = 1,
) -> Iterator[MetricSummary]:
    """Every metric of every part that has an answer, with an interval by resampling patients."""
    rows_of = partial(_part_rows, rate_table=rate_table, settings=settings, requirements=requirements)
    with closing(map_in_order(rows_of, parts, workers=workers)) as found:
        for rows in found:
            yield from rows


def _part_rows(
    part: Part, *, rate_table: RateFile, settings: SummarySettings, requirements: TurnRequirements
) -> list[MetricSummary]:
    gathered = _gathered(rate_table, part)
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


def _gathered(rate_table: RateFile, part: Part) -> _Gathered:
    # Within a turn all answers are asked for the same, so that a pool says what the mean says.
    metrics = CLINICAL_METRICS if part.turn is None else ONE_ANSWER
    sums: dict[str, list[Rates]] = {metric.id: [] for metric in metrics}
    answers = failed = 0
    for block in rate_table.blocks():
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


def score_bins(rate_table: RateFile, modes: Sequence[str]) -> tuple[ScoreBins, ...]:
    """How the values of single answers are spread, for each mode and metric that has any."""
    places = [(metric.id, code) for metric in ONE_ANSWER for code in range(len(modes))]
    counted = {place: np.zeros(BINS + 1, dtype=np.int64) for place in places}
    for block in rate_table.blocks():
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
