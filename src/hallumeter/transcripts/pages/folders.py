"""A folder of pages, by the names under which engines and reference find each other."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path, PurePath

from msgspec import Struct

from hallumeter.errors import InputError

from .json_page import NoTextError, read_json_page
from .page_file import PAGE_SUFFIXES, ROOTS, composed_name, page_name
from .safe_xml import root_name

_OTHER_FORMS = ("alto", "txt")
"""Folders of an export that hold the pages of its folder `page` once more."""
_LARGEST_JSON = 64 << 20


class PageFiles(Struct, frozen=True):
    """The files of a folder that hold pages."""

    by_name: dict[str, Path]
    """Sorted by name; a page in a folder below has that folder before its name: `volume1/0007`."""
    skipped: tuple[str, ...] = ()
    """What was left out and why, a line for each reason, for people."""


def pages_in(folder: Path) -> PageFiles:
    """The pages of a folder and of all folders below it; names and folders that begin with a dot are passed over.

    Links to files are followed, links to folders are not. Raises InputError when there is no page, and when two files
    have one name, because choosing one would hide the other.
    """
    found: dict[str, list[Path]] = defaultdict(list)
    others: dict[str, list[Path]] = defaultdict(list)
    for path in _files_below(folder, others):
        reason = _reason_to_skip(path)
        if reason:
            others[reason].append(path)
        else:
            found[name_below(path.relative_to(folder))].append(path)
    _leave_out_other_forms(found, others)
    skipped = tuple(_skipped_line(folder, reason, paths) for reason, paths in sorted(others.items()))
    if not found:
        raise InputError(f"{folder}: holds no page; expected files ending in {', '.join(PAGE_SUFFIXES)}{_but(others)}")
    doubles = {name: paths for name, paths in found.items() if len(paths) > 1}
    if doubles:
        name, paths = min(doubles.items())
        first, second = (path.relative_to(folder) for path in paths[:2])
        more = f" ({len(doubles) - 1:,} more likewise)" if len(doubles) > 1 else ""
        raise InputError(
            f"{folder}: {first} and {second} are both page {name!r}{more}; keep one file for a page, or give each "
            f"reading a folder of its own"
        )
    return PageFiles({name: found[name][0] for name in sorted(found)}, skipped)


def _files_below(folder: Path, others: dict[str, list[Path]]) -> list[Path]:
    """All files, folder by folder; what cannot be entered is added to the others."""
    files: list[Path] = []
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        try:
            with os.scandir(current) as entries:
                visible = sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda e: e.name)
        except OSError as error:
            if current == folder:
                raise InputError(_why_no_folder(folder, error)) from error
            others[f"cannot be opened ({error.strerror})"].append(current)
            continue
        for entry in visible:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(current / entry.name)
            elif entry.is_file():
                files.append(current / entry.name)
            else:
                others["neither a file nor a folder of its own"].append(current / entry.name)
    return files


def _why_no_folder(folder: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{folder}: no such folder"
    if isinstance(error, NotADirectoryError):
        return f"{folder}: is a file; expected a folder of pages"
    return f"{folder}: cannot be opened ({error.strerror})"


def _reason_to_skip(path: Path) -> str | None:
    """Why a file is no page: its ending, or an XML file's outermost element; damaged files are found when read."""
    suffix = path.suffix.lower()
    if suffix not in PAGE_SUFFIXES:
        return f"their names end in {suffix}" if suffix else "their names have no ending"
    if suffix == ".json":
        return None if _is_json_page(path) else "they hold no text of a page"
    if suffix != ".xml":
        return None
    try:
        root = root_name(path)
    except (InputError, OSError):
        return None
    return None if root in ROOTS else "their outermost XML element is not <alto>, <PcGts>, <TEI> or <html>"


def _is_json_page(path: Path) -> bool:
    try:
        if path.stat().st_size <= _LARGEST_JSON:
            read_json_page(path.read_bytes())
    except NoTextError:
        return False
    except (InputError, OSError):
        pass  # found when it is read
    return True


def _leave_out_other_forms(found: dict[str, list[Path]], others: dict[str, list[Path]]) -> None:
    """Pages that are there twice: as JSON beside another file, and in folders of an export beside PAGE XML."""
    for name, paths in list(found.items()):
        kept = [path for path in paths if path.suffix.lower() != ".json"] or paths
        others["another file of the same page counts"] += [path for path in paths if path not in kept]
        found[name] = kept
        *folders, page = name.split("/")
        if folders and folders[-1].lower() in _OTHER_FORMS and "/".join([*folders[:-1], "page", page]) in found:
            others["the same pages are in the folder page"] += found.pop(name)
    for reason in [reason for reason, paths in others.items() if not paths]:
        del others[reason]


def name_below(path: PurePath) -> str:
    """The name of a page from its place below a folder."""
    *folders, name = path.parts
    return "/".join([*map(composed_name, folders), page_name(name)])


def _skipped_line(folder: Path, reason: str, paths: list[Path]) -> str:
    files = "1 file" if len(paths) == 1 else f"{len(paths):,} files"
    return f"{folder}: {files} left out, such as {paths[0].relative_to(folder)}: {reason}"


def _but(others: dict[str, list[Path]]) -> str:
    count = sum(map(len, others.values()))
    return f", found {count:,} other{'s' if count > 1 else ''}" if count else ""
