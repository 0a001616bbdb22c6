"""A run as columns: what was counted in every record, and what its claims were found to be."""

from __future__ import annotations

from array import array
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hallumeter.errors import InputError, SettingsError
from hallumeter.metrics.catalog import METRICS_BY_ID
from hallumeter.pipelines.record_groups import RecordGroups, field_of
from hallumeter.records import Direction, LabelCounts, Rates
from hallumeter.records.columns import FAILED_CODE, LABEL_CODES
from hallumeter.report import settled_label
from hallumeter.store import RunFolder

from .matching import ClaimKey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hallumeter.pipelines.run import Run
    from hallumeter.records import Finding, Measurement, Response

    from .settings import CompareSettings


class SeenRecord(NamedTuple):
    """One record of one run, as it is read."""

    number: int
    key: str
    claims: tuple[ClaimKey, ...]
    response: int
    """A hash of its text."""


class Side:
    """One run: its records are read once, in order, and leave columns behind."""

    def __init__(self, run: Run, settings: CompareSettings) -> None:
        self._run = run  # a temporary run lives for as long as this
        self._folder = RunFolder(run.path)
        self._settings = settings
        self.manifest = run.manifest
        self.summary = run.summary
        self.instrument = self.manifest.instrument
        self.path = run.path
        self.name = run.path.name or str(run.path)
        self.numbers: dict[str, int] = {}
        """By key: the place of each record in the columns."""
        self.record_ids: list[str] = []
        self.slices: list[tuple[str, ...]] = []
        self.clusters: list[str] = []
        self._labels = array("b")
        self._sizes = array("q")
        self._columns: dict[str, _Column] = {}
        self._measured: dict[str, int] = {}
        self._read_measurements()
        self.judge = next((column.judge for column in self._columns.values() if column.judge), None)
        judges = {entry.name for entry in self.manifest.judges}
        self.headline = self.judge if self.judge in judges else None
        self._groups = RecordGroups(self.manifest, settings.cluster)

    @property
    def metrics(self) -> list[str]:
        """Metrics that were measured record by record."""
        return list(self._columns)

    def direction(self, metric: str) -> Direction:
        """Which way a metric is better, as the run says."""
        return next((row.direction for row in self.summary.metrics if row.metric == metric), "none")

    @property
    def unit(self) -> str:
        """What is resampled; known once the records were read."""
        return self._groups.unit

    def records(self) -> Iterator[SeenRecord]:
        """Every record with its claims; the columns are complete once this has come to its end."""
        for response, findings in self._folder.findings():
            number = len(self.record_ids)
            key = self._key(response)
            if self.numbers.setdefault(key, number) != number:
                where = ", by " + " and ".join(self._settings.on) if self._settings.on else ""
                raise InputError(f"{self._run.path}: two records are called {key!r}{where}; they cannot be aligned")
            self.record_ids.append(response.record_id)
            self.slices.append(tuple(field_of(response, name) for name in self._settings.by))
            self.clusters.append(self._groups.of(response))
            claims = tuple(self._claim(finding, response) for finding in findings)
            self._labels.extend([claim.label for claim in claims])
            self._sizes.append(len(claims))
            yield SeenRecord(number, key, claims, hash(response.response))

    def labels(self) -> LabelCounts:
        """How many claims of each record have which label."""
        sizes = np.array(self._sizes, dtype=np.int64)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        return LabelCounts.tally(owners, np.array(self._labels, dtype=np.int64), size=len(sizes))

    @property
    def claims(self) -> int:
        """How many claims there are."""
        return len(self._labels)

    def rates(self, metric: str) -> Rates:
        """What a metric counted in each record; nothing in a record that it was not measured on."""
        counts, totals = np.zeros(len(self.record_ids)), np.zeros(len(self.record_ids))
        column = self._columns.get(metric)
        if column is not None:
            places = self._places[np.array(column.records, dtype=np.int64)]
            if len(np.unique(places)) < len(places):
                raise InputError(
                    f"{self._run.path}: {metric} was measured on parts of records; make the run again, with --by "
                    "naming fields of records only"
                )
            counts[places], totals[places] = column.counts, column.totals
        return Rates(counts, totals)

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """Where the records that were measured stand in the columns."""
        numbers = {name: number for number, name in enumerate(self.record_ids)}
        unknown = next((name for name in self._measured if name not in numbers), None)
        if unknown is not None:
            raise InputError(f"{self._run.path}: record {unknown!r} was measured but is not among the records")
        return np.array([numbers[name] for name in self._measured], dtype=np.int64)

    def _key(self, response: Response) -> str:
        if not self._settings.on:
            return response.record_id
        return "|".join(_needed_field(response, name) for name in self._settings.on)

    def _claim(self, finding: Finding, response: Response) -> ClaimKey:
        claim = finding.claim
        text = claim.text
        if text is None:
            text = (response.response or "")[claim.start : claim.end] if claim.start is not None else ""
        label = settled_label(finding, self.headline)
        code = FAILED_CODE if label is None else LABEL_CODES[label]
        return ClaimKey(claim.kind, text, claim.start, claim.end, code)

    def _read_measurements(self) -> None:
        for row in self._folder.measurements():
            if row.scope == "record" and row.record_id is not None:
                column = self._columns.get(row.metric)
                if column is None:
                    column = self._columns[row.metric] = _Column(row)
                column.add(row, self._measured.setdefault(row.record_id, len(self._measured)))


class _Column:
    """One metric as it is read: what it counted, and where."""

    def __init__(self, row: Measurement) -> None:
        known = METRICS_BY_ID.get(row.metric)
        # Over dialogues the usual figure is the mean of the answers' values, not their pooled counts.
        self._is_mean = known is not None and known.reads == "turns"
        self.judge = row.judge
        self.records = array("q")
        self.counts, self.totals = array("d"), array("d")

    def add(self, row: Measurement, record: int) -> None:
        """Take one record's measurement."""
        self.records.append(record)
        is_counted = row.count is not None and row.total is not None and not self._is_mean
        self.counts.append((row.count if is_counted else row.value) or 0.0)
        self.totals.append((row.total or 0.0) if is_counted else float(row.value is not None))


def _needed_field(response: Response, name: str) -> str:
    """The value of a field that every record must have."""
    value = field_of(response, name)
    if not value:
        raise SettingsError(f"record {response.record_id!r} has no field {name!r} to be aligned by")
    return value
