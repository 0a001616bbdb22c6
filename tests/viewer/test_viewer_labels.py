"""What people say of verdicts is kept beside the run, and never attached to another claim."""

from __future__ import annotations

import csv
import io
import os
import shutil
from pathlib import Path

import msgspec
import pytest
from viewer_client import Asker, serving
from viewer_runs import Written, write_lines, written_run

from hallumeter.errors import InputError
from hallumeter.run.labels import HumanLabel, LabelStore


@pytest.fixture
def run(tmp_path: Path) -> Written:
    return written_run(tmp_path / "runs" / "one", 30)


def claim_of(run: Written, number: int = 0) -> tuple[str, str]:
    claim = run.claims[number]
    return claim.record_id, claim.claim_id


def give(asker: Asker, run: Written, is_right: bool | None, number: int = 0) -> dict[str, object]:
    record_id, claim_id = claim_of(run, number)
    body = {"record_id": record_id, "claim_id": claim_id, "is_right": is_right}
    told: dict[str, object] = asker.post(f"{asker.only_run()}labels", body).json
    return told


def test_a_label_survives_a_reload_and_a_restart(run: Written) -> None:
    record_id, claim_id = claim_of(run)
    with serving(run.path.parent) as asker:
        told = give(asker, run, False)
        assert (told["record_id"], told["claim_id"], told["is_right"], told["annotator"]) == (
            record_id,
            claim_id,
            False,
            "kim",
        )
        assert asker.get(f"{asker.only_run()}labels").json == [told]
    with serving(run.path.parent) as asker:
        assert asker.get(f"{asker.only_run()}labels").json == [told]


def test_the_last_word_counts_and_can_be_taken_back_but_everything_is_kept(run: Written) -> None:
    with serving(run.path) as asker:
        for is_right in (True, False):
            give(asker, run, is_right)
        assert [label["is_right"] for label in asker.get(f"{asker.only_run()}labels").json] == [False]
        give(asker, run, None)
        assert asker.get(f"{asker.only_run()}labels").json == []
    assert [label.is_right for label in LabelStore(run.path).history()] == [True, False, None]
    assert LabelStore(run.path).latest() == []


def test_annotators_do_not_speak_for_each_other(run: Written) -> None:
    with serving(run.path, annotator="kim") as asker:
        give(asker, run, True)
    with serving(run.path, annotator="lee") as asker:
        assert asker.get(f"{asker.only_run()}labels").json == []
        give(asker, run, False)
        rows = list(csv.DictReader(io.StringIO(asker.get(f"{asker.only_run()}labels.csv").text)))
    assert [(row["annotator"], row["is_right"], row["is_attached"]) for row in rows] == [
        ("kim", "true", "true"),
        ("lee", "false", "true"),
    ]


def test_who_could_not_tell_elsewhere_is_not_shown_as_saying_wrong(run: Written) -> None:
    with serving(run.path) as asker:
        give(asker, run, False)
        (label,) = LabelStore(run.path).latest()
        LabelStore(run.path).add(msgspec.structs.replace(label, label="UNDECIDED"))
        assert asker.get(f"{asker.only_run()}labels").json == []


def test_a_label_says_which_verdict_it_is_about(run: Written) -> None:
    with serving(run.path) as asker:
        give(asker, run, True)
    (label,) = LabelStore(run.path).latest()
    own = [verdict for verdict in run.verdicts if verdict.claim_id == label.claim_id and verdict.judge == "rules"]
    assert label.judge == "rules"
    assert label.judged == (own[0].label.value if own else None)


def test_a_label_is_not_attached_to_another_claim_of_the_same_name(run: Written) -> None:
    with serving(run.path) as asker:
        give(asker, run, True)
        changed = [
            msgspec.structs.replace(claim, text="something else", start=None, end=None) if place == 0 else claim
            for place, claim in enumerate(run.claims)
        ]
        write_lines(run.path / "claims.jsonl", changed)
        assert asker.get(f"{asker.only_run()}labels").json == []
        (row,) = csv.DictReader(io.StringIO(asker.get(f"{asker.only_run()}labels.csv").text))
        assert row["is_attached"] == "false"


def test_a_label_is_not_attached_to_another_verdict_on_the_same_claim(run: Written) -> None:
    with serving(run.path) as asker:
        give(asker, run, True)
        write_lines(run.path / "verdicts.jsonl", [])
        (label,) = LabelStore(run.path).latest()
        held = asker.get(f"{asker.only_run()}labels").json
        assert (held == []) == (label.judged is not None)


def test_a_claim_that_is_not_there_takes_no_label(run: Written) -> None:
    with serving(run.path) as asker:
        body = {"record_id": "r0", "claim_id": "never", "is_right": True}
        assert asker.post(f"{asker.only_run()}labels", body).status == 404
    assert not (run.path / "labels.sqlite").exists()


def test_labels_leave_one_file_and_the_run_as_it_was(run: Written) -> None:
    before = {path.name for path in run.path.iterdir()}
    with serving(run.path) as asker:
        give(asker, run, True)
    assert {path.name for path in run.path.iterdir()} == before | {"labels.sqlite"}


def test_a_folder_that_cannot_be_written_is_said_in_one_line(run: Written) -> None:
    # Root may write everywhere, so that a folder stands where the file would be.
    (run.path / "labels.sqlite").mkdir()
    with serving(run.path) as asker:
        record_id, claim_id = claim_of(run)
        answer = asker.post(
            f"{asker.only_run()}labels", {"record_id": record_id, "claim_id": claim_id, "is_right": True}
        )
    assert answer.status == 409
    assert "labels cannot be kept" in answer.text
    assert answer.text.count("\n") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_said_in_one_line(run: Written) -> None:
    run.path.chmod(0o555)
    try:
        with pytest.raises(InputError, match="labels cannot be kept"):
            LabelStore(run.path).add(HumanLabel("r", "c", None, None, True, "kim", "now", "f"))
    finally:
        run.path.chmod(0o755)


def test_another_database_is_not_written_into(run: Written, tmp_path: Path) -> None:
    import sqlite3

    database = sqlite3.connect(run.path / "labels.sqlite")
    database.execute("CREATE TABLE mine (x)")
    database.close()
    kept = shutil.copy(run.path / "labels.sqlite", tmp_path / "kept")
    with pytest.raises(InputError):
        LabelStore(run.path).add(HumanLabel("r", "c", None, None, True, "kim", "now", "f"))
    assert (run.path / "labels.sqlite").read_bytes() == Path(kept).read_bytes()
