"""RefChecker: responses with triplets or claims, and a label on each.

``refchecker-cli`` writes ``triplets`` (or ``claims``) beside ``ys``; its benchmark keeps ``response_kg`` lists of
triplets with a ``human_label``. A response without a triplet is "Abstain" there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hallumeter.formats.records import label_of
from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.response import Response

from .documents import Document, Row
from .record import ForeignRecord, Reading
from .values import evidence_of, fields_of, first_of, in_one_line, list_of, mapping_of, text_of

CHECKER, ANNOTATORS = "refchecker", "refchecker:annotators"
_CLAIMS = ("triplets", "claims")
_GRAPH = "response_kg"
_OWN = frozenset({"response", "question", "reference", "triplets", "claims", "ys", "Y", "id", "model", "context"})
_ORDER = (Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_INFO, Label.UNDECIDED)
"""Of several references the first that says so counts: RefChecker takes a claim as entailed if any entails it."""


def is_refchecker(document: Document) -> bool:
    """Whether a file holds checked triplets or claims."""
    row = document.first
    return "response" in row and (("ys" in row and bool(row.keys() & set(_CLAIMS))) or _graph(row) is not None)


def _graph(row: Mapping[str, object]) -> str | None:
    return next((name for name in row if name.endswith(_GRAPH) and isinstance(row[name], list)), None)


def read_refchecker(documents: Sequence[Document], reading: Reading) -> Iterator[ForeignRecord]:
    """The responses with their claims and labels."""
    for document in documents:
        for number, row in enumerate(document.rows, 1):
            values = row.values
            graph = _graph(values)
            if "response" not in values or (graph is None and "ys" not in values):
                reading.fault(row.place, "not_refchecker", "expected a response with triplets and ys")
                continue
            judge = CHECKER if graph is None else ANNOTATORS
            reading.judges[judge] = "its checker" if graph is None else "people"
            yield _record(row, number, judge=judge)


def _record(row: Row, number: int, *, judge: str) -> ForeignRecord:
    values = row.values
    record_id = text_of(values.get("id")) or str(number)
    texts, labels = _pairs(values)
    graph = _graph(values)
    response = Response(
        record_id=record_id,
        question=text_of(values.get("question")),
        response=text_of(values.get("response")) or "",
        evidence=evidence_of(first_of(values, "reference", "context")),
        model=text_of(values.get("model")),
        fields=fields_of({name: value for name, value in values.items() if name not in {*_OWN, graph}}),
    )
    claims = tuple(Claim(record_id, f"{record_id}#{place}", text=text) for place, text in enumerate(texts))
    said = tuple(
        _said(claim, labels[place] if place < len(labels) else None, judge) for place, claim in enumerate(claims)
    )
    claimless = None
    if not claims:
        said_instead = text_of(values.get("Y")) or "Abstain"
        message = f"{record_id}: RefChecker found nothing to check, which it calls {said_instead}"
        claimless = Failure(record_id, None, "extract", judge, "no_claims", message)
    return ForeignRecord(response, claims, said, claimless=claimless)


def _pairs(values: Mapping[str, object]) -> tuple[list[str], list[object]]:
    graph = _graph(values)
    if graph is None:
        given = next((values[name] for name in _CLAIMS if name in values), [])
        return [_claim_text(item) for item in list_of(given)], list_of(values.get("ys"))
    rows = [mapping_of(item) for item in list_of(values[graph])]
    texts = [_claim_text(first_of(row, "triplet", "claim", "content")) for row in rows]
    return texts, [first_of(row, "human_label", "label") for row in rows]


def _claim_text(item: object) -> str:
    """A triplet in one line; a claim as it is."""
    if isinstance(item, dict):
        item = first_of(item, "content", "triplet", "claim", "text")
    if isinstance(item, list):
        return " ".join(filter(None, map(text_of, item)))
    return text_of(item) or ""


def _said(claim: Claim, given: object, judge: str) -> Verdict | Failure:
    labels = [label_of(text_of(item) or "") for item in _flat(given)]
    found = next((label for label in _ORDER if label in labels), None)
    if found is None:
        found_instead = in_one_line(given, 60) or "nothing"
        message = f"{claim.record_id}: RefChecker kept no known label for {claim.text!r}: {found_instead}"
        return Failure(claim.record_id, claim.claim_id, "judge", judge, "missing_verdict", message)
    return Verdict(claim.record_id, claim.claim_id, judge, found)


def _flat(given: object) -> list[object]:
    """Labels by reference, and by passage of each."""
    if isinstance(given, list):
        return [label for item in given for label in _flat(item)]
    return [given]
