"""The demo writes what it says, again and again, and over nothing else."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from hallumeter.aspects.readers.korean.reader import KoreanReader
from hallumeter.cli.main import main
from hallumeter.demo import run_demo
from hallumeter.errors import InputError, MissingExtraError
from hallumeter.run.finished import load

RUNS = ["answers", "newspapers", "dialogues", "reviews-english", "reviews-korean"]


@pytest.fixture
def demo(finished_demo: Path, tmp_path: Path) -> Path:
    """A demo of its own for a test that changes it."""
    return shutil.copytree(finished_demo, tmp_path / "demo")


@pytest.mark.long
def test_a_demo_replaces_an_older_one_and_prints_the_same(
    finished_demo: Path, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = {name: msgspec.json.encode(load(demo / name).summary) for name in RUNS}
    files = sorted(demo.rglob("*"))
    for name in RUNS:
        (demo / name / "report.html").write_text("older", encoding="utf-8")
    monkeypatch.chdir(demo.parent)
    monkeypatch.setenv("HALLUMETER_ENCODER", "numpy")  # as for the finished demo
    done = CliRunner().invoke(main, ["demo", "--out", demo.name])
    assert done.exit_code == 0, done.stderr
    printed = (finished_demo.parent / "printed.txt").read_text(encoding="utf-8")
    assert done.stdout == printed.replace(finished_demo.name, demo.name)
    assert f"Report on all of it: {demo.name}/report.html" in done.stdout
    for told in (
        "Unsupported claims",
        "Most certain findings",
        "smollm2-penalized",
        "agent minus llm, on the same patients and turns",
    ):
        assert told in done.stdout
    assert sorted(demo.rglob("*")) == files
    assert {name: msgspec.json.encode(load(demo / name).summary) for name in RUNS} == first
    for name in RUNS:
        assert re.search(rf"\b{name}\b", done.stdout.partition(f"Run folders in {demo.name}:")[2])
        assert (demo / name / "report.html").stat().st_size > 500_000
    answers, newspapers = load(demo / "answers"), load(demo / "newspapers")
    assert [source.name for source in answers.manifest.inputs] == ["rag_answers.jsonl"]
    assert [source.records for source in newspapers.manifest.inputs] == [10, 10, 10, 10]
    assert not newspapers.failures


def test_the_bundled_articles_show_every_kind_of_finding(finished_demo: Path) -> None:
    kinds = {finding.claim.kind for finding in load(finished_demo / "newspapers").findings()}
    assert kinds == {"run", "insertion", "block", "loop", "omission", "remark"}


def test_five_patients_ask_five_questions_of_two_modes(finished_demo: Path) -> None:
    dialogues = load(finished_demo / "dialogues")
    found = dialogues.summary
    lines = (finished_demo / "dialogues" / "events.jsonl").read_bytes().splitlines()
    events = [msgspec.json.decode(line) for line in lines]
    asked = {(event["mode"], event["patient_id"], event["turn_id"]) for event in events}
    assert len(events) == len(asked) == 5 * 5 * 2
    assert {mode for mode, _, _ in asked} == {"llm", "agent"}
    assert len({patient for _, patient, _ in asked}) == 5
    assert {turn for _, _, turn in asked} == {1, 2, 3, 4, 5}
    assert found.dialogue is not None
    assert found.dialogue.fairness is not None
    assert found.dialogue.fairness.is_fair
    assert not dialogues.failures
    assert (finished_demo / "dialogues" / "report.html").stat().st_size > 500_000


def test_the_scripted_answers_show_every_kind_of_finding_and_every_kind_of_fault(finished_demo: Path) -> None:
    findings = list(load(finished_demo / "dialogues").findings())
    assert {finding.claim.kind for finding in findings} == {
        "slot", "rule", "requirement", "slot_use", "consistency", "element",
    }  # fmt: skip
    assert {finding.verdicts[0].reason for finding in findings} >= {
        "invented_medication", "invented_condition", "lab_mismatch", "rule_violated", "requirement_missing",
        "contradicts_earlier", "unused_fact", "indirect_use", "element_missing",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["reviews-english", "reviews-korean"])
def test_agents_read_sixty_reviews_of_each_language_and_every_step_is_blamed_for_its_errors(
    name: str, finished_demo: Path
) -> None:
    run = load(finished_demo / name)
    found = run.summary.aspects
    assert found is not None
    assert (found.samples, found.failed, found.with_gold) == (60, 0, 60)
    assert {row.by["step"] for row in run.summary.metrics if "step" in row.by} >= {"ate", "atsa", "ate_review"}
    assert (run.path / "report.html").stat().st_size > 500_000


def test_without_the_package_that_reads_korean_the_other_samples_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: object) -> None:
        raise MissingExtraError("korean", "reading Korean sentences")

    monkeypatch.setattr(KoreanReader, "version", property(missing))
    found = run_demo(tmp_path / "demo")
    assert found.korean_reviews is None
    assert not (tmp_path / "demo" / "reviews-korean").exists()
    assert found.english_reviews.counts.records == 60


def test_a_measured_run_of_other_events_is_not_replaced(demo: Path) -> None:
    events = demo / "dialogues" / "events.jsonl"
    events.write_bytes(events.read_bytes().replace(b'"run_id":"hallumeter-demo"', b'"run_id":"mine"'))
    before = sorted(demo.rglob("*"))
    with pytest.raises(InputError, match="holds another run; choose another folder with --out"):
        run_demo(demo)
    assert sorted(demo.rglob("*")) == before


@pytest.mark.parametrize("place", [".", "answers", "newspapers", "dialogues", "reviews-english"])
def test_a_demo_replaces_no_other_run(place: str, demo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine" / place
    folder.parent.mkdir(exist_ok=True)
    taken = "newspapers" if place == "answers" else "answers"
    folder.mkdir(exist_ok=True)
    for path in (demo / taken).iterdir():
        path.rename(folder / path.name)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(InputError, match="holds another run; choose another folder with --out"):
        run_demo(tmp_path / "mine")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("place", ["answers", "newspapers"])
def test_a_file_that_no_demo_wrote_keeps_the_demo_away_and_nothing_is_removed(place: str, demo: Path) -> None:
    (demo / place / "notes.txt").write_text("mine", encoding="utf-8")
    before = sorted(demo.rglob("*"))
    with pytest.raises(InputError, match="no demo wrote this"):
        run_demo(demo)
    assert sorted(demo.rglob("*")) == before
    assert (demo / place / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be made"):
        run_demo(tmp_path / "missing" / "demo")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be made"):
        run_demo(tmp_path / "file")
