"""A claim, prepared for comparison: its words, numbers, dates and names, and the sentences that speak of the same."""

from __future__ import annotations

from functools import cached_property

from hallumeter.text.dates import Date, find_dates, touches
from hallumeter.text.names import Name, find_names
from hallumeter.text.quantities import Quantity, find_quantities
from hallumeter.text.terms import Terms, terms_of

from .evidence import Evidence
from .markup import without_marks

_BEST = 4


class Statement:
    """A claim beside its evidence."""

    def __init__(self, text: str, evidence: Evidence, *, language: str, given: frozenset[str] = frozenset()) -> None:
        self.text = text
        self.terms: Terms = terms_of(without_marks(text))
        self.evidence = evidence
        self.language = language
        self.given = given
        """Keys of the question: an answer may repeat them."""
        self.keys = list(dict.fromkeys(key for key in self.terms.keys if key))
        weights, unknown = evidence.weights, evidence.weight_of_unknown
        self.weights = {key: weights.get(key, unknown) for key in self.keys}
        self.total = sum(self.weights.values())
        self._scores = self._sentence_scores()
        self.best = self._best_sentences()
        """Numbers and scores of the sentences with the largest share of the claim's words, best first."""

    def _sentence_scores(self) -> dict[int, float]:
        """Weights of the claim's words that a sentence has, by the number of the sentence."""
        scores: dict[int, float] = {}
        for key in self.keys:
            weight = self.weights[key]
            for number in self.evidence.postings.get(key, ()):
                scores[number] = scores.get(number, 0.0) + weight
        return scores

    def _best_sentences(self) -> list[tuple[int, float]]:
        best = sorted(self._scores.items(), key=lambda item: (-item[1], item[0]))[:_BEST]
        return [(number, score / self.total) for number, score in best]

    def share_in(self, sentence: int) -> float:
        """The weighted share of the claim's words that a sentence has."""
        return self._scores.get(sentence, 0.0) / self.total if self.total else 0.0

    @cached_property
    def words(self) -> frozenset[str]:
        """All folded words."""
        return frozenset(self.terms.folded)

    @cached_property
    def dates(self) -> list[Date]:
        """Dates and times."""
        return find_dates(self.terms)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Numbers that are no part of a date."""
        found = find_quantities(self.terms, language=self.language)
        spans = [(date.start, date.end) for date in self.dates]
        return [each for each in found if not touches(spans, each.start, each.end)]

    @cached_property
    def names(self) -> list[Name]:
        """Names."""
        return find_names(self.terms)
