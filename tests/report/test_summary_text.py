"""A summary in the form that was asked for."""

from __future__ import annotations

import csv
import io
import json
import sys
import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from hallumeter.catalog import METRICS
from hallumeter.errors import SettingsError
from hallumeter.records.measurement import Counts, MetricSummary, Summary
from hallumeter.report.catalog import catalog_text, find_metric, metric_facts, metric_text_page, metric_texts
from hallumeter.report.summary_text import CSV_COLUMNS, summary_text

ROW = MetricSummary(
    metric="mihr",
    by={"model": "m"},
    judge=None,
    count=1.0,
    total=3.0,
    value=1 / 3,
    interval=(0.1, 0.9),
    interval_method="wilson",
    direction="lower",
    undefined=None,
    undecided=4,
    failed=5,
    bounds=(0.25, 0.75),
    signature="mihr|v:1",
    note="careful",
)


def summary(*rows: MetricSummary) -> Summary:
    return Summary(1, "measure", Counts(records=2), rows, {}, ("a notice",))


def test_json_holds_the_whole_summary() -> None:
    text = summary_text(summary(ROW), "json")
    assert msgspec.json.decode(text, type=Summary) == summary(ROW)
    assert text.endswith("}\n")
    assert json.loads(text)["metrics"][0]["value"] == 1 / 3


def test_csv_holds_every_number_unrounded() -> None:
    [row] = csv.DictReader(io.StringIO(summary_text(summary(ROW), "csv")))
    assert row == {
        "model": "m",
        "metric": "mihr",
        "judge": "",
        "count": "1.0",
        "total": "3.0",
        "value": str(1 / 3),
        "interval_low": "0.1",
        "interval_high": "0.9",
        "interval_method": "wilson",
        "direction": "lower",
        "undefined": "",
        "undecided": "4",
        "failed": "5",
        "best_to_worst_low": "0.25",
        "best_to_worst_high": "0.75",
        "signature": "mihr|v:1",
        "note": "careful",
    }
    assert list(row)[1:] == list(CSV_COLUMNS)


def test_what_is_not_known_is_empty_in_csv() -> None:
    empty = msgspec.structs.replace(
        ROW,
        count=None,
        total=None,
        value=None,
        interval=None,
        interval_method=None,
        bounds=None,
        undefined="why",
        note=None,
    )
    [row] = csv.DictReader(io.StringIO(summary_text(summary(empty), "csv")))
    assert [name for name, cell in row.items() if cell == ""] == [
        "judge", "count", "total", "value", "interval_low", "interval_high", "interval_method",
        "best_to_worst_low", "best_to_worst_high", "note",
    ]  # fmt: skip
    assert row["undefined"] == "why"


@examples(max_examples=150)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_name_comes_back_from_json_and_csv(name: str) -> None:
    some = summary(msgspec.structs.replace(ROW, judge=name, by={"model": name}))
    assert msgspec.json.decode(summary_text(some, "json"), type=Summary) == some
    [row] = csv.DictReader(io.StringIO(summary_text(some, "raw-csv"), newline=""))
    shown = "".join("·" if unicodedata.category(mark) in ("Cc", "Cf", "Zl", "Zp") else mark for mark in name)
    assert (row["model"], row["judge"]) == (shown, shown)  # csv may go to a terminal, json is escaped
    assert row["metric"] == "mihr"


def test_markdown_and_table_are_what_their_names_say(monkeypatch: pytest.MonkeyPatch) -> None:
    assert summary_text(summary(ROW), "markdown").startswith("**2 responses")
    table = summary_text(summary(ROW), "table")
    assert table.startswith("2 answers")
    assert "\x1b" not in table
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    assert "\x1b[" in summary_text(summary(ROW), "table")


def test_the_catalog_has_a_line_for_every_metric() -> None:
    lines = catalog_text(width=300).splitlines()
    assert [line.split()[0] for line in lines[: len(METRICS)]] == [metric.id for metric in METRICS]
    assert all(metric.question in line for metric, line in zip(METRICS, lines, strict=False))


def test_a_page_has_every_fact_about_a_metric() -> None:
    page = metric_text_page(" MIHR ")
    assert page.startswith("mihr: Unsupported claims (MiHR), ")
    for title in metric_facts(find_metric("mihr")):
        assert f"\n{title}\n" in page
    assert max(map(len, page.splitlines())) <= 100


def test_a_metric_without_an_upper_end_says_so() -> None:
    open_ended = [metric for metric in METRICS if metric.range[1] is None]
    assert all("no upper end" in metric_facts(metric)["Range"] for metric in open_ended)
    assert "0 to 1; lower is better" in metric_facts(find_metric("mihr"))["Range"]


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(
        SettingsError, match="no metric is called 'nonsense'; `hallumeter metrics` lists those that exist"
    ):
        find_metric("nonsense")


@pytest.mark.parametrize("name", ["mihr", "MiHR", "mihr ", "Unsupported claims", "unsupported claims (mihr)"])
def test_a_metric_is_found_by_its_id_its_plain_name_and_the_name_of_the_literature(name: str) -> None:
    assert find_metric(name).id == "mihr"


def test_the_name_that_other_tools_use_leads_to_the_metrics_that_are_meant() -> None:
    with pytest.raises(SettingsError, match="did you mean mihr or mahr"):
        find_metric("hallucination_rate")


def test_a_narrow_catalog_puts_questions_below_their_metrics() -> None:
    lines = catalog_text(width=60).splitlines()
    assert lines[:2] == ["mihr ↓", "    Of all the claims that were made, how many does the"]
    assert max(map(len, lines)) <= 60


def test_a_report_knows_every_metric_by_its_id() -> None:
    texts = metric_texts()
    assert list(texts) == [metric.id for metric in METRICS]
    assert (texts["mihr"].alias, texts["mihr"].range) == ("Unsupported claims (MiHR)", (0, 1))
    assert texts["fleiss_kappa"].family == "agreement"
