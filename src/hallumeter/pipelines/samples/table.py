"""Readings of the samples of a run, with what they are grouped by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hallumeter.pipelines.measurement.coding import FieldIndex
from hallumeter.pipelines.measurement.inputs import NO_VALUE

from .rows import SampleGroups, sample_measurements, sample_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hallumeter.pipelines.measurement import MeasureSettings
    from hallumeter.records import Failure, FieldValue, Measurement, MetricSummary, Response
    from hallumeter.summary import SummarySettings

    from .reading import SampleReading


class SampleTable:
    """Readings of samples with what they are grouped by."""

    def __init__(self, settings: MeasureSettings, equivalence: str | None) -> None:
        self._settings = settings
        self._equivalence = equivalence
        self._readings: list[SampleReading] = []
        self._by: list[dict[str, str]] = []
        self._clusters: list[int] = []
        self._index = FieldIndex()

    def add(self, response: Response, reading: SampleReading) -> None:
        """Take the reading of one response."""
        self._readings.append(reading)
        known = response.fields | {"model": response.model, "question": response.question}
        self._by.append({field: self._text(known.get(field)) for field in self._settings.by})
        if self._settings.cluster != "response":
            value = known.get(self._settings.cluster)
            code = int(self._index.encode([value])[0])
            self._clusters.append(code if value is not None else -1 - len(self._clusters))

    @property
    def failures(self) -> Iterator[Failure]:
        """What could not be compared."""
        return (failure for reading in self._readings for failure in reading.failures)

    def rows(self, settings: SummarySettings) -> Iterator[MetricSummary]:
        """What the samples add to a summary."""
        if not self._readings:
            return iter(())
        groups = SampleGroups(
            self._by if self._settings.by else (), np.array(self._clusters) if self._clusters else None
        )
        return sample_rows(self._readings, groups, equivalence=self._equivalence, settings=settings)

    def measurements(self) -> Iterator[Measurement]:
        """What the samples add to the measurements of single records."""
        return sample_measurements(self._readings, self._by, equivalence=self._equivalence)

    def _text(self, value: FieldValue) -> str:
        return NO_VALUE if value in (None, "") else self._index.names[int(self._index.encode([value])[0])]
