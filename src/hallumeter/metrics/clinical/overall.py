"""One score of several, by the weights of the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.records import Rate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PERPLEXITY_AT_BEST, PERPLEXITY_SPAN = 10.0, 30.0
"""A perplexity of 10 or less counts 1, one of 40 or more counts 0."""


class OverallPart(Struct, frozen=True):
    """One measurement as it enters the overall score."""

    name: str
    weight: float
    value: float
    """From 0 to 1, more is better."""


def overall_parts(values: Mapping[str, float | None], weights: Mapping[str, float]) -> tuple[OverallPart, ...]:
    """The measurements that are there, turned so that 1 is best; the others are left out, not counted as 0.

    Perplexity becomes 1 - (perplexity - 10) / 30 within 0 and 1, CSP becomes 1 - CSP. Names may be in any case.

    >>> overall_parts({"SFS": 0.9, "CSP": 0.2, "ASS": None}, {"SFS": 0.15, "CSP": 0.10, "ASS": 0.10})
    (OverallPart(name='SFS', weight=0.15, value=0.9), OverallPart(name='CSP', weight=0.1, value=0.8))
    """
    known = {name.lower(): value for name, value in values.items()}
    parts = []
    for name, weight in weights.items():
        value = known.get(name.lower())
        if value is not None:
            parts.append(OverallPart(name, weight, _turned(name.lower(), value)))
    return tuple(parts)


def overall_score(parts: Sequence[OverallPart]) -> Rate:
    """Weighted mean of the parts, as the two sums. Undefined without a part.

    >>> overall_score([OverallPart("SFS", 0.75, 1.0), OverallPart("CSP", 0.25, 0.0)]).value
    0.75
    """
    return Rate(sum(part.weight * part.value for part in parts), sum(part.weight for part in parts))


def _turned(name: str, value: float) -> float:
    if name == "perplexity":
        return min(1.0, max(0.0, 1 - (value - PERPLEXITY_AT_BEST) / PERPLEXITY_SPAN))
    return 1 - value if name == "csp" else value
