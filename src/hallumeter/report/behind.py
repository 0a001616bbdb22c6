"""Which records stand behind a number: the query that a page follows when a reader chooses it.

A query names one finding (label, votes, reason, kind, probability) and its record (model, fields, failure, engine,
status, badge). Where the findings that a metric counts cannot be picked out, its query names those it is counted among.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from hallumeter.metrics.catalog import METRICS

from .drawing import Json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hallumeter.records import MetricSummary

    from .document import ReasonCount

Query = dict[str, Json]
Part = Literal["value", "counted", "among", "undecided", "failed"]

NO_GROUP = "(none)"
"""The group of responses that lack a field."""
_ANY_PROBABILITY: Json = [0, 2]


class Behind(Struct, frozen=True):
    """What a metric counts, and among what."""

    counted: Query
    among: Query
    missed: Query | None = None
    """What keeps the value below 1, for a metric that counts what is right; it tells more than what is right."""


def _labels(label: str) -> Behind:
    return Behind({"label": label}, {"label": "decided"})


def _finding(kind: str, label: str) -> Behind:
    return Behind({"kind": kind, "label": label}, {"kind": kind})


def _right(kind: str, missed: str) -> Behind:
    return Behind({"kind": kind, "label": "SUPPORTED"}, {"kind": kind}, {"kind": kind, "label": missed})


def _dropped(reason: str) -> Behind:
    return Behind({"kind": "aspect", "reason": reason}, {"kind": "aspect"})


def _asked(answerable: str) -> Behind:
    fields: Query = {"fields": {"answerable": answerable}}
    return Behind(fields, fields)


def _pages(**counted: Json) -> Behind:
    return Behind(counted, {})


_TRUE, _CONSISTENT = _right("slot", "REFUTED"), _right("consistency", "REFUTED")
_USED, _INCLUDED = _right("slot_use", "NOT_ENOUGH_INFO"), _right("element", "NOT_ENOUGH_INFO")
_UNSAFE = _finding("rule", "REFUTED")
_ASPECTS = Behind({"kind": "aspect"}, {"kind": "aspect"})
_OUT_OF_TEXT, _MISPLACED, _OFF_TARGET = map(_dropped, ("out_of_text", "span_mismatch", "not_a_target"))

BEHIND: dict[str, Behind] = {
    "mihr": _labels("unsupported"),
    "mihr_refuted": _labels("REFUTED"),
    "mihr_mean": _labels("unsupported"),
    "mahr": _labels("unsupported"),
    "factscore": _labels("SUPPORTED"),
    "factscore_penalized": _labels("SUPPORTED"),
    "shannon_entropy": Behind({"probability": _ANY_PROBABILITY}, {"probability": _ANY_PROBABILITY}),
    "far": _asked("false"),
    "correct_refusal_rate": _asked("false"),
    "over_refusal_rate": _asked("true"),
    # Rates of characters, of words as a bag, and of whole pages speak of every page.
    **{metric.id: _pages() for metric in METRICS if metric.reads == "pages"},
    "true_insertion_rate": _pages(kind="insertion"),
    "invented_rate": _pages(kind="block"),
    "loop_rate": _pages(kind="loop"),
    "omission_rate": _pages(kind="omission"),
    "hallucinating_page_rate": _pages(badge=True),
    "empty_output_rate": _pages(status="empty_output"),
    "sfs": _TRUE,
    "sfs_pooled": _TRUE,
    "csp": _UNSAFE,
    "csp_pooled": _UNSAFE,
    "cus_improved": _USED,
    "cus_improved_pooled": _USED,
    "cus": _USED,
    "mcs": _CONSISTENT,
    "mcs_pooled": _CONSISTENT,
    "ass": _INCLUDED,
    "ass_pooled": _INCLUDED,
    "dialogue_score": _labels("unsupported"),
    "aspect_hallucination_rate": _finding("aspect", "unsupported"),
    "aspect_hallucination_rate_h1": _OUT_OF_TEXT,
    "aspect_hallucination_rate_h2": _MISPLACED,
    "filter_rejection_rate": _OFF_TARGET,
    "aspect_drop_rate": _finding("aspect", "unsupported"),
    "out_of_text_aspect_rate": _OUT_OF_TEXT,
    "misplaced_aspect_rate": _MISPLACED,
    "off_target_aspect_rate": _OFF_TARGET,
    "mean_offset_error": _MISPLACED,
    "offset_convention_rate": _MISPLACED,
    "span_ok_rate": _ASPECTS,
    "valid_aspect_rate": _ASPECTS,
    "final_out_of_text_rate": Behind({"kind": "final_aspect", "reason": "out_of_text"}, {"kind": "final_aspect"}),
    "parse_generate_failure_rate": Behind({"failure": True}, {}),
}
"""What stands behind each metric of the catalog that has records behind it."""
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
NO_RECORDS: dict[str, str] = {
    metric.id: _WHY_BY_KIND[metric.reads]
    for metric in METRICS
    if metric.id not in BEHIND and metric.id not in _VOTED and metric.reads in _WHY_BY_KIND
}
"""The metrics of the catalog without records behind them, and why."""


def query_behind(summary: MetricSummary, part: Part = "value", *, headline: str | None = None) -> Query | None:
    """The records behind a number: the value, what was counted, among what, undecided or failed; None without any.

    Labels are those of the headline judge; what another judge found is asked of its votes. A value that rests on
    nothing, such as a rate of 0, leads to all that it could have counted.

    >>> from hallumeter.records import MetricSummary
    >>> row = MetricSummary("mihr", {"model": "m", "topic": "tax"}, "human", 1, 2, 0.5, None, None, "lower", None,
    ...     0, 0, None, "mihr|v:1")
    >>> query_behind(row, headline="human")
    {'label': 'unsupported', 'model': 'm', 'fields': {'topic': 'tax'}}
    >>> query_behind(row, headline="consensus")["votes"]
    {'human': 'unsupported'}
    """
    found = _own_query(summary, part)
    if found is None:
        return None
    return _joined(_by_judge(found, summary.judge, headline=headline), group_query(summary.by))


def reason_query(row: ReasonCount, judge: str | None = None) -> Query:
    """The findings with a reason, of one judge or of all; a finding has a settled label, and each judge its own.

    >>> from hallumeter.records import Label
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


def mode_query(metric: str, mode: str) -> Query | None:
    """The answers of a mode that a metric speaks of.

    >>> mode_query("csp", "llm")
    {'kind': 'rule', 'label': 'REFUTED', 'model': 'llm'}
    """
    found = BEHIND.get(metric)
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


def _own_query(summary: MetricSummary, part: Part) -> Query | None:
    """What a metric asks for, whichever group and judge."""
    if part == "failed":
        return {"failure": True}
    is_of_pages = summary.metric in _PAGE_METRICS
    if part == "undecided":
        return {"status": "undecided"} if is_of_pages else {"label": "UNDECIDED"}
    if summary.metric in _VOTED and summary.judge is not None:
        return {"votes": {summary.judge: _VOTED[summary.metric]}}
    found = BEHIND.get(summary.metric)
    return None if found is None or summary.total == 0 else _part_of(found, summary, part)


def _part_of(found: Behind, summary: MetricSummary, part: Part) -> Query | None:
    if part == "among":
        return found.among
    if part == "counted":
        return found.counted if summary.count else None
    if found.missed is not None:
        return found.among if summary.count == summary.total else found.missed
    return found.among if summary.count == 0 else found.counted


_PAGE_METRICS = {metric.id for metric in METRICS if metric.reads == "pages"}


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
