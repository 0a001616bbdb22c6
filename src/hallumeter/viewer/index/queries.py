"""What may be asked of the records of a run."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from hallumeter.report.aspects.querying import TraceQuery

LABELS = ("REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED", "NONE", "SUPPORTED")
SETS: dict[str, frozenset[str]] = {
    **{name: frozenset({name}) for name in LABELS},
    "unsupported": frozenset({"REFUTED", "NOT_ENOUGH_INFO"}),
    "decided": frozenset({"REFUTED", "NOT_ENOUGH_INFO", "SUPPORTED"}),
    "unmeasured": frozenset({"UNDECIDED", "NONE"}),
}
"""A label, or a set of labels under one name."""
LabelSet = Literal[
    "REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED", "NONE", "SUPPORTED", "unsupported", "decided", "unmeasured"
]
Range = tuple[float, float | None]
"""From, and up to but not including; None has no end."""


class Behind(Struct, frozen=True, forbid_unknown_fields=True):
    """The records behind a number: one same finding must meet the first lines, its record the others."""

    label: LabelSet | UnsetType | None = UNSET
    """None is the same as NONE: no verdict."""
    votes: dict[str, LabelSet | None] | UnsetType = UNSET
    reason: str | UnsetType | None = UNSET
    kind: str | UnsetType = UNSET
    tenth: int | UnsetType = UNSET
    probability: Range | UnsetType = UNSET
    judge: str | UnsetType = UNSET
    """Whose probability is meant."""
    model: str | UnsetType | None = UNSET
    fields: dict[str, str | None] | UnsetType = UNSET
    """None for records without the field."""
    failure: str | bool | UnsetType = UNSET
    length: Range | UnsetType = UNSET
    without_claims: bool | UnsetType = UNSET
    search: str | UnsetType = UNSET
    engine: str | UnsetType | None = UNSET
    page: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    badge: bool | UnsetType | None = UNSET
    trace: TraceQuery | UnsetType = UNSET
    """What must have happened to a sentence among its agents."""


class Query(Struct, frozen=True, forbid_unknown_fields=True):
    """What a reader asks for: everything that is given must be met."""

    search: str = ""
    label: LabelSet | UnsetType | None = UNSET
    model: str | UnsetType | None = UNSET
    kind: str | UnsetType = UNSET
    """Of pages: a kind of stretch, or ``nothing``, ``misread``, ``badge``."""
    engine: str | UnsetType = UNSET
    page: str | UnsetType = UNSET
    behind: Behind = Behind()


def labels_in(wanted: LabelSet | None) -> frozenset[str]:
    """The labels that a name stands for."""
    return SETS["NONE" if wanted is None else wanted]
