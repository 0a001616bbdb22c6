"""An index that is open: pages of records in any order, single records, facets, and the document of the page."""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from pathlib import Path

import msgspec
from msgspec import Struct, UnsetType

from hallumeter.records.claim import Failure
from hallumeter.records.page import PageRow
from hallumeter.report.document import Document
from hallumeter.report.presentation import presentation_of
from hallumeter.report.sections import SentenceTrace
from hallumeter.run.run_folder import RecordPlace

from .build import DOCUMENT, FACETS
from .queries import Query, TraceQuery, conditions_of, does_meet, positions_with
from .rows import Shape

_ORDERS = {
    "given": "by_severity",
    "worst": "by_worst",
    "share": "by_share",
    "unmeasured": "by_unmeasured",
    "disagreement": "by_disagreement",
    "name": "by_name",
}
_READING_ORDERS = {
    "given": "by_severity",
    "worst": "block + loop + omission DESC, insertion DESC, position",
    "invented": "block + loop DESC, position",
    "omitted": "omission DESC, position",
    "cer": "cer IS NULL, cer DESC, position",
    "anchor": "anchor IS NULL, anchor, position",
    "name": "page_key, engine_key, position",
}
_REMEMBERED = 24
"""Answers that are kept, so that the next page of a list costs nothing."""
_PLACE = ", ".join(RecordPlace._fields)


class KeptRecord(Struct, frozen=True):
    """Where a record stands, and what the index knows of it beside its files."""

    position: int
    place: RecordPlace
    failures: tuple[Failure, ...]
    row: PageRow | None
    trace: SentenceTrace | None = None


class _Head(Struct, frozen=True):
    """A document of which only this is wanted."""

    instrument: str
    headline: str | None = None
    """The judge whose labels count."""


class Index:
    """An index, read by many threads one after the other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = sqlite3.connect(
            f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False, isolation_level=None
        )
        self._lock = threading.Lock()
        self._answers: OrderedDict[bytes, list[int]] = OrderedDict()
        self._database.execute("PRAGMA cache_size = -32768")
        decoder = msgspec.json.Decoder(Shape)
        rows = self._database.execute("SELECT shape, body FROM shape")
        self._shapes = {number: decoder.decode(body) for number, body in rows}
        self.total: int = self._database.execute("SELECT count(*) FROM record").fetchone()[0]
        head = msgspec.json.decode(self._kept(DOCUMENT), type=_Head)
        self.instrument, self.headline = head.instrument, head.headline
        self.has_pages = presentation_of(head.instrument).readings is not None

    def close(self) -> None:
        """Let the file go."""
        with self._lock:
            self._database.close()

    def document(self) -> Document:
        """The document of the page, without records."""
        with self._lock:
            return msgspec.json.decode(self._kept(DOCUMENT), type=Document)

    def _kept(self, name: str) -> bytes:
        return bytes(self._database.execute("SELECT body FROM kept WHERE name = ?", (name,)).fetchone()[0])

    def positions(self, query: Query, order: str) -> list[int]:
        """Positions of all records that a query means, in order.

        Raises:
            KeyError: There is no such order.
        """
        sql = (_READING_ORDERS if self.has_pages else _ORDERS)[order]
        key = msgspec.json.encode([query, order])
        with self._lock:
            known = self._answers.pop(key, None)
            found = self._asked(query, sql) if known is None else known
            self._answers[key] = found
            if len(self._answers) > _REMEMBERED:
                self._answers.popitem(last=False)
        return found

    def _asked(self, query: Query, order: str) -> list[int]:
        conditions = list(conditions_of(query, self._shapes, has_pages=self.has_pages))
        own = query.behind.search
        search = " ".join([query.search, own if isinstance(own, str) else ""])
        holding = positions_with(self._database, search)
        where = " AND ".join(f"({condition.sql})" for condition in conditions) or "1"
        table = "record JOIN reading USING (position)" if self.has_pages else "record"
        sql = f"SELECT position FROM {table} WHERE {where} ORDER BY {order}"  # noqa: S608 (our own pieces alone)
        values = [value for condition in conditions for value in condition.values]
        rows = self._database.execute(sql, values).fetchall()
        found = [position for (position,) in rows if holding is None or position in holding]
        traced = query.behind.trace
        return found if isinstance(traced, UnsetType) else self._meeting(found, traced)

    def _meeting(self, positions: list[int], query: TraceQuery) -> list[int]:
        """The sentences among these to which it happened."""
        decoder = msgspec.json.Decoder(SentenceTrace)
        rows = self._database.execute("SELECT position, body FROM trace")
        met = {position for position, body in rows if does_meet(decoder.decode(body), query)}
        return [position for position in positions if position in met]

    def record(self, position: int) -> KeptRecord | None:
        """Where a record stands; None when there is no such record."""
        with self._lock:
            place = self._database.execute(
                f"SELECT {_PLACE} FROM record WHERE position = ?",  # noqa: S608 (our own columns)
                (position,),
            ).fetchone()
            if place is None:
                return None
            failures = self._database.execute("SELECT body FROM failure WHERE position = ?", (position,)).fetchall()
            row = self._database.execute("SELECT body FROM reading WHERE position = ?", (position,)).fetchone()
            trace = self._database.execute("SELECT body FROM trace WHERE position = ?", (position,)).fetchone()
        return KeptRecord(
            position,
            RecordPlace(*place),
            tuple(msgspec.json.decode(body, type=Failure) for (body,) in failures),
            msgspec.json.decode(row[0], type=PageRow) if row and row[0] else None,
            msgspec.json.decode(trace[0], type=SentenceTrace) if trace else None,
        )

    def position_of(self, record_id: str) -> int | None:
        """The position of a record by its name; None when there is no such record."""
        with self._lock:
            sql = "SELECT min(position) FROM record WHERE record_id = ?"
            found: int | None = self._database.execute(sql, (record_id,)).fetchone()[0]
        return found

    def judged(self, record_id: str, claim_id: str) -> tuple[str, Shape] | None:
        """The fingerprint and the shape of a finding; None when there is no such finding."""
        sql = """
        SELECT fingerprint, shape FROM finding
        WHERE claim_id = ? AND position = (SELECT min(position) FROM record WHERE record_id = ?)
        """
        with self._lock:
            row = self._database.execute(sql, (claim_id, record_id)).fetchone()
        return None if row is None else (row[0], self._shapes[row[1]])

    def judges(self) -> list[str]:
        """Everybody who gave a verdict."""
        return sorted({judge for shape in self._shapes.values() for judge, _, _ in shape.votes})

    def readings(self) -> dict[tuple[str, str], int]:
        """Positions of readings by page and engine."""
        with self._lock:
            rows = self._database.execute("SELECT page, engine, position FROM reading").fetchall()
        return {(page, engine): position for page, engine, position in rows}

    def facets(self) -> bytes:
        """What a reader can choose from, with the number of records that hold it, as JSON."""
        with self._lock:
            return self._kept(FACETS)
