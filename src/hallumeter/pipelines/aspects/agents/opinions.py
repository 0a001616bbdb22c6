"""What stage 1 says about each aspect, beside what a reader finds at the place where the aspect really stands."""

from __future__ import annotations

from msgspec import Struct

from hallumeter.extractors.aspects.protocol import FoundPolarity
from hallumeter.records.aspects import AspectSentiment, Polarity, TextSpan

from .sentence_facts import SentenceFacts


class Opinion(Struct, frozen=True):
    """All that was stated about one term, which may stand at several places."""

    term: str
    stated: tuple[AspectSentiment, ...]
    places: tuple[TextSpan, ...]
    """Where it stands, for those that stand anywhere; each once."""
    found: tuple[FoundPolarity, ...]
    """What a reader finds there, in the same order."""

    @property
    def polarity(self) -> Polarity | None:
        """The one polarity that was stated; None when none was, or several were."""
        stated = {sentiment.polarity for sentiment in self.stated if not sentiment.is_backfilled}
        return stated.pop() if len(stated) == 1 else None

    @property
    def is_missing(self) -> bool:
        """Whether nobody stated a polarity: there is none, or code filled it in."""
        return all(sentiment.polarity is None or sentiment.is_backfilled for sentiment in self.stated)

    @property
    def is_conflicting(self) -> bool:
        """Whether one place was given two polarities."""
        by_place: dict[TextSpan | None, set[Polarity]] = {}
        for sentiment in self.stated:
            if sentiment.polarity is not None and not sentiment.is_backfilled:
                span = None if sentiment.aspect_term is None else sentiment.aspect_term.span
                by_place.setdefault(span, set()).add(sentiment.polarity)
        return any(len(polarities) > 1 for polarities in by_place.values())

    @property
    def reading(self) -> FoundPolarity | None:
        """What the reader finds, the most certain of several places; None when they differ or there is none."""
        if not self.found or len({found.polarity for found in self.found}) > 1:
            return None
        return max(self.found, key=lambda found: found.confidence)


def opinions_of(facts: SentenceFacts, sentiments: tuple[AspectSentiment, ...]) -> list[Opinion]:
    """What was stated about each named term, in the order of the first statement."""
    by_term: dict[str, list[AspectSentiment]] = {}
    for sentiment in sentiments:
        if sentiment.term:
            by_term.setdefault(sentiment.term, []).append(sentiment)
    return [_opinion(facts, term, stated) for term, stated in by_term.items()]


def right_polarity(facts: SentenceFacts, opinion: Opinion, *, support: float = 0.0) -> FoundPolarity | None:
    """The polarity that an opinion should have had; None when it is right, or when nobody can be sure that it is not.

    Other voices lower the bar for the reader when they agree with it and bar it when they agree with what was stated:
    the evidence that was given, and `support`, by how much others are for the reader (above 0) or for the statement.
    """
    found = opinion.reading
    if found is None:
        return None
    if opinion.is_missing:
        return found if found.confidence >= facts.settings.fill_confidence else None
    if opinion.is_conflicting:
        return found if found.confidence >= facts.settings.doubtful_confidence else None
    if opinion.polarity is None or opinion.polarity == found.polarity or support < 0:
        return None
    said = _felt_in_evidence(facts, opinion)
    if said is not None and said == opinion.polarity:
        return None
    is_opposite = "neutral" not in (found.polarity, opinion.polarity)
    bar = facts.settings.flip_confidence if is_opposite else facts.settings.neutral_confidence
    is_supported = support > 0 or said == found.polarity
    return found if found.confidence >= bar - (facts.settings.support if is_supported else 0.0) else None


def _opinion(facts: SentenceFacts, term: str, stated: list[AspectSentiment]) -> Opinion:
    spans = [None if sentiment.aspect_term is None else sentiment.aspect_term.span for sentiment in stated]
    places = dict.fromkeys(place for span in spans if (place := facts.place_of(term, span)) is not None)
    found = tuple(facts.polarity_at(place.start, place.end) for place in places)
    return Opinion(term, tuple(stated), tuple(places), found)


def _felt_in_evidence(facts: SentenceFacts, opinion: Opinion) -> Polarity | None:
    """What the stated evidence says by itself; None when it is no part of the text, or nearly all of it."""
    given = [sentiment.evidence for sentiment in opinion.stated if sentiment.evidence]
    short = [words for words in given if words in facts.text and 2 * len(words) < len(facts.text)]
    felt = {facts.felt_in(words) for words in short} - {None}
    return felt.pop() if len(felt) == 1 else None
