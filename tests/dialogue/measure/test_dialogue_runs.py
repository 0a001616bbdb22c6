"""Whole measurements: files in, summary, run folder and report out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import msgspec
import pytest
from dialogue_events import FACTS, QUESTIONS, RIGHT, WRONG, event, two_modes, written

import hallumeter
from hallumeter.dialogue.measure import inputs
from hallumeter.dialogue.measure.commands import MeasuredDialogues, dialogue_to_folder, measured_dialogues
from hallumeter.dialogue.measure.inputs import opened_events, opened_files
from hallumeter.dialogue.measure.settings import DialogueSettings
from hallumeter.errors import InputError, RecordError, SettingsError
from hallumeter.records.claim import Claim, Verdict
from hallumeter.records.measurement import MetricSummary

FEW = DialogueSettings(resamples=200)


def measured(events: list[dict[str, object]], settings: DialogueSettings = FEW) -> MeasuredDialogues:
    return measured_dialogues(opened_events(events), settings=settings)


def row(result: MeasuredDialogues, metric: str, **by: str) -> MetricSummary:
    (found,) = (each for each in result.summary.metrics if each.metric == metric and each.by == by)
    return found


def test_every_metric_is_told_for_all_for_each_mode_for_each_turn_and_for_both() -> None:
    result = measured(two_modes())
    groups = {tuple(each.by.items()) for each in result.summary.metrics}
    assert len(groups) == 1 + 2 + 3 + 6
    # Two patients of four are wrong in turn 1: SFS 1, 0, 1, 0.
    assert row(result, "sfs", mode="llm", turn_id="1").value == 0.5
    assert row(result, "sfs", mode="agent").value == 1.0
    assert row(result, "csp", mode="agent").value == 0.0


def test_intervals_come_from_patients_and_say_so() -> None:
    found = row(measured(two_modes()), "sfs", mode="llm")
    assert found.interval is not None
    assert found.interval_method == "cluster_bootstrap"
    assert "|cluster:patient|" in found.signature


def test_a_mean_counts_answers_and_a_pool_counts_weights() -> None:
    result = measured([event("p1", 1, "llm", RIGHT[1]), event("p1", 2, "llm", WRONG[2])])
    # Turn 1: 3 of 3; turn 2: 0 of 4.
    assert row(result, "sfs").value == 0.5
    assert row(result, "sfs_pooled").value == pytest.approx(3 / 7)


def test_the_modes_are_compared_on_the_same_patients_and_turns() -> None:
    result = measured(two_modes(8))
    assert result.summary.dialogue is not None
    found = {each.metric: each for each in result.summary.dialogue.differences}
    sfs = found["sfs"]
    # SFS of the plain model: turns 1 and 2 of four patients of eight are 0 instead of 1; turn 3 mentions nothing there.
    assert (sfs.first, sfs.second, sfs.pairs, sfs.patients) == ("llm", "agent", 20, 8)
    assert sfs.difference == pytest.approx(8 / 20)
    assert sfs.first_mean == pytest.approx(12 / 20)
    # The mean of the differences is 0.4; their standard deviation sqrt((8 - 20 * 0.16) / 19).
    assert sfs.effect_size == pytest.approx(0.4 / ((8 - 20 * 0.16) / 19) ** 0.5)
    # Four patients differ, all the same way: 2 of 16 signs.
    assert sfs.p_value == pytest.approx(2 / 16)
    assert sfs.adjusted_p_value is not None
    assert sfs.adjusted_p_value >= 2 / 16
    assert sfs.interval is not None
    assert sfs.interval[0] < 0.4 < sfs.interval[1]


def test_every_mode_is_compared_with_the_plain_model_wherever_it_stands() -> None:
    events = [event("p1", 1, mode, RIGHT[1]) for mode in ("agent", "llm", "oracle")]
    summary = measured(events).summary
    assert summary.dialogue is not None
    assert {(each.first, each.second) for each in summary.dialogue.differences} == {("llm", "agent"), ("llm", "oracle")}


def test_without_a_plain_model_the_first_mode_is_compared_with() -> None:
    summary = measured([event("p1", 1, mode, RIGHT[1]) for mode in ("b", "a")]).summary
    assert summary.dialogue is not None
    assert {(each.first, each.second) for each in summary.dialogue.differences} == {("b", "a")}


def test_a_single_mode_has_nothing_to_be_compared_with() -> None:
    summary = measured([event("p1", 1, "llm", RIGHT[1])]).summary
    assert summary.dialogue is not None
    assert (summary.dialogue.differences, summary.dialogue.fairness) == ((), None)


def unfair() -> list[dict[str, object]]:
    events = two_modes(3)
    events = [each for each in events if (each["patient_id"], each["mode"]) != ("p2", "agent")]
    events = [each for each in events if (each["patient_id"], each["turn_id"], each["mode"]) != ("p1", 3, "llm")]
    events[0] = {**events[0], "question": "Another question?"}
    return events


def test_modes_that_were_asked_differently_are_told_apart_and_compared_on_what_both_were_asked() -> None:
    result = measured(unfair())
    assert result.summary.dialogue is not None
    fairness = result.summary.dialogue.fairness
    assert fairness is not None
    assert not fairness.is_fair
    assert fairness.differences == (
        "patient p0, turn 1: llm and agent were asked different questions",
        "patient p1, turn 3: only agent was asked",
        "patient p2: only llm was asked",
    )
    assert (fairness.patients, fairness.common_turns) == (3, 4)
    assert any("not asked the same" in notice for notice in result.summary.notices)
    assert {each.metric: each.pairs for each in result.summary.dialogue.differences}["cus"] == 4


def test_an_unfair_comparison_is_refused_when_that_is_asked_for() -> None:
    with pytest.raises(RecordError, match="not asked the same, 3 differences"):
        measured(unfair(), DialogueSettings(resamples=200, is_strict=True))


def test_of_several_answers_to_one_question_the_latest_counts() -> None:
    early, late = ({"finished": f"2026-01-01T0{hour}:00:00+00:00"} for hour in (1, 2))
    events = [
        event("p1", 1, "llm", RIGHT[1], timestamps=late),
        event("p1", 1, "llm", WRONG[1], timestamps=early),
        event("p2", 1, "llm", WRONG[1]),
        event("p2", 1, "llm", RIGHT[1]),
    ]
    result = measured(events)
    assert result.summary.counts.records == 2
    assert row(result, "sfs").value == 1.0
    assert any("left out: 2" in notice for notice in result.summary.notices)


def test_answers_that_cannot_be_read_are_failures_that_widen_the_bounds() -> None:
    result = measured([event("p1", 1, "llm", RIGHT[1]), event("p2", 1, "llm", None), event("p3", 1, "llm", "")])
    found = row(result, "sfs")
    assert (found.value, found.total, found.failed) == (1.0, 1.0, 2)
    assert found.bounds == pytest.approx((1 / 3, 1.0))
    assert [failure.code for failure in result.failures] == ["no_answer", "empty_answer"]


def test_answers_without_facts_are_counted_and_undefined() -> None:
    result = measured([event("p1", 3, "llm", RIGHT[3], slots_truth=None)])
    assert row(result, "sfs").value is None
    assert row(result, "sfs").undefined == row(result, "csp_pooled").undefined == "no answer has slots_truth"
    assert row(result, "mcs").undefined != "no answer has slots_truth"
    assert row(result, "ass").value == 1.0
    assert any("without slots_truth" in notice for notice in result.summary.notices)


def test_answers_are_grouped_by_a_field_that_is_asked_for() -> None:
    events = [event("p1", 1, "llm", RIGHT[1], metadata={"language": "en"}), event("p2", 1, "llm", WRONG[1])]
    result = measured(events, DialogueSettings(resamples=200, by=("language",)))
    assert row(result, "sfs", language="en").value == 1.0
    assert row(result, "sfs", language="(none)").value == 0.0
    with pytest.raises(SettingsError, match="no event has the field 'colour'; fields found: language, mode"):
        measured(events, DialogueSettings(resamples=200, by=("colour",)))


def test_use_below_what_the_settings_expect_is_noted() -> None:
    found = row(measured([event("p1", 2, "llm", WRONG[2])]), "cus_improved", turn_id="2")
    assert found.note == "below the 0.6 that the settings expect of turn 2"


def test_the_overall_score_says_of_what_it_is_made() -> None:
    metrics = {"faithfulness": 0.8, "perplexity": 25.0, "answer_relevance": None}
    result = measured([event("p1", 1, "llm", RIGHT[1], metrics=metrics)])
    # 0.15 * 0.8 + 0.10 * 0.5 + 0.25 * 1 + 0.15 * 1 + 0.10 * (1 - 0), over the weights of these parts.
    assert row(result, "dialogue_score").value == pytest.approx((0.12 + 0.05 + 0.25 + 0.15 + 0.10) / 0.75)
    assert (
        "the dialogue score of 1 answers is made of faithfulness, perplexity, CUS, SFS, CSP" in result.summary.notices
    )


def test_facts_and_questions_come_from_scripts(tmp_path: Path) -> None:
    turns = [{"turn_id": turn, "question": question} for turn, question in QUESTIONS.items()]
    scripts = written(tmp_path / "scripts.jsonl", [{"patient_id": "p1", "slots": FACTS, "turns": turns}])
    answers = written(tmp_path / "answers.jsonl", [{"patient_id": "p1", "turn_id": 1, "answer": WRONG[1]}])
    result = measured_dialogues(opened_files([answers], scripts), settings=FEW)
    assert row(result, "sfs").value == 0.0
    assert row(result, "mcs").value == 0.0
    assert [each.name for each in result.inputs] == ["answers.jsonl", "scripts.jsonl"]


def test_seed_forms_of_events_are_read(tmp_path: Path) -> None:
    events = [
        {"mode": "llm", "patient_id": 7, "turn_id": "1", "question": "Who am I?", "slots_truth": FACTS,
         "answer": {"text": RIGHT[1], "hash": "x"}, "timestamp_utc": "2026-01-01T00:00:00Z"},
        {"mode": "llm", "patient_id": 8, "turn_id": 1, "question": "Who am I?", "slots_truth": FACTS,
         "answer": {"text": None}, "timestamps": {"end": "2026-01-01T00:00:00Z"}},
    ]  # fmt: skip
    path = tmp_path / "events.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(each) + "\n" for each in events).encode()))
    result = measured_dialogues(opened_files([path]), settings=FEW)
    assert result.summary.counts.records == 2
    assert [failure.code for failure in result.failures] == ["no_answer"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "not valid JSON"),
        (b"[]", "expected an object, found a list"),
        (b'{"turn_id": 1, "answer": "x"}', "no patient_id"),
        (b'{"patient_id": "p", "turn_id": 0, "answer": "x"}', "turn_id is 0; expected a whole number from 1"),
        (b'{"patient_id": "p", "turn_id": 1, "answer": 5}', "answer: expected text or an object, found a whole number"),
        (b'{"patient_id": "p", "turn_id": 1, "answer": "x", "slots_truth": {"key_labs": 3}}', "key_labs: expected an"),
        (b'\xff{"patient_id": "p"}', "bad.jsonl:2"),
    ],
)
def test_a_line_that_is_no_event_is_named_and_takes_no_other_with_it(tmp_path: Path, line: bytes, message: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(json.dumps(event("p1", 1, "llm", RIGHT[1])).encode() + b"\n" + line + b"\n\n")
    result = measured_dialogues(opened_files([path]), settings=FEW)
    assert result.summary.counts.records == 1
    (failure,) = result.failures
    assert failure.message.startswith("bad.jsonl:2: ")
    assert message in failure.message
    with pytest.raises(RecordError, match=r"bad\.jsonl:2"):
        measured_dialogues(opened_files([path]), settings=DialogueSettings(resamples=200, is_strict=True))


def test_files_without_any_answer_are_refused(tmp_path: Path) -> None:
    empty = written(tmp_path / "empty.jsonl", [])
    with pytest.raises(InputError, match="no answer could be measured: no line holds an event"):
        measured_dialogues(opened_files([empty]), settings=FEW)
    with pytest.raises(InputError, match="cannot be opened"):
        measured_dialogues(opened_files([tmp_path / "absent.jsonl"]), settings=FEW)


def test_processes_give_what_one_gives(tmp_path: Path) -> None:
    path = written(tmp_path / "events.jsonl", two_modes(40))
    for workers in (1, 2):
        settings = DialogueSettings(resamples=200, workers=workers)
        dialogue_to_folder(opened_files([path]), tmp_path / f"run{workers}", settings=settings)
    for name in ("records", "claims", "verdicts", "measurements", "failures", "events"):
        one, two = ((tmp_path / f"run{workers}" / f"{name}.jsonl").read_bytes() for workers in (1, 2))
        assert one == two
    assert (tmp_path / "run1" / "summary.json").read_bytes() == (tmp_path / "run2" / "summary.json").read_bytes()


def test_the_order_of_the_lines_does_not_matter_for_the_numbers() -> None:
    events = two_modes(6)
    # The first patient and mode stay first: they are listed in the order of appearance.
    shuffled = [events[0], *sorted(events[1:], key=lambda each: str(each["question"]), reverse=True)]
    one, other = measured(events).summary, measured(shuffled).summary
    assert {(each.metric, *each.by.items()): each.value for each in one.metrics} == {
        (each.metric, *each.by.items()): each.value for each in other.metrics
    }


def test_a_run_folder_holds_every_point_with_its_evidence(tmp_path: Path) -> None:
    run = hallumeter.dialogue(two_modes(), settings=FEW, out=tmp_path / "run")
    wrong = [
        finding
        for finding in run.findings()
        if finding.claim.record_id == "llm:p1:2" and finding.verdicts[0].label.value == "REFUTED"
    ]
    told = {(finding.claim.kind, finding.claim.text): finding.verdicts[0] for finding in wrong}
    assert told.keys() == {("slot", "warfarin"), ("slot", "HbA1c is 9.9%"), ("consistency", "HbA1c is 9.9%")}
    lab = told["slot", "HbA1c is 9.9%"]
    assert lab.reason == "lab_mismatch"
    assert [quote.quote for quote in lab.evidence] == ["key_labs.hba1c: 7.2%"]
    assert lab.start is not None
    assert WRONG[2][lab.start : lab.end] == "HbA1c is 9.9%"
    assert told["consistency", "HbA1c is 9.9%"].evidence[0].evidence_id == "question 2"
    assert {finding.claim.kind for finding in run.findings()} == {
        "slot", "rule", "requirement", "slot_use", "consistency", "element",
    }  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), [("claims", Claim), ("verdicts", Verdict)])
def test_lines_are_written_as_the_records_are_that_they_hold(tmp_path: Path, name: str, kind: type) -> None:
    path = written(tmp_path / "events.jsonl", two_modes())
    dialogue_to_folder(opened_files([path]), tmp_path / "run", settings=FEW)
    lines = (tmp_path / "run" / f"{name}.jsonl").read_bytes().splitlines()
    assert len(lines) > 100
    assert [msgspec.json.encode(msgspec.json.decode(line, type=kind)) for line in lines] == lines


def test_measurements_of_answers_add_up_to_the_summary(tmp_path: Path) -> None:
    run = hallumeter.dialogue(two_modes(), settings=FEW, out=tmp_path / "run")
    lines = [json.loads(line) for line in (tmp_path / "run" / "measurements.jsonl").read_bytes().splitlines()]
    values = [line["value"] for line in lines if line["metric"] == "sfs" and line["value"] is not None]
    (whole,) = (each for each in run.summary.metrics if each.metric == "sfs" and not each.by)
    assert whole.value == pytest.approx(sum(values) / len(values))
    undefined = {line["undefined"] for line in lines if line["metric"] == "ass" and line["value"] is None}
    assert undefined == {"the turn must include nothing"}


def test_events_of_a_run_carry_their_metrics_and_can_be_measured_again(tmp_path: Path) -> None:
    hallumeter.dialogue(two_modes(), settings=FEW, out=tmp_path / "run")
    events = [json.loads(line) for line in (tmp_path / "run" / "events.jsonl").read_bytes().splitlines()]
    assert events[0]["metrics"]["SFS"] == 1.0
    again = measured_dialogues(opened_files([tmp_path / "run" / "events.jsonl"]), settings=FEW)
    assert row(again, "sfs").value == row(measured(two_modes()), "sfs").value


def test_a_report_is_written_with_differences_spread_and_trend(tmp_path: Path) -> None:
    hallumeter.dialogue(two_modes(8), settings=FEW, out=tmp_path / "run")
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    for words in ("Modes compared", "agent minus llm", "Spread and trend", "SFS from turn to turn", "Slot factuality"):
        assert words in page


def test_dialogues_given_wrongly_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="nothing given"):
        hallumeter.dialogue([])
    with pytest.raises(RecordError, match="mixed"):
        hallumeter.dialogue([tmp_path, {"patient_id": "p"}])  # type: ignore[arg-type]
    with pytest.raises(RecordError, match="events:1: no patient_id"):
        hallumeter.dialogue([{"turn_id": 1}])


def test_facts_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    facts = {**FACTS, "key_labs": {"hba1c": "high"}}
    result = measured([event("p1", 2, "llm", RIGHT[2], slots_truth=facts)])
    assert "a fact is no number with a unit that fits it: key_labs.hba1c: high" in result.summary.notices


def test_failures_are_written_into_the_run_folder(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"nonsense\n" + json.dumps(event("p1", 1, "llm", None)).encode() + b"\n")
    dialogue_to_folder(opened_files([path]), tmp_path / "run", settings=FEW)
    codes = [json.loads(line)["code"] for line in (tmp_path / "run" / "failures.jsonl").read_bytes().splitlines()]
    assert codes == ["bad_line", "no_answer"]
    assert hallumeter.load(tmp_path / "run").summary.counts.failures == 2


def test_scripts_that_cannot_be_read_or_come_twice_are_said(tmp_path: Path) -> None:
    turns = [{"turn_id": "1", "question": QUESTIONS[1]}]
    script = {"patient_id": "p1", "slots": FACTS, "turns": turns}
    lines = [script, {"patient_id": "p2"}, {**script, "turns": [{"turn_id": 1}]}, script]
    scripts = written(tmp_path / "scripts.jsonl", lines)
    answers = written(tmp_path / "answers.jsonl", [{"patient_id": "p1", "turn_id": 1, "answer": RIGHT[1]}])
    result = measured_dialogues(opened_files([answers], scripts), settings=FEW)
    assert [failure.message.split(": ")[0] for failure in result.failures] == ["scripts.jsonl:2", "scripts.jsonl:3"]
    assert any("left out: 1" in notice for notice in result.summary.notices)
    assert row(result, "sfs").value == 1.0


def test_a_line_that_is_too_long_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "_LONGEST_LINE", 2_000)
    long = event("p0", 1, "llm", "x" * 5_000)
    path = written(tmp_path / "events.jsonl", [long, event("p1", 1, "llm", RIGHT[1])])
    result = measured_dialogues(opened_files([path]), settings=FEW)
    assert [failure.code for failure in result.failures] == ["line_too_long"]
    assert result.summary.counts.records == 1


def test_a_damaged_compressed_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl.gz"
    path.write_bytes(gzip.compress(b"x" * 10_000)[:-10])
    with pytest.raises(InputError, match="cannot be read to its end"):
        measured_dialogues(opened_files([path]), settings=FEW)


def test_usage_times_and_odd_times_are_kept(tmp_path: Path) -> None:
    given = event(
        "p1",
        1,
        "llm",
        RIGHT[1],
        usage={"input_tokens": 5},
        timing_ms=12,
        timestamp_utc="yesterday",
        metadata={"a": [1]},
    )
    hallumeter.dialogue([given], settings=FEW, out=tmp_path / "run")
    kept = json.loads((tmp_path / "run" / "events.jsonl").read_bytes())
    assert kept["usage"] == {"input_tokens": 5, "output_tokens": None, "estimated_cost_usd": None}
    assert kept["timing_ms"] == {"total": 12.0}
    assert kept["timestamps"] == {"utc": "yesterday"}
    assert kept["metadata"] == {"a": "[1]"}
