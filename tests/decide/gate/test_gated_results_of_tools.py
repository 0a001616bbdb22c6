"""Results of every other tool, held to a policy that was made from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.claims.profiles import Policy, parse_policy
from hallumeter.decide.gate.pipeline import first_policy, gate_result
from hallumeter.errors import SettingsError
from hallumeter.ingest.pipeline import ingest
from hallumeter.records.bounds import Bound

RESULTS = Path(__file__).parents[2] / "ingest" / "results"
TOGETHER = {"response.jsonl": "source_info.jsonl"}
UNBOUNDED = {"langfuse.json", "phoenix.json"}
"""Of their scores nobody says which way is better, so that no policy can be made from them."""
FILES = sorted(
    path.name
    for path in RESULTS.iterdir()
    if path.name not in {*TOGETHER.values(), *UNBOUNDED} and path.suffix != ".sql"
)


@pytest.mark.parametrize("name", FILES)
def test_results_of_a_tool_pass_the_policy_that_is_made_from_them(name: str, tmp_path: Path) -> None:
    files = [RESULTS / name, *([RESULTS / TOGETHER[name]] if name in TOGETHER else [])]
    run = ingest(files, out=tmp_path / "run")
    policy = parse_policy(first_policy(run), source="policy.toml", known_metrics=METRICS_BY_ID)
    found = gate_result(run, policy)
    assert found.outcome == "passed"
    assert {check.metric for check in found.checks} >= {
        row.metric
        for row in run.summary.metrics
        if ":" in row.metric and row.direction != "none" and row.value is not None
    }


def test_a_score_is_bounded_by_slice_with_what_its_records_lack(tmp_path: Path) -> None:
    run = ingest(RESULTS / "deepeval.json", out=tmp_path / "run")
    bound = Bound("deepeval:faithfulness", at_least=0.9, looks_at="worst_case", each=("model",), max_unmeasured=0.5)
    with pytest.raises(SettingsError, match="no record has the field 'model'"):
        gate_result(run, Policy("mine", bounds=(bound,)))
    whole = Bound("deepeval:faithfulness", at_least=0.9, looks_at="worst_case", max_unmeasured=0.5)
    [check] = gate_result(run, Policy("mine", bounds=(whole,))).checks
    # By hand: 1.5 of 2, and 4 of 6 records lack the score.
    assert check.value == pytest.approx(1.5 / 6)
    assert check.status == "broken"
    assert check.reason == "66.7% of what it counts is undecided or failed; at most 50.0% may be"
    assert [record.record_id for record in check.offenders] == ["refuted"]


def test_a_score_is_summed_up_on_slices_that_the_run_was_not_summarised_by(tmp_path: Path) -> None:
    rows = ["user_input,response,faithfulness,task", "a,answer,1,QA", "b,answer,,QA", "c,answer,0.5,chat"]
    (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    run = ingest(tmp_path / "scores.csv", tool="ragas", out=tmp_path / "run")
    bound = Bound("ragas:faithfulness", at_least=0.4, looks_at="worst_case", each=("task",))
    found = {check.by["task"]: check for check in gate_result(run, Policy("mine", bounds=(bound,))).checks}
    # By hand: one of 1 and one that may be 0 or 1, then 0.5 alone.
    assert (found["QA"].value, found["QA"].unmeasured) == (0.5, 0.5)
    assert (found["chat"].value, found["chat"].unmeasured) == (0.5, 0.0)


def test_a_score_that_the_run_does_not_have_is_a_mistake_in_the_policy(tmp_path: Path) -> None:
    run = ingest(RESULTS / "deepeval.json", out=tmp_path / "run")
    with pytest.raises(SettingsError, match=r"unknown metric 'deepeval:faithfulnes': .* did you mean"):
        gate_result(run, Policy("mine", bounds=(Bound("deepeval:faithfulnes", at_least=0.9),)))
