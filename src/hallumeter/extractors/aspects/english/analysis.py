"""Everything that is known of one text, computed once and asked for several times."""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import cached_property

from msgspec import Struct

from hallumeter.extractors.aspects.protocol import FoundPolarity, FoundTerm, SentenceReading

from .candidates import UNMARKED, head_of, is_noun_like, noun_phrases
from .clauses import found_cues
from .feelings import Feeling
from .first_layer import FirstLayer, FirstSums
from .model_files import Numbers, Weights
from .polarity_network import ORDER, Around, PolarityNetwork, around, places_around
from .sentence_input import placed_numbers, sentence_of
from .term_network import TermNetwork, best_spans, span_score
from .word_table import WordTable
from .wording import Wording, wording

_DIGITS = 4
"""Of probabilities: what lies beyond differs between machines."""
_FAINTEST = 0.1
"""The confidence below which a term is not taken up where no other is found."""
_SHOWS = 0.5
"""How much a word must add to the score of a polarity to show it."""


class Instruments(Struct, frozen=True):
    """What texts are read with."""

    known: Wording
    first: FirstLayer
    terms: TermNetwork
    polarities: PolarityNetwork
    term_slope: float
    """From the score of a term to the logit of its confidence."""
    term_constant: float
    sharpness: float
    """Factor of the scores of polarities that makes them probabilities that hold."""

    @classmethod
    def of(cls, weights: Weights) -> Instruments:
        """From a file of weights."""
        known = wording()
        slope, constant, sharpness = (float(number) for number in weights.numbers("calibration"))
        return cls(
            known,
            FirstLayer(weights, WordTable(weights, known)),
            TermNetwork(weights),
            PolarityNetwork(weights),
            term_slope=slope,
            term_constant=constant,
            sharpness=sharpness,
        )


class Analysis:
    """One text; what is not asked for is not computed."""

    def __init__(self, text: str, instruments: Instruments) -> None:
        self._with = instruments
        self.sentence = sentence_of(text, instruments.known)

    @cached_property
    def _sums(self) -> FirstSums:
        return self._with.first.sums(self.sentence.tokens.words, placed_numbers(self.sentence))

    @cached_property
    def _labels(self) -> list[list[float]]:
        """Logarithms of the probabilities of the labels of each word."""
        return self._with.terms.logarithms(self._sums).tolist() if len(self.sentence.tokens) else []

    @cached_property
    def reading(self) -> SentenceReading:
        """Terms and cues."""
        text, tokens = self.sentence.text, self.sentence.tokens
        terms = []
        for first, last, confidence in self.scored_spans:
            head = first + head_of(tokens.words[first:last], self._with.known)
            terms.append(
                FoundTerm(
                    tokens.starts[first],
                    tokens.ends[last - 1],
                    round(confidence, _DIGITS),
                    text[tokens.starts[head] : tokens.ends[head]],
                )
            )
        return SentenceReading(text, tuple(terms), found_cues(tokens, self.sentence.clauses))

    @cached_property
    def scored_spans(self) -> list[tuple[int, int, float]]:
        """First word, one past the last and confidence of each term."""
        spans = best_spans(self._labels)
        if spans:
            return [(first, last, self._confidence(first, last)) for first, last in spans]
        return self._faint_span() or self._unmarked_span()

    def _confidence(self, first: int, last: int) -> float:
        logit = self._with.term_slope * span_score(self._labels, first, last) + self._with.term_constant
        return 1.0 / (1.0 + math.exp(-logit))

    def _faint_span(self) -> list[tuple[int, int, float]]:
        """The one word that is most likely a term where none is likely enough."""
        words, known = self.sentence.tokens.words, self._with.known
        likely = [
            (self._confidence(index, index + 1), -index)
            for index, word in enumerate(words)
            if is_noun_like(word, known)
        ]
        confidence, place = max(likely, default=(0.0, 0))
        return [(-place, 1 - place, confidence)] if confidence >= _FAINTEST else []

    def _unmarked_span(self) -> list[tuple[int, int, float]]:
        """The first phrase that looks like a noun where the network sees nothing at all."""
        spans = noun_phrases(self.sentence.tokens.words, self._with.known)
        return [(*spans[0], UNMARKED)] if spans and self.sentence.feelings else []

    def term_after(self, place: int) -> FoundTerm | None:
        """The first term or likely word at or behind a place; else the first word there that can name an aspect."""
        tokens = self.sentence.tokens
        begun = {term.start: term for term in self.reading.terms}
        possible: FoundTerm | None = None
        for index in range(bisect_left(tokens.starts, place), len(tokens)):
            start, end = tokens.starts[index], tokens.ends[index]
            if start in begun:
                return begun[start]
            if is_noun_like(tokens.words[index], self._with.known):
                confidence = round(self._confidence(index, index + 1), _DIGITS)
                word = FoundTerm(start, end, confidence, self.sentence.text[start:end])
                if confidence >= _FAINTEST:
                    return word
                possible = possible or word
        return possible

    @cached_property
    def _said(self) -> tuple[Numbers, Numbers]:
        return self._with.polarities.said(self._sums)

    @cached_property
    def _around(self) -> Around:
        return around(self.sentence.clauses, [span[:2] for span in self.scored_spans])

    def heard_of(self, first: int, last: int) -> tuple[Numbers, Numbers, int]:
        """Scores of some words in the order of `ORDER`, what is heard around them, and where that begins."""
        as_term = self._sums.as_term[first]
        if last - first > 1:
            as_term = self._sums.as_term[first:last].mean(axis=0)
        places = places_around(self._around, first, last)
        heard = self._with.polarities.heard(self._said, as_term, places)
        return self._with.polarities.scores(heard, as_term), heard, places.low

    def polarity(self, first: int, last: int) -> FoundPolarity:
        """What is felt about some words."""
        numbers, heard, low = self.heard_of(first, last)
        scores: list[float] = numbers.tolist()
        highest = max(scores)
        winner = scores.index(highest)
        shares = [math.exp((score - highest) * self._with.sharpness) for score in scores]
        total = sum(shares)
        distribution: dict[str, float] = {}
        for name, share in zip(ORDER, shares, strict=True):
            distribution[name] = round(share / total, _DIGITS)
        others = sum(distribution[name] for name in ORDER if name != ORDER[winner])
        distribution[ORDER[winner]] = round(1.0 - others, _DIGITS)
        shown = None if ORDER[winner] == "neutral" else self._shown(winner, heard, low)
        tokens = self.sentence.tokens
        return FoundPolarity(
            ORDER[winner],
            distribution[ORDER[winner]],
            distribution,
            start=None if shown is None else tokens.starts[shown[0]],
            end=None if shown is None else tokens.ends[shown[1] - 1],
        )

    def _shown(self, winner: int, heard: Numbers, low: int) -> tuple[int, int] | None:
        """The words that show a polarity: those of the lexicon that add most to it, else the word that does."""
        added = self._with.polarities.added(heard)
        gains: list[float] = (added[:, winner] - added[:, 2 - winner]).tolist()
        shown = [
            (sum(gains[feeling.core - low : feeling.last - low]), feeling.first, feeling.last)
            for feeling in self._feelings_between(low, low + len(gains))
            if feeling.weight * (winner - 1) > 0
        ]
        gain, first, last = max(shown, default=(0.0, 0, 0))
        if gain > 0:
            return first, last
        gain = max(gains)
        place = low + gains.index(gain)
        word = self.sentence.tokens.words[place]
        if gain < _SHOWS or not word[0].isalpha() or word in self._with.known.stop_words:
            return None
        return place, place + 1

    def _feelings_between(self, low: int, high: int) -> tuple[Feeling, ...]:
        feelings = self.sentence.feelings
        first = bisect_left(feelings, low, key=lambda feeling: feeling.core)
        return feelings[first : bisect_left(feelings, high, key=lambda feeling: feeling.core)]
