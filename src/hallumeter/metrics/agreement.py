"""Whether judges agree with each other, beyond what chance alone would give.

All statistics read a count table (one row per distinct pattern of votes, one column per label, entries = number of
judges) and how many claims show each row, so a million claims of three judges cost as much as sixty-four.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from hallumeter.errors import RecordError
from hallumeter.records.columns import DECIDED_LABELS
from hallumeter.stats import JudgeAccuracy, dawid_skene, sensitivity_specificity

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hallumeter.records import Ratings

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


def fleiss_kappa(counts: ArrayLike, multiplicities: ArrayLike | None = None) -> Agreement:
    """Fleiss' kappa, (Po - Pe) / (1 - Pe), over claims that were all rated by the same number of judges.

    Undefined with fewer than two judges, without claims, with unequal numbers of ratings, and when every rating falls
    in one category.

    >>> round(fleiss_kappa([[6, 1, 0], [0, 7, 0]]).value, 6)
    0.708333
    """
    table, weights = _checked(counts, multiplicities)
    raters = table[weights > 0].sum(axis=1)
    problem = _fleiss_problem(raters)
    if problem:
        return Agreement(None, problem)
    judges, claims = raters[0], weights.sum()
    agreeing = (table * (table - 1)).sum(axis=1) / (judges * (judges - 1))
    observed = float(weights @ agreeing / claims)
    shares = weights @ table / (claims * judges)
    expected = float((shares**2).sum())
    if (shares == 1).any():
        return Agreement(None, ONE_CATEGORY, observed=observed, expected=1.0, claims=int(claims))
    kappa = (observed - expected) / (1 - expected)
    by_claim = (agreeing - expected) / (1 - expected) - 2 * (1 - kappa) * (table @ shares / judges - expected) / (
        1 - expected
    )
    return Agreement(
        kappa,
        None,
        observed=observed,
        expected=expected,
        standard_error=_standard_error(by_claim, weights, kappa),
        null_standard_error=_fleiss_null_error(shares, float(claims), float(judges)),
        claims=int(claims),
    )


def krippendorff_alpha(counts: ArrayLike, multiplicities: ArrayLike | None = None) -> Agreement:
    """Krippendorff's alpha for nominal labels; judges may have left claims out.

    Undefined when no claim has two ratings, and when every rating falls in one category.
    """
    table, weights = _pairable(*_checked(counts, multiplicities))
    if not weights.sum():
        return Agreement(None, "no claim has two ratings")
    raters = table.sum(axis=1)
    totals = weights @ table
    ratings = totals.sum()
    disagreeing = weights @ ((raters**2 - (table**2).sum(axis=1)) / (raters - 1))
    expected_pairs = ratings**2 - (totals**2).sum()
    observed = float(1 - disagreeing / ratings)
    expected = float(1 - expected_pairs / (ratings * (ratings - 1)))
    if expected_pairs == 0:
        return Agreement(None, ONE_CATEGORY, observed=observed, expected=1.0, claims=int(weights.sum()))
    alpha = float(1 - (ratings - 1) * disagreeing / expected_pairs)
    return Agreement(alpha, None, observed=observed, expected=expected, claims=int(weights.sum()))


def gwet_ac1(counts: ArrayLike, multiplicities: ArrayLike | None = None) -> Agreement:
    """Gwet's AC1, which stays meaningful when almost every claim has the same label; ratings may be missing.

    Undefined when no claim has two ratings.

    >>> gwet_ac1([[3, 0, 0], [3, 0, 0]]).value
    1.0
    """
    table, weights = _checked(counts, multiplicities)
    rated = table.sum(axis=1) > 0
    table, weights = table[rated], weights[rated]
    pairs, pair_weights = _pairable(table, weights)
    if not pair_weights.sum():
        return Agreement(None, "no claim has two ratings")
    raters = pairs.sum(axis=1)
    observed = float(pair_weights @ ((pairs * (pairs - 1)).sum(axis=1) / (raters * (raters - 1))) / pair_weights.sum())
    shares = weights @ (table / table.sum(axis=1, keepdims=True)) / weights.sum()
    expected = float((shares * (1 - shares)).sum() / (table.shape[1] - 1))
    value = (observed - expected) / (1 - expected)
    return Agreement(value, None, observed=observed, expected=expected, claims=int(pair_weights.sum()))


def cohen_kappa(ratings: Ratings, first: int, second: int) -> Agreement:
    """Cohen's kappa of two judges of a panel, over the claims that both decided.

    Undefined when they share no claim, and when both always give the same one label.
    """
    pair = ratings.patterns[:, [first, second]]
    both = (pair >= 0).all(axis=1)
    weights = ratings.multiplicities[both].astype(np.float64)
    if not weights.sum():
        return Agreement(None, "the two judges decided no claim in common")
    votes = pair[both].astype(np.int64)
    categories = int(votes.max()) + 1
    confusion = np.bincount(votes[:, 0] * categories + votes[:, 1], weights, minlength=categories**2)
    joint = confusion.reshape(categories, categories) / weights.sum()
    observed, expected = float(np.trace(joint)), float(joint.sum(axis=1) @ joint.sum(axis=0))
    claims = int(weights.sum())
    if joint.max() == 1:
        return Agreement(None, ONE_CATEGORY, observed=observed, expected=1.0, claims=claims)
    return Agreement((observed - expected) / (1 - expected), None, observed=observed, expected=expected, claims=claims)


def panel_fleiss_kappa(ratings: Ratings) -> Agreement:
    """Fleiss' kappa over the claims that every judge decided."""
    complete = (ratings.patterns >= 0).all(axis=1)
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
    if not weights.sum():
        return Agreement(None, "no claim has two ratings")
    raters = table.sum(axis=1)
    agreeing = (table * (table - 1)).sum(axis=1) / (raters * (raters - 1))
    observed = float(weights @ agreeing / weights.sum())
    return Agreement(observed, None, observed=observed, claims=int(weights.sum()))


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
    if kappa > 0.8:
        return "almost_perfect"
    scale = ((0.6, "substantial"), (0.4, "moderate"), (0.2, "fair"))
    return next((word for bound, word in scale if kappa >= bound), "poor")


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
    try:
        table = np.asarray(counts, dtype=np.float64)
    except ValueError:
        raise RecordError("the rows of the count table have different lengths; give one entry per label") from None
    if table.ndim != 2:
        table = table.reshape(-1, 0) if table.size == 0 else table
    if table.ndim != 2 or not np.isfinite(table).all() or (table < 0).any() or (table != np.floor(table)).any():
        raise RecordError("a count table has one row per claim, one column per label and whole numbers >= 0")
    weights = np.ones(len(table)) if multiplicities is None else np.asarray(multiplicities, dtype=np.float64)
    return table, weights


def _fleiss_problem(raters: NDArray[np.float64]) -> str | None:
    if not len(raters):
        return "no claim was rated by every judge"
    if (raters != raters[0]).any():
        found = ", ".join(f"{count:.0f}" for count in np.unique(raters))
        return f"claims have different numbers of ratings ({found}); Fleiss' kappa needs the same for all"
    if raters[0] < 2:
        return f"needs at least two judges, found {raters[0]:.0f}"
    return None


def _pairable(
    table: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Only claims with two ratings or more say anything about agreement."""
    enough = table.sum(axis=1) >= 2
    return table[enough], weights[enough]


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
