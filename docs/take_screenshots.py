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

from hallumeter.pipelines import run_demo

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

IMAGES = Path(__file__).parent / "images"
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
RECORD = "12331@llama-2-70b-chat"
"""An answer of which people marked whole sentences and parts of one."""


def opened(browser: Browser, report: Path, *, width: int, height: int) -> Page:
    """The report in light colours, its charts drawn, one response chosen."""
    page = browser.new_context(viewport={"width": width, "height": height}, color_scheme="light").new_page()
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-charts=drawn]")
    page.locator(".entry", has_text=RECORD).click()
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
        report = Path(folder) / "demo" / "report.html"
        run_demo(report.parent)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        desk = opened(browser, report, width=1200, height=760)
        take(desk, "report.png", below=".legend", offset=56)
        take(desk, "report-metrics.png", below="section[id^=distribution]", offset=48)
        phone = opened(browser, report, width=390, height=844)
        take(phone, "report-phone.png", below="#record", offset=48)
        browser.close()


if __name__ == "__main__":
    main()
