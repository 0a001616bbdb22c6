"""LangSmith: an evaluator for `langsmith.evaluate`, and feedback on stored runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Unpack

from .checked_answer import UNSUPPORTED_RATE, AnswerParts, CheckedAnswer, Checker, CheckerOptions, PartsReader, missing

try:
    from langsmith import Client
    from langsmith.evaluation import EvaluationResult
    from langsmith.schemas import Example, Run
except ImportError as error:
    raise missing("langsmith", "LangSmith") from error

__all__ = ["give_feedback", "unsupported_claims"]


def unsupported_claims(
    *,
    key: str = UNSUPPORTED_RATE,
    map: Mapping[str, str] | None = None,
    **options: Unpack[CheckerOptions],
) -> Callable[[Run, Example | None], EvaluationResult]:
    """An evaluator: the share of an answer's claims that the evidence does not support, 0 is best.

    Evidence is looked for in the outputs and inputs of the run and of the example under the usual names, then in what
    retrievers of the run found. What cannot be measured has no score; `value` says which it is, such as
    ``no_evidence``, and `comment` why.

    Args:
        key: Of the feedback.
        map: Where else something is, such as ``{"evidence": "outputs.docs[].text"}``.
        options: The judge and its settings, see `CheckerOptions`.
    """
    checker, reader = Checker(options), PartsReader(map)

    def unsupported_claims(run: Run, example: Example | None = None) -> EvaluationResult:
        return EvaluationResult(key=key, **_feedback(checker(_parts(run, example, reader))))

    return unsupported_claims


def give_feedback(
    client: Client, runs: Iterable[Run], *, key: str = UNSUPPORTED_RATE, **options: Unpack[CheckerOptions]
) -> int:
    """Check the answers of stored runs and give each its feedback; returns how many.

    Args:
        client: Where feedback is sent to.
        runs: As `client.list_runs` or ``client.read_run(id, load_child_runs=True)`` return them; with their child runs
            the documents of retrievers are found.
        key: Of the feedback.
        options: The judge and its settings, see `CheckerOptions`.
    """
    checker, reader, given = Checker(options), PartsReader(), 0
    for run in runs:
        said = _feedback(checker(_parts(run, None, reader)))
        metadata = said.pop("metadata")
        place = {"session_id": run.session_id, "start_time": run.start_time}  # where LangSmith keeps the run
        client.create_feedback(run.id, key, source_info=metadata, **place, **said)
        given += 1
    return given


def _feedback(answer: CheckedAnswer) -> dict[str, Any]:
    return {
        "score": answer.unsupported_rate,
        "value": answer.problem,
        "comment": answer.explanation,
        "metadata": answer.metadata(),
    }


def _parts(run: Run, example: Example | None, reader: PartsReader) -> AnswerParts:
    values = {
        "outputs": run.outputs,
        "inputs": run.inputs,
        "example_inputs": example and example.inputs,
        "example_outputs": example and example.outputs,
        "retrieved": {"evidence": list(_retrieved(run))},
    }
    asked = ("inputs", "example_inputs", "example_outputs", "retrieved")
    return reader.parts(values, answer="outputs", asked=asked)


def _retrieved(run: Run) -> Iterator[object]:
    """The documents that retrievers among the child runs found."""
    for child in run.child_runs or []:
        if child.run_type == "retriever":
            yield from (child.outputs or {}).get("documents") or []
        yield from _retrieved(child)
