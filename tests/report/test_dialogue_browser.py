"""The page on dialogues in a real browser: every chart is drawn, and nothing goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import Visit, needs_browser, opened_browser, written
from dialogue_samples import dialogue_document
from playwright.sync_api import Browser, expect

from hallumeter.report import charts_of

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from opened_browser()


def test_every_chart_is_drawn_without_a_complaint(browser: Browser, tmp_path: Path) -> None:
    document = dialogue_document()
    visit = Visit(browser, written(document, tmp_path))
    expect(visit.page.locator("html[data-charts=drawn]")).to_be_attached(timeout=60_000)
    assert visit.page.locator(".canvas svg").count() == len(charts_of(document))
    assert visit.complaints == []
    visit.context.close()
