"""Every number of a run is computed once more; an edited one is named with both values."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

import hallumeter
from aspect_outputs import output
from compared_runs import run_of, verdict_rows
from hallumeter.cli.main import main
from hallumeter.decide.verify.run import is_same, verify_run
from hallumeter.demo import DIALOGUES, ENGLISH_REVIEWS, NEWSPAPERS
from hallumeter.run.digests import write_manifest
from hallumeter.run.finished import load
from hallumeter.run.run_folder import MANIFEST, RunFolder


def verified(*words: object) -> Result:
    return CliRunner().invoke(main, ["verify", *map(str, words)])


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audited") / "run"
    with resources.as_file(resources.files("hallumeter") / "samples" / "rag_answers.jsonl") as answers:
        hallumeter.audit(str(answers), judge="rules", by="model", out=folder)
    return folder


@pytest.fixture
def run(audited: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(audited, tmp_path / "run"))


def forged(run: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Change a file and write the manifest anew, as somebody would who knows the digests."""
    (run / name).write_bytes(change((run / name).read_bytes()))
    manifest = RunFolder(run).manifest
    (run / MANIFEST).unlink()
    write_manifest(run, manifest)


def _only(demo: Path, name: str) -> Path:
    """The run of this name, wherever the demo has put it."""
    [manifest] = demo.rglob(f"{name}/{MANIFEST}")
    return manifest.parent


def test_an_untouched_audit_is_equal(run: Path) -> None:
    result = verified(run)
    assert result.exit_code == 0, result.stdout
    assert result.stdout.startswith(f"{run}: equal\n")
    for name in ("files", "measurements.jsonl", "summary.json"):
        assert re.search(rf"^  {name:18}  [\d,]+ equal$", result.stdout, re.MULTILINE)


def test_every_run_of_the_demo_is_equal(finished_demo: Path) -> None:
    for name in (NEWSPAPERS, DIALOGUES, ENGLISH_REVIEWS, "answers"):
        found = verify_run(load(_only(finished_demo, name)))
        assert found.outcome == "equal", (name, found.checks)
        assert sum(check.equal for check in found.checks) > 100


def test_an_edited_value_is_named_with_both_values(run: Path) -> None:
    summary = json.loads((run / "summary.json").read_bytes())
    row = next(row for row in summary["metrics"] if row["metric"] == "mihr" and not row["by"])
    true, row["value"] = row["value"], 0.125
    forged(run, "summary.json", lambda _: json.dumps(summary).encode())
    result = verified(run)
    assert result.exit_code == 1
    assert f"mihr {row['judge']} · value: 0.125, computed {true}" in result.stdout


def test_an_edited_verdict_makes_counts_different(run: Path) -> None:
    forged(run, "verdicts.jsonl", lambda text: text.replace(b'"NOT_ENOUGH_INFO"', b'"SUPPORTED"', 1))
    found = verify_run(load(run))
    assert found.outcome == "different"
    [summary] = [check for check in found.checks if check.name == "summary.json"]
    assert any(each.where.endswith("· count") for each in summary.differences)


def test_an_edited_measurement_and_a_removed_one_are_different(run: Path) -> None:
    forged(run, "measurements.jsonl", lambda text: b"".join(text.splitlines(keepends=True)[:-1]))
    assert verified(run).exit_code == 1


def test_a_truncated_run_is_different_and_what_it_hinders_is_named(run: Path) -> None:
    (run / "claims.jsonl").write_bytes(b"")
    result = verified(run)
    assert result.exit_code == 1
    assert "claims.jsonl: 0 lines instead of 403" in result.stdout
    assert "numbers" in result.stdout
    assert "not verifiable: its files cannot be read" in result.stdout


def test_a_damaged_summary_is_no_traceback(run: Path) -> None:
    (run / "summary.json").write_text("{", encoding="utf-8")
    result = verified(run)
    assert result.exit_code == 1
    assert "Traceback" not in result.output


def test_a_run_without_digests_is_computed_again_and_the_lack_is_named(run: Path) -> None:
    older = msgspec.structs.replace(RunFolder(run).manifest, files=())
    (run / MANIFEST).write_bytes(msgspec.json.encode(older))
    result = verified(run)
    assert result.exit_code == 3
    assert "kept no digests of files" in result.stdout


def test_measured_verdicts_of_a_panel_and_of_several_models_are_equal(tmp_path: Path) -> None:
    labels = {f"r{number}": "snr"[number % 3] * 3 for number in range(12)}
    rows = [
        {**row, "model": model, "judge": judge, "text": f"claim {row['claim_id']}"}
        for model in ("a", "b")
        for judge in ("one", "two", "three")
        for row in verdict_rows(labels)
    ]
    for name, settings in (("plain", {}), ("grouped", {"by": ("model",), "consensus": "dawid-skene"})):
        run = run_of(tmp_path / name, rows, **settings)
        found = verify_run(run)
        assert found.outcome == "equal", found.checks


def test_scorecards_are_aggregated_again(tmp_path: Path) -> None:
    outputs, cards = tmp_path / "outputs.jsonl", tmp_path / "cards.jsonl"
    outputs.write_bytes(b"".join(msgspec.json.encode(output(f"s{number}")) + b"\n" for number in range(3)))
    for words in (["score", outputs, "--out", cards], ["aggregate", cards, "--out", tmp_path / "run"]):
        assert CliRunner().invoke(main, ["aspects", *map(str, words)]).exit_code == 0
    assert verify_run(load(tmp_path / "run")).outcome == "equal"


def test_what_a_run_does_not_keep_is_not_verifiable_and_never_passed(tmp_path: Path) -> None:
    manifest = tmp_path / "run" / MANIFEST
    run_of(tmp_path / "run", verdict_rows({"r1": "sn"}))
    text = manifest.read_text(encoding="utf-8").replace('"hallumeter",', '"my-own-0123",', 1)
    manifest.write_text(text, encoding="utf-8")
    result = verified(tmp_path / "run")
    assert result.exit_code == 3
    assert "the rules of your own policy are not kept in a run" in result.stdout


def test_the_result_is_json_for_other_programs(run: Path) -> None:
    found = json.loads(verified(run, "--format", "json").stdout)
    assert {check["name"] for check in found["checks"]} == {"files", "measurements.jsonl", "summary.json"}


@pytest.mark.parametrize(
    ("found", "expected", "same"),
    [
        (0.1 + 0.2, 0.3, True),
        (0.3, 0.31, False),
        (None, 0.0, False),
        (None, None, True),
        ("a", "a", True),
        (True, 1.0, True),
        (3, 3.0, True),
    ],
)
def test_numbers_may_differ_in_their_last_digits_and_nothing_else(found: object, expected: object, same: bool) -> None:
    assert is_same(found, expected) is same  # type: ignore[arg-type]


def test_a_folder_that_is_no_run_is_refused_in_one_line(tmp_path: Path) -> None:
    for words in ([tmp_path], [tmp_path / "nowhere.html"], [tmp_path, "--run", tmp_path]):
        result = verified(*words)
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
