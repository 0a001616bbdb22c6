"""Images of pages, shown beside what was read from them: from folders, METS files and IIIF manifests on disk."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import InputError

from .inputs import Jobs, PageJob
from .page_sets import split_group
from .pages.mets import MetsFile, is_mets, local_path, read_mets
from .pages.page_file import composed_name, page_name
from .report.thumbnails import IMAGE

_MISSED_TOLD = 20
"""Images that could not be fetched and are told one by one; all are among the pages without an image."""
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


Fetch = Callable[[str], Path]
"""Gives the file with the image of an address, or raises InputError."""


def page_images(path: Path, *, can_fetch: bool = False) -> tuple[dict[str, Path | str], list[str]]:
    """Images by page, and what was left out: of a folder, `mets.xml`, `mets.xml#GROUP` or a IIIF manifest.

    An image is a file; where images can be fetched, it may be an address of the web.
    """
    whole, group = split_group(path)
    if group is not None or is_mets(path):
        files = [file for name, files in read_mets(whole).items() if group in (None, name) for file in files]
        images = [file for file in files if _is_image(file)]
        return _named(path, [((file.page, _stem(file.href)), file.href) for file in images], can_fetch=can_fetch)
    if path.suffix.lower() == ".json":
        canvases = read_manifest(path)
        named = [((*canvas.names, _stem(canvas.image)), canvas.image) for canvas in canvases]
        return _named(path, named, can_fetch=can_fetch)
    found, notices = images_in(path)
    return {**found}, notices


def _is_image(file: MetsFile) -> bool:
    return file.href.lower().endswith(IMAGE_ENDINGS) or file.mimetype.startswith("image/")


def is_on_the_web(address: str) -> bool:
    """Whether an address is one that can be fetched.

    >>> is_on_the_web("https://example.org/a.jpg"), is_on_the_web("file:///etc/passwd"), is_on_the_web("scans/a.jpg")
    (True, False, False)
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _stem(href: str) -> str:
    return page_name(href.rstrip("/").rpartition("/")[2].rpartition(".")[0])


def _named(
    path: Path, named: list[tuple[tuple[str, ...], str]], *, can_fetch: bool
) -> tuple[dict[str, Path | str], list[str]]:
    """The images that are on disk or can be fetched, under all names of their pages; how many are not."""
    folder = split_group(path)[0].parent
    found: dict[str, Path | str] = {}
    elsewhere = []
    for names, href in named:
        place: Path | str | None = local_path(href, folder)
        if place is None and can_fetch and is_on_the_web(href):
            place = href
        if place is None or (isinstance(place, Path) and not place.is_file()):
            elsewhere.append(href)
            continue
        for name in names:
            found.setdefault(composed_name(name), place)
    how = "" if can_fetch else "; nothing is downloaded unless you add --allow-downloads"
    if not found:
        reason = f", such as {elsewhere[0]}" if elsewhere else ""
        raise InputError(f"{path}: names no image on disk in its folder{reason}{how}")
    told = f"{path}: {len(elsewhere):,} of {len(named):,} images are not on disk in its folder, such as "
    return found, [f"{told}{elsewhere[0]}{how}"] if elsewhere else []


@contextmanager
def with_images(jobs: AbstractContextManager[Jobs], path: Path, fetch: Fetch | None = None) -> Iterator[Jobs]:
    """The same pages, each with the name of its image among the fields of its readings.

    Without `fetch`, nothing is fetched from the web.
    """
    images, notices = page_images(path, can_fetch=fetch is not None)
    with jobs as opened:
        opened.pages = _illustrated(opened.pages, _Found(images, fetch, opened.notices), opened.notices)
        opened.notices.extend(notices)
        yield opened


class _Found:
    """The images of pages; those on the web are fetched when their page comes."""

    def __init__(self, images: dict[str, Path | str], fetch: Fetch | None, notices: list[str]) -> None:
        self._images, self._fetch, self._notices = images, fetch, notices
        self._missed = 0

    def of_page(self, page: str) -> Path | None:
        """The file; None, with a notice, for what could not be fetched, and None for a page without an image."""
        image = self._images.get(page) or self._images.get(page.rpartition("/")[2])
        if not isinstance(image, str) or self._fetch is None:
            return image if isinstance(image, Path) else None
        try:
            return self._fetch(image)
        except InputError as error:
            self._missed += 1
            if self._missed <= _MISSED_TOLD:
                self._notices.append(f"page {page}: no image: {error}")
            return None


def _illustrated(
    pages: Generator[PageJob, None, None], images: _Found, notices: list[str]
) -> Generator[PageJob, None, None]:
    without: list[str] = []
    with closing(pages):
        for job in pages:
            image = images.of_page(job.page)
            if image is None:
                without.append(job.page)
                yield job
                continue
            fields = {IMAGE: str(image.resolve())}
            readings = tuple(structs.replace(each, fields={**each.fields, **fields}) for each in job.readings)
            yield structs.replace(job, readings=readings)
    if without:
        notices.append(f"pages without an image: {len(without):,}, such as {without[0]}")


# IIIF Presentation manifests, versions 2 and 3: which pages a document has, and where their images are.

_LARGEST_MANIFEST = 64 << 20


class Canvas(Struct, frozen=True):
    """A page of a manifest."""

    names: tuple[str, ...]
    """What it may be called: its label, and the last part of its identifier."""
    image: str
    """The address of its image."""


def read_manifest(path: Path) -> list[Canvas]:
    """The pages of a manifest that have an image; raises InputError, in one line, for what is none."""
    try:
        if path.stat().st_size > _LARGEST_MANIFEST:
            raise InputError(f"{path}: is larger than the {_LARGEST_MANIFEST:,} bytes that a manifest may have")
        manifest = msgspec.json.decode(path.read_bytes())
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is not valid JSON ({error})") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    found = list(_canvases(manifest))
    if not found:
        raise InputError(f"{path}: names no image; expected a IIIF Presentation manifest of version 2 or 3")
    return found


def _canvases(manifest: object) -> Iterator[Canvas]:
    sequences = _list(manifest, "sequences")
    canvases = _list(sequences[0], "canvases") if sequences else _list(manifest, "items")
    for canvas in canvases:
        image = _image_of(canvas)
        if image is not None:
            last = str(_identifier(canvas) or "").rstrip("/").rpartition("/")[2]
            yield Canvas(tuple(name for name in (_label(canvas), last) if name), image)


def _image_of(canvas: object) -> str | None:
    """The image painted on a page: in `images` of version 2, in annotations of version 3."""
    for annotation in _list(canvas, "images"):
        return _identifier(_member(annotation, "resource"))
    for page in _list(canvas, "items"):
        for annotation in _list(page, "items"):
            body = _member(annotation, "body")
            return _identifier(body[0] if isinstance(body, list) and body else body)
    return None


def _label(canvas: object) -> str | None:
    label = _member(canvas, "label")
    if isinstance(label, Mapping):  # version 3: by language
        label = next((texts[0] for texts in label.values() if isinstance(texts, list) and texts), None)
    return label if isinstance(label, str) else None


def _identifier(value: object) -> str | None:
    found = next((_member(value, name) for name in ("@id", "id") if _member(value, name)), None)
    return found if isinstance(found, str) else None


def _list(value: object, name: str) -> list[object]:
    found = _member(value, name)
    return found if isinstance(found, list) else []


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None
