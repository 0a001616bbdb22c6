"""Langfuse: an evaluator for experiments, and scores for stored traces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Unpack

import msgspec

from hallumeter.formats.shapes import names_of

from .checked_answer import (
    UNSUPPORTED_RATE,
    AnswerParts,
    CheckedAnswer,
    Checker,
    CheckerOptions,
    PartsReader,
    missing,
)

try:
    from langfuse import Evaluation, Langfuse
    from langfuse.experiment import EvaluatorFunction
except ImportError as error:
    raise missing("langfuse", "Langfuse") from error

__all__ = ["score_traces", "unsupported_claims"]

MOST_OBSERVATIONS = 1000
"""That are asked for at once; Langfuse gives no more."""
WHOLE = ",".join((*names_of("evidence"), *names_of("question")))
"""Metadata that is wanted whole; of any other Langfuse gives the first 200 characters."""


def unsupported_claims(
    *,
    name: str = UNSUPPORTED_RATE,
    map: Mapping[str, str] | None = None,
    **options: Unpack[CheckerOptions],
) -> EvaluatorFunction:
    """An evaluator: the share of an answer's claims that the evidence does not support, 0 is best.

    Evidence is looked for in the output, the input, the metadata and the expected output under the usual names. What
    cannot be measured gets no score of this name, but one called ``NAME_problem``, a category such as ``no_evidence``
    with the reason as its comment.

    Args:
        name: Of the score.
        map: Where else something is, such as ``{"evidence": "metadata.docs[].text"}``.
        options: The judge and its settings, see `CheckerOptions`.
    """
    checker, reader = Checker(options), PartsReader(map)

    async def unsupported_claims(*, input: Any, output: Any, **given: Any) -> Evaluation:
        names = ("metadata", "expected_output")
        values = {"input": input, "output": output, **{each: given.get(each) for each in names}}
        parts = reader.parts(values, answer="output", asked=("input", *names))
        return Evaluation(**_score(await checker.in_thread(parts), name))

    return unsupported_claims


def _score(answer: CheckedAnswer, name: str) -> dict[str, Any]:
    rate = answer.unsupported_rate
    said = {"comment": answer.explanation, "metadata": answer.metadata()}
    if rate is None:
        return {"name": f"{name}_problem", "value": answer.problem, "data_type": "CATEGORICAL", **said}
    return {"name": name, "value": rate, "data_type": "NUMERIC", **said}


def score_traces(
    client: Langfuse, trace_ids: Iterable[str], *, name: str = UNSUPPORTED_RATE, **options: Unpack[CheckerOptions]
) -> int:
    """Check the answers of stored traces and score them; returns how many traces had an answer.

    The root observation of a trace has the question and the answer; the evidence is what its retriever observations
    found. Scores have an id of their own, so that scoring a trace again replaces the score of that name.

    Args:
        client: Where traces are read from, and scores sent to.
        trace_ids: Which traces.
        name: Of the scores.
        options: The judge and its settings, see `CheckerOptions`.
    """
    checker, scored = Checker(options), 0
    for trace_id in trace_ids:
        parts = _parts(_observations(client, trace_id))
        if parts is None:
            continue
        scored += 1
        score = _score(checker(parts), name)
        client.create_score(trace_id=trace_id, score_id=f"{trace_id}-{score['name']}", **score)
    client.flush()
    return scored


def _observations(client: Langfuse, trace_id: str) -> Iterator[Any]:
    """All steps of a trace, which may be on several pages."""
    wanted = {"trace_id": trace_id, "fields": "core,basic,io,metadata", "expand_metadata": WHOLE}
    cursor = None
    while True:
        page = client.api.observations.get_many(**wanted, limit=MOST_OBSERVATIONS, cursor=cursor)
        yield from page.data
        cursor = page.meta.cursor
        if not cursor:
            return


def _parts(observations: Iterable[Any]) -> AnswerParts | None:
    """The answer of a trace with its evidence; None for a trace without an answer."""
    root, evidence = None, []
    for each in observations:
        if each.parent_observation_id is None and root is None:
            root = each
        if each.type.upper() == "RETRIEVER" and each.output is not None:
            found = _decoded(each.output)
            evidence += found if isinstance(found, list) else [found]
    if root is None or root.output is None:
        return None
    values = {
        "output": _decoded(root.output),
        "input": _decoded(root.input),
        "retrieved": {"evidence": evidence},
        "metadata": root.metadata,
    }
    return PartsReader().parts(values, answer="output", asked=("input", "retrieved", "metadata"))


def _decoded(text: Any) -> Any:
    """What was stored; observations hold it as JSON, or as it is where it is no JSON."""
    try:
        return msgspec.json.decode(text) if isinstance(text, str) else text
    except msgspec.DecodeError:
        return text
