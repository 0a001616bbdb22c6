"""The page on two runs, and on several, in a real browser: desk and phone, light and dark, three languages."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from test_accessibility import barriers
from test_comparison_page import _hostile
from test_untrusted_text import HOSTILE

from browsing import Visit, needs_browser
from comparison_samples import comparison_of, run_ranking
from hallumeter.decide.compare.page import write_comparison
from hallumeter.records.comparison import Comparison, RunRanking

pytestmark = needs_browser
PAGES: dict[str, Comparison | RunRanking] = {"comparison": comparison_of(), "ranking": run_ranking()}
SCREENS = [(1280, "light"), (390, "dark")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    for name, found in PAGES.items():
        for language in ("en", "fr", "ko"):
            write_comparison(found, folder / f"{name}-{language}.html", language=language)
    return folder


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
@pytest.mark.parametrize("language", ["en", "fr", "ko"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_draws_its_charts_and_fits_its_window(
    browser: Browser, pages: Path, name: str, language: str, width: int, scheme: str
) -> None:
    visit = Visit(browser, pages / f"{name}-{language}.html", width=width, scheme=scheme)
    visit.page.wait_for_selector("html[data-charts=drawn]")
    assert visit.page.locator(".canvas svg").count() == 2
    assert visit.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert visit.page.locator("html").get_attribute("lang") == language
    assert visit.complaints == []
    visit.context.close()


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), SCREENS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_serious_barrier(browser: Browser, pages: Path, name: str, width: int, scheme: str) -> None:
    visit = Visit(browser, pages / f"{name}-en.html", width=width, scheme=scheme)
    assert barriers(visit) == []
    visit.context.close()


def test_a_number_of_the_table_opens_the_claims_behind_it(browser: Browser, pages: Path) -> None:
    visit = Visit(browser, pages / "comparison-en.html")
    claims = visit.page.locator("#claims-1-0")
    expect(claims).not_to_have_attribute("open", "")
    visit.page.locator(".transitions a", has_text="9").click()
    expect(claims).to_have_attribute("open", "")
    expect(claims.locator("summary")).to_be_focused()
    expect(claims.locator(".wording.first mark")).to_have_text("1999")
    expect(claims.locator(".wording.second mark")).to_have_text("1889")
    expect(claims).to_be_in_viewport()
    visit.context.close()
    named = Visit(browser, pages / "comparison-en.html", fragment="#claims-5-2")
    expect(named.page.locator("#claims-5-2")).to_have_attribute("open", "")
    expect(named.page.locator("#claims-5-2")).to_contain_text("no such claim")
    named.context.close()


def test_every_figure_of_a_row_is_in_sight_on_a_phone(browser: Browser, pages: Path) -> None:
    visit = Visit(browser, pages / "comparison-en.html", width=390)
    box = visit.page.locator(".scroll", has=visit.page.locator("table.compared")).first
    assert box.evaluate("(node) => node.scrollWidth - node.clientWidth") <= 0
    for words in ("First", "Difference", "p, corrected", "Detectable", "Margin"):
        cell = box.locator(f'td[data-label="{words}"]').first
        assert cell.evaluate("(node) => getComputedStyle(node, '::before').content") == f'"{words}"'
    visit.context.close()


def test_texts_of_runs_do_nothing_on_the_page(browser: Browser, tmp_path: Path) -> None:
    for number, text in enumerate(HOSTILE.values()):
        write_comparison(_hostile(text), tmp_path / f"{number}.html")
        visit = Visit(browser, tmp_path / f"{number}.html")
        visit.page.wait_for_selector("html[data-charts=drawn]")
        assert visit.page.evaluate("window.stolen") is None
        assert visit.complaints == []
        visit.context.close()
