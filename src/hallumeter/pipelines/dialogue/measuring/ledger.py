"""The rates of all answers on disk, one row each, so that a million answers take no more memory than a hundred."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hallumeter.records import Rates, TurnColumns, TurnRates

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from numpy.typing import NDArray

    from hallumeter.metrics.catalog import Metric

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


class LedgerRow(NamedTuple):
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


class Ledger:
    """Rows in the order of the patients."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hallumeter-")
        self._path = Path(self._folder.name) / "turns.bin"
        self._stream = self._path.open("wb")
        self._waiting: list[LedgerRow] = []
        self._rows = 0

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._stream.close()
        self._folder.cleanup()

    def __len__(self) -> int:
        return self._rows

    def add(self, rows: list[LedgerRow]) -> None:
        """Write the answers of one patient."""
        self._waiting += rows
        self._rows += len(rows)
        if len(self._waiting) >= _ROWS_AT_ONCE // 16:
            self._write()

    def finished(self) -> LedgerFile:
        """All rows up to now, for any process to read."""
        self._write()
        return LedgerFile(self._path)

    def _write(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            rows = [(*row[:-2], row.is_failed, 0, row.rates) for row in waiting]
            np.array(rows, dtype=_ROW).tofile(self._stream)
        self._stream.flush()


class LedgerFile(NamedTuple):
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
