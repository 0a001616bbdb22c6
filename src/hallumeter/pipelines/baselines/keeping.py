"""The result beside the run, so that a report can show it without asking a judge again."""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING

import msgspec

from hallumeter.records.decisions.baselines import BASELINES_VERSION, NullBaselines
from hallumeter.store import BASELINES, VERDICTS, write_json

if TYPE_CHECKING:
    from pathlib import Path


def fingerprint_of(run: Path) -> str:
    """Of the verdicts of a run: short, and another when any of them is another."""
    with (run / VERDICTS).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:16]


def keep_baselines(run: Path, found: NullBaselines) -> Path:
    """Write the result into the run folder, in place of an earlier one; returns where it stands."""
    place = run / BASELINES
    draft = place.with_suffix(".json.new")
    write_json(draft, found)
    draft.replace(place)
    return place


def kept_baselines(run: Path) -> NullBaselines | None:
    """What was kept for the verdicts that the run has now; None where nothing was, or it cannot be read."""
    with contextlib.suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
        found = msgspec.json.decode((run / BASELINES).read_bytes(), type=NullBaselines)
        if found.version == BASELINES_VERSION and found.fingerprint == fingerprint_of(run):
            return found
    return None
