"""The pages of the viewer: the list of runs, trends, and a run as its report shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from viewer_client import serving
from viewer_runs import metric, write_facts, written_run

from hallumeter.errors import InputError, SettingsError
from hallumeter.records.measurement import Counts
from hallumeter.viewer.app import Viewer
from hallumeter.viewer.pages import trend_of
from hallumeter.viewer.runs import RunList

HOSTILE = "<img src=x onerror=alert(1)>\"'&<script>alert(2)</script>\u202eevil"


def facts(folder: Path, started: str, value: float | None, *, signature: str = "v:1", name: str = "a.jsonl") -> None:
    write_facts(
        folder, Counts(records=10), started=started, metrics=[metric("mihr", value, signature=signature)], name=name
    )


def test_the_list_tells_what_each_run_is(tmp_path: Path) -> None:
    facts(tmp_path / "first", "2026-01-01T10:00:00+00:00", 0.25)
    facts(tmp_path / "deep" / "er" / "second", "2026-02-01T10:00:00+00:00", 0.125)
    with serving(tmp_path) as asker:
        page = asker.get("").text
    assert page.index("deep/er/second") < page.index(">first<")
    assert "0.125" in page
    assert "0.062 – 0.188" in page.replace("0.0625", "0.062")
    assert "2026-02-01 10:00" in page
    assert "Choose two runs over the same records to compare them record by record" in page


def test_a_run_folder_may_be_shown_by_itself(tmp_path: Path) -> None:
    written_run(tmp_path / "one", 5)
    with serving(tmp_path / "one") as asker:
        assert set(asker.run_ids()) == {"one"}
        assert asker.get(asker.only_run()).status == 200


def test_damaged_runs_are_listed_with_the_reason_and_the_others_shown(tmp_path: Path) -> None:
    written_run(tmp_path / "good", 5)
    for name in ("manifest.json", "summary.json"):
        folder = tmp_path / f"no-{name}"
        written_run(folder, 5)
        (folder / name).write_bytes(b"{broken")
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "manifest.json").write_text("{}", encoding="utf-8")
    with serving(tmp_path) as asker:
        runs = asker.run_ids()
        assert set(runs) == {"good", "no-manifest.json", "no-summary.json"}
        page = asker.get("").text
        assert page.count('data-status="damaged"') == 2
        assert "summary.json: damaged or missing" in page
        assert "cannot be shown" in asker.get(f"runs/{runs['no-summary.json']}/").text
        assert asker.get(f"runs/{runs['no-summary.json']}/records").status == 503


def test_the_page_of_a_run_is_its_report_with_scripts_as_files(tmp_path: Path) -> None:
    written_run(tmp_path / "one", 30)
    with serving(tmp_path) as asker:
        page = asker.get(asker.only_run()).text
        scripts = re.findall(r'<script src="\.\./\.\./(static/[^"]+)"', page)
        styles = re.findall(r'<link rel="stylesheet" href="\.\./\.\./(static/[^"]+)"', page)
        assert {"static/nodes.js", "static/records.js", "static/progress.js"} <= set(scripts)
        assert "static/palette.css" in styles
        for name in scripts + styles:
            answer = asker.get(name)
            assert answer.status == 200
            assert answer.headers["content-type"].startswith("text/css" if name.endswith("css") else "text/javascript")
    assert not re.findall(r"<script(?![^>]*(?:src=|application/json))", page)
    assert "<style" not in page
    assert not re.findall(r"\son\w+=", page)
    assert '"source":"records"' in page
    assert "What is missing" in page


def test_names_of_runs_files_models_and_records_are_text(tmp_path: Path) -> None:
    name = HOSTILE.replace("/", "∕")
    written_run(tmp_path / name, 20, name=HOSTILE)
    with serving(tmp_path) as asker:
        listed = asker.get("").text
        (run_id,) = re.findall(r'<a href="runs/([0-9a-f]+)/"', listed)
        pages = [listed, asker.get(f"runs/{run_id}/").text, asker.get("trends").text]
    for page in pages:
        assert "<img" not in page
        assert "<script>alert" not in page
        assert "onerror=alert(1)&gt;" in page or "onerror=alert(1)\\u003e" in page


@pytest.mark.parametrize(("language", "words"), [("en", "Runs"), ("fr", "Exécutions"), ("ko", "실행")])
def test_pages_are_said_in_the_language_that_was_chosen(tmp_path: Path, language: str, words: str) -> None:
    written_run(tmp_path / "one", 5)
    with serving(tmp_path, language=language) as asker:
        page = asker.get("").text
        assert f'<html lang="{language}">' in page
        assert words in page
        assert f'<html lang="{language}">' in asker.get(asker.only_run()).text


def test_a_trend_joins_only_runs_that_were_measured_in_the_same_way(tmp_path: Path) -> None:
    facts(tmp_path / "b", "2026-01-02T00:00:00+00:00", 0.2)
    facts(tmp_path / "a", "2026-01-03T00:00:00+00:00", 0.1)
    facts(tmp_path / "c", "2026-01-01T00:00:00+00:00", 0.4, signature="v:0")
    facts(tmp_path / "d", "2026-01-04T00:00:00+00:00", None)
    trend = trend_of(RunList(tmp_path, print).runs())
    assert trend is not None
    assert [(point.run.name, point.group) for point in trend.points] == [("c", 0), ("b", 1), ("a", 1)]
    assert trend.signatures == ("mihr|v:0", "mihr|v:1")
    assert trend.undefined == 1
    with serving(tmp_path) as asker:
        page = asker.get("trends").text
    assert "2 different signatures" in page
    assert "In 1 run this metric is undefined" in page
    assert page.index(">c<") < page.index(">b<") < page.index(">a<")


def test_a_trend_of_what_no_run_has_is_that_of_the_first_metric(tmp_path: Path) -> None:
    facts(tmp_path / "a", "2026-01-03T00:00:00+00:00", 0.1)
    with serving(tmp_path) as asker:
        assert asker.get("trends", instrument=HOSTILE, metric=HOSTILE).text.count("<img") == 0
        assert "MiHR" in asker.get("trends", metric="nonsense").text


def test_a_folder_without_runs_says_so(tmp_path: Path) -> None:
    with serving(tmp_path) as asker:
        assert "There are no runs in this folder yet" in asker.get("").text
        assert "There is no finished run" in asker.get("trends").text


def test_a_folder_that_does_not_exist_and_a_port_that_is_taken_are_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        Viewer(tmp_path / "nowhere", annotator="kim", warn=print)
    with serving(tmp_path) as asker, pytest.raises(SettingsError, match="--port"):
        Viewer(tmp_path, annotator="kim", warn=print, port=asker.port)
