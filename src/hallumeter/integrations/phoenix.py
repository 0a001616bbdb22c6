"""Arize Phoenix: an evaluator, and annotations on the spans of stored traces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Unpack

from hallumeter.formats.traces import documents_of

from .checked_answer import UNSUPPORTED_RATE, AnswerParts, Checker, CheckerOptions, PartsReader, missing

try:
    from phoenix.client import Client
    from phoenix.evals import Score, create_evaluator
    from phoenix.evals.evaluators import Evaluator
except ImportError as error:
    raise missing("phoenix", "Phoenix") from error

__all__ = ["annotate_spans", "unsupported_claims"]


def unsupported_claims(*, name: str = UNSUPPORTED_RATE, **options: Unpack[CheckerOptions]) -> Evaluator:
    """An evaluator of `output` against `context`: the share of claims that the context does not support.

    It takes the fields `input`, `output` and `context`, as Phoenix's own evaluators do. The label is ``supported``,
    ``unsupported``, ``refused`` or ``unmeasured``; what is unmeasured has no score, and the explanation says why.

    Args:
        name: Of the score.
        options: The judge and its settings, see `CheckerOptions`.
    """
    checker, reader = Checker(options), PartsReader()

    def scored(output: Any, context: Any = None, input: Any = None) -> Score:
        values = {"output": output, "context": {"evidence": context}, "input": input}
        answer = checker(reader.parts(values, answer="output", asked=("context", "input")))
        return Score(
            score=answer.unsupported_rate,
            label=answer.label,
            explanation=answer.explanation,
            metadata=answer.metadata(),
        )

    return create_evaluator(name=name, kind="code", direction="minimize")(scored)


def annotate_spans(
    client: Client,
    spans: Iterable[Mapping[str, Any]],
    *,
    name: str = UNSUPPORTED_RATE,
    **options: Unpack[CheckerOptions],
) -> int:
    """Check the answers of stored traces and annotate the spans that gave them; returns how many.

    Args:
        client: Where annotations are sent to.
        spans: As `client.spans.get_spans` returns them. The root span of a trace has the question and the answer; the
            evidence is what the retriever spans of the trace found.
        name: Of the annotation.
        options: The judge and its settings, see `CheckerOptions`.
    """
    checker = Checker(options)
    annotations = []
    for span_id, parts in _answers(list(spans)):
        answer = checker(parts)
        result = {"label": answer.label, "explanation": answer.explanation}
        if answer.unsupported_rate is not None:
            result["score"] = answer.unsupported_rate  # type: ignore[assignment]
        annotation = {"span_id": span_id, "name": name, "annotator_kind": "CODE", "result": result}
        annotations.append({**annotation, "metadata": answer.metadata()})
    if annotations:
        client.spans.log_span_annotations(span_annotations=annotations, sync=True)
    return len(annotations)


def _answers(spans: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, AnswerParts]]:
    """Root spans with their answers, and the documents of their traces."""
    documents: dict[str, list[object]] = {}
    for span in spans:
        if str(span.get("span_kind", "")).upper() == "RETRIEVER":
            found = documents_of(span.get("attributes") or {})
            documents.setdefault(span["context"]["trace_id"], []).extend(found)
    reader = PartsReader()
    for span in spans:
        attributes = span.get("attributes") or {}
        if span.get("parent_id") is None and "output.value" in attributes:
            values = {
                "output": attributes["output.value"],
                "input": attributes.get("input.value"),
                "retrieved": {"evidence": documents.get(span["context"]["trace_id"])},
            }
            asked = ("input", "retrieved")
            yield span["context"]["span_id"], reader.parts(values, answer="output", asked=asked)
