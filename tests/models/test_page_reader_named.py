"""Readers chosen by what a user types."""

from __future__ import annotations

import shutil

import pytest

from hallumeter.errors import SettingsError
from hallumeter.models.page_readers_by_name import page_reader

needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None, reason="the program tesseract is not installed (apt-get install tesseract-ocr)"
)


@needs_tesseract
@pytest.mark.parametrize(
    ("name", "languages", "expected"),
    [
        ("tesseract", (), "eng"),
        ("tesseract:eng", (), "eng"),
        ("tesseract:eng+eng", ("fra",), "eng+eng"),
        ("tesseract", ("eng", "eng"), "eng+eng"),
    ],
)
def test_languages_after_the_colon_win(name: str, languages: tuple[str, ...], expected: str) -> None:
    assert page_reader(name, languages).name.split("-")[2] == expected


def test_rapidocr_is_chosen_by_its_name() -> None:
    pytest.importorskip("rapidocr", reason="rapidocr is not installed (pip install 'hallumeter[ocr]')")
    assert page_reader("rapidocr", ["fra"]).name.startswith("rapidocr-")


@pytest.mark.parametrize("name", ["", "easyocr", "Tesseract", "tesseract:", "tesseract:eng+", "rapidocr:", ":eng"])
def test_another_name_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=r"expected tesseract, tesseract:fra\+eng or rapidocr"):
        page_reader(name)
