"""A whole run: its files, its order, its metrics, and what makes two runs the same."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from dialogue_runs import (
    Document,
    document,
    events,
    lines,
    modes_of,
    run,
    script,
    timeless,
    timeless_files,
    write_rows,
    written,
)

from hallumeter.dialogue.event_schema import event_schema
from hallumeter.dialogue.run import scoring
from hallumeter.dialogue.run.experiment import experiment_of, read_experiment
from hallumeter.dialogue.run.plan import plan_experiment
from hallumeter.dialogue.run.scoring import METRICS
from hallumeter.errors import InputError, SettingsError
from hallumeter.run.journal import Journal
from hallumeter.run.stopping import stopping_on_signals

CLINICAL = ("SFS", "CSP", "CUS_improved")


def test_five_patients_five_turns_and_two_modes_offline(tmp_path: Path) -> None:
    written(tmp_path, 5)
    outcome = run(document(tmp_path))
    assert [(mode.mode, mode.answered, mode.failed) for mode in modes_of(outcome)] == [("llm", 25, 0), ("agent", 25, 0)]
    assert sorted(path.name for path in outcome.folder.iterdir()) == [
        "events.jsonl",
        "experiment.json",
        "failures.jsonl",
        "manifest.json",
        "scripts.jsonl",
    ]
    found = events(outcome.folder)
    assert len(found) == 50
    assert {tuple(event) for event in found} == {tuple(event_schema()["required"])}
    assert all(tuple(event["metrics"]) == METRICS for event in found)
    assert lines(outcome.folder / "scripts.jsonl") == [script(number) for number in range(5)]
    manifest = json.loads((outcome.folder / "manifest.json").read_bytes())
    assert manifest["inputs"][0]["records"] == 5
    assert manifest["settings"]["modes"] == ["llm", "agent"]


def test_the_agent_uses_more_of_what_was_told_than_the_plain_model(tmp_path: Path) -> None:
    written(tmp_path, 5)
    found = events(run(document(tmp_path)).folder)
    means = {
        (mode, turn): sum(values) / len(values)
        for mode in ("llm", "agent")
        for turn in (3, 4)
        if (
            values := [
                event["metrics"]["CUS_improved"]
                for event in found
                if event["mode"] == mode and event["turn_id"] == turn
            ]
        )
    }
    assert means["agent", 3] > means["llm", 3] + 0.3
    assert means["agent", 4] > means["llm", 4] + 0.3


def test_two_runs_of_the_same_experiment_are_equal_but_for_times(tmp_path: Path) -> None:
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        written(folder, 3)
        run(document(folder))
    first, second = (timeless_files(tmp_path / name / "runs" / "run") for name in ("a", "b"))
    first.pop("experiment.json")
    second.pop("experiment.json")  # it names the folders
    assert first == second


def test_a_run_that_is_not_named_is_named_by_what_is_asked(tmp_path: Path) -> None:
    written(tmp_path, 1)
    given = {key: value for key, value in document(tmp_path).items() if key != "run_id"}
    first = run(given)
    assert first.folder.name.startswith("run-")
    assert run({**given, "concurrency": 3, "budget": 5.0, "timeout": 9}).folder == first.folder
    assert run({**given, "seed": 1}).folder != first.folder
    write_rows(tmp_path / "scripts.jsonl", [script(7)])
    assert run(given).folder != first.folder


def test_the_resolved_settings_are_an_experiment_again(tmp_path: Path) -> None:
    written(tmp_path, 1)
    outcome = run(document(tmp_path))
    again = read_experiment(outcome.folder / "experiment.json")
    assert again == experiment_of(document(tmp_path))


def test_another_experiment_is_not_written_over_a_finished_run(tmp_path: Path) -> None:
    written(tmp_path, 1)
    run(document(tmp_path))
    with pytest.raises(SettingsError, match="another experiment; choose another run_id"):
        run(document(tmp_path, seed=4))


class StopAfter:
    """Wants to stop after so many answers, as a user who presses Ctrl-C just then."""

    def __init__(self, answers: int, step: str = "asking") -> None:
        self._left = answers
        self._step = step
        self._is_there = False
        self.begun: list[tuple[str, int, int]] = []

    def begin(self, what: str, *, total: int, done: int = 0, spent: object = None) -> None:
        self.begun.append((what, total, done))
        self._is_there = what.startswith(self._step)

    def done(self, more: int, *, failures: int = 0, cached: int = 0) -> None:
        self._left -= more if self._is_there else 0
        if self._is_there and self._left <= 0:
            with stopping_on_signals() as stop:
                stop.set()


def test_a_run_that_was_stopped_goes_on_and_says_what_was_done(tmp_path: Path) -> None:
    written(tmp_path, 3)
    whole = run(document(tmp_path, run_id="whole"))
    outcome = run(document(tmp_path), progress=StopAfter(7))
    assert outcome.stopped == "interrupted"
    assert outcome.finished is None
    assert [path.name for path in outcome.folder.iterdir()] == ["journal.sqlite"]
    second = StopAfter(1000)
    assert run(document(tmp_path), progress=second).stopped is None
    assert second.begun[0][0] == "asking llm, agent"
    assert second.begun[0][1] == 30
    assert 7 <= second.begun[0][2] < 30
    expected = [{**event, "run_id": "run"} for event in timeless(whole.folder)]
    assert timeless(outcome.folder) == expected


def test_a_run_that_was_stopped_while_it_measured_goes_on(tmp_path: Path) -> None:
    written(tmp_path, 3)
    whole = run(document(tmp_path, run_id="whole"))
    outcome = run(document(tmp_path), progress=StopAfter(5, "measuring"))
    assert outcome.stopped == "interrupted"
    assert run(document(tmp_path)).stopped is None
    assert timeless(outcome.folder) == [{**event, "run_id": "run"} for event in timeless(whole.folder)]


def test_an_unfinished_run_is_not_gone_on_with_by_another_experiment(tmp_path: Path) -> None:
    written(tmp_path, 2)
    run(document(tmp_path), progress=StopAfter(3))
    with pytest.raises(SettingsError, match=r"begun with seed 0 \(now 9\); give what it was begun with"):
        run(document(tmp_path, seed=9))
    assert modes_of(run(document(tmp_path)))[0].answered == 10


def test_two_programs_cannot_work_on_one_run(tmp_path: Path) -> None:
    written(tmp_path, 1)
    folder = run(document(tmp_path), progress=StopAfter(1)).folder
    held = Journal.resume(folder / "journal.sqlite")
    try:
        with pytest.raises(InputError, match="another hallumeter works on this run"):
            run(document(tmp_path))
    finally:
        held.close()


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    written(tmp_path, 1)
    (tmp_path / "runs" / "run").mkdir(parents=True)
    (tmp_path / "runs" / "run" / "notes.txt").touch()
    with pytest.raises(InputError, match="holds no run"):
        run(document(tmp_path))
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be made"):
        run(document(tmp_path, output=str(tmp_path / "file")))


def test_without_facts_of_the_patient_the_three_metrics_are_null(tmp_path: Path) -> None:
    path = tmp_path / "questions.txt"
    path.write_text("I take metformin. What is HbA1c?\nHow hard may I exercise?\n", encoding="utf-8")
    given = {key: value for key, value in document(tmp_path).items() if key != "multiturn_scripts"}
    outcome = run({**given, "questions": str(path), "multiturn_scripts": {"enabled": False}})
    found = events(outcome.folder)
    assert len(found) == 4
    assert {event["slots_truth"] for event in found} == {None}
    assert {event["metrics"][name] for event in found for name in CLINICAL} == {None}
    assert all(event["answer"] for event in found)
    assert lines(outcome.folder / "scripts.jsonl") == []


def test_systems_that_share_a_mode_are_told_apart_by_their_names(tmp_path: Path) -> None:
    written(tmp_path, 1, turns=1)
    systems = [{"mode": "llm", "name": "first"}, {"mode": "llm", "name": "second"}, {"mode": "agent"}]
    found = events(run(document(tmp_path, systems)).folder)
    assert [event["mode"] for event in found] == ["first", "second", "agent"]
    assert [event["metadata"]["mode"] for event in found] == ["llm", "llm", "agent"]


def test_an_answer_that_cannot_be_measured_is_a_failure_and_has_no_metric(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_: object) -> object:
        raise ZeroDivisionError("a bug of ours")

    monkeypatch.setattr(scoring, "measure_event", break_down)
    written(tmp_path, 1, turns=2)
    outcome = run(document(tmp_path))
    assert {event["metrics"]["SFS"] for event in events(outcome.folder)} == {None}
    failures = lines(outcome.folder / "failures.jsonl")
    assert [failure["record_id"] for failure in failures] == ["llm:p0:1", "agent:p0:1", "llm:p0:2", "agent:p0:2"]
    assert {failure["code"] for failure in failures} == {"measure_error"}
    with pytest.raises(ZeroDivisionError):
        run(document(tmp_path, run_id="strict"), is_strict=True)


def test_faithfulness_and_relevance_are_measured_where_that_is_wanted(tmp_path: Path) -> None:
    written(tmp_path, 1, turns=2)
    given = document(tmp_path, [{"mode": "agent"}], faithfulness="embedded", answer_relevance="vectors")
    found = [event["metrics"] for event in events(run(given).folder)]
    assert all(0 <= metrics["faithfulness"] <= 1 for metrics in found)
    assert all(-1 <= metrics["answer_relevance"] <= 1 for metrics in found)


def test_a_plan_counts_calls_tokens_and_dollars_and_leaves_out_what_is_answered(tmp_path: Path) -> None:
    written(tmp_path, 3)
    model = {"mode": "llm", "name": "model", "model": "openai:some-model"}
    systems: list[Document] = [{"mode": "llm"}, model, {"mode": "agent", "command": ["x"]}]
    given = document(tmp_path, systems, prices={"some-model": "1/2"}, max_tokens=100)
    plan = plan_experiment(experiment_of(given))
    assert plan.heading == "run: 3 patients, 15 questions"
    offline, priced, program = plan.parts
    assert {system.calls for system in plan.parts} == {15}
    assert (offline.cost_usd, program.cost_usd, plan.cost_usd) == (0.0, None, None)
    assert priced.output_tokens == 1500
    # By hand: a dollar for a million tokens in, two for a million out.
    assert priced.input_tokens is not None
    assert priced.cost_usd == pytest.approx((priced.input_tokens * 1 + 1500 * 2) / 1e6)
    assert not (tmp_path / "runs").exists()


def test_a_plan_of_a_run_that_was_begun_says_what_is_left(tmp_path: Path) -> None:
    written(tmp_path, 3)
    run(document(tmp_path), progress=StopAfter(7))
    plan = plan_experiment(experiment_of(document(tmp_path)))
    left, done = (sum(getattr(system, name) for system in plan.parts) for name in ("calls", "answered"))
    assert done >= 7
    assert left == 30 - done
    run(document(tmp_path))
    plan = plan_experiment(experiment_of(document(tmp_path)))
    assert {(system.calls, system.answered) for system in plan.parts} == {(0, 15)}


def test_facts_of_the_fhir_record_reach_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = fhir_bundle("p0")
    (tmp_path / "fhir").mkdir()
    (tmp_path / "fhir" / "p0.json").write_text(json.dumps(bundle), encoding="utf-8")
    seen: list[Any] = []

    def reply(messages: Any, patient: Any) -> str:
        seen.append(messages)
        return "ok"

    answers = ModuleType("fhir_answers")
    answers.reply = reply  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fhir_answers", answers)
    written(tmp_path, 1, turns=1)
    system = {"mode": "agent", "python": "fhir_answers:reply"}
    given = document(tmp_path, [system], fhir_dir=str(tmp_path / "fhir"), facts_per_question=50)
    run(given)
    told = seen[0][-1]["content"]
    assert "Diagnosis in the record: Asthma, active, 2010-03-01" in told
    assert "Prescription in the record: Albuterol, active, 2020-01-02" in told
    assert "Observation in the record: Body Weight, 80.5 kg, 2021-05-06" in told
    assert "79" not in told, "only the latest value"
    assert "Procedure in the record: Spirometry, 2019-07-08" in told
    assert "Migraine" not in told, "it was refuted"
    write_rows(tmp_path / "scripts.jsonl", [script(5)])
    with pytest.raises(InputError, match="check fhir_dir"):
        run({**given, "run_id": "other"})


def fhir_bundle(patient_id: str) -> dict[str, Any]:
    def entry(kind: str, number: int, **fields: Any) -> dict[str, Any]:
        subject = {"subject": {"reference": f"Patient/{patient_id}"}} if kind != "Patient" else {}
        return {"resource": {"resourceType": kind, "id": f"{kind}-{number}", **subject, **fields}}

    def coded(code: str, text: str) -> dict[str, Any]:
        return {"coding": [{"system": "http://loinc.org", "code": code}], "text": text}

    def weight(number: int, value: float, day: str) -> dict[str, Any]:
        quantity = {"value": value, "unit": "kg"}
        return entry(
            "Observation",
            number,
            status="final",
            code=coded("29463-7", "Body Weight"),
            effectiveDateTime=day,
            valueQuantity=quantity,
        )

    active = {"coding": [{"code": "active"}]}
    patient = {"resource": {"resourceType": "Patient", "id": patient_id, "birthDate": "1970-01-01", "gender": "female"}}
    entries = [
        patient,
        entry("Condition", 1, code=coded("1", "Asthma"), clinicalStatus=active, onsetDateTime="2010-03-01"),
        entry("Condition", 2, code=coded("2", "Migraine"), verificationStatus={"coding": [{"code": "refuted"}]}),
        entry(
            "MedicationRequest",
            1,
            status="active",
            intent="order",
            medicationCodeableConcept=coded("3", "Albuterol"),
            authoredOn="2020-01-02",
        ),
        weight(1, 80.5, "2021-05-06"),
        weight(2, 79.0, "2020-05-06"),
        entry("Procedure", 1, status="completed", code=coded("4", "Spirometry"), performedDateTime="2019-07-08"),
    ]
    return {"resourceType": "Bundle", "type": "collection", "entry": entries}
