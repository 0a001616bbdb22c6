"""Which sentences are behind a number that counts errors, rules or overrides; a page's own script asks the same."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from hallumeter.records.summaries import STATUSES

from .sections import OFF_TARGET, SentenceTrace, TracedError

_GROUPS = {"ungrounded": ("out_of_text", "misplaced")}


_REMOVABLE = ("out_of_text", "misplaced", "spurious")
"""Errors that are repaired when their aspect is dropped."""


class TraceQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """What must have happened to a sentence."""

    did: str | None = None
    """``made`` (wrong after the step), ``introduced``, ``broken``, ``repaired``, ``lost``, ``flagged``, ``ignored``, or
    ``stands`` (at the end, made by the step)."""
    step: str | None = None
    error: str | None = None
    """The kind of error; None for any."""
    rule: str | None = None
    """A rule of the moderator that was applied."""
    override: str | None = None
    """What became of an override: ``applied``, or why it was skipped."""


def does_meet(trace: SentenceTrace | None, query: TraceQuery) -> bool:
    """Whether it happened; of a sentence whose way is not known nothing did."""
    if trace is None:
        return False
    if query.rule is not None:
        return trace.moderator is not None and query.rule in trace.moderator.rules
    if query.override is not None:
        return any(
            query.override == "applied" if remark.outcome == "applied" else remark.reason == query.override
            for step in trace.steps
            if step.by == "debate_override"
            for remark in step.remarks
        )
    errors = [error for error in trace.errors or () if error.error != OFF_TARGET]
    if query.error is not None:
        kinds = _GROUPS.get(query.error, (query.error,))
        errors = [error for error in errors if error.error in kinds]
    return any(_did(error, query) for error in errors)


def _did(error: TracedError, query: TraceQuery) -> bool:
    does_stand = bool(error.changes) and error.changes[-1][1] == "wrong"
    if query.did == "flagged":
        return query.step in error.flagged_by
    if query.did == "ignored":
        return does_stand and any(by == query.step for by, _ in error.ignored_by)
    if query.did == "stands":
        return does_stand and error.changes[-1][0] == query.step
    return query.did in {deed for step, deed in _deeds(error) if step == query.step}


def _deeds(error: TracedError) -> Iterator[tuple[str, str]]:
    """What steps did to an error; who breaks or introduces one makes it."""
    was = STATUSES[0]
    for step, became in error.changes:
        if became == "wrong":
            yield step, "made"
            yield step, "broken" if was == "right" else "introduced"
        elif was == "wrong":
            is_repaired = became == "right" or error.error in _REMOVABLE
            yield step, "repaired" if is_repaired else "lost"
        was = became
