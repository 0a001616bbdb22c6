"""A page of several runs in a real browser: every run has a chapter, one is in sight at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browsing import Visit, needs_browser

pytestmark = [needs_browser, pytest.mark.long]
CHAPTERS = ("Audit: ", "Transcripts: ", "Dialogue: ", "Aspects", "Aspects")


@pytest.fixture(scope="module")
def report(finished_demo: Path) -> Path:
    return finished_demo / "report.html"


def test_one_run_is_in_sight_at_a_time_and_the_contents_lead_to_the_others(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report)
    page = visit.page
    for place, title in enumerate(CHAPTERS):
        page.locator(".runs a").nth(place).click()
        page.locator(f"#run-{place}-chapter").wait_for()  # the browser tells of the new address a little later
        assert page.locator("h1:visible").inner_text().startswith(title)
        assert page.locator("[data-chapter]:visible").count() == 1
        assert page.locator(".runs a[aria-current=page]").count() == 1
        page.wait_for_selector("[data-chapter]:visible .canvas svg, [data-chapter]:visible .canvas canvas")
    assert visit.complaints == []


def test_every_chapter_has_a_browser_of_its_own(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report)
    page = visit.page
    page.locator(".runs a").nth(2).click()
    dialogues = page.locator("#run-2-chapter")
    dialogues.locator("input[type=search]").fill("insulin")
    shown = dialogues.locator("output[id$=-shown]").inner_text()
    page.locator(".runs a").nth(0).click()
    page.locator("#run-0-chapter").wait_for()
    assert page.locator("#run-0-chapter output[id$=-shown]").inner_text() != shown
    assert page.locator("#run-0-chapter input[type=search]").input_value() == ""
    assert visit.complaints == []


def test_an_address_inside_a_chapter_opens_it(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report, fragment="#run-1-guide")
    assert visit.page.locator("#run-1-guide").is_visible()
    assert visit.page.locator("#run-0-chapter").is_hidden()
    assert visit.complaints == []


def test_no_name_on_the_page_is_given_twice(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report)
    names = visit.page.evaluate("[...document.querySelectorAll('[id]')].map((node) => node.id)")
    assert len(names) == len(set(names))
