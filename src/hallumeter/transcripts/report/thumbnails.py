"""Small images of pages for a report, which stands alone and stays small."""

from __future__ import annotations

import base64
from pathlib import Path

from hallumeter.errors import InputError
from hallumeter.formats.images import converted, image_type

IMAGE = "image"
"""The field of a record that names the image of its page."""
REFERENCE_PLACES, RESPONSE_PLACES = "reference_places", "response_places"
"""The fields that say where the lines of the two texts stand on it."""
THUMBNAIL_SIZE = (560, 1120)
"""Pixels: enough to tell the layout of a page, in a few dozen kilobytes."""
_LARGEST_WHOLE = 60_000
"""Bytes of an image that a report takes as it is, where Pillow is not installed."""


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
