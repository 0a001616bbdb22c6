"""Reads English sentences: aspect terms, what is felt about them, and words that mislead."""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property, lru_cache

import msgspec
import numpy as np
from msgspec import Struct

from hallumeter.aspects.readers.protocol import FoundPolarity, FoundTerm, SentenceReading
from hallumeter.aspects.sentiment_words import sentiment_words

from .networks import (
    ORDER,
    PLACED,
    Around,
    FirstLayer,
    FirstSums,
    Numbers,
    PolarityNetwork,
    TermNetwork,
    Weights,
    WordTable,
    around,
    best_spans,
    places_around,
    shipped_weights,
    span_score,
)
from .words import (
    LANGUAGE,
    Clauses,
    Denial,
    Feeling,
    Tokens,
    Wording,
    clauses_of,
    denials_of,
    feelings_of,
    found_cues,
    tokens_of,
    whole_polarity,
    wording,
)

# A sentence as the networks read it.


class Sentence(Struct, frozen=True):
    """What rules find in a text."""

    text: str
    tokens: Tokens
    clauses: Clauses
    feelings: tuple[Feeling, ...]


def sentence_of(text: str, known: Wording) -> Sentence:
    """Cut a text into words and clauses and weigh its words."""
    tokens = tokens_of(text)
    clauses = clauses_of(tokens, known)
    return Sentence(text, tokens, clauses, feelings_of(tokens, clauses, known))


def placed_numbers(sentence: Sentence) -> Numbers:
    """`PLACED` numbers for each word: what it weighs where it stands, and its capital."""
    capitals = np.array(sentence.tokens.capitals, np.int64)
    numbers = np.zeros((len(capitals), PLACED), np.float32)
    for feeling in sentence.feelings:
        numbers[feeling.core : feeling.last, 0] = feeling.weight / 1.5
    numbers[:, 1] = capitals == 1
    numbers[:, 2] = capitals == 2
    return numbers


# Words that may be aspects where the network marks none.

UNMARKED = 0.2
"""The confidence of a word that no network marked."""
_SHORTEST = 3


def is_noun_like(word: str, known: Wording) -> bool:
    """Whether a word can name an aspect, as far as can be told without a grammar.

    >>> from hallumeter.aspects.readers.english.words import wording
    >>> [is_noun_like(word, wording()) for word in ("battery", "bed", "the", "quickly", "awful", "didn't", "10")]
    [True, True, False, False, False, False, False]
    """
    return (
        len(word) >= _SHORTEST
        and word.isalpha()
        and (word in known.aspect_nouns or not word.endswith(("ly", "ed")))
        and word not in known.stop_words
        and word not in known.weights
        and word not in known.factors
        and word not in known.negations
        and word not in known.linking
        and word not in known.prepositions
    )


def noun_phrases(words: Sequence[str], known: Wording) -> list[tuple[int, int]]:
    """Runs of words that can name an aspect and stand behind a determiner or a feeling, or before a linking verb.

    >>> from hallumeter.aspects.readers.english.words import wording
    >>> noun_phrases(("the", "battery", "life", "is", "awful"), wording())
    [(1, 3)]
    """
    found = []
    first = 0
    while first < len(words):
        last = first
        while last < len(words) and is_noun_like(words[last], known):
            last += 1
        if last > first and _is_framed(words, (first, last), known):
            found.append((max(first, last - 3), last))
        first = max(last, first) + 1
    return found


def _is_framed(words: Sequence[str], run: tuple[int, int], known: Wording) -> bool:
    first, last = run
    before = words[first - 1] if first else ""
    after = words[last] if last < len(words) else ""
    return before in known.determiners or before in known.weights or after in known.linking


def head_of(words: Sequence[str], known: Wording) -> int:
    """Which word of a term carries it: the last before a preposition.

    >>> from hallumeter.aspects.readers.english.words import wording
    >>> head_of(("glass", "of", "red", "wine"), wording()), head_of(("wine", "list"), wording())
    (0, 1)
    """
    for index, word in enumerate(words):
        if index and word in known.prepositions:
            return index - 1
    return len(words) - 1


# Everything that is known of one text, computed once and asked for several times.

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
        denial = self.denial(first, last)
        if denial is not None and denial.sign + 1 != winner:
            # The networks saw few of these and hear the words that are denied.
            winner, other = denial.sign + 1, winner
            scores[winner], scores[other] = scores[other], scores[winner]
        shares = [math.exp((score - highest) * self._with.sharpness) for score in scores]
        total = sum(shares)
        distribution: dict[str, float] = {}
        for name, share in zip(ORDER, shares, strict=True):
            distribution[name] = round(share / total, _DIGITS)
        others = sum(distribution[name] for name in ORDER if name != ORDER[winner])
        distribution[ORDER[winner]] = round(1.0 - others, _DIGITS)
        shown = None if ORDER[winner] == "neutral" else self._shown(winner, heard, low)
        if denial is not None and denial.sign:
            shown = denial.first, denial.last
        tokens = self.sentence.tokens
        return FoundPolarity(
            ORDER[winner],
            distribution[ORDER[winner]],
            distribution,
            start=None if shown is None else tokens.starts[shown[0]],
            end=None if shown is None else tokens.ends[shown[1] - 1],
        )

    @cached_property
    def _denials(self) -> tuple[Denial, ...]:
        sentence = self.sentence
        return denials_of(sentence.tokens, sentence.clauses, sentence.feelings, known=self._with.known)

    def denial(self, first: int, last: int) -> Denial | None:
        """What decides a term whose clause says nothing but by a denial: "weren't bad", "couldn't be worse"."""
        parts = self.sentence.clauses.parts
        part = parts[first]
        own = [each for each in self._denials if parts[each.first] == part and self._speaks_of(each, first)]
        said = {place for each in own for place in range(each.first, each.last)} | set(range(first, last))
        rest = [each for each in self.sentence.feelings if parts[each.core] == part and each.core not in said]
        sign = own[0].sign if own and not rest and len({each.sign for each in own}) == 1 else None
        if self._is_taken_back(part, sign or (self._denied_sign(rest) if not own else 0)):
            return Denial(first, last, 0)
        return None if sign is None else own[0]

    def _speaks_of(self, denial: Denial, first: int) -> bool:
        """Whether a denial is about a term: a plain one is about what stands before it, if anything does."""
        if first < denial.first:
            return True
        words = self.sentence.tokens.words
        if words[denial.last - 1] == "as":  # "not as spicy as some dishes" says nothing of those
            return False
        if denial.is_phrase:  # "no problem getting a table" says nothing of the table
            return words[denial.last - 1] not in _HINDRANCES or not "".join(
                words[denial.last : denial.last + 1]
            ).endswith("ing")
        begin = self.sentence.clauses.stretch(first)[0]
        return not any(begin <= start < denial.first for start, _, _ in self.scored_spans)

    def _is_taken_back(self, part: int, sign: int) -> bool:
        """Whether the next words deny the opposite of the same thing: "not bad, not great"."""
        words, known = self.sentence.tokens.words, self._with.known
        end = self.sentence.clauses.stretch(part)[1]
        following = self._feelings_between(end, len(words))[:1]
        if not sign or self._denied_sign(following) != -sign:
            return False
        between = words[end : following[0].first]
        return all(
            word in known.contrasts or word in known.stop_words or word in known.linking or not word[0].isalnum()
            for word in between
        )

    def _denied_sign(self, feelings: Sequence[Feeling]) -> int:
        """1 where words that begin with a negation praise, -1 where they blame, 0 for anything else."""
        words, known = self.sentence.tokens.words, self._with.known
        if not feelings or any(words[each.first] not in known.negations for each in feelings):
            return 0
        return (
            1 if all(each.weight > 0 for each in feelings) else -1 if all(each.weight < 0 for each in feelings) else 0
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


_KEPT = 64
"""How many texts are remembered; several agents ask about the same one."""
_SHORT = 2_000
"""Characters of the longest text of which many are remembered; of longer ones only the last is."""
_HINDRANCES = frozenset({"problem", "problems", "trouble", "difficulty", "difficulties", "issue", "issues"})
_RULES = 3
"""Counts up when the code reads differently with the same weights and words."""


class EnglishReader:
    """Reads English sentences offline with the weights of the package.

    Made once, it can be used from several threads; the weights are read when they are first needed.

    >>> reader = EnglishReader()
    >>> text = "The food was delicious but the waiter was rude."
    >>> terms = reader.read(text).terms
    >>> [(text[term.start : term.end], reader.polarity_of(text, term.start, term.end).polarity) for term in terms]
    [('food', 'positive'), ('waiter', 'negative')]
    """

    def __init__(self) -> None:
        self._short = lru_cache(maxsize=_KEPT)(analysis_of)
        self._long = lru_cache(maxsize=1)(analysis_of)

    @property
    def language(self) -> str:
        """``en``."""
        return LANGUAGE

    @property
    def version(self) -> str:
        """Rules, and a digest of the weights and the lexicon."""
        return _version()

    def read(self, text: str) -> SentenceReading:
        """Terms and cues of a text, in its order."""
        return self._analysed(text).reading

    def polarity_of(self, text: str, start: int, end: int) -> FoundPolarity:
        """What is felt about the words that a stretch of text touches; of the whole text when it touches none."""
        analysis = self._analysed(text)
        first, last = analysis.sentence.tokens.covering(max(start, 0), end)
        return self.sentence_polarity(text) if first >= last else analysis.polarity(first, last)

    def sentence_polarity(self, text: str) -> FoundPolarity:
        """What is felt in a text as a whole, by the words of the lexicon."""
        sentence = self._analysed(text).sentence
        return whole_polarity(sentence.tokens, sentence.clauses, sentence.feelings)

    def without_particle(self, text: str, start: int, end: int) -> int:  # noqa: ARG002 - the protocol of all languages
        """English has no particles: `end` itself."""
        return end

    def term_after(self, text: str, place: int) -> FoundTerm | None:
        """The first term or likely word at or behind a place, else the first word there that can name an aspect."""
        return self._analysed(text).term_after(place)

    def _analysed(self, text: str) -> Analysis:
        return self._short(text) if len(text) <= _SHORT else self._long(text)


@lru_cache(maxsize=1)
def _instruments() -> Instruments:
    return Instruments.of(shipped_weights())


def analysis_of(text: str) -> Analysis:
    """A text read with the weights of the package."""
    return Analysis(text, _instruments())


@lru_cache(maxsize=1)
def _version() -> str:
    words = msgspec.json.encode(sentiment_words(LANGUAGE), order="deterministic")
    digest = hashlib.sha256(words + shipped_weights().digest.encode()).hexdigest()[:8]
    return f"english@{_RULES}-{digest}"
