"""Two runs of the list side by side: the same page, guarded like the others, and what is said when there is none."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from viewer_client import Asker, eventually, serving, visited
from viewer_runs import written_run

from browsing import needs_browser
from compared_runs import run_of, verdict_rows
from hallumeter import compare
from hallumeter.viewer import background as comparisons
from hallumeter.viewer.guard import HEADERS

HOSTILE = "<script>window.stolen = 1</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    before = {f"r{number}": "ssss" for number in range(30)}
    after = {name: "ssrr" if number % 2 else "ssss" for number, name in enumerate(before)}
    run_of(folder / "before", [{**row, "text": f"{HOSTILE} {row['text']}"} for row in verdict_rows(before)])
    run_of(folder / "after", [{**row, "text": f"{HOSTILE} {row['text']}"} for row in verdict_rows(after)])
    run_of(folder / "other", verdict_rows({"x": "s"}))
    return folder


@pytest.fixture(scope="module")
def asker(folder: Path) -> Iterator[Asker]:
    with serving(folder) as asker:
        yield asker


def way(asker: Asker, first: str, second: str) -> str:
    ids = asker.run_ids()
    return f"compare/{ids[first]}/{ids[second]}"


def test_two_runs_are_shown_side_by_side_with_the_headers_of_every_page(asker: Asker) -> None:
    answer = asker.get(way(asker, "before", "after"))
    assert answer.status == 200
    assert "Regression: after is worse than before." in answer.text
    assert {name: answer.headers[name.lower()] for name in HEADERS} == HEADERS
    assert HOSTILE not in answer.text
    assert "&lt;script&gt;window.stolen" in answer.text
    assert asker.get(way(asker, "after", "before")).text.count("No regression from after to before.") == 1


def test_runs_that_cannot_be_compared_say_why(asker: Asker) -> None:
    answer = asker.get(way(asker, "before", "other"))
    assert answer.status == 409
    assert "These runs cannot be compared" in answer.text
    assert "no record in common" in answer.text


def test_only_runs_of_the_list_are_compared(asker: Asker) -> None:
    known = asker.run_ids()["before"]
    assert asker.get(f"compare/{known}/0123456789abcdef").status == 404
    assert asker.get(f"compare/{known}/..%2f..").status == 404
    assert asker.raw("GET", f"/wrong/compare/{known}/{known}").status == 404
    assert asker.post(f"compare/{known}/{known}", {}).status == 405


def test_an_unfinished_run_is_not_compared(tmp_path: Path) -> None:
    written_run(tmp_path / "one", 3)
    written_run(tmp_path / "two", 3)
    (tmp_path / "two" / "summary.json").write_text("{", encoding="utf-8")
    with serving(tmp_path) as asker:
        answer = asker.get(way(asker, "one", "two"))
    assert answer.status == 409
    assert "cannot be compared" in answer.text


def test_while_a_comparison_takes_long_the_server_says_so_and_answers(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on = threading.Event()

    def slow(first: Path, second: Path) -> object:
        may_go_on.wait(60)
        return compare(first, second)

    monkeypatch.setattr(comparisons, "compare", slow)
    monkeypatch.setattr(comparisons, "PATIENCE", 0.05)
    with serving(folder) as asker:
        path = way(asker, "before", "after")
        waiting = asker.get(path)
        assert waiting.status == 200
        assert "Comparing the runs" in waiting.text
        assert "waiting.js" in waiting.text
        assert asker.get("").status == 200
        may_go_on.set()
        assert eventually(lambda: "Regression: after" in asker.get(path).text)


def test_a_fault_of_ours_is_said_and_a_run_that_changes_is_compared_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    run_of(first, verdict_rows({"r": "s"}))
    run_of(second, verdict_rows({"r": "s"}))
    kept = comparisons.Comparisons()
    found = kept.of(first, second, patience=60)
    assert kept.of(first, second, patience=60) is found
    (second / "verdicts.jsonl").write_text("{\n", encoding="utf-8")
    damaged = kept.of(first, second, patience=60)
    assert damaged.fault is not None
    assert "verdicts.jsonl" in damaged.fault

    kept = comparisons.Comparisons(verify=False)

    def broken(*_: object) -> None:
        raise ZeroDivisionError("nothing to divide")

    monkeypatch.setattr(comparisons, "compare", broken)
    assert kept.of(second, first, patience=60).fault == "ZeroDivisionError: nothing to divide"


def test_only_the_last_comparisons_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "compare", lambda *_: None)
    kept = comparisons.Comparisons()
    works = [kept.of(tmp_path / str(number), tmp_path, patience=60) for number in range(40)]
    assert kept.of(tmp_path / "39", tmp_path, patience=60) is works[39]
    assert kept.of(tmp_path / "0", tmp_path, patience=60) is not works[0]


@needs_browser
def test_two_runs_are_chosen_in_the_list_and_compared(browser: Browser, asker: Asker) -> None:
    with visited(browser, asker) as page:
        told = page.locator("#chosen-runs")
        expect(told).to_be_hidden()
        page.get_by_label("Choose other to compare").check()
        expect(told).to_have_text("Choose a second run to compare with other.")
        page.get_by_label("Choose after to compare").check()
        page.get_by_label("Choose before to compare").check()
        expect(page.get_by_label("Choose other to compare")).not_to_be_checked()
        page.get_by_role("button", name="Swap").click()
        page.get_by_role("link", name="Compare before with after").click()
        expect(page.locator("#verdict-words")).to_have_text("Regression: after is worse than before.")
        page.wait_for_selector(".canvas svg")
        assert page.evaluate("window.stolen") is None
        page.locator("h1 a", has_text="after").click()
        expect(page.locator(".viewer-here")).to_have_text("after")
