"""Examples of misread words in a run folder and in its report; words are made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from hallumeter.errors import InputError
from hallumeter.records.page import Transcript
from hallumeter.transcripts.commands import transcripts
from hallumeter.transcripts.example_tables import (
    EXAMPLES_KEPT,
    MISREAD,
    MisreadWord,
    MisreadWords,
    read_table,
    write_table,
)
from hallumeter.transcripts.records import WordDifference

PAGE = "le roy estoit au chateau de Blois ce jour"


def test_a_run_folder_keeps_examples_and_its_report_shows_modernised_ones(tmp_path: Path) -> None:
    given = [
        Transcript("1", "model <b>", PAGE, "le roi était au château de Blois ce jour"),
        Transcript("1", "plain", PAGE, PAGE),
    ]
    transcripts(given, out=tmp_path / "run")
    words = list(read_table(tmp_path / "run" / MISREAD, MisreadWord))
    assert [(each.engine, each.error, each.page, each.reference, each.response) for each in words] == [
        ("model <b>", "modernised", "1", "roy", "roi"),
        ("model <b>", "modernised", "1", "estoit", "était"),
        ("model <b>", "accents", "1", "chateau", "château"),
    ]
    report = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "<bdi>estoit</bdi> → <bdi>était</bdi>" in report
    assert "model <b>" not in report.partition("Spelling modernised")[2].partition("</p>")[0]


def test_a_run_without_misread_words_has_no_table_of_them_in_its_report(tmp_path: Path) -> None:
    transcripts([Transcript("1", "plain", PAGE, PAGE)], out=tmp_path / "run")
    assert list(read_table(tmp_path / "run" / MISREAD, MisreadWord)) == []
    assert "Misread words" not in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_few_examples_of_each_class_are_kept_and_each_once(tmp_path: Path) -> None:
    words = MisreadWords()
    for page in range(3 * EXAMPLES_KEPT):
        same, other = WordDifference("case", "Roi", "roi"), WordDifference("other", f"=a{page}", "b")
        words.add("engine", str(page), [same, other])
    write_table(tmp_path / MISREAD, MisreadWord, words)
    found = list(read_table(tmp_path / MISREAD, MisreadWord))
    assert [each.error for each in found] == ["case"] + ["other"] * EXAMPLES_KEPT
    assert [each.page for each in found[:3]] == ["0", "0", "1"]
    assert found[1].reference == "=a0"


def test_a_damaged_table_is_named_and_a_missing_one_is_empty(tmp_path: Path) -> None:
    assert list(read_table(tmp_path / MISREAD, MisreadWord)) == []
    (tmp_path / MISREAD).write_text("engine,error\na,case,b\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"misread.csv: damaged"):
        list(read_table(tmp_path / MISREAD, MisreadWord))
