"""What a paired comparison can show: how large an effect is, how large one must be to show, and what is ruled out."""

from __future__ import annotations

import math

from .intervals import check_probability, student_quantile
from .special import regularized_incomplete_beta


def student_cumulative(t: float, degrees: float) -> float:
    """Probability that Student's t with these degrees of freedom stays at or below t.

    >>> round(student_cumulative(2.228139, 10), 6)
    0.975
    """
    if not 0 < degrees < math.inf:
        raise ValueError(f"degrees of freedom must be a finite number above 0, found {degrees}")
    tail = regularized_incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2
    return tail if t < 0 else 1 - tail


def not_above_p_value(difference: float, *, margin: float, standard_error: float, clusters: int) -> float | None:
    """One-sided test against a true difference of the margin or more; a small value rules that out.

    Student's t with one degree less than there are clusters. Where all clusters differ alike (mostly: not at all) there
    is no standard error; for a difference of shares to reach the margin, a share (margin - difference) /
    (1 - difference) of the clusters must then be unlike all those seen, and the p-value is the chance to meet none of
    them. Undefined with fewer than two clusters.

    >>> not_above_p_value(0.0, margin=0.05, standard_error=0.0, clusters=100) < 0.01
    True
    """
    if not 0 < margin < math.inf or standard_error < 0:
        raise ValueError(f"expected a margin above 0 and a standard error from 0, found {margin} and {standard_error}")
    if clusters < 2:
        return None
    if standard_error == 0:
        return 1.0 if difference >= margin else max(0.0, (1 - margin) / (1 - difference)) ** clusters
    return student_cumulative((difference - margin) / standard_error, clusters - 1)


def equivalence_p_value(difference: float, *, margin: float, standard_error: float, clusters: int) -> float | None:
    """Two one-sided tests against a true difference of the margin or more, either way (Schuirmann 1987).

    The larger of the two p-values; a small one shows that the arms are equal within the margin.

    >>> round(equivalence_p_value(0.01, margin=0.05, standard_error=0.02, clusters=41), 4)
    0.0262
    """
    sides = [
        not_above_p_value(side, margin=margin, standard_error=standard_error, clusters=clusters)
        for side in (difference, -difference)
    ]
    found = [p_value for p_value in sides if p_value is not None]
    return max(found) if found else None


def minimum_detectable_difference(
    standard_error: float, clusters: int, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """The true difference that a two-sided test at this level would show with this probability.

    The sum of the two quantiles of Student's t, times the standard error. Undefined with fewer than two clusters, and
    where none differs: nothing then tells how much differences would vary.

    >>> round(minimum_detectable_difference(0.01, 2000), 4)  # 1.961 + 0.842 standard errors
    0.028
    """
    check_probability(alpha, "alpha")
    check_probability(power, "power")
    if clusters < 2 or standard_error == 0:
        return None
    degrees = clusters - 1
    return (student_quantile(1 - alpha / 2, degrees) + student_quantile(power, degrees)) * standard_error


def cohen_h(first: float, second: float) -> float:
    """Effect size of two shares: the difference of their angles 2 asin(sqrt(share)), first less second (Cohen 1988).

    0.2 is small, 0.5 medium, 0.8 large: a point more matters more near 0 and 1 than in the middle.

    >>> round(cohen_h(0.5, 0.3), 4)
    0.4115
    """
    for share in (first, second):
        if not 0 <= share <= 1:
            raise ValueError(f"a share lies between 0 and 1, found {share}")
    return 2 * math.asin(math.sqrt(first)) - 2 * math.asin(math.sqrt(second))
