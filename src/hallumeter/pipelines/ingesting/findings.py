"""Claims and verdicts of another tool, given a place in the response where they have none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from hallumeter.extractors import Aligner, SentenceExtractor
from hallumeter.records import Claim, Failure, Label, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hallumeter.formats.foreign import ForeignRecord, Span, Spans
    from hallumeter.records import Response

_SENTENCES = SentenceExtractor()


class Findings(NamedTuple):
    """The claims of a record, and what was said of them."""

    claims: tuple[Claim, ...]
    said: tuple[Verdict | Failure, ...]
    claimless: Failure | None = None
    """Why there is no claim."""


def findings_of(record: ForeignRecord) -> Findings:
    """The claims that a tool judged; where it marked spans, the sentences that they do and do not touch."""
    if record.spans is not None:
        return _of_spans(record.response, record.spans)
    claims = tuple(_placed(record.claims, record.response.response or ""))
    places = {claim.claim_id: claim for claim in claims}
    said = tuple(
        structs.replace(item, start=places[item.claim_id].start, end=places[item.claim_id].end)
        if isinstance(item, Verdict)
        else item
        for item in record.said
    )
    return Findings(claims, said, record.claimless)


def _placed(claims: Sequence[Claim], text: str) -> Iterator[Claim]:
    """Claims where their words stand; a tool that puts them in words of its own leaves many without a place."""
    aligner = Aligner(text)
    after = 0
    for claim in claims:
        place = aligner.place_of(claim.text, after) if claim.text else None
        if place is None:
            yield claim
        else:
            after = place[1]
            yield structs.replace(claim, start=place[0], end=place[1])


def _of_spans(response: Response, spans: Spans) -> Findings:
    claims = _SENTENCES.extract(response)
    loose = [
        span
        for span in spans.marked
        if not any(_touches(span, claim) for claim in claims)  # such as a span within a heading or a question
    ]
    claims += [
        Claim(
            response.record_id,
            f"{response.record_id}#{len(claims) + number}",
            start=span.start,
            end=span.end,
            text=(response.response or "")[span.start : span.end],
        )
        for number, span in enumerate(loose)
    ]
    claims.sort(key=lambda claim: claim.start or 0)
    said = tuple(_said(claim, [span for span in spans.marked if _touches(span, claim)], spans) for claim in claims)
    return Findings(tuple(claims), said, None if claims else _claimless(response, spans.judge))


def _claimless(response: Response, judge: str) -> Failure:
    is_empty = not (response.response or "").strip()
    why = "is empty" if is_empty else "states nothing"
    message = f"{response.record_id}: the response {why}, so that the absence of marks tells nothing"
    code = "empty_response" if is_empty else "no_claims"
    return Failure(response.record_id, None, "extract", judge, code, message)


def _touches(span: Span, claim: Claim) -> bool:
    assert claim.start is not None
    assert claim.end is not None
    return span.start < claim.end and claim.start < span.end


def _said(claim: Claim, marked: Sequence[Span], spans: Spans) -> Verdict | Failure:
    """What the marks say of a sentence: refuted if one of them does, and where the first of that kind stands."""
    judge = spans.judge
    if not marked and spans.unplaced:
        message = f"{claim.record_id}: {spans.unplaced} marks do not fit into the response and may mean this sentence"
        return Failure(claim.record_id, claim.claim_id, "judge", judge, "unplaced_span", message)
    if not marked:
        return Verdict(claim.record_id, claim.claim_id, judge, Label.SUPPORTED, start=claim.start, end=claim.end)
    assert claim.start is not None
    assert claim.end is not None
    label = Label.REFUTED if any(span.label is Label.REFUTED for span in marked) else Label.NOT_ENOUGH_INFO
    first = next(span for span in marked if span.label is label)
    probabilities = [span.probability for span in marked if span.probability is not None]
    notes = [span.note for span in marked if span.note]
    return Verdict(
        claim.record_id,
        claim.claim_id,
        judge,
        label,
        max(probabilities, default=None),
        reason=first.reason,
        start=max(first.start, claim.start),
        end=min(first.end, claim.end),
        note="\n".join(notes) or None,
    )
