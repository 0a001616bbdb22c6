"""Images from unknown hands: what kind they are by how they begin, and the same in a form that browsers show."""

from __future__ import annotations

import io
from typing import Literal

from hallumeter.errors import InputError

_MOST_PIXELS = 200_000_000

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
)


def image_type(data: bytes) -> str | None:
    r"""The type of an image; None for whatever else.

    >>> image_type(b"\x89PNG\r\n\x1a\n..."), image_type(b"<svg/>")
    ('image/png', None)
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for beginning, kind in _BEGINNINGS if data.startswith(beginning)), None)


def converted(data: bytes, form: Literal["JPEG", "PNG"], *, largest: tuple[int, int] | None = None) -> bytes | None:
    """An image in another form, no larger than so many pixels across and down; None where Pillow is not installed.

    Raises InputError, without the file's name, for what cannot be converted.
    """
    try:
        from PIL import Image
    except ImportError:
        return None
    stream = io.BytesIO()
    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.width * image.height > _MOST_PIXELS:
                raise InputError(f"has {image.width:,} by {image.height:,} pixels, too many to be shown")
            if largest is not None:
                image.thumbnail(largest)
            image.convert("L" if image.mode in {"1", "L"} else "RGB").save(stream, form)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise InputError(f"cannot be converted ({error})") from error
    return stream.getvalue()
