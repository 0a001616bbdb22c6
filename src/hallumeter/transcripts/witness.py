"""No ground truth: what another, non-generative, reading of the same pages confirms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from hallumeter.errors import InputError, SettingsError
from hallumeter.models.page_readers_by_name import READERS, page_reader
from hallumeter.records.manifest import InputFile

from .images import images_in
from .inputs import WITNESS, EngineReading, Jobs, PageJob, Source, engine_names, opened_paths, plain_path, unpaired
from .page_sets import is_page_set, page_set, split_group
from .pages.page_file import PAGE_SUFFIXES, page_name
from .settings import Columns

DEFAULT_READER = "tesseract"


@contextmanager
def opened_witness(
    engines: Sequence[Path], *, witness: str | None, images: Path | None, columns: Columns, pair_by: str = "name"
) -> Iterator[Jobs]:
    """The engines' pages with the reading of a witness: texts that are given, or made from images by an OCR engine."""
    if images is not None:
        with ExitStack() as stack:
            yield _read_jobs(engines, images, reader=witness or DEFAULT_READER, stack=stack)
        return
    if witness is None or not split_group(Path(witness))[0].exists():
        reader = str(witness).partition(":")[0]
        if reader in READERS:
            raise InputError(f"{reader} reads images; give --image DIR too")
        raise InputError(
            f"{witness}: no such folder or table of readings; an OCR engine such as {DEFAULT_READER} needs --image"
        )
    with opened_paths([Path(witness), *engines], columns=columns, pair_by=pair_by) as jobs:
        jobs.reference_name, jobs.witness = WITNESS, plain_path(Path(witness)).name
        yield jobs


def _read_jobs(engines: Sequence[Path], images: Path, *, reader: str, stack: ExitStack) -> Jobs:
    """Pages whose images an OCR engine reads as they are measured."""
    if reader.partition(":")[0] not in READERS and Path(reader).exists():
        raise SettingsError(f"witness {reader}: is a path, so --image is not needed; give one of the two")
    witness = page_reader(reader).name
    known, notices = images_in(images)
    names = engine_names(engines)
    found = [_readings(path, known, notices=notices, stack=stack) for path in engines]
    readings: dict[str, list[EngineReading]] = {}
    failures = []
    for name, files in zip(names, found, strict=True):
        for page, file in files.items():
            if page in known:
                readings.setdefault(page, []).append(EngineReading(name, Source(path=file)))
            else:
                failures.append(unpaired(page, f"{page}: {name} has a reading of it, but there is no image"))
        failures += [unpaired(page, f"{page}: {name} has no reading of it") for page in known if page not in files]
    if not readings:
        raise InputError(f"{images}: no image has the name of a page in {', '.join(map(str, engines))}")
    jobs = (
        PageJob(page, Source(image=known[page], reader=reader), tuple(each)) for page, each in sorted(readings.items())
    )
    inputs = [InputFile(plain_path(images).name, None, len(known))]
    inputs += [InputFile(name, None, len(files)) for name, files in zip(names, found, strict=True)]
    return Jobs(jobs, len(readings), tuple(names), tuple(inputs), failures, notices, WITNESS, witness)


def _readings(path: Path, images: dict[str, Path], *, notices: list[str], stack: ExitStack) -> dict[str, Path]:
    """An engine's pages: those of a folder, an archive or a group of METS, or one file."""
    if is_page_set(path):
        files = page_set(path, stack)
        notices += files.skipped
        return files.by_name
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if path.suffix.lower() not in PAGE_SUFFIXES:
        raise InputError(f"{path}: expected a folder of pages beside images, or a file such as page.txt")
    # One page and one image belong together whatever they are called.
    return {next(iter(images)) if len(images) == 1 else page_name(path.name): path}
