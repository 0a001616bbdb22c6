"""Engines and pages in a terminal, a pipe, a pull request and a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import os
import re

import msgspec
import pytest
from msgspec import structs
from rich.cells import cell_len

from hallumeter.records.measurement import Summary
from hallumeter.records.page import PageRow, WorstLine
from hallumeter.transcripts.report.ranking import reason_words, unfaithful_words, witness_words, worst_pages
from hallumeter.transcripts.report.text import pages_table, transcripts_text
from transcript_samples import (
    Part,
    made_up_readings,
    page_row,
    reading,
    rows_of,
    transcripts_summary,
    witnessed_summary,
    written_readings,
)

ROWS = rows_of(written_readings())
SUMMARY = transcripts_summary(ROWS)


def many(engines: int) -> tuple[Summary, list[PageRow]]:
    rows = rows_of(made_up_readings(engines))
    return transcripts_summary(rows), rows


def test_the_table_begins_with_what_the_run_holds() -> None:
    assert pages_table(SUMMARY, ROWS).splitlines()[0] == "4 pages · 2 engines · 1 empty output · 1 failure"


def test_what_cannot_be_compared_is_counted_at_the_head_too() -> None:
    rows = [
        msgspec.structs.replace(ROWS[0], status="empty_reference"),
        msgspec.structs.replace(ROWS[1], status="undecided"),
    ]
    told = "1 page · 2 engines · 0 empty outputs · 1 failure · 1 page with empty ground truth · 1 undecided reading"
    assert pages_table(SUMMARY, rows, width=120).splitlines()[0] == told
    # At 80 columns the head goes on in a second line, and nothing is lost.
    assert " ".join(pages_table(SUMMARY, rows).splitlines()[:2]) == told


def test_engines_stand_best_first_with_value_interval_and_counts() -> None:
    lines = pages_table(SUMMARY, ROWS, width=140).splitlines()
    first, second = (next(line for line in lines if line.split()[:1] == [place]) for place in ("1", "2"))
    assert [line.split()[1] for line in (first, second)] == ["ocr-a", "vlm-b"]
    assert "0.250  (0.000–0.674)" in first
    assert "0 / 3 " in first
    assert "3 / 4" in second
    # Four pages are too few for a warning.
    assert "!" not in second
    assert "! more than a fifth of the pages hallucinate" not in lines
    # At 80 columns intervals and counts stand below the values.
    narrow = pages_table(SUMMARY, ROWS).splitlines()
    place = next(number for number, line in enumerate(narrow) if line.split()[:2] == ["1", "ocr-a"])
    assert narrow[place].split()[2] == "0.250"
    assert narrow[place + 1].split()[0] == "(0.000–0.674)"


def test_an_engine_with_pages_enough_has_a_sign_and_a_line_says_what_it_means() -> None:
    text = pages_table(*many(2))
    assert "/ 19 !" in text
    assert "! more than a fifth of the pages hallucinate" in text.splitlines()
    assert "/ 19 ⚠" in transcripts_text(*many(2), "markdown")


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_with_a_witness_passages_are_unconfirmed_and_the_head_says_so(form: str) -> None:
    told = "compared with a witness: figures are disagreement, not error; passages are unconfirmed, not proven invented"
    text = transcripts_text(witnessed_summary(ROWS), ROWS, form)
    head = text.splitlines()[1:3]
    assert told in (*head, " ".join(head))
    assert "1 unconfirmed passage" in text
    assert "invented block" not in text
    assert "Unconfirmed" in text
    assert "Hallucinating pages" not in text
    told_of_pages = re.sub("not proven invented|not invented text|`[^`]*`", "", text)
    assert "invented" not in told_of_pages.replace("is not on the page", "")
    assert "worst" not in text.lower()
    assert told not in " ".join(transcripts_text(SUMMARY, ROWS, form).split())


def test_a_witness_ranks_nobody() -> None:
    text = pages_table(witnessed_summary(ROWS), ROWS)
    assert "Engines, as given" in text
    assert "rank" not in text
    assert "rank" in pages_table(SUMMARY, ROWS)


def test_the_pages_that_differ_most_from_a_witness_are_shown_when_it_could_not_decide_them() -> None:
    rows = [msgspec.structs.replace(row, status="undecided", is_hallucinating=None) for row in ROWS if row.blocks]
    assert "undecided: 1 unconfirmed passage" in pages_table(witnessed_summary(rows), rows, width=200)


def test_bounds_are_told_of_pages_that_a_witness_left_undecided_and_rest_on_its_being_right() -> None:
    summary = witnessed_summary(ROWS)
    assert "hallucinated" not in " ".join(witness_words(summary))
    open_still = tuple(
        structs.replace(metric, undecided=4) if metric.metric == "hallucinating_page_rate" else metric
        for metric in summary.metrics
    )
    told = witness_words(structs.replace(summary, metrics=open_still))
    assert all(re.search(r"4 undecided; if the witness is right, 0\.\d+ to \d\.\d+ of its", line) for line in told)


def test_an_empty_reading_of_a_witness_is_no_ground_truth_and_a_loop_needs_no_witness() -> None:
    looped = page_row(reading("p", "e", [Part("loop", "a b " * 8)]), status="empty_reference")
    assert reason_words(looped, has_witness=True).startswith("1 loop")
    text = pages_table(witnessed_summary([looped]), [looped], width=200)
    assert "ground truth" not in text
    assert "1 loop" in text


def test_a_witness_warns_only_of_pages_that_it_flagged_among_all() -> None:
    _, rows = many(2)
    summary = witnessed_summary(rows)
    assert "! more than a fifth" in pages_table(summary, rows)
    undecided = tuple(
        structs.replace(metric, undecided=1_000) if metric.metric == "hallucinating_page_rate" else metric
        for metric in summary.metrics
    )
    assert "! more than a fifth" not in pages_table(structs.replace(summary, metrics=undecided), rows)


def test_the_table_says_which_engines_differ_and_how_to_repeat_it() -> None:
    text = pages_table(SUMMARY, ROWS, width=400)
    assert "ocr-a and vlm-b are not shown to differ: CER on the 4 pages that all ranked engines have read" in text
    signature = "  cer|spelling:none|ci:bootstrap-2000|confidence:0.95|seed:0|v:0.1.0"
    assert signature in pages_table(SUMMARY, ROWS, is_verbose=True, width=400).splitlines()
    assert signature not in text


def test_the_worst_pages_are_listed_with_their_reasons_and_empty_outputs_are_not() -> None:
    text = pages_table(SUMMARY, ROWS, width=120)
    assert "Worst pages, by words invented or left out (empty outputs aside)" in text
    worst = text[text.index("Worst pages") :].splitlines()[3:]
    assert worst[0].split()[:2] == ["letter-1863", "vlm-b"]
    assert "1 loop, 1 invented block, 2 omissions" in worst[0]
    assert worst[0].split()[-5:] == ["1.720", "0.635", "2.536", "74", "%"]
    assert not any("신문-1925" in line and "ocr-a" in line for line in worst)


def test_a_run_with_one_engine_does_not_name_it_on_every_page() -> None:
    rows = [row for row in ROWS if row.engine == "vlm-b"]
    text = pages_table(transcripts_summary(rows), rows)
    head = text[text.index("Worst pages") :].splitlines()[1].split()
    assert head[:2] == ["page", "why"]
    assert "engine" not in head


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140, 200])
@pytest.mark.parametrize("engines", [2, 48])
def test_no_line_of_a_table_is_wider_than_the_terminal(engines: int, width: int) -> None:
    summary, rows = many(engines)
    tables = pages_table(summary, rows, is_verbose=True, width=width).splitlines()
    assert max(map(cell_len, tables)) <= width
    assert sum(line.lstrip().startswith(f"{engines} ") for line in tables) >= 1


def test_a_narrow_terminal_keeps_what_matters_and_says_what_it_leaves_out() -> None:
    summary, rows = many(5)
    narrow = pages_table(summary, rows, width=70)
    assert "CER ↓" in narrow
    assert "Anchor ↑" not in narrow
    told = " ".join(narrow.split())
    assert "WER, MER, WIL, Gini are in the report, and in --format markdown." in told


def test_a_metric_without_a_value_is_a_dash() -> None:
    metrics = tuple(
        msgspec.structs.replace(row, value=None, interval=None, count=None) if row.metric == "cer" else row
        for row in SUMMARY.metrics
    )
    lines = pages_table(msgspec.structs.replace(SUMMARY, metrics=metrics), ROWS).splitlines()
    assert next(line for line in lines if line.split()[:2] == ["1", "ocr-a"]).split()[2] == "–"


def test_json_is_the_summary_with_the_pages_added() -> None:
    whole = json.loads(transcripts_text(SUMMARY, ROWS, "json"))
    pages = whole.pop("pages")
    assert msgspec.convert(whole, Summary) == SUMMARY
    assert msgspec.convert(pages, list[PageRow]) == ROWS


def test_csv_is_the_table_of_pages_with_empty_cells_where_nothing_is_known() -> None:
    rows = list(csv.DictReader(io.StringIO(transcripts_text(SUMMARY, ROWS, "csv"))))
    assert len(rows) == 8
    empty = next(row for row in rows if row["status"] == "empty_output")
    assert (empty["is_hallucinating"], empty["invented_rate"], empty["cer"]) == ("", "", "1.0")
    first = rows[0]
    assert (first["page"], first["engine"], first["is_hallucinating"]) == ("letter-1863", "ocr-a", "false")
    assert float(rows[1]["cer"]) == ROWS[1].cer


def test_markdown_has_every_column_and_stays_in_its_cells() -> None:
    text = transcripts_text(SUMMARY, ROWS, "markdown")
    lines = text.splitlines()
    assert lines[0] == "**4 pages, 2 engines, 1 empty output, 1 failure**"
    head = next(line for line in lines if line.startswith("|  | engine"))
    assert head.count("|") == 15
    assert all(line.count("|") == 15 for line in lines if line.startswith(("| 1 |", "| 2 |")))
    assert "0.750 (0.326–1.174), 3 / 4 |" in text
    assert "| letter-1863 | vlm-b | 1 loop, 1 invented block, 2 omissions |" in text


@pytest.mark.parametrize("form", ["table", "markdown", "csv"])
def test_names_from_files_cannot_command_a_terminal(form: str) -> None:
    hostile = "a\x1b[31m\n|b\u202e[link]"
    rows = [page_row(reading(hostile, hostile, [Part("block", "one two three four"), Part("run", "five", "five")]))]
    text = transcripts_text(transcripts_summary(rows, notices=(hostile,)), rows, form)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "a·[31m" in text or "a·\\[31m" in text


def test_a_terminal_of_any_width_is_asked_for_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((50, 20)))
    text = transcripts_text(SUMMARY, ROWS, "table")
    assert "\x1b[1m" in text
    assert "Worst pages" in text


def test_a_run_without_anything_is_one_line() -> None:
    nothing = transcripts_summary(ROWS, metrics=(), ranking=None, notices=())
    assert pages_table(nothing, []) == "0 pages · 0 engines · 0 empty outputs · 1 failure\n"
    assert transcripts_text(nothing, [], "markdown") == "**0 pages, 0 engines, 0 empty outputs, 1 failure**\n"


def test_words_invented_and_left_out_are_weighed_together() -> None:
    invented = page_row(reading("p", "e", [Part("block", "a b c d e f"), Part("run", "x", "x")]))
    omitted = page_row(reading("q", "e", [Part("run", "x", "x"), Part("omission", reference="a b c d")]))
    # 6 of 7 words invented; 4 of 5 left out.
    assert (unfaithful_words(invented), unfaithful_words(omitted)) == (6.0, 4.0)
    assert worst_pages([omitted, invented], 1) == [invented]
    blank = page_row(reading("r", "e", [Part("block", "a b c d e f g h")]), status="empty_reference")
    assert worst_pages([omitted, invented, blank], 1) == [blank]
    assert reason_words(blank) == "text on a page with empty ground truth"
    assert reason_words(omitted) == "1 omission"
    assert reason_words(page_row(reading("p", "e", [Part("run", "x", "x")]))) == "compared"
    assert reason_words(structs.replace(omitted, is_hallucinating=True)) == "no word is on the page, 1 omission"
    assert reason_words(page_row(reading("p", "e", [Part("omission", reference="x y")]))) == "empty output"


def test_a_line_that_is_one_long_word_keeps_its_place_under_the_line_of_the_page() -> None:
    word = "Donau" * 14
    places = {"line": 1, "cer": 0.5, "errors": 35, "characters": 70, "start": 0, "end": 70}
    line = WorstLine(engine="vlm-b", page="p", reference="Es floss.", response=word, **places)  # type: ignore[arg-type]
    text = pages_table(SUMMARY, ROWS, lines=[line], width=80)
    shown = [row.split() for row in text[text.index("Worst lines") :].splitlines()[3:]]
    assert shown[0] == ["p", "vlm-b", "0.500", "Es", "floss."]
    assert word.startswith(shown[1][0])
    assert all(cell_len(row) <= 80 for row in text.splitlines())
