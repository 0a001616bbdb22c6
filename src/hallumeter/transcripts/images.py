"""Images of pages, shown beside what was read from them: from folders, METS files and IIIF manifests on disk."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

from msgspec import structs

from hallumeter.errors import InputError

from .inputs import Jobs, PageJob
from .page_sets import split_group
from .pages.iiif import read_manifest
from .pages.mets import is_mets, local_path, read_mets
from .pages.page_file import composed_name, page_name
from .report.thumbnails import IMAGE

IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".tif", ".tiff")


def images_in(path: Path) -> tuple[dict[str, Path], list[str]]:
    """Images of a folder and of the folders below it by the names of their pages, and what was left out."""
    if path.is_file():
        return {page_name(path.stem): path}, []
    if not path.is_dir():
        raise InputError(f"{path}: no such folder of images")
    found: dict[str, Path] = {}
    notices = []
    for file in sorted(path.rglob("*")):
        *folders, name = file.relative_to(path).parts
        if not name.lower().endswith(IMAGE_ENDINGS) or any(part.startswith(".") for part in (*folders, name)):
            continue
        page = "/".join([*map(composed_name, folders), page_name(file.stem)])
        if page in found:
            notices.append(f"{file}: {found[page].name} is an image of page {page!r} already; the first counts")
        else:
            found[page] = file
    if not found:
        raise InputError(f"{path}: holds no image; expected files that end in {', '.join(IMAGE_ENDINGS)}")
    return found, notices


def page_images(path: Path) -> tuple[dict[str, Path], list[str]]:
    """Images by page, and what was left out: of a folder, `mets.xml`, `mets.xml#GROUP` or a IIIF manifest."""
    whole, group = split_group(path)
    if group is not None or is_mets(path):
        files = [file for name, files in read_mets(whole).items() if group in (None, name) for file in files]
        named = [((file.page, _stem(file.href)), file.href) for file in files]
        return _local(path, [(names, href) for names, href in named if href.lower().endswith(IMAGE_ENDINGS)])
    if path.suffix.lower() == ".json":
        canvases = read_manifest(path)
        return _local(path, [((*canvas.names, _stem(canvas.image)), canvas.image) for canvas in canvases])
    return images_in(path)


def _stem(href: str) -> str:
    return page_name(href.rstrip("/").rpartition("/")[2].rpartition(".")[0])


def _local(path: Path, named: list[tuple[tuple[str, ...], str]]) -> tuple[dict[str, Path], list[str]]:
    """The images that are on disk, under all names of their pages; how many are not."""
    folder = split_group(path)[0].parent
    found: dict[str, Path] = {}
    elsewhere = []
    for names, href in named:
        place = local_path(href, folder)
        if place is None or not place.is_file():
            elsewhere.append(href)
            continue
        for name in names:
            found.setdefault(composed_name(name), place)
    if not found:
        reason = f", such as {elsewhere[0]}" if elsewhere else ""
        raise InputError(f"{path}: names no image on disk in its folder{reason}; nothing is downloaded")
    told = f"{path}: {len(elsewhere):,} of {len(named):,} images are not on disk in its folder, such as "
    return found, [f"{told}{elsewhere[0]}; nothing is downloaded"] if elsewhere else []


@contextmanager
def with_images(jobs: AbstractContextManager[Jobs], path: Path) -> Iterator[Jobs]:
    """The same pages, each with the name of its image among the fields of its readings."""
    images, notices = page_images(path)
    with jobs as opened:
        opened.pages = _illustrated(opened.pages, images, opened.notices)
        opened.notices.extend(notices)
        yield opened


def _illustrated(
    pages: Generator[PageJob, None, None], images: dict[str, Path], notices: list[str]
) -> Generator[PageJob, None, None]:
    without: list[str] = []
    with closing(pages):
        for job in pages:
            image = images.get(job.page) or images.get(job.page.rpartition("/")[2])
            if image is None:
                without.append(job.page)
                yield job
                continue
            fields = {IMAGE: str(image.resolve())}
            readings = tuple(structs.replace(each, fields={**each.fields, **fields}) for each in job.readings)
            yield structs.replace(job, readings=readings)
    if without:
        notices.append(f"pages without an image: {len(without):,}, such as {without[0]}")
