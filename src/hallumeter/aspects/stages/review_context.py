"""What stage 2 is told of the debate: which turn speaks about which aspect, and what it lets expect."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from hallumeter.aspects.records import outputs
from hallumeter.aspects.records.aspect import AspectSentiment
from hallumeter.aspects.settings import LanguagePatterns

from .draft import ReadSentence
from .hints import (
    FINAL_PATCH,
    PATCH,
    Expectation,
    TermIndex,
    expectation_of_edit,
    expectation_of_turn,
    source_of,
    sources_of,
    words_of_turn,
)

JUDGE = "cj"
"""Whose word the patch at the end of a debate is."""
FAIL_REASONS = ("fallback_used", "no_aspects", "neutral_stance", "no_match")


class MappedTurn(Struct, frozen=True):
    """The aspects that a turn speaks about, and how surely."""

    terms: tuple[str, ...]
    confidence: str
    """``direct``, ``fallback`` or ``none``."""
    fail_reason: str | None
    expected: Expectation
    """Of the turn as a whole."""
    of_edits: tuple[Expectation, ...]
    """Of each of its edits."""


def term_index(stage1: outputs.StageOne, patterns: LanguagePatterns, sentence: ReadSentence) -> TermIndex:
    """The aspects that a debate can speak about: those of the extraction, then those of the sentiments."""
    aspects = [aspect.term for aspect in stage1.ate.aspects]
    felt = [sentiment.term for sentiment in stage1.atsa.aspect_sentiments]
    return TermIndex([*aspects, *felt], patterns.synonyms, sentence)


def review_context(
    debate: outputs.DebateOutput, stage1: outputs.StageOne, *, index: TermIndex, guidance: tuple[str, ...] = ()
) -> outputs.ReviewContext:
    """Map every turn of a debate to aspects, and gather the hints about each.

    A turn that says nothing, as of a corrector who finds nothing to correct, has nothing to be mapped and counts
    nowhere.
    """
    sentiments = stage1.atsa.aspect_sentiments
    points: list[outputs.RebuttalPoint] = []
    hints: dict[str, list[outputs.AspectHint]] = {term: [] for term in index.terms}
    for turn in (turn for one in debate.rounds for turn in one.turns if not _is_silent(turn)):
        mapped = mapped_turn(turn, index, sentiments)
        points.append(_point(turn, mapped))
        for term, hint in _hints(turn, mapped, index):
            hints[term].append(hint)
    for edit in debate.summary.final_patch if debate.summary is not None else ():
        hint = _hint(JUDGE, FINAL_PATCH, expectation_of_edit(edit, is_last_word=True))
        for term in _targets(edit, index, otherwise=()):
            hints[term].append(hint)
    stats, reasons = _counted(points)
    return outputs.ReviewContext(
        summary=debate.summary,
        aspect_terms=index.terms,
        synonym_hints=index.synonyms,
        rebuttal_points=tuple(points),
        aspect_map=index.entries,
        aspect_hints={term: tuple(given) for term, given in hints.items() if given},
        mapping_stats=stats,
        mapping_coverage=stats.coverage,
        mapping_fail_reasons=reasons,
        guidance=guidance,
    )


def traced_aspect_review(
    review: outputs.AspectReview, context: outputs.ReviewContext | None, index: TermIndex | None
) -> outputs.AspectReview:
    """A review whose items say which hints spoke about their aspects, at the end of their reasons, too."""
    found = ((item, _provenance(item.term, context, index)) for item in review.aspect_review)
    items = (replace(item, provenance=source, reason=_with_source(item.reason, source)) for item, source in found)
    return outputs.AspectReview(tuple(items))


def traced_sentiment_review(
    review: outputs.SentimentReview, context: outputs.ReviewContext | None, index: TermIndex | None
) -> outputs.SentimentReview:
    """The same for sentiments."""
    found = ((item, _provenance(item.aspect_term, context, index)) for item in review.sentiment_review)
    items = (replace(item, provenance=source, reason=_with_source(item.reason, source)) for item, source in found)
    return outputs.SentimentReview(tuple(items))


def mapped_turn(turn: outputs.DebateTurn, index: TermIndex, sentiments: tuple[AspectSentiment, ...]) -> MappedTurn:
    """Which aspects a turn speaks about: those that it names, else the one that its polarity fits best."""
    of_edits = tuple(map(expectation_of_edit, turn.proposed_edits))
    expected = expectation_of_turn(turn, of_edits)
    mapped = partial(MappedTurn, expected=expected, of_edits=of_edits)
    direct = index.within(words_of_turn(turn))
    if direct:
        return mapped(direct, "direct", None)
    nearest = _nearest(expected.polarity, sentiments)
    if nearest is not None:
        return mapped((nearest,), "fallback", "fallback_used")
    if not index.terms:
        return mapped((), "none", "no_aspects")
    return mapped((), "none", "neutral_stance" if expected.polarity in {None, "neutral"} else "no_match")


def _is_silent(turn: outputs.DebateTurn) -> bool:
    return not (turn.proposed_edits or turn.stance or words_of_turn(turn).strip())


def _nearest(polarity: str | None, sentiments: tuple[AspectSentiment, ...]) -> str | None:
    """The only aspect, or the one of which the polarity is surest."""
    named = [sentiment for sentiment in sentiments if sentiment.term.strip()]
    if polarity is None or polarity == "neutral":
        terms = dict.fromkeys(sentiment.term for sentiment in named)
        return next(iter(terms)) if len(terms) == 1 else None
    fitting = [sentiment for sentiment in named if sentiment.polarity == polarity] or named
    surest = max(fitting, key=lambda sentiment: sentiment.confidence or 0.0, default=None)
    return None if surest is None else surest.term


def _point(turn: outputs.DebateTurn, mapped: MappedTurn) -> outputs.RebuttalPoint:
    expected = mapped.expected
    stance = _stance(turn)
    return outputs.RebuttalPoint(
        turn.name,
        stance,
        mapped.terms,
        mapped.confidence,
        mapped.fail_reason,
        expected.weight,
        expected.polarity,
        source_of(turn.name, stance),
        turn.proposed_edits,
    )


def _hints(turn: outputs.DebateTurn, mapped: MappedTurn, index: TermIndex) -> Iterable[tuple[str, outputs.AspectHint]]:
    """What a turn lets expect of which aspect; an edit of something unknown says nothing about what is known."""
    stance = _stance(turn)
    if not turn.proposed_edits:
        if stance:
            yield from ((term, _hint(turn.name, stance, mapped.expected)) for term in mapped.terms)
        return
    otherwise = mapped.terms if mapped.confidence == "fallback" else ()
    for edit, expected in zip(turn.proposed_edits, mapped.of_edits, strict=True):
        hint = _hint(turn.name, stance, expected)
        yield from ((term, hint) for term in _targets(edit, index, otherwise=otherwise))


def _targets(edit: outputs.ProposedEdit, index: TermIndex, *, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    """The aspects that an edit names; those given only where it names none at all."""
    target = edit.target
    if not target.aspect_term and not target.aspect_ref:
        return otherwise
    return index.meant(target.aspect_term) or index.meant(target.aspect_ref)


def _hint(speaker: str, stance: str, expected: Expectation) -> outputs.AspectHint:
    return outputs.AspectHint(speaker, stance, expected.weight, expected.polarity, expected.is_drop)


def _stance(turn: outputs.DebateTurn) -> str:
    return PATCH if turn.proposed_edits else (turn.stance or "").strip()


def _counted(points: list[outputs.RebuttalPoint]) -> tuple[outputs.MappingStats, dict[str, int]]:
    confidences = [point.mapping_confidence for point in points]
    stats = outputs.MappingStats(*(confidences.count(kind) for kind in ("direct", "fallback", "none")))
    reasons = [point.mapping_fail_reason for point in points]
    return stats, {reason: reasons.count(reason) for reason in FAIL_REASONS if reason in reasons}


def _with_source(reason: str, source: str | None) -> str:
    return reason if source is None or source in reason else f"{reason} [{source}]".lstrip()


def _provenance(term: str, context: outputs.ReviewContext | None, index: TermIndex | None) -> str | None:
    if context is None or index is None:
        return None
    known = index.exactly(term)
    return None if known is None else sources_of(context.aspect_hints.get(known, ()))
