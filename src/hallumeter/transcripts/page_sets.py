"""Where the pages of the ground truth and of each engine are: in folders, zip archives and groups of METS files."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

from hallumeter.errors import InputError
from hallumeter.formats.archive import Archive, MemberError

from .pages.folders import PageFiles, pages_in
from .pages.mets import MetsFile, is_mets, local_path, read_mets
from .pages.page_file import LARGEST_BYTES, PAGE_SUFFIXES, composed_name, page_name

_TRUTH = re.compile(r"(?:^|[-_ ])(?:GT|ground[-_ ]?truth|truth)(?:$|[-_ ])", re.IGNORECASE)
"""What the name of a group of METS holds whose files are the ground truth."""


def split_group(path: Path) -> tuple[Path, str | None]:
    """A METS file and one of its groups, from `mets.xml#GROUP`; the path itself, and None, for whatever else."""
    name, mark, group = path.name.rpartition("#")
    if not mark or not group or path.exists():
        return path, None
    return path.with_name(name), group


def is_page_set(path: Path) -> bool:
    """Whether a path holds many pages, one file each."""
    return path.is_dir() or is_archive(path) or split_group(path)[1] is not None


def expanded(paths: Sequence[Path]) -> list[Path]:
    """The paths, with one METS file given alone as its groups: the ground truth first."""
    if len(paths) != 1 or not is_mets(paths[0]):
        return list(paths)
    path = paths[0]
    listed = read_mets(path)
    groups = _page_groups(listed, path.parent)
    if not groups:
        raise InputError(f"{path}: {_why_no_page(listed)}")
    truths = [group for group in groups if _TRUTH.search(group)]
    if len(truths) != 1 or len(groups) < 2:
        raise InputError(
            f"{path}: which group is the ground truth? Give it first, then each engine, such as {path.name}#GROUP; "
            f"groups with pages: {', '.join(groups)}"
        )
    ordered = sorted(groups, key=lambda group: group != truths[0])
    return [path.with_name(f"{path.name}#{group}") for group in ordered]


def _why_no_page(groups: dict[str, list[MetsFile]]) -> str:
    """What is wrong with a METS file of which no page was found on disk."""
    pages = [file.href for files in groups.values() for file in files if file.href.lower().endswith(PAGE_SUFFIXES)]
    if not pages:
        return f"lists no page; expected files ending in {', '.join(PAGE_SUFFIXES)}"
    return f"none of the pages that it lists is on disk below its folder, such as {pages[0]}"


def page_set(path: Path, stack: ExitStack, *, has_ids: bool = False) -> PageFiles:
    """The pages of a folder, an archive or a group of a METS file; `has_ids` names the last by the pages of METS."""
    whole, group = split_group(path)
    if group is not None:
        return _group_pages(whole, group, has_ids=has_ids)
    if not is_archive(path):
        return pages_in(path)
    place = stack.enter_context(unpacked(path))
    try:
        files = pages_in(place)
    except InputError as error:
        raise InputError(str(error).replace(str(place), str(path))) from error
    return PageFiles(files.by_name, tuple(line.replace(str(place), str(path)) for line in files.skipped))


def _page_groups(groups: dict[str, list[MetsFile]], folder: Path) -> list[str]:
    """The groups in which some file is a page on disk."""
    return [group for group, files in groups.items() if any(_is_page(file, folder) for file in files)]


def _is_page(file: MetsFile, folder: Path) -> bool:
    path = local_path(file.href, folder)
    return path is not None and path.suffix.lower() in PAGE_SUFFIXES and path.is_file()


def _group_pages(path: Path, group: str, *, has_ids: bool) -> PageFiles:
    groups = read_mets(path)
    if group not in groups:
        raise InputError(f"{path}: has no file group {group!r}; expected one of {', '.join(groups)}")
    found: dict[str, Path] = {}
    skipped: dict[str, list[str]] = {}
    for file in groups[group]:
        place = local_path(file.href, path.parent)
        name = composed_name(file.page) if has_ids or place is None else page_name(place.name)
        if place is None:
            skipped.setdefault("they are not in the folder of the METS file, and nothing is downloaded", []).append(
                file.href
            )
        elif place.suffix.lower() not in PAGE_SUFFIXES:
            skipped.setdefault(f"their names end in {place.suffix.lower()}", []).append(file.href)
        elif name in found:
            skipped.setdefault("another file of the group is of the same page", []).append(file.href)
        else:
            found[name] = place
    lines = [_left_out(path, group, reason=reason, files=files) for reason, files in skipped.items()]
    if not found:
        raise InputError(lines[0] if lines else f"{path}: the file group {group} is empty")
    return PageFiles({name: found[name] for name in sorted(found)}, tuple(lines))


def _left_out(path: Path, group: str, *, reason: str, files: list[str]) -> str:
    count = "1 file" if len(files) == 1 else f"{len(files):,} files"
    return f"{path}#{group}: {count} left out, such as {files[0]}: {reason}"


# Zip archives, such as exports of Transkribus and eScriptorium: their page files, unpacked within bounds.

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
