"""Results of other tools, compared with each other and with runs of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from compared_runs import run_of, verdict_rows
from comparison_samples import compared_row
from hallumeter import Comparison, compare
from hallumeter.decide.compare.pipeline import rank_runs
from hallumeter.decide.compare.sides import CompareSettings
from hallumeter.decide.policy import ComparePolicy
from hallumeter.errors import InputError
from hallumeter.ingest.pipeline import ingest
from hallumeter.ingest.scores import ranges_of
from hallumeter.records.comparison import MetricComparison
from hallumeter.records.manifest import Manifest

RESULTS = Path(__file__).parents[2] / "ingest" / "results"


def row_of(comparison: Comparison, metric: str) -> MetricComparison:
    return next(row for row in comparison.rows if row.metric == metric and not row.by)


def ragas(path: Path, scores: dict[str, float | str]) -> Path:
    rows = [f"{name},the answer of {name},{score}" for name, score in scores.items()]
    path.write_text("\n".join(["user_input,response,faithfulness", *rows]) + "\n", encoding="utf-8")
    return path


def test_a_score_that_too_many_records_lack_is_unmeasured_and_says_why(tmp_path: Path) -> None:
    first, second = (ingest(RESULTS / "deepeval.json", out=tmp_path / name) for name in "ab")
    found = compare(first, second)
    row = row_of(found, "deepeval:faithfulness")
    assert row.outcome == "unmeasured"
    assert (row.unmeasured, row.measurable, row.counted) == ((4, 4), (6, 6), "records")
    assert row.causes == {"missing_verdict": 2, "no_verdicts": 2, "tool_error": 4}
    # By hand: 1.5 of 2 measured and 4 unmeasured lie between 1.5 / 6 and 5.5 / 6.
    assert row.difference_bounds == pytest.approx((1.5 / 6 - 5.5 / 6, 5.5 / 6 - 1.5 / 6))
    assert found.outcome == "unmeasured"
    assert (
        "deepeval:faithfulness: 4 of 6 records are unmeasured in the first run, 4 of 6 in the second "
        "(failed: missing_verdict 2, no_verdicts 2, tool_error 4)"
    ) in found.reasons


def test_what_a_tool_could_not_know_is_said_once(tmp_path: Path) -> None:
    first, second = (ingest(RESULTS / "deepeval.json", out=tmp_path / name) for name in "ab")
    [notice] = [each for each in compare(first, second).notices if "drawn together" in each]
    assert notice.startswith("deepeval does not say which records were drawn together")
    assert "nor every failure behind a number" in notice


def test_records_that_broke_before_they_had_a_claim_count_as_unmeasured_for_claims(tmp_path: Path) -> None:
    first, second = (ingest(RESULTS / "deepeval.json", out=tmp_path / name) for name in "ab")
    row = row_of(compare(first, second), "mihr")
    # 7 claims of which one has no verdict, and three records without any.
    assert (row.unmeasured, row.measurable, row.counted) == ((4, 4), (10, 10), "claims")
    assert row.causes == {"no_verdicts": 2, "tool_error": 4}


def test_the_share_that_may_be_unmeasured_holds_for_scores_too(tmp_path: Path) -> None:
    first, second = (ingest(RESULTS / "deepeval.json", out=tmp_path / name) for name in "ab")
    lenient = CompareSettings(policy=ComparePolicy(largest_unmeasured=0.7))
    found = compare(first, second, settings=lenient)
    assert {row.outcome for row in found.rows} == {"same"}
    assert found.outcome == "no_regression"


def test_a_score_that_one_run_alone_has_for_a_record_is_missing_in_the_other(tmp_path: Path) -> None:
    names = [f"question {number}" for number in range(10)]
    before = ingest(ragas(tmp_path / "a.csv", dict.fromkeys(names, 0.5)), tool="ragas", out=tmp_path / "a")
    after = ingest(
        ragas(tmp_path / "b.csv", dict.fromkeys(names, 0.5) | {names[0]: ""}), tool="ragas", out=tmp_path / "b"
    )
    row = row_of(compare(before, after), "ragas:faithfulness")
    assert row.unmeasured == (0, 1)
    assert row.outcome == "unmeasured"


def test_claims_of_different_tools_are_compared_on_the_metrics_that_both_have(tmp_path: Path) -> None:
    taken_in = ingest(RESULTS / "deepeval.json", out=tmp_path / "a")
    measured = run_of(tmp_path / "m", verdict_rows(dict.fromkeys(["supported", "refuted", "broken"], "ss")))
    found = compare(taken_in, measured)
    assert found.instrument == "ingest and measure"
    assert [row.metric for row in found.rows] == ["mihr", "mihr_refuted", "mahr"]
    assert any("made by different tools (ingest of deepeval, measure)" in notice for notice in found.notices)
    assert not any("different settings" in notice for notice in found.notices)
    ranked = rank_runs([taken_in, measured, ingest(RESULTS / "trulens.json", out=tmp_path / "t")])
    assert {ranking.metric for ranking in ranked.rankings} == {"mihr", "mihr_refuted", "mahr"}
    assert "made by different tools" in ranked.notices[0]


def test_tools_without_a_metric_in_common_are_refused(tmp_path: Path) -> None:
    first = ingest(RESULTS / "deepeval.json", out=tmp_path / "a")
    second = ingest(RESULTS / "ragas.csv", out=tmp_path / "b")
    with pytest.raises(InputError, match=r"no metric in common: .* has ragas:faithfulness"):
        compare(first, second)


def test_runs_of_the_same_name_are_told_apart_by_their_places(tmp_path: Path) -> None:
    places = [tmp_path / name / "run" for name in "ab"]
    for place in places:
        place.parent.mkdir()
        run_of(place, verdict_rows({"r1": "s", "r2": "r"}))
    found = compare(*places)
    assert [found.first.name, found.second.name] == [str(place) for place in places]


def test_ranges_of_scores_are_read_as_they_were_kept_and_nothing_else() -> None:
    lines = ["ragas:faithfulness 0 1", "a b c -1 1", "odd", "x 1 0", "y nan 1", "z a b"]
    manifest = Manifest(1, "0.1.0", "ingest", (), {"ranges": lines})
    assert ranges_of(manifest) == {"ragas:faithfulness": (0, 1), "a b c": (-1, 1)}
    assert ranges_of(Manifest(1, "0.1.0", "audit", ())) == {}


def test_an_outcome_says_why_whatever_is_missing() -> None:
    policy = ComparePolicy()
    nothing = compared_row(outcome="unmeasured", difference=None, undefined="neither run has anything to count")
    why = "Unsupported claims (MiHR): neither run has anything to count"
    assert policy.outcome([nothing], missing=0.0) == ("unmeasured", (why,))
    undecided = compared_row(outcome="unmeasured", unmeasured=(0, 40), by={"task": "QA"})
    # A slice informs; it is a reason only where slices are gated.
    assert policy.outcome([undecided], missing=0.2)[1] == ("20.0% of the records are in one run only; 5.0% may be",)
    assert ComparePolicy(are_slices_gated=True).outcome([undecided], missing=0.2)[1] == (
        "Unsupported claims (MiHR), task=QA: 0 of 360 claims are unmeasured in the first run, 40 of 360 in the second",
        "20.0% of the records are in one run only; 5.0% may be",
    )
    free = compared_row("x:y", outcome="inconclusive", margin=None)
    assert policy.outcome([free], missing=0.0)[1] == ("x:y: no margin says what is too much; give --margin x:y=NUMBER",)
