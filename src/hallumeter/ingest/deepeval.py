"""DeepEval: a test run, with the claims and verdicts that its verbose logs hold.

Written to ``results_folder`` or ``DEEPEVAL_RESULTS_FOLDER`` (``test_run_*.json``, or ``deepeval.db`` with
``DEEPEVAL_LOCAL_STORE=sqlite``), and to ``.deepeval/.latest_run_full.json``. A metric that found nothing to judge
scores a constant there: faithfulness 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from hallumeter.formats.records import spelled
from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.response import Response

from .documents import Document
from .record import HIGHER, ForeignRecord, Reading, Score, ScoreKind, unmeasured
from .values import (
    evidence_of,
    fields_of,
    first_of,
    in_one_line,
    literal_of,
    mapping_of,
    mappings_of,
    number_of,
    text_of,
)

Case = Mapping[str, object]


_LABELS = {
    "YES": Label.SUPPORTED,
    "NO": Label.REFUTED,
    **dict.fromkeys(("IDK", "BORDERLINE"), Label.NOT_ENOUGH_INFO),  # which DeepEval counts as faithful
}
_FAITHFULNESS = "faithfulness"
_BLOCK = r"{}:\n\[(?:\n    (.*?)\n)?\](?= ?\n|$)"


def is_deepeval(document: Document) -> bool:
    """Whether a file is a test run, or a database of them."""
    if {"test_runs", "test_cases", "metric_data"} <= document.tables:
        return True
    cases = mappings_of(mapping_of(document.value).get("testCases"))
    return bool(cases) and any("metricsData" in case or "actualOutput" in case for case in cases)


def read_deepeval(documents: Sequence[Document], reading: Reading) -> Iterator[ForeignRecord]:
    """The test cases with their scores, and with claims and verdicts where the logs have them."""
    cases = [
        (f"{document.name}, test case {number}", case)
        for document in documents
        for number, case in enumerate(_cases(document), 1)
    ]
    reading.kinds |= _kinds([case for _, case in cases])
    silent = 0
    for place, case in cases:
        if "metricsData" not in case:
            reading.fault(place, "no_metrics", "the test case has no metricsData, so nothing was measured on it")
            continue
        silent += _is_silent(case)
        yield _record(case, reading)
    if silent:
        reading.notice(
            f"{silent} faithfulness score{'s' * (silent > 1)} of 1 came without claims and may mean that there were"
            " none: run DeepEval with verbose_mode=True, so that they can be told apart"
        )


def _cases(document: Document) -> list[Case]:
    """The test cases of a run, or of all runs of a database in their order."""
    if not document.tables:
        return mappings_of(mapping_of(document.value).get("testCases"))
    rows = document.query("SELECT payload_json FROM test_runs ORDER BY id")
    runs = [mapping_of(literal_of(text_of(row["payload_json"]) or "")) for row in rows]
    return [case for run in runs for case in mappings_of(run.get("testCases"))]


def _kinds(cases: Sequence[Case]) -> dict[str, ScoreKind]:
    """Which way is better: higher, unless passing says otherwise (in older versions less hallucination was better)."""
    votes: dict[str, int] = {}
    for case in cases:
        for row in mappings_of(case.get("metricsData")):
            score, threshold = number_of(row.get("score")), number_of(row.get("threshold"))
            votes.setdefault(_name(row), 0)
            if score is not None and threshold is not None and score != threshold:
                votes[_name(row)] += 1 if row.get("success") is (score > threshold) else -1
    lower = ScoreKind("lower", 0.0, 1.0)
    return {f"deepeval:{name}": lower if vote < 0 else HIGHER for name, vote in votes.items()}


def _name(row: Case) -> str:
    return "_".join((text_of(row.get("name")) or "metric").lower().replace("[geval]", "").split())


def _is_silent(case: Case) -> bool:
    return any(
        _name(row) == _FAITHFULNESS and number_of(row.get("score")) == 1 and not row.get("verboseLogs")
        for row in mappings_of(case.get("metricsData"))
    )


def _record(case: Case, reading: Reading) -> ForeignRecord:
    response = Response(
        record_id=text_of(case.get("name")) or "case",
        question=text_of(case.get("input")),
        response=text_of(case.get("actualOutput")) or "",
        evidence=evidence_of(first_of(case, "retrievalContext", "context")),
        reference=text_of(case.get("expectedOutput")),
        fields=fields_of(mapping_of(case.get("metadata"))),
    )
    claims: tuple[Claim, ...] = ()
    said: tuple[Verdict | Failure, ...] = ()
    scores: list[Score] = []
    for row in mappings_of(case.get("metricsData")):
        name = _name(row)
        log = text_of(row.get("verboseLogs")) or ""
        if name == _FAITHFULNESS and log:
            reading.judges["deepeval:faithfulness"] = f"model {text_of(row.get('evaluationModel')) or 'not known'}"
            claims, said = _findings(response.record_id, log)
        scores.append(_score(f"deepeval:{name}", row, log))
    return ForeignRecord(response, claims, said, tuple(scores))


def _findings(record_id: str, log: str) -> tuple[tuple[Claim, ...], tuple[Verdict | Failure, ...]]:
    """Claims and verdicts stand in two lists, in the same order; a reply cut short has fewer verdicts."""
    texts, verdicts = _texts(log, "Claims"), _verdicts(log)
    claims = tuple(Claim(record_id, f"{record_id}#{number}", text=text) for number, text in enumerate(texts))
    judge = "deepeval:faithfulness"
    said: list[Verdict | Failure] = []
    for number, claim in enumerate(claims):
        row = verdicts[number] if number < len(verdicts) else {}
        label = _LABELS.get(spelled(text_of(row.get("verdict")) or ""))
        if label is None:
            counts = f"{len(verdicts)} readable verdicts on {len(claims)} claims"
            message = f"{record_id}: DeepEval kept {counts}: its reply was cut short"
            said.append(Failure(record_id, claim.claim_id, "judge", judge, "missing_verdict", message))
        else:
            said.append(Verdict(record_id, claim.claim_id, judge, label, note=text_of(row.get("reason"))))
    return claims, tuple(said)


def _texts(log: str, title: str) -> list[str]:
    """A list of texts as DeepEval prints it: in quotes, a line each, quotes within them not escaped."""
    found = re.search(_BLOCK.format(title), log, re.DOTALL)
    inner = found.group(1) if found else None
    return [] if not inner else inner.strip().removeprefix('"').removesuffix('"').split('",\n    "')


def _verdicts(log: str) -> list[Case]:
    found = re.search(_BLOCK.format("Verdicts"), log, re.DOTALL)
    return mappings_of(literal_of(f"[{found.group(1) or ''}]")) if found else []


def _score(metric: str, row: Case, log: str) -> Score:
    if row.get("error"):
        return unmeasured(metric, "tool_error", f"DeepEval's metric failed: {in_one_line(row['error'])}")
    value = number_of(row.get("score"))
    if value is None or math.isnan(value):
        return unmeasured(metric, "nan", "DeepEval gave no score")
    if "Verdicts:" in log and not _verdicts(log):
        return unmeasured(metric, "no_verdicts", f"DeepEval gave {value:g} although there was no verdict to count")
    missing = len(_texts(log, "Claims")) - len(_verdicts(log)) if "Claims:" in log else 0
    if missing > 0:
        message = f"DeepEval gave {value:g}, but {missing} of its claims have no verdict: a reply was cut short"
        return unmeasured(metric, "missing_verdict", message)
    return Score(metric, value)
