"""Metric by metric: how far two runs lie apart, and whether that could be chance."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.claims.metrics.rates import rate_bounds
from hallumeter.records.columns import LabelCounts
from hallumeter.records.comparison import MetricComparison
from hallumeter.records.ranking import Direction
from hallumeter.records.rate import Rates
from hallumeter.stats.intervals import mean_bounds
from hallumeter.stats.significance import (
    PairedDifference,
    cohen_h,
    equivalence_p_value,
    holm,
    mcnemar_mid_p,
    minimum_detectable_difference,
    not_above_p_value,
    paired_bootstrap_difference,
    paired_sign_flip,
)

from .sides import CompareSettings

POWER = 0.8


class Arms(NamedTuple):
    """What one metric counted in the records of both runs, in the same order."""

    metric: str
    direction: Direction
    first: Rates
    second: Rates
    range: tuple[float, float] | None = (0.0, 1.0)
    """Smallest and largest possible value, where both are known."""
    lacking: tuple[Mapping[int, str], Mapping[int, str]] = ({}, {})
    """By run: records that should have been measured and were not, by their place, and why."""

    @property
    def is_share(self) -> bool:
        """Whether it lies between 0 and 1."""
        return self.range == (0, 1)


class Part(NamedTuple):
    """Some of the common records."""

    by: dict[str, str]
    records: NDArray[np.intp]
    clusters: NDArray[np.intp]
    """Of each of these records, from 0."""
    is_one_each: bool
    """Whether every record is a cluster of its own."""


def compared_rows(
    arms: Sequence[Arms],
    parts: Sequence[Part],
    labels: tuple[LabelCounts, LabelCounts],
    *,
    settings: CompareSettings,
    is_unchanged: bool,
) -> tuple[MetricComparison, ...]:
    """Every metric on every part, corrected for their number; then what each of them shows.

    Slices that decide nothing are corrected apart: to look at them changes nothing about the whole.
    """
    if settings.policy.are_slices_gated:
        families = [list(parts)]
    else:
        families = [[part for part in parts if not part.by], [part for part in parts if part.by]]
    found: list[MetricComparison] = []
    for family in families:
        rows = [_row(arm, part, labels, settings=settings) for part in family for arm in arms]
        found += _tested_family(rows, settings=settings, is_unchanged=is_unchanged)
    return tuple(found)


def _tested_family(
    rows: list[MetricComparison], *, settings: CompareSettings, is_unchanged: bool
) -> list[MetricComparison]:
    """Rows that are corrected for their number together, and what each of them shows."""
    alpha = 1 - settings.confidence
    tested = [place for place, row in enumerate(rows) if row.p_value is not None]
    adjusted = holm([row.p_value for row in rows if row.p_value is not None])
    for place, p_value in zip(tested, adjusted.tolist(), strict=True):
        rows[place] = structs.replace(rows[place], adjusted_p_value=p_value)
    share_of_alpha = alpha / max(1, len(rows))
    finished = []
    for row in rows:
        detectable = None
        # What stands there so far is the standard error.
        if row.minimum_detectable is not None:
            detectable = minimum_detectable_difference(
                row.minimum_detectable, row.clusters, alpha=share_of_alpha, power=POWER
            )
        row = structs.replace(row, minimum_detectable=detectable)  # noqa: PLW2901 (the row grows)
        is_same = is_unchanged and not row.differing
        outcome = settings.policy.outcome_of(row, alpha=alpha, is_unchanged=is_same)
        finished.append(structs.replace(row, outcome=outcome))
    return finished


def _row(
    arm: Arms, part: Part, labels: tuple[LabelCounts, LabelCounts], *, settings: CompareSettings
) -> MetricComparison:
    first, second = (rates[part.records] for rates in (arm.first, arm.second))
    empty = _without_tests(arm, part, labels, rates=(first, second))
    if not part.is_one_each:
        first, second = first.pooled_by(part.clusters), second.pooled_by(part.clusters)
    columns = (second.counts, second.totals), (first.counts, first.totals)
    name = "|".join([arm.metric, *(f"{field}={value}" for field, value in sorted(part.by.items()))])
    rng = np.random.default_rng([settings.seed, zlib.crc32(name.encode())])
    found = paired_bootstrap_difference(*columns, rng=rng, resamples=settings.resamples, confidence=settings.confidence)
    if found is None:
        return empty
    p_value, test = _tested(columns, part, rng=rng)
    effect_size, effect = _effect((first, second), found, is_share=arm.is_share)
    return structs.replace(
        empty,
        clusters=found.clusters,
        differing=found.differing,
        difference=found.difference,
        interval=(found.interval.low, found.interval.high) if found.interval else None,
        interval_method=found.interval.method if found.interval else None,
        p_value=p_value,
        test=test,
        effect_size=effect_size,
        effect=effect,
        minimum_detectable=found.standard_error,
        undefined="there is only one cluster" if found.clusters < 2 else None,
        **_margin_tests(arm, found, settings=settings),
    )


def _without_tests(
    arm: Arms, part: Part, labels: tuple[LabelCounts, LabelCounts], *, rates: tuple[Rates, Rates]
) -> MetricComparison:
    """The row of a metric before it is tested; all there is where it has no value in at least one run."""
    values = rates[0].value, rates[1].value
    mine = labels[0][part.records], labels[1][part.records]
    is_of_claims = _is_of_claims(arm.metric)
    causes = _lacking_here(arm, part)
    broken = len(causes[0]), len(causes[1])
    if is_of_claims:
        unmeasured = _both(int(side.unmeasured.sum()) + more for side, more in zip(mine, broken, strict=True))
        measurable = _both(int(side.claims.sum()) + more for side, more in zip(mine, broken, strict=True))
        bounds = _difference_bounds(arm.metric, mine)
    else:
        unmeasured = broken
        measurable = _both(int((side.totals > 0).sum()) + more for side, more in zip(rates, broken, strict=True))
        bounds = _mean_difference_bounds(rates, broken, ends=arm.range) if any(broken) else None
    return MetricComparison(
        metric=arm.metric,
        by=part.by,
        direction=arm.direction,
        first=values[0],
        second=values[1],
        unmeasured=unmeasured,
        measurable=measurable,
        difference_bounds=bounds,
        undefined=_nothing(values),
        counted="claims" if is_of_claims else "records",
        causes=dict(sorted(Counter(causes[0] + causes[1]).items())),
    )


def _nothing(values: tuple[float | None, float | None]) -> str:
    """Which run a metric has no value in."""
    if values[0] is None and values[1] is None:
        return "neither run has anything to count"
    return "the first run has nothing to count" if values[0] is None else "the second run has nothing to count"


def _lacking_here(arm: Arms, part: Part) -> tuple[list[str], list[str]]:
    """Why records of a part were not measured, run by run."""
    here = set(part.records.tolist()) if any(arm.lacking) else set()
    first, second = ([why for place, why in side.items() if place in here] for side in arm.lacking)
    return first, second


def _both(values: Iterator[int]) -> tuple[int, int]:
    first, second = values
    return first, second


def _tested(
    columns: tuple[tuple[NDArray[np.float64], NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]],
    part: Part,
    *,
    rng: np.random.Generator,
) -> tuple[float | None, str | None]:
    """McNemar's test where every cluster is one yes or no in both runs, else signs of whole clusters."""
    (new, new_totals), (old, old_totals) = columns
    is_binary = all(bool(np.isin(values, (0.0, 1.0)).all()) for values in (new, new_totals, old, old_totals))
    if part.is_one_each and is_binary and np.array_equal(new_totals, old_totals):
        only_old, only_new = int(((old == 1) & (new == 0)).sum()), int(((old == 0) & (new == 1)).sum())
        return mcnemar_mid_p(only_old, only_new), "mcnemar_mid_p (responses)"
    found = paired_sign_flip(*columns, rng=rng)
    return (None, None) if found is None else (found.p_value, f"sign_flip_{found.method} (clusters)")


def _effect(arms: tuple[Rates, Rates], found: PairedDifference, *, is_share: bool) -> tuple[float | None, str | None]:
    """Cohen's h of two shares, else the difference over the standard deviation of the clusters' differences."""
    first, second = arms[0].value, arms[1].value
    if is_share and first is not None and second is not None and 0 <= min(first, second) <= max(first, second) <= 1:
        return cohen_h(second, first), "cohen_h"
    if not found.standard_error:
        return None, None
    return found.difference / (found.standard_error * found.clusters**0.5), "paired_d"


def _margin_tests(arm: Arms, found: PairedDifference, *, settings: CompareSettings) -> dict[str, float | None]:
    margin = settings.policy.margin_of(arm.metric, is_share=arm.is_share)
    if margin is None:
        return {}
    shared = {"margin": margin, "standard_error": found.standard_error}
    # For the worse is up where less is better.
    worsening = found.difference if arm.direction == "lower" else -found.difference
    return {
        "margin": margin,
        "equivalence_p_value": equivalence_p_value(found.difference, clusters=found.clusters, **shared),
        "not_worse_p_value": not_above_p_value(worsening, clusters=found.clusters, **shared)
        if arm.direction != "none"
        else None,
    }


def _is_of_claims(metric: str) -> bool:
    known = METRICS_BY_ID.get(metric)
    return known is not None and known.reads == "labels"


def _difference_bounds(metric: str, labels: tuple[LabelCounts, LabelCounts]) -> tuple[float, float] | None:
    """From the first run at its worst and the second at its best, to the other way round."""
    known = METRICS_BY_ID[metric]
    first, second = (
        rate_bounds(known.compute, side, widened_by_claimless=known.is_widened_by_claimless) for side in labels
    )
    return None if first is None or second is None else (second[0] - first[1], second[1] - first[0])


def _mean_difference_bounds(
    rates: tuple[Rates, Rates], broken: tuple[int, int], *, ends: tuple[float, float] | None
) -> tuple[float, float] | None:
    """The same for the mean of one value per record."""
    first, second = (rates_bounds(side, missing, ends=ends) for side, missing in zip(rates, broken, strict=True))
    return None if first is None or second is None else (second[0] - first[1], second[1] - first[0])


def rates_bounds(rates: Rates, broken: int, *, ends: tuple[float, float] | None) -> tuple[float, float] | None:
    """What the mean of one value per record could be with the values of the records that broke.

    None where its ends are not known, or where records weigh differently.
    """
    if ends is None or not np.isin(rates.totals, (0, 1)).all():
        return None
    return mean_bounds(float(rates.counts.sum()), int(rates.totals.sum()), broken, low=ends[0], high=ends[1])
