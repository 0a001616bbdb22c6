"""Transcripts in folders: one of references, one per engine, pages matched by name; or single files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.errors import InputError
from hallumeter.formats.pages import page_name, pages_in
from hallumeter.records import Failure, InputFile

from .jobs import EngineReading, Jobs, PageJob, Source, unpaired

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


def folder_jobs(reference: Path, engines: Sequence[Path], names: Sequence[str]) -> Jobs:
    """Pages of a folder of references and of one folder per engine."""
    truth = pages_in(reference)
    readings = {name: pages_in(folder) for name, folder in zip(names, engines, strict=True)}
    failures = [_skipped(message) for files in (truth, *readings.values()) for message in files.skipped]
    known = truth.by_name
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
    inputs = [InputFile(reference.name, None, len(known))]
    inputs += [InputFile(name, None, len(files.by_name)) for name, files in readings.items()]
    return Jobs(jobs, len(paired), tuple(readings), tuple(inputs), failures, [])


def file_jobs(reference: Path, responses: Sequence[Path], names: Sequence[str]) -> Jobs:
    """One page: a file of the reference and one per engine."""
    readings = tuple(EngineReading(name, Source(path=path)) for name, path in zip(names, responses, strict=True))
    job = PageJob(page_name(reference.name), Source(path=reference), readings)
    inputs = tuple(InputFile(path.name, None, 1) for path in (reference, *responses))
    return Jobs(_one(job), 1, tuple(names), inputs, [], [])


def engine_names(paths: Sequence[Path]) -> list[str]:
    """What engines are called: the last part of the path that tells them apart, without its ending."""
    for depth in range(1, 1 + max((len(path.parts) for path in paths), default=0)):
        names = ["/".join((*path.parts[-depth:-1], path.name if path.is_dir() else path.stem)) for path in paths]
        if len(set(names)) == len(names):
            return names
    raise InputError(f"{paths[0]}: is given twice; give each engine once")


def _one(job: PageJob) -> Iterator[PageJob]:
    yield job


def _nothing_paired(reference: Path, engines: Sequence[Path], known: dict[str, Path]) -> str:
    example = next(iter(known), "page1")
    folders = " or ".join(str(folder) for folder in engines)
    return f"{reference}: no page has the same name in {folders}; expected files such as {example}.txt in both"


def _skipped(message: str) -> Failure:
    return Failure(None, None, "read", None, "skipped", message)
