"""hOCR gives words and lines, however untidy its HTML is, and in a time that grows with its length only."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from page_samples import ENGLISH, FRENCH, KOREAN, TESSERACT

from hallumeter.errors import InputError
from hallumeter.transcripts.pages.hocr import read_hocr
from hallumeter.transcripts.pages.page_file import read_page_file


@pytest.mark.parametrize(
    ("name", "expected"),
    [("english", ENGLISH), ("english-characters", ENGLISH), ("french", FRENCH), ("korean", KOREAN)],
)
def test_what_tesseract_wrote(name: str, expected: str) -> None:
    page = read_page_file(TESSERACT / f"{name}.hocr")
    assert (page.name, page.text, page.notices) == (name, expected, ())


def test_hocr_in_a_file_named_xml_is_known_by_its_outermost_element(tmp_path: Path) -> None:
    copy = tmp_path / "french.xml"
    copy.write_bytes((TESSERACT / "french.hocr").read_bytes())
    assert read_page_file(copy).text == FRENCH


def word(text: str) -> str:
    return f"<span class='ocrx_word' title='bbox 1 2 3 4'>{text}</span>"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (word("a") + word("b"), "a b"),
        (f"{word('a')},\n {word('b')}", "a, b"),
        (f"{word('<strong><em>bold</em></strong>')} {word('b')}", "bold b"),
        (word("R&amp;D") + word("caf&eacute;") + word("&#8364;5") + word("&unknown;"), "R&D café €5 &unknown;"),
        (word("&#" + "9" * 5000 + ";"), "&#" + "9" * 5000 + ";"),
        (word("&#xD800;&#0;"), "\ufffd\ufffd"),
        ("one<br>two<br/>three", "one\ntwo\nthree"),
        (f"<span class='ocr_line'>{word('a')}</span><span class='ocr_line'>{word('b')}</span>", "a\nb"),
        (f"<span class='ocr_line'>{word('a')}<span class='ocr_line'>{word('b')}", "a\nb"),
        (f"<span class='ocr_header'>{word('a')}</span><span class='ocr_caption'>{word('b')}</span>", "a\nb"),
        ("<p class='ocr_par'>no words\n   here</p><p>nor here</p>", "no words here\nnor here"),
        ("<!-- not <b>this</b> -->a<script>if (a<b) x('</p>')</script><style>p {}</style>b", "ab"),
        ("a\u00a0b &nbsp; c", "a\u00a0b \u00a0 c"),
        ("한\u3000글 שלום", "한\u3000글 שלום"),
        ("1 < 2", "1 < 2"),
        ("<span class=ocrx_word id=w>a</span></i></b>", "a"),
        ('<span title="image a<b.png; x>y" class="other ocrx_word">a</span>', "a"),
        ("<SPAN CLASS='ocrx_word'>a</SPAN><span class='ocrx_word'/><span class='ocrx_word'>b</span>", "a b"),
        ("a<span class", "a"),
        ("a<!-- open", "a"),
    ],
)
def test_words_and_lines(content: str, expected: str) -> None:
    title = "<head><title>not this</title></head>"
    assert read_hocr(f"<html>{title}<body>nor this<div class='ocr_page'>{content}")[0] == expected


def test_letters_with_boxes_of_their_own_make_one_word() -> None:
    letters = "".join(f"\n  <span class='ocrx_cinfo' title='x_bboxes 1'>{letter}</span>" for letter in "ab")
    assert read_hocr(f"<p class='ocr_par'>{word(letters)}\n{word(letters + '!')} {word('c d')}</p>")[0] == "ab ab! c d"


def test_a_page_without_text_is_empty() -> None:
    assert read_hocr("<div class='ocr_page'> </div>")[0] == ""


@pytest.mark.parametrize("content", ["", "<html><p class='ocr'>text</p></html>", "plain text", "<p title='ocr_page'>"])
def test_html_without_a_class_of_hocr_is_refused(content: str) -> None:
    with pytest.raises(InputError, match=r"^holds no hOCR: expected elements with classes such as ocr_page"):
        read_hocr(content)


@pytest.mark.parametrize(
    "unit",
    ["<!--", "<a ", "<a b='", '<a b="c" ', '<a "<<<<', "</a", "<b>", "</i>", "<![CDATA[", "<", "<?", '<a ="', "<a/"],
)
def test_time_grows_with_the_length_only_whatever_is_left_open(unit: str) -> None:
    # The standard library's parser takes more than a minute for some of these.
    started = time.perf_counter()
    read_hocr("<p class='ocr_page'>" + unit * (200_000 // len(unit)))
    assert time.perf_counter() - started < 20


LETTERS = ["<", ">", "/", "'", '"', "=", " ", "\n", "span", "p", "br", "class", "ocr_line", "ocrx_word", "a", "한"]
MARKUP = [
    "<!--",
    "-->",
    "<![CDATA[",
    "</",
    "<p class='ocr_par'>",
    "</p>",
    "<span class='ocrx_word'>",
    "</span>",
    "&amp;",
]
pieces = st.sampled_from([*LETTERS, *MARKUP, "<span class='ocrx_cinfo'>"])


@examples(max_examples=500)
@given(st.lists(pieces, max_size=40).map("".join))
def test_any_markup_gives_lines_without_blank_ones(content: str) -> None:
    text, *_ = read_hocr(f"<div class='ocr_page'>{content}")
    assert all(line.strip(" \t\f\r") for line in text.split("\n") if text)


def test_lines_have_places_on_the_page() -> None:
    content = (
        "<div class='ocr_page' title='image \"a.png\"; bbox 0 0 100 200'><p class='ocr_par' title='bbox 0 0 90 90'>"
        "<span class='ocr_line' title='bbox 10 20 60 30; baseline 0 -2'><span class='ocrx_word' title='bbox 1 1 2 2'>ab"
        "</span></span><span class='ocr_line'><span class='ocrx_word'>c</span></span></p></div>"
    )
    text, _, places = read_hocr(content)
    assert text == "ab\nc"
    assert [(text[place.start : place.end], place[2:]) for place in places] == [("ab", (1000, 1000, 6000, 1500))]
    assert read_hocr(content.replace("bbox 0 0 100 200", ""))[2] == ()


def test_tesseract_says_where_its_lines_stand() -> None:
    page = read_page_file(TESSERACT / "french.hocr")
    assert len(page.places) == len(page.text.splitlines())
    tops = [place.top for place in page.places]
    assert tops == sorted(tops)
