"""What a reader takes away, in a real browser: tables as CSV, charts as SVG, and numbers that lead to their records."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from audit_samples import audit_document
from browsing import Visit, needs_browser, written
from hallumeter.report.page.render import write_html
from hallumeter.report.record_queries import no_records
from hallumeter.report.selection import Limits
from report_samples import METRIC_TEXTS, metric, sample_document, summary
from transcript_samples import made_up_readings, ranking_of, rows_of, transcripts_document

pytestmark = [needs_browser, pytest.mark.long]

RUNS = ("answers", "newspapers", "dialogues", "reviews-english")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
SVG = "{http://www.w3.org/2000/svg}"
GROUPS = ('=HYPERLINK("x")', '한국어, "인용"', "two\nlines", "-5", "+call", "@sum", "plain")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two metrics, one of them undefined, and one metric by groups with names that spreadsheets take for something."""
    rows = (
        metric("mihr", 7, 31, undecided=2),
        metric("far", 0, 0),
        *(metric("mihr", 1, 4, by={"topic": name}) for name in GROUPS),
    )
    return written(sample_document(summary=summary(metrics=rows)), tmp_path_factory.mktemp("tables"))


@pytest.fixture(scope="module")
def transcripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    document = transcripts_document(made_up_readings(5), limits=Limits(worst=30, random=5))
    return written(document, tmp_path_factory.mktemp("pages"))


@pytest.fixture
def page(browser: Browser, report: Path) -> Iterator[Page]:
    visit = Visit(browser, report)
    yield visit.page
    assert visit.complaints == []
    visit.context.close()


@pytest.fixture
def pages(browser: Browser, transcripts: Path) -> Iterator[Page]:
    visit = Visit(browser, transcripts)
    yield visit.page
    assert visit.complaints == []
    visit.context.close()


def button_of(page: Page, name: str, form: str = "CSV") -> Locator:
    """The button that saves what has this name."""
    return page.locator(f"button.take[aria-label='Save “{name}” as {form}']")


def saved(page: Page, button: Locator) -> tuple[str, str]:
    """The name and the text of the file that a button saves, in details that are closed as well."""
    button.evaluate(
        "node => { for (let at = node; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true; }"
    )
    page.wait_for_timeout(110)  # the browser lets ten downloads a second through, and drops the next
    with page.expect_download() as download:
        button.click()
    data = download.value.path().read_bytes()
    assert not data.startswith(b"\xef\xbb\xbf")
    return download.value.suggested_filename, data.decode()


def rows_in(text: str) -> list[list[str]]:
    return list(csv.reader(text.splitlines(keepends=True)))


def test_a_table_of_metrics_is_saved_in_full_precision_with_every_part_in_a_column(page: Page) -> None:
    name, text = saved(page, button_of(page, "Headline metrics"))
    assert name == "audit-answers-jsonl-headline-metrics.csv"
    signature = "|judge:consensus|nei:unsupported|ci:cluster-bootstrap-2000|seed:0|v:0.1.0"
    head, mihr, far = rows_in(text)
    assert head == [
        *("Metric", "Metric: id", "Metric: name", "Metric: question", "Metric: signature"),
        *("Value", "Value: why undefined", "95 % interval: lower end", "95 % interval: upper end"),
        *("Counts: count", "Counts: out of", "Unmeasured: undecided", "Unmeasured: failed"),
        *("Best and worst case: lowest possible", "Best and worst case: highest possible"),
    ]
    assert mihr[:5] == ["MiHR", "mihr", METRIC_TEXTS["mihr"].name, METRIC_TEXTS["mihr"].question, f"mihr{signature}"]
    assert [float(value) for value in (mihr[5], *mihr[7:])] == [
        *(7 / 31, 7 / 31 - 0.08, 7 / 31 + 0.09),
        *(7, 31, 2, 0),
        *(7 / 33, 9 / 33),
    ]
    assert mihr[6] == ""
    reason = "no question without an answer was asked"
    assert far[5:] == ["", reason, "", "", "0", "0", "0", "0", "", ""]


def test_names_of_any_script_stay_as_they_are_and_formulas_stay_text(page: Page) -> None:
    name, text = saved(page, button_of(page, "Metrics by topic"))
    assert name == "audit-answers-jsonl-metrics-by-topic.csv"
    head, *rows = rows_in(text)
    assert head == [
        "topic",
        "MiHR",
        *(f"MiHR: {part}" for part in ("lower end", "upper end", "count", "out of")),
        *head[6:],
    ]
    assert head[6:] == ["MiHR: lowest possible", "MiHR: highest possible"]
    assert [row[0] for row in rows] == [
        *('\'=HYPERLINK("x")', '한국어, "인용"', "two\nlines", "-5", "'+call", "'@sum", "plain")
    ]
    assert all(
        row[1:] == ["0.25", "0.16999999999999998", "0.33999999999999997", "1", "4", "0.25", "0.25"] for row in rows
    )
    assert '"한국어, ""인용"""' in text
    assert '"two\nlines"' in text


def test_reasons_have_their_label_and_each_judge_in_a_column(browser: Browser, tmp_path: Path) -> None:
    visit = Visit(browser, written(audit_document(), tmp_path))
    head, *rows = rows_in(saved(visit.page, button_of(visit.page, "Reasons of the verdicts"))[1])
    assert head[:4] == ["Label", "Reason", "Reason: meaning", "Verdicts"]
    assert all(column.startswith("By judge: ") for column in head[4:])
    shown = visit.page.locator("table.reasons tbody tr:not(.group)")
    assert len(rows) == shown.count()
    for row in rows:
        assert row[0] in {"Refuted", "Not enough info", "Undecided"}
        assert sum(int(count or 0) for count in row[4:]) == int(row[3])
    assert visit.complaints == []
    visit.context.close()


def test_engines_are_saved_in_the_order_they_are_shown_in(pages: Page) -> None:
    for _ in range(2):
        pages.locator("table.sortable thead th", has_text="WER").first.locator("button").click()
    head, *rows = rows_in(saved(pages, button_of(pages, "Engines, best first"))[1])
    assert head[:6] == ["Rank", "Rank: mean", "Engine", "CER", "CER: lower end", "CER: upper end"]
    rates = [float(row[head.index("WER")]) for row in rows]
    assert rates == sorted(rates, reverse=True)
    assert [row[head.index("Pages")] for row in rows] == ["20"] * 5


def test_pairs_are_saved_with_whole_numbers_whether_the_page_or_a_script_wrote_them(pages: Page) -> None:
    ranking = ranking_of(rows_of(made_up_readings(5)))
    expected = {(pair.first, pair.second): (pair.difference, pair.adjusted_p_value) for pair in ranking.pairs}
    for choice, count in (("", 10), ("0", 4)):
        pages.select_option("#pairs-of", choice)
        head, *rows = rows_in(saved(pages, button_of(pages, "Pairs of engines"))[1])
        assert head == ["First", "Second", "Pages", "Difference", "Adjusted p", "Result"]
        assert len(rows) == count
        for first, second, _, difference, p_value, _ in rows:
            sign = 1 if (first, second) in expected else -1
            wanted, adjusted = expected[(first, second) if sign == 1 else (second, first)]
            assert wanted is not None
            assert (float(difference), float(p_value)) == (sign * wanted, adjusted)


def test_what_a_script_fills_in_is_saved_as_it_stands_with_changes_and_totals(pages: Page) -> None:
    head, *rows = rows_in(saved(pages, button_of(pages, "Engines without the pages left out"))[1])
    assert head[:6] == ["Rank", "Engine", "Pages kept", "Pages kept: out of", "Mean CER", "Mean CER: change"]
    shown = pages.locator("#robust-table tbody tr td:nth-child(4)").evaluate_all(
        "cells => cells.map(c => c.dataset.value)"
    )
    assert [row[4] for row in rows] == shown
    assert {row[3] for row in rows} == {"20"}


def test_all_pages_left_out_are_saved_although_the_first_hundred_are_shown(browser: Browser, tmp_path: Path) -> None:
    visit = Visit(browser, written(transcripts_document(made_up_readings(8, copies=15)), tmp_path))
    page = visit.page
    page.locator("#limit-anchor").evaluate(
        "node => { node.value = 1; node.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    left_out = int(page.locator("#left-out-title").inner_text().split("(")[1].rstrip(")"))
    assert left_out > 100
    assert page.locator("#left-out-table tbody tr").count() == 100
    assert len(rows_in(saved(page, button_of(page, "Pages left out"))[1])) == left_out + 1
    visit.context.close()


def test_numbers_are_written_alike_in_files_of_every_language(browser: Browser, tmp_path: Path) -> None:
    texts = []
    for language in ("en", "fr"):
        write_html(sample_document(), tmp_path / f"{language}.html", language=language)
        visit = Visit(browser, tmp_path / f"{language}.html")
        buttons = visit.page.locator(".takes > button.take[aria-label*=CSV]")
        files = [rows_in(saved(visit.page, buttons.nth(place))[1]) for place in range(buttons.count())]
        texts.append([[[cell for cell in row if NUMBER.fullmatch(cell)] for row in rows[1:]] for rows in files])
        visit.context.close()
    assert texts[0] == texts[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_chart_is_saved_on_white_paper_with_its_title_and_how_to_read_it(
    browser: Browser, report: Path, scheme: str
) -> None:
    visit = Visit(browser, report, scheme=scheme)
    name, text = saved(visit.page, button_of(visit.page, "Headline rates", "SVG"))
    assert name == "audit-answers-jsonl-headline-rates.svg"
    drawing = ET.fromstring(text.encode())
    assert drawing.tag == f"{SVG}svg"
    assert drawing.findtext(f"{SVG}title") == "Headline rates"
    assert (drawing.findtext(f"{SVG}desc") or "").startswith("Point: the value.")
    background = drawing.find(f"{SVG}rect")
    assert background is not None
    assert background.get("fill") == "white"
    assert "#1f5f8b" in text
    assert "#7cc0f0" not in text
    assert 'font-family="Noto Sans' in text
    assert_stands_alone(drawing)
    assert visit.complaints == []
    visit.context.close()


def assert_stands_alone(drawing: ET.Element) -> None:
    """Nothing in a drawing points to anything outside it."""
    for node in drawing.iter():
        assert node.tag not in {f"{SVG}image", f"{SVG}script", f"{SVG}foreignObject"}
        assert not [value for name, value in node.items() if name.endswith("href") or "url(http" in value]


def test_points_that_are_drawn_as_pixels_are_saved_as_shapes(browser: Browser, tmp_path: Path) -> None:
    visit = Visit(browser, written(transcripts_document(made_up_readings(9, copies=60)), tmp_path))
    expect(visit.page.locator("html[data-scatter=drawn]")).to_be_attached()
    assert visit.page.locator("#scatter canvas").count() == 1
    drawing = ET.fromstring(saved(visit.page, button_of(visit.page, "Pages at a glance", "SVG"))[1].encode())
    assert len(list(drawing.iter(f"{SVG}path"))) > 2000
    assert_stands_alone(drawing)
    assert visit.complaints == []
    visit.context.close()


def test_the_data_of_a_chart_can_be_read_copied_and_saved(page: Page) -> None:
    panel = page.locator("figure", has_text="Headline rates").locator(".chart-data")
    panel.locator("summary").click()
    data = panel.locator("textarea")
    expect(data).not_to_have_value("")
    shown = data.input_value()
    head, row = rows_in(shown)
    assert head == ["name", "value", "low", "high", "best", "worst", "counts"]
    assert row[0] == "MiHR ↓"
    assert [float(value) for value in row[1:4]] == [7 / 31, 7 / 31 - 0.08, 7 / 31 + 0.09]
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel.get_by_role("button", name="Copy the data").click()
    expect(panel.locator("output")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == shown
    assert saved(page, panel.get_by_role("button", name="Save the data"))[1] == shown


@pytest.mark.parametrize("run", RUNS)
def test_every_table_and_every_chart_has_a_button_that_saves_it(
    browser: Browser, finished_demo: Path, run: str
) -> None:
    visit = Visit(browser, finished_demo / run / "report.html")
    page = visit.page
    expect(page.locator("html[data-charts=drawn]")).to_be_attached()
    tables = page.locator("[data-chapter] table").evaluate_all(
        "all => all.map(table => table.closest('.scroll').nextElementSibling?.querySelectorAll('button.take').length)"
    )
    assert len(tables) > 2
    assert set(tables) == {1}
    for figure in page.locator("figure.chart").all():
        title = figure.locator(".chart-title").inner_text()
        drawing = ET.fromstring(saved(page, figure.locator(".take[aria-label$='as SVG']"))[1].encode())
        assert drawing.findtext(f"{SVG}title") == title
        assert float(drawing.get("width", "0")) > 600
        assert_stands_alone(drawing)
        assert len(rows_in(saved(page, figure.locator(".chart-data button[aria-label$='as CSV']"))[1])) > 1
    names = page.locator(".takes > button.take").evaluate_all("all => all.map(node => node.getAttribute('aria-label'))")
    assert all("“”" not in name for name in names)
    first = page.locator(".takes > button.take[aria-label*=CSV]").first
    head, *rows = rows_in(saved(page, first)[1])
    assert rows
    assert all(len(row) == len(head) for row in rows)
    assert visit.complaints == []
    visit.context.close()


@pytest.mark.parametrize("run", RUNS)
def test_every_number_of_a_metric_leads_to_its_records_or_is_known_to_have_none(
    browser: Browser, finished_demo: Path, run: str
) -> None:
    visit = Visit(browser, finished_demo / run / "report.html")
    rows = visit.page.locator("table.metrics tbody tr").evaluate_all(
        """rows => rows.map(row => [row.cells[0].dataset.id, row.querySelector('td .value') !== null,
        [...row.querySelectorAll('td .behind')].map(link => [link.hash, link.dataset.behind])])"""
    )
    anchors = {anchor for _, _, links in rows for anchor, _ in links}
    for name, has_value, links in rows:
        assert bool(links) == (has_value and name not in no_records()), name
        assert all(isinstance(json.loads(query), dict) for _, query in links)
    for anchor in anchors:
        assert visit.page.locator(anchor).count() == 1
    visit.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_buttons_and_links_are_quiet_reachable_and_readable(browser: Browser, report: Path, scheme: str) -> None:
    visit = Visit(browser, report, scheme=scheme)
    link = visit.page.locator("table.metrics .behind").first
    link.focus()
    visit.page.keyboard.press("Shift+Tab")
    visit.page.keyboard.press("Tab")
    assert link.evaluate("node => node === document.activeElement")
    assert link.evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
    assert link.evaluate("node => getComputedStyle(node).textDecorationStyle") == "dotted"
    visit.context.close()


def test_on_paper_there_are_no_buttons_and_links_are_plain(page: Page) -> None:
    page.emulate_media(media="print")
    assert page.locator(".take:visible").count() == 0
    styles = page.locator(".behind").evaluate_all("all => all.map(node => getComputedStyle(node).textDecorationLine)")
    assert set(styles) == {"none"}


@pytest.mark.parametrize("run", RUNS)
def test_on_a_phone_buttons_push_nothing_off_the_page(browser: Browser, finished_demo: Path, run: str) -> None:
    visit = Visit(browser, finished_demo / run / "report.html", width=390)
    expect(visit.page.locator("html[data-charts=drawn]")).to_be_attached()
    visit.page.locator("details").evaluate_all("all => all.forEach(node => { node.open = true; })")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
    places = visit.page.locator(".take:visible").evaluate_all(
        "all => all.map(node => node.getBoundingClientRect().right)"
    )
    assert max(cast("list[float]", places)) <= 390
    visit.context.close()
