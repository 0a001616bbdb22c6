"""The responses of a document in the short form that the page's own script reads.

Keys are one or two letters and empty ones are left out, because they are repeated for every claim. Names of
judges and passages of evidence are kept once and pointed to.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.records import Label
from hallumeter.report.aspects.payload import trace_payload
from hallumeter.report.segmentation import CONSENSUS
from hallumeter.report.verdicts.codes import REASON_WORDS
from hallumeter.report.wording import LABEL_WORDS, format_number

if TYPE_CHECKING:
    from hallumeter.records import Failure, Quote
    from hallumeter.report.document import FindingView, RecordSection, RecordView, VerdictView
    from hallumeter.report.drawing import Json
    from hallumeter.report.segmentation import Segment

LABEL_ORDER: tuple[Label | None, ...] = tuple(LABEL_WORDS)
"""Labels are written as positions in this order, worst first."""
_CODES: dict[Label | None, int] = {label: code for code, label in enumerate(LABEL_ORDER)}


class _Pool:
    """Strings kept once, each under a number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))

    def strings(self) -> list[Json]:
        return list(self.numbers)


class _Source(Struct, frozen=True):
    """What the words of one record can be read off, so that they are not written twice."""

    response: str
    passages: list[str]
    places: dict[str, int]
    """Where in the list the passage with a given name is."""
    judges: _Pool


def record_payload(section: RecordSection) -> dict[str, Json]:
    """Everything that the record browser needs."""
    judges, passages = _Pool(), _Pool()
    records: list[Json] = [_record(view, judges=judges, passages=passages) for view in section.records]
    codes = {verdict.reason for view in section.records for finding in view.findings for verdict in finding.verdicts}
    return {
        "labels": [
            {"name": "NO_VERDICT" if label is None else label.value, "words": words}
            for label, words in LABEL_WORDS.items()
        ],
        "consensus": CONSENSUS,
        "judges": judges.strings(),
        "passages": passages.strings(),
        "reasons": {code: words for code, words in sorted(REASON_WORDS.items()) if code in codes},
        "records": records,
    }


def _record(view: RecordView, *, judges: _Pool, passages: _Pool) -> dict[str, Json]:
    source = _Source(
        response=view.response or "",
        passages=[passage.text for passage in view.evidence],
        places={passage.evidence_id: place for place, passage in enumerate(view.evidence)},
        judges=judges,
    )
    return _without_empty(
        {
            "id": view.record_id,
            "m": view.model,
            "q": view.question,
            "t": None if view.segments is None else [_piece(piece) for piece in view.segments],
            "e": [
                [passage.evidence_id, passages.number(passage.text), passage.characters] for passage in view.evidence
            ],
            "g": view.reference,
            "x": {name: value for name, value in view.fields.items() if value is not None},
            "f": [_finding(finding, source) for finding in view.findings],
            "w": None if view.picked == "worst" else 1,
            "b": [_failure(failure) for failure in view.failures],
            "a": None if view.trace is None else trace_payload(view.trace, view.response or ""),
        }
    )


def _failure(failure: Failure) -> Json:
    """The claim, the judge, and what broke in one line."""
    broke = ": ".join(part for part in (failure.step, failure.code, failure.message) if part)
    attempts = f" ({failure.attempts} attempts)" if failure.attempts > 1 else ""
    return [failure.claim_id, failure.judge, broke + attempts]


def _piece(piece: Segment) -> Json:
    if not piece.findings:
        return piece.text
    return [piece.text, _CODES[piece.label], int(piece.is_pinpointed), list(piece.findings)]


def _finding(finding: FindingView, source: _Source) -> dict[str, Json]:
    start, words = finding.start, finding.text
    is_in_text = start is not None and words is not None and source.response[start : finding.end] == words
    return _without_empty(
        {
            "id": finding.claim_id,
            "l": _CODES[finding.label],
            "k": None if finding.kind == "claim" else finding.kind,
            "c": None if is_in_text else words,
            "s": [start, finding.end] if is_in_text else None,
            "n": None if finding.is_aligned else 1,
            "v": [_verdict(verdict, source, (start, finding.end)) for verdict in finding.verdicts],
        }
    )


def _verdict(verdict: VerdictView, source: _Source, claim: tuple[int | None, int | None]) -> dict[str, Json]:
    probability, confidence = verdict.unsupported_probability, verdict.confidence
    return _without_empty(
        {
            "j": source.judges.number(verdict.judge),
            "l": _CODES[verdict.label],
            "p": None if probability is None else format_number(probability),
            "c": None if confidence is None or _is_told(verdict) else format_number(confidence),
            "r": verdict.reason,
            "n": verdict.note,
            "s": None if (verdict.start, verdict.end) == claim else _span(verdict, source.response),
            "q": [_quote(quote, source) for quote in verdict.quotes],
            "u": verdict.cost_usd,
        }
    )


def _is_told(verdict: VerdictView) -> bool:
    """Whether the confidence is only the probability again, seen from the label."""
    probability, confidence = verdict.unsupported_probability, verdict.confidence
    if probability is None or confidence is None:
        return False
    seen = 1 - probability if verdict.label is Label.SUPPORTED else probability
    return math.isclose(seen, confidence, abs_tol=1e-9)


def _span(verdict: VerdictView, response: str) -> Json:
    """The part of the response that a judge pointed to, if the response has it."""
    start, end = verdict.start, verdict.end
    return [start, end] if start is not None and end is not None and start < end <= len(response) else None


def _quote(quote: Quote, source: _Source) -> Json:
    """Place of the passage, start, end; then what the page cannot read off: the words, the passage's name."""
    place = source.places.get(quote.evidence_id)
    if place is None:
        return [-1, None, None, quote.quote, quote.evidence_id]
    passage = source.passages[place]
    if quote.start is None or quote.end is None or quote.end > len(passage):
        return [place, None, None, quote.quote]
    is_same = quote.quote in {None, passage[quote.start : quote.end]}
    return [place, quote.start, quote.end, *([] if is_same else [quote.quote])]


def _without_empty(entries: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in entries.items() if value not in (None, [], {}, "")}
