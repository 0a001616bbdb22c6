"""What is shown of one response: its text cut into pieces, its findings, its evidence."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from hallumeter.records import Quote

from .counting.tallies import tally_of
from .document import FindingView, PassageView, RecordView, VerdictView
from .segmentation import is_aligned, labelled_segments, settled_label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hallumeter.records import Failure, FieldValue, Finding, Label, Response, Verdict

    from .document import RecordFindings

PASSAGE_CHARACTERS = 20_000
"""A longer passage is cut, and says so; its quotations stay whole."""


def record_view(
    item: RecordFindings,
    *,
    picked: Literal["worst", "random"],
    headline: str | None = None,
    failures: tuple[Failure, ...] = (),
) -> RecordView:
    """A response ready to be shown, with the labels of the headline judge."""
    response = item.response
    text = response.response or ""
    passages = {passage.evidence_id: passage.text for passage in response.evidence}
    labels = [settled_label(finding, headline) for finding in item.findings]
    labelled = list(zip(item.findings, labels, strict=True))
    return RecordView(
        record_id=response.record_id,
        picked=picked,
        tally=tally_of(Counter(labels)),
        segments=None if response.response is None else tuple(labelled_segments(text, item.findings, labels)),
        findings=tuple(_finding_view(finding, text, passages=passages, label=label) for finding, label in labelled),
        model=response.model,
        question=response.question,
        evidence=tuple(
            PassageView(passage.evidence_id, passage.text[:PASSAGE_CHARACTERS], len(passage.text))
            for passage in response.evidence
        ),
        reference=response.reference,
        fields=shown_fields(response),
        failures=failures,
    )


def shown_fields(response: Response) -> dict[str, FieldValue]:
    """The fields of a response, and whether its question has an answer, where that is told.

    >>> from hallumeter.records import Response
    >>> shown_fields(Response("r1", answerable=False, fields={"topic": "tax"}))
    {'answerable': False, 'topic': 'tax'}
    """
    told: dict[str, FieldValue] = {} if response.answerable is None else {"answerable": response.answerable}
    return {**told, **response.fields}


def _finding_view(finding: Finding, text: str, *, passages: Mapping[str, str], label: Label | None) -> FindingView:
    claim, is_placed = finding.claim, is_aligned(finding, label, length=len(text))
    words = claim.text
    if words is None and claim.start is not None and claim.end is not None and is_placed:
        words = text[claim.start : claim.end]
    return FindingView(
        claim_id=claim.claim_id,
        label=label,
        verdicts=tuple(_verdict_view(verdict, passages) for verdict in finding.verdicts),
        kind=claim.kind,
        text=words,
        start=claim.start,
        end=claim.end,
        is_aligned=is_placed,
    )


def _verdict_view(verdict: Verdict, passages: Mapping[str, str]) -> VerdictView:
    return VerdictView(
        judge=verdict.judge,
        label=verdict.label,
        unsupported_probability=verdict.unsupported_probability,
        confidence=verdict.confidence,
        reason=verdict.reason,
        note=verdict.note,
        start=verdict.start,
        end=verdict.end,
        quotes=tuple(_with_words(quote, passages) for quote in verdict.evidence),
        cost_usd=verdict.cost_usd,
    )


def _with_words(quote: Quote, passages: Mapping[str, str]) -> Quote:
    """The quotation with its words, so that it can be read even where its passage is cut or missing."""
    passage = passages.get(quote.evidence_id)
    if quote.quote is not None or passage is None or quote.start is None or quote.end is None:
        return quote
    if quote.end > len(passage):
        return quote
    return Quote(quote.evidence_id, quote.start, quote.end, passage[quote.start : quote.end])
