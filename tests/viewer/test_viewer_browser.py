"""The viewer in a real browser: records from the server, a label that stays, a run that is followed."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from viewer_client import Asker, serving
from viewer_runs import write_facts, write_lines, written_run

from hallumeter.records import Counts
from hallumeter.store import LabelStore, ProgressFile

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path; install Debian's package chromium")
SECONDS = 60


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield started
        started.close()


@contextmanager
def visited(browser: Browser, asker: Asker, path: str = "") -> Iterator[Page]:
    """A page of the viewer; whatever goes wrong on it, or leaves the machine, fails the test."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(SECONDS * 1000)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    own = f"http://127.0.0.1:{asker.port}/"
    page.on("request", lambda sent: None if sent.url.startswith((own, "data:")) else complaints.append(sent.url))
    page.goto(asker.address + path)
    yield page
    page.context.close()
    assert complaints == []


def test_records_are_read_page_by_page_and_searched_by_the_server(browser: Browser, tmp_path: Path) -> None:
    written_run(tmp_path / "one", 120)
    with serving(tmp_path) as asker, visited(browser, asker) as page:
        page.get_by_role("link", name="one", exact=True).click()
        page.wait_for_selector(".list .entry")
        assert page.locator(".list .entry").count() == 50
        page.fill("#search", "Nr 44.")
        page.wait_for_selector(".list .entry:only-child, .list li:only-child .entry")
        page.wait_for_selector(".record:has-text('Nr 44.')")


def test_a_label_is_still_there_after_a_reload(browser: Browser, tmp_path: Path) -> None:
    written_run(tmp_path / "one", 20)
    with serving(tmp_path) as asker, visited(browser, asker, asker.only_run()) as page:
        page.wait_for_selector(".list .entry")
        wrong = page.locator(".inspector").get_by_role("button", name="Wrong").first
        with page.expect_response(lambda answer: answer.url.endswith("/labels") and answer.request.method == "POST"):
            wrong.click()
        page.reload()
        page.wait_for_selector(".inspector [aria-pressed=true]")
        assert page.locator(".inspector [aria-pressed=true]").first.inner_text() == "Wrong"
    (label,) = LabelStore(tmp_path / "one").latest()
    assert label.is_right is False


def test_a_run_in_progress_is_seen_to_move_and_its_page_comes_by_itself(browser: Browser, tmp_path: Path) -> None:
    run = tmp_path / "one"
    run.mkdir()
    (run / "journal.sqlite").touch()
    progress = ProgressFile(run / "progress.json", instrument="audit")
    progress.write("judging by rules", done=3, total=9)
    with serving(tmp_path) as asker, visited(browser, asker, asker.only_run()) as page:
        page.wait_for_selector(".live-step:has-text('judging by rules: 3 of 9')")
        progress.write("judging by rules", done=7, total=9)
        page.wait_for_selector(".live-step:has-text('7 of 9')")
        written_run(run, 20)
        (run / "journal.sqlite").unlink()
        progress.remove()
        page.wait_for_selector(".list .entry")


def test_the_list_is_searched_sorted_and_follows_the_folder(browser: Browser, tmp_path: Path) -> None:
    for name, records in (("alpha", 5), ("beta", 100), ("gamma", 20)):
        write_facts(tmp_path / name, Counts(records=records))
        write_lines(tmp_path / name / "records.jsonl", [])
    with serving(tmp_path) as asker, visited(browser, asker) as page:
        names = page.locator("#run-list tbody tr:not([hidden]) th")
        page.get_by_role("button", name="Records").click()
        assert names.all_inner_texts() == ["alpha", "gamma", "beta"]
        page.fill("#run-search", "BET")
        assert names.all_inner_texts() == ["beta"]
        page.fill("#run-search", "")
        threading.Timer(0.5, written_run, (tmp_path / "delta", 7)).start()
        page.wait_for_selector("#run-list tbody tr:has-text('delta')")
        assert names.all_inner_texts() == ["alpha", "delta", "gamma", "beta"]
        page.get_by_role("link", name="Trends").click()
        page.wait_for_selector(".canvas svg")
