"""ALTO of any version gives the printed lines, hyphens included, in reading order."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_samples import DINGLEHOPPER, ENGLISH, FRENCH, KOREAN, LOREM_IPSUM, TESSERACT

from hallumeter.transcripts.pages.page_file import read_page_file


def text_of(folder: Path, layout: str, *, before: str = "", namespace: str = "") -> str:
    path = folder / "page.xml"
    path.write_text(f"<alto{namespace}>{before}<Layout><Page>{layout}</Page></Layout></alto>", encoding="utf-8")
    return read_page_file(path).text


def block(*lines: str, identifier: str = "b") -> str:
    strings = [" ".join(f'<String CONTENT="{word}"/>' for word in line.split()) for line in lines]
    texts = "".join(f'<TextLine ID="{identifier}l{n}">{line}</TextLine>' for n, line in enumerate(strings))
    return f'<TextBlock ID="{identifier}">{texts}</TextBlock>'


@pytest.mark.parametrize(("language", "expected"), [("english", ENGLISH), ("french", FRENCH), ("korean", KOREAN)])
def test_what_tesseract_wrote(language: str, expected: str) -> None:
    page = read_page_file(TESSERACT / f"{language}.alto.xml")
    assert (page.name, page.text, page.notices) == (language, expected, ())


def test_a_clean_scan_of_a_known_text() -> None:
    page = read_page_file(DINGLEHOPPER / "lorem-ipsum-scan.ocr.tesseract.alto.xml")
    assert (page.name, page.text) == ("lorem-ipsum-scan", LOREM_IPSUM)


@pytest.mark.parametrize(
    "namespace",
    [
        "",
        ' xmlns="http://www.loc.gov/standards/alto/ns-v2#"',
        ' xmlns="http://www.loc.gov/standards/alto/ns-v3#"',
        ' xmlns="http://www.loc.gov/standards/alto/ns-v4#"',
        ' xmlns="http://bibnum.bnf.fr/ns/alto_prod"',
    ],
)
def test_the_version_makes_no_difference(tmp_path: Path, namespace: str) -> None:
    assert text_of(tmp_path, block("ein Wort"), namespace=namespace) == "ein Wort"


def test_spaces_stand_where_the_line_has_them(tmp_path: Path) -> None:
    line = '<String CONTENT="bold"/><String CONTENT="ly"/><SP/><String CONTENT="said"/><SP/>'
    assert text_of(tmp_path, f"<TextBlock><TextLine>{line}</TextLine></TextBlock>") == "boldly said"


def test_a_string_that_is_a_space_is_not_taken_for_a_mark_of_spaces(tmp_path: Path) -> None:
    strings = "".join(f'<String CONTENT="{content}"/>' for content in ("le", " ", "roi", "est"))
    assert text_of(tmp_path, f"<TextBlock><TextLine>{strings}</TextLine></TextBlock>") == "le roi est"


def test_a_line_without_spaces_has_one_between_strings(tmp_path: Path) -> None:
    assert text_of(tmp_path, block("no space given")) == "no space given"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('<String CONTENT="a"/><SP/><String CONTENT="Wort" SUBS_CONTENT="Wortlaut"/><HYP CONTENT="-"/>', "a Wort-"),
        ('<String CONTENT="a"/><String CONTENT="Wort"/><HYP CONTENT="⸗"/>', "a Wort⸗"),
        ('<String CONTENT="a"/><SP/><HYP CONTENT="-"/>', "a -"),
        ('<HYP CONTENT="-"/>', "-"),
        ('<String CONTENT="Wort"/><HYP/>', "Wort"),
    ],
)
def test_a_hyphen_is_kept_as_it_is_printed(tmp_path: Path, line: str, expected: str) -> None:
    assert text_of(tmp_path, f"<TextBlock><TextLine>{line}</TextLine></TextBlock>") == expected


def test_blocks_of_margins_and_composed_blocks_follow_each_other_by_lines(tmp_path: Path) -> None:
    layout = (
        f"<TopMargin>{block('heading')}</TopMargin>"
        f"<PrintSpace><ComposedBlock>{block('first line', 'second line')}{block('other')}</ComposedBlock></PrintSpace>"
    )
    assert text_of(tmp_path, layout) == "heading\nfirst line\nsecond line\nother"


def test_lines_without_text_leave_no_trace(tmp_path: Path) -> None:
    empty = '<TextLine/><TextLine><String CONTENT=" "/></TextLine><TextLine><String/></TextLine>'
    assert text_of(tmp_path, f"{block('a')}<TextBlock>{empty}</TextBlock>{block('b')}") == "a\nb"
    assert text_of(tmp_path, "<PrintSpace/>") == ""


def test_alternatives_and_glyphs_are_no_words(tmp_path: Path) -> None:
    string = '<String CONTENT="cat"><ALTERNATIVE>eat</ALTERNATIVE><Glyph CONTENT="c"/></String>'
    assert text_of(tmp_path, f"<TextBlock><TextLine>{string}</TextLine></TextBlock>") == "cat"


def test_the_reading_order_of_version_4_is_followed(tmp_path: Path) -> None:
    order = (
        '<ReadingOrder><OrderedGroup ID="g"><ElementRef ID="r1" REF="three"/>'
        '<UnorderedGroup ID="h"><ElementRef ID="r2" REF="onel1 onel0"/></UnorderedGroup>'
        '<ElementRef ID="r3" REF="missing"/></OrderedGroup></ReadingOrder>'
    )
    layout = block("a", "b", identifier="one") + block("c", identifier="two") + block("d", identifier="three")
    assert text_of(tmp_path, layout, before=order) == "d\nb\na\nc"


def test_parts_that_share_an_identifier_are_all_read(tmp_path: Path) -> None:
    order = '<ReadingOrder><OrderedGroup><ElementRef REF="x"/><ElementRef REF="x"/></OrderedGroup></ReadingOrder>'
    layout = block("a", identifier="y") + block("b", identifier="x") + block("c", identifier="x")
    assert text_of(tmp_path, layout, before=order) == "b\nc\na"


def test_entities_of_xml_itself_are_letters(tmp_path: Path) -> None:
    assert text_of(tmp_path, block("Smith &amp; S&#246;hne &lt;1&gt;")) == "Smith & Söhne <1>"


def test_lines_have_places_on_the_page(tmp_path: Path) -> None:
    path = tmp_path / "page.xml"
    place = 'HPOS="10" VPOS="20" WIDTH="50" HEIGHT="10"'
    path.write_text(
        f'<alto><Layout><Page WIDTH="100" HEIGHT="200"><TextBlock><TextLine {place}><String CONTENT="ab"/></TextLine>'
        '<TextLine HPOS="x"><String CONTENT="c"/></TextLine></TextBlock></Page></Layout></alto>',
        encoding="utf-8",
    )
    page = read_page_file(path)
    assert [(page.text[each.start : each.end], each[2:]) for each in page.places] == [("ab", (1000, 1000, 6000, 1500))]
