"""What a panel would be without one of its judges: by hand, by an independent calculation, and with its interval."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from msgspec import structs
from numpy.typing import NDArray
from test_agreement import plain_alpha

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.records.measurement import MetricSummary
from hallumeter.records.rate import Rate
from hallumeter.stats.agreement import (
    agreement_with_others,
    alpha_gain_without,
    alpha_without,
    panel_krippendorff_alpha,
)
from hallumeter.stats.summarize import Slice, SummarySettings, summarize_agreement, summarize_rates
from metric_inputs import rating_rows, ratings

SETTINGS = SummarySettings(version="1")
S, R, N = 0, 1, 2
ODD_ONE = [(S, S, R), (R, R, S), (S, S, S), (R, R, R)]


def test_alpha_without_the_odd_one_by_hand() -> None:
    # Twelve ratings, six of each label. Observed disagreement (2 + 2) / 12, expected (144 - 36 - 36) / (12 * 11).
    votes = ratings(ODD_ONE)
    assert panel_krippendorff_alpha(votes).value == pytest.approx(1 - (4 / 12) / (72 / 132))
    assert alpha_without(votes, 2).value == 1.0
    assert alpha_gain_without(votes, 2).value == pytest.approx((4 / 12) / (72 / 132))
    # Without the first: two of four claims disagree, of eight ratings four each: 1 - (4 / 8) / (32 / 56).
    assert alpha_without(votes, 0).value == pytest.approx(1 - (4 / 8) / (32 / 56))


def test_a_claim_on_which_the_others_are_split_says_nothing_about_a_judge() -> None:
    # Votes S S R and S R S leave the others of the first judge split; on R S S it stands alone.
    votes = ratings([(S, S, R), (R, S, S), (S, R, S)])
    assert agreement_with_others(votes, 0).pooled == Rate(0, 1)
    assert agreement_with_others(votes, 1).pooled == Rate(0, 1)


def test_two_judges_agree_with_each_other_but_neither_can_be_left_out() -> None:
    votes = ratings([(S, S), (S, R), (R, R), (S, -1)])
    for judge in (0, 1):
        assert agreement_with_others(votes, judge).pooled == Rate(2, 3)
        assert alpha_without(votes, judge).undefined == "needs at least three judges, found 2"
        assert alpha_gain_without(votes, judge).undefined == "needs at least three judges, found 2"


def test_a_judge_that_decided_nothing_has_no_share_and_changes_nothing() -> None:
    votes = ratings([(S, S, R, -1), (R, R, R, -1), (S, R, S, -1)])
    assert agreement_with_others(votes, 3).pooled.value is None
    assert alpha_gain_without(votes, 3).value == 0.0


def test_others_who_only_know_one_label_leave_the_gain_undefined() -> None:
    result = alpha_gain_without(ratings([(S, S, R), (S, S, S)]), 2)
    assert result.value is None
    assert result.undefined == "every rating falls in one category, so agreement by chance is already total"


@settings(max_examples=200)
@given(rating_rows)
def test_statistics_agree_with_a_calculation_claim_by_claim(rows: list[tuple[int, ...]]) -> None:
    votes = ratings(rows)
    whole = plain_alpha(rows)
    for judge in range(len(rows[0])):
        rest = [row[:judge] + row[judge + 1 :] for row in rows]
        others = plain_alpha(rest) if len(rows[0]) > 2 else None
        assert alpha_without(votes, judge).value == (None if others is None else pytest.approx(others))
        gain = None if others is None or whole is None else pytest.approx(others - whole, abs=1e-9)
        assert alpha_gain_without(votes, judge).value == gain
        assert agreement_with_others(votes, judge).pooled == plain_agreement(rows, judge)


def plain_agreement(rows: list[tuple[int, ...]], judge: int) -> Rate:
    same, total = 0, 0
    for row in rows:
        ranked = Counter(vote for place, vote in enumerate(row) if place != judge and vote >= 0).most_common(2)
        if row[judge] >= 0 and ranked and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]):
            same += ranked[0][0] == row[judge]
            total += 1
    return Rate(same, total)


def panel(claims: int, *, coin: bool) -> NDArray[np.int64]:
    """Two judges that are right nine times in ten, and a third that is as good, or throws a coin."""
    rng = np.random.default_rng(7)
    truth = rng.integers(2, size=claims)
    votes = np.where(rng.random((claims, 3)) < 0.9, truth[:, np.newaxis], 1 - truth[:, np.newaxis])
    if coin:
        votes[:, 2] = rng.integers(2, size=claims)
    return votes


def gain_row(votes: NDArray[np.int64], judge: int) -> MetricSummary:
    named = {"judge": judge}
    metric = METRICS_BY_ID["alpha_gain_without"]
    return summarize_agreement(metric, ratings(votes.tolist()), Slice({}, "x"), settings=SETTINGS, judges=named)


def test_the_interval_of_the_gain_lies_above_zero_for_a_coin_only() -> None:
    guessing = [gain_row(panel(200, coin=True), judge).interval for judge in range(3)]
    assert [interval is not None and interval[0] > 0 for interval in guessing] == [False, False, True]
    equal = [gain_row(panel(200, coin=False), judge).interval for judge in range(3)]
    assert [interval is not None and interval[0] > 0 for interval in equal] == [False, False, False]


def test_the_gain_is_surer_than_two_alphas_that_do_not_share_their_claims() -> None:
    # The widths of independent estimates add up in squares; claims drawn once for both leave less.
    votes = panel(200, coin=False)
    row = gain_row(votes, 2)
    alone = [
        summarize_agreement(METRICS_BY_ID[name], ratings(votes.tolist()), Slice({}, "x"), settings=SETTINGS, **named)
        for name, named in (("alpha_without", {"judges": {"judge": 2}}), ("krippendorff_alpha", {}))
    ]
    widths = [line.interval[1] - line.interval[0] for line in (row, *alone) if line.interval is not None]
    assert widths[0] < 0.8 * np.hypot(widths[1], widths[2])


def test_agreement_with_the_others_is_resampled_by_response() -> None:
    votes = ratings(ODD_ONE)
    metric = METRICS_BY_ID["agreement_with_others"]
    nested = structs.replace(votes, clusters=np.eye(len(votes.patterns), dtype=np.int64) * 3)
    row = summarize_rates(metric, metric.compute(nested, 2), Slice({}, "third"), settings=SETTINGS)
    assert (row.count, row.total, row.value) == (6.0, 12.0, 0.5)
    assert row.interval_method == "cluster_bootstrap"
    assert row.signature.startswith("agreement_with_others|judge:third|claims:decided-by-it-and-most-others|")
