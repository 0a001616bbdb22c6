"""One browser for all tests that need one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsing import ARGUMENTS, CHROMIUM
from playwright.sync_api import Browser, sync_playwright


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()
