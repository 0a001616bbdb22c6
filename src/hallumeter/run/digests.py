"""What the files of a run were when it was written, so that a truncated or edited run is not taken for a whole one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, structs

from hallumeter.errors import InputError
from hallumeter.instruments import instrument_of
from hallumeter.records.manifest import Manifest, RunFile

from .run_folder import MANIFEST, REPORT, write_json

_BLOCK = 1 << 18
_DIGEST_BYTES = 32
_READ_BACK = (".jsonl", ".json")
"""Endings of the files that commands read; other tables are for people, unless the instrument reads them."""
UNLISTED = "{folder}: made by hallumeter {version}, which kept no digests of files; they are read unverified"


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of a folder that has everything else but the report, with a digest of every file."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and path.name not in (MANIFEST, REPORT)]
    write_json(folder / MANIFEST, structs.replace(manifest, files=tuple(map(run_file, files))))


def run_file(path: Path) -> RunFile:
    """A file as it is now."""
    digest, size, lines = hashlib.blake2b(digest_size=_DIGEST_BYTES), 0, 0
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
            size += len(block)
            lines += block.count(b"\n")
    return RunFile(path.name, size, lines, digest.hexdigest())


class ChangedFile(Struct, frozen=True):
    """A file of a run that is not as it was written."""

    name: str
    change: str
    """What happened to it, in a few words."""
    is_read: bool
    """Whether commands read it; the others are tables for people."""


def changed_files(folder: Path, manifest: Manifest, *, by_size: bool = False) -> Iterator[ChangedFile]:
    """The files that are not as the manifest says; `by_size` opens none, and misses edits that keep the size."""
    tables = instrument_of(manifest.instrument).tables
    for listed in manifest.files:
        change = _change(folder / listed.name, listed, by_size=by_size)
        if change is not None:
            yield ChangedFile(listed.name, change, listed.name.endswith(_READ_BACK) or listed.name in tables)


def _change(path: Path, listed: RunFile, *, by_size: bool) -> str | None:
    try:
        if by_size:
            size = path.stat().st_size
            return None if size == listed.bytes else f"{size:,} bytes instead of {listed.bytes:,}"
        # Most files are as they were: lines are counted only where one is not.
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=_DIGEST_BYTES)).hexdigest()
        if digest == listed.blake2b:
            return None
        found = run_file(path)
    except OSError as error:
        return error.strerror or str(error)
    if found.lines != listed.lines:
        return f"{found.lines:,} lines instead of {listed.lines:,}"
    return "other content" if found.bytes == listed.bytes else f"{found.bytes:,} bytes instead of {listed.bytes:,}"


def check_files(folder: Path, manifest: Manifest, *, by_size: bool = False) -> tuple[str, ...]:
    """Notices about files that were changed but are not read, and about runs that list none.

    Raises:
        InputError: A file that is read was changed since the run was written.
    """
    if not manifest.files:
        return (UNLISTED.format(folder=folder, version=manifest.hallumeter),)
    changed = list(changed_files(folder, manifest, by_size=by_size))
    needed = [each for each in changed if each.is_read]
    if needed:
        more = f" (and {len(changed) - 1:,} more)" if len(changed) > 1 else ""
        raise InputError(
            f"{folder / needed[0].name}: changed since the run was written ({needed[0].change}){more}; "
            "restore it or make the run again"
        )
    return tuple(
        f"{folder / each.name}: changed since the run was written ({each.change}); nothing is read from it"
        for each in changed
    )
