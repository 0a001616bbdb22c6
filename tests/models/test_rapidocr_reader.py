"""rapidocr as it is installed, on drawn pages, and the order in which its boxes are read."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from rapidfuzz import fuzz

from hallumeter.errors import InputError, MissingExtraError, SettingsError
from hallumeter.models import rapidocr as rapidocr_reader
from hallumeter.models.page_readers import Reading
from hallumeter.models.page_readers_by_name import page_reader
from hallumeter.models.rapidocr import Piece, RapidOcrReader, lines_of, pieces_of

LINES = [
    "The parish register was opened in 1784",
    "puis refermé à Noël, après la forêt brûlée.",
    "Four hundred and twelve names were written",
]
Draw = Callable[[Path, Sequence[str]], Path]


@pytest.fixture(scope="module")
def reader() -> RapidOcrReader:
    pytest.importorskip("rapidocr", reason="rapidocr is not installed (pip install 'hallumeter[ocr]')")
    return RapidOcrReader()


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif"])
def test_a_drawn_page_comes_back_nearly_as_it_was(
    suffix: str, reader: RapidOcrReader, draw: Draw, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reading = reader.read(draw(tmp_path / f"page.{suffix}", LINES))
    assert fuzz.ratio(reading.text, "\n".join(LINES)) > 90
    assert reading.confidence is not None
    assert 0.9 < reading.confidence <= 1
    assert reading.words == len(reading.text.split())
    assert capfd.readouterr() == ("", "")


def test_a_blank_page_has_no_text_and_no_confidence(
    reader: RapidOcrReader, draw: Draw, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert reader.read(draw(tmp_path / "blank.png", [])) == Reading("", None, 0)
    assert capfd.readouterr() == ("", "")


def test_the_name_holds_the_version(reader: RapidOcrReader) -> None:
    assert reader.name.startswith("rapidocr-3.")


def test_loading_and_reading_reach_for_no_other_machine(reader: RapidOcrReader, draw: Draw, tmp_path: Path) -> None:
    # A package below rapidocr binds a socket to this machine when it is imported, to see whether it has IPv6.
    draw(tmp_path / "page.png", LINES)
    program = """
import os, sys
from pathlib import Path
REFUSED = ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname")
def refuse(event, arguments):
    if event in REFUSED:
        os.write(2, f"refused: {event} {arguments[1:]}".encode())
        os._exit(97)
sys.addaudithook(refuse)
from hallumeter.models.rapidocr import RapidOcrReader
print(ascii(RapidOcrReader().read(Path("page.png")).text))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "parish register" in done.stdout
    assert done.stderr == ""


def test_a_file_name_like_an_option_is_read(
    reader: RapidOcrReader, draw: Draw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw(tmp_path / "page.png", LINES[:1]).rename(tmp_path / "--help")
    monkeypatch.chdir(tmp_path)
    assert reader.read(Path("--help")).text == LINES[0]


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif"])
def test_an_image_that_is_cut_off_is_refused_in_one_line(
    suffix: str, reader: RapidOcrReader, draw: Draw, tmp_path: Path
) -> None:
    page = draw(tmp_path / f"page.{suffix}", LINES)
    content = page.read_bytes()
    page.write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=rf"page.{suffix}: ") as caught:
        reader.read(page)
    assert "\n" not in str(caught.value)


def test_what_is_no_image_or_too_large_is_refused(reader: RapidOcrReader, bomb: Path, tmp_path: Path) -> None:
    (tmp_path / "page.png").write_text("no image", encoding="utf-8")
    with pytest.raises(InputError, match=r"page.png: expected a PNG, JPEG or TIFF image"):
        reader.read(tmp_path / "page.png")
    with pytest.raises(InputError, match="scale the image down"):
        reader.read(bomb)


def test_a_file_of_several_images_is_refused(reader: RapidOcrReader, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    frames = [image.new("L", (100, 100), 255) for _ in range(2)]
    frames[0].save(tmp_path / "both.tif", save_all=True, append_images=frames[1:])
    with pytest.raises(InputError, match=r"both.tif: the file holds 2 images .* use tesseract"):
        reader.read(tmp_path / "both.tif")


@pytest.mark.parametrize(
    ("language", "script", "code"),
    [("kor", "Hangul", "kor"), ("ko", "Hangul", "kor"), ("Korean", "Hangul", "kor"), ("rus", "Cyrillic", "rus")],
)
def test_a_language_whose_script_it_lacks_points_to_tesseract(language: str, script: str, code: str) -> None:
    with pytest.raises(SettingsError, match=rf"cannot read {language}: .* {script} script; use tesseract:{code}$"):
        page_reader("rapidocr", ["eng", language])


def test_the_dictionary_has_indeed_no_such_script(reader: RapidOcrReader) -> None:
    runtime = pytest.importorskip("onnxruntime")
    package = pytest.importorskip("rapidocr")
    model = Path(package.__file__).parent / "models" / rapidocr_reader._WEIGHTS["Rec"]
    letters = runtime.InferenceSession(str(model)).get_modelmeta().custom_metadata_map["character"]
    assert all(letter in letters for letter in "éœßαΩ中の")
    samples = {
        "Hangul": "가한글",
        "Cyrillic": "яжщ",
        "Arabic": "بجد",
        "Hebrew": "אבג",
        "Thai": "กขค",
        "Devanagari": "अकर",
    }
    assert samples.keys() == rapidocr_reader._UNREAD_SCRIPTS.keys()
    assert not any(letter in letters for letter in "".join(samples.values()))


@pytest.mark.parametrize("package", ["rapidocr", "onnxruntime"])
def test_a_missing_package_is_told_with_the_line_to_type(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'hallumeter\[ocr\]'"):
        RapidOcrReader()


def test_a_version_without_its_weights_is_told_and_nothing_is_downloaded(
    reader: RapidOcrReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(rapidocr_reader._WEIGHTS, "Rec", "another.onnx")
    with pytest.raises(SettingsError, match=r"rapidocr 3\..* does not bring another.onnx"):
        RapidOcrReader()


def test_boxes_are_read_by_lines_from_the_left() -> None:
    # By hand: a tilted line in three boxes, then a line of two that do not stand level.
    boxes = np.array(
        [
            [[300, 62], [400, 62], [400, 92], [300, 92]],
            [[0, 60], [100, 60], [100, 90], [0, 90]],
            [[200, 4], [290, 6], [290, 36], [200, 34]],
            [[0, 0], [90, 2], [90, 32], [0, 30]],
            [[100, 2], [190, 4], [190, 34], [100, 32]],
        ],
        dtype=float,
    )
    pieces = pieces_of(boxes, ["e", "d", "c", "a", "b"], [0.5] * 5)
    assert pieces[3] == Piece("a", 0.5, 0, 0, 32)
    assert [[piece.text for piece in line] for line in lines_of(pieces)] == [["a", "b", "c"], ["d", "e"]]
    assert lines_of([]) == []
