"""Zip archives, such as exports of Transkribus and eScriptorium: their page files, unpacked within bounds."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from hallumeter.errors import InputError
from hallumeter.formats.archive import Archive, MemberError

from .page_file import LARGEST_BYTES, PAGE_SUFFIXES

LARGEST_TOTAL = 2 << 30
"""Bytes of all pages of an archive together; counted as they are read, because an archive may claim anything."""
MOST_MEMBERS = 200_000


def is_archive(path: Path) -> bool:
    """Whether a path is a zip archive by its name."""
    return path.suffix.lower() == ".zip" and path.is_file()


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """A temporary folder with the page files of an archive; images and whatever else is in it stay packed.

    Raises InputError, in one line, for a bomb, a member that leads out of the archive, or damage.
    """
    with tempfile.TemporaryDirectory(prefix="hallumeter-") as place:
        with Archive(path) as archive:
            _unpack(archive, path, Path(place))
        yield Path(place)


def _unpack(archive: Archive, path: Path, place: Path) -> None:
    names = archive.names
    if len(names) > MOST_MEMBERS:
        raise InputError(f"{path}: has {len(names):,} members, more than the {MOST_MEMBERS:,} that are read")
    total = 0
    for name in names:
        named = PurePosixPath(name.replace("\\", "/"))
        if named.suffix.lower() not in PAGE_SUFFIXES:
            continue
        if named.is_absolute() or ".." in named.parts or ":" in named.parts[0]:
            raise InputError(f"{path}: the member {name!r} leads out of the archive; export it again")
        try:
            content = archive.read(name, most=min(LARGEST_BYTES, LARGEST_TOTAL - total))
        except MemberError as error:
            raise InputError(f"{path}: the member {name!r} cannot be read: {error}; export it again") from error
        target = place / named
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        total += len(content)
