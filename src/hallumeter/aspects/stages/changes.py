"""Carries out one request: it counts as applied only when something is different afterwards."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from hallumeter.aspects.records.aspect import (
    Aspect,
    AspectSentiment,
    AspectTerm,
    CorrectionProposal,
    Polarity,
    TextSpan,
)
from hallumeter.aspects.records.outputs import AspectReview, Correction, IgnoredReason, SentimentReview

from .draft import Draft, ReadSentence
from .requests import (
    Kind,
    Request,
    proposal_kind,
    request_of_aspect_item,
    request_of_proposal,
    request_of_sentiment_item,
)
from .terms import anchor_of, term_key

SURE = 0.9
"""The least confidence of a polarity that was set on request."""
ADDED_ASPECT, ADDED_SENTIMENT = 0.8, 0.9
_OPPOSITE: dict[Polarity, Polarity] = {"positive": "negative", "negative": "positive"}


class Outcome(Struct, frozen=True):
    """What became of a request."""

    draft: Draft
    reason: str
    ignored: IgnoredReason | None = None
    """None when it was applied."""
    polarity: str | None = None


class Memory(Struct):
    """What earlier requests of the same log did to aspects, by key: later ones may not undo it."""

    dropped: set[str] = field(default_factory=set)
    changed: dict[str, dict[Kind, str]] = field(default_factory=dict)
    """What was done, by its kind, in words, so that a log can say what stands against a request."""

    def remember(self, term: str, kind: Kind, words: str) -> None:
        """Keep what was done to an aspect."""
        self.changed.setdefault(term_key(term), {})[kind] = words

    def against(self, term: str, kind: Kind) -> str | None:
        """What stands against doing something to an aspect: the same kind of change, and any against dropping it."""
        done = self.changed.get(term_key(term), {})
        return next(iter(done.values()), None) if kind == "drop" else done.get(kind)


def carried_out(request: Request, draft: Draft, *, sentence: ReadSentence, memory: Memory) -> Outcome:
    """Do what is asked for where it can be done, and say why where it cannot."""
    if request.kind == "unsupported":
        return Outcome(draft, f"nobody knows what {request.name!r} asks for", "unsupported")
    target = (request.target or "").strip()
    if not term_key(target):
        return Outcome(draft, "no target is named", "impossible")
    if memory.dropped and not memory.dropped.isdisjoint((term_key(target), term_key(sentence.bare(target)))):
        if request.kind == "drop":
            return Outcome(draft, "it was dropped before", "without_effect")
        return Outcome(draft, "an earlier correction dropped it", "conflicting")
    change = _Change(request, draft, sentence=sentence, memory=memory)
    if request.kind == "add":
        return change.added_aspect() if request.step == "ate_review" else change.added_sentiment()
    return change.made()


class _Change:
    """One request, and all that it may act on."""

    def __init__(self, request: Request, draft: Draft, *, sentence: ReadSentence, memory: Memory) -> None:
        self._request = request
        self._target = (request.target or "").strip()
        self._draft = draft
        self._sentence = sentence
        self._memory = memory
        self._is_about_sentiments = request.step == "atsa_review" or request.kind == "flip"

    def made(self) -> Outcome:
        term = self._term()
        if isinstance(term, Outcome):
            return term
        if self._request.kind == "keep":
            return self._ignored("it stays as it is", "without_effect")
        if self._request.kind == "flip":
            return self._flipped(term)
        if self._request.kind == "drop":
            return self._dropped(term)
        return self._renamed(term) if self._request.kind == "rename" else self._moved(term)

    def added_aspect(self) -> Outcome:
        request, text = self._request, self._sentence.text
        if request.span is None:
            return self._ignored("no span is given", "impossible")
        span = self._sentence.held_span(self._target, request.span)
        if span is None:
            return self._ignored(f"{self._target!r} does not stand at {_shown(request.span)}", "impossible")
        span = TextSpan(span.start, self._sentence.bare_end(span.start, span.end))
        term = text[span.start : span.end]
        if term_key(term) in map(term_key, self._draft.aspect_terms):
            return self._ignored("it is there already", "without_effect")
        aspect = Aspect(term, span, ADDED_ASPECT, request.rationale or None)
        self._memory.remember(term, "add", "added it")
        return Outcome(replace(self._draft, aspects=(*self._draft.aspects, aspect)), "added")

    def added_sentiment(self) -> Outcome:
        request = self._request
        if request.polarity is None:
            return self._ignored("no polarity is given", "impossible")
        known = self._draft.aspect_terms
        anchor = anchor_of(self._target, known) or anchor_of(self._sentence.bare(self._target), known)
        if anchor is None:
            return self._ignored("there is no such aspect", "impossible")
        present = [sentiment for sentiment in self._draft.sentiments if sentiment.term == anchor]
        if any(not sentiment.is_backfilled for sentiment in present):
            if all(sentiment.polarity == request.polarity for sentiment in present):
                return self._ignored("it is there already", "without_effect")
            return self._ignored(f"there is a sentiment about {anchor!r} already", "conflicting")
        if present:
            return self._with_polarity(anchor, request.polarity, "added in place of the neutral that was filled in")
        span = next(aspect.span for aspect in self._draft.aspects if aspect.term == anchor)
        self._memory.remember(anchor, "flip", f"made it {request.polarity}")
        added = AspectSentiment(AspectTerm(self._target, request.span or span), request.polarity, ADDED_SENTIMENT)
        draft = replace(self._draft, sentiments=(*self._draft.sentiments, added))
        return Outcome(draft, "added", polarity=request.polarity)

    def _term(self) -> str | Outcome:
        """The term of the draft that the target means."""
        target = self._target
        terms = self._draft.sentiment_terms if self._is_about_sentiments else self._draft.aspect_terms
        if target in terms:
            return target
        key = term_key(target)
        same = [term for term in terms if term_key(term) == key]
        if not same:
            bare = term_key(self._sentence.bare(target))
            same = [term for term in terms if term_key(term) == bare]
        if len(same) > 1:
            return self._ignored(f"it may mean {' or '.join(map(repr, same))}", "ambiguous")
        if same:
            return same[0]
        what = "nothing is said about it" if self._is_about_sentiments else "there is no such aspect"
        return self._ignored(f"target not found: {what}", "impossible")

    def _flipped(self, term: str) -> Outcome:
        first = next(sentiment for sentiment in self._draft.sentiments if sentiment.term == term)
        is_review = self._request.step == "atsa_review"
        wanted = self._request.polarity or (_OPPOSITE.get(first.polarity) if first.polarity else None)
        if wanted is None and is_review and first.polarity == "neutral":
            wanted = "negative"
        if wanted is None:
            is_missing = first.polarity is None
            text = "it has no polarity to turn" if is_missing else f"{first.polarity} has no opposite"
            return self._ignored(text, "impossible" if is_missing else "without_effect")
        same = [one for one in self._draft.sentiments if one.term == term] if is_review else [first]
        if all(sentiment.polarity == wanted for sentiment in same):
            return self._ignored(f"it is {wanted} already", "without_effect")
        if (earlier := self._memory.against(term, "flip")) is not None:
            return self._conflicting(earlier)
        return self._with_polarity(term, wanted, f"{first.polarity} -> {wanted}", is_first_only=not is_review)

    def _with_polarity(self, term: str, polarity: Polarity, reason: str, *, is_first_only: bool = False) -> Outcome:
        sentiments = list(self._draft.sentiments)
        for number, sentiment in enumerate(sentiments):
            if sentiment.term == term:
                sentiments[number] = with_polarity(sentiment, polarity, confidence=SURE, share=SURE)
                if is_first_only:
                    break
        self._memory.remember(term, "flip", f"made it {polarity}")
        return Outcome(replace(self._draft, sentiments=tuple(sentiments)), reason, polarity=polarity)

    def _dropped(self, term: str) -> Outcome:
        if (earlier := self._memory.against(term, "drop")) is not None:
            return self._conflicting(earlier)
        sentiments = tuple(sentiment for sentiment in self._draft.sentiments if sentiment.term != term)
        if self._is_about_sentiments:
            draft = replace(self._draft, sentiments=sentiments)
        else:
            draft = Draft(tuple(aspect for aspect in self._draft.aspects if aspect.term != term), sentiments)
        self._memory.dropped.add(term_key(term))
        return Outcome(draft, "dropped")

    def _moved(self, term: str) -> Outcome:
        """Put a term at its revised span, and its sentiments with it."""
        given = self._request.span
        if given is None:
            return self._ignored("no revised span is given", "impossible")
        span = self._sentence.held_span(term, given)
        if span is None:
            return self._ignored(f"{term!r} does not stand at {_shown(given)}", "impossible")
        draft = _moved_sentiments(self._draft, term, span)
        if not self._is_about_sentiments:
            draft = _moved_aspect(self._draft, term, span, text=self._sentence.text)
        if draft == self._draft:
            return self._ignored(f"it stands at {_shown(span)} already", "without_effect")
        if (earlier := self._memory.against(term, "span")) is not None:
            return self._conflicting(earlier)
        self._memory.remember(term, "span", f"moved it to {_shown(span)}")
        return Outcome(draft, f"moved to {_shown(span)}")

    def _renamed(self, term: str) -> Outcome:
        revised = anchor_of((self._request.term or "").strip(), self._draft.aspect_terms)
        if revised is None:
            return self._ignored(f"{self._request.term!r} is no aspect of the sentence", "impossible")
        if revised == term:
            return self._ignored("it is called so already", "without_effect")
        if (earlier := self._memory.against(term, "rename")) is not None:
            return self._conflicting(earlier)
        span = next(aspect.span for aspect in self._draft.aspects if aspect.term == revised)
        sentiments = tuple(
            replace(sentiment, aspect_term=AspectTerm(revised, span)) if sentiment.term == term else sentiment
            for sentiment in self._draft.sentiments
        )
        for name in (term, revised):
            self._memory.remember(name, "rename", f"called it {revised!r}")
        return Outcome(replace(self._draft, sentiments=sentiments), f"{term!r} -> {revised!r}")

    def _conflicting(self, earlier: str) -> Outcome:
        return self._ignored(f"an earlier correction {earlier}", "conflicting")

    def _ignored(self, reason: str, ignored: IgnoredReason) -> Outcome:
        return Outcome(self._draft, reason, ignored)


def with_polarity(
    sentiment: AspectSentiment, polarity: Polarity, *, confidence: float, share: float
) -> AspectSentiment:
    """A sentiment with another polarity, at least so confident, and with so large a share of its distribution."""
    former = sentiment.polarity
    distribution: dict[str, float] = {polarity: share}
    if former is not None and former != polarity:
        distribution[former] = round(1 - share, 10)
    return replace(
        sentiment,
        polarity=polarity,
        confidence=max(sentiment.confidence or 0.0, confidence),
        polarity_distribution=distribution,
        is_backfilled=False,
        neutral_reason=None,
    )


def _moved_aspect(draft: Draft, term: str, span: TextSpan, *, text: str) -> Draft:
    """Move the first aspect with the term that is misplaced, else the first; misplaced sentiments follow it."""
    numbers = [number for number, aspect in enumerate(draft.aspects) if aspect.term == term]
    if any(draft.aspects[number].span == span for number in numbers):
        return draft
    misplaced = [number for number in numbers if not _stands(draft.aspects[number], text)]
    number = (misplaced or numbers)[0]
    aspects = (*draft.aspects[:number], replace(draft.aspects[number], span=span), *draft.aspects[number + 1 :])
    sentiments = tuple(
        replace(one, aspect_term=AspectTerm(term, span))
        if one.aspect_term is not None and draft.aspect_of(one) == number and not _stands(one.aspect_term, text)
        else one
        for one in draft.sentiments
    )
    return Draft(aspects, sentiments)


def _moved_sentiments(draft: Draft, term: str, span: TextSpan) -> Draft:
    sentiments = tuple(
        replace(one, aspect_term=AspectTerm(term, span)) if one.term == term else one for one in draft.sentiments
    )
    return replace(draft, sentiments=sentiments)


def _stands(term: Aspect | AspectTerm, text: str) -> bool:
    span = term.span
    return span is not None and span.is_within(text) and text[span.start : span.end] == term.term


def _shown(span: TextSpan) -> str:
    return f"{span.start}-{span.end}"


# Patches the result of stage 1: proposals of the validator first, then the reviews; every request leaves an entry.

FRESH_LIST = "a fresh list is no review"
HELD_BACK = "held back: the sentence has no negation, and no contrast that asks for it"


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


def held_back(proposals: Iterable[CorrectionProposal]) -> tuple[Correction, ...]:
    """Entries of flips that nobody carries out, since nothing in the sentence calls for them."""
    return tuple(
        request_of_proposal(one).entry(applied=False, reason=HELD_BACK, ignored="conflicting") for one in proposals
    )


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
