"""PAGE XML of any version gives its lines in reading order, from whatever level holds the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_samples import DINGLEHOPPER, FILES, LOREM_IPSUM
from rapidfuzz.distance import Levenshtein

from hallumeter.transcripts.pages.page_file import read_page_file
from hallumeter.transcripts.pages.page_xml import PageLevel

NAMESPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"


def text_of(folder: Path, page: str) -> str:
    path = folder / "page.xml"
    content = f'<p:PcGts xmlns:p="{NAMESPACE}"><Page xmlns="{NAMESPACE}">{page}</Page></p:PcGts>'
    path.write_text(content, encoding="utf-8")
    return read_page_file(path).text


def equiv(text: str, index: object = None) -> str:
    attribute = "" if index is None else f' index="{index}"'
    return f"<TextEquiv{attribute}><Unicode>{text}</Unicode></TextEquiv>"


def region(identifier: str, *lines: str, inside: str = "", kind: str = "TextRegion") -> str:
    content = "".join(f"<TextLine>{equiv(line)}</TextLine>" for line in lines)
    return f'<{kind} id="{identifier}"><Coords points="0,0 1,1"/>{content}{inside}</{kind}>'


def test_a_page_of_2013_by_hand() -> None:
    page = read_page_file(FILES / "page-2013.page.xml")
    assert page.name == "page-2013"
    assert page.text == "Kapitel I.\nVon den Voͤgeln\nDer Rabe iſt ſchwarz, die\nTaube aber weiß.\n7"


def test_a_page_of_2019_by_hand() -> None:
    page = read_page_file(FILES / "page-2019.xml")
    assert page.text == "한국의 강\nName Länge\n낙동강 510 km\n한강 494 km\n각주"


@pytest.mark.parametrize("name", ["lorem-ipsum-scan", "lorem-ipsum-scan-bad"])
def test_a_reference_whose_text_stands_in_the_region_only(name: str) -> None:
    page = read_page_file(DINGLEHOPPER / f"{name}.gt.page.xml")
    assert (page.name, page.text) == (name, LOREM_IPSUM)


def test_a_bad_scan_differs_by_the_eight_characters_that_other_tools_count() -> None:
    # The tests of dinglehopper state these counts, verified by hand there: words in each line, and differences.
    reference = read_page_file(DINGLEHOPPER / "lorem-ipsum-scan-bad.gt.page.xml").text
    response = read_page_file(DINGLEHOPPER / "lorem-ipsum-scan-bad.ocr.tesseract.alto.xml").text
    assert [len(line.split()) for line in reference.split("\n")] == [14, 18, 17, 14, 17, 17, 3]
    assert Levenshtein.distance(reference, response) == 8


def test_a_page_that_an_engine_wrote() -> None:
    page = read_page_file(DINGLEHOPPER / "00000139.ocrd-tess.ocr.page.xml")
    lines = page.text.split("\n")
    assert page.name == "00000139"
    assert len(lines) == 32  # counted by hand
    assert lines[0] == "Die ſcheinen uns bald kleine Hügel - bald Hütten x Zelten und bald"
    assert lines[7:9] == ["Was erhebt des Schöpfers Güte", "Mehr , als dieſes Seegens Meer?"]
    assert lines[-2:] == ["5) 2", "ARIA."]


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        (equiv("third", 2) + equiv("first", 0) + equiv("second", 1), "first"),
        (equiv("first") + equiv("second"), "first"),
        (equiv("no index") + equiv("index", 3), "index"),
        (equiv("", 0) + equiv("not empty", 1), "not empty"),
        (equiv("no number", "one") + equiv("number", "10"), "number"),
        ("<TextEquiv><PlainText>plain</PlainText><Unicode>full</Unicode></TextEquiv>", "full"),
    ],
)
def test_of_several_readings_the_lowest_index_counts(tmp_path: Path, readings: str, expected: str) -> None:
    assert text_of(tmp_path, f"<TextRegion><TextLine>{readings}</TextLine></TextRegion>") == expected


def test_a_line_without_text_takes_its_words_and_those_their_glyphs(tmp_path: Path) -> None:
    parts = f"<Graphemes><Grapheme>{equiv('´')}</Grapheme></Graphemes>"
    glyphs = f"<Glyph>{parts}{equiv('d')}</Glyph><Glyph>{equiv('e')}</Glyph><Glyph/>"
    line = f"<TextLine><Word>{equiv('one')}<Glyph>{equiv('x')}</Glyph></Word><Word/><Word>{glyphs}</Word></TextLine>"
    assert text_of(tmp_path, f"<TextRegion>{line}</TextRegion>") == "one de"


def test_the_text_of_a_line_wins_over_its_words_and_that_of_a_region_is_the_last_resort(tmp_path: Path) -> None:
    line = f"<TextLine><Word>{equiv('word')}</Word>{equiv('line')}</TextLine>"
    assert text_of(tmp_path, f"<TextRegion>{line}{equiv('region')}</TextRegion>") == "line"
    assert text_of(tmp_path, f"<TextRegion><TextLine/>{equiv('region')}</TextRegion>") == "region"
    assert text_of(tmp_path, region("r", inside=equiv("outer") + region("s", "inner"))) == "inner"


def test_a_region_with_the_same_lines_in_another_order_gives_the_order(tmp_path: Path) -> None:
    assert text_of(tmp_path, region("r", "a", "c", "b", "a", inside=equiv("a\nb\na\nc"))) == "a\nb\na\nc"


@pytest.mark.parametrize("text", ["a\nb\nd", "a\nb", "a b c", "a\nb\nc\nc"])
def test_a_region_with_other_lines_changes_nothing(tmp_path: Path, text: str) -> None:
    assert text_of(tmp_path, region("r", "a", "c", "b", inside=equiv(text))) == "a\nc\nb"


def test_regions_follow_the_indices_of_an_ordered_group(tmp_path: Path) -> None:
    references = "".join(f'<RegionRefIndexed index="{n}" regionRef="r{n}"/>' for n in (10, 2, 1))
    order = f'<ReadingOrder><OrderedGroup id="g">{references}</OrderedGroup></ReadingOrder>'
    assert text_of(tmp_path, order + region("r10", "j") + region("r2", "b") + region("r1", "a")) == "a\nb\nj"


def test_groups_stand_inside_groups(tmp_path: Path) -> None:
    order = (
        '<ReadingOrder><OrderedGroup id="g">'
        '<UnorderedGroupIndexed index="1" id="u"><RegionRef regionRef="c"/><RegionRef regionRef="b"/>'
        '<OrderedGroup id="o"><RegionRefIndexed index="1" regionRef="e"/><RegionRefIndexed index="0" regionRef="d"/>'
        "</OrderedGroup></UnorderedGroupIndexed>"
        '<OrderedGroupIndexed index="0" id="i" regionRef="a"><RegionRefIndexed index="0" regionRef="f"/>'
        "</OrderedGroupIndexed></OrderedGroup></ReadingOrder>"
    )
    regions = "".join(region(name, name) for name in "abcdefg")
    assert "".join(text_of(tmp_path, order + regions).split("\n")) == "fa" + "cbde" + "g"


def test_a_region_inside_another_comes_with_it_unless_the_order_names_it(tmp_path: Path) -> None:
    inner = region("named", "elsewhere") + region("unnamed", "inside")
    table = region("table", inside=inner, kind="TableRegion")
    references = '<RegionRef regionRef="table"/><RegionRef regionRef="named"/>'
    order = f"<ReadingOrder><UnorderedGroup>{references}</UnorderedGroup></ReadingOrder>"
    assert text_of(tmp_path, order + region("x", "left over") + table) == "inside\nelsewhere\nleft over"


def test_an_order_of_nothing_loses_nothing(tmp_path: Path) -> None:
    order = '<ReadingOrder><UnorderedGroup><RegionRef regionRef="missing"/><RegionRef/></UnorderedGroup></ReadingOrder>'
    assert text_of(tmp_path, order + region("a", "a") + region("b", "b")) == "a\nb"
    assert text_of(tmp_path, region("a", kind="ImageRegion")) == ""


def placed(text: str, box: tuple[int, int, int, int], *, custom: str = "", kind: str = "TextLine") -> str:
    left, top, right, bottom = box
    points = f"{left},{top} {right},{top} {right},{bottom} {left},{bottom}"
    content = equiv(text) if kind == "TextLine" else f"<TextLine>{equiv(text)}</TextLine>"
    return f'<{kind} custom="{custom}"><Coords points="{points}"/>{content}</{kind}>'


def test_lines_follow_the_index_that_transkribus_and_escriptorium_write(tmp_path: Path) -> None:
    lines = [
        placed(
            text, (0, 10 * number, 90, 10 * number + 9), custom=f"readingOrder {{index:{place};}} structure {{type:x;}}"
        )
        for number, (text, place) in enumerate([("three", 2), ("one", 0), ("two", 1)])
    ]
    assert text_of(tmp_path, f"<TextRegion>{''.join(lines)}</TextRegion>") == "one\ntwo\nthree"


def test_lines_without_an_index_follow_their_place(tmp_path: Path) -> None:
    lines = [placed("three", (0, 30, 90, 40)), placed("one", (0, 10, 90, 19)), placed("two", (0, 20, 90, 31))]
    assert text_of(tmp_path, f"<TextRegion>{''.join(lines)}</TextRegion>") == "one\ntwo\nthree"
    baselines = "".join(
        f'<TextLine><Baseline points="0,{y} 90,{y}"/>{equiv(text)}</TextLine>' for text, y in (("b", 20), ("a", 10))
    )
    assert text_of(tmp_path, f"<TextRegion>{baselines}</TextRegion>") == "a\nb"


def test_a_line_without_a_place_leaves_the_order_of_the_file(tmp_path: Path) -> None:
    lines = placed("b", (0, 20, 90, 30)) + placed("a", (0, 10, 90, 19)) + f"<TextLine>{equiv('c')}</TextLine>"
    assert text_of(tmp_path, f"<TextRegion>{lines}</TextRegion>") == "b\na\nc"
    nowhere = lines.replace("0,20 90,20", "nowhere").replace("90,30 0,30", "")
    assert text_of(tmp_path, f"<TextRegion>{nowhere}</TextRegion>") == "b\na\nc"


def test_regions_without_an_order_are_read_as_columns_under_their_heading(tmp_path: Path) -> None:
    regions = {
        "right": (60, 20, 100, 90),
        "left below": (0, 50, 40, 90),
        "heading": (0, 0, 100, 10),
        "left": (0, 20, 40, 45),
        "foot": (0, 95, 100, 99),
    }
    page = "".join(placed(text, box, kind="TextRegion") for text, box in regions.items())
    assert text_of(tmp_path, page) == "heading\nleft\nleft below\nright\nfoot"


def test_pieces_of_one_row_are_read_from_left_to_right(tmp_path: Path) -> None:
    lines = placed("end", (50, 11, 90, 20)) + placed("start", (0, 10, 55, 21)) + placed("same", (0, 10, 55, 21))
    assert text_of(tmp_path, f"<TextRegion>{lines}</TextRegion>") == "start\nsame\nend"


@pytest.mark.parametrize(
    ("level", "expected"), [("region", "of the region"), ("line", "of the line"), ("word", "a word")]
)
def test_the_level_says_which_text_counts_where_they_differ(tmp_path: Path, level: PageLevel, expected: str) -> None:
    words = f"<Word>{equiv('a')}</Word><Word>{equiv('word')}</Word>"
    page = f"<TextRegion><TextLine>{words}{equiv('of the line')}</TextLine>{equiv('of the region')}</TextRegion>"
    path = tmp_path / "page.xml"
    path.write_text(f"<PcGts><Page>{page}</Page></PcGts>", encoding="utf-8")
    assert read_page_file(path, level=level).text == expected


def test_a_reordered_but_otherwise_identical_page_has_no_error(tmp_path: Path) -> None:
    lines = [placed(f"line {number}", (0, 10 * number, 90, 10 * number + 9)) for number in range(9)]
    texts = [
        text_of(tmp_path, f"<TextRegion>{''.join(order)}</TextRegion>")
        for order in (lines, lines[::-1], lines[4:] + lines[:4])
    ]
    assert len(set(texts)) == 1


def test_lines_have_places_on_the_page_whatever_their_order(tmp_path: Path) -> None:
    lines = (
        placed("below", (10, 50, 60, 60)) + placed("above", (10, 10, 60, 20)) + f"<TextLine>{equiv('free')}</TextLine>"
    )
    baseline = (
        f"<TextLine custom='readingOrder {{index:9;}}'><Baseline points='10,80 60,80'/>{equiv('line')}</TextLine>"
    )
    path = tmp_path / "page.xml"

    def places(content: str, page: str = 'imageWidth="100" imageHeight="200"') -> list[tuple[str, tuple[int, ...]]]:
        path.write_text(f"<PcGts><Page {page}><TextRegion>{content}</TextRegion></Page></PcGts>", encoding="utf-8")
        read = read_page_file(path)
        return [(read.text[place.start : place.end], place[2:]) for place in read.places]

    above, below = ("above", (1000, 500, 6000, 1000)), ("below", (1000, 2500, 6000, 3000))
    assert places(placed("below", (10, 50, 60, 60)) + placed("above", (10, 10, 60, 20))) == [above, below]
    # A line without coordinates has no place; then the file gives the order.
    assert places(lines) == [below, above]
    assert places(baseline) == [("line", (1000, 3940, 6000, 4000))]
    for page in ("", 'imageWidth="0" imageHeight="200"', 'imageWidth="wide" imageHeight="200"'):
        assert places(lines, page) == []
    # What lies outside of the page is cut, and what has no extent is left out.
    assert places(placed("wide", (-50, 10, 500, 20))) == [("wide", (0, 500, 10000, 1000))]
    assert places(placed("thin", (10, 10, 10, 20))) == []
