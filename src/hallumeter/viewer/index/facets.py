"""What a reader of a run can choose from, and how many records hold each of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .conditions import OF_READINGS
from .queries import LABELS
from .texts import name_key

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping

    from hallumeter.report.drawing import Json

    from .rows import Shape

FEW = 12
"""Values of a field by which a reader can still choose."""
FIELDS = 4
KINDS = ("block", "loop", "omission", "insertion", "run")


def record_facets(database: sqlite3.Connection, shapes: Mapping[int, Shape]) -> dict[str, Json]:
    """Labels, models, reasons, kinds and fields."""
    columns = ", ".join(f"sum({'no_verdict' if label == 'NONE' else label.lower()} > 0)" for label in LABELS)
    labels = database.execute(f"SELECT {columns} FROM record").fetchone()  # noqa: S608 (our columns)
    reasons: dict[str, set[int]] = {}
    kinds: dict[str, set[int]] = {}
    for number, shape in shapes.items():
        kinds.setdefault(shape.kind, set()).add(number)
        for _, _, reason in shape.votes:
            if reason is not None:
                reasons.setdefault(reason, set()).add(number)
    return {
        "labels": [count or 0 for count in labels],
        "models": _sorted(database.execute("SELECT model, count(*) FROM record GROUP BY model")),
        "reasons": _sorted((reason, _records(database, numbers)) for reason, numbers in reasons.items()),
        "kinds": _sorted((kind, _records(database, numbers)) for kind, numbers in kinds.items()),
        "fields": _fields(database),
    }


def reading_facets(database: sqlite3.Connection) -> dict[str, Json]:
    """Kinds of stretches, engines and pages."""
    columns = [f"sum({kind} > 0)" for kind in KINDS[:-1]] + [f"sum({sql})" for sql in OF_READINGS.values()]
    row = database.execute(f"SELECT {', '.join(columns)} FROM reading").fetchone()  # noqa: S608 (our columns)
    held = [count or 0 for count in row]
    holding: dict[str, Json] = dict(zip((*KINDS[:-1], *OF_READINGS), held, strict=True))
    return {
        "kinds": [*held[: len(KINDS) - 1], 0],
        "holding": holding,
        "engines": _sorted(database.execute("SELECT engine, count(*) FROM reading GROUP BY engine")),
        "pages": _sorted(database.execute("SELECT page, count(*) FROM reading GROUP BY page")),
        "statuses": _sorted(database.execute("SELECT status, count(*) FROM reading GROUP BY status")),
    }


def _records(database: sqlite3.Connection, shapes: Iterable[int]) -> int:
    """How many records have a finding of one of these shapes."""
    numbers = ", ".join(map(str, shapes))
    sql = f"SELECT count(DISTINCT position) FROM finding WHERE shape IN ({numbers})"  # noqa: S608 (numbers alone)
    return int(database.execute(sql).fetchone()[0])


def _fields(database: sqlite3.Connection) -> dict[str, Json]:
    few = "SELECT name FROM field GROUP BY name HAVING count(DISTINCT value) BETWEEN 2 AND ? ORDER BY name"
    names = database.execute(few, (FEW,)).fetchall()
    values = "SELECT value, count(*) FROM field WHERE name = ? GROUP BY value"
    return {name: _sorted(database.execute(values, (name,))) for (name,) in names[:FIELDS]}


def _sorted(rows: Iterable[tuple[str | None, int]]) -> list[Json]:
    """Values with their counts, by name; what has none comes last."""
    ordered = sorted(rows, key=lambda row: (row[0] is None, name_key(row[0] or "")))
    return [[value, count] for value, count in ordered]
