"""Queries as conditions of SQL; every value of a reader is a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType, structs

from .queries import Behind, LabelSet, Query, Range, labels_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .rows import Shape

Value = str | float | None
OF_READINGS = {
    "nothing": "is_aligned AND block + loop + omission + insertion = 0",
    "misread": "is_misread",
    **{kind: f"{kind} > 0" for kind in ("block", "loop", "omission", "insertion", "run")},
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
