"""The viewer in a real browser: records from the server, a label that stays, a run that is followed."""

from __future__ import annotations

import threading
from pathlib import Path

from playwright.sync_api import Browser
from viewer_client import serving, visited
from viewer_runs import write_facts, write_lines, written_run

from browsing import needs_browser
from hallumeter.records.measurement import Counts
from hallumeter.run.labels import LabelStore
from hallumeter.run.progress import ProgressFile

pytestmark = needs_browser


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
