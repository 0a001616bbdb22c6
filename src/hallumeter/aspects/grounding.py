"""The filter of aspects: is a term a target, and does it stand where it was said to stand?

An aspect is kept when its term is a target and equals the text at its span; every other is dropped. The Korean ABSA
agents call each dropped aspect a hallucination. Here each also has a class: H1 does not stand in the text at all, H2
stands elsewhere in it, and one that the filter alone refuses is none of both.
"""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from functools import cache, cached_property
from importlib import resources

from msgspec import Struct, convert

from .records import scorecard
from .records.aspect import Aspect, AspectSentiment, AspectTerm, TextSpan

CODE_POINTS = "code_points"
PLACED = "placed"
"""Under this name stands how many spans could be right at all."""
CONVENTIONS = (CODE_POINTS, "utf16_units", "utf8_bytes", "nfd_code_points", "nfc_code_points")
_WORDS = {
    "utf16_units": "UTF-16 units",
    "utf8_bytes": "bytes of UTF-8",
    "nfd_code_points": "code points of the decomposed text (NFD)",
    "nfc_code_points": "code points of the composed text (NFC)",
}
_HIGHEST_SINGLE = "\uffff"
"""The last character that is one unit of UTF-16."""


class CountedText:
    """A text in which spans are looked up under every way of counting."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _is_ascii(self) -> bool:
        return self.text.isascii()

    @cached_property
    def composed(self) -> str:
        """The text in NFC."""
        return self.text if self._is_ascii else unicodedata.normalize("NFC", self.text)

    @cached_property
    def decomposed(self) -> str:
        """The text in NFD."""
        return unicodedata.normalize("NFD", self.text)

    @cached_property
    def _utf8(self) -> bytes:
        return _utf8(self.text)

    @cached_property
    def _utf16(self) -> bytes:
        return _utf16(self.text)

    @cached_property
    def _has_pairs(self) -> bool:
        """Whether a character takes two units of UTF-16."""
        return max(self.text) > _HIGHEST_SINGLE

    def right_under(self, term: str, start: int, end: int) -> tuple[str, ...]:
        """The ways of counting under which a term stands at a span.

        >>> CountedText("배터리는 좋다").right_under("좋다", 13, 19)
        ('utf8_bytes',)
        >>> CountedText("battery good").right_under("good", 8, 12) == CONVENTIONS
        True
        """
        if not term or start < 0 or end < start:
            return ()
        is_right = self.text[start:end] == term and end <= len(self.text)
        if self._is_ascii:
            return CONVENTIONS if is_right else ()
        found = [CODE_POINTS] if is_right else []
        if self._is_right_in_utf16(term, start, end) if self._has_pairs else is_right:
            found.append("utf16_units")
        if self._utf8[start:end] == _utf8(term) and end <= len(self._utf8):
            found.append("utf8_bytes")
        if self.decomposed[start:end] == unicodedata.normalize("NFD", term) and end <= len(self.decomposed):
            found.append("nfd_code_points")
        if self.composed[start:end] == unicodedata.normalize("NFC", term) and end <= len(self.composed):
            found.append("nfc_code_points")
        return tuple(found)

    def _is_right_in_utf16(self, term: str, start: int, end: int) -> bool:
        return self._utf16[2 * start : 2 * end] == _utf16(term) and 2 * end <= len(self._utf16)


def suggested_convention(right_under: Mapping[str, int]) -> str | None:
    """The way of counting that makes more spans right than code points do; None when there is none.

    >>> suggested_convention({"placed": 10, "code_points": 2, "utf8_bytes": 9, "utf16_units": 2})
    'utf8_bytes'
    >>> suggested_convention({"placed": 10, "code_points": 8, "utf16_units": 8}) is None
    True
    """
    best = max(CONVENTIONS, key=lambda name: (right_under.get(name, 0), -CONVENTIONS.index(name)))
    return None if right_under.get(best, 0) <= right_under.get(CODE_POINTS, 0) else best


def convention_words(name: str) -> str:
    """A way of counting, in words."""
    return _WORDS.get(name, "code points")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


# Which words can be targets of a sentiment.

SHORTEST = 2
"""Characters of a target that stands in no list."""
_FILE = resources.files("hallumeter.aspects").joinpath("words", "targets.toml")


class TargetWords(Struct, frozen=True):
    """Terms that are targets although they are short, and terms that are none although they are long."""

    allowlist: frozenset[str]
    stop_terms: frozenset[str]

    def is_target(self, term: str) -> bool:
        """Whether a term, in NFC, can be a target.

        >>> words = target_words()
        >>> words.is_target("뷰"), words.is_target("가"), words.is_target("하지만"), words.is_target("배터리")
        (True, False, False, True)
        """
        return term in self.allowlist or (len(term) >= SHORTEST and term not in self.stop_terms)


def target_words(allowlist: Iterable[str] = (), stop_terms: Iterable[str] = ()) -> TargetWords:
    """The lists that ship, extended by these; nothing that ships is ever left out.

    >>> target_words(["맛"]).is_target("맛"), target_words(["맛"]).is_target("뷰")
    (True, True)
    """
    shipped = _shipped()
    more, others = (frozenset(map(composed, words)) for words in (allowlist, stop_terms))
    if not more and not others:
        return shipped
    return TargetWords(shipped.allowlist | more, shipped.stop_terms | others)


def composed(text: str) -> str:
    """The text in NFC, in which a Korean syllable is one character."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


@cache
def _shipped() -> TargetWords:
    words = convert(tomllib.loads(_FILE.read_text(encoding="utf-8")), dict[str, list[str]])
    return TargetWords(frozenset(words["allowlist"]), frozenset(words["stop_terms"]))


JUDGE = "aspect-grounding"
_OK = "the term stands at its span"


class GroundedAspects(Struct, frozen=True):
    """The aspects of a sentence after the filter."""

    filtered: tuple[scorecard.FilteredAspect, ...]
    judgements: tuple[scorecard.AspectJudgement, ...]
    right_under: dict[str, int]
    """Spans that are right, by way of counting; and how many could be."""

    @property
    def kept_terms(self) -> tuple[str, ...]:
        """The terms that are kept."""
        return tuple(aspect.term or "" for aspect in self.filtered if aspect.action == scorecard.KEEP)

    @property
    def dropped_terms(self) -> tuple[str, ...]:
        """The terms that are dropped."""
        return tuple(aspect.term or "" for aspect in self.filtered if aspect.action == scorecard.DROP)


class AspectGrounder:
    """Judges aspects by their sentence alone."""

    def __init__(self, words: TargetWords | None = None) -> None:
        """Take the lists of targets; without any, those that ship."""
        self._words = target_words() if words is None else words

    def ground(self, text: str, aspects: Iterable[Aspect]) -> GroundedAspects:
        """Filter the aspects of a sentence, in their order.

        >>> from hallumeter.aspects.records.aspect import Aspect
        >>> text = "배터리는 좋지만 뷰가 별로"
        >>> aspects = [Aspect("배터리", TextSpan(0, 3)), Aspect("화면"), Aspect("배터리", TextSpan(0, 4))]
        >>> [(aspect.action, aspect.drop_class) for aspect in AspectGrounder().ground(text, aspects).filtered]
        [('keep', None), ('drop', 'H1'), ('drop', 'H2')]
        """
        counted = CountedText(text)
        filtered, judgements = [], []
        right_under: dict[str, int] = {}
        for aspect in aspects:
            term, span = aspect.term, aspect.span
            is_placed = span is not None and bool(term) and is_at(text, term, span)
            is_target = self._words.is_target(composed(term))
            if is_placed and is_target:
                found, placement, reason = None, None, _OK
                filtered.append(scorecard.FilteredAspect(term, span, scorecard.KEEP))
            else:
                found = drop_class_of(counted, term, span)
                placement = None if found == "filter" else placement_of(counted, term, span)
                reason = _reason(counted, aspect, found, is_target=is_target)
                filtered.append(
                    scorecard.FilteredAspect(term, span, scorecard.DROP, scorecard.DROP_REASON, found, placement)
                )
            judgements.append(scorecard.AspectJudgement(term, is_placed, is_target, reason))
            if found != "H1":
                _count_ways(right_under, counted, aspect, placement=placement)
        return GroundedAspects(tuple(filtered), tuple(judgements), right_under)


def is_at(text: str, term: str, span: TextSpan) -> bool:
    """Whether a text has a term at a span; the span is checked first, since Python slices any.

    >>> [is_at("abc", "bc", TextSpan(*span)) for span in ((1, 3), (-2, 3), (1, 99))]
    [True, False, False]
    """
    return span.is_within(text) and text[span.start : span.end] == term


def drop_class_of(counted: CountedText, term: str, span: TextSpan | None) -> scorecard.DropClass:
    """Why an aspect that was dropped was dropped."""
    if not term:
        return "filter"
    if term not in counted.text and composed(term) not in counted.composed:
        return "H1"
    if span is None or not is_at(counted.text, term, span):
        return "H2"
    return "filter"


def placement_of(counted: CountedText, term: str, span: TextSpan | None) -> scorecard.AspectPlacement:
    """Where a term stands that does not stand at its span."""
    given = None if span is None else span.start
    nearest = _nearest(counted.text, term, given)
    if span is None or nearest is None:
        return scorecard.AspectPlacement(nearest)
    ways = tuple(name for name in counted.right_under(term, span.start, span.end) if name != CODE_POINTS)
    return scorecard.AspectPlacement(nearest, span.start - nearest.start, ways)


def _nearest(text: str, term: str, given: int | None) -> TextSpan | None:
    """The occurrence whose start is nearest to a place, the earlier of two; the first without a place."""
    for form in dict.fromkeys((term, composed(term), CountedText(term).decomposed)):
        first = text.find(form)
        if first < 0:
            continue
        place = min(max(given or 0, 0), len(text))
        before = text.rfind(form, 0, place + len(form))
        behind = text.find(form, place)
        starts = [start for start in (before, behind) if start >= 0]
        start = first if given is None else min(starts, key=lambda start: (abs(start - place), start))
        return TextSpan(start, start + len(form))
    return None


def _count_ways(
    right_under: dict[str, int], counted: CountedText, aspect: Aspect, *, placement: scorecard.AspectPlacement | None
) -> None:
    """Count the span of a term that stands in the text under every way in which it is right."""
    term, span = aspect.term, aspect.span
    if span is None or not term:
        return
    right_under[PLACED] = right_under.get(PLACED, 0) + 1
    ways = counted.right_under(term, span.start, span.end) if placement is None else placement.conventions
    for name in ways:
        right_under[name] = right_under.get(name, 0) + 1


def _reason(counted: CountedText, aspect: Aspect, found: scorecard.DropClass, *, is_target: bool) -> str:
    """Why an aspect is dropped, in words."""
    term, span = aspect.term, aspect.span
    if not term:
        return "the term is empty"
    if found == "H1":
        is_there_in_other_case = term.casefold() in counted.text.casefold()
        return "the term does not stand in the text" + (", but does in other case" if is_there_in_other_case else "")
    if found == "filter":
        return "the term is no target: it is too short or a stop term"
    other = "" if is_target else ", and it is no target"
    if span is None:
        return f"the aspect has no span{other}"
    if not span.is_within(counted.text):
        return f"the span {span.start}-{span.end} does not lie in the text{other}"
    return f"the text at {span.start}-{span.end} is not the term{other}"


# What is felt about aspects: does the aspect stand where it was said to, and is the evidence a part of the text?


def judge_sentiments(
    text: str, sentiments: Iterable[AspectSentiment], *, kept: Collection[str]
) -> scorecard.SentimentScore:
    """Judge every sentiment by its sentence, and by the terms of the aspects that were kept.

    An aspect that is not named can neither be kept nor stand anywhere: only its evidence is judged. A term without a
    span is grounded when it stands in the text at all.

    >>> from hallumeter.aspects.records.aspect import AspectSentiment, AspectTerm, TextSpan
    >>> said = AspectSentiment(AspectTerm("screen", TextSpan(1, 7)), "positive", evidence="bright screen")
    >>> judge_sentiments("A bright screen", [said], kept=["screen"]).sentiment_judgements[0].issues
    ('opinion_not_grounded: the text at 1-7 is not the term',)
    """
    counted = CountedText(text)
    judgements = tuple(_judged(counted, sentiment, kept) for sentiment in sentiments)
    return scorecard.SentimentScore(
        judgements,
        mean_attribution_score=_mean([judgement.attribution_score for judgement in judgements]),
        opinion_grounded_rate=_mean([judgement.opinion_grounded for judgement in judgements]),
        evidence_relevance_score=_mean([judgement.evidence_relevant for judgement in judgements]),
        evidence_flags=tuple(each.aspect_term or "" for each in judgements if not each.evidence_relevant),
    )


def _judged(counted: CountedText, sentiment: AspectSentiment, kept: Collection[str]) -> scorecard.SentimentJudgement:
    evidence = sentiment.evidence or ""
    is_relevant = bool(evidence) and (evidence in counted.text or composed(evidence) in counted.composed)
    insufficient = (scorecard.INSUFFICIENT,) if sentiment.polarity is None or not evidence else ()
    named = sentiment.aspect_term
    if named is None or not named.term:
        return scorecard.SentimentJudgement(None, evidence_relevant=is_relevant, issues=insufficient)
    missing = _missing(counted, named)
    attribution = 1.0 if named.term in kept else 0.0
    if missing is None:
        return scorecard.SentimentJudgement(named.term, attribution, True, None, is_relevant, insufficient)
    issues = (f"opinion_not_grounded: {missing}", *insufficient)
    return scorecard.SentimentJudgement(
        named.term, attribution, False, missing, is_relevant, issues, _fix(counted, named)
    )


def _missing(counted: CountedText, named: AspectTerm) -> str | None:
    """Why a term does not stand where it was said to; None when it does."""
    term, span = named.term, named.span
    if span is None:
        is_there = term in counted.text or composed(term) in counted.composed
        return None if is_there else "the term does not stand in the text"
    if is_at(counted.text, term, span):
        return None
    return f"the text at {span.start}-{span.end} is not the term"


def _fix(counted: CountedText, named: AspectTerm) -> str | None:
    nearest = placement_of(counted, named.term, None).nearest
    return None if nearest is None else f"the term stands at {nearest.start}-{nearest.end}"


def _mean(values: list[float | None] | list[bool | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
