"""Whether judges agree with each other, beyond what chance alone would give.

All statistics read a count table (one row per distinct pattern of votes, one column per label, entries = number of
judges) and how many claims show each row, so a million claims of three judges cost as much as sixty-four.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from msgspec import Struct, structs
from numpy.typing import ArrayLike, NDArray

from hallumeter.errors import RecordError
from hallumeter.records.columns import DECIDED_LABELS, Ratings
from hallumeter.records.measurement import MetricSummary
from hallumeter.records.rate import Rates

from .raters import JudgeAccuracy, dawid_skene, distinct_patterns, sensitivity_specificity

Table = NDArray[np.float64] | NDArray[np.int64]


MOST_JUDGES_PACKED = 126
"""Counts up to this one fit into a byte, so that equal rows can be found fast."""
_ROUNDING = 1e-12
"""A kappa of exactly 3/5 may come out a hair below 0.6."""
ONE_CATEGORY = "every rating falls in one category, so agreement by chance is already total"


class Agreement(Struct, frozen=True):
    """A chance-corrected agreement statistic with its parts."""

    value: float | None
    undefined: str | None
    """Why there is no value; None when there is one."""
    observed: float | None = None
    """Share of pairs of judges that agree."""
    expected: float | None = None
    """The share expected by chance."""
    standard_error: float | None = None
    """Of the value, with the claims as a random sample; None when it needs more claims."""
    null_standard_error: float | None = None
    """Of the value if judges voted at random (Fleiss, Nee and Landis 1979): value / this is the test's z."""
    claims: int = 0
    """Claims that could be used: with two ratings or more, and for Fleiss' kappa with all of them."""


class Parts(NamedTuple):
    """A statistic and what it is made of, for one set of multiplicities or for many at once; NaN where undefined."""

    value: NDArray[np.float64]
    observed: NDArray[np.float64]
    expected: NDArray[np.float64]


def fleiss_kappa(counts: ArrayLike, multiplicities: ArrayLike | None = None) -> Agreement:
    """Fleiss' kappa, (Po - Pe) / (1 - Pe), over claims that were all rated by the same number of judges.

    Undefined with fewer than two judges, without claims, with unequal numbers of ratings, and when every rating falls
    in one category.

    >>> round(fleiss_kappa([[6, 1, 0], [0, 7, 0]]).value, 6)
    0.708333
    """
    table, weights = _checked(counts, multiplicities)
    problem = _fleiss_problem(table.sum(axis=1))
    if problem:
        return Agreement(None, problem)
    parts = _fleiss_parts(table, weights)
    agreement = _agreement(parts, weights)
    if agreement.value is None:
        return agreement
    judges, claims = float(table[0].sum()), float(weights.sum())
    shares = weights @ table / (claims * judges)
    agreeing, expected = _agreeing_pairs(table), float(parts.expected)
    pull = agreeing - expected - 2 * (1 - agreement.value) * (table @ shares / judges - expected)
    return structs.replace(
        agreement,
        standard_error=_standard_error(pull / (1 - expected), weights, agreement.value),
        null_standard_error=_fleiss_null_error(shares, claims, judges),
    )


def krippendorff_alpha(counts: ArrayLike, multiplicities: ArrayLike | None = None) -> Agreement:
    """Krippendorff's alpha for nominal labels; judges may have left claims out.

    Undefined when no claim has two ratings, and when every rating falls in one category.
    """
    table, weights = _pairable(*_checked(counts, multiplicities))
    return _agreement(_alpha_parts(table, weights), weights)


def gwet_ac1(counts: ArrayLike, multiplicities: ArrayLike | None = None) -> Agreement:
    """Gwet's AC1, which stays meaningful when almost every claim has the same label; ratings may be missing.

    Undefined when no claim has two ratings, and when only one label is possible.

    >>> gwet_ac1([[3, 0, 0], [3, 0, 0]]).value
    1.0
    """
    table, weights = _checked(counts, multiplicities)
    if table.shape[1] < 2 and len(table):
        return Agreement(None, "needs two possible labels or more, found one")
    return _agreement(_ac1_parts(table, weights), _pairable(table, weights)[1])


def cohen_kappa(ratings: Ratings, first: int, second: int) -> Agreement:
    """Cohen's kappa of two judges of a panel, over the claims that both decided.

    Undefined when they share no claim, and when both always give the same one label.
    """
    weights = ratings.multiplicities.astype(np.float64)
    shared = weights[(ratings.patterns[:, [first, second]] >= 0).all(axis=1)]
    result = _agreement(_cohen_parts(ratings, weights, first=first, second=second), shared)
    if result.claims:
        return result
    return Agreement(None, "the two judges decided no claim in common")


def panel_fleiss_kappa(ratings: Ratings) -> Agreement:
    """Fleiss' kappa over the claims that every judge decided."""
    complete = _is_complete(ratings)
    return fleiss_kappa(ratings.counts()[complete], ratings.multiplicities[complete])


def panel_krippendorff_alpha(ratings: Ratings) -> Agreement:
    """Krippendorff's alpha over the claims that at least two judges decided."""
    return krippendorff_alpha(ratings.counts(), ratings.multiplicities)


def panel_gwet_ac1(ratings: Ratings) -> Agreement:
    """Gwet's AC1 over the claims that at least two judges decided."""
    return gwet_ac1(ratings.counts(), ratings.multiplicities)


def panel_observed_agreement(ratings: Ratings) -> Agreement:
    """Share of pairs of judges that agree, over the claims that at least two judges decided."""
    table, weights = _pairable(*_checked(ratings.counts(), ratings.multiplicities))
    observed = _observed(table, weights)
    return _agreement(Parts(observed, observed, np.asarray(np.nan)), weights)


def resampled_fleiss(ratings: Ratings, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fleiss' kappa for many resamples at once: one row of weights over the patterns each, NaN where undefined."""
    complete = _is_complete(ratings)
    return _fleiss_parts(ratings.counts()[complete], weights[:, complete]).value


def resampled_alpha(ratings: Ratings, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Krippendorff's alpha for many resamples at once."""
    return _alpha_parts(*_pairable(ratings.counts(), weights)).value


def resampled_ac1(ratings: Ratings, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Gwet's AC1 for many resamples at once."""
    return _ac1_parts(ratings.counts(), weights).value


def resampled_observed(ratings: Ratings, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Observed agreement for many resamples at once."""
    return _observed(*_pairable(ratings.counts(), weights))


def resampled_cohen(ratings: Ratings, weights: NDArray[np.float64], *, first: int, second: int) -> NDArray[np.float64]:
    """Cohen's kappa of two judges for many resamples at once."""
    return _cohen_parts(ratings, weights, first=first, second=second).value


def judge_accuracies(ratings: Ratings) -> tuple[JudgeAccuracy, ...]:
    """Each judge's sensitivity and specificity for unsupported claims, estimated without gold labels (Dawid-Skene).

    All None with fewer than three judges: two judges who differ do not tell who is right.
    """
    rated = (ratings.patterns >= 0).any(axis=1)
    if len(ratings.judges) < 3 or not rated.any():
        return tuple(JudgeAccuracy(None, None) for _ in ratings.judges)
    result = dawid_skene(ratings.patterns[rated], ratings.multiplicities[rated], classes=DECIDED_LABELS)
    return sensitivity_specificity(result, positive=(1, 2))


def interpretation(kappa: float | None) -> str:
    """Judge-auditor's words for a kappa: a shortened Landis and Koch scale.

    >>> interpretation(0.8), interpretation(0.81), interpretation(None)
    ('substantial', 'almost_perfect', 'undefined')
    """
    if kappa is None:
        return "undefined"
    if kappa > 0.8 + _ROUNDING:
        return "almost_perfect"
    scale = ((0.6, "substantial"), (0.4, "moderate"), (0.2, "fair"))
    return next((word for bound, word in scale if kappa >= bound - _ROUNDING), "poor")


def prevalence_warning(kappa: Agreement, ac1: Agreement) -> str | None:
    """Say so when kappa is low only because almost all claims have the same label.

    >>> counts = [[3, 0, 0]] * 95 + [[2, 1, 0]] * 5
    >>> prevalence_warning(fleiss_kappa(counts), gwet_ac1(counts))[:43]
    'judges agree on 96.7% of pairs, yet kappa i'
    """
    if kappa.value is None or kappa.observed is None or ac1.value is None:
        return None
    if kappa.observed < 0.8 or ac1.value - kappa.value < 0.2:
        return None
    return (
        f"judges agree on {kappa.observed:.1%} of pairs, yet kappa is {kappa.value:.2f}: almost all claims have the "
        f"same label, which makes chance agreement high; read Gwet's AC1 ({ac1.value:.2f}) instead"
    )


def _checked(counts: ArrayLike, multiplicities: ArrayLike | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A count table and its multiplicities; equal rows are put together when none are given."""
    try:
        table = np.asarray(counts)
    except ValueError:
        raise RecordError("the rows of the count table have different lengths; give one entry per label") from None
    if table.size == 0 and table.ndim < 2:
        table = table.reshape(len(table), 0)
    if table.ndim != 2 or table.dtype.kind not in "iuf" or not _is_whole(table):
        raise RecordError("a count table has one row per claim, one column per label and whole numbers >= 0")
    if multiplicities is not None:
        weights = np.asarray(multiplicities, dtype=np.float64)
        if weights.shape != (len(table),) or not ((weights >= 0) & (weights < np.inf)).all():
            raise RecordError(f"expected one number >= 0 for each of {len(table)} rows, found {weights.tolist()}")
        return table[weights > 0].astype(np.float64), weights[weights > 0]
    if table.max(initial=0) > MOST_JUDGES_PACKED:
        return table.astype(np.float64), np.ones(len(table))
    patterns, times, _ = distinct_patterns(table.astype(np.int8))
    return patterns.astype(np.float64), times.astype(np.float64)


def _is_whole(table: NDArray[np.float64]) -> bool:
    """Whether a table holds whole numbers from 0 only."""
    if table.dtype.kind == "f" and not (np.isfinite(table) & (table == np.floor(table))).all():
        return False
    return bool((table >= 0).all())


def _fleiss_problem(raters: NDArray[np.float64]) -> str | None:
    if not len(raters):
        return "no claim was rated by every judge"
    if (raters != raters[0]).any():
        found = ", ".join(f"{count:.0f}" for count in np.unique(raters))
        return f"claims have different numbers of ratings ({found}); Fleiss' kappa needs the same for all"
    if raters[0] < 2:
        return f"needs at least two judges, found {raters[0]:.0f}"
    return None


def _agreement(parts: Parts, weights: NDArray[np.float64]) -> Agreement:
    """One set of parts as a result, or the reason why there is none."""
    claims = int(weights.sum())
    if not claims:
        return Agreement(None, "no claim has two ratings")
    observed, expected = float(parts.observed), None if np.isnan(parts.expected) else float(parts.expected)
    value = None if np.isnan(parts.value) else float(parts.value)
    return Agreement(
        value, ONE_CATEGORY if value is None else None, observed=observed, expected=expected, claims=claims
    )


def _fleiss_parts(table: Table, weights: NDArray[np.float64]) -> Parts:
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = weights @ table / (weights @ table.sum(axis=1))[..., np.newaxis]
        return _chance_corrected(_observed(table, weights), (shares**2).sum(axis=-1))


def _alpha_parts(table: Table, weights: NDArray[np.float64]) -> Parts:
    raters, totals = table.sum(axis=1), weights @ table
    with np.errstate(invalid="ignore", divide="ignore"):
        ratings = totals.sum(axis=-1)
        disagreeing = weights @ ((raters**2 - (table**2).sum(axis=1)) / (raters - 1))
        expected = 1 - (ratings**2 - (totals**2).sum(axis=-1)) / (ratings * (ratings - 1))
        return _chance_corrected(1 - disagreeing / ratings, expected)


def _ac1_parts(table: Table, weights: NDArray[np.float64]) -> Parts:
    raters = table.sum(axis=1)
    rated = raters > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = weights[..., rated] @ (table[rated] / raters[rated, np.newaxis])
        shares = shares / weights[..., rated].sum(axis=-1)[..., np.newaxis]
        expected = (shares * (1 - shares)).sum(axis=-1) / (table.shape[1] - 1)
        return _chance_corrected(_observed(*_pairable(table, weights)), expected)


def _cohen_parts(ratings: Ratings, weights: NDArray[np.float64], *, first: int, second: int) -> Parts:
    pair = ratings.patterns[:, [first, second]]
    both = (pair >= 0).all(axis=1)
    votes, mine = pair[both], weights[..., both]
    categories = range(int(votes.max(initial=0)) + 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        claims = mine.sum(axis=-1)[..., np.newaxis]
        shares = [
            np.stack([mine @ (votes[:, judge] == label) for label in categories], axis=-1) / claims for judge in (0, 1)
        ]
        observed = mine @ (votes[:, 0] == votes[:, 1]) / claims[..., 0]
        return _chance_corrected(observed, (shares[0] * shares[1]).sum(axis=-1))


def _chance_corrected(observed: NDArray[np.float64], expected: NDArray[np.float64]) -> Parts:
    """(observed - expected) / (1 - expected); NaN when agreement by chance is total, up to rounding."""
    is_total = np.abs(1 - expected) < _ROUNDING
    value = (observed - expected) / np.where(is_total, np.nan, 1 - expected)
    return Parts(np.asarray(value), np.asarray(observed), np.where(is_total, 1.0, expected))


def _observed(table: Table, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(weights @ _agreeing_pairs(table) / weights.sum(axis=-1))


def _agreeing_pairs(table: Table) -> NDArray[np.float64]:
    """Share of agreeing pairs of judges, per pattern."""
    raters = table.sum(axis=1)
    return np.asarray((table * (table - 1)).sum(axis=1) / (raters * (raters - 1)))


def _pairable(table: Table, weights: NDArray[np.float64]) -> tuple[Table, NDArray[np.float64]]:
    """Only claims with two ratings or more say anything about agreement."""
    enough = table.sum(axis=1) >= 2
    return table[enough], weights[..., enough]


def _is_complete(ratings: Ratings) -> NDArray[np.bool_]:
    return np.asarray((ratings.patterns >= 0).all(axis=1))


def _standard_error(by_claim: NDArray[np.float64], weights: NDArray[np.float64], value: float) -> float | None:
    """Linearised standard error of a mean over claims (Gwet 2021)."""
    claims = weights.sum()
    if claims < 2:
        return None
    return float(np.sqrt(weights @ (by_claim - value) ** 2 / (claims * (claims - 1))))


def _fleiss_null_error(shares: NDArray[np.float64], claims: float, judges: float) -> float:
    spread = float((shares * (1 - shares)).sum())
    skew = float((shares * (1 - shares) * (1 - 2 * shares)).sum())
    return float(np.sqrt(2 * (spread**2 - skew)) / (spread * np.sqrt(claims * judges * (judges - 1))))


# How a panel of judges would agree without one of them: which judge stands apart, and whether that is chance.

FEWEST_JUDGES = 3
"""With two judges, nobody is left to agree with once one is gone."""


def alpha_without(ratings: Ratings, judge: int) -> Agreement:
    """Krippendorff's alpha of the other judges, over the claims that at least two of them decided.

    Undefined with fewer than three judges, and where the alpha of the others is.
    """
    if len(ratings.judges) < FEWEST_JUDGES:
        return Agreement(None, f"needs at least three judges, found {len(ratings.judges)}")
    return panel_krippendorff_alpha(_others(ratings, judge))


def alpha_gain_without(ratings: Ratings, judge: int) -> Agreement:
    """How much higher alpha is without a judge: alpha of the others less alpha of all.

    Undefined when one of the two is. `claims` are those that two of the other judges decided.
    """
    whole, others = panel_krippendorff_alpha(ratings), alpha_without(ratings, judge)
    if whole.value is None or others.value is None:
        return Agreement(None, others.undefined or whole.undefined, claims=others.claims)
    return Agreement(others.value - whole.value, None, claims=others.claims)


def resampled_alpha_without(ratings: Ratings, weights: NDArray[np.float64], *, judge: int) -> NDArray[np.float64]:
    """Alpha of the other judges for many resamples at once: one row of weights over the patterns each."""
    return resampled_alpha(_others(ratings, judge), weights)


def resampled_alpha_gain(ratings: Ratings, weights: NDArray[np.float64], *, judge: int) -> NDArray[np.float64]:
    """The gain for many resamples at once; both alphas come from the same resample, so what they share cancels."""
    return resampled_alpha_without(ratings, weights, judge=judge) - resampled_alpha(ratings, weights)


def agreement_with_others(ratings: Ratings, judge: int) -> Rates:
    """Claims on which a judge says what most of the others say, of those on which it and they have decided.

    One rate per cluster of responses; one per claim when every claim stands alone. A claim on which the others are
    evenly split, or none of them decided, is left out.

    >>> from hallumeter.records.columns import Ratings
    >>> votes = Ratings(np.array([[0, 0, 1], [1, 0, 0], [0, 0, 1]]), np.array([1, 1, 0]), ("a", "b", "c"))
    >>> agreement_with_others(votes, 0).pooled
    Rate(count=0.0, total=1.0)
    """
    votes = _others(ratings, judge).counts()
    is_first = votes == votes.max(axis=1, keepdims=True)
    own = ratings.patterns[:, judge]
    is_shared = (is_first.sum(axis=1) == 1) & (own >= 0)
    is_same = is_shared & (is_first.argmax(axis=1) == own)
    if ratings.clusters is None:
        times = ratings.multiplicities
        return Rates(np.repeat(is_same, times).astype(np.float64), np.repeat(is_shared, times).astype(np.float64))
    return Rates((ratings.clusters @ is_same).astype(np.float64), (ratings.clusters @ is_shared).astype(np.float64))


def _others(ratings: Ratings, judge: int) -> Ratings:
    """The votes of all judges but one; patterns that become equal are kept apart, which changes no statistic."""
    names = (*ratings.judges[:judge], *ratings.judges[judge + 1 :])
    return structs.replace(ratings, patterns=np.delete(ratings.patterns, judge, axis=1), judges=names)


def judges_apart(rows: Iterable[MetricSummary]) -> tuple[str, ...]:
    """Judges without whom the others agree better by more than chance, the largest gain first.

    They are those whose `alpha_gain_without` has an interval that lies above 0.
    """
    gains = [
        (row.value, row.judge)
        for row in rows
        if row.metric == "alpha_gain_without" and row.judge is not None and row.value is not None
        if row.interval is not None and row.interval[0] > 0
    ]
    return tuple(judge for _, judge in sorted(gains, key=lambda gain: -gain[0]))
