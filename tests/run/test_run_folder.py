"""A run folder appears whole or not at all, and a damaged one says what is wrong with it."""

from __future__ import annotations

import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hallumeter.errors import HallumeterError, InputError
from hallumeter.formats.jsonl import write_jsonl
from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.manifest import Manifest
from hallumeter.records.measurement import Counts, Measurement, Summary
from hallumeter.records.response import Response
from hallumeter.run.finished import load
from hallumeter.run.run_folder import (
    CLAIMS,
    FAILURES,
    MANIFEST,
    MEASUREMENTS,
    RECORDS,
    RUN_FILES,
    SUMMARY,
    VERDICTS,
    RunFolder,
    new_run_folder,
    write_json,
)

SUMMARY_RECORD = Summary(version=1, instrument="measure", counts=Counts(records=2), metrics=())
MANIFEST_RECORD = Manifest(version=1, hallumeter="0.1.0", instrument="measure", inputs=())


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A small run: two responses with a claim each, a third without one."""
    folder = tmp_path / "run"
    folder.mkdir()
    write_jsonl(folder / RECORDS, [Response("r1"), Response("empty"), Response("r2")])
    write_jsonl(folder / CLAIMS, [Claim("r1", "c1"), Claim("r1", "c2"), Claim("r2", "c1")])
    verdicts = [
        Verdict("r1", "c2", "a", Label.REFUTED),
        Verdict("r1", "c1", "a", Label.SUPPORTED),
        Verdict("r1", "c2", "b", Label.SUPPORTED),
        Verdict("r2", "c1", "a", Label.UNDECIDED),
    ]
    write_jsonl(folder / VERDICTS, verdicts)
    write_jsonl(folder / FAILURES, [Failure("r2", "c1", "read", "b", "unknown_label", "x.jsonl:3: label")])
    write_jsonl(folder / MEASUREMENTS, [Measurement("mihr", "record", "r1", {}, "a", 1.0, 2.0, 0.5)])
    write_json(folder / SUMMARY, SUMMARY_RECORD)
    write_json(folder / MANIFEST, MANIFEST_RECORD)
    return folder


def test_a_folder_takes_its_name_only_when_the_work_is_done(tmp_path: Path) -> None:
    with new_run_folder(tmp_path / "run") as draft:
        (draft / "a").write_text("x", encoding="utf-8")
        assert not (tmp_path / "run").exists()
    assert (tmp_path / "run" / "a").read_text(encoding="utf-8") == "x"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_others_can_read_a_finished_folder(tmp_path: Path) -> None:
    with new_run_folder(tmp_path / "run"):
        pass
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o755


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, InputError])
def test_work_that_breaks_leaves_nothing_behind(tmp_path: Path, failure: type[BaseException]) -> None:
    def break_off(draft: Path) -> None:
        (draft / "half").touch()
        raise failure

    with pytest.raises(failure), new_run_folder(tmp_path / "run") as draft:
        break_off(draft)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with new_run_folder(tmp_path / "run") as draft:
        (draft / "a").touch()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["a"]


def test_nothing_is_written_over(tmp_path: Path) -> None:
    kept = tmp_path / "run" / "mine.txt"
    kept.parent.mkdir()
    kept.write_text("mine", encoding="utf-8")
    for target in (kept.parent, kept):
        with pytest.raises(InputError, match="exists already; choose another folder or remove it first"):
            new_run_folder(target).__enter__()
    assert kept.read_text(encoding="utf-8") == "mine"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["mine.txt", "run"]


def test_a_missing_parent_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no[/\\]such: no such folder; make it first"):
        new_run_folder(tmp_path / "no" / "such" / "run").__enter__()
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_to_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    with pytest.raises(InputError, match=r"cannot be written to \(Permission denied\)"):
        new_run_folder(tmp_path / "run").__enter__()


def test_a_run_hands_out_what_was_written(run: Path) -> None:
    folder = RunFolder(run)
    assert folder.summary == SUMMARY_RECORD
    assert folder.manifest == MANIFEST_RECORD
    assert [record.record_id for record in folder.records()] == ["r1", "empty", "r2"]
    assert len(list(folder.claims())) == 3
    assert len(list(folder.verdicts())) == 4
    assert [failure.code for failure in folder.failures()] == ["unknown_label"]
    assert [measurement.value for measurement in folder.measurements()] == [0.5]


def test_findings_join_each_claim_with_its_verdicts(run: Path) -> None:
    found = {
        response.record_id: [
            (finding.claim.claim_id, [(verdict.judge, verdict.label.value) for verdict in finding.verdicts])
            for finding in findings
        ]
        for response, findings in RunFolder(run).findings()
    }
    assert found == {
        "r1": [("c1", [("a", "SUPPORTED")]), ("c2", [("a", "REFUTED"), ("b", "SUPPORTED")])],
        "empty": [],
        "r2": [("c1", [("a", "UNDECIDED")])],
    }


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(InputError, match=r"not a run folder \(it has no manifest.json\); `--out`"):
            RunFolder(path)


def read_all(folder: RunFolder) -> None:
    assert folder.manifest
    assert folder.summary
    for lines in (folder.findings(), folder.failures(), folder.measurements()):
        assert list(lines) is not None


@pytest.mark.parametrize("name", [RECORDS, CLAIMS, VERDICTS, FAILURES, MEASUREMENTS, SUMMARY, MANIFEST])
@pytest.mark.parametrize("damage", ["missing", "cut", "other kind", "folder", "not text"])
def test_a_damaged_file_is_named_in_one_line(run: Path, name: str, damage: str) -> None:
    path = run / name
    content = path.read_bytes()
    folder = RunFolder(run)
    path.unlink()
    if damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "other kind":
        path.write_bytes(b"[1, 2, 3]\n")
    elif damage == "folder":
        path.mkdir()
    elif damage == "not text":
        path.write_bytes(content.replace(b'": "', b'": "\xff').replace(b'":"', b'":"\xff'))
    with pytest.raises(HallumeterError) as caught:
        read_all(folder)
    message = str(caught.value)
    assert name in message
    assert "make the run again" in message
    assert "\n" not in message


def test_a_damaged_line_is_named_by_its_number(run: Path) -> None:
    path = run / VERDICTS
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b'{"record_id": 5}\n', *lines[3:]]))
    with pytest.raises(InputError, match=r"verdicts.jsonl:3: damaged \("):
        list(RunFolder(run).verdicts())


def test_an_impossible_claim_in_a_run_is_refused(run: Path) -> None:
    (run / CLAIMS).write_bytes(b'{"record_id":"r1","claim_id":"c1","start":5,"end":1}\n')
    with pytest.raises(InputError, match=r"claims.jsonl:1: damaged \(.*spans 5..1"):
        list(RunFolder(run).findings())


@pytest.mark.parametrize("line", [0, 2])
def test_a_missing_record_does_not_silently_swallow_the_findings_after_it(run: Path, line: int) -> None:
    lines = (run / RECORDS).read_bytes().splitlines(keepends=True)
    (run / RECORDS).write_bytes(b"".join(lines[:line] + lines[line + 1 :]))
    name = ["r1", "empty", "r2"][line]
    with pytest.raises(InputError, match=rf"claims.jsonl: record '{name}' is missing in records.jsonl, or stands"):
        list(RunFolder(run).findings())


def test_a_missing_claim_does_not_silently_swallow_its_verdicts(run: Path) -> None:
    lines = (run / CLAIMS).read_bytes().splitlines(keepends=True)
    (run / CLAIMS).write_bytes(b"".join(lines[1:]))
    with pytest.raises(InputError, match=r"verdicts.jsonl: claim 'c1' of record 'r1' is missing in claims.jsonl"):
        list(RunFolder(run).findings())


def test_a_folder_holds_the_files_that_its_list_names(run: Path) -> None:
    assert {path.name for path in run.iterdir()} | {"report.html"} == RUN_FILES


def test_a_run_of_an_instrument_without_pages_has_none(run: Path) -> None:
    assert list(load(run).pages()) == []


def test_an_empty_folder_stays_the_same_folder(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    before = (tmp_path / "run").stat().st_ino
    with new_run_folder(tmp_path / "run") as draft:
        (draft / "a").touch()
    assert (tmp_path / "run").stat().st_ino == before
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("target", ["there", "nowhere"])
def test_a_link_is_filled_where_it_points(tmp_path: Path, target: str) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(target)
    with new_run_folder(tmp_path / "link") as draft:
        (draft / "a").touch()
    assert (tmp_path / "link").is_symlink()
    assert [path.name for path in (tmp_path / target).iterdir()] == ["a"]


def test_a_link_that_leads_in_a_circle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(InputError, match="circle: exists already"):
        new_run_folder(tmp_path / "circle").__enter__()


@pytest.mark.parametrize("was_there", [True, False])
def test_what_somebody_else_wrote_meanwhile_is_kept(tmp_path: Path, was_there: bool) -> None:
    theirs = tmp_path / "run" / "theirs"
    if was_there:
        theirs.parent.mkdir()

    def write_theirs() -> None:
        theirs.parent.mkdir(exist_ok=True)
        theirs.touch()

    with pytest.raises(InputError, match="exists already"), new_run_folder(tmp_path / "run"):
        write_theirs()
    assert list(tmp_path.rglob("*")) == [theirs.parent, theirs]


_WRITES_A_RUN = """
import sys, time
from pathlib import Path
from hallumeter.run.run_folder import new_run_folder
with new_run_folder(Path(sys.argv[1])) as draft:
    (draft / "records.jsonl").write_text("half")
    print(draft.name, flush=True)
    time.sleep(120)
"""


def _writing(place: Path) -> tuple[subprocess.Popen[str], str]:
    """A command that writes a run, and the name of its draft."""
    writing = subprocess.Popen([sys.executable, "-c", _WRITES_A_RUN, str(place)], stdout=subprocess.PIPE, text=True)
    assert writing.stdout is not None
    return writing, writing.stdout.readline().strip()


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")
@pytest.mark.parametrize("is_there", [False, True], ids=["beside it", "in an empty folder"])
def test_the_draft_of_a_killed_command_is_removed_by_the_next_and_that_of_a_live_one_stays(
    tmp_path: Path, is_there: bool
) -> None:
    target, other = tmp_path / "run", tmp_path / "other"
    if is_there:
        target.mkdir()
    live, kept = _writing(other)
    killed, left = _writing(target)
    killed.kill()
    killed.communicate()
    place = target if is_there else tmp_path
    try:
        assert (place / left / "records.jsonl").read_text() == "half"
        with new_run_folder(target) as draft:
            (draft / "here").touch()
            assert not (place / left).exists()
        assert [file.name for file in target.iterdir()] == ["here"]
        assert (tmp_path / kept / "records.jsonl").exists()
    finally:
        live.kill()
        live.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")
def test_only_own_drafts_are_removed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    (tmp_path / ".hallumeter-notes").mkdir()
    (tmp_path / ".hallumeter-abcdefgh").symlink_to(elsewhere)
    (tmp_path / ".hallumeter-abcdefg1").touch()
    with new_run_folder(tmp_path / "run") as draft:
        (draft / "here").touch()
    found = {entry.name for entry in tmp_path.iterdir()}
    assert found == {"elsewhere", ".hallumeter-notes", ".hallumeter-abcdefgh", ".hallumeter-abcdefg1", "run"}
    assert (elsewhere / "kept").exists()
