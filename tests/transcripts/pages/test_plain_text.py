"""Plain text is read in whatever encoding it came, and what was guessed is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_samples import TESSERACT

from hallumeter.errors import InputError
from hallumeter.transcripts.pages.page_file import Page, read_page_file
from hallumeter.transcripts.pages.plain_text import decode, read_plain_text

CHECK = "check the letters, or save the file as UTF-8"


def read(folder: Path, data: bytes, name: str = "page.txt") -> Page:
    path = folder / name
    path.write_bytes(data)
    return read_page_file(path)


def test_what_tesseract_wrote_without_the_form_feed_at_its_end() -> None:
    expected = (
        "Le marché de Noël\n\nL'été dernier, la sœur du maire\n\n"
        "a vendu 36 gâteaux à l’église.\n\nOù était-il ce soir-là ?"
    )
    assert read_page_file(TESSERACT / "french.txt") == Page("french", expected)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_with_and_without_a_mark(tmp_path: Path, encoding: str) -> None:
    text = "été 한국어 שלום e\u0301 \u1112\u1161\u11ab 𝔸"
    assert read(tmp_path, text.encode(encoding)) == Page("page", text)


@pytest.mark.parametrize("mark", [b"\xfe\xff", b"\xff\xfe"])
def test_utf_16_of_either_order_with_a_cut_end(mark: bytes) -> None:
    order = "be" if mark[0] == 0xFE else "le"
    assert decode(mark + "한글".encode(f"utf-16-{order}")) == ("한글", [])
    cut = decode(mark + "한글".encode(f"utf-16-{order}")[:-1])
    assert cut == ("한\ufffd", ["some characters are not valid UTF-16 and became \ufffd"])


def test_bytes_that_are_not_utf_8_are_read_as_cp1252_and_said(tmp_path: Path) -> None:
    page = read(tmp_path, "L’œuvre à 5 €".encode("cp1252"))
    assert page.text == "L’œuvre à 5 €"
    assert page.notices == (f"some bytes are not UTF-8 and were read as cp1252; {CHECK}",)


def test_mixed_encodings_come_out_whole(tmp_path: Path) -> None:
    page = read(tmp_path, "déjà\n".encode() + "déjà".encode("latin-1"))
    assert page.text == "déjà\ndéjà"
    assert page.notices == (f"some bytes are not UTF-8 and were read as cp1252; {CHECK}",)


def test_bytes_that_cp1252_lacks_are_kept_as_latin_1() -> None:
    assert read_plain_text(b"a\x81b\xe9")[0] == "a\x81bé"


def test_a_mark_of_utf_8_does_not_hide_other_bytes() -> None:
    assert read_plain_text(b"\xef\xbb\xbf\xe9")[0] == "é"


def test_line_ends_become_line_feeds_and_those_at_the_end_are_left_out(tmp_path: Path) -> None:
    assert read(tmp_path, b"one\r\ntwo\rthree\n\nfour \r\n\r\n").text == "one\ntwo\nthree\n\nfour "


def test_an_empty_file_is_a_page_without_text(tmp_path: Path) -> None:
    assert read(tmp_path, b"") == Page("page", "")
    assert read(tmp_path, b"\xef\xbb\xbf\r\n") == Page("page", "")


def test_a_few_nul_characters_are_left_out_and_said(tmp_path: Path) -> None:
    page = read(tmp_path, b"one\0 two\0 three")
    assert (page.text, page.notices) == ("one two three", ("NUL characters were left out",))
    assert read(tmp_path, "a\0b".encode("utf-16")).notices == ("NUL characters were left out",)


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xe0 JFIF",
        b"%PDF-1.7\n",
        b"PK\x03\x04 a document of a word processor",
        b"\x1f\x8b\x08 compressed",
        bytes(range(256)),
        "a text of some length".encode("utf-16-le"),
    ],
    ids=["png", "jpeg", "pdf", "zip", "gzip", "all bytes", "utf-16 without a mark"],
)
@pytest.mark.parametrize("name", ["page.txt", "page.md", "page.hocr"])
def test_binary_files_are_refused(tmp_path: Path, data: bytes, name: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, data, name)
    expected = "looks like a binary file, not text; if it is UTF-16 without a mark, save it as UTF-8"
    assert str(caught.value) == f"{tmp_path / name}: {expected}"


@pytest.mark.parametrize("beginning", ["<?xml version='1.0'?><alto/>", " <html>", "<HTML lang='en'>"])
def test_markup_named_as_text_is_read_as_text_and_said(tmp_path: Path, beginning: str) -> None:
    page = read(tmp_path, beginning.encode())
    assert page.text == beginning
    assert page.notices == ("begins like XML or HTML but was read as plain text, because of its name",)


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [("charset=euc-kr", "euc-kr"), ("charset='ks_c_5601-1987'", "cp949"), ('encoding="windows-1251"', "cp1251")],
)
def test_markup_that_is_not_utf_8_may_declare_its_encoding(tmp_path: Path, declared: str, encoding: str) -> None:
    text = "Привет" if encoding == "cp1251" else "한국어"
    content = f"<html {declared}><p class=ocr_par>{text}</p>".encode(encoding)
    page = read(tmp_path, content, "page.html")
    assert page.text == text
    assert page.notices == (f"read as {declared.partition('=')[2].strip(chr(34) + chr(39))}, as it declares",)


@pytest.mark.parametrize("declared", ["unicode_escape", "hex", "idna", "cp99999", "nothing", "undefined"])
def test_declarations_of_other_codecs_are_passed_over(declared: str) -> None:
    text, notices = decode(f"<html charset={declared}>\\x41 é".encode("cp1252"), is_markup=True)
    assert text.endswith("\\x41 é")
    assert notices == [f"some bytes are not UTF-8 and were read as cp1252; {CHECK}"]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1))
def test_text_survives_a_file(text: str) -> None:
    try:
        assert read_plain_text(text.encode())[0] == text.removeprefix("\ufeff").rstrip("\n\f")
    except InputError:
        assert sum(character < " " or character == "\x7f" for character in text) > 8 or text.startswith(("%PDF", "PK"))


@given(st.binary())
def test_no_byte_is_lost_when_the_encoding_is_unknown(data: bytes) -> None:
    data = b"a" * 200 + data.translate(None, b"\0\r")  # enough letters to be a text
    text = decode(data)[0]
    assert len(text) >= len(data.decode("utf-8", "ignore"))
    text.encode("utf-8")  # can be written again
