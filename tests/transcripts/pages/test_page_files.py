"""Whatever bytes a file holds, it is a page or is refused in one line; nothing in it is expanded or fetched."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from page_samples import DINGLEHOPPER, FILES, LOREM_IPSUM, TESSERACT

from hallumeter.errors import InputError
from hallumeter.transcripts.pages import page_file
from hallumeter.transcripts.pages.page_file import PAGE_SUFFIXES, read_page_file

LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))


def refusal(folder: Path, content: str | bytes, name: str = "page.xml") -> str:
    """The one line that refuses a file, without the path before it."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as caught:
        read_page_file(path)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("subset", "name"),
    [
        (f'<!ENTITY a0 "ha">{LAUGHS}', "a0"),
        ('<!ENTITY a0 SYSTEM "file:///etc/passwd">', "a0"),
        ('<!ENTITY a0 SYSTEM "http://127.0.0.1:9/x">', "a0"),
        ('<!ENTITY % a0 SYSTEM "http://127.0.0.1:9/x.dtd"> %a0;', "a0"),
        ('<!NOTATION n SYSTEM "n"><!ENTITY a0 SYSTEM "x.png" NDATA n>', "a0"),
        (f'<!ENTITY {"a" * 100} "x">', "a" * 40 + "…"),
    ],
    ids=["billion laughs", "file", "address", "parameter", "unparsed", "long name"],
)
@pytest.mark.parametrize("root", ["alto", "PcGts", "html"])
def test_a_declared_entity_is_refused_before_it_is_used(tmp_path: Path, root: str, subset: str, name: str) -> None:
    content = f'<?xml version="1.0"?><!DOCTYPE {root} [{subset}]><{root}>&a0;</{root}>'
    assert refusal(tmp_path, content) == (
        f"declares the XML entity {name!r}; entities are not expanded, because they can hide a bomb or another file: "
        "remove the declaration"
    )


def test_entities_in_hocr_are_not_expanded_either(tmp_path: Path) -> None:
    path = tmp_path / "page.hocr"
    path.write_text(f'<!DOCTYPE html [<!ENTITY a0 "ha">{LAUGHS}]><p class="ocr_par">&a11;</p>', encoding="utf-8")
    assert read_page_file(path).text == "&a11;"


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE alto>",
        '<!DOCTYPE alto SYSTEM "http://127.0.0.1:9/alto.dtd">',
        "<!DOCTYPE alto [<!ELEMENT alto ANY>]>",
    ],
)
def test_a_document_type_without_entities_is_no_fault(tmp_path: Path, doctype: str) -> None:
    path = tmp_path / "page.xml"
    line = '<TextLine><String CONTENT="a"/></TextLine>'
    path.write_text(f"{doctype}<alto><TextBlock>{line}</TextBlock></alto>", encoding="utf-8")
    assert read_page_file(path).text == "a"


INVALID = "not well-formed (invalid token)"
TOO_DEEP = "elements stand more than 1000 deep in each other; no page needs that"
NO_HOCR = (
    "holds no hOCR: expected elements with classes such as ocr_page, ocr_line and ocrx_word; "
    "name it .txt if it is plain text"
)


@pytest.mark.parametrize(
    ("content", "line", "column", "reason"),
    [
        ("plain", 1, 1, "syntax error"),
        ("<alto>\n <a></b>\n</alto>", 2, 7, "mismatched tag"),
        ("<alto><a>", 1, 10, "no element found"),
        ("<alto>&auml;</alto>", 1, 7, "undefined entity"),
        ("<!DOCTYPE alto SYSTEM 'x.dtd'><alto>&auml;</alto>", 1, 37, "undefined entity &auml;"),
        ("<alto>\0</alto>", 1, 7, INVALID),
        (b"<alto>\n\xe9</alto>", 2, 1, INVALID),
    ],
)
def test_invalid_xml_is_refused_with_its_place(
    tmp_path: Path, content: str | bytes, line: int, column: int, reason: str
) -> None:
    expected = f"not valid XML at line {line}, column {column} ({reason}); export the page again"
    assert refusal(tmp_path, content) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "the file is empty; expected ALTO, PAGE XML, TEI or hOCR"),
        ("<alto>" + "<a>" * 1000, TOO_DEEP),
        ("<alto>" + "<a>" * 1_000_000, TOO_DEEP),
        ("<PcGts>" + "<TextRegion>" * 100_000, TOO_DEEP),
        ("<html/>", NO_HOCR),
    ],
    ids=["empty", "deep", "deeper", "regions", "html"],
)
def test_xml_that_is_no_page_is_refused(tmp_path: Path, content: str, expected: str) -> None:
    assert refusal(tmp_path, content) == expected


@pytest.mark.parametrize(("content", "root"), [("<m:mets xmlns:m='x'/>", "mets"), ("<svg xmlns='y'/>", "svg")])
def test_other_formats_in_xml_are_refused_by_their_outermost_element(tmp_path: Path, content: str, root: str) -> None:
    expected = "expected <alto> of ALTO, <PcGts> of PAGE XML, <TEI> or <html> of hOCR"
    assert refusal(tmp_path, content) == f"the outermost element is <{root}>; {expected}"


@pytest.mark.parametrize(
    ("encoding", "reason"),
    [("euc-kr", "multi-byte encodings are not supported"), ("none-such", "unknown encoding: none-such")],
)
def test_an_encoding_that_the_parser_lacks_is_refused(tmp_path: Path, encoding: str, reason: str) -> None:
    content = f'<?xml version="1.0" encoding="{encoding}"?><alto/>'
    assert refusal(tmp_path, content) == f"cannot be decoded ({reason}); save it as UTF-8"


def test_xml_in_other_encodings_is_read(tmp_path: Path) -> None:
    region = "<TextRegion><TextEquiv><Unicode>é\xb5</Unicode></TextEquiv></TextRegion>"
    path = tmp_path / "page.xml"
    for encoding in ("utf-8-sig", "utf-16", "iso-8859-1", "windows-1252"):
        declaration = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>'
        path.write_bytes(f"{declaration}<PcGts>{region}</PcGts>".encode(encoding))
        assert read_page_file(path).text == "é\xb5"


def test_a_file_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def message(path: Path) -> str:
        with pytest.raises(InputError) as caught:
            read_page_file(path)
        return str(caught.value).removeprefix(f"{path}: ")

    (tmp_path / "folder.txt").mkdir()
    os.mkfifo(tmp_path / "pipe.txt")
    assert message(tmp_path / "none.txt") == "no such file"
    assert message(tmp_path / "folder.txt") == "is a folder; expected the file of one page"
    assert message(tmp_path / "pipe.txt") == "is no ordinary file; save the page as one"
    assert message(tmp_path / ("long" * 100 + ".txt")).startswith("cannot be opened (")
    known = "expected one of .txt, .text, .md, .hocr, .html, .htm, .xhtml, .json, .xml"
    assert message(tmp_path / "page.png") == f"unknown ending '.png' of a page; {known}"
    assert message(tmp_path / "page") == f"unknown ending '' of a page; {known}"

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "locked.txt").write_bytes(b"")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert message(tmp_path / "locked.txt") == "cannot be read (Permission denied)"


def test_a_file_larger_than_any_page_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "page.txt"
    with path.open("wb") as stream:
        stream.truncate(page_file.LARGEST_BYTES + 1)  # takes no room on the disk
    with pytest.raises(InputError, match=r"has 268,435,457 bytes, but a page may have at most 268,435,456; split it$"):
        read_page_file(path)


@pytest.mark.long
def test_the_memory_for_a_long_page_is_that_of_its_text(tmp_path: Path) -> None:
    line = '<TextLine><Coords points="{}"/><TextEquiv><Unicode>word word</Unicode></TextEquiv></TextLine>'
    path = tmp_path / "page.xml"
    lines = line.format("1,2 " * 50) * 20_000
    path.write_text(f"<PcGts><TextRegion>{lines}</TextRegion></PcGts>", encoding="utf-8")
    tracemalloc.start()
    try:
        text = read_page_file(path).text
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(text) == 20_000 * 10 - 1
    assert path.stat().st_size > 5_000_000
    assert peak < 2 * path.stat().st_size


REAL = [
    TESSERACT / "korean.hocr",
    TESSERACT / "french.alto.xml",
    DINGLEHOPPER / "lorem-ipsum-scan.gt.page.xml",
    FILES / "page-2019.xml",
]
PIECES = [b"<!DOCTYPE a [", b"<!ENTITY b 'c'>", b"]>", b"&b;", b"<!--", b"]]>", b"\xff\xfe", b"\0", b"<", b">", b"'"]
mutations = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 200), st.binary(max_size=8) | st.sampled_from(PIECES)), max_size=6
)


def page_or_refusal(folder: Path, content: bytes, suffix: str) -> None:
    path = folder / f"page{suffix}"
    path.write_bytes(content)
    try:
        page = read_page_file(path)
    except InputError as error:
        message = str(error)
    else:
        page.text.encode("utf-8")
        assert "\0" not in page.text
        return
    assert len(message.splitlines()) == 1
    assert message.startswith(f"{path}: ")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@examples(max_examples=400)
@given(content=st.binary(max_size=300), suffix=st.sampled_from(PAGE_SUFFIXES))
def test_any_bytes_are_a_page_or_are_refused(folder: Path, content: bytes, suffix: str) -> None:
    page_or_refusal(folder, content, suffix)


@examples(max_examples=400)
@given(source=st.sampled_from(REAL), changes=mutations, suffix=st.sampled_from(PAGE_SUFFIXES))
def test_any_damaged_page_is_a_page_or_is_refused(
    folder: Path, source: Path, changes: list[tuple[float, int, bytes]], suffix: str
) -> None:
    content = source.read_bytes()
    for share, length, inserted in changes:
        place = int(share * len(content))
        content = content[:place] + inserted + content[place + length :]
    page_or_refusal(folder, content, suffix)


def test_the_name_does_not_decide_between_the_formats_in_xml(tmp_path: Path) -> None:
    path = tmp_path / "a.page.xml"
    path.write_bytes((DINGLEHOPPER / "lorem-ipsum-scan.ocr.tesseract.alto.xml").read_bytes())
    read = read_page_file(path)
    assert (read.name, read.text) == ("a", LOREM_IPSUM)
    assert read.confidence is not None
