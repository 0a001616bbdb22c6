"""The expected share of unsupported claims: its arithmetic, and an interval that holds the error of the calibration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import hallumeter
from hallumeter import MeasureSettings, MetricSummary
from hallumeter.catalog import METRICS_BY_ID
from hallumeter.claims.metrics.rates import (
    calibration_shifts,
    changes_by_response,
    expected_bounds,
    expected_unsupported_rate,
    recalibrated,
)
from hallumeter.records.columns import ProbabilitySums
from hallumeter.stats.bootstrap import MOST_DRAWS, Cells, contrast_interval, measured_cells
from hallumeter.stats.summarize import Slice, SummarySettings, summarize_expected
from verdict_rows import Row

METRIC = METRICS_BY_ID["expected_unsupported_rate"]
SETTINGS = SummarySettings(version="0.1.0")
REFITS = tuple((shift / 10, 1.0 + shift / 50) for shift in range(-6, 7))
SHARES = st.floats(0.0, 1.0)


def sums_of(responses: list[list[float]], refits: tuple[tuple[float, float], ...] = ()) -> ProbabilitySums:
    """Sums over responses, each with the probabilities of its claims."""
    of_claim = np.repeat(np.arange(len(responses)), list(map(len, responses)))
    probabilities = np.asarray([each for response in responses for each in response], np.float64)
    claims = np.asarray(list(map(len, responses)), np.int64)
    changes = (changes_by_response(of_claim, probabilities, refits, size=len(responses)),) if refits else ()
    expected = np.bincount(of_claim, probabilities, minlength=len(responses)).astype(np.float64)
    return ProbabilitySums(claims, expected, np.zeros(len(responses), np.int64), changes)


def drawn(count: int, seed: int = 7) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    return [rng.beta(0.5, 2.0, size=rng.integers(1, 8)).tolist() for _ in range(count)]


@given(st.lists(st.lists(SHARES, max_size=5), max_size=8))
def test_it_is_the_mean_of_all_probabilities(responses: list[list[float]]) -> None:
    every = [each for response in responses for each in response]
    value = expected_unsupported_rate(sums_of(responses)).value
    assert value == (pytest.approx(math.fsum(every) / len(every)) if every else None)


def test_claims_without_a_probability_widen_the_bounds() -> None:
    sums = ProbabilitySums(np.array([2, 1]), np.array([0.5, 0.1]), unknown=np.array([0, 3]))
    assert expected_bounds(sums) == pytest.approx((0.6 / 6, 3.6 / 6))
    assert expected_bounds(sums[:1]) == (0.25, 0.25)
    assert expected_bounds(sums[:0]) is None


@given(st.lists(SHARES, min_size=1), st.floats(-3.0, 3.0), st.floats(0.2, 3.0))
def test_another_calibration_keeps_order_and_range(values: list[float], shift: float, slope: float) -> None:
    said = recalibrated(np.sort(np.asarray(values)), shift, slope)
    assert ((said >= 0.0) & (said <= 1.0)).all()
    assert (np.diff(said) >= 0.0).all()


def test_a_calibration_that_changes_nothing_changes_nothing() -> None:
    values = np.array([0.0, 1e-9, 0.2, 0.5, 0.99, 1.0])
    assert recalibrated(values, 0.0, 1.0) == pytest.approx(values)
    assert recalibrated(np.array([0.5]), 1.0, 3.0).tolist() == [1.0 / (1.0 + math.exp(-1.0))]


def test_a_shift_is_the_expected_share_under_a_refit_less_the_one_without() -> None:
    responses = drawn(30)
    sums = sums_of(responses, REFITS)
    every = np.asarray([each for response in responses for each in response])
    (shifts,) = calibration_shifts(sums)
    assert shifts.tolist() == pytest.approx([recalibrated(every, *refit).mean() - every.mean() for refit in REFITS])
    assert calibration_shifts(sums_of(responses)) == []
    assert calibration_shifts(sums[:0]) == []


def test_some_responses_alone_have_their_own_shifts() -> None:
    responses = drawn(10)
    (some,) = calibration_shifts(sums_of(responses, REFITS)[np.array([1, 4])])
    (alone,) = calibration_shifts(sums_of([responses[1], responses[4]], REFITS))
    assert some.tolist() == pytest.approx(alone.tolist())


def spread_of(row: MetricSummary) -> float:
    """The width of an interval on the scale on which it is made."""
    assert row.interval is not None
    low, high = (math.log(each / (1.0 - each)) for each in row.interval)
    return high - low


def row_of(sums: ProbabilitySums, settings: SummarySettings = SETTINGS) -> MetricSummary:
    rates, shifts = expected_unsupported_rate(sums), calibration_shifts(sums)
    return summarize_expected(METRIC, rates, Slice({}, "j"), settings=settings, shifts=shifts)


def test_the_interval_is_that_of_a_bootstrap_with_every_sum_under_every_refit() -> None:
    responses = drawn(60)
    sums = sums_of(responses, REFITS)
    rng = np.random.default_rng(0)
    members = rng.integers(len(sums), size=(20_000, len(sums)))
    refit = rng.integers(len(REFITS), size=20_000)
    changed = sums.expected[:, None] + sums.changes[0]
    values = np.asarray(
        [changed[chosen, which].sum() / sums.claims[chosen].sum() for chosen, which in zip(members, refit, strict=True)]
    )
    row = row_of(sums, SummarySettings(version="0.1.0", resamples=20_000))
    assert row.value is not None
    # 2.0009 is the quantile of Student's t with 59 degrees of freedom, and 60 / 59 the correction for few responses.
    exact = 2 * 2.0009 * math.sqrt(60 / 59) * values.std() / (row.value * (1 - row.value))
    assert spread_of(row) == pytest.approx(exact, rel=0.03)
    assert spread_of(row) > 1.2 * spread_of(row_of(sums_of(responses)))


def test_of_many_responses_the_interval_is_that_of_the_refits_alone() -> None:
    sums = sums_of(drawn(MOST_DRAWS + 1_000), REFITS)
    row = row_of(sums)
    assert row.interval_method == "cluster_linearized"
    assert row.value is not None
    (shifts,) = calibration_shifts(sums)
    alone = 2 * 1.96 * shifts.std() / (row.value * (1 - row.value))
    assert spread_of(row) == pytest.approx(alone, rel=0.05)


def test_independent_calibrations_add_their_variances() -> None:
    cells: Cells = measured_cells([0.4, 0.6, 0.5, 0.1] * 5, [1.0] * 20)

    def width(*shifts: NDArray[np.float64]) -> float:
        rng = np.random.default_rng(1)
        found = contrast_interval(cells, rng=rng, resamples=40_000, confidence=0.95, shifts=shifts)
        assert found is not None
        low, high = (math.log(each / (1.0 - each)) for each in (found.low, found.high))
        return high - low

    one, none = np.array([-0.1, 0.1]), width()
    assert width(one) ** 2 - none**2 == pytest.approx((width(one, one) ** 2 - none**2) / 2, rel=0.05)


def test_where_all_responses_are_alike_the_calibration_still_widens_the_interval() -> None:
    alike = [[0.2, 0.4]] * 30
    plain, refitted = row_of(sums_of(alike)), row_of(sums_of(alike, REFITS))
    assert plain.interval_method == refitted.interval_method == "wilson_by_cluster"
    assert plain.interval is not None
    assert refitted.interval is not None
    (shifts,) = calibration_shifts(sums_of(alike, REFITS))
    margin = 2.0452 * shifts.std()  # the quantile of Student's t with 29 degrees of freedom
    assert refitted.interval[0] == pytest.approx(0.3 - math.hypot(0.3 - plain.interval[0], margin), rel=1e-4)
    assert refitted.interval[1] == pytest.approx(0.3 + math.hypot(plain.interval[1] - 0.3, margin), rel=1e-4)


def test_no_interval_goes_beyond_0_and_1() -> None:
    row = row_of(sums_of([[0.01]] * 4, ((-9.0, 1.0), (9.0, 1.0))))
    assert row.interval is not None
    assert row.interval == (0.0, 1.0)


def test_the_same_input_has_the_same_interval_and_another_seed_another() -> None:
    sums = sums_of(drawn(20), REFITS)
    assert row_of(sums) == row_of(sums)
    assert row_of(sums).interval != row_of(sums, SummarySettings(version="0.1.0", seed=1)).interval


def test_nothing_to_count_is_undefined() -> None:
    row = row_of(sums_of([]))
    assert (row.value, row.interval, row.bounds) == (None, None, None)
    assert row.undefined == "the judge gives no claim a probability"


# In a summary.


def rows(judge: str = "j", **fields: object) -> list[Row]:
    return [
        {"record_id": f"r{record}", "claim_id": f"c{claim}", "judge": judge, "label": "SUPPORTED", **fields}
        for record in range(6)
        for claim in range(2)
    ]


def measured(given: list[Row], **settings: object) -> dict[tuple[str | None, str], MetricSummary]:
    chosen = MeasureSettings(resamples=100, **settings)  # type: ignore[arg-type]
    found = [row for row in hallumeter.measure(given, settings=chosen).metrics if row.metric == METRIC.id]
    return {(row.judge, ",".join(row.by.values())): row for row in found}


def test_a_file_of_verdicts_with_probabilities_has_an_expected_share() -> None:
    given = rows(unsupported_probability=0.2)
    given[0]["unsupported_probability"] = 0.8
    (row,) = measured(given).values()
    assert row.value == pytest.approx(0.25)
    assert row.total == 12.0
    assert row.bounds == pytest.approx((0.25, 0.25))
    assert "|calibration_error:not-included|" in row.signature


def test_verdicts_without_a_probability_are_left_out_and_widen_the_bounds() -> None:
    given = rows(unsupported_probability=0.2)
    given[0]["unsupported_probability"] = None
    given[1] |= {"label": "UNDECIDED", "unsupported_probability": 0.5}
    (row,) = measured(given).values()
    assert row.count == pytest.approx(2.5)
    assert (row.total, row.undecided) == (11.0, 1)
    assert row.bounds == pytest.approx((2.5 / 12, 3.5 / 12))


def test_a_verdict_with_an_impossible_probability_is_no_part_of_it() -> None:
    given = rows(unsupported_probability=0.2)
    given[0]["unsupported_probability"] = 1.5
    (row,) = measured(given).values()
    assert row.value == pytest.approx(0.2)
    assert (row.total, row.failed) == (11.0, 1)


def test_without_probabilities_it_is_undefined_with_the_reason() -> None:
    (row,) = measured(rows()).values()
    assert (row.value, row.undefined) == (None, "the judge gives no claim a probability")
    assert "calibration" not in row.signature


def test_of_a_panel_each_judge_has_its_own_and_the_joint_verdict_none() -> None:
    given = [*rows("a", unsupported_probability=0.2), *rows("b")]
    found = measured(given)
    assert found["a", ""].value == pytest.approx(0.2)
    assert found["b", ""].undefined == "the judge gives no claim a probability"
    assert "joint verdict of several judges has no probability" in (found["consensus", ""].undefined or "")


def test_groups_and_clusters_have_their_own() -> None:
    given = rows(unsupported_probability=0.2)
    for number, row in enumerate(given):
        row |= {"task": "qa" if number < 6 else "d2t", "document": f"d{number // 4}"}
        row["unsupported_probability"] = 0.1 if number < 6 else 0.3
    found = measured(given, by=("task",), cluster="document")
    assert found["j", "qa"].value == pytest.approx(0.1)
    assert found["j", "d2t"].value == pytest.approx(0.3)
    assert found["j", ""].value == pytest.approx(0.2)
    assert "cluster:document" in found["j", ""].signature
