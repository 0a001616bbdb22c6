"""Rows of a summary for slices that a run was not summarised by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hallumeter.errors import SettingsError
from hallumeter.metrics.catalog import METRICS_BY_ID
from hallumeter.metrics.claims import rate_bounds
from hallumeter.pipelines.comparing.reading import Side
from hallumeter.pipelines.comparing.rows import rates_bounds
from hallumeter.pipelines.comparing.settings import CompareSettings
from hallumeter.pipelines.ingesting.ranges import metric_named
from hallumeter.records.columns import FAILED_CODE, UNDECIDED_CODE
from hallumeter.summary import Slice, SummarySettings, summarize_rates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hallumeter.pipelines.run import Run
    from hallumeter.records import MetricSummary


class ReadRun:
    """The records of a run by the values of some fields, and what was counted in them."""

    def __init__(self, run: Run, fields: tuple[str, ...]) -> None:
        self.side = Side(run, CompareSettings(by=fields))
        self.fields = fields
        for _ in self.side.records():
            pass
        self._labels = self.side.labels()
        codes: dict[str, int] = {}
        self._clusters = np.array([codes.setdefault(name, len(codes)) for name in self.side.clusters], dtype=np.intp)

    def slices(self) -> list[dict[str, str]]:
        """Every combination of values."""
        found = sorted(set(self.side.slices))
        if self.fields and all(not any(values) for values in found):
            raise SettingsError(f"no record has the field {' or '.join(map(repr, self.fields))}")
        return [dict(zip(self.fields, values, strict=True)) for values in found]

    def records_in(self, by: dict[str, str]) -> NDArray[np.intp]:
        """The records of a slice."""
        wanted = [(self.fields.index(field), value) for field, value in by.items()]
        return np.array(
            [
                number
                for number, values in enumerate(self.side.slices)
                if all(values[place] == value for place, value in wanted)
            ],
            dtype=np.intp,
        )

    def row(self, metric: str, by: dict[str, str]) -> MetricSummary:
        """One metric on one slice, with its interval and its bounds."""
        if metric not in self.side.metrics:
            raise SettingsError(f"{metric} was not measured record by record, so it has no slices")
        chosen = self.records_in(by)
        low, high = self.side.range(metric) or (None, None)
        known = metric_named(metric, direction=self.side.direction(metric), low=low, high=high)
        settings, labels = self.side.manifest.settings, self._labels[chosen]
        unmeasured = labels.table.sum(axis=0)
        is_of_claims = metric in METRICS_BY_ID and known.reads == "labels"
        broken = 0 if is_of_claims else len(self.side.lacking(metric).keys() & set(chosen.tolist()))
        rates = self.side.rates(metric)[chosen]
        _, clusters = np.unique(self._clusters[chosen], return_inverse=True)
        resamples, confidence = settings.get("resamples"), settings.get("confidence")
        return summarize_rates(
            known,
            rates if len(clusters) and clusters.max() + 1 == len(rates) else rates.pooled_by(clusters),
            Slice(
                by,
                self.side.judge,
                undecided=int(unmeasured[UNDECIDED_CODE]) if is_of_claims else 0,
                failed=int(unmeasured[FAILED_CODE]) if is_of_claims else broken,
            ),
            settings=SummarySettings(
                version=self.side.manifest.hallumeter,
                seed=self.side.manifest.seed,
                resamples=resamples if isinstance(resamples, int) else 2_000,
                confidence=confidence if isinstance(confidence, float) else 0.95,
                cluster=self.side.unit,
            ),
            bounds=rate_bounds(known.compute, labels, widened_by_claimless=known.is_widened_by_claimless)
            if is_of_claims
            else rates_bounds(rates, broken, ends=self.side.range(metric)),
        )

    def claims_in(self, by: dict[str, str]) -> float:
        """All claims of a slice, measured or not."""
        return float(self._labels[self.records_in(by)].claims.sum())
