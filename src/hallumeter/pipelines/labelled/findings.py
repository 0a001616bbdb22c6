"""What a run's judge said: of claims, or of whole responses where a tool gave nothing but a score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.errors import InputError, SettingsError
from hallumeter.records import Claim, Finding, Label, Verdict
from hallumeter.store import RunFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hallumeter.records import Response

    from .opened_run import OpenedRun

WHOLE = "response"
"""Kind and id of the claim that stands for a whole response."""
EVEN = 0.5
"""A response is flagged from this probability on."""


def judged_findings(run: OpenedRun, judge: str | None = None) -> Iterator[tuple[Response, tuple[Finding, ...]]]:
    """Every response with its findings; in a run without claims, with one for its score.

    A score between 0 and 1 that is better when it is higher (or lower) is the probability that the response is
    supported (or is not): the response is one claim, flagged below one half. `judge` names the metric.
    """
    folder = RunFolder(run.path)
    if has_claims(run):
        yield from folder.findings()
        return
    metric, is_higher_better = score_metric(run, judge)
    scores = {
        row.record_id: row.value
        for row in folder.measurements()
        if row.metric == metric and row.record_id is not None and row.value is not None
    }
    for response in folder.records():
        score = scores.get(response.record_id)
        if score is not None and not 0 <= score <= 1:
            raise InputError(f"{run.path}: {metric} of record {response.record_id!r} is {score}; expected 0 to 1")
        claim = whole_claim(response)
        judged = [] if score is None else [_verdict(claim, metric, score, is_higher_better=is_higher_better)]
        yield response, (Finding(claim, tuple(judged)),)


def whole_claim(response: Response) -> Claim:
    """The claim that stands for a whole response."""
    text = response.response
    start, end = (0, len(text)) if text else (None, None)
    return Claim(response.record_id, WHOLE, WHOLE, start, end, text)


def has_claims(run: OpenedRun) -> bool:
    """Whether the run has claims, and not scores of responses alone."""
    return bool(run.summary.counts.claims)


def score_metric(run: OpenedRun, chosen: str | None) -> tuple[str, bool]:
    """The score that stands for a judge in a run without claims, and whether more of it is better."""
    known = {row.metric: row.direction for row in run.summary.metrics if not row.by and row.direction != "none"}
    if chosen is not None and chosen not in known:
        raise SettingsError(f"the run has no score {chosen!r} with a better side; it has: {', '.join(known) or 'none'}")
    metric = chosen or next(iter(known), None)
    if metric is None:
        raise InputError(
            f"{run.path}: the run has no claims, and no score with a better side; nothing can be corrected"
        )
    return metric, known[metric] == "higher"


def _verdict(claim: Claim, metric: str, score: float, *, is_higher_better: bool) -> Verdict:
    probability = 1 - score if is_higher_better else score
    label = Label.SUPPORTED if probability < EVEN else Label.NOT_ENOUGH_INFO
    return Verdict(claim.record_id, claim.claim_id, metric, label, unsupported_probability=probability)
