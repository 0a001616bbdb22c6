"""What may be asked of the records of a run, such as which sentences are behind a number."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import UNSET, Struct, UnsetType, structs

from hallumeter.records.summaries import STATUSES
from hallumeter.report.sections import OFF_TARGET, SentenceTrace, TracedError

from .rows import Shape, plain, storable

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


# Find records by words anywhere in them, also parts of words, in any script.

_GRAM = 3
"""The words of the index are all pieces of three characters."""
_TERMS_AT_ONCE = 500
_FOUND = """
SELECT rowid FROM own_words WHERE own_words MATCH ?1
UNION SELECT position FROM passage WHERE passage IN (SELECT rowid FROM passage_words WHERE passage_words MATCH ?1)
"""


def positions_with(database: sqlite3.Connection, search: str) -> set[int] | None:
    """Positions of the records that hold every word of a search; None when it asks for nothing."""
    found: set[int] | None = None
    for word in dict.fromkeys(plain(search).split()):
        own = _positions(database, word)
        found = own if found is None else found & own
        if not found:
            break
    return found


def _positions(database: sqlite3.Connection, word: str) -> set[int]:
    found: set[int] = set()
    for query in _queries(database, word):
        found.update(position for (position,) in database.execute(_FOUND, (query,)))
    return found


def _queries(database: sqlite3.Connection, word: str) -> Iterator[str]:
    """What to ask of the index; a word shorter than its pieces is asked for by all pieces that begin with it."""
    if len(word) >= _GRAM:
        yield _quoted(word)
        return
    last = word[:-1] + chr(min(ord(word[-1]) + 1, 0x10FFFF))
    rows = database.execute("SELECT term FROM term WHERE term >= ? AND term < ?", (word, last)).fetchall()
    terms = [term for (term,) in rows]
    for start in range(0, len(terms), _TERMS_AT_ONCE):
        yield " OR ".join(map(_quoted, terms[start : start + _TERMS_AT_ONCE]))


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


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
    claim: str | UnsetType = UNSET
    """The id of the finding itself."""
    record: str | UnsetType = UNSET
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


# Queries as conditions of SQL; every value of a reader is a parameter.

Value = str | float | None
OF_READINGS = {
    "nothing": "is_aligned AND block + loop + omission + insertion = 0",
    "misread": "is_misread",
    **{kind: f"{kind} > 0" for kind in ("block", "loop", "omission", "insertion", "remark", "run")},
}
"""What a reading may hold: kinds of stretches, and what is told of the whole."""


class Condition(Struct, frozen=True):
    """A piece of SQL that is true or false of a record, with the values in it."""

    sql: str
    values: tuple[Value, ...] = ()


def conditions_of(query: Query, shapes: Mapping[int, Shape], *, has_pages: bool) -> Iterator[Condition]:
    """What a record must meet, but for the words that are searched."""
    chosen = Behind(label=query.label, model=query.model, kind=query.kind, engine=query.engine, page=query.page)
    for asked in (chosen, query.behind):
        yield from _on_record(asked)
        if not has_pages:
            yield from _on_finding(asked, shapes)
            continue
        yield from _on_reading(asked)
        yield from _on_finding(structs.replace(asked, kind=UNSET), shapes)


def _on_record(behind: Behind) -> Iterator[Condition]:
    for wanted in (behind.model, behind.engine):
        if not isinstance(wanted, UnsetType):
            yield Condition("model IS ?", (wanted,))
    if not isinstance(behind.record, UnsetType):
        yield Condition("record_id = ?", (storable(behind.record),))
    for name, text in ({} if isinstance(behind.fields, UnsetType) else behind.fields).items():
        yield _on_field(name, text)
    if not isinstance(behind.failure, UnsetType):
        yield _on_failure(behind.failure)
    if not isinstance(behind.length, UnsetType):
        yield _within("characters", behind.length)
    if not isinstance(behind.without_claims, UnsetType):
        yield Condition("(claims = 0) = ?", (behind.without_claims,))


def _on_field(name: str, text: str | None) -> Condition:
    if text is None:
        return Condition("position NOT IN (SELECT position FROM field WHERE name = ?)", (name,))
    return Condition("position IN (SELECT position FROM field WHERE name = ? AND value = ?)", (name, text))


def _on_failure(wanted: str | bool) -> Condition:
    if isinstance(wanted, bool):
        sql = f"position {'' if wanted else 'NOT '}IN (SELECT position FROM failure)"  # noqa: S608 (no value in it)
        return Condition(sql)
    return Condition("position IN (SELECT position FROM failure WHERE code = ?)", (wanted,))


def _within(column: str, wanted: Range) -> Condition:
    start, end = wanted
    if end is None:
        return Condition(f"{column} >= ?", (start,))
    return Condition(f"{column} >= ? AND {column} < ?", (start, end))


def _on_reading(behind: Behind) -> Iterator[Condition]:
    parts: list[Condition] = []
    if not isinstance(behind.kind, UnsetType):
        parts.append(Condition(OF_READINGS.get(behind.kind, "0")))
    for column, wanted in (("page", behind.page), ("status", behind.status)):
        if not isinstance(wanted, UnsetType):
            parts.append(Condition(f"{column} IS ?", (wanted,)))
    if not isinstance(behind.badge, UnsetType):
        parts.append(Condition("body IS NOT NULL AND badge IS ?", (behind.badge,)))
    if not parts:
        return
    joined = " AND ".join(f"({part.sql})" for part in parts)
    values = tuple(value for part in parts for value in part.values)
    yield Condition(f"position IN (SELECT position FROM reading WHERE {joined})", values)  # noqa: S608 (our columns)


def _on_finding(behind: Behind, shapes: Mapping[int, Shape]) -> Iterator[Condition]:
    """One same finding that meets everything: its shape is looked up here, its place and probability in SQL."""
    parts: list[Condition] = []
    if any(not isinstance(asked, UnsetType) for asked in (behind.label, behind.votes, behind.reason, behind.kind)):
        # Numbers of our own, few in practice: a list in the text is looked up faster than a table.
        fitting = ", ".join(str(number) for number, shape in shapes.items() if _fits(shape, behind))
        parts.append(Condition(f"shape IN ({fitting})"))
    if not isinstance(behind.tenth, UnsetType):
        parts.append(Condition("tenth = ?", (behind.tenth,)))
    if not isinstance(behind.claim, UnsetType):
        parts.append(Condition("claim_id = ?", (storable(behind.claim),)))
    if not isinstance(behind.probability, UnsetType):
        within = _within("value", behind.probability)
        own = Condition("1") if isinstance(behind.judge, UnsetType) else Condition("judge = ?", (behind.judge,))
        sql = f"finding IN (SELECT finding FROM probability WHERE {within.sql} AND {own.sql})"  # noqa: S608
        parts.append(Condition(sql, within.values + own.values))
    if not parts:
        return
    joined = " AND ".join(part.sql for part in parts)
    values = tuple(value for part in parts for value in part.values)
    yield Condition(f"position IN (SELECT position FROM finding WHERE {joined})", values)  # noqa: S608 (our columns)


def _fits(shape: Shape, behind: Behind) -> bool:
    if behind.label is not UNSET and shape.label not in labels_in(behind.label):
        return False
    if behind.kind is not UNSET and shape.kind != behind.kind:
        return False
    if behind.reason is not UNSET and all(reason != behind.reason for _, _, reason in shape.votes):
        return False
    votes = {} if isinstance(behind.votes, UnsetType) else behind.votes
    return all(_votes_as(shape, judge, wanted) for judge, wanted in votes.items())


def _votes_as(shape: Shape, judge: str, wanted: LabelSet | None) -> bool:
    """Whether a judge gave one of the labels; a judge who said nothing counts as no verdict."""
    own = {label for name, label, _ in shape.votes if name == judge} or {"NONE"}
    return bool(own & labels_in(wanted))
