"""One pass over all responses: count everything, keep the worst and a random few, in bounded memory."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import numpy as np
from msgspec import Struct

from hallumeter.records.claim import Failure, Finding, Label, Verdict
from hallumeter.records.response import FieldValue, Quote, Response

from .document import FindingView, PassageView, RecordFindings, RecordView, VerdictView
from .findings import FindingPicker
from .segmentation import is_aligned, labelled_segments, settled_label
from .tallies import Tallies, tally_of

# What is shown of one response: its text cut into pieces, its findings, its evidence.

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

    >>> from hallumeter.records.response import Response
    >>> shown_fields(Response("r1", answerable=False, fields={"topic": "tax"}))
    {'answerable': False, 'topic': 'tax'}
    """
    stated: dict[str, FieldValue] = {} if response.answerable is None else {"answerable": response.answerable}
    return {**stated, **response.fields}


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


ROWS_KEPT = 6_000


class Limits(Struct, frozen=True):
    """How much of a run a document holds; what is beyond is counted, never silently dropped."""

    worst: int = 900
    """Responses with most unsupported claims."""
    random: int = 100
    """Further responses drawn at random."""
    bytes: int = 16_000_000
    """Size of all responses, findings and distinct passages as JSON; a page packs it and takes what fits."""
    pages: int = ROWS_KEPT
    """Rows of the table of pages, where there is one; more would make the page slow to open."""
    failures: int = 50
    seed: int = 0
    """Of the random draw."""


class Selection(Struct, frozen=True):
    """The responses to show, each group in its order, and what was counted over all of them."""

    worst: tuple[RecordFindings, ...]
    random: tuple[RecordFindings, ...]
    tallies: Tallies
    picker: FindingPicker
    """The most certain findings."""


def select(
    records: Iterable[RecordFindings],
    limits: Limits,
    *,
    tallies: Tallies,
    picker: FindingPicker,
    severity: Callable[[RecordFindings], tuple[float, float, float]] | None = None,
    sharer: Callable[[RecordFindings], str] | None = None,
) -> Selection:
    """Keep the responses with most unsupported claims, and a uniform sample of the others; count all of them.

    Ties go to the higher unsupported share, then to more unmeasured claims, then to the earlier response; `severity`
    puts another order in their place. `sharer` names whose response it is: all who have any get an equal share of the
    worst. Memory holds `worst + random` responses, however many there are.
    """
    picking = _Picking(limits)
    for item in records:
        unsupported, decided, unmeasured = tallies.add(item)
        share = unsupported / decided if decided else 0.0
        if unsupported:
            picker.offer(item)
        weight = severity(item) if severity else (unsupported, share, unmeasured)
        picking.offer(item, weight, sharer(item) if sharer else "")
    tallies.finish()
    return Selection(picking.worst(), picking.random(), tallies, picker)


_Entry = tuple[tuple[float, float, float, int], RecordFindings]


class _Picking:
    """The responses to keep, while more are being offered."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._rng = np.random.default_rng(limits.seed)
        self._heaps: dict[str, list[_Entry]] = {}
        self._kept = 0
        self._largest = 0
        """Of the sizes of the heaps."""
        self._sample: list[tuple[int, RecordFindings]] = []
        self._offered = 0

    def offer(self, item: RecordFindings, weight: tuple[float, float, float], sharer: str) -> None:
        entry = ((*weight, -self._offered), item)
        self._offered += 1
        heap = self._heaps.setdefault(sharer, [])
        if self._kept < self._limits.worst:
            heapq.heappush(heap, entry)
            self._kept += 1
            self._largest = max(self._largest, len(heap))
            return
        # Whoever leaves a heap, or never enters it, is offered to the sample exactly once: it stays uniform.
        key, out = heapq.heappushpop(heap, entry) if len(heap) >= self._largest else self._exchanged(heap, entry)
        passed_over = self._offered - self._limits.worst
        is_room = len(self._sample) < self._limits.random
        slot = len(self._sample) if is_room else int(self._rng.random() * passed_over)
        if slot < self._limits.random:
            self._sample[slot : slot + 1] = [(-key[3], out)]

    def _exchanged(self, heap: list[_Entry], entry: _Entry) -> _Entry:
        """Give one who has less than others a place of one who has most: the mildest there."""
        fullest = [other for other in self._heaps.values() if len(other) == self._largest]
        out = heapq.heappop(min(fullest, key=lambda other: other[0][0]))
        heapq.heappush(heap, entry)
        self._largest = max(map(len, self._heaps.values()))
        return out

    def worst(self) -> tuple[RecordFindings, ...]:
        kept = (entry for heap in self._heaps.values() for entry in heap)
        return tuple(item for _, item in sorted(kept, key=lambda entry: entry[0], reverse=True))

    def random(self) -> tuple[RecordFindings, ...]:
        return tuple(item for _, item in sorted(self._sample, key=lambda entry: entry[0]))
