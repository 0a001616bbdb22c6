"""What every reader of page images does."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from msgspec import Struct

from hallumeter.errors import InputError

# What an image file says about itself, read before a program decodes it.
#
# Two things are caught here that readers get wrong: a small file that unfolds to gigabytes, and a file that is no
# image at all, which Tesseract takes for a list of further files to open.

PIXELS_AT_MOST = 80_000_000
"""A page of 594 x 841 mm (A1) at 300 dots per inch has 70 million."""

_PARTS_AT_MOST = 10_000
"""Segments before the size of a JPEG image, or images in a TIFF file: more are a trap."""
_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_TIFF = {b"II*\x00": "<", b"MM\x00*": ">"}
"""How a TIFF file begins, and in which order its bytes stand then."""
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Segments that give the size of a JPEG image; the three left out are tables."""
_JPEG_WITHOUT_SIZE = frozenset({0xD9, 0xDA})
"""End of image and start of the pixels: no size comes after these."""
_TIFF_WIDTH, _TIFF_HEIGHT, _TIFF_SHORT = 256, 257, 3

Size = tuple[int, int]


def count_images(path: Path) -> int:
    """How many images a PNG, JPEG or TIFF file holds; only TIFF holds several.

    Raises:
        InputError: It is no such file, is cut off before the size is told, or has more pixels than a page needs.
    """
    if not path.is_file():
        raise InputError(f"{path}: {'not a file' if path.exists() else 'no such file'}; expected the image of a page")
    try:
        with path.open("rb") as file:
            sizes = list(_sizes(file))
    except OSError as error:
        raise InputError(f"{path}: cannot be opened ({error.strerror or error})") from error
    except (struct.error, ValueError) as error:
        raise InputError(f"{path}: the image is damaged or cut off; make the file again") from error
    if not sizes:
        raise InputError(f"{path}: expected a PNG, JPEG or TIFF image, found something else")
    for width, height in sizes:
        if width * height > PIXELS_AT_MOST:
            raise InputError(
                f"{path}: {width} x {height} pixels, at most {PIXELS_AT_MOST:,} in all are read; scale the image down"
            )
    return len(sizes)


def _sizes(file: BinaryIO) -> Iterator[Size]:
    """Width and height of every image; none for other files."""
    start = file.read(8)
    if start == _PNG:
        # The first chunk is the header: length and name, then the size.
        yield struct.unpack(">8xII", file.read(16))
    elif start.startswith(_JPEG):
        yield _jpeg_size(file)
    elif start[:4] in _TIFF:
        yield from _tiff_sizes(file, _TIFF[start[:4]])


def _jpeg_size(file: BinaryIO) -> Size:
    file.seek(2)
    for _ in range(_PARTS_AT_MOST):
        mark, kind = struct.unpack("BB", file.read(2))
        if mark != 0xFF or kind in _JPEG_WITHOUT_SIZE:
            break
        if kind == 0xFF:  # any number of these may stand before a segment
            file.seek(-1, 1)
            continue
        (length,) = struct.unpack(">H", file.read(2))
        if kind in _JPEG_FRAMES:
            height, width = struct.unpack(">xHH", file.read(5))
            return width, height
        file.seek(max(length - 2, 0), 1)
    raise ValueError("no size before the pixels")


def _tiff_sizes(file: BinaryIO, order: str) -> Iterator[Size]:
    file.seek(4)
    (place,) = struct.unpack(order + "I", file.read(4))
    visited: set[int] = set()
    while place:
        if place in visited or len(visited) == _PARTS_AT_MOST:
            raise ValueError("the list of images has no end")
        visited.add(place)
        file.seek(place)
        (count,) = struct.unpack(order + "H", file.read(2))
        numbers = dict(_tiff_numbers(file.read(12 * count), order))
        (place,) = struct.unpack(order + "I", file.read(4))
        if not numbers.keys() >= {_TIFF_WIDTH, _TIFF_HEIGHT}:
            raise ValueError("an image without a size")
        yield numbers[_TIFF_WIDTH], numbers[_TIFF_HEIGHT]


def _tiff_numbers(fields: bytes, order: str) -> Iterator[tuple[int, int]]:
    """Each field's name and value; a short value fills the first half of its place."""
    for name, kind, _, whole in struct.iter_unpack(order + "HHII", fields):
        short = whole & 0xFFFF if order == "<" else whole >> 16
        yield name, short if kind == _TIFF_SHORT else whole


class Reading(Struct, frozen=True):
    """What a reader found on a page."""

    text: str
    """Words parted by spaces, lines by line breaks; empty when nothing was found."""
    confidence: float | None
    """The reader's own, 0 to 1, each word or line weighing as many times as it has characters; None without text."""
    words: int
    """Runs without white space in the text."""


class PageReader(Protocol):
    """A program that reads the image of a page."""

    @property
    def name(self) -> str:
        """The program, its version and what else changes its readings: `tesseract-5.3.0-eng+fra`."""
        ...

    def read(self, image: Path) -> Reading:
        """Read one image. A fault of this image alone is an `InputError`; other images may still be readable."""
        ...


def reading_of(lines: list[str], weighted: list[tuple[float, int]]) -> Reading:
    r"""A reading from its lines, and from confidences with the number of characters each stands for.

    >>> reading_of(["a  b", "", "cd"], [(0.5, 2), (1.0, 2)])
    Reading(text='a b\ncd', confidence=0.75, words=3)
    """
    words = [line.split() for line in lines]
    characters = sum(count for _, count in weighted)
    return Reading(
        text="\n".join(" ".join(line) for line in words if line),
        confidence=sum(confidence * count for confidence, count in weighted) / characters if characters else None,
        words=sum(map(len, words)),
    )
