"""Pages on a shelf come back as they were put there, joined by name."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hallumeter.store import PageShelf, ShelvedPage, ShelvedReading

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
# Two spellings of the same characters are the same page.
NAME = TEXT.map(lambda text: unicodedata.normalize("NFC", text))


def reading(engine: str, response: str = "r", **fields: str | float | bool) -> ShelvedReading:
    return ShelvedReading(engine, response, dict(fields))


def test_pages_and_engines_keep_the_order_in_which_they_were_first_seen() -> None:
    with PageShelf() as shelf:
        assert shelf.put_reference("b", "B")
        assert shelf.put_reading("a", reading("y"))
        assert shelf.put_reading("b", reading("x"))
        assert shelf.put_reading("b", reading("y", "other", century=15))
        assert shelf.put_reference("a", "A")
        assert shelf.engines == ("y", "x")
        assert shelf.count_paired() == 2
        assert list(shelf.pages()) == [
            ShelvedPage("b", "B", (reading("y", "other", century=15), reading("x"))),
            ShelvedPage("a", "A", (reading("y"),)),
        ]


def test_the_first_reference_and_the_first_reading_stay() -> None:
    with PageShelf() as shelf:
        assert shelf.put_reference("a", "A")
        assert shelf.put_reference("a", "A")
        assert not shelf.put_reference("a", "other")
        assert shelf.put_reading("a", reading("x", "one"))
        assert not shelf.put_reading("a", reading("x", "two"))
        assert list(shelf.pages()) == [ShelvedPage("a", "A", (reading("x", "one"),))]


def test_an_empty_text_is_a_text_and_no_text_is_none() -> None:
    with PageShelf() as shelf:
        assert shelf.put_reference("blank", "")
        assert not shelf.put_reference("blank", "text")
        assert shelf.put_reading("unknown", reading("x", ""))
        assert [(page.page, page.reference, len(page.readings)) for page in shelf.pages()] == [
            ("blank", "", 0),
            ("unknown", None, 1),
        ]


@given(st.lists(st.tuples(NAME, TEXT, TEXT, TEXT, TEXT), unique_by=lambda row: row[0]))
def test_any_text_comes_back(rows: list[tuple[str, str, str, str, str]]) -> None:
    with PageShelf() as shelf:
        for page, reference, engine, response, field in rows:
            assert shelf.put_reference(page, reference)
            assert shelf.put_reading(page, reading(engine, response, field=field))
        assert list(shelf.pages()) == [
            ShelvedPage(page, reference, (reading(engine, response, field=field),))
            for page, reference, engine, response, field in rows
        ]


def test_broken_characters_become_question_marks_everywhere() -> None:
    with PageShelf() as shelf:
        assert shelf.put_reference("p\ud800", "r\udfff")
        assert shelf.put_reference("p\ud800", "r\udfff")
        assert shelf.put_reading("p\ud800", ShelvedReading("e\ud800", "\ud800x", {"f\ud800": "v\ud800"}))
        assert shelf.engines == ("e?",)
        assert list(shelf.pages()) == [ShelvedPage("p?", "r?", (ShelvedReading("e?", "?x", {"f?": "v?"}),))]


def test_nothing_is_left_on_disk() -> None:
    with PageShelf() as shelf:
        folder = Path(shelf._folder.name)
        assert folder.exists()
    assert not folder.exists()


def test_only_pages_with_a_reference_and_a_reading_are_paired() -> None:
    with PageShelf() as shelf:
        shelf.put_reference("unread", "r")
        shelf.put_reading("unknown", reading("x"))
        assert shelf.count_paired() == 0
        shelf.put_reference("both", "r")
        shelf.put_reading("both", reading("x"))
        shelf.put_reading("both", reading("y"))
        assert shelf.count_paired() == 1
