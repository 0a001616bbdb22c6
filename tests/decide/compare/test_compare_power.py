"""Regressions that are there are shown, and those that are not seldom are; `benchmarks/compare_power.py` has more."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.decide.compare.rows import Arms, Part, compared_rows
from hallumeter.decide.compare.sides import CompareSettings
from hallumeter.records.columns import LabelCounts

pytestmark = pytest.mark.long

METRICS = ("mihr", "mahr")
SETTINGS = CompareSettings(resamples=100)


def labels(claims: NDArray[np.int64], bad: NDArray[np.int64]) -> LabelCounts:
    nothing = np.zeros_like(claims)
    return LabelCounts(np.stack([claims - bad, bad, nothing, nothing, nothing], axis=1))


def outcome(seed: int, *, records: int, planted: float) -> str:
    """The outcome of runs whose responses are exchangeable, with so many claims more broken in the second."""
    rng = np.random.default_rng([seed, records])
    claims = rng.integers(1, 10, records)
    rates = rng.beta(0.6, 3.4, records)
    first, second = rng.binomial(claims, rates), rng.binomial(claims, rates)
    second = second + rng.binomial(claims - second, rng.beta(0.1, 0.1 / planted, records) if planted else 0.0)
    sides = labels(claims, first), labels(claims, second)
    arms = [Arms(name, "lower", *(METRICS_BY_ID[name].compute(side) for side in sides)) for name in METRICS]
    everyone = np.arange(records)
    rows = compared_rows(
        arms, [Part({}, everyone, everyone, is_one_each=True)], sides, settings=SETTINGS, is_unchanged=False
    )
    return SETTINGS.policy.outcome(rows, missing=0.0)[0]


def test_a_regression_of_three_points_is_shown_by_two_thousand_records_and_seldom_by_a_hundred() -> None:
    many = [outcome(seed, records=2_000, planted=0.035) for seed in range(20)]
    few = [outcome(seed, records=100, planted=0.035) for seed in range(40)]
    assert many.count("regression") >= 18
    assert few.count("regression") <= 20
    assert few.count("no_regression") <= 8, "what is not shown is not passed"


def test_false_alarms_are_as_seldom_as_promised() -> None:
    found = [outcome(seed, records=100, planted=0.0) for seed in range(200)]
    # At most 2.5 % are promised; 12 of 200 would come by chance in less than 1 % of such trials.
    assert found.count("regression") < 12
