"""The pages of aspects in a real browser: a sentence stage by stage, and errors on their way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from aspect_samples import erring_run, whole_document
from playwright.sync_api import Browser, Page, expect

from browsing import Visit, needs_browser
from hallumeter.report.page.render import write_html
from hallumeter.run.finished import Run

pytestmark = needs_browser


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    yield from erring_run(tmp_path_factory.mktemp("aspects"))


@pytest.fixture(scope="module")
def report(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_html(whole_document(run.path), path)
    return path


def turn_of(page: Page, speaker: str) -> str:
    """What one speaker said and did, as it can be read."""
    turns = page.locator(".turn", has=page.locator(".speaker").get_by_text(speaker, exact=True))
    return turns.first.inner_text()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_chosen_sentence_is_told_stage_by_stage(browser: Browser, report: Path, width: int, scheme: str) -> None:
    visit = Visit(browser, report, width=width, scheme=scheme)
    visit.page.locator(".entry").first.click()
    stages = visit.page.locator("#record .stage > summary")
    expect(stages).to_have_text(["Stage 1", "Debate", "Stage 2", "Decision"])
    said = turn_of(visit.page, "ATE")
    assert "introduced" in said
    assert "not in the text (H1)" in said
    assert "keyboard" in said
    assert "repaired" in turn_of(visit.page, "Review by ATE")
    expect(visit.page.locator("#record .glance thead")).to_have_text("AspectStage 1ResultGold")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.complaints == []
    visit.context.close()


def test_aspects_at_a_glance_tell_right_from_wrong(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report)
    row = visit.page.locator(".glance tbody tr", has_text="keyboard")
    expect(row.locator("td").nth(0)).to_have_class("amiss")
    battery = visit.page.locator(".glance tbody tr", has_text="battery")
    expect(battery.locator("td").nth(0)).to_have_class("amiss")  # it does not stand where stage 1 says
    expect(battery.locator("td").nth(1)).to_have_class("fine")
    assert visit.complaints == []
    visit.context.close()


def test_stages_open_and_close_by_the_keyboard(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report)
    summary = visit.page.locator("#record .stage > summary").nth(1)
    summary.focus()
    expect(visit.page.locator(".turn", has_text="EPM").first).to_be_visible()
    visit.page.keyboard.press("Enter")
    expect(visit.page.locator(".turn", has_text="EPM").first).to_be_hidden()
    assert visit.complaints == []
    visit.context.close()


def test_the_other_seed_is_one_click_away(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report)
    choices = visit.page.get_by_role("group", name="The same sentence in other runs").get_by_role("button")
    expect(choices).to_have_text(["0", "1"])
    choices.nth(1).click()
    expect(choices.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(visit.page.locator("#record .facts").first).to_contain_text("r1@1")
    assert visit.complaints == []
    visit.context.close()


def test_the_flow_is_drawn_and_a_table_tells_the_same(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report)
    flow = visit.page.locator("section", has=visit.page.get_by_role("heading", name="Errors through the steps"))
    expect(flow.locator("svg")).to_be_visible()
    expect(flow.locator("svg")).to_contain_text("Review by ATE")
    row = flow.locator("tbody tr").first
    expect(row.locator("th")).to_have_text("ATE")
    expect(flow.locator("svg")).to_contain_text(row.locator("td").last.inner_text())
    assert visit.complaints == []
    visit.context.close()


def test_rules_are_drawn_with_their_counts(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report)
    rules = visit.page.locator("section", has=visit.page.get_by_role("heading", name="Which rules decided"))
    drawing = rules.locator("svg").first
    expect(drawing).to_contain_text("B – take stage 2, unless it is far less sure")
    expect(drawing).to_contain_text("2 of 2")
    assert visit.complaints == []
    visit.context.close()


def test_a_page_without_outputs_says_so_under_the_sentence(browser: Browser, run: Run, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    for file in run.path.iterdir():
        if file.name != "outputs.jsonl":
            (tmp_path / "run" / file.name).write_bytes(file.read_bytes())
    write_html(whole_document(tmp_path / "run"), tmp_path / "report.html")
    visit = Visit(browser, tmp_path / "report.html")
    expect(visit.page.locator("#record")).to_contain_text("the run holds no outputs.jsonl")
    assert visit.complaints == []
    visit.context.close()


@pytest.mark.parametrize(
    ("language", "stage", "step"), [("fr", "Phase 1", "Révision par ATE"), ("ko", "1단계", "ATE 재검토")]
)
def test_the_stages_are_told_in_other_languages(
    browser: Browser, run: Run, tmp_path: Path, language: str, stage: str, step: str
) -> None:
    write_html(whole_document(run.path), tmp_path / "report.html", language=language)
    visit = Visit(browser, tmp_path / "report.html")
    expect(visit.page.locator("#record .stage > summary").first).to_have_text(stage)
    assert "keyboard" in turn_of(visit.page, step)
    assert visit.complaints == []
    visit.context.close()


def test_a_count_of_errors_leads_to_the_sentences_behind_it(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report)
    blame = visit.page.locator("section", has=visit.page.get_by_role("heading", name="Who made which error"))
    blame.locator("tbody").first.get_by_role("row", name="ATE").first.locator("a.behind").first.click()
    expect(visit.page.locator("#chip")).to_contain_text("ATE: introduced")
    expect(visit.page.locator(".entry")).to_have_count(2)  # the sentence under both seeds
    assert visit.complaints == []
    visit.context.close()
