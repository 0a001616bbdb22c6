"""The rates of all answers on disk, one row each, so that a million answers take no more memory than a hundred."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numpy as np
from msgspec import structs
from msgspec.structs import astuple
from numpy.typing import NDArray

from hallumeter.dialogue.catalog import CLINICAL_METRICS, METRICS_BY_ID
from hallumeter.dialogue.partial import BINS, ONE_ANSWER, TESTED, PairTally, PartTally, baseline_of
from hallumeter.dialogue.records import TurnColumns, TurnRates
from hallumeter.records.metric import Metric
from hallumeter.records.rate import Rates
from hallumeter.run.engines.local import map_in_order
from hallumeter.stats.tally import RateTally

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


# What the answers of every mode, turn and group add up to.

_SLACK = 1e-9
"""0.15 times 20 must not fall into the bin below."""


def parts_of(
    modes: Sequence[str], turns: Sequence[int], groups: Sequence[tuple[str, ...]], *, by: Sequence[str] = ()
) -> list[PartTally]:
    """The whole, every mode, every turn, every turn of a mode, and every group that was asked for, without answers."""
    usual = [PartTally(), *(PartTally(mode) for mode in modes), *(PartTally(None, turn) for turn in turns)]
    usual += [PartTally(mode, turn) for mode in modes for turn in turns]
    known = [part.by(by) for part in usual]
    asked = [PartTally(group=values) for values in groups]
    return [*usual, *(part for part in asked if part.by(by) not in known)]


Code = str | tuple[str, ...]
"""A mode, or the values of a group."""


def part_tallies(
    rate_table: RateFile, parts: Sequence[PartTally], codes: Mapping[Code, int], *, workers: int = 1
) -> tuple[PartTally, ...]:
    """The parts that have an answer, with what their answers add up to; `codes` tells how rows name them."""
    gather = partial(_gathered, rate_table=rate_table, codes=codes)
    with closing(map_in_order(gather, parts, workers=workers)) as found:
        return tuple(part for part in found if part.answers)


def _gathered(part: PartTally, *, rate_table: RateFile, codes: Mapping[Code, int]) -> PartTally:
    metrics = CLINICAL_METRICS if part.turn is None else ONE_ANSWER
    sums: dict[str, list[Rates]] = {metric.id: [] for metric in metrics}
    answers = failed = 0
    for block in rate_table.blocks():
        rows = _rows_of(part, block, codes)
        answers += len(rows)
        failed += int(rows["is_failed"].sum())
        patients = np.unique(rows["patient"], return_inverse=True)[1].astype(np.intp)
        for metric in metrics:
            sums[metric.id].append(metric_rates(rows, metric).pooled_by(patients))
    tallies = {metric: RateTally.of(_joined(found)) for metric, found in sorted(sums.items()) if found}
    kept = {metric: tally for metric, tally in tallies.items() if tally.clusters}
    return structs.replace(part, answers=answers, failed=failed, rates=kept)


def _joined(parts: Sequence[Rates]) -> Rates:
    counts, totals = (np.concatenate(columns) for columns in zip(*map(astuple, parts), strict=True))
    return Rates(counts, totals)


def _rows_of(part: PartTally, block: NDArray[np.void], codes: Mapping[Code, int]) -> NDArray[np.void]:
    is_in = np.ones(len(block), dtype=bool)
    if part.mode is not None:
        is_in &= block["mode"] == codes[part.mode]
    if part.turn is not None:
        is_in &= block["turn"] == part.turn
    if part.group is not None:
        is_in &= block["group"] == codes[part.group]
    return block[is_in]


def score_bins(rate_table: RateFile, modes: Sequence[str]) -> dict[str, dict[str, tuple[int, ...]]]:
    """How the values of single answers are spread, for each metric and mode; those without a value come last."""
    counted = {metric.id: np.zeros((len(modes), BINS + 1), dtype=np.int64) for metric in ONE_ANSWER}
    for block in rate_table.blocks():
        for metric in ONE_ANSWER:
            rates = metric_rates(block, metric)
            bins = np.minimum((rates.counts * BINS + _SLACK).astype(np.int64), BINS - 1)
            bins = np.where(rates.totals > 0, bins, BINS)
            for code in range(len(modes)):
                counted[metric.id][code] += np.bincount(bins[block["mode"] == code], minlength=BINS + 1)
    return {
        metric: {mode: tuple(bins.tolist()) for mode, bins in zip(modes, found, strict=True)}
        for metric, found in counted.items()
    }


# Answers of two modes to the same questions.


def pair_tallies(rate_table: RateFile, modes: Sequence[str], *, workers: int = 1) -> dict[str, dict[str, PairTally]]:
    """What every other mode and the baseline add up to on the questions that both were asked, by metric."""
    if len(modes) < 2:
        return {}
    baseline = modes.index(baseline_of(modes))
    found = {}
    for code, mode in enumerate(modes):
        if code != baseline:
            pair = partial(_paired, rate_table=rate_table, codes=(baseline, code))
            found[mode] = dict(zip(TESTED, map_in_order(pair, TESTED, workers=workers), strict=True))
    return found


def _paired(metric_id: str, *, rate_table: RateFile, codes: tuple[int, int]) -> PairTally:
    found = PairTally()
    for block in rate_table.blocks():
        rates = metric_rates(block, METRICS_BY_ID[metric_id])
        arms = []
        for code in codes:
            rows = np.flatnonzero((block["mode"] == code) & (rates.totals > 0))
            # Questions of a patient are numbered from 0 and are few.
            keys = block["patient"][rows] * (1 << 20) + block["question"][rows]
            arms.append((keys, rates.counts[rows]))
        (one, first), (two, second) = arms
        keys, at_first, at_second = np.intersect1d(one, two, return_indices=True)
        if len(keys):
            _, patients = np.unique(keys >> 20, return_inverse=True)
            values = first[at_first], second[at_second]
            sums = [np.bincount(patients, value) for value in (*values, np.ones(len(keys)))]
            found = found.merge(PairTally.of(np.column_stack(sums).astype(np.float64), values[1] - values[0]))
    return found
