"""What people said of verdicts: right or wrong, kept beside the run that the verdicts belong to.

Nothing is ever changed or removed: a label that is taken back, or given anew, is one more row, and the latest of each
annotator counts.
"""

from __future__ import annotations

import getpass
import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct, convert, structs

from hallumeter.errors import InputError
from hallumeter.formats.delimited import csv_text
from hallumeter.records.claim import Claim

from .database import is_made, migrate, schema_named

LABELS = "labels.sqlite"
"""The file in the run folder."""
_LOCK_SECONDS = 5.0
_LATEST = """
SELECT * FROM label
WHERE number IN (SELECT max(number) FROM label GROUP BY record_id, claim_id, annotator) ORDER BY number
"""
_ALL = "SELECT * FROM label ORDER BY number"


class HumanLabel(Struct, frozen=True):
    """What one person said of one verdict."""

    record_id: str
    claim_id: str
    judge: str | None
    """Whose verdict it was; None when several judges settled it."""
    judged: str | None
    """The label that was shown; None where there was no verdict."""
    is_right: bool | None
    """None takes back what was said before."""
    annotator: str
    noted: str
    """When, as ISO 8601 in UTC."""
    fingerprint: str
    """Of the claim as it was shown, see `claim_fingerprint`."""
    label: str | None = None
    """What the claim is, in the annotator's eyes; None where only right or wrong was said."""


def claim_fingerprint(claim: Claim, response: str | None) -> str:
    """Short, and another when the claim says something else: a run that is made again may use its names anew.

    >>> from hallumeter.records.claim import Claim
    >>> claim = Claim("r1", "c1", start=0, end=3)
    >>> claim_fingerprint(claim, "Yes.") == claim_fingerprint(claim, "Not.")
    False
    """
    words = claim.text
    if words is None and claim.start is not None:
        words = (response or "")[claim.start : claim.end]
    text = f"{claim.kind}\n{words or ''}"
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]


def login_name() -> str:
    """Who sits here, for labels without a name; a container may know nobody."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


class LabelStore:
    """The labels of a run folder; the file is made with the first label."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LABELS

    def add(self, label: HumanLabel) -> None:
        """Keep a label; it is on disk when this returns.

        Raises:
            InputError: The folder cannot be written, or the file is not one of labels.
        """
        with self._opened(mode="rwc") as database:
            migrate(database, self.path, schema=schema_named("labels"))
            database.execute("INSERT INTO label VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)", structs.astuple(label))

    def latest(self) -> list[HumanLabel]:
        """What counts: the last word of each annotator on each claim; what was taken back is left out.

        Whether a claim is still the one that was shown is for the caller to ask: compare the fingerprints.
        """
        return [label for label in self._read(_LATEST) if label.is_right is not None]

    def history(self) -> list[HumanLabel]:
        """Everything that was ever said, in order."""
        return self._read(_ALL)

    def _read(self, query: str) -> list[HumanLabel]:
        if not self.path.exists():
            return []
        with self._opened(mode="ro") as database:
            if not is_made(database):  # whoever gives the first label has the file open and is making its tables
                return []
            found = database.execute(query)
            # By name: a file that was only ever read may lack the newest columns.
            names = [column[0] for column in found.description]
            rows = found.fetchall()
        return [convert(dict(zip(names, row, strict=True)), HumanLabel, strict=False) for row in rows]

    @contextmanager
    def _opened(self, mode: str) -> Iterator[sqlite3.Connection]:
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        try:
            with closing(sqlite3.connect(address, uri=True, timeout=_LOCK_SECONDS, isolation_level=None)) as database:
                yield database
        except sqlite3.DatabaseError as error:
            raise InputError(f"{self.path}: labels cannot be kept or read here ({error})") from error


def is_attached(label: HumanLabel, fingerprint: str | None, judged: str | None) -> bool:
    """Whether a label still speaks of what the run holds: the same claim, with the same label given to it."""
    return label.fingerprint == fingerprint and label.judged == judged


def labels_csv(labels: Iterable[tuple[HumanLabel, bool]], *, is_raw: bool = False) -> str:
    """Labels as a table, a line for each, and whether the run still holds what each of them speaks of."""
    rows = ([*structs.astuple(label), is_still_there] for label, is_still_there in labels)
    return csv_text([[*HumanLabel.__struct_fields__, "is_attached"], *rows], is_raw=is_raw)
