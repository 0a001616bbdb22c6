"""A truncated or edited run folder is refused in one line, unless the user asks for it as it is."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

import hallumeter
from annotated_runs import judged_run
from aspect_outputs import output
from hallumeter.cli.main import main
from hallumeter.errors import InputError
from hallumeter.records.manifest import Manifest
from hallumeter.run.digests import run_file
from hallumeter.run.finished import load
from hallumeter.run.run_folder import MANIFEST, REPORT, RunFolder


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged_run(tmp_path_factory.mktemp("judged") / "run")


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def truncated(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))


def edited(path: Path) -> None:
    path.write_bytes(
        path.read_bytes().replace(b"NOT_ENOUGH_INFO", b"SUPPORTED      ", 1).replace(b'"count"', b'"c0unt"', 1)
    )


def test_the_manifest_lists_every_file_but_itself_and_the_report(run: Path) -> None:
    files = RunFolder(run).manifest.files
    names = {path.name for path in run.iterdir()} - {MANIFEST, REPORT}
    assert {file.name for file in files} == names
    for file in files:
        content = (run / file.name).read_bytes()
        assert (file.bytes, file.lines) == (len(content), content.count(b"\n"))


def test_a_whole_run_opens_without_a_notice_and_labels_and_reports_are_no_part_of_it(run: Path) -> None:
    assert load(run).notices == ()
    (run / "labels.csv").write_text("record_id\n", encoding="utf-8")
    (run / REPORT).write_text("edited", encoding="utf-8")
    assert load(run).notices == ()


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("verdicts.jsonl", truncated, "402 lines instead of 403"),
        ("verdicts.jsonl", edited, "other content"),
        ("summary.json", edited, "other content"),
        ("measurements.jsonl", Path.unlink, "No such file or directory"),
        ("records.jsonl", lambda path: path.write_bytes(path.read_bytes() + b" "), "bytes instead of"),
    ],
)
def test_a_changed_file_is_refused_with_what_is_wrong_with_it(
    run: Path, name: str, change: Callable[[Path], None], said: str
) -> None:
    change(run / name)
    with pytest.raises(InputError) as raised:
        load(run)
    assert str(raised.value).startswith(f"{run / name}: changed since the run was written (")
    assert said in str(raised.value)
    assert load(run, verify=False).path == run


@pytest.mark.parametrize(
    "command",
    [
        ["report", "RUN", "--out", "page.html"],
        ["report", "RUN", "--format", "json"],
        ["gate", "RUN", "--init"],
        ["gate", "RUN", "--policy", "given.toml"],
        ["compare", "RUN", "RUN"],
        ["compare", "RUN", "RUN", "RUN"],
        ["correct", "RUN"],
        ["calibrate", "RUN"],
        ["baselines", "RUN"],
        ["label", "RUN", "--export", "-"],
    ],
    ids=" ".join,
)
def test_every_command_that_reads_a_run_refuses_a_truncated_one_in_one_line(
    run: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run.parent)
    Path("given.toml").write_text('name = "own"\n[[bounds]]\nmetric = "mihr"\nat_most = 0.9\n', encoding="utf-8")
    truncated(run / "claims.jsonl")
    words = [str(run) if word == "RUN" else word for word in command]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    assert "changed since the run was written" in line
    assert "--no-verify" in line
    again = CliRunner().invoke(main, [*words, "--no-verify"])
    assert "changed since" not in again.stderr


def test_a_run_of_a_version_without_digests_is_read_with_a_notice(run: Path) -> None:
    manifest = RunFolder(run).manifest
    older = msgspec.structs.replace(manifest, files=())
    (run / MANIFEST).write_bytes(msgspec.json.encode(older))
    truncated(run / "verdicts.jsonl")
    [notice] = load(run).notices
    assert notice.endswith("which kept no digests of files; they are read unverified")
    result = CliRunner().invoke(main, ["gate", str(run), "--init", "--policy", str(run.parent / "policy.toml")])
    assert result.exit_code == 0
    assert f"note: {notice}" in result.stderr


def test_a_table_for_people_that_was_changed_is_told_and_the_run_is_read(tmp_path: Path) -> None:
    outputs = tmp_path / "outputs.jsonl"
    outputs.write_bytes(msgspec.json.encode(output()) + b"\n")
    run = tmp_path / "run"
    scored = CliRunner().invoke(main, ["aspects", "score", str(outputs), "--out", str(tmp_path / "cards.jsonl")])
    assert scored.exit_code == 0, scored.stderr
    made = CliRunner().invoke(main, ["aspects", "aggregate", str(tmp_path / "cards.jsonl"), "--out", str(run)])
    assert made.exit_code == 0, made.stderr
    (run / "structural_metrics.csv").write_text("mine\n", encoding="utf-8")
    [notice] = load(run).notices
    assert notice.startswith(f"{run / 'structural_metrics.csv'}: changed since the run was written")
    assert notice.endswith("nothing is read from it")


def test_a_finished_audit_whose_files_were_changed_is_not_taken_for_done(run: Path) -> None:
    truncated(run / "verdicts.jsonl")
    with pytest.raises(InputError, match="changed since the run was written"):
        judged_run(run)


def test_equal_runs_list_equal_digests(tmp_path: Path) -> None:
    rows = [{"record_id": "r1", "claim_id": "c1", "label": "REFUTED"}]
    data = tmp_path / "verdicts.jsonl"
    data.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    manifests: list[Manifest] = []
    for name in ("first", "second"):
        made = CliRunner().invoke(main, ["measure", str(data), "--out", str(tmp_path / name)])
        assert made.exit_code == 0, made.stderr
        manifests.append(hallumeter.load(tmp_path / name).manifest)
    assert manifests[0].files == manifests[1].files != ()


def test_a_digest_is_of_the_whole_file_also_when_it_is_read_in_blocks(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    path.write_bytes(b"0123456\n" * 100_000)
    whole = run_file(path)
    assert (whole.bytes, whole.lines) == (800_000, 100_000)
    path.write_bytes(b"0123456\n" * 99_999 + b"1123456\n")
    assert run_file(path).blake2b != whole.blake2b
