"""The lines that were read worst, and the names and numbers that were invented; texts are made up."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.records.page import InventedWord, Transcript, WorstLine
from hallumeter.text.spelling import AS_WRITTEN, parse_spelling
from hallumeter.transcripts.commands import transcripts
from hallumeter.transcripts.example_tables import (
    EXAMPLES_KEPT,
    INVENTED,
    LINES,
    TOKENS_KEPT,
    InventedWords,
    WorstLines,
    read_table,
)
from hallumeter.transcripts.line_errors import LINES_OF_A_PAGE, invented_tokens, worst_lines
from hallumeter.transcripts.page_reading import invented_name_places, read_page
from hallumeter.transcripts.records import InventedToken, LineError

PAGE = (
    "the council met on monday at noon\n\nthe clerk read the minutes aloud\n"
    "nobody spoke against the motion\nthe bridge shall be built of stone"
)


def lines_of(reference: str, response: str, *, spelling: str = "") -> list[tuple[int, int, str]]:
    """Line, edits and what was read."""
    chosen = parse_spelling([spelling]) if spelling else AS_WRITTEN
    reading = read_page(reference, response, spelling=chosen)
    assert reading.aligned is not None
    found = worst_lines(
        reading.aligned, reference=reference, response=response, spelling=chosen, stretches=reading.stretches
    )
    for line in found:
        assert reference[line.start : line.end].split() == line.reference.split()
    return [(line.number, line.errors, line.response) for line in found]


def test_a_page_read_right_has_no_bad_line() -> None:
    assert lines_of(PAGE, PAGE) == []
    # Line breaks elsewhere are no errors of a line.
    assert lines_of(PAGE, PAGE.replace("\n", " ")) == []


def test_a_misread_line_stands_beside_what_was_read_for_it() -> None:
    response = PAGE.replace("clerk read", "clark reed").replace("monday", "mondav")
    assert lines_of(PAGE, response) == [
        (2, 2, "the clark reed the minutes aloud"),
        (1, 1, "the council met on mondav at noon"),
    ]


def test_words_left_out_and_added_on_a_line_count_and_a_line_left_out_is_no_reading() -> None:
    response = PAGE.replace("nobody spoke against the motion\n", "").replace("of stone", "of old wood and iron")
    found = lines_of(PAGE, response)
    (only,) = found
    assert only[0] == 4
    assert only[2].endswith("bridge shall be built of old wood and iron")
    before = PAGE.replace("the clerk", "xx yy zz the clerk")
    assert lines_of(PAGE, before) == [(2, 9, "xx yy zz the clerk read the minutes aloud")]


def test_text_invented_between_lines_and_loops_belong_to_no_line() -> None:
    block = "in the winter of that year a great fire broke out near the harbour and seventy houses were lost to it"
    invented = PAGE.replace("\nnobody", f"\n{block}\nnobody")
    assert lines_of(PAGE, invented) == []
    assert lines_of(PAGE, f"{PAGE} {' '.join(['again and again'] * 30)}") == []


def test_a_line_read_at_another_place_is_read() -> None:
    lines = PAGE.replace("\n\n", "\n").split("\n")
    moved = "\n".join([*lines[2:], *lines[:2]]).replace("minutes", "minuter")
    assert lines_of(PAGE, moved) == [(2, 1, "the clerk read the minuter aloud")]


def test_the_spelling_decides_what_an_error_is() -> None:
    assert lines_of("Der Groſſe Rath", "Der Grosse Rath") == [(1, 2, "Der Grosse Rath")]
    assert lines_of("Der Groſſe Rath", "Der Grosse Rath", spelling="long-s") == []


def test_a_few_lines_of_a_page_are_kept_long_ones_before_short_ones() -> None:
    page = "\n".join(f"line {number} of a page that is long enough" for number in range(30))
    assert len(lines_of(page, page.replace("enough", "enougk"))) == LINES_OF_A_PAGE
    short = "7\nthe council met on monday at noon"
    assert [number for number, *_ in lines_of(short, "1\nthe council met on mondav at noon")] == [2, 1]


@given(
    st.text(alphabet="ab \n.", max_size=60),
    st.text(alphabet="abc \n.", max_size=60),
)
def test_lines_of_any_texts_are_lines_of_the_page(reference: str, response: str) -> None:
    lines_of(reference, response)


def tokens_of(reference: str, response: str) -> list[tuple[str, str]]:
    reading = read_page(reference, response)
    assert reading.aligned is not None
    found = invented_tokens(reading.aligned, response, names=invented_name_places(reading.aligned, response))
    assert sum(token.kind == "name" for token in found) == reading.names.count
    assert sum(token.kind == "number" for token in found) == reading.numbers.count
    return [(token.kind, token.token) for token in found]


def test_invented_names_and_numbers_are_those_that_the_rates_count() -> None:
    page = "In May the mayor of Blois paid 20 livres to the mason."
    assert tokens_of(page, page) == []
    response = "In May the mayor of Blois paid 20 livres, and 1,204 to (Étienne) of Tours, to the mason in 1843."
    assert tokens_of(page, response) == [
        ("number", "1,204"),
        ("name", "Étienne"),
        ("name", "Tours"),
        ("number", "1843"),
    ]
    # A number that is on the page once is invented the second time, where nothing was read.
    assert tokens_of("paid 20 livres to the mason", "paid 20 livres to the mason and 20 more to me") == [
        ("number", "20")
    ]


def test_a_note_of_the_engine_is_no_place_for_invented_names() -> None:
    assert tokens_of("the mayor paid", "the mayor paid [Note: The text in Latin of 1843 is illegible]") == []


def test_the_context_stands_around_the_word_in_one_line() -> None:
    response = "the mayor paid\n20 livres to Étienne\nin the winter"
    reading = read_page("the mayor paid 20 livres to me in the winter", response)
    assert reading.aligned is not None
    (found,) = invented_tokens(reading.aligned, response, names=invented_name_places(reading.aligned, response))
    assert found.context == "the mayor paid 20 livres to Étienne in the winter"
    assert response[found.start :].startswith("Étienne")


def test_the_worst_lines_of_every_engine_are_kept_worst_first() -> None:
    kept = WorstLines()
    for number in range(3 * EXAMPLES_KEPT):
        kept.add("a", str(number), [LineError(1, 0, 30, number, 30, "x", "y")])
    kept.add("b", "0", [LineError(2, 31, 35, 1, 30, "x", "y"), LineError(1, 0, 5, 5, 5, "x", "y")])
    found = list(kept)
    assert [line.errors for line in found if line.engine == "a"] == list(range(59, 39, -1))
    assert [line.characters for line in found if line.engine == "b"] == [30, 5]


def test_invented_words_are_kept_up_to_a_number() -> None:
    kept = InventedWords()
    for page in range(TOKENS_KEPT):
        kept.add("a", str(page), [InventedToken("name", "Tours", 0, ""), InventedToken("number", "7", 9, "")])
    kept.add("b", "1", [InventedToken("number", "7", 9, "")])
    assert [word.engine for word in kept] == ["a"] * TOKENS_KEPT + ["b"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lines") / "run"
    given = [
        Transcript("p1", "good", PAGE, PAGE.replace("monday", "mondav")),
        Transcript("p1", "=bad <b>", PAGE, PAGE.replace("of stone", "of =1843 stones by Tours <i>")),
    ]
    transcripts(given, out=folder)
    return folder


def test_a_run_has_tables_of_lines_and_of_invented_words(run: Path) -> None:
    lines = list(read_table(run / LINES, WorstLine))
    first = lines[0]
    assert (first.engine, first.page, first.line, first.errors, first.cer) == ("good", "p1", 1, 1, 1 / 33)
    words = list(read_table(run / INVENTED, InventedWord))
    assert [(word.kind, word.token) for word in words] == [("number", "1843"), ("name", "Tours")]
    # A spreadsheet must not take a name for a formula.
    with (run / LINES).open(encoding="utf-8", newline="") as stream:
        assert all(not cell.startswith("=") for row in csv.reader(stream) for cell in row)


def test_the_report_shows_both_as_text(run: Path) -> None:
    report = (run / "report.html").read_text(encoding="utf-8")
    assert "Worst lines" in report
    assert "<bdi>the council met on mondav at noon</bdi>" in report
    assert "Names and numbers that are not on the page" in report
    assert "by Tours &lt;i&gt;" in report
    assert "=bad <b>" not in report


def test_a_run_that_is_right_shows_neither(tmp_path: Path) -> None:
    transcripts([Transcript("p1", "good", PAGE, PAGE)], out=tmp_path / "run")
    assert list(read_table(tmp_path / "run" / LINES, WorstLine)) == []
    assert "Worst lines" not in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
