"""One table in every form."""

from __future__ import annotations

from hallumeter.report.table import Cell, Line, Table, csv, escaped, left, markdown, right, terminal

TABLE = Table(
    [*left("run"), *right("rate")],
    [["a|b\x1b[31m", Cell("0.50", "red", value=0.5)], [], ["plain", Cell("–")]],
    "Rates\n",
)


def test_a_terminal_gets_aligned_columns_and_obeys_no_name() -> None:
    assert terminal([Line("head"), TABLE]).splitlines() == [
        "head",
        "Rates·",
        "",
        " run        rate",
        " ───────────────",
        " a|b·[31m   0.50",
        "",
        " plain         –",
        "",
    ]


def test_colours_are_only_for_those_who_ask() -> None:
    pieces = Line((("outcome: ", ""), ("worse", "red")))
    assert terminal([pieces]) == "outcome: worse\n"
    assert terminal([pieces], has_color=True) == "outcome: \x1b[31mworse\x1b[0m\n"


def test_a_line_wraps_is_cut_or_runs_on() -> None:
    long = "word " * 4
    assert terminal([Line(long.strip())], width=10) == "word word\nword word\n"
    assert terminal([Line(long.strip(), wrap="ellipsis")], width=10) == "word word…\n"
    assert terminal([Line(long.strip(), wrap="never")], width=10) == "word word word word\n"


def test_markdown_escapes_what_it_would_obey() -> None:
    table = Table([*left("a_b"), *right("n")], [["<b>|", Cell("x`|", is_code=True)]])
    assert list(markdown(table)) == [r"| a\_b | n |", "| --- | ---: |", r"| \<b\>\| | `x'\|` |"]
    assert next(markdown(table, escape=str.upper)) == "| A_B | N |"
    assert escaped("a\\\n~") == r"a\\ \~"


def test_csv_has_the_values_and_not_their_written_form() -> None:
    table = Table([*left("run"), *right("rate")], [["a,b\x1b", Cell("0.33", value=1 / 3)], ["c", Cell("–")]])
    assert csv(table) == 'run,rate\n"a,b·",0.3333333333333333\nc,\n'
