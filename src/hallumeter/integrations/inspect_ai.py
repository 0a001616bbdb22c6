"""Inspect AI: the scorer ``hallumeter/unsupported_claims`` and a metric with intervals that respect clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from hallumeter.stats.bootstrap import cluster_bootstrap_interval

from .checked_answer import AnswerParts, Checker, CheckerOptions, PartsReader, Problem, missing

try:
    from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
    from inspect_ai.solver import TaskState
except ImportError as error:
    raise missing("inspect-ai", "Inspect AI") from error

__all__ = ["unsupported_claims", "unsupported_rate"]

REASONS: dict[Problem, str] = {"refused": "refusal", "empty": "no_response", "judge_failed": "grader_failed"}
"""What Inspect calls these; the others keep our names."""


@metric
def unsupported_rate(cluster: str | None = None, seed: int = 0) -> Metric:
    """Rates over all samples with 95 % intervals, samples or clusters of them being the unit of resampling.

    ``mihr`` pools the claims of all samples, ``mihr_mean`` is the mean of the samples' own rates, and ``mahr`` the
    share of samples with an unsupported claim; each has ``_low`` and ``_high`` unless there are fewer than two
    clusters. With several epochs Inspect hands over the mean of a sample's rates alone, so that there is only
    ``mihr_mean`` then.

    Args:
        cluster: A key of the samples' metadata: those with the same value, such as a document, belong together.
        seed: Of the resampling.
    """

    def rates(scores: list[SampleScore]) -> dict[str, float | None]:
        if not scores:
            return {}
        clusters = _clusters(scores, cluster)
        values = np.array([score.score.as_float() for score in scores])
        each = np.ones_like(values)
        found = _rate("mihr_mean", values, each, clusters=clusters, seed=seed)
        counts = [_counted(score) for score in scores]
        if all(pair is not None for pair in counts):
            unsupported, decided = np.array(counts, dtype=np.float64).T
            pooled = _rate("mihr", unsupported, decided, clusters=clusters, seed=seed)
            found = pooled | found | _rate("mahr", np.sign(unsupported), each, clusters=clusters, seed=seed)
        return found

    return rates


def _clusters(scores: Sequence[SampleScore], key: str | None) -> np.ndarray[Any, np.dtype[np.intp]]:
    if key is None:
        return np.arange(len(scores))
    named = [(score.sample_metadata or {}).get(key) for score in scores]
    if None in named:
        raise ValueError(f"sample {scores[named.index(None)].sample_id} has no {key!r} in its metadata")
    numbers = {name: number for number, name in enumerate(dict.fromkeys(map(str, named)))}
    return np.array([numbers[str(name)] for name in named])


def _counted(sample: SampleScore) -> tuple[int, int] | None:
    """Unsupported and decided claims of a sample, unless its value is something else than their ratio."""
    metadata = sample.score.metadata or {}
    unsupported, decided = metadata.get("unsupported"), metadata.get("decided")
    if not decided or unsupported is None or abs(unsupported / decided - sample.score.as_float()) > 1e-9:
        return None
    return unsupported, decided


def _rate(
    name: str, counts: Any, totals: Any, *, clusters: np.ndarray[Any, np.dtype[np.intp]], seed: int
) -> dict[str, float | None]:
    by_cluster = np.bincount(clusters, counts), np.bincount(clusters, totals)
    interval = cluster_bootstrap_interval(*by_cluster, rng=np.random.default_rng(seed))
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return {name: float(counts.sum() / totals.sum()), f"{name}_low": low, f"{name}_high": high}


@scorer(metrics=[unsupported_rate()])
def unsupported_claims(*, map: Mapping[str, str] | None = None, **options: Unpack[CheckerOptions]) -> Scorer:
    """Scores a sample with the share of its answer's claims that the evidence does not support, 0 is best.

    Evidence is the first of: what `map` names; the metadata of the sample under a usual name (``context``,
    ``documents``, ...); what tools said in the conversation. The target is evidence only if `map` says so. A sample
    that cannot be measured is unscored, with the reason, and in no metric.

    Args:
        map: Where evidence is, such as ``{"evidence": "metadata.docs[].text"}`` or ``{"evidence": "target"}``.
        options: The judge and its settings, see `CheckerOptions`.
    """
    checker, reader = Checker(options), PartsReader(map)

    async def score(state: TaskState, target: Target) -> Score:
        answer = await checker.in_thread(_parts(state, target, reader))
        counts = answer.counts
        metadata = {**answer.metadata(), "decided": counts["supported"] + counts["unsupported"]}
        said = {"answer": state.output.completion, "explanation": answer.explanation, "metadata": metadata}
        if answer.problem is not None:
            return Score.unscored(reason=REASONS.get(answer.problem, answer.problem), **said)
        return Score(value=answer.unsupported_rate, **said)

    return score


def _parts(state: TaskState, target: Target, reader: PartsReader) -> AnswerParts:
    values = {
        "output": state.output.completion,
        "input": {"question": state.input_text},
        "metadata": state.metadata,
        "tools": {"evidence": [message.text for message in state.messages if message.role == "tool"]},
        "target": list(target),
    }
    return reader.parts(values, answer="output", asked=("input", "metadata", "tools"))
