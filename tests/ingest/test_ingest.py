"""Results of other tools become runs: what they judged is kept, and what they hid behind a number is unmeasured."""

from __future__ import annotations

import functools
import json
from collections import Counter
from pathlib import Path

import pytest

import hallumeter
from hallumeter.ingest.pipeline import ingest
from hallumeter.records.claim import Label
from hallumeter.records.measurement import MetricSummary
from hallumeter.run.run_folder import RunFolder

RESULTS = Path(__file__).parent / "results"


@functools.cache
def ingested(name: str) -> hallumeter.Run:
    return ingest(RESULTS / name)


def row(run: hallumeter.Run, metric: str, by: dict[str, str] | None = None) -> MetricSummary:
    [found] = [row for row in run.summary.metrics if row.metric == metric and row.by == (by or {})]
    return found


def codes(run: hallumeter.Run) -> Counter[str]:
    return Counter(failure.code for failure in run.failures)


SCORES = [
    ("ragas.csv", "ragas:faithfulness", 1.5, 2, 4),
    ("ragas.jsonl", "ragas:faithfulness", 1.5, 2, 4),
    ("ragas.jsonl", "ragas:exact_match", 1, 6, 0),
    ("deepeval.json", "deepeval:faithfulness", 1.5, 2, 4),
    ("deepeval.json", "deepeval:hallucination", 2, 3, 3),
    ("promptfoo.json", "promptfoo:context-faithfulness", 1.5, 2, 4),
    ("promptfoo.jsonl", "promptfoo:context-faithfulness", 1.5, 2, 4),
    ("promptfoo.json", "promptfoo:contains", 2, 5, 1),
    ("inspect.json", "inspect:model_graded_fact", 1, 4, 2),
    ("inspect.json", "inspect:two_sided/faithful", 2, 5, 1),
    ("trulens.json", "trulens:groundedness", 1.5, 2, 4),
    ("trulens_older.jsonl", "trulens:answer_relevance", 1, 1, 1),
    ("helm.jsonl", "helm:exact_match", 1, 2, 1),
]


@pytest.mark.parametrize(("name", "metric", "count", "total", "failed"), SCORES)
def test_scores_are_pooled_over_the_records_on_which_they_were_measured(
    name: str, metric: str, count: float, total: float, failed: int
) -> None:
    run = ingested(name)
    found = row(run, metric)
    assert found.count == pytest.approx(count)
    assert (found.total, found.failed) == (total, failed)
    assert found.value == pytest.approx(count / total)
    if failed:
        low, high = count / (total + failed), (count + failed) / (total + failed)
        is_known = found.direction != "none"
        assert found.bounds == (pytest.approx((low, high)) if is_known else None)
    mine = [failure for failure in run.failures if failure.judge == metric and failure.claim_id is None]
    assert len(mine) == failed
    assert all(failure.step == "measure" and failure.message.count(":") >= 2 for failure in mine)


def test_an_archive_of_inspect_says_what_its_json_log_says() -> None:
    pytest.importorskip("backports.zstd", reason="the extra inspect is not installed")
    archive, log = ingested("inspect.eval"), ingested("inspect.json")
    assert archive.summary.metrics == log.summary.metrics
    assert codes(archive) == codes(log) == {"unscored": 2, "sample_error": 4}


WHY = [
    ("ragas.jsonl", "3", "ragas:faithfulness", "the response is empty"),
    ("deepeval.json", "greeting", "deepeval:faithfulness", "DeepEval gave 1 although there was no verdict to count"),
    ("deepeval.json", "broken", "deepeval:faithfulness", "1 of its claims have no verdict"),
    ("deepeval.json", "unparsable", "deepeval:faithfulness", "invalid JSON"),
    ("promptfoo.json", "empty", "promptfoo:context-faithfulness", "scored 0, but its grader failed: No output"),
    ("promptfoo.json", "unparsable", "promptfoo:context-faithfulness", "Could not parse context-faithfulness verdicts"),
    ("promptfoo.json", "broken", "promptfoo:contains", "the provider failed: the model's server went away"),
    ("inspect.json", "unparsable", "inspect:model_graded_fact", "Grade not found in model output"),
    ("inspect.json", "broken", "inspect:overlap", "the model's server went away"),
    ("trulens.json", "greeting", "trulens:groundedness", "TruLens gave 0 although there was no statement"),
    ("trulens.json", "empty", "trulens:groundedness", "TruLens gave 1 although there was no statement"),
    ("trulens_older.jsonl", "record_hash_1", "trulens:answer_relevance", "-1, its mark of a reply"),
    ("helm.jsonl", "id3", "helm:exact_match", "HELM counted nothing"),
]


@pytest.mark.parametrize(("name", "record", "metric", "why"), WHY)
def test_a_number_that_hides_a_failure_is_unmeasured_with_its_reason(
    name: str, record: str, metric: str, why: str
) -> None:
    run = ingested(name)
    [failure] = [
        item for item in run.failures if (item.record_id, item.judge) == (record, metric) and not item.claim_id
    ]
    assert why in failure.message
    measured = {
        (item.record_id, item.metric): item for item in RunFolder(run.path).measurements() if item.metric == metric
    }
    assert measured[record, metric].value is None
    assert why in str(measured[record, metric].undefined)
    assert (measured[record, metric].count, measured[record, metric].total) == (0, 0)


LABELS = [
    ("deepeval.json", "deepeval:faithfulness", (4, 1, 1), 1),
    ("trulens.json", "trulens:groundedness", (3, 0, 1), 0),
    ("trulens_older.jsonl", "trulens:groundedness", (1, 0, 1), 0),
    ("response.jsonl", "ragtruth:annotators", (2, 1, 1), 0),
    ("lettucedetect.json", "lettucedetect:labels", (2, 1, 0), 0),
    ("lettucedetect_predictions.jsonl", "lettucedetect", (2, 0, 1), 1),
    ("refchecker.json", "refchecker", (2, 1, 1), 1),
    ("refchecker_benchmark.json", "refchecker:annotators", (1, 1, 0), 1),
]


@pytest.mark.parametrize(("name", "judge", "labels", "failed"), LABELS)
def test_what_was_said_of_claims_is_kept_as_verdicts(
    name: str, judge: str, labels: tuple[int, int, int], failed: int
) -> None:
    run = ingested(name)
    found = Counter(verdict.label for finding in run.findings() for verdict in finding.verdicts)
    assert (found[Label.SUPPORTED], found[Label.REFUTED], found[Label.NOT_ENOUGH_INFO]) == labels
    assert {verdict.judge for finding in run.findings() for verdict in finding.verdicts} == {judge}
    assert [entry.name for entry in run.manifest.judges] == [judge]
    unsupported = row(run, "mihr")
    assert (unsupported.count, unsupported.total, unsupported.failed) == (sum(labels[1:]), sum(labels), failed)


def test_claims_are_found_in_the_response_where_their_words_stand_there() -> None:
    places = {
        finding.claim.text: finding.claim.start
        for finding in ingested("deepeval.json").findings()
        if finding.claim.record_id == "refuted"
    }
    assert places == {"The Seine is 999 km long.": 0, "The Seine flows through Paris.": 29}


def test_a_verdict_on_a_sentence_points_at_the_marked_span() -> None:
    findings = [finding for finding in ingested("response.jsonl").findings() if finding.claim.record_id == "1"]
    [first, second] = [finding.verdicts[0] for finding in findings]
    assert (first.label, first.start, first.end, first.reason) == (Label.REFUTED, 13, 19, "evident_conflict")
    assert (second.label, second.start, second.reason) == (Label.NOT_ENOUGH_INFO, 48, "evident_baseless_info")
    assert "the length differs" in str(first.note)


def test_evidence_comes_from_the_file_of_sources_given_too_or_lying_beside() -> None:
    run = ingested("response.jsonl")
    beside = list(RunFolder(run.path).records())
    both = ingest([RESULTS / "response.jsonl", RESULTS / "source_info.jsonl"])
    assert beside[0].evidence[0].text.startswith("passage 1: The Seine")
    assert beside[2].evidence[0].text == "The Seine is 777 km long."
    assert json.loads(beside[3].evidence[0].text) == {"name": "Le Pont", "city": "Paris"}
    assert list(RunFolder(both.path).records()) == beside


def test_sentences_of_a_response_with_a_misplaced_mark_are_unmeasured_not_supported() -> None:
    run = ingested("lettucedetect_predictions.jsonl")
    assert codes(run) == {"unplaced_span": 1, "empty_response": 1}
    assert not [item for item in run.findings() if item.claim.record_id == "c" and item.verdicts]


def test_a_response_in_which_refchecker_abstains_is_counted_without_a_claim() -> None:
    run = ingested("refchecker.json")
    assert codes(run)["no_claims"] == 1
    assert run.summary.counts.records_without_claims == 1


def test_a_tool_without_verdicts_gives_no_claim_metrics() -> None:
    run = ingested("ragas.csv")
    assert {metric.metric for metric in run.summary.metrics} == {"ragas:faithfulness", "ragas:exact_match"}
    assert run.summary.counts.records_without_claims == 0
    assert "claim metrics are left out" in " ".join(run.summary.notices)


def test_scores_can_be_grouped() -> None:
    run = ingest(RESULTS / "inspect.json", by="case")
    assert row(run, "inspect:model_graded_fact", {"case": "supported"}).value == 1
    assert row(run, "inspect:model_graded_fact", {"case": "refuted"}).value == 0
    assert row(run, "inspect:model_graded_fact", {"case": "broken"}).value is None


def test_a_score_of_unknown_kind_has_no_direction_and_no_bounds() -> None:
    found = row(ingested("inspect.json"), "inspect:overlap")
    assert (found.direction, found.bounds) == ("none", None)
    assert "does not say which way" in str(found.note)


def test_passing_tells_which_way_is_better(tmp_path: Path) -> None:
    cases = [
        {
            "name": str(score),
            "input": "q",
            "actualOutput": "a",
            "metricsData": [{"name": "Hallucination", "threshold": 0.5, "score": score, "success": score < 0.5}],
        }
        for score in (0.0, 1.0)
    ]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"testCases": cases}), encoding="utf-8")
    assert row(ingest(path), "deepeval:hallucination").direction == "lower"
    assert row(ingested("deepeval.json"), "deepeval:hallucination").direction == "higher"


def test_scores_beyond_their_range_are_impossible(tmp_path: Path) -> None:
    path = tmp_path / "ragas.jsonl"
    rows = [{"user_input": "q", "response": "a", "faithfulness": value} for value in (0.5, 7, 1e999)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    run = ingest(path)
    assert codes(run) == {"impossible_score": 2}
    assert row(run, "ragas:faithfulness").value == 0.5


def test_a_score_of_one_without_claims_to_see_is_named(tmp_path: Path) -> None:
    case = {"name": "a", "metricsData": [{"name": "Faithfulness", "score": 1.0, "threshold": 0.5, "success": True}]}
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"testCases": [case]}), encoding="utf-8")
    assert "verbose_mode=True" in " ".join(ingest(path).summary.notices)


def test_records_of_the_same_name_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "ragas.jsonl"
    rows = [{"id": "a", "user_input": "q", "response": "a", "faithfulness": 1} for _ in range(2)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    run = ingest(path)
    assert [record.record_id for record in RunFolder(run.path).records()] == ["a", "a (2)"]


def test_the_same_file_gives_the_same_run(tmp_path: Path) -> None:
    for name in ("first", "second"):
        ingest(RESULTS / "deepeval.json", out=tmp_path / name)
    for path in sorted((tmp_path / "first").iterdir()):
        if path.name not in ("manifest.json", "report.html"):
            assert path.read_bytes() == (tmp_path / "second" / path.name).read_bytes(), path.name


def test_verdicts_of_an_ingested_run_can_be_measured_again(tmp_path: Path) -> None:
    run = ingest(RESULTS / "response.jsonl", out=tmp_path / "run")
    again = hallumeter.measure(tmp_path / "run" / "verdicts.jsonl")
    assert again.metrics[0].value == row(run, "mihr").value


@pytest.mark.parametrize("name", ["ragas.jsonl", "trulens.json", "refchecker.json", "helm.jsonl"])
def test_half_a_character_becomes_a_question_mark(name: str, tmp_path: Path) -> None:
    text = (RESULTS / name).read_text(encoding="utf-8").replace("Seine", "Sei\\ud800e").replace('"id1"', '"id\\udfff"')
    (tmp_path / name).write_text(text, encoding="utf-8")
    ingest(tmp_path / name, out=tmp_path / "run")
    kept = "".join(file.read_text(encoding="utf-8") for file in (tmp_path / "run").glob("*.jsonl"))
    assert "Sei?e" in kept or "id?" in kept
