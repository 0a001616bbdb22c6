"""Intervals for a single rate, and the quantiles they are made of."""

from __future__ import annotations

import math
from statistics import NormalDist

from msgspec import Struct

# The incomplete beta function and its inverse: all that exact intervals and Student's t need.
#
# Written here because importing scipy.stats would take longer than most runs.


def regularized_incomplete_beta(x: float, a: float, b: float) -> float:
    """I_x(a, b): the probability that a beta variable with shapes a and b is at most x.

    It is also the probability of at least a successes in a + b - 1 trials that succeed with probability x.

    >>> round(regularized_incomplete_beta(0.5, 2, 2), 15)
    0.5
    >>> round(regularized_incomplete_beta(0.1, 1, 3), 15)  # 1 - 0.9**3
    0.271
    """
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    # The fraction converges fast only below the mean; above it, count the other tail.
    if x > (a + 1) / (a + b + 2):
        return 1.0 - regularized_incomplete_beta(1.0 - x, b, a)
    log_power = a * math.log(x) + b * math.log1p(-x) - log_beta(a, b)
    return math.exp(log_power) * _continued_fraction(x, a, b) / a


def beta_quantile(probability: float, a: float, b: float) -> float:
    """The x at which I_x(a, b) reaches the probability, which lies above 0 and up to 1/2.

    For an upper tail take 1 - beta_quantile(1 - probability, b, a), which keeps the digits of a number close to 1.

    >>> round(beta_quantile(0.271, 1, 3), 12)
    0.1
    """
    low, high = 0.0, 1.0
    x = a / (a + b)
    # Newton steps on the logarithms of x and of I_x, nearly a straight line in the lower tail; a step that leaves
    # the bracket, or falls where I_x underflows to zero, is replaced by a halving.
    while high - low > 1e-14 * x > 0:
        reached = regularized_incomplete_beta(x, a, b)
        low, high = (x, high) if reached < probability else (low, x)
        following = _newton_step(x, reached, (probability, a, b))
        if abs(following - x) <= 1e-14 * x:
            break
        x = following if low < following < high else (low + high) / 2
    return x


def log_beta(a: float, b: float) -> float:
    """Logarithm of the beta function of a and b.

    >>> round(math.exp(-log_beta(2, 3)), 12)
    12.0
    """
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _newton_step(x: float, reached: float, target: tuple[float, float, float]) -> float:
    """The next x, or one outside the bracket where the slope tells nothing."""
    probability, a, b = target
    log_density = (a - 1) * math.log(x) + (b - 1) * math.log1p(-x) - log_beta(a, b)
    slope = x * math.exp(log_density)
    if reached <= 0.0 or slope <= 0.0:
        return -1.0
    return x * math.exp(min(1.0, math.log(probability / reached) * reached / slope))


def _continued_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of I_x(a, b), by Lentz's method.

    Below the mean every partial denominator is positive, so the usual guards against zero are not needed.
    """
    numerator, denominator = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1))
    value = denominator
    m, change = 0, 0.0
    while abs(change - 1.0) >= 1e-15:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for term in (even, odd):
            denominator = 1.0 / (1.0 + term * denominator)
            numerator = 1.0 + term / numerator
            change *= numerator * denominator
        value *= change
    return value


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


# What a rate could be, whatever the unmeasured part turns out to be.


def manski_bounds(count: float, total: float, unmeasured: float) -> tuple[float, float] | None:
    """Best and worst case of a rate when some units were not measured (Manski 1989).

    From count / (total + unmeasured), as if none of the unmeasured counted, to
    (count + unmeasured) / (total + unmeasured), as if all did. No assumption is made on why they are missing, and
    chance is left out: this is not an interval. Undefined when there is nothing at all.

    >>> manski_bounds(3, 8, 2)
    (0.3, 0.5)
    >>> manski_bounds(0, 0, 5)
    (0.0, 1.0)
    """
    check_proportion(count, total)
    if not 0 <= unmeasured < math.inf:
        raise ValueError(f"the number of unmeasured units must be finite and not negative, found {unmeasured}")
    everything = total + unmeasured
    if everything == 0:
        return None
    return count / everything, (count + unmeasured) / everything


def mean_bounds(
    value_sum: float, measured: int, unmeasured: int, *, low: float, high: float
) -> tuple[float, float] | None:
    """Best and worst case of a mean when some values, each from low to high, were not measured.

    Undefined when there is nothing at all.

    >>> mean_bounds(1.5, 2, 2, low=0, high=1)
    (0.375, 0.875)
    """
    width = high - low
    # Sums of shares near the ends may leave them by a rounding error.
    count = min(max((value_sum - measured * low) / width, 0.0), float(measured))
    ends = manski_bounds(count, measured, unmeasured)
    return None if ends is None else (low + width * ends[0], low + width * ends[1])
