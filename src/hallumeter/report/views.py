"""What is shown of one response: its text cut into pieces, its findings, its evidence."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from hallumeter.records import Quote

from .counting.tallies import tally_of
from .document import FindingView, PassageView, RecordView, VerdictView
from .segmentation import aligned_findings, segments, settled_label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hallumeter.records import Failure, Finding, Label, Verdict

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
    aligned = aligned_findings(text, item.findings, headline)
    return RecordView(
        record_id=response.record_id,
        picked=picked,
        tally=tally_of(Counter(settled_label(finding, headline) for finding in item.findings)),
        segments=None if response.response is None else tuple(segments(text, item.findings, headline)),
        findings=tuple(
            _finding_view(
                finding, text, passages=passages, label=settled_label(finding, headline), is_aligned=position in aligned
            )
            for position, finding in enumerate(item.findings)
        ),
        model=response.model,
        question=response.question,
        evidence=tuple(
            PassageView(passage.evidence_id, passage.text[:PASSAGE_CHARACTERS], len(passage.text))
            for passage in response.evidence
        ),
        reference=response.reference,
        fields=response.fields,
        failures=failures,
    )


def _finding_view(
    finding: Finding, text: str, *, passages: Mapping[str, str], label: Label | None, is_aligned: bool
) -> FindingView:
    claim = finding.claim
    words = claim.text
    if words is None and claim.start is not None and claim.end is not None and is_aligned:
        words = text[claim.start : claim.end]
    return FindingView(
        claim_id=claim.claim_id,
        label=label,
        verdicts=tuple(_verdict_view(verdict, passages) for verdict in finding.verdicts),
        kind=claim.kind,
        text=words,
        start=claim.start,
        end=claim.end,
        is_aligned=is_aligned,
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
