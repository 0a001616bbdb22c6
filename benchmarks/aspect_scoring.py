"""What a reader of aspects is scored by: terms found and missed, polarities right and wrong, and how sure it was."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path

import numpy as np
from defusedxml import ElementTree
from msgspec import Struct
from numpy.typing import NDArray

POLARITIES = ("positive", "negative", "neutral")
ROUNDS = 2_000
SEED = 7

Terms = Mapping[Hashable, str]
"""The polarity of each term, by whatever makes two terms the same: a span, or its words; empty where it is unsure."""


class MarkedSentence(Struct, frozen=True):
    """A sentence, and what people marked in it."""

    text: str
    terms: Terms


class Score(Struct, frozen=True):
    """A number and the interval from resampling sentences."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


class SentenceCounts(Struct, frozen=True):
    """What of one sentence is counted."""

    found: int
    marked: int
    both: int
    judged: int
    """Terms in both whose polarity people agree on."""
    right: int
    pairs: tuple[tuple[str, str], ...]
    """Polarity of the people and of the reader, of the judged terms."""


def read_mams(path: Path) -> list[MarkedSentence]:
    """Sentences of MAMS; a term is its two offsets."""
    sentences = []
    root = ElementTree.parse(path).getroot()
    assert root is not None
    for element in root:
        terms: dict[Hashable, str] = {
            (int(term.get("from", "")), int(term.get("to", ""))): term.get("polarity", "")
            for term in element.iter("aspectTerm")
        }
        sentences.append(MarkedSentence(element.findtext("text") or "", terms))
    return sentences


def read_mabsa(path: Path) -> list[MarkedSentence]:
    """Sentences of M-ABSA, which has no offsets; a term is its words, and terms that are not named are left out."""
    sentences = []
    for line in path.read_text(encoding="utf-8").splitlines():
        text, _, marks = line.partition("####")
        terms: dict[Hashable, str] = {}
        for term, _, polarity in ast.literal_eval(marks) if marks else []:
            if term != "NULL":
                key = written(term)
                terms[key] = polarity if terms.get(key, polarity) == polarity else ""
        sentences.append(MarkedSentence(text, terms))
    return sentences


def written(term: str) -> str:
    """How terms without offsets are compared.

    >>> written("Battery  Life")
    'battery life'
    """
    return " ".join(term.lower().split())


def count(found: Terms, marked: Terms) -> SentenceCounts:
    """Compare one sentence."""
    both = [term for term in found if term in marked]
    pairs = tuple((marked[term], found[term]) for term in both if marked[term])
    right = sum(gold == said for gold, said in pairs)
    return SentenceCounts(len(found), len(marked), len(both), len(pairs), right, pairs)


def _table(counts: Sequence[SentenceCounts]) -> NDArray[np.float64]:
    return np.array([[each.found, each.marked, each.both, each.judged, each.right] for each in counts], np.float64)


def scores(counts: Sequence[SentenceCounts]) -> dict[str, Score]:
    """Precision, recall and F1 of terms, and accuracy and macro-F1 of polarities on terms in both."""
    pairs = [(gold, said) for gold in POLARITIES for said in POLARITIES]
    patterns = np.array([[each.pairs.count(pair) for pair in pairs] for each in counts], np.float64)
    table = np.concatenate([_table(counts), patterns], axis=1)
    measures: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
        "term precision": lambda sums: _ratio(sums[:, 2], sums[:, 0]),
        "term recall": lambda sums: _ratio(sums[:, 2], sums[:, 1]),
        "term F1": lambda sums: _ratio(2 * sums[:, 2], sums[:, 0] + sums[:, 1]),
        "polarity accuracy": lambda sums: _ratio(sums[:, 4], sums[:, 3]),
        "polarity macro-F1": _macro_f1,
    }
    random = np.random.default_rng(SEED)
    draws = random.multinomial(len(table), np.full(len(table), 1 / len(table)), size=ROUNDS).astype(np.float64)
    whole, resampled = table.sum(axis=0, keepdims=True), draws @ table
    found = {}
    for name, measure in measures.items():
        low, high = np.nanquantile(measure(resampled), [0.025, 0.975])
        found[name] = Score(float(measure(whole)[0]), float(low), float(high))
    return found


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)


def _macro_f1(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    confusion = sums[:, 5:].reshape(-1, len(POLARITIES), len(POLARITIES))
    hits = np.diagonal(confusion, axis1=1, axis2=2)
    both = confusion.sum(axis=1) + confusion.sum(axis=2)
    return np.asarray(np.nanmean(np.where(both > 0, 2 * hits / np.where(both > 0, both, 1), np.nan), axis=1))


def calibration_error(confidences: Sequence[float], hits: Sequence[bool], bins: int = 10) -> float:
    """The mean distance between confidence and share of hits, over bins of like confidence.

    >>> calibration_error([0.25, 0.25, 0.25, 0.25], [True, False, False, False])
    0.0
    """
    surplus = dict.fromkeys(range(bins), 0.0)
    for confidence, hit in zip(confidences, hits, strict=True):
        surplus[min(int(confidence * bins), bins - 1)] += confidence - hit
    return sum(map(abs, surplus.values())) / len(confidences)
