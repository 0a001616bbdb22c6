"""The Korean words of the lexicon, arranged for looking up."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import NamedTuple

import msgspec

from hallumeter.aspects.sentiment_words import sentiment_words

DICTIONARY_ENDING = "다"
_DERIVING = ("하다", "스럽다", "되다", "롭다")
"""Predicates that are made of a noun end so."""


class Grammar(NamedTuple):
    """Particles, endings and other closed classes; the lexicon says what each list is for."""

    topic_particles: frozenset[str]
    than_particles: frozenset[str]
    silent_suffixes: frozenset[str]
    basis_nouns: frozenset[str]
    light_nouns: frozenset[str]
    breaking_nouns: frozenset[str]
    ability_nouns: frozenset[str]
    worth_nouns: frozenset[str]
    closing_nouns: frozenset[str]
    background_nouns: frozenset[str]
    contrast_nouns: frozenset[str]
    doing_verbs: frozenset[str]
    looking_verbs: frozenset[str]
    seeming_verbs: frozenset[str]
    absent_verbs: frozenset[str]
    present_verbs: frozenset[str]
    open_endings: frozenset[str]
    future_marks: frozenset[str]
    honorific_marks: frozenset[str]
    need_endings: frozenset[str]
    wish_endings: frozenset[str]
    question_endings: frozenset[str]
    because_endings: frozenset[str]
    joining_endings: frozenset[str]
    manner_endings: frozenset[str]
    background_endings: frozenset[str]
    negating_adverbs: frozenset[str]
    unable_adverbs: frozenset[str]
    urging_adverbs: frozenset[str]
    more_adverbs: frozenset[str]
    polarity_shy: frozenset[str]
    excess: frozenset[str]


class Vocabulary(NamedTuple):
    """What the reader knows of words; the lexicon says what each list is for."""

    grammar: Grammar
    weights: dict[str, float]
    noun_weights: dict[str, float]
    """Of nouns, and of roots of predicates that can stand alone: 친절 beside 친절하다."""
    phrases: dict[tuple[str, ...], float]
    phrase_words: frozenset[str]
    longest_phrase: int
    degrees: dict[str, float]
    """Factors of adverbs of degree, above and below 1."""
    negations: frozenset[str]
    contrasts: frozenset[str]
    irony: tuple[str, ...]
    stop_terms: frozenset[str]
    user_words: tuple[str, ...]
    adverbs_as_predicates: dict[str, str]
    aspects: frozenset[str]
    attributes: frozenset[str]
    short_aspects: frozenset[str]
    reversers: frozenset[str]
    amounts: frozenset[str]
    bad_when_much: frozenset[str]
    functions: frozenset[str]
    wish_words: frozenset[str]
    needs: frozenset[str]
    experiences: frozenset[str]
    expectations: frozenset[str]

    def weight(self, lemma: str) -> float:
        """Of a word in its dictionary form; 0 for words that show nothing."""
        return self.weights.get(lemma, 0.0)

    def noun_weight(self, noun: str) -> float:
        """Of a noun; 0 for nouns that show nothing."""
        return self.noun_weights.get(noun, 0.0)


@cache
def vocabulary() -> Vocabulary:
    """The words of the lexicon."""
    words = sentiment_words("ko")
    lists = {name: frozenset(entries) for name, entries in words.extra.items()}
    phrases = {tuple(phrase.split()): weight for phrase, weight in words.phrases.items()}
    found = {word: weight for word, weight in words.words.items() if not word.endswith(DICTIONARY_ENDING)}
    for word, weight in words.words.items():
        root = next((word.removesuffix(suffix) for suffix in _DERIVING if word.endswith(suffix)), "")
        if len(root) > 1:
            found.setdefault(root, weight)
    return Vocabulary(
        grammar=Grammar(**{name: lists[name] for name in Grammar._fields}),
        weights=words.words,
        noun_weights=found,
        phrases=phrases,
        phrase_words=frozenset(word for phrase in phrases for word in phrase),
        longest_phrase=max(map(len, phrases)),
        degrees={**words.intensifiers, **words.diminishers},
        negations=frozenset(words.negations),
        contrasts=frozenset(words.contrasts),
        irony=words.irony,
        stop_terms=frozenset(words.stop_terms),
        user_words=words.extra["user_words"],
        adverbs_as_predicates=dict(entry.split("=") for entry in words.extra["adverbs_as_predicates"]),
        aspects=lists["aspects"],
        attributes=lists["attributes"],
        short_aspects=lists["short_aspects"],
        reversers=lists["reversers"],
        amounts=lists["amounts"],
        bad_when_much=lists["bad_when_much"],
        functions=lists["functions"],
        wish_words=lists["wish_words"],
        needs=lists["needs"],
        experiences=lists["experiences"],
        expectations=lists["expectations"],
    )


@cache
def lexicon_hash() -> str:
    """Of everything in the lexicon, eight letters."""
    return hashlib.sha256(msgspec.json.encode(sentiment_words("ko"), order="deterministic")).hexdigest()[:8]
