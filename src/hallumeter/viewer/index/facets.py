"""What a reader of a run can choose from, and how many records hold each of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.report.transcripts.payload import KINDS

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
    asked = {**OF_READINGS, "badge": "badge = 1", "aligned": "claims > 0"}
    columns = ", ".join(f"coalesce(sum({sql}), 0)" for sql in asked.values())
    row = database.execute(f"SELECT {columns} FROM reading JOIN record USING (position)").fetchone()  # noqa: S608
    holding = dict(zip(asked, row, strict=True))
    return {
        "kinds": [holding[kind] for kind in KINDS],
        **{name: holding[name] for name in ("badge", "misread", "nothing", "aligned")},
        "engines": _sorted(database.execute("SELECT engine, count(*) FROM reading GROUP BY engine")),
        "pages": _sorted(database.execute("SELECT page, count(*) FROM reading GROUP BY page")),
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
