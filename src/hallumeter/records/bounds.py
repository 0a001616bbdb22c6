"""What a gate holds a run to: bounds on metrics, for all records or for slices of them."""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct

from hallumeter.errors import TOLERANCE, SettingsError, check_share

from .decisions import BoundCheck
from .measurement import MetricSummary

LooksAt = Literal["point", "interval", "worst_case"]
"""Which number of a metric counts: its value, the far end of its interval, or the worst that the unmeasured allow."""
LOOKS_AT_WORDS = {"point": "value", "interval": "interval end", "worst_case": "worst case"}


class Bound(Struct, frozen=True, forbid_unknown_fields=True):
    """The most, or the least, that one metric may be."""

    metric: str
    at_most: float | None = None
    at_least: float | None = None
    looks_at: LooksAt = "point"
    by: dict[str, str] = {}
    """The slice that it speaks of, as field and value; empty for all records."""
    each: tuple[str, ...] = ()
    """Fields each of whose values makes a slice that is held to the bound on its own."""
    max_unmeasured: float | None = None
    """Share of the claims that may be undecided or failed; beyond it nothing is passed."""

    def __post_init__(self) -> None:
        numbers = [number for number in (self.at_most, self.at_least) if number is not None]
        if len(numbers) != 1 or math.isnan(numbers[0]):
            raise SettingsError(f"bound on {self.metric!r}: expected either at_most or at_least, and a number")
        if self.by and self.each:
            raise SettingsError(f"bound on {self.metric!r}: expected `by` for one slice or `each` for all, found both")
        if self.max_unmeasured is not None:
            check_share(f"bound on {self.metric!r}: max_unmeasured", self.max_unmeasured)

    def __str__(self) -> str:
        words = f"at most {self.at_most:g}" if self.at_most is not None else f"at least {self.at_least:g}"
        return words if self.looks_at == "point" else f"{LOOKS_AT_WORDS[self.looks_at]} {words}"

    def is_kept_by(self, value: float) -> bool:
        """Whether a value is on the right side; the bound itself is."""
        if self.at_most is not None:
            return value <= self.at_most + TOLERANCE
        return self.at_least is None or value >= self.at_least - TOLERANCE

    def examined(self, row: MetricSummary) -> float | None:
        """The number that counts; None when it was not measured."""
        return far_end(row, self.looks_at, is_upper=self.at_most is not None)

    def check(self, row: MetricSummary, *, claims: float, max_unmeasured: float | None) -> BoundCheck:
        """Hold one row of a summary to the bound; of so many claims, measured or not."""
        value = self.examined(row)
        missing = (row.undecided + row.failed) / claims if claims else 0.0
        allowed = self.max_unmeasured if self.max_unmeasured is not None else max_unmeasured
        reason = None
        if row.value is None:
            reason = f"not measured: {row.undefined or 'no reason was given'}"
        elif value is None:
            reason = f"it has no {LOOKS_AT_WORDS[self.looks_at]}"
        elif allowed is not None and missing > allowed + TOLERANCE:
            reason = f"{missing:.1%} of what it counts is undecided or failed; at most {allowed:.1%} may be"
        is_kept = value is not None and self.is_kept_by(value)
        # What was measured can break a bound; that it is kept needs all the rest.
        status: Literal["passed", "broken", "unmeasured"] = "passed" if is_kept else "broken"
        if value is None or (reason is not None and is_kept):
            status = "unmeasured"
        return BoundCheck(
            metric=self.metric,
            by=row.by,
            rule=str(self),
            value=value,
            point=row.value,
            interval=row.interval,
            unmeasured=missing,
            status=status,
            reason=reason,
        )


def far_end(row: MetricSummary, looks_at: LooksAt, *, is_upper: bool) -> float | None:
    """The value of a row, or the end of its interval or of its bounds on one side; None where there is none."""
    if looks_at == "point" or row.value is None:
        return row.value
    ends = row.interval if looks_at == "interval" else row.bounds
    return None if ends is None else ends[1 if is_upper else 0]
