"""A real browser, and an open page in it that remembers everything that went wrong."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Request, sync_playwright

from hallumeter.report.document import Document
from hallumeter.report.page.render import write_html

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--disable-component-update", "--disable-sync"),
]
needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on the path; install Debian's package chromium"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for as long as a file of tests needs one.

    Not longer: the event loop of Playwright counts as running until it ends, and other tests run loops of their own.
    """
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


class Visit:
    """An open page, and everything that went wrong on it."""

    def __init__(
        self, browser: Browser, path: Path, *, width: int = 1280, scheme: str = "light", fragment: str = ""
    ) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if scheme == "dark" else "light"
        )
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        self.page.on("request", self._note)
        self.page.goto(path.as_uri() + fragment)
        # Large blocks of data are unpacked after the page has loaded.
        self.page.wait_for_function("[...document.querySelectorAll('.browser')].every((node) => !node.hidden)")

    def _note(self, request: Request) -> None:
        if not request.url.startswith("file:"):
            self.complaints.append(f"request: {request.url}")


def boxes(*places: Locator) -> list[dict[str, float]]:
    """Where several things stand at one moment: between two questions the page may have scrolled."""
    nodes = [place.element_handle() for place in places]
    measured: list[dict[str, float]] = places[0].page.evaluate(
        "nodes => nodes.map((node) => node.getBoundingClientRect().toJSON())", nodes
    )
    return measured


def written(document: Document, folder: Path) -> Path:
    write_html(document, folder / "report.html")
    return folder / "report.html"
