"""Intervals for a single rate, and the quantiles they are made of."""

from __future__ import annotations

import math
from statistics import NormalDist

from msgspec import Struct

from .special import beta_quantile


class Interval(Struct, frozen=True):
    """A range that would hold the true value in the stated share of repetitions."""

    low: float
    high: float
    method: str
    """How it was made, as written in reports: `wilson`, `cluster_bootstrap` and so on."""


def wilson_interval(count: float, total: float, *, confidence: float = 0.95) -> Interval | None:
    """Score interval of Wilson (1927): the rates that a score test would not reject.

    For independent yes-or-no outcomes. Counts may be fractions (expected or weighted counts). Undefined when the total
    is 0.

    >>> interval = wilson_interval(1, 10)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0179, 0.4042)
    >>> wilson_interval(0, 0) is None
    True
    """
    check_proportion(count, total)
    if total == 0:
        return None
    z = normal_quantile(upper_probability(confidence))
    # The upper bound of a rate is one less the lower bound of its complement: both ends are then exact at 0 and 1.
    return Interval(_wilson_low(count, total, z), 1.0 - _wilson_low(total - count, total, z), "wilson")


def clopper_pearson_interval(count: int, total: int, *, confidence: float = 0.95) -> Interval | None:
    """Exact interval of Clopper and Pearson (1934): it covers at least as often as it says, and often more.

    For independent yes-or-no outcomes. Undefined when the total is 0.

    >>> interval = clopper_pearson_interval(1, 10)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0025, 0.445)
    """
    check_proportion(count, total)
    if count != int(count) or total != int(total):
        raise ValueError(f"an exact interval needs whole counts, found {count} of {total}; use wilson_interval")
    if total == 0:
        return None
    tail = 1.0 - upper_probability(confidence)
    return Interval(
        _clopper_pearson_low(count, total, tail),
        1.0 - _clopper_pearson_low(total - count, total, tail),
        "clopper_pearson",
    )


def normal_quantile(p: float) -> float:
    """The value that a standard normal variable stays below with probability p.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    check_probability(p, "p")
    return NormalDist().inv_cdf(p)


def student_quantile(p: float, degrees: float) -> float:
    """The value that Student's t with these degrees of freedom stays below with probability p.

    >>> round(student_quantile(0.975, 10), 6)
    2.228139
    """
    check_probability(p, "p")
    if not 0 < degrees < math.inf:
        raise ValueError(f"degrees of freedom must be a finite number above 0, found {degrees}")
    if degrees > 1_000:
        return _student_quantile_near_normal(p, degrees)
    both_tails = 2 * min(p, 1 - p)
    # degrees / (degrees + t**2) has a beta distribution; of it and its complement, solve for the smaller.
    if both_tails <= 0.5:
        share = beta_quantile(both_tails, degrees / 2, 0.5)
        square = degrees * (1 - share) / share if share else math.inf
    elif both_tails < 1:
        share = beta_quantile(1 - both_tails, 0.5, degrees / 2)
        square = degrees * share / (1 - share)
    else:
        square = 0.0
    return math.copysign(math.sqrt(square), p - 0.5)


def upper_probability(confidence: float) -> float:
    """Where the upper end of a two-sided interval stands in its distribution.

    >>> upper_probability(0.5)
    0.75
    """
    check_probability(confidence, "confidence")
    return (1 + confidence) / 2


def check_probability(p: float, name: str) -> None:
    """Refuse what is not strictly between 0 and 1."""
    if not 0 < p < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, found {p}")


def check_proportion(count: float, total: float) -> None:
    """Refuse a count that is not a part of its total."""
    if not 0 <= count <= total < math.inf:
        raise ValueError(f"a proportion needs 0 <= count <= total, both finite; found count {count}, total {total}")


def _wilson_low(count: float, total: float, z: float) -> float:
    """The smaller root of (p - count/total)**2 = z**2 p (1 - p) / total, in the form that loses no digits."""
    spread = z * math.sqrt(z * z + 4 * count * (total - count) / total)
    return 2 * count * (count / total) / (2 * count + z * z + spread)


def _clopper_pearson_low(count: int, total: int, tail: float) -> float:
    """The rate at which this count or a larger one has the probability `tail`."""
    return beta_quantile(tail, count, total - count + 1) if count else 0.0


def _student_quantile_near_normal(p: float, degrees: float) -> float:
    """Cornish-Fisher expansion around the normal quantile (Abramowitz and Stegun 26.7.5)."""
    z = normal_quantile(p)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / degrees**power for power, term in enumerate(terms, start=1))
