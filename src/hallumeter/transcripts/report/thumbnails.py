"""Small images of pages for a report, which stands alone and stays small."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from pathlib import Path

from hallumeter.errors import InputError
from hallumeter.formats.images import converted, image_type

IMAGE = "image"
"""The field of a record that names the image of its page."""
REFERENCE_PLACES, RESPONSE_PLACES = "reference_places", "response_places"
"""The fields that say where the lines of the two texts stand on it."""
_PLACE = re.compile(r"\d{1,9},\d{1,9}(?:,\d{1,5}){4}", re.ASCII)
THUMBNAIL_SIZE = (560, 1120)
"""Pixels: enough to tell the layout of a page, in a few dozen kilobytes."""
_LARGEST_WHOLE = 60_000
"""Bytes of an image that a report takes as it is, where Pillow is not installed."""


def written_places(places: Iterable[tuple[int, ...]]) -> str:
    """Where lines stand on an image, as a text that can be a field of a record.

    Each has its first and last code point, and left, top, right and bottom in ten-thousandths of the page.

    >>> written_places([(0, 2, 1000, 1000, 6000, 2000)])
    '0,2,1000,1000,6000,2000'
    """
    return ";".join(",".join(map(str, place)) for place in places)


def read_places(text: object) -> tuple[tuple[int, ...], ...]:
    """Places from such a text, whoever wrote it: what is none is passed over.

    >>> read_places("0,2,1000,1000,6000,2000;x"), read_places(None)
    (((0, 2, 1000, 1000, 6000, 2000),), ())
    """
    pieces = text.split(";") if isinstance(text, str) else ()
    return tuple(tuple(map(int, piece.split(","))) for piece in pieces if _PLACE.fullmatch(piece))


def thumbnail(path: Path) -> str | None:
    """A small picture of a page as a data address; None when it cannot be made."""
    try:
        data = path.read_bytes()
        kind = image_type(data)
        small = None if kind is None else converted(data, "JPEG", largest=THUMBNAIL_SIZE)
    except (OSError, InputError):
        return None
    if small is not None:
        data, kind = small, "image/jpeg"
    if kind in {None, "image/tiff"} or (small is None and len(data) > _LARGEST_WHOLE):
        return None
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"
