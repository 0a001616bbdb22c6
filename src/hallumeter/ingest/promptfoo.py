"""promptfoo: the results of an evaluation, one per test, prompt and provider, with every assertion's score.

Written by ``promptfoo eval -o results.json`` or ``-o results.jsonl``. A grader that fails scores 0 there, with the
reason in words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from hallumeter.formats.shapes import evidence_in, names_of, text_in
from hallumeter.records.claim import Failure
from hallumeter.records.response import Response

from .documents import Document, Row
from .record import HIGHER, ForeignRecord, Reading, Score, unmeasured
from .values import evidence_of, fields_of, first_of, in_one_line, mapping_of, mappings_of, number_of, text_of

Result = Mapping[str, object]

ERROR = 2
"""`failureReason` of a test whose provider failed; 1 is an assertion that did not pass."""
_GRADED = re.compile(
    r"context-|model-graded|llm-rubric|factuality|answer-relevance|g-eval|closedqa|classifier|similar|select-best"
    r"|search-rubric|agent-rubric|pi$|moderation|conversation-relevance|trajectory"
)
"""Types of assertions that ask a model, and so may fail to measure."""
_GRADER_FAILED = re.compile(
    r"(?i)no output\b|could not|cannot parse|failed to|unable to|unexpected|invalid (json|output|response|format)"
    r"|error|timed? ?out|rate limit|not (found|parsed)|no json|malformed|grader returned no|did not return|"
    r"evaluation failed|refused"
)


def is_promptfoo(document: Document) -> bool:
    """Whether a file holds such results."""
    value = mapping_of(document.value)
    if "evalId" in value or isinstance(mapping_of(value.get("results")).get("results"), list):
        return True
    return {"gradingResult", "testCase", "promptIdx"} <= document.first.keys()


def read_promptfoo(documents: Sequence[Document], reading: Reading) -> Iterator[ForeignRecord]:
    """The results with the scores of their assertions."""
    rows = [row for document in documents for row in _rows(document)]
    providers = len({_provider(values) for _, values in rows})
    prompts = len({text_of(values.get("promptIdx")) for _, values in rows})
    for place, values in rows:
        if "testIdx" not in values and "vars" not in values:
            reading.fault(place, "not_promptfoo", "expected a result with testIdx, vars and response")
            continue
        record = _record(values, is_one_provider=providers == 1, is_one_prompt=prompts == 1)
        reading.kinds |= dict.fromkeys((score.metric for score in record.scores), HIGHER)
        yield record


def _rows(document: Document) -> list[Row] | list[tuple[str, Result]]:
    if document.rows:
        return document.rows
    results = mapping_of(document.value).get("results")
    found = results if isinstance(results, list) else mapping_of(results).get("results")
    return [(f"{document.name}, result {number}", row) for number, row in enumerate(mappings_of(found), 1)]


def _provider(values: Result) -> str | None:
    provider = values.get("provider")
    if isinstance(provider, dict):
        return text_of(first_of(provider, "label", "id"))
    return text_of(provider)


def _record(values: Result, *, is_one_provider: bool, is_one_prompt: bool) -> ForeignRecord:
    variables, provider = mapping_of(values.get("vars")), _provider(values)
    name = text_of(mapping_of(values.get("testCase")).get("description")) or f"test {text_of(values.get('testIdx'))}"
    parts = [name]
    if not is_one_prompt:
        parts.append(f"prompt {text_of(values.get('promptIdx'))}")
    if not is_one_provider:
        parts.append(provider or "provider")
    shown = {
        key: value for key, value in variables.items() if key not in (*names_of("evidence"), *names_of("question"))
    }
    response = Response(
        record_id=" / ".join(parts),
        question=text_of(text_in("question", variables) or mapping_of(values.get("prompt")).get("raw")),
        response=text_of(mapping_of(values.get("response")).get("output")) or "",
        evidence=evidence_of(evidence_in(variables)),
        model=provider,
        fields=fields_of(shown),
    )
    grading = values.get("gradingResult")
    if number_of(values.get("failureReason")) == ERROR or (grading is None and values.get("error")):
        message = f"promptfoo scored 0, but the provider failed: {in_one_line(values.get('error'))}"
        return ForeignRecord(
            response, error=Failure(response.record_id, None, "measure", None, "provider_error", message)
        )
    return ForeignRecord(response, scores=_scores(mapping_of(grading)))


def _scores(grading: Result) -> tuple[Score, ...]:
    """One score per assertion; the second of a kind is numbered."""
    scores: dict[str, Score] = {}
    for row in mappings_of(grading.get("componentResults")):
        assertion = mapping_of(row.get("assertion"))
        kind = text_of(assertion.get("type")) or "assertion"
        wanted = f"promptfoo:{text_of(assertion.get('metric')) or kind}"
        metric, number = wanted, 2
        while metric in scores:
            metric, number = f"{wanted}#{number}", number + 1
        scores[metric] = _score(metric, kind, row)
    return tuple(scores.values())


def _score(metric: str, kind: str, row: Result) -> Score:
    value, reason = number_of(row.get("score")), text_of(row.get("reason")) or ""
    if value is None or math.isnan(value):
        return unmeasured(metric, "nan", "promptfoo gave no score")
    if value == 0 and _GRADED.search(kind) and _GRADER_FAILED.match(reason.strip()):
        return unmeasured(metric, "grader_failed", f"promptfoo scored 0, but its grader failed: {in_one_line(reason)}")
    return Score(metric, value)
