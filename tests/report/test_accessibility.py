"""Reports of every instrument, looked at by axe-core in a real browser: nothing serious stands in a reader's way."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from browsing import Visit, needs_browser

pytestmark = [needs_browser, pytest.mark.long]
RUNS = ("answers", "newspapers", "dialogues", "reviews-english")
GRAVE = ("serious", "critical")


def barriers(visit: Visit) -> list[str]:
    """What axe finds that is serious or worse, with the first places."""
    visit.page.wait_for_selector("html[data-charts=drawn]")
    found = Axe().run(visit.page).response["violations"]
    return [
        f"{each['id']}: {each['help']}: {[node['html'][:200] for node in each['nodes'][:3]]}"
        for each in found
        if each["impact"] in GRAVE
    ]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("run", RUNS)
def test_a_report_has_no_serious_barrier(
    browser: Browser, finished_demo: Path, run: str, width: int, scheme: str
) -> None:
    visit = Visit(browser, finished_demo / run / "report.html", width=width, scheme=scheme)
    assert barriers(visit) == []


def test_a_page_of_several_runs_has_no_serious_barrier(browser: Browser, finished_demo: Path) -> None:
    assert barriers(Visit(browser, finished_demo / "report.html")) == []
