"""A folder gives its pages by name; what is left out is said, and nothing is chosen in silence."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest
from page_samples import DINGLEHOPPER, TESSERACT

from hallumeter.errors import InputError
from hallumeter.transcripts.pages.folders import pages_in
from hallumeter.transcripts.pages.page_file import page_name, read_page_file


def fill(folder: Path, *names: str, content: str = "text") -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("<alto/>" if name.endswith(".xml") else content, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("file_name", "expected"),
    [
        ("0007.txt", "0007"),
        ("0007.TXT", "0007"),
        ("0007.gt.txt", "0007"),
        ("0007.pred.txt", "0007"),
        ("0007.ocr.txt", "0007"),
        ("0007.hocr", "0007"),
        ("0007.page.xml", "0007"),
        ("0007.gt.page.xml", "0007"),
        ("0007.alto.xml", "0007"),
        ("0007.ocr.tesseract.alto.xml", "0007"),
        ("00000139.ocrd-tess.ocr.page.xml", "00000139"),
        ("0007.GT-corrected.xml", "0007"),
        ("vol.2.page.7.txt", "vol.2.page.7"),
        ("page.1.txt", "page.1"),
        ("gt.txt", "gt"),
        ("ocr.page.xml", "ocr"),
        ("ocrview.x.txt", "ocrview.x"),
        ("a b (1).md", "a b (1)"),
        (".txt", ""),
        (unicodedata.normalize("NFD", "가나다é.txt"), "가나다é"),
        (os.fsdecode(b"caf\xe9.txt"), "caf\ufffd"),
    ],
)
def test_the_name_of_a_page_is_what_stays_without_formats_and_roles(file_name: str, expected: str) -> None:
    assert page_name(file_name) == expected


def test_pages_are_found_by_name_in_order(tmp_path: Path) -> None:
    fill(tmp_path, "b.gt.txt", "a.hocr", "c.page.xml", "d.md")
    pages = pages_in(tmp_path)
    assert list(pages.by_name) == ["a", "b", "c", "d"]
    assert pages.by_name["b"] == tmp_path / "b.gt.txt"
    assert pages.skipped == ()


def test_folders_below_stand_before_the_name(tmp_path: Path) -> None:
    fill(tmp_path, "1.txt", "vol.ocr/1.txt", unicodedata.normalize("NFD", "권é/둘/1.txt"), "vol.ocr/.hidden/2.txt")
    assert list(pages_in(tmp_path).by_name) == ["1", "vol.ocr/1", "권é/둘/1"]


def test_two_folders_agree_whatever_form_of_unicode_their_names_have(tmp_path: Path) -> None:
    composed = fill(tmp_path / "truth", "한국어-é.gt.txt")
    decomposed = fill(tmp_path / "engine", unicodedata.normalize("NFD", "한국어-é.txt"))
    assert pages_in(composed).by_name.keys() == pages_in(decomposed).by_name.keys()


def test_real_pairs_find_each_other(tmp_path: Path) -> None:
    for path in DINGLEHOPPER.glob("lorem*"):
        side = tmp_path / ("truth" if ".gt." in path.name else "engine")
        side.mkdir(exist_ok=True)
        (side / path.name).write_bytes(path.read_bytes())
    expected = ["lorem-ipsum-scan", "lorem-ipsum-scan-bad"]
    assert list(pages_in(tmp_path / "truth").by_name) == list(pages_in(tmp_path / "engine").by_name) == expected


def test_other_files_are_left_out_with_one_line_for_each_reason(tmp_path: Path) -> None:
    fill(tmp_path, "a.txt", "a.png", "b.PNG", "sub/c.png", "Makefile", ".DS_Store", ".git/config.txt")
    (tmp_path / "mets.xml").write_text("<mets:mets xmlns:mets='http://www.loc.gov/METS/'/>", encoding="utf-8")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    pages = pages_in(tmp_path)
    assert list(pages.by_name) == ["a"]
    assert pages.skipped == (
        f"{tmp_path}: 2 files left out, such as again: neither a file nor a folder of its own",
        f"{tmp_path}: 3 files left out, such as a.png: their names end in .png",
        f"{tmp_path}: 1 file left out, such as Makefile: their names have no ending",
        (
            f"{tmp_path}: 1 file left out, such as mets.xml: "
            "their outermost XML element is not <alto>, <PcGts>, <TEI> or <html>"
        ),
    )


def test_damaged_xml_is_a_page_whose_reading_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<alto", encoding="utf-8")
    (tmp_path / "b.xml").write_text("", encoding="utf-8")
    pages = pages_in(tmp_path)
    assert list(pages.by_name) == ["a", "b"]
    with pytest.raises(InputError, match="not valid XML"):
        read_page_file(pages.by_name["a"])


def test_a_linked_file_is_a_page(tmp_path: Path) -> None:
    (tmp_path / "linked.hocr").symlink_to(TESSERACT / "french.hocr")
    assert list(pages_in(tmp_path).by_name) == ["linked"]


def test_two_files_of_one_page_are_refused_by_name(tmp_path: Path) -> None:
    fill(tmp_path, "x/a.gt.txt", "x/a.txt")
    with pytest.raises(InputError) as caught:
        pages_in(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: x/a.gt.txt and x/a.txt are both page 'x/a'; keep one file for a page, or give each reading a "
        "folder of its own"
    )
    fill(tmp_path, "b.hocr", "b.xml", "b.txt")
    with pytest.raises(InputError, match=r"b\.hocr and b\.txt are both page 'b' \(1 more likewise\); keep one"):
        pages_in(tmp_path)


@pytest.mark.parametrize(
    ("names", "found"), [((), ""), (("a.png",), ", found 1 other"), (("a.png", "b/c.jpg"), ", found 2 others")]
)
def test_a_folder_without_pages_is_refused(tmp_path: Path, names: tuple[str, ...], found: str) -> None:
    fill(tmp_path, *names)
    with pytest.raises(InputError) as caught:
        pages_in(tmp_path)
    expected = "expected files ending in .txt, .text, .md, .hocr, .html, .htm, .xhtml, .json, .xml"
    assert str(caught.value) == f"{tmp_path}: holds no page; {expected}{found}"


def test_a_missing_folder_and_a_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"/none: no such folder$"):
        pages_in(tmp_path / "none")
    fill(tmp_path, "a.txt")
    with pytest.raises(InputError, match=r"a\.txt: is a file; expected a folder of pages$"):
        pages_in(tmp_path / "a.txt")


def test_a_folder_that_may_not_be_entered_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, "a.txt", "locked/b.txt")
    scan = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert pages_in(tmp_path).skipped == (
        f"{tmp_path}: 1 file left out, such as locked: cannot be opened (Permission denied)",
    )
    with pytest.raises(InputError, match=r"/locked: cannot be opened \(Permission denied\)$"):
        pages_in(tmp_path / "locked")


def test_a_file_group_of_ocrd_is_no_part_of_a_pages_name() -> None:
    names = ["OCR-D-GT-PAGE_0001.xml", "OCR-D-OCR-TESS_0001.xml", "OCR-D-OCR-CALAMARI_0001.page.xml"]
    assert {page_name(name) for name in names} == {"0001"}
    assert page_name("OCR-D-GT-PAGE_.xml") == "OCR-D-GT-PAGE_"
