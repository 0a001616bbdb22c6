"""What a calibration has found is where a judge draws the line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import refused, succeed, write

from hallumeter.claims.settings import operating_point_of
from hallumeter.errors import InputError, SettingsError

ROW = {"by": {}, "units": 9, "labelled": 9, "labelled_clusters": 9, "threshold": 0.25}
ANSWER = {"id": "r1", "response": "The tower is 999 m high.", "evidence": "The tower is 330 m high."}


def calibration(folder: Path, *, judge: str = "embedded:fast@3", rows: list[dict[str, object]] | None = None) -> Path:
    promise = {
        "words": "at most 5% hallucinated among accepted",
        "risk": "among_accepted",
        "limit": 0.05,
        "confidence": 0.9,
    }
    given = {
        "version": 1,
        "run": "run",
        "judge": judge,
        "unit": "claim",
        "cluster": "response",
        "confidence": 0.9,
        "promise": promise,
        "labels": {"labels": 9, "claims": 9, "responses": 9, "annotators": {"kim": 9}},
        "unscored": 0,
        "thresholds": [ROW] if rows is None else rows,
        "reliability": None,
    }
    path = folder / "calibration.json"
    path.write_text(json.dumps(given), encoding="utf-8")
    return path


def test_a_claim_at_the_threshold_is_accepted_and_the_next_number_above_it_is_flagged(tmp_path: Path) -> None:
    point = operating_point_of(calibration(tmp_path))
    assert point.threshold > 0.25
    assert point.threshold == pytest.approx(0.25, abs=1e-15)
    assert (point.judge, point.promise) == ("embedded:fast@3", "at most 5% hallucinated among accepted")
    assert operating_point_of(calibration(tmp_path, rows=[{**ROW, "threshold": 1.0}])).threshold == 1.0


def test_a_calibration_without_a_threshold_for_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no threshold could promise .*: too few labels"):
        operating_point_of(calibration(tmp_path, rows=[{**ROW, "threshold": None, "why_not": "too few labels"}]))
    with pytest.raises(SettingsError, match="thresholds for slices only"):
        operating_point_of(calibration(tmp_path, rows=[{**ROW, "by": {"task": "QA"}}]))


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        operating_point_of(tmp_path / "none.json")
    (tmp_path / "odd.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="not a calibration"):
        operating_point_of(tmp_path / "odd.json")


def test_an_audit_draws_the_line_where_the_calibration_does_and_its_signature_says_so(tmp_path: Path) -> None:
    answers = write(tmp_path / "answers.jsonl", [ANSWER])
    words = ("audit", answers, "--judge", "embedded:fast", "--workers", 1, "--calibration", calibration(tmp_path))
    succeed(*words, "--out", tmp_path / "run")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert "|threshold:0.25|" in summary["metrics"][0]["signature"]
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert "threshold" in json.dumps(manifest["judges"])


def test_an_audit_by_another_judge_refuses_the_calibration(tmp_path: Path) -> None:
    answers, given = write(tmp_path / "answers.jsonl", [ANSWER]), calibration(tmp_path)
    assert refused("audit", answers, "--judge", "rules", "--calibration", given) == (
        "the calibration is for the judge embedded:fast@3, and these are judged by rules"
    )
    assert "give one of --calibration, --threshold and --preset" in refused(
        "audit", answers, "--calibration", given, "--threshold", 0.3
    )


def test_a_gate_takes_a_threshold_but_no_preset(tmp_path: Path) -> None:
    answers = write(tmp_path / "answers.jsonl", [ANSWER])
    succeed("audit", answers, "--judge", "embedded:fast", "--workers", 1, "--out", tmp_path / "run")
    policy = tmp_path / "policy.toml"
    policy.write_text('name = "mine"\n[[bounds]]\nmetric = "mihr"\nat_most = 1.0\n', encoding="utf-8")
    words = ("gate", tmp_path / "run", "--policy", policy)
    assert "Labels are decided at the threshold 0.25" in succeed(*words, "--calibration", calibration(tmp_path)).stdout
    assert "--preset cannot be applied to a finished run" in refused(*words, "--preset", "precise")
