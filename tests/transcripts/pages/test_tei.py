"""TEI and JSON pages: the text as it is on the page, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from hallumeter.errors import InputError
from hallumeter.transcripts.pages.page_file import read_page_file

TEI = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><title>Not on the page</title></teiHeader>
<text><body><pb n="1"/><head>Chapitre   I</head>
<p>Le <choice><orig>roy</orig><reg>roi</reg></choice> de<lb/>Fran<lb break="no"/>ce &amp; <choice><abbr>M.</abbr>
<expan>Monsieur</expan></choice> <del>est</del><note>An editor's note.</note><note place="margin">en marge</note></p>
<lg><l>un</l><l>deux</l></lg></body></text></TEI>"""


def test_tei_is_read_as_the_page_has_it(tmp_path: Path) -> None:
    path = tmp_path / "p1.xml"
    path.write_text(TEI, encoding="utf-8")
    page = read_page_file(path)
    assert (page.name, page.text) == ("p1", "Chapitre I\nLe roy de\nFran\nce & M. en marge\nun\ndeux")
    assert page.notices == ()


def test_tei_of_several_pages_is_read_as_one_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "book.xml"
    path.write_text("<TEI><text><pb/>un<pb/>deux</text></TEI>", encoding="utf-8")
    page = read_page_file(path)
    assert page.text == "un\ndeux"
    assert page.notices == ("holds several pages, which were read as one; export a file for each page",)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('{"text": "le roi\\nde"}', "le roi\nde"),
        ('\ufeff"le roi"', "le roi"),
        ('["le", "roi"]', "le\nroi"),
        (
            '{"id": 7, "lines": [{"text": "le roi"}, {"words": [{"text": "de"}, {"text": "france"}]}]}',
            "le roi\nde france",
        ),
        ('{"text": ""}', ""),
    ],
)
def test_json_pages_have_a_text_or_lines(tmp_path: Path, content: str, text: str) -> None:
    path = tmp_path / "p1.json"
    path.write_text(content, encoding="utf-8")
    assert read_page_file(path).text == text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"title": "x"}', "holds no text; expected one under text, transcription, content, or lines under lines"),
        ("[1]", "holds no text"),
        ("{", "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ("[" * 40 + "]" * 40, "holds no text"),
    ],
    ids=["names", "numbers", "damaged", "endless", "deep"],
)
def test_json_without_a_text_is_refused_in_one_line(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "p1.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_page_file(path)
    assert str(error.value).startswith(f"{path}: {reason}")
    assert "\n" not in str(error.value)
