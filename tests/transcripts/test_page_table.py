"""Pages in a table come back as they were put there, joined by name."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.transcripts.inputs import EngineReading, PageTable, StoredPage

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
# Two spellings of the same characters are the same page.
NAME = TEXT.map(lambda text: unicodedata.normalize("NFC", text))


def reading(engine: str, response: str = "r", **fields: str | float | bool) -> EngineReading:
    return EngineReading(engine, response, dict(fields))


def test_pages_and_engines_keep_the_order_in_which_they_were_first_seen() -> None:
    with PageTable() as page_table:
        assert page_table.put_reference("b", "B")
        assert page_table.put_reading("a", reading("y"))
        assert page_table.put_reading("b", reading("x"))
        assert page_table.put_reading("b", reading("y", "other", century=15))
        assert page_table.put_reference("a", "A")
        assert page_table.engines == ("y", "x")
        assert page_table.count_paired() == 2
        assert list(page_table.pages()) == [
            StoredPage("b", "B", (reading("y", "other", century=15), reading("x"))),
            StoredPage("a", "A", (reading("y"),)),
        ]


def test_the_first_reference_and_the_first_reading_stay() -> None:
    with PageTable() as page_table:
        assert page_table.put_reference("a", "A")
        assert page_table.put_reference("a", "A")
        assert not page_table.put_reference("a", "other")
        assert page_table.put_reading("a", reading("x", "one"))
        assert not page_table.put_reading("a", reading("x", "two"))
        assert list(page_table.pages()) == [StoredPage("a", "A", (reading("x", "one"),))]


def test_an_empty_text_is_a_text_and_no_text_is_none() -> None:
    with PageTable() as page_table:
        assert page_table.put_reference("blank", "")
        assert not page_table.put_reference("blank", "text")
        assert page_table.put_reading("unknown", reading("x", ""))
        assert [(page.page, page.reference, len(page.readings)) for page in page_table.pages()] == [
            ("blank", "", 0),
            ("unknown", None, 1),
        ]


@given(st.lists(st.tuples(NAME, TEXT, TEXT, TEXT, TEXT), unique_by=lambda row: row[0]))
def test_any_text_comes_back(rows: list[tuple[str, str, str, str, str]]) -> None:
    with PageTable() as page_table:
        for page, reference, engine, response, field in rows:
            assert page_table.put_reference(page, reference)
            assert page_table.put_reading(page, reading(engine, response, field=field))
        assert list(page_table.pages()) == [
            StoredPage(page, reference, (reading(engine, response, field=field),))
            for page, reference, engine, response, field in rows
        ]


def test_broken_characters_become_question_marks_everywhere() -> None:
    with PageTable() as page_table:
        assert page_table.put_reference("p\ud800", "r\udfff")
        assert page_table.put_reference("p\ud800", "r\udfff")
        assert page_table.put_reading("p\ud800", EngineReading("e\ud800", "\ud800x", {"f\ud800": "v\ud800"}))
        assert page_table.engines == ("e?",)
        assert list(page_table.pages()) == [StoredPage("p?", "r?", (EngineReading("e?", "?x", {"f?": "v?"}),))]


def test_nothing_is_left_on_disk() -> None:
    with PageTable() as page_table:
        folder = Path(page_table._folder.name)
        assert folder.exists()
    assert not folder.exists()


def test_only_pages_with_a_reference_and_a_reading_are_paired() -> None:
    with PageTable() as page_table:
        page_table.put_reference("unread", "r")
        page_table.put_reading("unknown", reading("x"))
        assert page_table.count_paired() == 0
        page_table.put_reference("both", "r")
        page_table.put_reading("both", reading("x"))
        page_table.put_reading("both", reading("y"))
        assert page_table.count_paired() == 1


PAGES = [f"p{number}" for number in range(700)]


def filled(*steps: tuple[str | None, list[str]], together: bool) -> tuple[list[StoredPage], int, list[list[int]]]:
    """Pages, how many are paired, and which rows were refused; a step without an engine holds references."""
    with PageTable() as page_table:
        page_table._FEWEST_TOGETHER = 64 if together else 10**9
        refused = []
        for step, (engine, names) in enumerate(steps):
            texts = [f"{engine} {step} {name}" for name in names]
            if engine is None:
                refused.append(page_table.put_references(names, texts))
            else:
                rows = [(name, reading(engine, text)) for name, text in zip(names, texts, strict=True)]
                refused.append(page_table.put_readings(rows))
        return list(page_table.pages()), page_table.count_paired(), refused


@pytest.mark.parametrize(
    "steps",
    [
        [(None, PAGES), ("a", PAGES)],
        [(None, PAGES[:300]), (None, PAGES[300:]), ("a", PAGES[:500]), ("a", PAGES[500:]), ("b", PAGES[:90])],
        [(None, PAGES), ("a", PAGES[:300]), ("a", PAGES[301:]), ("b", PAGES)],
        [(None, PAGES), ("a", PAGES), ("b", PAGES[::-1])],
        [(None, PAGES), ("a", PAGES), ("a", PAGES[:3])],
        [(None, PAGES), ("a", PAGES), (None, ["p3", "new"]), ("a", ["new"])],
        [(None, PAGES[:300]), ("a", PAGES[:300]), ("a", PAGES[300:]), (None, PAGES[300:])],
        [(None, [*PAGES[:100], "p7"]), ("a", PAGES[:100])],
        [("a", PAGES), (None, PAGES)],
    ],
    ids=["same", "parts", "gap", "reversed", "twice", "later", "readings first", "double", "no references"],
)
def test_texts_that_are_kept_together_come_back_as_those_kept_apart(steps: list[tuple[str | None, list[str]]]) -> None:
    assert filled(*steps, together=True) == filled(*steps, together=False)


def test_only_the_names_of_pages_in_order_are_in_the_database() -> None:
    with PageTable() as page_table:
        page_table.put_references(PAGES, ["a text"] * len(PAGES))
        page_table.put_readings([(name, reading("a")) for name in PAGES])
        stored = page_table._database.execute("SELECT count(reference), count(name) FROM page").fetchone()
        assert stored == (0, len(PAGES))
        assert page_table.put_reading("beside", reading("a"))
        stored = page_table._database.execute("SELECT count(reference), count(name) FROM page").fetchone()
        assert stored == (len(PAGES), len(PAGES) + 1)


@pytest.mark.parametrize("in_memory", [0, 1_000, 20_000, 1 << 20])
def test_texts_come_back_from_memory_and_from_the_file(in_memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PageTable, "_IN_MEMORY", in_memory)
    with PageTable() as page_table:
        page_table.put_references(PAGES, [f"é {name}" for name in PAGES])
        for part in (PAGES[:300], PAGES[300:]):
            page_table.put_texts("a", part, [name * 3 for name in part])
        assert [(page.page, page.reference, page.readings[0].source) for page in page_table.pages()] == [
            (name, f"é {name}", name * 3) for name in PAGES
        ]
        written = Path(page_table._folder.name, "texts").stat().st_size
    assert (written == 0) == (in_memory > 200_000)
