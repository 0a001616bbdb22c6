"""Which records stand behind a number: the query that a page follows when a reader chooses it.

A query names one finding (label, votes, reason, kind, probability) and its record (model, fields, failure, engine,
status, badge). Where the findings that a metric counts cannot be picked out, its query names those it is counted among.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from hallumeter.instruments import all_instruments, all_metrics
from hallumeter.records.measurement import MetricSummary

from .document import ReasonCount
from .drawing import Json
from .presentation import Behind, Query, presentation_of

Part = Literal["value", "counted", "among", "undecided", "failed"]

NO_GROUP = "(none)"
"""The group of responses that lack a field."""


_VOTED = {"judge_sensitivity": "unsupported", "judge_specificity": "SUPPORTED"}
"""Metrics of single judges: the label that the judge gave."""
_WHY_BY_KIND = {
    "support": "claims of different models are matched with each other; the match is no part of a finding",
    "ratings": "agreement is a property of all votes together",
    "distributions": "the answers of repeated inference are not kept with a finding",
    "meanings": "the other answers of the model are not shown in a report",
    "token_logprobs": "the probabilities of tokens are not shown in a report",
    "aspects": "stages, sentiments, debates and results against gold are no findings; scorecards.jsonl has them",
    "aspect_cases": "runs are compared with each other as wholes",
    "blame": "what a step did is no finding; blame.csv has it",
}


def all_behind() -> dict[str, Behind]:
    """What stands behind each metric of every instrument that has records behind it."""
    found: dict[str, Behind] = {}
    for instrument in all_instruments():
        found |= presentation_of(next(iter(instrument.runs))).behind
    return found


def no_records() -> dict[str, str]:
    """The metrics without records behind them, and why."""
    behind = all_behind()
    return {
        metric.id: _WHY_BY_KIND[metric.reads]
        for metric in all_metrics().values()
        if metric.id not in behind and metric.id not in _VOTED and metric.reads in _WHY_BY_KIND
    }


def query_behind(
    summary: MetricSummary,
    part: Part = "value",
    *,
    headline: str | None = None,
    behind: Mapping[str, Behind] | None = None,
) -> Query | None:
    """The records behind a number: the value, what was counted, among what, undecided or failed; None without any.

    Labels are those of the headline judge; what another judge found is asked of its votes. A value that rests on
    nothing, such as a rate of 0, leads to all that it could have counted. `behind` is what stands behind the metrics of
    the instruments at hand; None stands for all of them.

    >>> from hallumeter.records.measurement import MetricSummary
    >>> row = MetricSummary("mihr", {"model": "m", "topic": "tax"}, "human", 1, 2, 0.5, None, None, "lower", None,
    ...     0, 0, None, "mihr|v:1")
    >>> query_behind(row, headline="human")
    {'label': 'unsupported', 'model': 'm', 'fields': {'topic': 'tax'}}
    >>> query_behind(row, headline="consensus")["votes"]
    {'human': 'unsupported'}
    """
    found = _own_query(summary, part, all_behind() if behind is None else behind)
    if found is None:
        return None
    return _joined(_by_judge(found, summary.judge, headline=headline), group_query(summary.by))


def reason_query(row: ReasonCount, judge: str | None = None) -> Query:
    """The findings with a reason, of one judge or of all; a finding has a settled label, and each judge its own.

    >>> from hallumeter.records.claim import Label
    >>> from hallumeter.report.document import ReasonCount
    >>> row = ReasonCount(Label.REFUTED, "number_mismatch", 3, {"human": 1, "rules": 2})
    >>> reason_query(row, "rules"), reason_query(row)
    ({'votes': {'rules': 'REFUTED'}, 'reason': 'number_mismatch'}, {'reason': 'number_mismatch'})
    """
    if judge is None and len(row.judges) == 1:
        judge = next(iter(row.judges))
    if judge is not None:
        return {"votes": {judge: row.label.value}, "reason": row.reason}
    return {"label": row.label.value, "reason": None} if row.reason is None else {"reason": row.reason}


def mode_query(metric: str, mode: str, *, behind: Mapping[str, Behind] | None = None) -> Query | None:
    """The answers of a mode that a metric speaks of.

    >>> mode_query("csp", "llm")
    {'kind': 'rule', 'label': 'REFUTED', 'model': 'llm'}
    """
    found = (all_behind() if behind is None else behind).get(metric)
    return None if found is None else _joined(found.missed or found.counted, {"model": mode})


def group_query(by: Mapping[str, str]) -> Query:
    """The records of a group; a field that they lack is asked for by null.

    >>> group_query({"engine": "tesseract", "script": "(none)"})
    {'engine': 'tesseract', 'fields': {'script': None}}
    """
    query: Query = {}
    fields: dict[str, Json] = {}
    for name, group in by.items():
        value = None if group == NO_GROUP else group
        if name in {"model", "mode"}:
            query["model"] = value
        elif name == "engine":
            query["engine"] = value
        else:
            fields[name] = value
    return {**query, **({"fields": fields} if fields else {})}


def _own_query(summary: MetricSummary, part: Part, behind: Mapping[str, Behind]) -> Query | None:
    """What a metric asks for, whichever group and judge."""
    if part == "failed":
        return {"failure": True}
    found = behind.get(summary.metric)
    if part == "undecided":
        return {"label": "UNDECIDED"} if found is None else found.undecided
    if summary.metric in _VOTED and summary.judge is not None:
        return {"votes": {summary.judge: _VOTED[summary.metric]}}
    return None if found is None or summary.total == 0 else _part_of(found, summary, part)


def _part_of(found: Behind, summary: MetricSummary, part: Part) -> Query | None:
    if part == "among":
        return found.among
    if part == "counted":
        return found.counted if summary.count else None
    if found.missed is not None:
        return found.among if summary.count == summary.total else found.missed
    return found.among if summary.count == 0 else found.counted


def _by_judge(query: Query, judge: str | None, *, headline: str | None) -> Query:
    """The same of one judge's votes, where the labels of findings are another's."""
    if judge is None:
        return query
    if "probability" in query:
        return {**query, "judge": judge}
    if judge == headline or "label" not in query:
        return query
    others: Query = {name: value for name, value in query.items() if name != "label"}
    return {**others, "votes": {judge: query["label"]}}


def _joined(query: Query, group: Query) -> Query:
    """Both together; the fields of both are asked for."""
    own, grouped = query.get("fields"), group.get("fields")
    joined = {**query, **group}
    if isinstance(own, dict) and isinstance(grouped, dict):
        joined["fields"] = {**own, **grouped}
    return joined
