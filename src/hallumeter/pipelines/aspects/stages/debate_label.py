"""The label that the summary of a debate names, where it names exactly one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hallumeter.pipelines.aspects.settings import LanguagePatterns
from hallumeter.records.aspects import DebateSummary
from hallumeter.text.polarity_words import sentence_label

from .terms import SqueezedText, term_key

MIXED = "mixed"
_CLAUSE_ENDS = re.compile(r"[.;:!?\n。！？]+")


def debate_label(summary: DebateSummary, patterns: Sequence[LanguagePatterns]) -> str | None:
    """The label of a summary: what it states, else what its tuples agree on, else what its text names.

    Tuples of several polarities make it mixed. A text that names several labels, or denies one, says nothing:
    "rather negative than positive" is not positive, and "not positive" is not either.
    """
    stated = sentence_label(summary.sentence_polarity)
    if stated is not None:
        return stated
    of_tuples = dict.fromkeys(filter(None, (sentence_label(one.polarity) for one in summary.final_tuples)))
    if of_tuples:
        return next(iter(of_tuples)) if len(of_tuples) == 1 else MIXED
    texts = [summary.consensus, summary.rationale, *summary.key_agreements, *summary.key_disagreements]
    return _named(filter(None, texts), patterns)


def _named(texts: Iterable[str], patterns: Sequence[LanguagePatterns]) -> str | None:
    """The one label that texts name; mixed may be explained by both of its sides."""
    named: dict[str, None] = {}
    for clause in (clause for text in texts for clause in _CLAUSE_ENDS.split(text)):
        labels = _labels_in(clause, patterns)
        if labels is None:
            return None
        named.update(dict.fromkeys(labels))
    if named.keys() >= {MIXED, "positive", "negative"}:
        return MIXED
    return next(iter(named)) if len(named) == 1 else None


def _labels_in(clause: str, patterns: Sequence[LanguagePatterns]) -> list[str] | None:
    """The labels that a clause names; None when it denies something about them."""
    text = SqueezedText(clause)
    labels = [
        label
        for label in (MIXED, "positive", "negative", "neutral")
        if any(_stands(text, words) for one in patterns for words in _words(one, label))
    ]
    is_denied = bool(labels) and any(_stands(text, words) for one in patterns for words in one.denials)
    return None if is_denied else labels


def _stands(text: SqueezedText, words: str) -> bool:
    return bool(text.places(term_key(words)))


def _words(patterns: LanguagePatterns, label: str) -> tuple[str, ...]:
    return {
        MIXED: patterns.mixed_words,
        "positive": patterns.positive_words,
        "negative": patterns.negative_words,
    }.get(label, patterns.neutral_words)
