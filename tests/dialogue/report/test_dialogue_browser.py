"""The page on dialogues in a real browser: charts are drawn, and every finding can be read at its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from browsing import Visit, needs_browser, written
from dialogue_samples import dialogue_document
from hallumeter.dialogue_judges import dialogue
from hallumeter.report.charts import charts_of

pytestmark = needs_browser


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of two modes that answer a patient; one invents a value and advises against a safety rule."""
    slots = {"age": 56, "key_labs": {"hba1c": "7.5%"}, "key_vitals": {"bp_systolic": "185mmHg"}, "key_meds": []}
    said = {
        "llm": "Your HbA1c is 9.1%. I recommend sprint intervals every day.",
        "agent": "Your HbA1c is 7.5%. Walk for 30 minutes and stop if you feel chest pain.",
    }
    events = [
        {"mode": mode, "patient_id": "p1", "turn_id": turn, "question": f"Question {turn}?", "answer": answer}
        | {"slots_truth": slots}
        for mode, answer in said.items()
        for turn in (2, 3)
    ]
    out = tmp_path_factory.mktemp("dialogues") / "run"
    dialogue(events, out=out)
    return out / "report.html"


def chosen(visit: Visit, words: str) -> Locator:
    """The inspector after a click on these words of the answer."""
    visit.page.locator("#record .response .mark", has_text=words).first.click()
    return visit.page.locator("#inspector")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_click_on_a_mark_tells_the_truth_and_the_rule_that_fired(
    browser: Browser, measured: Path, width: int, scheme: str
) -> None:
    visit = Visit(browser, measured, width=width, scheme=scheme)
    visit.page.locator(".entry", has_text="Question 3?").first.click()
    expect(visit.page.locator("#record")).to_contain_text("Your HbA1c is 9.1%")
    invented = chosen(visit, "HbA1c is 9.1%")
    expect(invented).to_contain_text("the answer says hba1c 9.1 %, the record 7.5%")
    expect(invented.locator("mark").first).to_have_text("key_labs.hba1c: 7.5%")
    expect(visit.page.locator(".passage mark").first).to_have_text("key_labs.hba1c: 7.5%")
    broken = chosen(visit, "sprint")
    expect(broken).to_contain_text("CSP_BP_001 applies: patient flag very_high_bp")
    expect(broken).to_contain_text("the words match 'high_intensity_exercise: sprint")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.complaints == []
    visit.context.close()


def test_the_pointer_alone_tells_what_was_found(browser: Browser, measured: Path) -> None:
    visit = Visit(browser, measured)
    visit.page.locator(".entry", has_text="Question 3?").first.click()
    mark = visit.page.locator("#record .response .mark", has_text="HbA1c is 9.1%").first
    assert "the record 7.5%" in (mark.get_attribute("title") or "")
    visit.context.close()


def test_a_conversation_is_read_turn_by_turn_and_mode_by_mode(browser: Browser, measured: Path) -> None:
    visit = Visit(browser, measured)
    record = visit.page.locator("#record")
    visit.page.locator(".entry", has_text="llm · turn 3 · p1").click()
    expect(record.locator(".asked").last).to_have_text("Question 3?")
    record.locator("details", has_text="Earlier in this conversation (1 turn)").locator("summary").click()
    expect(record.locator("details .asked")).to_have_text("Question 2?")
    record.get_by_role("group", name="Mode").get_by_role("button", name="agent").click()
    expect(record.locator(".response")).to_contain_text("Your HbA1c is 7.5%")
    expect(visit.page.locator(".entry[aria-current=true]")).to_contain_text("agent · turn 3 · p1")
    record.get_by_role("group", name="Turn").get_by_role("button", name="2").click()
    expect(visit.page.locator(".entry[aria-current=true]")).to_contain_text("agent · turn 2 · p1")
    record.locator("details", has_text="The same question answered by llm").locator("summary").click()
    record.get_by_role("button", name="Read it with its findings").click()
    expect(record.locator(".response")).to_contain_text("Your HbA1c is 9.1%")
    assert visit.complaints == []
    visit.context.close()


def test_what_has_no_place_in_an_answer_says_what_it_is(browser: Browser, measured: Path) -> None:
    visit = Visit(browser, measured)
    visit.page.locator(".entry", has_text="llm · turn 3 · p1").click()
    expect(visit.page.locator(".loose li", has_text="must include").first).to_be_visible()
    expect(visit.page.locator(".loose li", has_text="safety requirement")).to_have_count(1)
    visit.context.close()


def test_every_chart_is_drawn_without_a_complaint(browser: Browser, tmp_path: Path) -> None:
    document = dialogue_document()
    visit = Visit(browser, written(document, tmp_path))
    expect(visit.page.locator("html[data-charts=drawn]")).to_be_attached(timeout=60_000)
    assert visit.page.locator(".canvas svg").count() == len(charts_of(document))
    assert visit.complaints == []
    visit.context.close()


def test_modes_turns_and_the_spread_of_scores_are_drawn_with_their_words(browser: Browser, tmp_path: Path) -> None:
    document = dialogue_document()
    visit = Visit(browser, written(document, tmp_path))
    expect(visit.page.locator("html[data-charts=drawn]")).to_be_attached(timeout=60_000)
    drawn = {chart.kind: visit.page.locator(".canvas svg").nth(chart.number) for chart in charts_of(document)}
    for kind in ("modes", "trend", "spread"):
        words = drawn[kind].text_content() or ""
        assert "llm" in words
        assert "agent" in words
    assert "turn" in (drawn["trend"].text_content() or "")
    assert drawn["trend"].locator(".mark-line path").count() == 2  # one for each mode
    assert drawn["spread"].locator(".mark-rect path").count() > 2
    assert drawn["modes"].locator(".mark-rect path, .mark-symbol path").count() >= 2
    visit.context.close()
