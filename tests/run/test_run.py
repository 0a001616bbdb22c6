"""A finished run in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import hallumeter
from hallumeter import InputError, MeasureSettings, Run, load
from hallumeter.claims.measure.commands import measure_to_folder
from verdict_rows import Row, write_lines

ROWS: list[Row] = [
    {"record_id": "r1", "claim_id": "c1", "label": "REFUTED", "judge": "a", "text": "t", "response": "t"},
    {"record_id": "r1", "claim_id": "c1", "label": "SUPPORTED", "judge": "b"},
    {"record_id": "r2", "claim_id": "c1", "label": "maybe", "judge": "a"},
]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    path = write_lines(tmp_path / "v.jsonl", ROWS)
    measure_to_folder([path], tmp_path / "run", settings=MeasureSettings())
    return load(str(tmp_path / "run"))


def test_a_run_has_its_summary_findings_and_failures(run: Run) -> None:
    assert run.summary == hallumeter.measure(ROWS)
    assert [(finding.claim.record_id, len(finding.verdicts)) for finding in run.findings()] == [("r1", 2), ("r2", 0)]
    assert [failure.code for failure in run.failures] == ["unknown_label"]
    assert run.manifest.instrument == "measure"
    assert repr(run) == f"Run({str(run.path)!r})"


def test_a_run_writes_its_report_where_it_is_asked_to(run: Run, tmp_path: Path) -> None:
    run.to_html(str(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_bytes() == (run.path / "report.html").read_bytes()


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a run folder"):
        load(tmp_path)


def test_a_damaged_run_names_the_file_and_writes_no_report(run: Run, tmp_path: Path) -> None:
    (run.path / "claims.jsonl").write_text('{"record_id": "r1"', encoding="utf-8")
    with pytest.raises(InputError, match=r"claims.jsonl:1: damaged \(.*\); make the run again"):
        run.to_html(tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_the_public_names_are_found_when_they_are_used() -> None:
    assert all(getattr(hallumeter, name) is not None for name in hallumeter.__all__)
    assert set(hallumeter.__all__) <= set(dir(hallumeter))
    with pytest.raises(AttributeError, match="module 'hallumeter' has no attribute 'nothing'"):
        getattr(hallumeter, "nothing")  # noqa: B009
