"""Why a claim is called unsupported, and which part of it is."""

from __future__ import annotations

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.judges.rules.findings import Finding, is_doubt, is_mismatch
from hallumeter.records import Quote

from .encoder import ReadClaim
from .features import Measured
from .spans import best_stretch
from .tokens import tokens_of

CONFLICT, BASELESS = "conflict", "baseless"
"""When no rule can say more: the evidence says otherwise, or it says nothing of the kind."""
FIELD_MISMATCHES = ("hours_mismatch", "field_mismatch")


class Reason(Struct, frozen=True):
    """Why, where in the claim, and against which part of the evidence."""

    code: str
    is_conflict: bool
    start: int
    end: int
    note: str | None = None
    quotes: tuple[Quote, ...] = ()


def fast_reason(measured: Measured) -> Reason:
    """By what the rules found; else by the longest part without a word of the evidence; else the whole claim."""
    found = _telling(measured.findings, None)
    if found is not None:
        return _by_rule(found)
    start, end = measured.overlap.run or (0, len(measured.statement.text))
    return Reason(BASELESS, is_conflict=False, start=start, end=end, note=_nothing_like(measured, start, end))


def full_reason(measured: Measured, read: ReadClaim, *, stretch: float) -> Reason:
    """By what the network says of the tokens, joined with what the rules found there."""
    place = _stretch(measured.statement.text, _probabilities(read.unsupported) - stretch)
    denied = [finding for finding in measured.findings if denies(finding)]
    found = _telling(denied or measured.findings, place) or next(iter(denied), None)
    if found is not None:
        reason = _by_rule(found)
        if place is not None and _touch(found, place):
            return structs.replace(reason, start=place[0], end=place[1])
        return reason
    start, end = place or (0, len(measured.statement.text))
    is_conflict = _is_conflict(measured.statement.text, read, (start, end))
    note = None if is_conflict else _nothing_like(measured, start, end)
    return Reason(CONFLICT if is_conflict else BASELESS, is_conflict, start, end, note)


def denies(finding: Finding) -> bool:
    """Whether the evidence says otherwise, by a rule or by a field of a record."""
    return is_mismatch(finding) or finding.reason in FIELD_MISMATCHES


def _by_rule(found: Finding) -> Reason:
    return Reason(found.reason, denies(found), found.start, found.end, found.note, found.quotes)


def _telling(findings: list[Finding], place: tuple[int, int] | None) -> Finding | None:
    """The finding that says most, in this place if one is given: what the evidence denies before what it lacks."""
    near = [finding for finding in findings if not is_doubt(finding) and (place is None or _touch(finding, place))]
    denied = [finding for finding in near if denies(finding)]
    return next(iter(denied or near), None)


def _touch(finding: Finding, place: tuple[int, int]) -> bool:
    return finding.start < place[1] and place[0] < finding.end


def _stretch(text: str, weights: NDArray[np.float32]) -> tuple[int, int] | None:
    """The characters of the tokens that are most surely unsupported, without space at their ends."""
    found = best_stretch(weights)
    if found is None:
        return None
    spans = tokens_of(text).spans
    return spans[found[0]][0], spans[found[1] - 1][1]


def _is_conflict(text: str, read: ReadClaim, place: tuple[int, int]) -> bool:
    inside = [start < place[1] and place[0] < end for start, end in tokens_of(text).spans]
    return bool(read.conflict[np.asarray(inside)].mean() > 0.0)


def _probabilities(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(1.0 / (1.0 + np.exp(-logits)), np.float32)


def _nothing_like(measured: Measured, start: int, end: int) -> str:
    return f"evidence has nothing like “{measured.statement.text[start:end].strip()}”"
