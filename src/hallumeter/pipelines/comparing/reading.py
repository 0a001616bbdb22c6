"""A run as columns: what was counted in every record, and what its claims were found to be."""

from __future__ import annotations

from array import array
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hallumeter.errors import InputError, SettingsError
from hallumeter.metrics.catalog import METRICS_BY_ID
from hallumeter.pipelines.ingesting.ranges import ranges_of
from hallumeter.pipelines.record_groups import RecordGroups, field_of
from hallumeter.records import Direction, LabelCounts, Rates
from hallumeter.records.columns import FAILED_CODE, LABEL_CODES
from hallumeter.report import settled_label
from hallumeter.store import RunFolder

from .matching import ClaimKey

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from hallumeter.pipelines.run import Run
    from hallumeter.records import Failure, Finding, Measurement, Response

    from .settings import CompareSettings

NOT_OF_RECORDS = ("read", "samples")
"""Steps whose failures leave what is compared as it is."""
UNMEASURED = "unmeasured"
"""The cause where none was kept."""


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
        self._faults: dict[str, list[Failure]] = {}
        self._ranges = ranges_of(self.manifest)
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

    def range(self, metric: str) -> tuple[float, float] | None:
        """The smallest and the largest value of a metric; None where it has no ends or they are not known."""
        known = METRICS_BY_ID.get(metric)
        if known is None:
            return self._ranges.get(metric)
        low, high = known.range
        return None if high is None or not np.isfinite(low) else (low, high)

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

    def lacking(self, metric: str) -> dict[int, str]:
        """Records that a metric should have been measured on and was not: their places, and why in one word.

        A record in which there was nothing to count lacks nothing; one that broke, or whose score is none, does.
        """
        known = METRICS_BY_ID.get(metric)
        if known is None:
            column = self._columns.get(metric)
            places = self._places[np.array(column.records if column else (), dtype=np.int64)].tolist()
            return {
                place: self._cause(place, {metric}) or UNMEASURED
                for place, total in zip(places, column.totals if column else (), strict=True)
                if not total
            }
        is_of_claims = known.reads == "labels"
        sizes = np.array(self._sizes) if is_of_claims else self.rates(metric).totals
        judges = {None, self.headline} if is_of_claims else {None}
        found = {}
        for name in self._faults:
            place = self._by_id.get(name)
            cause = None if place is None or sizes[place] else self._cause(place, judges)
            if place is not None and cause is not None:
                found[place] = cause
        return found

    def _cause(self, place: int, judges: Collection[str | None]) -> str | None:
        """Why a record broke as a whole, for one of these judges."""
        faults = self._faults.get(self.record_ids[place], ())
        return next((fault.code for fault in faults if fault.judge in judges), None)

    @cached_property
    def _by_id(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.record_ids)}

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """Where the records that were measured stand in the columns."""
        numbers = self._by_id
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
        for failure in self._folder.failures():
            # What could not be read has no record; what samples lack is no fault of the claims.
            if failure.record_id is not None and failure.claim_id is None and failure.step not in NOT_OF_RECORDS:
                self._faults.setdefault(failure.record_id, []).append(failure)


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
