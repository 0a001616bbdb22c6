"""Transcripts in folders: one of references, one per engine, pages matched by name; or single files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hallumeter.errors import InputError
from hallumeter.formats.pages import page_name, pages_in
from hallumeter.formats.pages.names import composed_name
from hallumeter.records import InputFile

from .jobs import EngineReading, Jobs, PageJob, Source, unpaired

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence


def folder_jobs(reference: Path, engines: Sequence[Path], names: Sequence[str]) -> Jobs:
    """Pages of a folder of references and of one folder per engine."""
    truth = pages_in(reference)
    readings = {name: pages_in(folder) for name, folder in zip(names, engines, strict=True)}
    notices = [message for files in (truth, *readings.values()) for message in files.skipped]
    known = truth.by_name
    failures = []
    for engine, files in readings.items():
        missing = [page for page in known if page not in files.by_name]
        failures += [unpaired(page, f"{page}: {engine} has no reading of it") for page in missing]
        extra = [page for page in files.by_name if page not in known]
        failures += [
            unpaired(page, f"{page}: {engine} has a reading of it, but there is no reference") for page in extra
        ]
    paired = [page for page in known if any(page in files.by_name for files in readings.values())]
    if not paired:
        raise InputError(_nothing_paired(reference, engines, truth.by_name))
    jobs = (
        PageJob(
            page,
            Source(path=known[page]),
            tuple(
                EngineReading(engine, Source(path=files.by_name[page]))
                for engine, files in readings.items()
                if page in files.by_name
            ),
        )
        for page in paired
    )
    inputs = [InputFile(plain_path(reference).name, None, len(known))]
    inputs += [InputFile(name, None, len(files.by_name)) for name, files in readings.items()]
    return Jobs(jobs, len(paired), tuple(readings), tuple(inputs), failures, notices)


def file_jobs(reference: Path, responses: Sequence[Path], names: Sequence[str]) -> Jobs:
    """One page: a file of the reference and one per engine."""
    readings = tuple(EngineReading(name, Source(path=path)) for name, path in zip(names, responses, strict=True))
    job = PageJob(page_name(reference.name), Source(path=reference), readings)
    inputs = tuple(InputFile(path.name, None, 1) for path in (reference, *responses))
    return Jobs(_one(job), 1, tuple(names), inputs, [], [])


def engine_names(paths: Sequence[Path]) -> list[str]:
    """What engines are called: their file or folder, with as much before and after it as tells them apart."""
    whole = [plain_path(path) for path in paths]
    names: list[str] = []
    for depth in range(1, 1 + max(len(path.parts) for path in whole)):
        for has_ending in (False, True):
            names = [_last_parts(path, depth, has_ending=has_ending) for path in whole]
            if len(set(names)) == len(names):
                return names
    twice = next(path for path, name in zip(paths, names, strict=True) if names.count(name) > 1)
    raise InputError(f"{twice}: is given twice; give each engine once")


def plain_path(path: Path) -> Path:
    """A path from the root without dots, so that it ends in a name."""
    return Path(os.path.normpath(path.absolute()))


def _last_parts(path: Path, depth: int, *, has_ending: bool) -> str:
    is_whole = has_ending or path.is_dir()
    name = path.name if is_whole else Path(path.name.removesuffix(".gz")).stem
    return composed_name("/".join((*path.parts[-depth:-1], name)))


def _one(job: PageJob) -> Generator[PageJob, None, None]:
    yield job


def _nothing_paired(reference: Path, engines: Sequence[Path], known: dict[str, Path]) -> str:
    example = next(iter(known), "page1")
    folders = " or ".join(str(folder) for folder in engines)
    return f"{reference}: no page has the same name in {folders}; expected files such as {example}.txt in both"
