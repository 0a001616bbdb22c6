"""How the tiers decide: weights of the signals, the threshold of a label, and of a token in a span.

All is fitted on what was held back from trees and network. Every kind of task counts the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, structs
from sklearn.linear_model import LogisticRegression

from hallumeter.claims.judges.embedded.judge import Signals, best_stretch, signals_of
from hallumeter.claims.judges.embedded.model_files import Tier
from hallumeter.claims.judges.embedded.network import ReadClaim, tokens_of

from .examples import Example
from .readings import LabelledClaim

FAST = ("trees", "trees_beside", "is_structured")
FULL = ("trees", "is_structured", "vote", "vote_beside")
PREVALENCE = {"qa": 0.3, "summary": 0.3, "data": 0.6}
"""Share of texts with an error for which the threshold is chosen, whatever the share among the held-back ones."""


MOST_CALLED = 1.25
"""How many times as many claims as people a tier may call unsupported."""


class HeldBack(Struct, frozen=True):
    """A text that neither trees nor network have seen, and what they say of its claims."""

    example: Example
    claims: tuple[LabelledClaim, ...]
    logits: np.ndarray
    """Of the trees."""
    reads: list[ReadClaim] | None
    is_structured: bool

    @property
    def labels(self) -> np.ndarray:
        """Of its claims: 1 unsupported, 0 supported, -1 not known."""
        known = [claim.is_unsupported for claim in self.claims]
        return np.asarray([-1 if label is None else int(label) for label in known])

    def signals(self) -> Signals:
        """What a tier weighs."""
        return signals_of(self.logits, self.reads, is_structured=self.is_structured)


def fitted(held: Sequence[HeldBack], names: tuple[str, ...]) -> Tier:
    """The weights of the signals by logistic regression on claims, and the threshold for texts."""
    rows = [np.column_stack([each.signals()[name] for name in names]) for each in held]
    labels = [each.labels for each in held]
    weights = claim_weights(held)
    table, known = np.concatenate(rows), np.concatenate(labels)
    weight = np.concatenate([np.full(len(each), value) for each, value in zip(labels, weights, strict=True)])
    judged = known >= 0
    model = LogisticRegression(C=10.0, max_iter=2000).fit(table[judged], known[judged], sample_weight=weight[judged])
    constant, coefficients = float(model.intercept_[0]), model.coef_[0]
    said = [_probabilities(constant + each @ coefficients) for each in rows]
    threshold = best_threshold(held, said)
    decision = Tier(constant, dict(zip(names, map(float, coefficients), strict=True)), threshold)
    if names == FAST:
        return decision
    return structs.replace(decision, stretch=best_stretch_level(held, said, threshold=threshold))


def claim_weights(held: Sequence[HeldBack]) -> list[float]:
    """Weights by which every kind of task counts the same, and errors as often as in `PREVALENCE`."""
    groups = [(each.example.task, each.example.is_unsupported) for each in held]
    counts = {group: groups.count(group) for group in set(groups)}
    shares = {(task, wrong): PREVALENCE[task] if wrong else 1 - PREVALENCE[task] for task, wrong in counts}
    return [len(held) * shares[group] / counts[group] / len(PREVALENCE) for group in groups]


def best_threshold(held: Sequence[HeldBack], said: Sequence[np.ndarray]) -> float:
    """The threshold with the best mean F1 of texts over the kinds of tasks, each at its prevalence.

    Only those that call about as many claims unsupported as people do: a rate from them is not inflated.
    """
    weights = np.asarray(claim_weights(held))
    tasks = np.asarray([each.example.task for each in held])
    wrong = np.asarray([each.example.is_unsupported for each in held])
    scores = np.asarray([each.max() for each in said])
    by_claim = np.concatenate([np.full(len(each), weight) for each, weight in zip(said, weights, strict=True)])
    labels, values = np.concatenate([each.labels for each in held]), np.concatenate(list(said))
    by_people = by_claim[labels == 1].sum() / by_claim[labels >= 0].sum()
    candidates = [
        float(each)
        for each in np.round(np.arange(0.05, 0.95, 0.01), 2)
        if by_claim[(values >= each) & (labels >= 0)].sum() / by_claim[labels >= 0].sum() <= MOST_CALLED * by_people
    ]
    means = [
        np.mean(
            [_f1(scores[tasks == task] >= each, wrong[tasks == task], weights[tasks == task]) for task in PREVALENCE]
        )
        for each in candidates
    ]
    return float(candidates[int(np.argmax(means))])


def _f1(called: np.ndarray, wrong: np.ndarray, weights: np.ndarray) -> float:
    both = weights[called & wrong].sum()
    return float(2 * both / (weights[called].sum() + weights[wrong].sum()))


def best_stretch_level(held: Sequence[HeldBack], said: Sequence[np.ndarray], *, threshold: float) -> float:
    """The level of tokens with the best F1 of marked characters, the kinds of tasks counting the same."""
    marked = [(each, values >= threshold) for each, values in zip(held, said, strict=True) if each.example.has_spans]
    weights = claim_weights([each for each, _ in marked])
    levels = np.round(np.arange(0.1, 0.75, 0.05), 2)
    return float(max(levels, key=lambda level: _character_f1(marked, weights, float(level))))


def _character_f1(marked: Sequence[tuple[HeldBack, np.ndarray]], weights: Sequence[float], level: float) -> float:
    both = total = 0.0
    for (each, called), weight in zip(marked, weights, strict=True):
        gold = {place for span in each.example.spans for place in range(span.start, span.end)}
        found = {place for number in np.flatnonzero(called) for place in _marked(each, int(number), level)}
        both += weight * len(gold & found)
        total += weight * (len(gold) + len(found))
    return 2 * both / total if total else 0.0


def _marked(held: HeldBack, number: int, level: float) -> range:
    """Characters of a claim that are marked at this level; all of it when no token reaches it."""
    assert held.reads is not None
    claim = held.claims[number]
    found = best_stretch(_probabilities(held.reads[number].unsupported) - level)
    if found is None:
        return range(claim.start, claim.end)
    spans = tokens_of(claim.text).spans
    return range(claim.start + spans[found[0]][0], claim.start + spans[found[1] - 1][1])


def _probabilities(logits: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logits))
