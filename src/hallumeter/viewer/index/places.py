"""Where the index of a run is kept, and when it is no longer true."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from functools import cache
from importlib import resources
from importlib.metadata import version
from pathlib import Path

import msgspec

from hallumeter.instruments import own_files
from hallumeter.records.manifest import PLAN
from hallumeter.report.document import Document
from hallumeter.run.run_folder import (
    CLAIMS,
    FAILURES,
    MANIFEST,
    RECORDS,
    SUMMARY,
    VERDICTS,
)
from hallumeter.run.verdict_cache import VIEWS, cache_folder

KEPT = 40
"""Indexes that are kept; the one that was made longest ago goes first."""
READ = (MANIFEST, SUMMARY, RECORDS, CLAIMS, VERDICTS, FAILURES, PLAN)
"""The files of a run that a page is made from, beside those that instruments add."""


def index_path(run: Path) -> Path:
    """Where the index of a run is; another as soon as a file of the run has changed."""
    stamps = [_form()]
    for name in (*READ, *sorted(own_files())):
        with suppress(OSError):
            found = (run / name).stat()
            stamps.append(f"{name} {found.st_size} {found.st_mtime_ns}")
    return cache_folder() / VIEWS / f"{_prefix(run)}{_digest(chr(10).join(stamps))}.sqlite"


def forget_older(run: Path, but: Path) -> None:
    """Remove indexes of the same run as it was before, and those that were made longest ago."""
    folder = but.parent
    own = [path for path in folder.glob(f"{_prefix(run)}*.sqlite") if path != but]
    others = sorted((path for path in folder.glob("*.sqlite") if path not in own), key=_age)
    for path in own + others[:-KEPT]:
        with suppress(OSError):
            path.unlink()


@cache
def _form() -> str:
    """What an index is made by and holds: another program, table or document makes all of them anew."""
    tables = [
        (resources.files(__package__) / name).read_text(encoding="utf-8") for name in ("schema.sql", "indexing.sql")
    ]
    document = msgspec.json.encode(msgspec.json.schema(Document)).decode()
    return _digest("\n".join([version("hallumeter"), *tables, document]))


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _prefix(run: Path) -> str:
    return f"{_digest(os.path.realpath(run))}-"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:20]
