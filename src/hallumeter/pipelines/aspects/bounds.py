"""Comparison with a bound, where the last digits of a difference of decimals must not decide."""

TOLERANCE = 1e-9


def reaches(value: float, bound: float) -> bool:
    """Whether a value is at least a bound, or so near below it that it means the bound.

    >>> 0.7 - 0.5 >= 0.2, reaches(0.7 - 0.5, 0.2), reaches(0.19, 0.2)
    (False, True, False)
    """
    return value >= bound - TOLERANCE
