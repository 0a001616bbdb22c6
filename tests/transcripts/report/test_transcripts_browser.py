"""The page on transcriptions in a real browser: robust view, sorting, pairs, and text beside its ground truth."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect
from test_record_queries_browser import follow
from test_transcripts_html import hostile_document
from test_untrusted_text import HOSTILE

from browsing import Visit, boxes, needs_browser, written
from hallumeter.records.page import PageRow
from hallumeter.report.document import RecordFindings
from hallumeter.report.sections import ReadingSection
from hallumeter.report.selection import Limits
from transcript_samples import (
    INVENTED,
    TRUTHS,
    Part,
    made_up_readings,
    ranking_of,
    reading,
    rows_of,
    transcripts_document,
    witnessed_summary,
    written_readings,
)

pytestmark = needs_browser

ENGINES = 5
ROWS = rows_of(made_up_readings(ENGINES))
MEASURE = """
    const node = document.createElement("span");
    node.textContent = text;
    document.querySelector("#reading .response").append(node);
    const width = node.getBoundingClientRect().width;
    node.remove();
    return width;
"""
"""How wide a text is among the words of a page."""
COLUMNS = ("pages", "mean", "median", "p90", "p95", "wer", "gini", "anchor")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(transcripts_document(), tmp_path_factory.mktemp("written"))


@pytest.fixture(scope="module")
def large_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    document = transcripts_document(made_up_readings(ENGINES), limits=Limits(worst=30, random=5))
    return written(document, tmp_path_factory.mktemp("large"))


@pytest.fixture
def page(browser: Browser, report: Path) -> Iterator[Page]:
    visit = Visit(browser, report)
    yield visit.page
    assert visit.complaints == []
    visit.context.close()


@pytest.fixture
def large(browser: Browser, large_report: Path) -> Iterator[Page]:
    visit = Visit(browser, large_report)
    yield visit.page
    assert visit.complaints == []
    visit.context.close()


def gini(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float | None:
    """By its definition: the mean difference of all pairs over twice the mean."""
    if values.sum() == 0:
        return None
    return float(np.abs(values[:, None] - values[None, :]).mean() / (2 * values.mean()))


def expected(rows: Sequence[PageRow]) -> dict[str, float | None]:
    """What the browser must compute, by numpy."""
    cer = np.array([row.cer for row in rows if row.cer is not None])
    values = {"pages": float(len(rows)), "wer": float(np.mean([row.wer for row in rows if row.wer is not None]))}
    p90, p95 = np.quantile(cer, [0.9, 0.95])
    values |= {"mean": float(cer.mean()), "median": float(np.median(cer)), "p90": float(p90), "p95": float(p95)}
    return {**values, "gini": gini(cer), "anchor": float(np.mean([row.anchor_score for row in rows]))}


def shown(page: Page) -> dict[str, dict[str, float | None]]:
    """What the browser shows, engine by engine, in the order of its table."""
    values = "[...row.cells].slice(2).map(cell => cell.dataset.value ?? null)"
    script = f"rows => rows.map(row => [row.cells[1].textContent, {values}])"
    found = page.locator("#robust-table tbody tr").evaluate_all(script)
    return {
        name: {column: None if value is None else float(value) for column, value in zip(COLUMNS, values, strict=True)}
        for name, values in found
    }


def is_left_out(row: PageRow) -> bool:
    """By the limits that the view begins with."""
    return (row.cer or 0) > 1 or row.anchor_score < 0.5 or (row.length_ratio or 0) > 1.5


def slide(page: Page, name: str, value: str) -> None:
    page.locator(f"#limit-{name}").evaluate(
        "(node, value) => { node.value = value; node.dispatchEvent(new Event('input', { bubbles: true })); }", value
    )


def assert_same(page: Page, kept: Sequence[PageRow]) -> None:
    table = shown(page)
    assert set(table) == {row.engine for row in ROWS}
    for engine, values in table.items():
        own = [row for row in kept if row.engine == engine]
        if not own:
            assert values == {column: 0.0 if column == "pages" else None for column in COLUMNS}
            continue
        for column, wanted in expected(own).items():
            assert values[column] == (None if wanted is None else pytest.approx(wanted, abs=1e-12)), (engine, column)
    means = [values["mean"] for values in table.values() if values["mean"] is not None]
    assert means == sorted(means)


def test_the_robust_view_begins_with_the_usual_limits_and_agrees_with_numpy(large: Page) -> None:
    assert_same(
        large,
        [row for row in ROWS if not ((row.cer or 0) > 1 or row.anchor_score < 0.5 or (row.length_ratio or 0) > 1.5)],
    )
    kept = sum(not is_left_out(row) for row in ROWS)
    expect(large.locator("#robust-told")).to_have_text(f"{kept} of 100 readings kept, {100 - kept} left out.")


def test_each_limit_of_the_robust_view_agrees_with_numpy_alone_and_together(large: Page) -> None:
    for name in ("cer", "anchor", "ratio"):
        large.uncheck(f"#rule-{name}")
    assert_same(large, ROWS)
    large.check("#rule-cer")
    slide(large, "cer", "25")
    assert_same(large, [row for row in ROWS if (row.cer or 0) <= 0.25])
    large.check("#rule-anchor")
    slide(large, "anchor", "0.8")
    assert_same(large, [row for row in ROWS if (row.cer or 0) <= 0.25 and row.anchor_score >= 0.8])
    large.uncheck("#rule-cer")
    large.uncheck("#rule-anchor")
    large.check("#rule-ratio")
    slide(large, "ratio", "1.1")
    assert_same(large, [row for row in ROWS if (row.length_ratio or 0) <= 1.1])
    large.uncheck("#rule-ratio")
    large.check("#rule-badge")
    assert_same(large, [row for row in ROWS if row.is_hallucinating is not True])


def test_engines_without_any_error_rate_are_ranked_by_their_anchor_score(browser: Browser, tmp_path: Path) -> None:
    rows = [msgspec.structs.replace(row, cer=None, wer=None) for row in ROWS]
    visit = Visit(browser, written(transcripts_document(made_up_readings(ENGINES), own=rows), tmp_path))
    table = shown(visit.page)
    anchors = [values["anchor"] or 0.0 for values in table.values()]
    assert anchors == sorted(anchors, reverse=True)
    assert {values["mean"] for values in table.values()} == {None}
    assert visit.complaints == []
    visit.context.close()


def test_a_page_can_be_left_out_for_every_engine(large: Page) -> None:
    for name in ("cer", "anchor", "ratio"):
        large.uncheck(f"#rule-{name}")
    large.check("#rule-badge")
    large.check("#rule-everyone")
    fallen = {row.page for row in ROWS if row.is_hallucinating}
    assert fallen
    assert_same(large, [row for row in ROWS if row.page not in fallen])
    expect(large.locator("#left-out-table tbody")).to_contain_text("left out for another engine")


def test_leaving_out_everything_leaves_no_number(large: Page) -> None:
    slide(large, "anchor", "1")
    slide(large, "cer", "0")
    kept = [row for row in ROWS if row.anchor_score >= 1 and not row.cer]
    assert_same(large, kept)


def test_changes_and_new_ranks_are_told_against_all_pages(large: Page) -> None:
    before = {engine: expected([row for row in ROWS if row.engine == engine])["mean"] for engine in shown(large)}
    for row in large.locator("#robust-table tbody tr").all():
        engine = row.locator("th").inner_text()
        mean = float(row.locator("td").nth(2).get_attribute("data-value") or "nan")
        change = mean - (before[engine] or 0.0)
        told = row.locator("td").nth(2).locator(".under").inner_text()
        # numpy adds in another order than the browser: what differs in the last digit only is no change.
        assert told == ("no change" if abs(change) < 1e-12 else f"{'+' if change > 0 else '−'}{abs(change):.3f}")


def test_pages_left_out_are_listed_with_every_reason_and_can_be_opened(large: Page) -> None:
    large.locator("#left-out-title").click()
    left_out = [row for row in ROWS if is_left_out(row)]
    lines = large.locator("#left-out-table tbody tr")
    assert lines.count() == len(left_out)
    for line, row in zip(lines.all_inner_texts(), left_out, strict=True):
        assert (row.page in line, row.engine in line) == (True, True)
        assert ("CER" in line) == ((row.cer or 0) > 1)
        assert ("anchor" in line) == (row.anchor_score < 0.5)
        assert ("length ratio" in line) == ((row.length_ratio or 0) > 1.5)
    first = lines.filter(has=large.get_by_role("button")).first
    name = first.locator("td").first.inner_text()
    first.get_by_role("button").click()
    expect(large.locator("#reading .page-title bdi")).to_have_text(name)
    expect(large.locator("#reading")).to_be_in_viewport()
    large.select_option("#left-out-engine", label=left_out[0].engine)
    assert lines.count() == sum(row.engine == left_out[0].engine for row in left_out)


def test_the_kept_rows_are_saved_as_a_table_that_equals_the_run(large: Page, tmp_path: Path) -> None:
    with large.expect_download() as waiting:
        large.click("#robust-save")
    target = tmp_path / "kept.csv"
    waiting.value.save_as(target)
    with target.open(encoding="utf-8", newline="") as stream:
        saved = list(csv.DictReader(stream))
    kept = [row for row in ROWS if not is_left_out(row)]
    assert [(row["page"], row["engine"]) for row in saved] == [(row.page, row.engine) for row in kept]
    assert [float(row["cer"]) for row in saved] == [row.cer for row in kept]
    assert [row["is_hallucinating"] for row in saved] == [str(row.is_hallucinating).lower() for row in kept]


def test_tables_of_engines_are_sorted_by_click_and_by_keyboard(large: Page) -> None:
    table = large.locator("section[id^=ranking] table.sortable").first
    heading = table.locator("th", has_text="Engine")
    heading.get_by_role("button").click()
    names = table.locator("tbody th bdi").all_inner_texts()
    assert names == sorted(names)
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.get_by_role("button").focus()
    large.keyboard.press("Enter")
    assert table.locator("tbody th bdi").all_inner_texts() == sorted(names, reverse=True)
    assert table.locator("th[aria-sort]").count() == 1
    table.locator("th", has_text="Anchor").get_by_role("button").click()
    cells = table.locator("tbody tr td:nth-child(8)")
    anchors = list(map(float, cells.evaluate_all("cells => cells.map(cell => cell.dataset.value)")))
    assert anchors == sorted(anchors)


def test_the_pairs_of_one_engine_can_be_asked_for(browser: Browser, tmp_path: Path) -> None:
    records = made_up_readings(12, copies=1)
    visit = Visit(browser, written(transcripts_document(records), tmp_path))
    pairs = visit.page.locator("#pairs tbody tr")
    assert pairs.count() == 11
    expect(visit.page.locator("#pairs-shown")).to_have_text("11 of 66 pairs")
    ranking = ranking_of(rows_of(records))
    last = ranking.engines[-1].engine
    visit.page.select_option("#pairs-of", label=f"of {last}")
    assert pairs.count() == 11
    assert set(pairs.locator("td:first-child").all_inner_texts()) == {last}
    known = next(pair for pair in ranking.pairs if (pair.first, pair.second) == (ranking.engines[0].engine, last))
    told = pairs.filter(has_text=known.first).locator("td:nth-child(4)").get_attribute("data-value")
    assert float(told or "nan") == -(known.difference or 0.0)
    assert visit.complaints == []
    visit.context.close()


def choose(page: Page, name: str, engine: str) -> None:
    page.select_option("#by-page", label=name)
    page.select_option("#by-engine", label=engine)
    expect(page.locator("#reading .page-title bdi")).to_have_text(name)


def test_a_page_is_shown_beside_its_ground_truth_word_for_word(page: Page) -> None:
    for item in written_readings():
        response = item.response
        choose(page, str(response.fields["page"]), response.model or "")
        sides = {"response": response.response, "reference": response.evidence[0].text}
        for side, text in sides.items():
            if text:
                assert page.locator(f"#reading .{side}").evaluate("node => node.textContent") == text
    left, right = boxes(*(page.locator(f"#reading .{side}-side") for side in ("response", "reference")))
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"] + 1


def test_the_head_of_a_page_tells_its_badge_and_its_numbers(page: Page) -> None:
    choose(page, "letter-1863", "vlm-b")
    expect(page.locator("#reading .flag")).to_have_text("hallucinating")
    told = " ".join(page.locator("#reading .numbers").inner_text().split())
    assert told == "CER 172 % anchor 0.63 length ratio 2.54 inserted 74.9 % invented 74 % left out 29.3 %"
    choose(page, "신문-1925", "ocr-a")
    expect(page.locator("#reading .flag")).to_have_text("empty output")
    expect(page.locator("#reading .response-side")).to_contain_text("The engine wrote nothing.")


def test_every_kind_of_stretch_is_marked_on_its_side(page: Page) -> None:
    choose(page, "letter-1863", "vlm-b")
    response, reference = page.locator("#reading .response"), page.locator("#reading .reference")
    assert response.locator(".stretch.block:not(.gap)").inner_text() == INVENTED["letter-1863"]
    assert response.locator(".stretch.insertion").inner_text() == "in Virginia"
    assert response.locator(".stretch.loop:not(.gap)").count() == 1
    assert response.locator(".stretch.omission.gap").count() == 2
    assert reference.locator(".stretch.omission").all_inner_texts() == [
        TRUTHS["letter-1863"][2],
        TRUTHS["letter-1863"][5],
    ]
    assert reference.locator(".stretch.gap").count() == 2
    assert response.locator(".slip").all_inner_texts() == ["23rd"]
    assert reference.locator(".slip").all_inner_texts() == ["28th"]
    choose(page, "registre-1742", "vlm-b")
    assert response.locator(".stretch.moved").inner_text() == TRUTHS["registre-1742"][2]


def test_stretches_that_are_missing_at_one_place_share_a_caret(browser: Browser, tmp_path: Path) -> None:
    parts = [Part("run", "one", "one"), Part("loop", "a b " * 6), Part("block", "c d e f"), Part("run", "two", "two")]
    visit = Visit(browser, written(transcripts_document([reading("p", "e", parts)]), tmp_path))
    caret = visit.page.locator("#reading .reference .gap")
    assert caret.count() == 1
    assert (caret.get_attribute("data-stretch"), caret.get_attribute("data-count")) == ("1 2", "2")
    visit.page.locator("#reading .response .block").click()
    assert "chosen" in (caret.get_attribute("class") or "")
    assert visit.page.locator("#reading .response .chosen").count() == 1
    assert visit.complaints == []
    visit.context.close()


def test_choosing_a_mark_lights_up_its_counterpart_and_brings_it_into_view(browser: Browser, tmp_path: Path) -> None:
    visit = Visit(browser, written(transcripts_document(made_up_readings(ENGINES)), tmp_path), width=390)
    page = visit.page
    page.select_option("#by-kind", label=page.locator("#by-kind option", has_text="loop").inner_text())
    last = page.locator("#reading .reference .stretch.run:not(.gap)").last
    index = last.get_attribute("data-stretch")
    page.locator(f"#reading .response [data-stretch='{index}']").evaluate("node => node.click()")
    assert page.locator("#reading .chosen").count() == 2
    pane, mark = boxes(page.locator("#reading .reference-side .pane"), last)
    assert pane["y"] <= mark["y"] <= pane["y"] + pane["height"]
    assert visit.complaints == []
    visit.context.close()


def test_pages_that_were_not_aligned_are_never_said_to_be_faultless(browser: Browser, tmp_path: Path) -> None:
    records = [RecordFindings(item.response, ()) for item in written_readings()]
    visit = Visit(browser, written(transcripts_document(records), tmp_path))
    page = visit.page
    expect(page.locator("#told")).to_have_text("Not aligned: no place is known.")
    assert "nothing invented" not in page.locator("#list").inner_text()
    assert page.locator("#by-kind option", has_text="nothing").count() == 0
    expect(page.locator(".legend")).to_be_hidden()
    expect(page.locator("section[id^=readings] .lead").first).to_contain_text("not aligned, so that nothing is marked")
    assert visit.complaints == []
    visit.context.close()


def test_what_was_chosen_is_told_and_buttons_walk_from_mark_to_mark(page: Page) -> None:
    choose(page, "letter-1863", "vlm-b")
    told = page.locator("#told")
    expect(told).to_have_text("5 marks")
    page.get_by_role("button", name="Next ›").click()
    expect(told).to_have_text("1 of 5: invented, 16 words")
    for _ in range(3):
        page.get_by_role("button", name="Next ›").click()
    expect(told).to_have_text("4 of 5: loop, 155 words, 5 words, 31 times")
    page.get_by_role("button", name="‹ Previous").click()
    expect(told).to_have_text("3 of 5: inserted, 2 words")
    page.locator("#reading .reference .omission").last.focus()
    page.keyboard.press("Enter")
    expect(told).to_have_text("5 of 5: left out, 6 words")
    page.locator("#reading .response .run").first.click()
    expect(told).to_have_text("read, 5 words")
    assert page.locator("#reading .chosen").count() == 2


def test_other_engines_readings_of_the_page_are_one_click_away(page: Page) -> None:
    choose(page, "letter-1863", "vlm-b")
    page.locator("#reading .chip", has_text="ocr-a").click()
    expect(page.locator("#reading .response-side h4")).to_have_text("ocr-a")
    expect(page.locator("#reading .chip[aria-pressed=true]")).to_have_text("ocr-a")
    expect(page.locator("#told")).to_have_text("Nothing was invented or left out.")


def test_filters_by_kind_engine_page_and_words_shorten_the_list(page: Page) -> None:
    entries = page.locator("#list .entry")
    assert entries.count() == 8
    for label, count in (("hallucinating (3)", 3), ("loop (1)", 1), ("misread words (2)", 2), ("left out (5)", 5)):
        page.select_option("#by-kind", label=label)
        assert entries.count() == count, label
    page.select_option("#by-engine", label="vlm-b")
    assert entries.count() == 4
    page.select_option("#by-page", label="letter-1863")
    assert entries.count() == 1
    expect(page.locator("#shown")).to_have_text("1 of 8 shown here")
    for name in ("#by-kind", "#by-engine", "#by-page"):
        page.select_option(name, value="")
    # Words are found in decomposed Korean too, and in Hebrew.
    for words, name in (("총독부는", "신문-1925"), ("הרב הראשי", "פנקס-12"), ("RICHMOND", "letter-1863")):
        page.fill("#search", words)
        assert entries.count() == 1, words
        expect(entries.locator(".page-name")).to_have_text(name)
    page.fill("#search", "no such words")
    expect(page.locator("#list")).to_have_text("No page matches.")


def test_the_order_of_the_list_can_be_changed(page: Page) -> None:
    names = page.locator("#list .page-name")
    expect(names.first).to_have_text("letter-1863")
    page.select_option("#order", "omitted")
    # The engine that wrote nothing left out all 28 words there, more than the other did of the letter.
    expect(names.first).to_have_text("신문-1925")
    page.select_option("#order", "cer")
    expect(names.first).to_have_text("letter-1863")
    page.select_option("#order", "name")
    assert names.all_text_contents()[:2] == ["letter-1863", "letter-1863"]
    page.locator("#list .entry").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("#list .entry").nth(1).get_attribute("aria-current") == "true"


def test_right_to_left_text_runs_from_right_to_left_on_both_sides(page: Page) -> None:
    choose(page, "פנקס-12", "vlm-b")
    for side in ("response", "reference"):
        words = page.locator(f"#reading .{side}")
        assert words.evaluate("node => getComputedStyle(node).direction") == "rtl"
        box, run = boxes(words, words.locator(".stretch.run").first)
        assert run["x"] + run["width"] == pytest.approx(box["x"] + box["width"], abs=2)


def test_decomposed_korean_is_shown_as_syllables_and_stays_decomposed(page: Page) -> None:
    choose(page, "신문-1925", "vlm-b")
    run = page.locator("#reading .response .stretch.run").first
    text = run.evaluate("node => node.textContent")
    assert text == unicodedata.normalize("NFD", TRUTHS["신문-1925"][0])
    # Letters that were not joined into syllables would take more than twice the room.
    width = f"text => {{ {MEASURE} }}"
    decomposed, composed = (page.evaluate(width, unicodedata.normalize(form, text)) for form in ("NFD", "NFC"))
    assert decomposed == pytest.approx(composed, rel=0.35)


def test_points_are_drawn_and_open_their_page(page: Page) -> None:
    expect(page.locator("html[data-scatter=drawn]")).to_be_attached()
    points = page.locator("#scatter .mark-symbol.role-mark path")
    assert points.count() == 8
    heights = [box["y"] for box in boxes(*points.all())]
    highest = heights.index(min(heights))
    points.nth(highest).hover()
    expect(page.locator("#vg-tooltip-element.visible")).to_contain_text("letter-1863")
    choose(page, "פנקס-12", "ocr-a")
    points.nth(highest).click()
    expect(page.locator("#reading .page-title bdi")).to_have_text("letter-1863")


def test_with_many_engines_one_is_coloured_by_choice(browser: Browser, tmp_path: Path) -> None:
    visit = Visit(browser, written(transcripts_document(made_up_readings(12, copies=1)), tmp_path))
    expect(visit.page.locator("html[data-scatter=drawn]")).to_be_attached()
    coloured = visit.page.locator("#scatter .mark-symbol.role-mark path[fill='#1f5f8b']")
    assert coloured.count() == 4
    visit.page.emulate_media(color_scheme="dark")
    expect(visit.page.locator("#scatter .mark-symbol.role-mark path[fill='#7cc0f0']")).to_have_count(4)
    assert visit.complaints == []
    visit.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("engines", [2, 5, 48])
def test_on_a_phone_the_page_does_not_scroll_sideways(
    browser: Browser, tmp_path: Path, engines: int, scheme: str
) -> None:
    records = made_up_readings(engines, copies=1)
    visit = Visit(browser, written(transcripts_document(records), tmp_path), width=390, scheme=scheme)
    expect(visit.page.locator("html[data-charts=drawn][data-scatter=drawn]")).to_be_attached()
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 390
    left, right = boxes(*(visit.page.locator(f"#reading .{side}-side") for side in ("response", "reference")))
    assert left["x"] == right["x"]
    assert left["y"] + left["height"] <= right["y"]
    assert visit.complaints == []
    visit.context.close()


def test_texts_that_are_not_kept_or_not_there_are_told(browser: Browser, tmp_path: Path) -> None:
    document = transcripts_document(limits=Limits(worst=1, random=0))
    visit = Visit(browser, written(document, tmp_path))
    expect(visit.page.locator("#reading .others")).to_contain_text("and 1 more, not in this file")
    visit.page.locator("#left-out-title").click()
    expect(visit.page.locator("#left-out-table tbody")).to_contain_text("not in this file")
    assert visit.complaints == []
    visit.context.close()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_texts_and_names_are_read_as_they_were_written(browser: Browser, tmp_path: Path, text: str) -> None:
    visit = Visit(browser, written(hostile_document(text), tmp_path))
    page = visit.page
    expect(page.locator("html[data-charts=drawn][data-scatter=drawn]")).to_be_attached()
    page.locator("#reading .stretch.block:not(.gap)").first.click()
    clean = "".join("\ufffd" if character in "\x00\x08\x1b" else character for character in text)
    assert page.locator("#reading .page-title bdi").evaluate("node => node.textContent") in {text, clean}
    assert page.locator("#reading .response").evaluate("node => node.textContent") == f"{text}\n{text}"
    page.locator("#left-out-title").click()
    assert page.evaluate("window.stolen === undefined")
    assert visit.complaints == []
    visit.context.close()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"kind": "block"}, "invented"),
        ({"engine": "ocr-a"}, "engine ocr-a"),
        ({"page": "letter-1863"}, "page letter-1863"),
        ({"status": "empty_output"}, "empty output"),
        ({"badge": True}, "hallucinating"),
        ({"badge": False, "engine": "ocr-a"}, "not hallucinating · engine ocr-a"),
        ({"failure": True}, "any failure"),
        ({"search": "letter"}, "“letter”"),
    ],
    ids=str,
)
def test_a_number_leads_to_the_pages_behind_it(page: Page, query: dict[str, object], words: str) -> None:
    follow(page, query)
    expect(page.locator("#chip .chip-words")).to_have_text(words)
    shown = {(entry["page"], entry["engine"]) for entry in listed_readings(page)}
    assert shown == expected_readings(query)


def listed_readings(page: Page) -> list[dict[str, str]]:
    lines = page.locator("#list .entry").all()
    return [
        {name: line.locator(place).text_content() or "" for name, place in (("page", ".page-name"), ("engine", ".who"))}
        for line in lines
    ]


def expected_readings(query: dict[str, object]) -> set[tuple[str, str]]:
    """The same, off the document."""
    section = next(part for part in transcripts_document().sections if isinstance(part, ReadingSection))
    found = set()
    for view in section.readings:
        row = view.row
        facts = {
            "engine": view.engine,
            "page": view.page,
            "status": row and row.status,
            "badge": row and row.is_hallucinating,
            "kind": query.get("kind") if query.get("kind") in {stretch.kind for stretch in view.stretches} else None,
            "failure": bool(view.failures),
            "search": query.get("search") if "letter" in f"{view.page} {view.response} {view.reference}" else None,
        }
        if all(facts[name] == wanted for name, wanted in query.items()):
            found.add((view.page, view.engine))
    return found


def test_beside_a_witness_pages_are_cleared_and_flagged_and_no_engine_is_ranked(
    browser: Browser, tmp_path: Path
) -> None:
    records = written_readings()
    rows = rows_of(records)
    document = transcripts_document(records, summary=witnessed_summary(rows), own=rows)
    visit = Visit(browser, written(document, tmp_path))
    page = visit.page
    expect(page.locator("#reading .flag").first).to_have_text("flagged by the witness")
    expect(page.locator("#list")).to_contain_text("nothing unconfirmed or left out")
    held = page.locator("#by-kind").inner_text()
    assert "unconfirmed" in held
    assert "flagged by the witness" in held
    assert "invented" not in held
    assert "hallucinating" not in held
    expect(page.locator("#scatter-figure")).to_be_visible()
    expect(page.locator("#robust")).to_have_count(0)
    assert visit.complaints == []
    visit.context.close()
