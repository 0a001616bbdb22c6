"""Take the pictures of the report that README.md and docs/guides/report.md show.

    python docs/take_screenshots.py

Runs the demo in a temporary folder and opens its report in chromium, which must be on the path. Playwright is among
what `make test` installs.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from hallumeter.demo import run_demo

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

IMAGES = Path(__file__).parent / "images"
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
RECORD = "12331@llama-2-70b-chat"
"""An answer that adds benefits: the judge and the people point to the same sentences."""
PAGE = "1903-14552000"
"""An article that the language model copied for a while before it began to repeat itself."""
IN_SIGHT = """entry => {
  const list = entry.closest(".list");
  list.scrollTop += entry.getBoundingClientRect().top - list.getBoundingClientRect().top - 250;
}"""
"""Scrolls the list of responses, and not the page, to an entry."""


def opened(browser: Browser, report: Path, *, width: int, height: int) -> Page:
    """A report in light colours, its charts drawn."""
    page = browser.new_context(viewport={"width": width, "height": height}, color_scheme="light").new_page()
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-charts=drawn]")
    return page


def take(page: Page, name: str, *, below: str, offset: int) -> None:
    """Scroll an element to the top, less an offset, and take what the window shows."""
    page.evaluate(f"scrollTo(0, document.querySelector({below!r}).getBoundingClientRect().top + scrollY - {offset})")
    page.mouse.move(0, 0)
    page.screenshot(path=IMAGES / name, animations="disabled")
    sys.stdout.write(f"{IMAGES / name}: {(IMAGES / name).stat().st_size >> 10} KiB\n")


def main() -> None:
    """Take all pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        run_demo(Path(folder) / "demo")
        demo = Path(folder) / "demo"
        answers, newspapers, reviews = (
            demo / name / "report.html" for name in ("answers", "newspapers", "reviews-english")
        )
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        take(opened(browser, demo / "report.html", width=1200, height=1060), "demo.png", below="body", offset=0)
        desk = opened(browser, answers, width=1200, height=1000)
        desk.locator(".entry", has_text=RECORD).click()
        desk.locator(".entry[aria-current=true]").evaluate(IN_SIGHT)
        take(desk, "report.png", below="#browser", offset=60)
        desk.set_viewport_size({"width": 1200, "height": 760})
        take(desk, "report-metrics.png", below="section[id^=breakdown]", offset=48)
        phone = opened(browser, answers, width=390, height=844)
        phone.locator(".entry", has_text=RECORD).click()
        take(phone, "report-phone.png", below="#record .mark.chosen", offset=230)
        pages = opened(browser, newspapers, width=1200, height=760)
        pages.locator("#by-engine").select_option(label="smollm2")
        pages.locator(".entry", has_text=PAGE).click()
        take(pages, "transcripts.png", below="#browser", offset=60)
        take(pages, "transcripts-engines.png", below="section[id^=ranking]", offset=16)
        agents = opened(browser, reviews, width=1200, height=900)
        take(agents, "aspects-flow.png", below="section[id^=flow]", offset=48)
        browser.close()


if __name__ == "__main__":
    main()
