"""A run held to the bounds of a policy."""

from typing import Literal

from msgspec import Struct

GATE_VERSION = 1
"""Of the form of a gate's result."""


class Place(Struct, frozen=True):
    """Where a record or a claim stands in a file."""

    file: str
    line: int | None = None
    """From 1; None when it is not known."""


class OffendingClaim(Struct, frozen=True):
    """A claim that the evidence does not support."""

    record_id: str
    claim_id: str
    text: str
    label: str
    reason: str | None = None
    note: str | None = None
    place: Place | None = None


class OffendingRecord(Struct, frozen=True):
    """A record that a metric counts against the run."""

    record_id: str
    count: float
    """What the metric counts in it, of so much."""
    total: float
    place: Place | None = None


class BoundCheck(Struct, frozen=True):
    """One bound on one row of a summary."""

    metric: str
    by: dict[str, str]
    rule: str
    """The bound in words."""
    value: float | None
    """The number that was looked at."""
    point: float | None
    interval: tuple[float, float] | None
    unmeasured: float
    """Share of the claims that are undecided or failed."""
    status: Literal["passed", "broken", "unmeasured"]
    reason: str | None = None
    """Why it is unmeasured, or what to know of it all the same."""
    offenders: tuple[OffendingRecord, ...] = ()
    """The worst records, if the bound is broken."""
    offenders_total: int = 0


class GateResult(Struct, frozen=True):
    """Every bound of a policy on one run."""

    version: int
    run: str
    policy: str
    outcome: Literal["passed", "broken", "unmeasured"]
    checks: tuple[BoundCheck, ...]
    claims: tuple[OffendingClaim, ...] = ()
    """Claims that the evidence does not support, the first of them."""
    claims_total: int = 0
    notices: tuple[str, ...] = ()
