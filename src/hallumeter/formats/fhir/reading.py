"""Files to patients: bundles one by one, everything else joined at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .entries import Bundle, Trouble, read_file
from .joining import Gathering, PatientRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from .entries import Entry

    Check = Callable[[Entry], str | None]


def read_patients(
    files: Iterable[Path], root: Path, *, check: Check | None = None, when_read: Callable[[], None] = lambda: None
) -> Iterator[PatientRecord | Trouble]:
    """Every patient of some files, in their order, and everything that was wrong or odd.

    A bundle is taken to be complete. Pages of a search, NDJSON and single resources are joined by their references,
    and their patients come last. A patient whose id was there before is left out.

    Args:
        files: JSON or NDJSON, perhaps compressed by gzip.
        root: The folder that messages name the files from.
        check: Says what is wrong with a resource, which is then left out.
        when_read: Called after each file.
    """
    joined = Gathering(root.name or str(root))
    known: dict[str, str] = {}
    for file in files:
        name = file.name if file == root else str(file.relative_to(root))
        for found in read_file(file, name):
            if isinstance(found, Trouble):
                yield found
                continue
            is_whole = isinstance(found, Bundle) and found.is_whole
            gathering = Gathering(found.place) if is_whole else joined
            _fill(gathering, found, check)
            if is_whole:
                yield from _new(gathering, known)
        when_read()
    if joined.is_filled:
        yield from _new(joined, known)


def _fill(gathering: Gathering, found: Bundle | Entry, check: Check | None) -> None:
    if isinstance(found, Bundle):
        gathering.version = gathering.version or found.version
    for entry in found.entries if isinstance(found, Bundle) else [found]:
        message = check(entry) if check is not None else None
        if message is not None:
            gathering.troubles.append(Trouble(entry.place, "invalid", message))
        else:
            gathering.add(entry)


def _new(gathering: Gathering, known: dict[str, str]) -> Iterator[PatientRecord | Trouble]:
    """The patients that were not there before."""
    for found in gathering.records():
        if isinstance(found, Trouble):
            yield found
        elif found.patient_id in known:
            message = f"patient {found.patient_id} was read from {known[found.patient_id]} already; left out"
            yield Trouble(found.source, "duplicate_patient", message)
        else:
            known[found.patient_id] = found.source
            yield found
