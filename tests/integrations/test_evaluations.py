"""Adapters inside their tools: a whole evaluation by each, as its users run it, and a run logged to MLflow."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from answer_cases import CASES, EVIDENCE, QUESTION

import hallumeter
from hallumeter.claims.settings import AuditSettings

ANSWERS = {
    "good": "The tower is 330 m high. It stands in Paris.",
    "bad": "The tower is 999 m high. It stands in Paris.",
    "refused": "I cannot answer that question.",
}
"""Three claims decided, one of them unsupported, and one answer that is not measured."""


@pytest.fixture
def tracking(tmp_path: Path) -> Iterator[Any]:
    """MLflow with a store of its own."""
    import mlflow

    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    mlflow.create_experiment("answers", artifact_location=(tmp_path / "artifacts").as_uri())
    mlflow.set_experiment("answers")
    yield mlflow
    mlflow.set_tracking_uri(before)


def test_mlflow_evaluates_a_dataset_and_averages_only_what_was_measured(tracking: Any) -> None:
    from hallumeter.integrations.mlflow import unsupported_claims

    data = [{"inputs": {"question": QUESTION, "context": list(EVIDENCE)}, "outputs": text} for text in ANSWERS.values()]
    result = tracking.genai.evaluate(data=data, scorers=[unsupported_claims(judge="rules")])
    assert result.metrics["unsupported_rate/mean"] == pytest.approx(0.25)
    traces = tracking.search_traces(run_id=result.run_id, return_type="list")
    found = {
        trace.info.response_preview.strip('"'): assessment for trace in traces for assessment in trace.info.assessments
    }
    refused = found[ANSWERS["refused"]]
    assert refused.feedback.value is None
    assert refused.feedback.error.error_code == "REFUSED"
    assert found[ANSWERS["bad"]].feedback.value == pytest.approx(0.5)
    assert "999 m" in found[ANSWERS["bad"]].rationale


def test_mlflow_takes_evidence_from_the_retrievers_of_a_trace(tracking: Any) -> None:
    from hallumeter.integrations.mlflow import unsupported_claims

    @tracking.trace(span_type="RETRIEVER")
    def retrieve(question: str) -> list[dict[str, str]]:
        return [{"page_content": text} for text in EVIDENCE]

    @tracking.trace
    def answer(question: str) -> str:
        retrieve(question)
        return ANSWERS["bad"]

    data = [{"inputs": {"question": QUESTION}}]
    scorers = [unsupported_claims(judge="rules")]
    result = tracking.genai.evaluate(data=data, predict_fn=answer, scorers=scorers)
    assert result.metrics["unsupported_rate/mean"] == pytest.approx(0.5)


def audited(folder: Path) -> hallumeter.Run:
    rows = [
        {"record_id": name, "question": QUESTION, "response": text, "evidence": list(EVIDENCE)}
        for name, text in ANSWERS.items()
    ]
    return hallumeter.audit(rows, settings=AuditSettings(judges=("rules",)), out=folder / "run")


def test_mlflow_keeps_a_whole_run_with_intervals_report_and_rows(tracking: Any, tmp_path: Path) -> None:
    from hallumeter.integrations.mlflow import log_run

    run = audited(tmp_path)
    run_id = log_run(run.path)
    logged = tracking.get_run(run_id)
    mihr = run.summary["mihr"]
    assert mihr.interval is not None
    numbers = [logged.data.metrics[f"mihr{end}"] for end in ("", ".low", ".high", ".count", ".total")]
    assert numbers == pytest.approx([mihr.value, *mihr.interval, mihr.count, mihr.total])
    undefined = {row.metric for row in map(run.summary.get, run.summary) if row is not None and row.value is None}
    assert undefined
    assert not undefined & set(logged.data.metrics)
    assert {f"undefined.{metric}" for metric in undefined} <= set(logged.data.tags)
    files = {each.path for each in tracking.MlflowClient().list_artifacts(run_id, "hallumeter")}
    assert {f"hallumeter/{name}" for name in ("report.html", "summary.json", "responses.json")} <= files
    table = tracking.load_table("hallumeter/responses.json", run_ids=[run_id])
    assert sorted(table["record_id"]) == sorted(ANSWERS)


def test_a_run_is_logged_to_the_run_that_is_active(tracking: Any, tmp_path: Path) -> None:
    from hallumeter.integrations.mlflow import log_run

    run = audited(tmp_path)
    (run.path / "report.html").unlink()
    with tracking.start_run() as active:
        assert log_run(run) == active.info.run_id
    files = [each.path for each in tracking.MlflowClient().list_artifacts(active.info.run_id, "hallumeter")]
    assert "hallumeter/report.html" in files


def test_inspect_finds_the_scorer_by_its_entry_point_and_gives_intervals(tmp_path: Path) -> None:
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from hallumeter.integrations.inspect_ai import unsupported_claims

    texts = [*ANSWERS.values(), ANSWERS["good"]]
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in texts]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1)  # it would be counted with files from elsewhere
    model = get_model("mockllm/model", custom_outputs=outputs)
    samples = [Sample(input=QUESTION, target="", metadata={"context": list(EVIDENCE), "page": text}) for text in texts]
    task = Task(dataset=MemoryDataset(samples), scorer=unsupported_claims(judge="rules"))
    (log,) = evaluate(task, model=model, log_dir=str(tmp_path), display="none", max_samples=1, max_connections=1)
    assert log.status == "success", log.error
    assert log.results is not None
    (result,) = log.results.scores
    assert (result.scored_samples, result.unscored_samples) == (3, 1)
    value = {name: metric.value for name, metric in result.metrics.items()}
    assert value["mihr"] == pytest.approx(1 / 6)
    assert (value["mihr_mean"], value["mahr"]) == (pytest.approx(0.5 / 3), pytest.approx(1 / 3))
    assert 0 <= value["mihr_low"] < 1 / 6 < value["mihr_high"] <= 1
    reasons = [score.reason for sample in log.samples or [] for score in (sample.scores or {}).values()]
    assert reasons == [None, None, "refusal", None]

    # A finished log is scored by name, which Inspect finds by the entry point.
    scored = [Path(sys.executable).parent / "inspect", "score", log.location, "--output-file", tmp_path / "again.eval"]
    options = ["--scorer", "hallumeter/unsupported_claims", "-S", "judge=rules", "--action", "overwrite"]
    done = subprocess.run([*scored, *options, "--display", "none"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    again = read_eval_log(str(tmp_path / "again.eval"))
    assert again.results is not None
    assert again.results.scores[0].metrics["mihr"].value == pytest.approx(1 / 6)


def test_the_metric_of_inspect_resamples_clusters_and_leaves_pooling_out_with_epochs() -> None:
    from inspect_ai.scorer import SampleScore, Score

    from hallumeter.integrations.inspect_ai import unsupported_rate

    def sample(value: float, page: str | None, unsupported: int, decided: int) -> SampleScore:
        metadata = {"unsupported": unsupported, "decided": decided}
        return SampleScore(score=Score(value=value, metadata=metadata), sample_id=1, sample_metadata={"page": page})

    scores = [sample(1, "a", 2, 2), sample(1, "a", 1, 1), sample(0, "b", 0, 3), sample(0, "b", 0, 1)]
    alone: Any = unsupported_rate()(scores)
    together: Any = unsupported_rate(cluster="page")(scores)
    assert together["mihr"] == alone["mihr"] == pytest.approx(3 / 7)
    assert (alone["mihr_mean"], alone["mahr"]) == (0.5, 0.5)
    assert together["mahr_high"] - together["mahr_low"] > alone["mahr_high"] - alone["mahr_low"]
    epochs: Any = unsupported_rate()([sample(0.5, "a", 2, 2), sample(0, "b", 0, 3)])
    assert not {"mihr", "mahr"} & set(epochs)
    assert epochs["mihr_mean"] == pytest.approx(0.25)
    one: Any = unsupported_rate()(scores[:1])
    assert (one["mihr"], one["mihr_low"]) == (1.0, None)
    with pytest.raises(ValueError, match="no 'page'"):
        unsupported_rate(cluster="page")([sample(1, None, 1, 1)])


@pytest.mark.parametrize("run_async", [True, False])
def test_deepeval_leaves_a_skipped_metric_without_a_score(run_async: bool) -> None:
    from deepeval import evaluate
    from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
    from deepeval.test_case import LLMTestCase

    from hallumeter.integrations.deepeval import SupportedClaimsMetric

    cases = [
        LLMTestCase(name=name, input=QUESTION, actual_output=text, retrieval_context=list(EVIDENCE))
        for name, text in ANSWERS.items()
    ]
    result = evaluate(
        cases,
        [SupportedClaimsMetric(judge="rules")],
        async_config=AsyncConfig(run_async=run_async),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        cache_config=CacheConfig(write_cache=False, use_cache=False),
        error_config=ErrorConfig(ignore_errors=True),
    )
    found = {
        each.name: [(data.score, data.success, data.evaluation_model) for data in each.metrics_data or []]
        for each in result.test_results
    }
    assert found["good"] == [(1.0, True, "rules@2")]
    assert found["bad"] == [(0.5, False, "rules@2")]
    assert found["refused"] == ([] if run_async else [(None, None, "rules@2")])


def test_ragas_leaves_out_of_its_mean_what_was_not_measured() -> None:
    from ragas import EvaluationDataset, evaluate

    from hallumeter.integrations.ragas import SupportedClaims

    rows = [
        {"user_input": QUESTION, "response": text, "retrieved_contexts": list(EVIDENCE)} for text in ANSWERS.values()
    ]
    result = evaluate(EvaluationDataset.from_list(rows), metrics=[SupportedClaims(judge="rules")], show_progress=False)
    scores = [row["supported_rate"] for row in result.scores]
    assert scores[:2] == [1.0, 0.5]
    assert math.isnan(scores[2])
    assert "0.7500" in repr(result)


def test_a_haystack_pipeline_is_stored_and_run_again() -> None:
    from haystack import Pipeline

    from hallumeter.errors import RecordError, SettingsError
    from hallumeter.integrations.haystack import SupportedClaimsEvaluator

    pipeline = Pipeline()
    pipeline.add_component("supported", SupportedClaimsEvaluator(judge="rules"))
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["hallumeter.integrations.haystack"])
    given = {
        "questions": [QUESTION] * 3,
        "contexts": [list(EVIDENCE)] * 3,
        "predicted_answers": list(ANSWERS.values()),
    }
    found = again.run({"supported": given})["supported"]
    assert found["score"] == pytest.approx(0.75)
    assert found["unmeasured"] == 1
    low, high = found["interval"]
    assert low < 0.75 < high
    with pytest.raises(RecordError, match="different lengths"):
        SupportedClaimsEvaluator(judge="rules").run(questions=[], contexts=[[]], predicted_answers=["x"])
    with pytest.raises(SettingsError, match="cannot be stored"):
        SupportedClaimsEvaluator(judge=lambda claim, evidence: True).to_dict()


def test_a_langchain_chain_is_checked_by_a_callback() -> None:
    from langchain_core.documents import Document
    from langchain_core.language_models import FakeListChatModel
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnablePassthrough

    from hallumeter.integrations.langchain import CheckAnswers

    class Pages(BaseRetriever):
        def _get_relevant_documents(self, query: str, **_: object) -> list[Document]:
            return [Document(page_content=text) for text in EVIDENCE]

    prompt = ChatPromptTemplate.from_template("{context} {question}")
    model = FakeListChatModel(responses=[ANSWERS["bad"]])
    chain = {"context": Pages(), "question": RunnablePassthrough()} | prompt | model
    told: list[object] = []
    check = CheckAnswers(on_checked=told.append, judge="rules")
    chain.invoke(QUESTION, config={"callbacks": [check]})
    (answer,) = check.answers
    assert told == [answer]
    assert (answer.unsupported_rate, answer.check.question) == (0.5, QUESTION)
    failing = chain | (lambda message: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        failing.invoke(QUESTION, config={"callbacks": [check]})
    assert len(check.answers) == 1
    Pages().invoke(QUESTION, config={"callbacks": [check]})
    assert not check._found, "nothing is kept for a retriever that is asked alone"


def test_llama_index_evaluates_a_response_with_its_source_nodes() -> None:
    from llama_index.core.base.response.schema import Response
    from llama_index.core.schema import NodeWithScore, TextNode

    from hallumeter.integrations.llama_index import SupportedClaimsEvaluator

    nodes = [NodeWithScore(node=TextNode(text=text)) for text in EVIDENCE]
    evaluator = SupportedClaimsEvaluator(judge="rules")
    found = evaluator.evaluate_response(QUESTION, Response(ANSWERS["bad"], source_nodes=nodes))
    assert (found.score, found.passing) == (0.5, False)
    assert evaluator.get_prompts() == {}


def test_weave_summarizes_with_an_interval() -> None:
    from hallumeter.integrations.weave import UnsupportedClaims

    scorer = UnsupportedClaims(judge="rules")
    rows: list[dict[str, float | None]] = [{"unsupported_rate": 0.5, "unsupported": 1, "supported": 1}] * 2
    rows += [{"unsupported_rate": 0.0, "unsupported": 0, "supported": 2}, {"unsupported_rate": None}]
    found = scorer.summarize(rows)
    assert (found["unsupported_rate"], found["measured"], found["unmeasured"]) == (pytest.approx(1 / 3), 3, 1)
    assert found["low"] < 1 / 3 < found["high"]
    assert scorer.summarize([])["unsupported_rate"] is None


GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "integrations.md"


def test_the_examples_of_the_guide_are_true(tracking: Any) -> None:
    """Those marked .service need a server or an application and are left out."""
    blocks = re.findall(r"^```python \{ \.no-run \}\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) > 10
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(GUIDE), "exec"), names)


PROMPTFOO = shutil.which("promptfoo", path=Path(sys.prefix, "npm/node_modules/.bin")) or shutil.which("promptfoo")
NOWHERE = "http://127.0.0.1:9"
"""A proxy that nobody listens at: what Node would send elsewhere than here ends there."""


@pytest.mark.skipif(PROMPTFOO is None, reason="no promptfoo: make test-integrations installs it where Node is")
def test_promptfoo_runs_the_assertion(tmp_path: Path) -> None:
    (tmp_path / "supported.py").write_text(
        "from hallumeter.integrations.promptfoo import get_assert\n", encoding="utf-8"
    )
    cases = [case for case in CASES if isinstance(case.judge, str)]
    config = {
        "prompts": ["{{answer}}"],
        "providers": ["echo"],
        "tests": [
            {
                "description": case.name,
                # promptfoo runs a test for each value of a list, so that texts of evidence are joined.
                "vars": {"answer": case.response, "question": QUESTION, "context": "\n".join(case.evidence)},
                "assert": [{"type": "python", "value": "file://supported.py", "config": case.options}],
            }
            for case in cases
        ],
    }
    (tmp_path / "promptfooconfig.json").write_text(json.dumps(config), encoding="utf-8")
    assert PROMPTFOO is not None
    arguments = [PROMPTFOO, "eval", "-c", "promptfooconfig.json", "-o", "out.json", "--no-cache", "--no-progress-bar"]
    environment = {
        **os.environ,
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NOWHERE),
        "PROMPTFOO_PYTHON": sys.executable,
        "PROMPTFOO_CONFIG_DIR": str(tmp_path / "home"),
        "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    }
    done = subprocess.run(arguments, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (tmp_path / "out.json").exists(), done.stdout + done.stderr
    results = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["results"]["results"]
    found = {each["testCase"]["description"]: each for each in results}
    for case in cases:
        graded = found[case.name]["gradingResult"]
        assert graded["pass"] is (case.passed is True), case.name
        named = {} if case.rate is None else {"supported_rate": pytest.approx(1 - case.rate)}
        assert graded["namedScores"] == named, case.name
        assert case.said in graded["componentResults"][0]["reason"]
