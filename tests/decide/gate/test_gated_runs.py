"""A run held to bounds: which number counts, for whom, and what is named when one is broken."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from compared_runs import run_of, verdict_rows
from hallumeter import audit
from hallumeter.claims.profiles import Policy, Rule, parse_policy
from hallumeter.claims.settings import OperatingPoint
from hallumeter.decide.gate.pipeline import first_policy, gate_result
from hallumeter.decide.gate.text import gate_github, gate_junit, gate_markdown, gate_sarif, gate_text
from hallumeter.errors import InputError, SettingsError
from hallumeter.records.bounds import Bound

ROWS = verdict_rows({"r1": "ssrr", "r2": "ssss"}, task="QA") + verdict_rows({"r3": "sssn"}, task="chat")


def held(*bounds: Bound, **more: object) -> Policy:
    return Policy("mine", bounds=bounds, **more)  # type: ignore[arg-type]


def test_a_bound_looks_at_the_value_the_interval_or_the_worst_case(tmp_path: Path) -> None:
    run = run_of(tmp_path / "a", ROWS)
    row = run.summary.metrics[0]
    assert row.interval is not None
    found = gate_result(
        run,
        held(
            Bound("mihr", at_most=0.25),
            Bound("mihr", at_most=0.25, looks_at="interval"),
            Bound("mihr", at_most=0.25, looks_at="worst_case"),
            Bound("factscore", at_least=0.8),
        ),
    )
    assert [check.status for check in found.checks] == ["passed", "broken", "passed", "broken"]
    assert [check.value for check in found.checks] == [0.25, row.interval[1], 0.25, 0.75]
    assert found.outcome == "broken"
    offenders = [(each.record_id, each.count, each.total) for each in found.checks[1].offenders]
    assert offenders == [("r1", 2.0, 4.0), ("r3", 1.0, 4.0)]
    assert [each.record_id for each in found.checks[3].offenders] == ["r1", "r3"]


@pytest.mark.parametrize("by", [(), ("task",)])
def test_slices_are_bounded_whether_or_not_the_run_was_summarised_by_them(tmp_path: Path, by: tuple[str, ...]) -> None:
    run = run_of(tmp_path / "a", ROWS, by=by)
    found = gate_result(
        run, held(Bound("mihr", at_most=0.25, each=("task",)), Bound("mihr", at_most=0.1, by={"task": "chat"}))
    )
    assert [(check.by, check.point, check.status) for check in found.checks] == [
        ({"task": "QA"}, 0.25, "passed"),
        ({"task": "chat"}, 0.25, "passed"),
        ({"task": "chat"}, 0.25, "broken"),
    ]
    assert [each.record_id for each in found.checks[2].offenders] == ["r3"]


def test_a_slice_or_a_metric_that_is_not_there_is_unmeasured_and_no_pass(tmp_path: Path) -> None:
    run = run_of(tmp_path / "a", ROWS, by=("task",))
    bounds = Bound("mihr", at_most=1.0, by={"task": "summary"}), Bound("cer", at_most=1.0)
    found = gate_result(run, held(*bounds))
    assert [check.status for check in found.checks] == ["unmeasured", "unmeasured"]
    assert found.outcome == "unmeasured"
    assert found.checks[0].reason == "not measured: the run has no such slice"
    with pytest.raises(SettingsError, match="no record has the field 'topic'"):
        gate_result(run, held(Bound("mihr", at_most=1.0, each=("topic",))))


def test_what_is_unmeasured_cannot_pass_beyond_its_share_but_what_is_broken_is(tmp_path: Path) -> None:
    run = run_of(tmp_path / "a", verdict_rows({"r1": "ssu", "r2": "srs"}))
    passing, failing = Bound("mihr", at_most=0.5), Bound("mihr", at_most=0.1)
    assert gate_result(run, held(passing)).outcome == "passed"
    found = gate_result(run, held(passing, max_unmeasured=0.1))
    assert found.outcome == "unmeasured"
    assert found.checks[0].reason == "16.7% of what it counts is undecided or failed; at most 10.0% may be"
    assert gate_result(run, held(failing, max_unmeasured=0.1)).outcome == "broken"
    own = Bound("mihr", at_most=0.5, max_unmeasured=0.2)
    assert gate_result(run, held(own, max_unmeasured=0.1)).outcome == "passed"


def test_an_interval_that_does_not_exist_is_no_pass(tmp_path: Path) -> None:
    run = run_of(tmp_path / "a", verdict_rows({"r1": "ss"}))
    [check] = gate_result(run, held(Bound("mihr", at_most=0.5, looks_at="interval"))).checks
    assert (check.status, check.reason) == ("unmeasured", "it has no interval end")


def test_rules_are_bounds_where_there_are_no_bounds(tmp_path: Path) -> None:
    run = run_of(tmp_path / "a", ROWS)
    rules = Rule("mihr", good=0.1, bad=0.2), Rule("factscore", good=0.9, bad=0.7)
    assert [(check.rule, check.status) for check in gate_result(run, Policy("old", rules)).checks] == [
        ("at most 0.2", "broken"),
        ("at least 0.7", "passed"),
    ]


def test_the_first_policy_of_a_run_is_one_that_it_passes(tmp_path: Path) -> None:
    run = run_of(tmp_path / "a", ROWS)
    text = first_policy(run)
    policy = parse_policy(text, source="policy.toml", known_metrics=["mihr", "mihr_refuted", "mahr"])
    assert gate_result(run, policy).outcome == "passed"
    for line in text.splitlines():
        assert not line or line.startswith("#") or "=" in line or line == "[[bounds]]"
    with pytest.raises(InputError, match="nothing was measured"):
        first_policy(run_of(tmp_path / "b", verdict_rows({"r1": "u"})))


def audited(folder: Path) -> Path:
    rows = [
        {"id": "a", "response": "The tower is 330 m high.", "evidence": "The tower is 330 m high."},
        {"id": "b", "response": "It is 999 m high.\nIt is tall.", "evidence": "The tower is 330 m high."},
    ]
    source = folder / "answers.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    audit(source, judge="rules", out=folder / "run")
    return folder / "run"


def test_every_form_names_the_file_and_line_of_what_is_not_supported(tmp_path: Path) -> None:
    from hallumeter import load

    run = load(audited(tmp_path))
    found = gate_result(run, held(Bound("mihr", at_most=0.1)), source=tmp_path)
    place = f"{(tmp_path / 'answers.jsonl').as_posix()}"
    [claim, *_] = found.claims
    assert (claim.record_id, claim.place and (claim.place.file, claim.place.line)) == ("b", (place, 2))
    assert f"{place}:2" in gate_text(found, width=400)
    [command, error, *_] = gate_github(found).splitlines()
    assert command.startswith("::error title=hallumeter gate::mihr: broken:")
    assert f"line=2,title={claim.label.lower()}::record b:" in error
    suite = ET.fromstring(gate_junit(found))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
    assert "answers.jsonl:2" in (suite.findtext("testcase/failure") or "")
    log = json.loads(gate_sarif(found))
    assert log["version"] == "2.1.0"
    [result, *_] = log["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]
    assert location["region"]["startLine"] == 2
    assert location["artifactLocation"]["uri"].endswith("answers.jsonl")
    assert result["ruleId"] in {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    assert {"tool", "results"} <= set(log["runs"][0])


def test_an_input_that_changed_or_is_gone_gives_no_lines_and_is_named(tmp_path: Path) -> None:
    from hallumeter import load

    run = load(audited(tmp_path))
    policy = held(Bound("mihr", at_most=0.1))
    gone = gate_result(run, policy, source=tmp_path / "elsewhere")
    assert gone.claims[0].place is None
    assert "no such file" in gone.notices[0]
    assert "locations" not in json.loads(gate_sarif(gone))["runs"][0]["results"][0]
    with (tmp_path / "answers.jsonl").open("a", encoding="utf-8") as stream:
        stream.write("\n")
    changed = gate_result(run, policy, source=tmp_path)
    assert changed.claims[0].place is None
    assert "changed since the run was made" in changed.notices[0]


def test_untrusted_text_stays_text_in_every_form(tmp_path: Path) -> None:
    nasty = 'x"]]><script>&\x1b[31m\n::error::%'
    rows = [{**row, "record_id": nasty, "text": nasty} for row in verdict_rows({"r": "rr"})]
    found = gate_result(run_of(tmp_path / "a", rows), held(Bound("mihr", at_most=0.0)))
    assert ET.fromstring(gate_junit(found)).get("failures") == "1"
    assert all(line.startswith(("::error ", "::warning ")) for line in gate_github(found).splitlines())
    json.loads(gate_sarif(found))
    assert "\x1b" not in gate_text(found) + gate_github(found) + gate_junit(found) + gate_markdown(found)
    assert "\\<script\\>" in gate_markdown(found)


def test_markdown_and_annotations_name_what_passed_and_which_slice_was_not_measured(tmp_path: Path) -> None:
    run = run_of(tmp_path / "a", ROWS, by=("task",))
    found = gate_result(run, held(Bound("mihr", at_most=1.0), Bound("mihr", at_most=1.0, by={"task": "summary"})))
    [passed, unmeasured] = gate_github(found).splitlines()
    assert passed.startswith("::notice title=hallumeter gate::mihr: passed:")
    assert unmeasured.startswith("::warning title=hallumeter gate::mihr (task=summary): unmeasured:")
    text = gate_markdown(found)
    assert text.startswith("### Hallucination gate: unmeasured\n")
    assert "- mihr (task=summary): not measured: the run has no such slice" in text


def probable(chances: dict[str, list[float]], *, threshold: float = 0.5, **fields: object) -> list[dict[str, object]]:
    """Rows of a judge that flags from a threshold on, with its probabilities."""
    return [
        {**row, "unsupported_probability": chance}
        for record, given in chances.items()
        for row, chance in zip(
            verdict_rows({record: "".join("n" if chance >= threshold else "s" for chance in given)}, **fields),
            given,
            strict=True,
        )
    ]


def test_labels_are_decided_again_at_another_threshold(tmp_path: Path) -> None:
    chances = {"r1": [0.1, 0.3, 0.6], "r2": [0.2, 0.3, 0.4], "r3": [0.05, 0.1, 0.2]}
    run = run_of(tmp_path / "a", probable(chances))
    bounds = Bound("mihr", at_most=0.2), Bound("mahr", at_most=0.5), Bound("expected_unsupported_rate", at_most=0.3)
    as_it_is = gate_result(run, held(*bounds))
    assert ([check.point for check in as_it_is.checks[:2]], as_it_is.outcome) == ([1 / 9, 1 / 3], "passed")
    lower = gate_result(run, held(*bounds), threshold=0.3)
    assert [check.point for check in lower.checks[:2]] == [4 / 9, 2 / 3]
    assert (lower.outcome, lower.threshold, lower.claims_total) == ("broken", 0.3, 4)
    assert [each.record_id for each in lower.checks[0].offenders] == ["r1", "r2"]
    assert lower.checks[2].point == as_it_is.checks[2].point, "no threshold is in the expected share"
    assert "Labels are decided at the threshold 0.3" in gate_text(lower)
    # What another run finds that was judged at this threshold is the same, interval and all.
    again = gate_result(run_of(tmp_path / "b", probable(chances, threshold=0.3)), held(*bounds))
    assert [(check.point, check.interval) for check in again.checks] == [
        (check.point, check.interval) for check in lower.checks
    ]


def test_slices_are_decided_again_too(tmp_path: Path) -> None:
    rows = probable({"r1": [0.1, 0.6]}, task="QA") + probable({"r2": [0.3, 0.4]}, task="chat")
    run = run_of(tmp_path / "a", rows, by=("task",))
    found = gate_result(run, held(Bound("mihr", at_most=0.6, each=("task",))), threshold=0.3)
    assert [(check.by, check.point) for check in found.checks] == [({"task": "QA"}, 0.5), ({"task": "chat"}, 1.0)]


def test_a_refuted_claim_stays_refuted_above_the_threshold_and_an_undecided_one_undecided(tmp_path: Path) -> None:
    rows = verdict_rows({"r1": "rsu"})
    for row, chance in zip(rows, (0.9, 0.8, 0.7), strict=True):
        row["unsupported_probability"] = chance
    found = gate_result(
        run_of(tmp_path / "a", rows), held(Bound("mihr", at_most=0.1), max_unmeasured=1.0), threshold=0.75
    )
    assert [claim.label for claim in found.claims] == ["REFUTED", "NOT_ENOUGH_INFO"]


def test_what_has_no_threshold_is_refused(tmp_path: Path) -> None:
    run = run_of(tmp_path / "a", probable({"r1": [0.1, 0.6]}))
    with pytest.raises(SettingsError, match="mihr_refuted cannot be measured at another threshold"):
        gate_result(run, held(Bound("mihr_refuted", at_most=1.0)), threshold=0.3)
    with pytest.raises(SettingsError, match=r"threshold is 3; expected a probability"):
        gate_result(run, held(Bound("mihr", at_most=1.0)), threshold=3)
    with pytest.raises(SettingsError, match="the calibration is for the judge other, and the run is judged by j"):
        gate_result(run, held(Bound("mihr", at_most=1.0)), threshold=OperatingPoint(0.3, "other", "a promise"))
    bare = run_of(tmp_path / "b", verdict_rows({"r1": "sr"}))
    with pytest.raises(SettingsError, match="j gave no probabilities"):
        gate_result(bare, held(Bound("mihr", at_most=1.0)), threshold=0.3)
    panel = run_of(tmp_path / "c", [*verdict_rows({"r1": "sr"}), *verdict_rows({"r1": "ss"}, judge="k")])
    with pytest.raises(SettingsError, match="not those of one judge"):
        gate_result(panel, held(Bound("mihr", at_most=1.0)), threshold=0.3)
