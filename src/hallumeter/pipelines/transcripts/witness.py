"""No ground truth: what another, non-generative, reading of the same pages confirms."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hallumeter.errors import InputError, SettingsError
from hallumeter.formats.pages import page_name, pages_in
from hallumeter.providers import page_reader
from hallumeter.records import InputFile

from .folders import engine_names
from .inputs import opened_paths
from .jobs import EngineReading, Jobs, PageJob, Source, unpaired

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hallumeter.records import Failure

    from .settings import Columns

IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".tif", ".tiff")
DEFAULT_READER = "tesseract"
WITNESS = "witness"


@contextmanager
def opened_witness(
    engines: Sequence[Path], *, witness: str | None, images: Path | None, columns: Columns
) -> Iterator[Jobs]:
    """The engines' pages with the reading of a witness: texts that are given, or made from images by an OCR engine."""
    if images is not None:
        yield _read_jobs(engines, images, reader=witness or DEFAULT_READER)
        return
    if witness is None or not Path(witness).exists():
        raise InputError(
            f"{witness}: no such folder or table of readings; an OCR engine such as {DEFAULT_READER} needs --image"
        )
    with opened_paths([Path(witness), *engines], columns=columns) as jobs:
        jobs.reference_name, jobs.witness = WITNESS, Path(witness).name
        yield jobs


def _read_jobs(engines: Sequence[Path], images: Path, *, reader: str) -> Jobs:
    """Pages whose images an OCR engine reads as they are measured."""
    if Path(reader).exists() and reader not in (DEFAULT_READER, "rapidocr"):
        raise SettingsError(f"witness {reader}: is a path, so --image is not needed; give one of the two")
    known = _images_in(images)
    readings, failures = _readings(engines, known)
    for page in known.keys() - readings.keys():
        failures.append(unpaired(page, f"{page}: no engine has a reading of this image"))
    if not readings:
        raise InputError(f"{images}: no image has the name of a page in {', '.join(map(str, engines))}")
    jobs = (
        PageJob(page, Source(image=known[page], reader=reader), tuple(found))
        for page, found in sorted(readings.items())
    )
    names = tuple(engine_names(engines))
    inputs = (InputFile(images.name, None, len(known)), *(InputFile(name, None, len(readings)) for name in names))
    return Jobs(jobs, len(readings), names, inputs, failures, [], WITNESS, page_reader(reader).name)


def _readings(engines: Sequence[Path], images: dict[str, Path]) -> tuple[dict[str, list[EngineReading]], list[Failure]]:
    readings: dict[str, list[EngineReading]] = {}
    failures = []
    for name, path in zip(engine_names(engines), engines, strict=True):
        if not path.exists():
            raise InputError(f"{path}: no such file or folder")
        files = pages_in(path).by_name if path.is_dir() else {page_name(path.stem): path}
        if not path.is_dir() and len(images) == 1:
            # One page and one image belong together whatever they are called.
            files = {next(iter(images)): path}
        for page, file in files.items():
            if page in images:
                readings.setdefault(page, []).append(EngineReading(name, Source(path=file)))
            else:
                failures.append(unpaired(page, f"{page}: {name} has a reading of it, but there is no image"))
    return readings, failures


def _images_in(path: Path) -> dict[str, Path]:
    if path.is_file():
        return {page_name(path.stem): path}
    if not path.is_dir():
        raise InputError(f"{path}: no such folder of images")
    found = {
        page_name(file.stem): file
        for file in sorted(path.iterdir())
        if file.suffix.lower() in IMAGE_ENDINGS and not file.name.startswith(".")
    }
    if not found:
        raise InputError(f"{path}: holds no image; expected files that end in {', '.join(IMAGE_ENDINGS)}")
    return found
