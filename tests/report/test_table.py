"""One table in every form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.report.table import (
    LEAST_WIDTH,
    Cell,
    Line,
    Table,
    csv,
    escaped,
    left,
    markdown,
    right,
    terminal,
    terminal_width,
)

TABLE = Table(
    [*left("run"), *right("rate")],
    [["a|b\x1b[31m", Cell("0.50", "red", value=0.5)], [], ["plain", Cell("–")]],
    "Rates\n",
)


def test_a_terminal_gets_aligned_columns_and_obeys_no_name() -> None:
    assert terminal([Line("head"), TABLE]).splitlines() == [
        "head",
        "Rates·",
        "run        rate",
        "───────────────",
        "a|b·[31m   0.50",
        "",
        "plain         –",
    ]


def test_a_table_that_is_too_wide_becomes_a_list_and_nothing_is_cut() -> None:
    table = Table(
        [*left("run"), *right("rate"), *left("what it shows", wrap="words")],
        [["a-long-name-of-a-run", "0.50", "not worse by the margin"], [], ["b", "", Cell("WORSE", "red")]],
        "Rates",
    )
    assert terminal([table], width=34).splitlines() == [
        "Rates",
        "a-long-name-of-a-run",
        "  rate           0.50",
        "  what it shows  not worse by the",
        "                 margin",
        "",
        "b",
        "  what it shows  WORSE",
    ]
    assert "a-long-name-of-a-run   0.50   not worse by the margin" in terminal([table], width=60)


@given(
    st.lists(st.lists(st.text("ab ", max_size=30), min_size=3, max_size=3), min_size=1, max_size=4),
    st.integers(40, 130),
)
def test_every_word_of_every_cell_is_printed_at_any_width(rows: list[list[str]], width: int) -> None:
    columns = [*left("first"), *right("second"), *left("third", wrap="words")]
    printed = terminal([Table(columns, rows)], width=width)
    assert max(map(len, printed.splitlines())) <= width
    words = " ".join(printed.split())
    for cell in (cell for row in rows for cell in row):
        assert all(word in words for word in cell.split())


def test_colours_are_only_for_those_who_ask() -> None:
    pieces = Line((("outcome: ", ""), ("worse", "red")))
    assert terminal([pieces]) == "outcome: worse\n"
    assert terminal([pieces], has_color=True) == "outcome: \x1b[31mworse\x1b[0m\n"


def test_a_line_is_broken_between_words_and_keeps_its_indentation() -> None:
    long = ("word " * 6).strip()
    assert terminal([Line(long)], width=20) == "word word word word\nword word\n"
    assert terminal([Line(f"  {long}")], width=20) == "  word word word\n  word word word\n"
    assert terminal([Line(f"- {long}")], width=20) == "- word word word\n  word word word\n"
    assert terminal([Line(f"a: {long}", hang=3)], width=20) == "a: word word word\n   word word word\n"
    # Without room below the last column the rest goes in a little.
    assert terminal([Line(f"a longer key: {long}", hang=14)], width=20) == (
        "a longer key:\n    word word word\n    word word word\n"
    )


def test_a_line_of_a_drawing_is_not_broken() -> None:
    assert terminal([Line("|--- ---|", is_drawing=True)], width=5) == "|---\n"


def test_there_is_never_more_than_one_empty_line() -> None:
    assert terminal([Line("a"), Line(), Line(), Line("b"), Line()], width=20) == "a\n\nb\n"


def test_the_width_is_that_of_columns_and_eighty_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "123")
    assert terminal_width() == {"width": 123, "has_color": False}
    monkeypatch.setenv("COLUMNS", "9")
    assert terminal_width()["width"] == LEAST_WIDTH


def test_markdown_escapes_what_it_would_obey() -> None:
    table = Table([*left("a_b"), *right("n")], [["<b>|", Cell("x`|", is_code=True)]])
    assert list(markdown(table)) == [r"| a\_b | n |", "| --- | ---: |", r"| \<b\>\| | `x'\|` |"]
    assert next(markdown(table, escape=str.upper)) == "| A_B | N |"
    assert escaped("a\\\n~") == r"a\\ \~"


def test_csv_has_the_values_and_not_their_written_form() -> None:
    table = Table([*left("run"), *right("rate")], [["a,b\x1b", Cell("0.33", value=1 / 3)], ["c", Cell("–")]])
    assert csv(table) == 'run,rate\n"a,b·",0.3333333333333333\nc,\n'
