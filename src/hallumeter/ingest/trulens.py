"""TruLens: records with their feedback, one row each.

Written by ``session.get_records_and_feedback()`` and then ``to_json(orient="records")`` or ``to_csv``. Each feedback
has a column with its score and one, ``NAME_calls``, with the calls behind it. Groundedness scores 0 where there is
no statement, and a reply that could not be read has been -1 in many versions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.response import Response

from .documents import Document, Row
from .record import HIGHER, LOWER, ForeignRecord, Reading, Score, unmeasured
from .values import (
    evidence_of,
    fields_of,
    first_of,
    is_nothing,
    literal_of,
    mapping_of,
    mappings_of,
    number_of,
    text_of,
)

Call = Mapping[str, object]


CALLS = "_calls"
UNPARSABLE = -1.0
"""The score of a reply that could not be read."""
_GROUNDEDNESS = "groundedness"
_NO_STATEMENTS = re.compile(r"(?i)no (non-trivial )?statements|nothing to evaluate")
_STATEMENT = re.compile(
    r"STATEMENT (\d+):\s*(?:Criteria: (?P<criteria>.*?)\s*)?Supporting Evidence: (?P<evidence>.*?)\s*Score: (?P<score>"
    r"[-+.\d]+|nan|None)",
    re.DOTALL,
)
_OWN = frozenset(
    {
        *("app_id", "app_json", "app_name", "app_version", "type", "record_id", "input", "output", "record_json"),
        *("cost_json", "perf_json", "ts", "latency", "total_tokens", "total_cost", "events", "num_events", "tags"),
        *("conversation_id", "input_id", "eval_cost", "eval_cost_snowflake", "cost_currency", "sampled"),
        *("sample_rate", "eval_decision_reason"),
    }
)


def is_trulens(document: Document) -> bool:
    """Whether a file is such a table."""
    names = document.first.keys()
    return {"record_id", "input", "output"} <= names and any(name.endswith(CALLS) for name in names)


def read_trulens(documents: Sequence[Document], reading: Reading) -> Iterator[ForeignRecord]:
    """The records with their feedback, and with statements where groundedness gives its reasons."""
    rows = [row for document in documents for row in document.rows]
    names = list(dict.fromkeys(name for row in rows for name in row.values if name.endswith(CALLS)))
    feedback = [name.removesuffix(CALLS) for name in names]
    versions = len({text_of(row.values.get("app_version")) for row in rows})
    for row in rows:
        if not {"record_id", "output"} <= row.values.keys():
            reading.fault(row.place, "not_trulens", "expected record_id, input, output and the columns of feedback")
            continue
        for name in feedback:
            is_lower = "LOWER" in (text_of(row.values.get(f"{name} direction")) or "").upper()
            is_lower |= text_of(row.values.get(f"{name} direction")) in ("False", "false")
            reading.kinds[_metric(name)] = LOWER if is_lower else HIGHER
        yield _record(row, feedback, reading, is_one_version=versions < 2)


def _metric(name: str) -> str:
    return "trulens:" + "_".join(name.lower().split())


def _record(row: Row, feedback: Sequence[str], reading: Reading, *, is_one_version: bool) -> ForeignRecord:
    values = row.values
    app = " ".join(filter(None, (text_of(values.get("app_name")), text_of(values.get("app_version")))))
    calls = {name: _calls(values.get(f"{name}{CALLS}")) for name in feedback}
    known = {*_OWN, *feedback, *(f"{name}{CALLS}" for name in feedback), *(f"{name} direction" for name in feedback)}
    response = Response(
        record_id=text_of(values["record_id"]) or "record",
        question=_said(values.get("input")),
        response=_said(values.get("output")) or "",
        evidence=evidence_of(_source(calls)),
        model=None if is_one_version else app,
        fields=fields_of(
            {name: value for name, value in values.items() if name not in known and "feedback cost" not in name}
        ),
    )
    findings: list[tuple[Claim, Verdict | Failure]] = []
    for name in feedback:
        if _GROUNDEDNESS in name.lower():
            found = list(_findings(response.record_id, _metric(name), _statements(calls[name])))
            findings += found
            if found:
                reading.judges[_metric(name)] = "scores of 0.5 and more are SUPPORTED"
    scores = tuple(_score(name, values, calls[name]) for name in feedback if f"{name}{CALLS}" in values)
    claims, said = (tuple(column) for column in zip(*findings, strict=True)) if findings else ((), ())
    return ForeignRecord(response, claims, said, scores)


def _said(value: object) -> str | None:
    """A text, which older versions keep as JSON."""
    text = text_of(value)
    if text and text.startswith('"') and text.endswith('"'):
        found = literal_of(text)
        return found if isinstance(found, str) else text
    return text


def _calls(value: object) -> list[Call]:
    return mappings_of(value)


def _source(calls: Mapping[str, list[Call]]) -> object:
    """The evidence that groundedness was given."""
    given = [
        first_of(mapping_of(call.get("args")), "source", "context", "premise")
        for name, found in calls.items()
        if _GROUNDEDNESS in name.lower()
        for call in found
    ]
    return next((source for source in given if not is_nothing(source)), None)


def _reasons(call: Call) -> str:
    meta = mapping_of(call.get("meta"))
    return text_of(first_of(meta, "reasons", "reason", "explanation")) or ""


class _Statement(NamedTuple):
    text: str
    score: object
    note: str | None


def _statements(calls: list[Call]) -> list[_Statement]:
    """Statements and their scores: objects in newer versions, a text with headings in older ones."""
    found = []
    for call in calls:
        reasons = mapping_of(call.get("meta")).get("reasons")
        if isinstance(reasons, list):
            for row in mappings_of(reasons):
                note = text_of(row.get("supporting_evidence"))
                found.append(_Statement(text_of(row.get("criteria")) or "", row.get("score"), note))
        else:
            matches = _STATEMENT.finditer(_reasons(call).replace("\\n", "\n"))
            found += [
                _Statement((match["criteria"] or "").strip(), match["score"], match["evidence"].strip())
                for match in matches
            ]
    return found


def _findings(record_id: str, judge: str, statements: list[_Statement]) -> Iterator[tuple[Claim, Verdict | Failure]]:
    """Each statement, and what was said of it."""
    for number, statement in enumerate(statements):
        claim = Claim(record_id, f"{record_id}#{number}", text=statement.text or None)
        value = number_of(statement.score)
        if value is None or not 0 <= value <= 1:
            message = f"{record_id}: TruLens gave {statement.score} to this statement: its reply could not be read"
            yield claim, Failure(record_id, claim.claim_id, "judge", judge, "unreadable_reply", message)
        elif statement.text.strip():
            label = Label.SUPPORTED if value >= 0.5 else Label.NOT_ENOUGH_INFO
            yield claim, Verdict(record_id, claim.claim_id, judge, label, 1 - value, note=statement.note or None)


def _score(name: str, values: Mapping[str, object], calls: list[Call]) -> Score:
    metric = _metric(name)
    value = number_of(values.get(name))
    if value is None or math.isnan(value):
        return unmeasured(metric, "nan", "TruLens gave no score: the feedback failed, or did not run")
    if value == UNPARSABLE:
        return unmeasured(metric, "unreadable_reply", "TruLens gave -1, its mark of a reply that could not be read")
    statements = _statements(calls)
    is_empty = bool(statements) and not any(statement.text.strip() for statement in statements)
    if is_empty or any(_NO_STATEMENTS.search(_reasons(call)) for call in calls):
        return unmeasured(metric, "no_claims", f"TruLens gave {value:g} although there was no statement to check")
    unread = sum(number_of(statement.score) in (None, UNPARSABLE) for statement in statements)
    if unread:
        message = (
            f"TruLens gave {value:g}, leaving out {unread} of {len(statements)} statements that it could not grade"
        )
        return unmeasured(metric, "unreadable_reply", message)
    return Score(metric, value)
