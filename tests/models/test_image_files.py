"""What image files say about themselves, on files made by Pillow and by hand."""

from __future__ import annotations

import contextlib
import os
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.errors import InputError
from hallumeter.models import page_readers as image_files
from hallumeter.models.page_readers import count_images

IMAGE = pytest.importorskip("PIL.Image", reason="Pillow is not installed")


def tiff(order: str, *, kind: int = 3, width: int = 300, following: int = 0, fields: int = 2) -> bytes:
    """A TIFF file of one image by hand: its head, then the list of fields, width and height."""
    number = "HH" if kind == 3 else "I"
    values = [((value, 0) if kind == 3 else (value,)) for value in (width, 200)]
    entries = b"".join(
        struct.pack(order + "HHI" + number, 256 + place, kind, 1, *value) for place, value in enumerate(values[:fields])
    )
    start = b"II*\x00" if order == "<" else b"MM\x00*"
    return start + struct.pack(order + "IH", 8, fields) + entries + struct.pack(order + "I", following)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "page"


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF"])
@pytest.mark.parametrize("mode", ["1", "L", "RGB"])
def test_an_image_as_pillow_writes_it_is_one(kind: str, mode: str, page: Path) -> None:
    IMAGE.new(mode, (300, 200)).save(page, format=kind)
    assert count_images(page) == 1


def test_a_jpeg_image_may_be_progressive_and_carry_other_segments(page: Path) -> None:
    IMAGE.new("L", (300, 200)).save(page, format="JPEG", progressive=True, comment=b"a note", icc_profile=b"x" * 70_000)
    assert count_images(page) == 1


def test_a_jpeg_image_may_be_padded_between_segments(page: Path) -> None:
    IMAGE.new("L", (300, 200)).save(page, format="JPEG")
    written = page.read_bytes()
    page.write_bytes(written[:2] + b"\xff" * 5 + written[2:])
    assert count_images(page) == 1


def test_the_images_of_a_tiff_file_are_counted(page: Path) -> None:
    frames = [IMAGE.new("L", (300, 200)) for _ in range(3)]
    frames[0].save(page, format="TIFF", save_all=True, append_images=frames[1:])
    assert count_images(page) == 3


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", [3, 4])
def test_a_tiff_file_may_have_either_order_of_bytes_and_either_width_of_numbers(
    order: str, kind: int, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.write_bytes(tiff(order, kind=kind))
    monkeypatch.setattr(image_files, "PIXELS_AT_MOST", 300 * 200)
    assert count_images(page) == 1
    monkeypatch.setattr(image_files, "PIXELS_AT_MOST", 300 * 200 - 1)
    with pytest.raises(InputError, match="300 x 200 pixels, at most 59,999"):
        count_images(page)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF"])
def test_more_pixels_than_allowed_are_refused_for_every_format(
    kind: str, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    IMAGE.new("L", (300, 200)).save(page, format=kind)
    monkeypatch.setattr(image_files, "PIXELS_AT_MOST", 59_999)
    with pytest.raises(InputError, match="300 x 200 pixels"):
        count_images(page)


def test_a_small_file_that_unfolds_to_gigabytes_is_refused(bomb: Path) -> None:
    with pytest.raises(InputError, match=r"bomb.png: 20000 x 20000 pixels, at most 80,000,000 in all are read"):
        count_images(bomb)


def test_a_later_image_that_is_too_large_is_found(page: Path) -> None:
    first = tiff("<", following=38)
    page.write_bytes(first + tiff("<", kind=4, width=10**9)[8:])
    assert len(first) == 38
    with pytest.raises(InputError, match="1000000000 x 200 pixels"):
        count_images(page)


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00",
        b"\xff\xd8\xff",
        b"\xff\xd8\xff\xe0\x00",
        b"\xff\xd8\xff\xda\x00\x08",  # pixels before their size
        b"\xff\xd8\xff\xe0\x00\x00\x00\x00",  # a segment shorter than its own length
        b"\xff\xd8" + b"\xff" * 20_000,
        b"II*\x00\x08\x00",
        tiff("<")[:30],
        tiff("<", fields=1),
        tiff(">", following=8),  # the first image follows itself
        tiff("<", following=10**6),
    ],
)
def test_a_damaged_file_is_refused(content: bytes, page: Path) -> None:
    page.write_bytes(content)
    with pytest.raises(InputError, match="page: the image is damaged or cut off"):
        count_images(page)


@pytest.mark.parametrize("content", [b"", b"other.png\n", b"GIF89a", b"%PDF-1.4", b"\xff\xd8", b"II+\x00\x08\x00"])
def test_what_is_no_image_is_refused(content: bytes, page: Path) -> None:
    page.write_bytes(content)
    with pytest.raises(InputError, match="page: expected a PNG, JPEG or TIFF image, found something else"):
        count_images(page)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing.png: no such file"):
        count_images(tmp_path / "missing.png")
    with pytest.raises(InputError, match="not a file"):
        count_images(tmp_path)
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(InputError, match=r"pipe.png: not a file"):
        count_images(tmp_path / "pipe.png")


def test_a_file_that_cannot_be_opened_is_refused(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page.write_bytes(b"")

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(InputError, match=r"page: cannot be opened \(Permission denied\)"):
        count_images(page)


@given(
    st.sampled_from([b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\x00\x08\x00\x00\x00", b"MM\x00*\x00\x00\x00\x08"]),
    st.binary(max_size=200),
)
def test_random_bytes_are_counted_or_refused_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, start: bytes, rest: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "random"
    path.write_bytes(start + rest)
    with contextlib.suppress(InputError):
        assert count_images(path) >= 1
