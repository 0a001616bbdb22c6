"""IIIF Presentation manifests, versions 2 and 3: which pages a document has, and where their images are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from hallumeter.errors import InputError

_LARGEST_BYTES = 64 << 20


class Canvas(Struct, frozen=True):
    """A page of a manifest."""

    names: tuple[str, ...]
    """What it may be called: its label, and the last part of its identifier."""
    image: str
    """The address of its image."""


def read_manifest(path: Path) -> list[Canvas]:
    """The pages of a manifest that have an image; raises InputError, in one line, for what is none."""
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise InputError(f"{path}: is larger than the {_LARGEST_BYTES:,} bytes that a manifest may have")
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
