"""Tesseract as it is installed, on drawn pages, and programs that pretend to be it and fail."""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from rapidfuzz import fuzz

from hallumeter.errors import InputError, SettingsError
from hallumeter.models.page_readers import Reading
from hallumeter.models.page_readers_by_name import page_reader
from hallumeter.models.tesseract import TesseractReader

ENGLISH = [
    "The parish register was opened in 1784",
    "and closed again on the third of May 1791.",
    "Four hundred and twelve names were written",
    "by the same hand in brown ink.",
]
FRENCH = [
    "Le cahier paroissial fut ouvert en août 1784",
    "puis refermé à Noël, après la forêt brûlée.",
    "Où sont passés les élèves de cette école ?",
]
KOREAN = [
    "오늘 아침 도서관에서 오래된 책을 읽었다.",
    "서울의 날씨는 맑고 바람이 조금 불었다.",
    "내일은 친구와 함께 박물관에 갈 예정이다.",
]
Draw = Callable[[Path, Sequence[str]], Path]

needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None, reason="the program tesseract is not installed (apt-get install tesseract-ocr)"
)


def reader_of(*languages: str) -> TesseractReader:
    try:
        return TesseractReader(languages)
    except SettingsError as error:
        pytest.skip(str(error))


def pretend(folder: Path, body: str, *, answers: bool = True, start: str = "#!/bin/sh\n") -> Path:
    """A program named tesseract; it tells version and languages if asked, then does what the body says."""
    known = (
        'case "$1" in\n--version) echo "tesseract 9.9"; exit;;\n--list-langs) printf "List:\\neng\\n"; exit;;\nesac\n'
    )
    program = folder / "tesseract"
    program.write_text(start + (known if answers else "") + body + "\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


@pytest.fixture
def pretended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands first on the PATH."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


@needs_tesseract
@pytest.mark.parametrize(
    ("language", "lines", "suffix", "likeness"),
    [("eng", ENGLISH, "png", 95), ("fra", FRENCH, "jpg", 90), ("kor", KOREAN, "tif", 80)],
)
def test_a_drawn_page_comes_back_nearly_as_it_was(
    language: str, lines: list[str], suffix: str, likeness: float, draw: Draw, tmp_path: Path
) -> None:
    reader = reader_of(language)
    reading = reader.read(draw(tmp_path / f"page.{suffix}", lines))
    assert fuzz.ratio(reading.text, "\n".join(lines)) > likeness
    assert reading.confidence is not None
    assert 0.8 < reading.confidence < 1
    assert reading.words == len(reading.text.split())
    assert abs(reading.words - sum(len(line.split()) for line in lines)) <= 2


@needs_tesseract
def test_the_name_holds_version_and_languages() -> None:
    name = reader_of("eng", "fra").name
    assert name.startswith("tesseract-")
    assert name.endswith("-eng+fra")
    assert name.split("-")[1][0].isdigit()


@needs_tesseract
def test_a_blank_page_has_no_text_and_no_confidence(draw: Draw, tmp_path: Path) -> None:
    assert reader_of("eng").read(draw(tmp_path / "blank.png", [])) == Reading("", None, 0)


@needs_tesseract
@pytest.mark.parametrize("name", ["-l", "--help", "page one.png", "쪽.png", "http:", "stdin"])
def test_no_file_name_is_taken_for_anything_else(
    name: str, draw: Draw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw(tmp_path / "page.png", ENGLISH[:1]).rename(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    assert reader_of("eng").read(Path(name)).text == ENGLISH[0]


@needs_tesseract
def test_all_images_of_a_file_are_read_in_order(draw: Draw, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    frames = [image.open(draw(tmp_path / f"{place}.png", [line])) for place, line in enumerate(ENGLISH[:2])]
    frames[0].save(tmp_path / "both.tif", save_all=True, append_images=frames[1:])
    assert reader_of("eng").read(tmp_path / "both.tif").text == "\n".join(ENGLISH[:2])


@needs_tesseract
@pytest.mark.parametrize("suffix", ["png", "jpg", "tif"])
def test_an_image_that_is_cut_off_is_refused_in_one_line(suffix: str, draw: Draw, tmp_path: Path) -> None:
    page = draw(tmp_path / f"page.{suffix}", ENGLISH)
    content = page.read_bytes()
    page.write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=rf"page.{suffix}: ") as caught:
        reader_of("eng").read(page)
    assert "\n" not in str(caught.value)


@needs_tesseract
def test_a_list_of_files_is_not_taken_for_an_image(draw: Draw, tmp_path: Path) -> None:
    # Tesseract itself would open every file that the list names.
    (tmp_path / "list.png").write_text(str(draw(tmp_path / "secret.png", ENGLISH)), encoding="utf-8")
    with pytest.raises(InputError, match=r"list.png: expected a PNG, JPEG or TIFF image"):
        reader_of("eng").read(tmp_path / "list.png")


@needs_tesseract
def test_an_image_that_unfolds_to_gigabytes_is_not_decoded(bomb: Path) -> None:
    with pytest.raises(InputError, match=r"20000 x 20000 pixels, .*; scale the image down"):
        reader_of("eng").read(bomb)


@needs_tesseract
def test_languages_that_are_not_installed_are_named_with_their_packages() -> None:
    with pytest.raises(SettingsError, match=r"no language qqq, qqq_Vert \(it has .*\); .*apt-get install") as caught:
        TesseractReader(["qqq", "qqq_Vert"])
    assert str(caught.value).endswith("tesseract-ocr-qqq tesseract-ocr-qqq-vert")


@needs_tesseract
def test_a_model_of_page_orientation_is_no_language() -> None:
    with pytest.raises(SettingsError, match="no language osd"):
        TesseractReader(["osd"])


def test_a_missing_program_is_named_with_its_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SettingsError, match=r"not on the PATH; .*apt-get install tesseract-ocr tesseract-ocr-fra$"):
        page_reader("tesseract:fra")


def test_no_language_at_all_is_refused() -> None:
    with pytest.raises(SettingsError, match="at least one language"):
        TesseractReader([])


def test_a_page_that_takes_too_long_is_given_up(pretended: Path, draw: Draw, tmp_path: Path) -> None:
    pretend(pretended, "exec sleep 60")
    reader = TesseractReader(timeout_seconds=2.5)
    start = time.monotonic()
    with pytest.raises(InputError, match=r"page.png: tesseract had not finished after 2.5 seconds"):
        reader.read(draw(tmp_path / "page.png", ENGLISH))
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("kill -SEGV $$", "it ended with code -11"),
        ("exit 3", "it ended with code 3"),
        ("printf 'Page 1\\n\\n\\033[31mError in a\\ttable\\nmore\\n' >&2; exit 1", "·[31mError in a table"),
    ],
)
def test_a_program_that_breaks_down_is_told_in_one_line(
    body: str, reason: str, pretended: Path, draw: Draw, tmp_path: Path
) -> None:
    pretend(pretended, body)
    with pytest.raises(InputError) as caught:
        TesseractReader().read(draw(tmp_path / "page.png", ENGLISH))
    assert str(caught.value) == f"{tmp_path / 'page.png'}: tesseract could not read it ({reason})"


def test_a_program_that_writes_nothing_has_read_nothing(pretended: Path, draw: Draw, tmp_path: Path) -> None:
    pretend(pretended, "exit 0")
    with pytest.raises(InputError, match=r"could read 0 of 1 images \(no reason given\)"):
        TesseractReader().read(draw(tmp_path / "page.png", ENGLISH))


def test_words_are_weighed_by_their_characters_and_pictures_are_no_words(
    pretended: Path, draw: Draw, tmp_path: Path
) -> None:
    # By hand: (3 * 0.9 + 1 * 0.5) / 4, the confidence in the picture left out. U+2028 ends a line only for Python.
    table = [("1", "-1", ""), ("5", "90", "ab\u2028"), ("5", "95", " "), ("5", "50.0", "d")]
    lines = ["\t".join((level, *"0" * 9, confidence, word)) for level, confidence, word in table]
    rows = "".join(f"printf '{line}\\n'; ".replace("\t", "\\t") for line in (*lines, "5\tcut off"))
    pretend(pretended, f'printf \'abc   d\\n\\n\\n\' > "$2.txt"; ({rows}) > "$2.tsv"')
    reading = TesseractReader().read(draw(tmp_path / "page.png", ENGLISH))
    assert (reading.text, reading.words) == ("abc d", 2)
    assert reading.confidence == pytest.approx(0.8)


def test_the_program_is_kept_to_one_thread_and_gets_no_input(pretended: Path, draw: Draw, tmp_path: Path) -> None:
    record = tmp_path / "record"
    pretend(pretended, f'printf "%s " "$OMP_THREAD_LIMIT" "$(cat | wc -c)" "$@" > {record}; exit 1')
    with pytest.raises(InputError):
        TesseractReader().read(draw(tmp_path / "page.png", ENGLISH))
    threads, read, image, _, *options = record.read_text(encoding="utf-8").split()
    assert (threads, read, image) == ("1", "0", str(tmp_path / "page.png"))
    assert options[:4] == ["-l", "eng", "--psm", "3"]


def test_another_program_of_that_name_is_told(pretended: Path) -> None:
    pretend(pretended, 'if [ "$1" = --list-langs ]; then printf "List:\\neng\\n"; else echo hello; fi', answers=False)
    with pytest.raises(SettingsError, match="does not tell its version"):
        TesseractReader()
    pretend(pretended, "exec sleep 60", answers=False)
    with pytest.raises(SettingsError, match="--list-langs: no answer"):
        TesseractReader(timeout_seconds=0.2)
    pretend(pretended, "exit 1", answers=False)
    with pytest.raises(SettingsError, match=r"no language eng \(it has none\)"):
        TesseractReader()
    pretend(pretended, "", answers=False, start="#!/no/such/shell\n")
    with pytest.raises(SettingsError, match=r"cannot be run \(No such file or directory\)"):
        TesseractReader()
