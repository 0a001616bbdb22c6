"""The incomplete beta function and its inverse: all that exact intervals and Student's t need.

Written here because importing scipy.stats would take longer than most runs.
"""

from __future__ import annotations

import math


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
