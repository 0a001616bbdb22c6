"""Agreement between judges: what is undefined, what is refused, and what missing votes do."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import ArrayLike
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from hallumeter.errors import RecordError
from hallumeter.records.columns import Ratings
from hallumeter.stats.agreement import (
    ONE_CATEGORY,
    Agreement,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    interpretation,
    judge_accuracies,
    krippendorff_alpha,
    panel_fleiss_kappa,
    panel_gwet_ac1,
    panel_krippendorff_alpha,
    panel_observed_agreement,
    prevalence_warning,
)
from metric_inputs import rating_rows, ratings

Rows = list[tuple[int, ...]]
OF_COUNTS = (fleiss_kappa, krippendorff_alpha, gwet_ac1)
OF_PANELS = (panel_fleiss_kappa, panel_krippendorff_alpha, panel_gwet_ac1, panel_observed_agreement)

every_count_statistic = pytest.mark.parametrize("statistic", OF_COUNTS, ids=lambda statistic: statistic.__name__)
every_panel_statistic = pytest.mark.parametrize("statistic", OF_PANELS, ids=lambda statistic: statistic.__name__)
PanelStatistic = Callable[[Ratings], Agreement]
CountStatistic = Callable[..., Agreement]


def plain_observed(rows: Rows) -> float | None:
    """Mean over claims of the share of agreeing pairs of judges, pair by pair."""
    shares = []
    for row in rows:
        votes = [vote for vote in row if vote >= 0]
        pairs = [(i, j) for i in range(len(votes)) for j in range(i)]
        if pairs:
            shares.append(sum(votes[i] == votes[j] for i, j in pairs) / len(pairs))
    return sum(shares) / len(shares) if shares else None


def plain_alpha(rows: Rows) -> float | None:
    """Krippendorff's alpha from its coincidence matrix (Krippendorff 2011, section B)."""
    coincidences = np.zeros((3, 3))
    for row in rows:
        votes = [vote for vote in row if vote >= 0]
        for i, one in enumerate(votes):
            for j, other in enumerate(votes):
                if i != j:
                    coincidences[one, other] += 1 / (len(votes) - 1)
    totals = coincidences.sum(axis=0)
    ratings_given = totals.sum()
    unlike = ratings_given**2 - (totals**2).sum()
    if ratings_given == 0 or math.isclose(unlike, 0, abs_tol=1e-9):
        return None
    return float(1 - (ratings_given - 1) * (ratings_given - np.trace(coincidences)) / unlike)


@settings(max_examples=150)
@given(rating_rows)
def test_observed_agreement_equals_a_count_pair_by_pair(rows: Rows) -> None:
    found = panel_observed_agreement(ratings(rows))
    expected = plain_observed(rows)
    assert found.value == (None if expected is None else pytest.approx(expected, abs=1e-12))
    assert found.observed == found.value


@settings(max_examples=150)
@given(rating_rows)
def test_alpha_equals_its_coincidence_matrix(rows: Rows) -> None:
    expected = plain_alpha(rows)
    found = panel_krippendorff_alpha(ratings(rows)).value
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-9))


@settings(max_examples=150)
@given(rating_rows)
def test_fleiss_kappa_uses_only_claims_that_every_judge_decided(rows: Rows) -> None:
    complete = [row for row in rows if min(row) >= 0]
    found = panel_fleiss_kappa(ratings(rows))
    assert found.claims == len(complete)
    if complete:
        assert found.value == panel_fleiss_kappa(ratings(complete)).value
    else:
        assert (found.value, found.undefined) == (None, "no claim was rated by every judge")


@settings(max_examples=100)
@given(rating_rows)
def test_the_names_of_the_judges_do_not_matter(rows: Rows) -> None:
    for statistic in OF_PANELS:
        backwards = statistic(ratings([row[::-1] for row in rows])).value
        assert statistic(ratings(rows)).value == (None if backwards is None else pytest.approx(backwards, abs=1e-12))


@every_count_statistic
def test_multiplicities_equal_rows_written_out(statistic: CountStatistic) -> None:
    counts, times = np.array([[3, 1, 0], [0, 4, 0], [2, 1, 1], [1, 1, 2]]), np.array([5, 2, 3, 1])
    short, long = statistic(counts, times), statistic(np.repeat(counts, times, axis=0))
    assert short.claims == long.claims == 11
    for part in ("value", "observed", "expected", "standard_error", "null_standard_error"):
        expected = getattr(long, part)
        assert getattr(short, part) == (None if expected is None else pytest.approx(expected, rel=1e-12))


@every_count_statistic
def test_a_crowd_of_judges_is_counted_like_a_few(statistic: CountStatistic) -> None:
    crowd = [[270, 90, 0], [0, 360, 0], [270, 90, 0]]
    assert statistic(crowd) == statistic(crowd, [1, 1, 1])
    assert statistic(crowd).value == pytest.approx(statistic(crowd[:2], [2, 1]).value, rel=1e-12)
    assert fleiss_kappa(crowd).value == pytest.approx(statsmodels_fleiss(np.array(crowd)), rel=1e-12)


@every_count_statistic
@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1, 2], [2, 1, 0]], "the rows of the count table have different lengths; give one entry per label"),
        ([[-1, 3]], "whole numbers >= 0"),
        ([[0.5, 1.5]], "whole numbers >= 0"),
        ([[math.nan, 1]], "whole numbers >= 0"),
        ([[math.inf, 1]], "whole numbers >= 0"),
        ([1, 2, 3], "one row per claim, one column per label"),
        ([[[1, 2]]], "one row per claim, one column per label"),
        (3, "one row per claim, one column per label"),
    ],
)
def test_what_is_no_count_table_is_refused(statistic: CountStatistic, counts: ArrayLike, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        statistic(counts)


@every_count_statistic
def test_a_table_without_claims_is_undefined(statistic: CountStatistic) -> None:
    result = statistic(np.zeros((0, 3)))
    assert result.value is None
    assert result.undefined in ("no claim was rated by every judge", "no claim has two ratings")
    assert result.claims == 0


@every_count_statistic
@pytest.mark.parametrize("counts", [[[1, 0, 0], [0, 1, 0]], [[0, 0, 0]]])
def test_fewer_than_two_ratings_say_nothing_about_agreement(statistic: CountStatistic, counts: list[list[int]]) -> None:
    result = statistic(counts)
    assert result.value is None
    judges = sum(counts[0])
    assert result.undefined in (f"needs at least two judges, found {judges}", "no claim has two ratings")


def test_fleiss_kappa_refuses_to_mix_claims_with_different_numbers_of_ratings() -> None:
    result = fleiss_kappa([[3, 0], [1, 1], [2, 2]])
    assert result.value is None
    assert result.undefined == (
        "claims have different numbers of ratings (2, 3, 4); Fleiss' kappa needs the same for all"
    )


@pytest.mark.parametrize("judges", [2, 3, 5, 9])
def test_kappa_of_a_single_claim_tells_only_how_many_judges_there_were(judges: int) -> None:
    # By hand: with one row, Pe = sum (n_j / n)**2 and Po = (n Pe - 1) / (n - 1), so kappa = -1 / (n - 1).
    for minority in range(1, judges):
        result = fleiss_kappa([[judges - minority, minority, 0]])
        assert result.value == pytest.approx(-1 / (judges - 1))
        assert result.standard_error is None
        assert result.null_standard_error is not None


def test_one_category_is_undefined_for_kappa_and_alpha_and_perfect_for_ac1() -> None:
    panel = ratings([(0, 0, 0), (0, 0, -1)])
    for statistic in (panel_fleiss_kappa, panel_krippendorff_alpha):
        result = statistic(panel)
        assert (result.value, result.undefined) == (None, ONE_CATEGORY)
        assert (result.observed, result.expected) == (1.0, 1.0)
    assert panel_gwet_ac1(panel).value == 1.0
    assert panel_observed_agreement(panel).value == 1.0
    pair = cohen_kappa(panel, 0, 2)
    assert (pair.value, pair.undefined, pair.observed, pair.claims) == (None, ONE_CATEGORY, 1.0, 1)


@every_panel_statistic
def test_agreement_of_all_on_several_labels_is_one(statistic: PanelStatistic) -> None:
    assert statistic(ratings([(0, 0, 0), (1, 1, 1), (2, 2, 2)])).value == 1.0


@every_panel_statistic
@pytest.mark.parametrize("judges", [0, 1])
def test_a_panel_needs_two_judges(statistic: PanelStatistic, judges: int) -> None:
    panel = Ratings(np.zeros((1, judges), dtype=np.int8), np.array([4]), ("only",) * judges)
    result = statistic(panel)
    assert result.value is None
    assert result.undefined in (f"needs at least two judges, found {judges}", "no claim has two ratings")


def test_missing_votes_are_left_out_claim_by_claim() -> None:
    # By hand: agreeing pairs 1/1, 1/3 and 0/1 on three claims; the last claim has one vote and tells nothing.
    panel = ratings([(0, 0, -1), (0, 0, 1), (-1, 1, 2), (2, -1, -1)])
    assert panel_observed_agreement(panel).value == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert [statistic(panel).claims for statistic in OF_PANELS] == [1, 3, 3, 3]


def test_cohens_kappa_uses_the_claims_that_both_judges_decided() -> None:
    panel = ratings([(0, 0, -1), (1, 1, 2), (0, -1, 0), (-1, 1, 1)])
    assert cohen_kappa(panel, 0, 1).value == 1.0
    assert cohen_kappa(panel, 0, 1).claims == 2
    assert cohen_kappa(panel, 1, 0).claims == 2
    # By hand: judge 1 says 1 and 1 where judge 2 says 2 and 1; Po = 1/2, Pe = 1 * 1/2, kappa = 0.
    assert cohen_kappa(panel, 1, 2).value == pytest.approx(0.0)


def test_judges_without_a_claim_in_common_have_no_kappa() -> None:
    result = cohen_kappa(ratings([(0, -1), (-1, 1)]), 0, 1)
    assert (result.value, result.undefined, result.claims) == (
        None,
        "the two judges decided no claim in common",
        0,
    )


def test_a_judge_that_never_changes_its_mind_agrees_by_chance_alone() -> None:
    # By hand: Po = Pe = the share of the other judge's label.
    assert cohen_kappa(ratings([(0, 0), (0, 1), (0, 1)]), 0, 1).value == pytest.approx(0.0)


def test_two_judges_who_differ_do_not_tell_who_is_right() -> None:
    for accuracy in judge_accuracies(ratings([(0, 1), (1, 1), (0, 0)])):
        assert (accuracy.sensitivity, accuracy.specificity) == (None, None)


def test_the_judge_that_misses_what_the_others_see_has_the_lower_sensitivity() -> None:
    # Sixty clean claims, forty faulty ones of which the third judge passes ten: sensitivity 30 / 40, up to smoothing.
    rows = [(0, 0, 0)] * 60 + [(1, 1, 1)] * 15 + [(2, 2, 2)] * 15 + [(1, 1, 0)] * 5 + [(2, 2, 0)] * 5
    first, second, third = judge_accuracies(ratings(rows))
    assert [first.sensitivity, second.sensitivity] == pytest.approx([1, 1], abs=0.01)
    assert third.sensitivity == pytest.approx(0.75, abs=0.01)
    assert third.specificity == pytest.approx(1, abs=0.01)


def test_a_judge_that_calls_refuted_claims_unmentioned_still_flags_them() -> None:
    rows = [(0, 0, 0)] * 60 + [(1, 1, 1)] * 10 + [(1, 1, 2)] * 10 + [(2, 2, 2)] * 20
    assert judge_accuracies(ratings(rows))[2].sensitivity == pytest.approx(1, abs=0.01)


def test_a_judge_without_a_vote_has_no_accuracy() -> None:
    silent = judge_accuracies(ratings([(0, 0, 0, -1)] * 6 + [(1, 1, 1, -1)] * 4))[3]
    assert (silent.sensitivity, silent.specificity) == (None, None)


@pytest.mark.parametrize(
    ("kappa", "word"),
    [
        *((-0.5, "poor"), (0.0, "poor"), (0.2 - 1e-9, "poor"), (0.2, "fair"), (0.4 - 1e-9, "fair")),
        *((0.4, "moderate"), (0.6 - 1e-9, "moderate"), (0.6, "substantial"), (0.8, "substantial")),
        *((0.8 + 1e-9, "almost_perfect"), (1.0, "almost_perfect"), (None, "undefined")),
    ],
)
def test_words_for_kappa_change_exactly_at_their_bounds(kappa: float | None, word: str) -> None:
    # judge-auditor: poor < 0.2, fair from 0.2, moderate from 0.4, substantial from 0.6, almost perfect only above 0.8.
    assert interpretation(kappa) == word


def test_a_kappa_that_rounding_moved_off_its_bound_keeps_its_word() -> None:
    assert [interpretation(math.nextafter(bound, 0)) for bound in (0.2, 0.4, 0.6)] == [
        "fair",
        "moderate",
        "substantial",
    ]
    assert interpretation(math.nextafter(0.8, 1)) == "substantial"


def warning_of(counts: list[list[int]]) -> str | None:
    return prevalence_warning(fleiss_kappa(counts), gwet_ac1(counts))


def test_a_low_kappa_under_skewed_labels_comes_with_a_warning() -> None:
    warning = warning_of([[3, 0, 0]] * 95 + [[2, 1, 0]] * 5)
    assert warning is not None
    assert warning.startswith("judges agree on 96.7% of pairs, yet kappa is -0.02: almost all claims have the same")
    assert warning.endswith("read Gwet's AC1 (0.97) instead")


@pytest.mark.parametrize(
    "counts",
    [
        [[3, 0, 0], [0, 3, 0]] * 10,
        [[2, 1, 0], [1, 1, 1], [0, 2, 1]] * 10,
        [[3, 0, 0]] * 10,
        [[1, 0, 0]] * 10,
    ],
    ids=["agreement", "disagreement", "kappa undefined", "one judge"],
)
def test_no_warning_without_the_paradox(counts: list[list[int]]) -> None:
    assert warning_of(counts) is None


@pytest.mark.parametrize(
    ("observed", "kappa", "ac1", "is_warned"),
    [(0.8, 0.3, 0.5, True), (0.79, 0.3, 0.9, False), (0.9, 0.3, 0.49, False), (0.9, 0.3, None, False)],
)
def test_the_warning_starts_at_four_fifths_observed_and_a_fifth_apart(
    observed: float, kappa: float, ac1: float | None, is_warned: bool
) -> None:
    warning = prevalence_warning(Agreement(kappa, None, observed=observed), Agreement(ac1, None))
    assert (warning is not None) == is_warned


def test_ac1_needs_two_labels_to_choose_from() -> None:
    result = gwet_ac1([[3], [3]])
    assert (result.value, result.expected) == (None, None)
    assert result.undefined == "needs two possible labels or more, found one"


@every_count_statistic
@pytest.mark.parametrize("multiplicities", [[1], [float("nan"), 1], [-1, 1], [float("inf"), 1]], ids=str)
def test_impossible_multiplicities_are_refused(statistic: CountStatistic, multiplicities: list[float]) -> None:
    with pytest.raises(RecordError, match="one number >= 0 for each of 2 rows"):
        statistic([[1, 2], [2, 1]], multiplicities)


def test_rows_that_nobody_shows_do_not_count_as_unequal() -> None:
    assert fleiss_kappa([[2, 1], [1, 2], [5, 5]], [3, 3, 0]) == fleiss_kappa([[2, 1], [1, 2]], [3, 3])


def test_tables_with_more_judges_than_a_byte_can_count_are_read_as_they_are() -> None:
    table = [[200, 100], [100, 200]]
    assert fleiss_kappa(table).value == pytest.approx(fleiss_kappa(table, [1, 1]).value)


@every_count_statistic
def test_no_rows_at_all_are_no_claims(statistic: CountStatistic) -> None:
    result = statistic([])
    assert (result.value, result.claims) == (None, 0)
