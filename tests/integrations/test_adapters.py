"""Every adapter gives the same answers the same numbers, and what is no number stays none in the tool's own words."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
from answer_cases import CASES, QUESTION, Case


class Seen(NamedTuple):
    """What a tool's own result says."""

    rate: float | None
    """The unsupported rate."""
    said: str


def by_mlflow(case: Case) -> Seen:
    from mlflow.entities import Feedback

    from hallumeter.integrations.mlflow import unsupported_claims

    feedback = unsupported_claims(**case.options)(
        inputs={"question": QUESTION}, outputs={"answer": case.response, "context": list(case.evidence)}
    )
    assert isinstance(feedback, Feedback)
    assert feedback.name == "unsupported_rate"
    if case.problem is not None:
        assert feedback.error is not None
        assert feedback.error.error_code == case.problem.upper()
    else:
        assert feedback.error is None
    assert json.loads(feedback.metadata["claims"]) >= 0
    return Seen(feedback.value, feedback.rationale or "")


def by_inspect_ai(case: Case) -> Seen:
    from inspect_ai.model import ChatMessageUser, ModelName, ModelOutput
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    from hallumeter.integrations.inspect_ai import unsupported_claims

    state = TaskState(
        model=ModelName("mockllm/model"),
        sample_id=1,
        epoch=1,
        input=QUESTION,
        messages=[ChatMessageUser(content=QUESTION)],
        output=ModelOutput.from_content("mockllm/model", case.response),
        metadata={"context": list(case.evidence)},
    )
    score = asyncio.run(unsupported_claims(**case.options)(state, Target("")))
    assert score is not None
    assert (score.reason is not None) == (case.problem is not None)
    value = score.as_float()
    return Seen(None if math.isnan(value) else value, score.explanation or "")


def by_deepeval(case: Case) -> Seen:
    from deepeval.test_case import LLMTestCase

    from hallumeter.integrations.deepeval import SupportedClaimsMetric

    metric = SupportedClaimsMetric(**case.options)
    test_case = LLMTestCase(input=QUESTION, actual_output=case.response, retrieval_context=list(case.evidence))
    value = metric.measure(test_case)
    assert value == metric.score == asyncio.run(metric.a_measure(test_case))
    is_broken = case.problem == "judge_failed"
    assert (metric.error is not None) == is_broken
    assert metric.skipped is (case.passed is None and not is_broken)
    assert metric.is_successful() is (False if is_broken else case.passed)
    return Seen(None if value is None else 1 - value, metric.reason or "")


def by_promptfoo(case: Case) -> Seen:
    from hallumeter.integrations.promptfoo import get_assert

    context = {"vars": {"question": QUESTION, "context": list(case.evidence)}, "config": case.options}
    graded = get_assert(case.response, context)
    assert graded["pass"] is (case.passed is True)
    assert isinstance(graded["score"], float)
    if case.problem is not None:
        assert graded["namedScores"] == {}
        assert graded["score"] == float(case.passed is True)
    rate = graded["namedScores"].get("supported_rate")
    return Seen(None if rate is None else 1 - rate, graded["reason"])


def by_phoenix(case: Case) -> Seen:
    from hallumeter.integrations.phoenix import unsupported_claims

    evaluator = unsupported_claims(**case.options)
    row = {"input": QUESTION, "output": case.response, "context": list(case.evidence)}
    (score,) = evaluator.evaluate(row)
    assert (score.kind, score.direction) == ("code", "minimize")
    assert (score.label == "unmeasured") == (case.passed is None)
    return Seen(score.score, score.explanation or "")


def by_langfuse(case: Case) -> Seen:
    from hallumeter.integrations.langfuse import unsupported_claims

    evaluator: Any = unsupported_claims(**case.options)
    given = {"question": QUESTION, "context": list(case.evidence)}
    found = asyncio.run(evaluator(input=given, output=case.response, expected_output=None, metadata=None))
    is_score = found.name == "unsupported_rate"
    assert is_score == (case.problem is None)
    if not is_score:
        assert (found.value, found.data_type) == (case.problem, "CATEGORICAL")
    return Seen(found.value if is_score else None, found.comment or "")


def by_langsmith(case: Case) -> Seen:
    from langsmith.evaluation import EvaluationResult

    from hallumeter.integrations.langsmith import unsupported_claims

    run: Any = SimpleNamespace(
        outputs={"answer": case.response, "contexts": list(case.evidence)}, inputs={"question": QUESTION}, child_runs=[]
    )
    found = unsupported_claims(**case.options)(run, None)
    assert isinstance(found, EvaluationResult)
    assert found.value == case.problem
    return Seen(found.score, found.comment or "")


def by_weave(case: Case) -> Seen:
    from hallumeter.integrations.weave import UnsupportedClaims

    scorer = UnsupportedClaims(**case.options)
    found = asyncio.run(scorer.score(output=case.response, question=QUESTION, context=list(case.evidence)))
    summary = scorer.summarize([found])
    assert summary["unsupported_rate"] == found["unsupported_rate"]
    assert summary["measured"] == (case.problem is None)
    return Seen(found["unsupported_rate"], found["explanation"])


def by_pydantic_evals(case: Case) -> Seen:
    from pydantic_evals import Case as EvalCase
    from pydantic_evals import Dataset

    from hallumeter.integrations.pydantic_evals import SupportedClaims

    evaluated = EvalCase(name=case.name, inputs=QUESTION, metadata={"context": list(case.evidence)})
    dataset = Dataset(name="answers", cases=[evaluated], evaluators=[SupportedClaims(**case.options)])
    report = dataset.evaluate_sync(lambda _: case.response, progress=False)
    (found,) = report.cases
    if case.problem == "judge_failed":
        (failure,) = found.evaluator_failures
        assert not found.scores
        return Seen(None, failure.error_message)
    assert {name: each.value for name, each in found.assertions.items()} == (
        {} if case.passed is None else {"supported": case.passed}
    )
    if case.problem is not None:
        assert not found.scores
        label = found.labels["unsupported_rate_problem"]
        assert label.value == case.problem
        return Seen(None, label.reason or "")
    score = found.scores["unsupported_rate"]
    return Seen(float(score.value), score.reason or "")


def by_ragas(case: Case) -> Seen:
    from ragas.dataset_schema import SingleTurnSample

    from hallumeter.integrations.ragas import SupportedClaims

    metric = SupportedClaims(**case.options)
    sample = SingleTurnSample(user_input=QUESTION, response=case.response, retrieved_contexts=list(case.evidence))
    value = asyncio.run(metric.single_turn_ascore(sample))
    assert metric.last is not None
    return Seen(None if math.isnan(value) else 1 - value, metric.last.explanation)


def by_haystack(case: Case) -> Seen:
    from hallumeter.integrations.haystack import SupportedClaimsEvaluator

    evaluator = SupportedClaimsEvaluator(**case.options)
    found = evaluator.run(questions=[QUESTION], contexts=[list(case.evidence)], predicted_answers=[case.response])
    (result,) = found["results"]
    assert result["status"] == (case.problem or "evaluated")
    assert found["unmeasured"] == (case.problem is not None)
    assert math.isnan(found["score"]) == (case.problem is not None)
    (score,) = found["individual_scores"]
    return Seen(None if math.isnan(score) else 1 - score, result["explanation"])


def by_langchain(case: Case) -> Seen:
    from hallumeter.integrations.langchain import SupportedClaimsEvaluator

    found = SupportedClaimsEvaluator(**case.options).evaluate_strings(
        prediction=case.response, reference=list(case.evidence), input=QUESTION
    )
    assert (found["value"] == "unmeasured") == (case.passed is None)
    return Seen(None if found["score"] is None else 1 - found["score"], found["reasoning"])


def by_langchain_callback(case: Case) -> Seen:
    from langchain_core.documents import Document

    from hallumeter.integrations.langchain import CheckAnswers

    handler, chain, step = CheckAnswers(**case.options), uuid4(), uuid4()
    handler.on_chain_start({}, {"input": QUESTION}, run_id=chain)
    handler.on_chain_start({}, QUESTION, run_id=step, parent_run_id=chain)
    documents = [Document(page_content=text) for text in case.evidence]
    handler.on_retriever_end(documents, run_id=uuid4(), parent_run_id=step)
    handler.on_chain_end(documents, run_id=step, parent_run_id=chain)
    handler.on_chain_end(case.response, run_id=chain)
    (answer,) = handler.answers
    return Seen(answer.unsupported_rate, answer.explanation)


def by_llama_index(case: Case) -> Seen:
    from hallumeter.integrations.llama_index import SupportedClaimsEvaluator

    found = SupportedClaimsEvaluator(**case.options).evaluate(
        query=QUESTION, response=case.response, contexts=case.evidence
    )
    assert found.passing is case.passed
    assert found.invalid_result is (case.passed is None)
    return Seen(None if found.score is None else 1 - found.score, found.feedback or "")


ADAPTERS: tuple[Callable[[Case], Seen], ...] = (
    *(by_mlflow, by_inspect_ai, by_deepeval, by_promptfoo, by_phoenix, by_langfuse, by_langsmith, by_weave),
    *(by_pydantic_evals, by_ragas, by_haystack, by_langchain, by_langchain_callback, by_llama_index),
)


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.__name__.removeprefix("by_"))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_adapter_says_the_same_of_an_answer(adapter: Callable[[Case], Seen], case: Case) -> None:
    seen = adapter(case)
    assert (seen.rate is None) == (case.problem is not None)
    if case.rate is not None:
        assert seen.rate == pytest.approx(case.rate)
    assert case.said in seen.said
