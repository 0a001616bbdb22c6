"""Figures of a judge on texts that people judged, with intervals that keep the texts of one source together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct
from sklearn.metrics import roc_auc_score

from .judged import Judged


class Figure(Struct, frozen=True):
    """A number and its interval; None when it is not defined."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.value is None:
            return "–"
        if self.low is None or self.high is None:
            return f"{self.value:.3f}"
        return f"{self.value:.3f} ({self.low:.3f}–{self.high:.3f})"


class Outcome(Struct, frozen=True):
    """One text: where it comes from, what people said, what the judge said."""

    source: str
    is_unsupported: bool
    score: float
    is_called: bool


def outcome_of(judged: Judged) -> Outcome:
    """The outcome of a judged example."""
    return Outcome(
        judged.example.source, judged.example.is_unsupported, judged.probability, judged.is_called_unsupported
    )


def auroc(outcomes: Sequence[Outcome]) -> float | None:
    """How often a text with an error has the higher score than one without."""
    labels = [each.is_unsupported for each in outcomes]
    if len(set(labels)) < 2:
        return None
    return float(roc_auc_score(labels, [each.score for each in outcomes]))


def f1(outcomes: Sequence[Outcome]) -> float | None:
    """F1 of texts with an error, at the judge's own threshold."""
    both = sum(each.is_called and each.is_unsupported for each in outcomes)
    total = sum(each.is_called for each in outcomes) + sum(each.is_unsupported for each in outcomes)
    return 2 * both / total if total else None


def precision(outcomes: Sequence[Outcome]) -> float | None:
    """Of the texts that are called wrong, how many are."""
    called = [each for each in outcomes if each.is_called]
    return sum(each.is_unsupported for each in called) / len(called) if called else None


def recall(outcomes: Sequence[Outcome]) -> float | None:
    """Of the texts with an error, how many are called wrong."""
    wrong = [each for each in outcomes if each.is_unsupported]
    return sum(each.is_called for each in wrong) / len(wrong) if wrong else None


def with_interval(
    measure: Callable[[Sequence[Outcome]], float | None], outcomes: Sequence[Outcome], *, draws: int = 400
) -> Figure:
    """A figure with its 95 % interval by a bootstrap of sources."""
    value = measure(outcomes)
    if value is None:
        return Figure(None)
    by_source: dict[str, list[Outcome]] = {}
    for each in outcomes:
        by_source.setdefault(each.source, []).append(each)
    groups = list(by_source.values())
    generator = np.random.default_rng(0)
    drawn = []
    for _ in range(draws):
        chosen = [each for number in generator.integers(len(groups), size=len(groups)) for each in groups[number]]
        again = measure(chosen)
        if again is not None:
            drawn.append(again)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Figure(value, float(low), float(high))


def character_f1(judged: Sequence[Judged]) -> float | None:
    """F1 of the characters that are called unsupported; None where people marked none."""
    both = called = marked = 0
    for each in judged:
        gold = {place for span in each.example.spans for place in range(span.start, span.end)}
        said = each.marked
        both += len(gold & said)
        called += len(said)
        marked += len(gold)
    return 2 * both / (called + marked) if marked else None


def said_over_true(outcomes: Sequence[Outcome]) -> float | None:
    """How many times as many texts are called wrong as are."""
    wrong = sum(each.is_unsupported for each in outcomes)
    return sum(each.is_called for each in outcomes) / wrong if wrong else None


def pair_accuracy(judged: Sequence[Judged]) -> float | None:
    """How often a wrong text has the higher score than a right one that differs from it in a few words only."""
    families: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
    for each in judged:
        if each.example.family:
            both = families.setdefault((each.example.source, each.example.family), ([], []))
            both[each.example.is_unsupported].append(each.probability)
    won = [wrong > right for rights, wrongs in families.values() for right in rights for wrong in wrongs]
    return sum(won) / len(won) if won else None
