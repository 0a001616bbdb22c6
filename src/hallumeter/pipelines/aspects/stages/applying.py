"""Patches the result of stage 1: proposals of the validator first, then the reviews; every request leaves an entry."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from hallumeter.records.aspects import (
    AspectReview,
    AspectSentiment,
    AspectTerm,
    Correction,
    CorrectionProposal,
    SentimentReview,
)

from .changes import Memory, carried_out
from .draft import Draft
from .read_sentence import ReadSentence
from .requests import Request, proposal_kind, request_of_aspect_item, request_of_proposal, request_of_sentiment_item
from .terms import anchor_of

FRESH_LIST = "a fresh list is no review"


class Patched(Struct, frozen=True):
    """A draft after a step, and the step's entries."""

    draft: Draft
    log: tuple[Correction, ...] = ()


class Anchored(Struct, frozen=True):
    """A draft whose sentiments all belong to an aspect, or to none by name."""

    draft: Draft
    notes: tuple[str, ...] = ()


def with_proposals(draft: Draft, proposals: Iterable[CorrectionProposal], sentence: ReadSentence) -> Patched:
    """Carry out what the validator of stage 1 proposes, in its order."""
    return _patched(draft, map(request_of_proposal, proposals), sentence=sentence, memory=Memory())


def with_flips(draft: Draft, proposals: Iterable[CorrectionProposal], sentence: ReadSentence) -> Patched:
    """Carry out only what a validator says about polarities."""
    return with_proposals(draft, (one for one in proposals if proposal_kind(one) == "flip"), sentence)


def refused_proposals(proposals: Iterable[CorrectionProposal]) -> tuple[Correction, ...]:
    """Entries of proposals that nobody carries out, since the second stage is switched off."""
    return tuple(
        request_of_proposal(one).entry(applied=False, reason="stage 2 is switched off", ignored="disabled")
        for one in proposals
    )


def with_aspect_review(draft: Draft, review: AspectReview, *, sentence: ReadSentence, memory: Memory) -> Patched:
    """Carry out the review of the aspects; both reviews share a memory, since they share a log."""
    requests = [request_of_aspect_item(item) for item in review.aspect_review]
    refused = bool(draft.aspect_terms) and _is_fresh_list(requests)
    return _patched(draft, requests, sentence=sentence, memory=memory, refused=refused)


def with_sentiment_review(draft: Draft, review: SentimentReview, *, sentence: ReadSentence, memory: Memory) -> Patched:
    """Carry out the review of the sentiments."""
    requests = [request_of_sentiment_item(item) for item in review.sentiment_review]
    has_said = any(one.term and not one.is_backfilled for one in draft.sentiments)
    refused = has_said and _is_fresh_list(requests)
    return _patched(draft, requests, sentence=sentence, memory=memory, refused=refused)


def anchored(draft: Draft) -> Anchored:
    """Tie each sentiment to an aspect: the same term, else one that holds it or is held by it; others are left out.

    Sentiments about nothing by name stay, and are tied to nothing.
    """
    terms = draft.aspect_terms
    kept: list[AspectSentiment] = []
    notes: list[str] = []
    for sentiment in draft.sentiments:
        if not sentiment.term.strip() or sentiment.term in terms:
            kept.append(sentiment)
            continue
        anchor = anchor_of(sentiment.term, terms)
        if anchor is None:
            notes.append(f"anchoring: dropped_unanchored_aspect_term:{sentiment.term}")
            continue
        span = next(aspect.span for aspect in draft.aspects if aspect.term == anchor)
        kept.append(replace(sentiment, aspect_term=AspectTerm(anchor, span)))
        notes.append(f"anchoring: mapped_aspect_term:{sentiment.term}->{anchor}")
    return Anchored(replace(draft, sentiments=tuple(kept)), tuple(notes))


def _is_fresh_list(requests: list[Request]) -> bool:
    """Whether a review is a list of its own: several additions, and no word on anything that is there."""
    return len(requests) > 1 and all(request.kind == "add" for request in requests)


def _patched(
    draft: Draft, requests: Iterable[Request], *, sentence: ReadSentence, memory: Memory, refused: bool = False
) -> Patched:
    log: list[Correction] = []
    for request in requests:
        if refused and request.kind == "add":
            log.append(request.entry(applied=False, reason=FRESH_LIST, ignored="conflicting"))
            continue
        outcome = carried_out(request, draft, sentence=sentence, memory=memory)
        draft = outcome.draft
        is_applied = outcome.ignored is None
        log.append(
            request.entry(applied=is_applied, reason=outcome.reason, ignored=outcome.ignored, polarity=outcome.polarity)
        )
    return Patched(draft, tuple(log))
