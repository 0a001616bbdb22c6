"""How the tiers decide: weights of the signals, curves of calibration, thresholds of the presets, marked parts.

All is fitted on what was held back from trees and network. Every kind of text counts the same, and in each as many
texts have an error as `PREVALENCE` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from msgspec import Struct
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from hallumeter.claims.judges.embedded.judge import Signals, best_stretch
from hallumeter.claims.judges.embedded.model_files import (
    CLAIM_SIGNALS,
    DEFAULT,
    FINDING,
    KINDS,
    TEXT_SIGNALS,
    Curve,
    Tier,
)
from hallumeter.claims.judges.embedded.network import ReadClaim
from hallumeter.claims.judges.embedded.word_pieces import tokens_of

from .examples import Example
from .readings import LabelledClaim

PREVALENCE = {"qa": 0.2, "summary": 0.25, "record": 0.65, "single": 0.3, "dialogue": 0.3}
"""Share of texts with an error for which probabilities are calibrated, whatever the share among the held-back ones.
The first three are about what people found in the test part of RAGTruth (18, 23 and 64 %: Niu et al. 2024); for the
others nobody has counted what models write, and three in ten is a guess."""
LEAST_FOUND = 30
"""Claims with a finding below which its reason has no weight of its own."""
LEAST_WRONG = 60
"""Unsupported claims of a kind of text below which it has the curve and the thresholds of all kinds."""
KNOTS = 12
PRECISE, SENSITIVE = 0.85, 0.87
"""Precision of what is flagged by the preset precise, recall of sensitive. Aimed a little higher than 0.8 and 0.85,
which are promised: what is fitted on some sources is a little worse on others."""
LEAST_RANKED = 0.6
"""AUROC of a kind of text below which it has the thresholds of all kinds: one of its own would pick at random."""
LEAST_FLAGGED = 30
"""Claims that a threshold of the preset precise must flag, so that its precision is known."""
REFITS = 40


class HeldBack(Struct, frozen=True):
    """A text that neither trees nor network have seen, and what they say of its claims."""

    example: Example
    claims: tuple[LabelledClaim, ...]
    signals: Signals
    kind: str
    reads: list[ReadClaim] | None

    @property
    def labels(self) -> np.ndarray:
        """Of its claims: 1 unsupported, 0 supported, -1 not known."""
        known = [claim.is_unsupported for claim in self.claims]
        return np.asarray([-1 if label is None else int(label) for label in known])


class Claims(Struct, frozen=True):
    """The claims of all texts that people judged one by one, as arrays."""

    signals: Signals
    labels: np.ndarray
    weights: np.ndarray
    kinds: np.ndarray
    sources: np.ndarray
    """A number for each source."""


def fitted(held: Sequence[HeldBack], tier: str, *, calibration: str) -> Tier:
    """Weights by logistic regression, curves by kind of text, thresholds, and the level of marked tokens."""
    claims = claims_of_texts(held)
    names = _signal_names(claims, tier)
    table = np.column_stack([claims.signals[name] for name in names])
    model = LogisticRegression(C=10.0, max_iter=5000).fit(table, claims.labels, sample_weight=claims.weights)
    weights = dict(zip(names, map(float, model.coef_[0]), strict=True))
    plain = Tier(
        constant=float(model.intercept_[0]),
        weights={name: round(value, 4) for name, value in weights.items()},
        presets=dict.fromkeys(("precise", "balanced", "sensitive"), 0.5),
        calibration=calibration,
    )
    logits = logits_of(plain, claims.signals)
    curves = {kind: curve_of(logits[rows], claims, rows) for kind, rows in _by_kind(claims).items()}
    said = probabilities(logits, claims.kinds, curves)
    presets = _presets(said, claims)
    decision = Tier(
        constant=plain.constant,
        weights=plain.weights,
        presets=presets,
        calibration=calibration,
        curves=curves,
        alternatives={kind: _refits(said[rows], claims, rows) for kind, rows in _by_kind(claims).items()},
    )
    if tier == "fast":
        return decision
    return Tier(**{**_fields(decision), "stretch": best_stretch_level(held, decision)})


def claims_of_texts(held: Sequence[HeldBack]) -> Claims:
    """All claims with a label of their own."""
    kept = [(each, weight, each.labels >= 0) for each, weight in zip(held, text_weights(held), strict=True)]
    numbers = {source: number for number, source in enumerate(dict.fromkeys(each.example.source for each in held))}
    # What the network says is known of some texts only.
    names = [name for name in held[0].signals if all(name in each.signals for each in held)]
    return Claims(
        signals={name: np.concatenate([each.signals[name][rows] for each, _, rows in kept]) for name in names},
        labels=np.concatenate([each.labels[rows] for each, _, rows in kept]),
        weights=np.concatenate([np.full(rows.sum(), weight) for _, weight, rows in kept]),
        kinds=np.concatenate([np.full(rows.sum(), each.kind) for each, _, rows in kept]),
        sources=np.concatenate([np.full(rows.sum(), numbers[each.example.source]) for each, _, rows in kept]),
    )


def text_weights(held: Sequence[HeldBack]) -> list[float]:
    """Weights by which every kind of text counts the same, and errors as often as in `PREVALENCE`."""
    groups = [(each.kind, each.example.is_unsupported) for each in held]
    counts = {group: groups.count(group) for group in set(groups)}
    shares = {(kind, wrong): PREVALENCE[kind] if wrong else 1 - PREVALENCE[kind] for kind, wrong in counts}
    return [len(held) * shares[group] / counts[group] / len(PREVALENCE) for group in groups]


def logits_of(tier: Tier, signals: Signals) -> np.ndarray:
    """What a tier adds up, before calibration."""
    total = sum((weight * signals[name] for name, weight in tier.weights.items()), np.zeros(len(signals["trees"])))
    return np.asarray(tier.constant + total)


def probabilities(logits: np.ndarray, kinds: np.ndarray, curves: dict[str, Curve]) -> np.ndarray:
    """Calibrated probabilities of claims of several kinds of text."""
    said = np.zeros(len(logits))
    for kind in np.unique(kinds):
        rows = kinds == kind
        said[rows] = _sigmoid(curves.get(str(kind), curves[DEFAULT])(logits[rows]))
    return said


def _signal_names(claims: Claims, tier: str) -> list[str]:
    found = [name for name in claims.signals if name.startswith(FINDING) and claims.signals[name].sum() >= LEAST_FOUND]
    return [*CLAIM_SIGNALS[tier], *TEXT_SIGNALS, *found]


def _by_kind(claims: Claims) -> dict[str, np.ndarray]:
    """Rows of the kinds of text that have enough claims of both labels, and of all kinds together."""
    rows = {kind: claims.kinds == kind for kind in KINDS}
    enough = {kind: each for kind, each in rows.items() if claims.labels[each].sum() >= LEAST_WRONG}
    return {DEFAULT: np.ones(len(claims.labels), bool)} | enough


def curve_of(logits: np.ndarray, claims: Claims, rows: np.ndarray) -> Curve:
    """A curve that never falls, through the observed shares of about equally large groups of claims."""
    labels, weights = claims.labels[rows], claims.weights[rows]
    order = np.argsort(logits)
    steps = IsotonicRegression(out_of_bounds="clip").fit(logits, labels, sample_weight=weights)
    places = np.cumsum(weights[order]) / weights.sum()
    # More groups among the doubtful claims, of which there are few.
    edges = np.unique(
        np.concatenate([np.linspace(0, 0.8, KNOTS // 2 + 1), 1 - 0.2 * 0.5 ** np.arange(KNOTS // 2), [1.0]])
    )
    x, y = [], []
    for low, high in pairwise(edges.tolist()):
        group = order[(places > low) & (places <= high)]
        if len(group) < 20:
            continue
        share = np.average(steps.predict(logits[group]), weights=weights[group])
        count = len(group)
        # Half a claim of the usual share is added to a group, so that a share of none is not a certainty.
        smoothed = (share * count + 0.5 * labels.mean()) / (count + 0.5)
        x.append(float(np.average(logits[group], weights=weights[group])))
        y.append(float(_logit(smoothed)))
    rising = np.maximum.accumulate(y)
    keep = np.concatenate([[True], np.diff(x) > 1e-3])
    return Curve(tuple(np.round(np.asarray(x)[keep], 4).tolist()), tuple(np.round(rising[keep], 4).tolist()))


def _presets(said: np.ndarray, claims: Claims) -> dict[str, float | dict[str, float]]:
    found: dict[str, dict[str, float]] = {"precise": {}, "balanced": {}, "sensitive": {}}
    for kind, rows in _by_kind(claims).items():
        values, labels, weights = said[rows], claims.labels[rows], claims.weights[rows]
        if roc_auc_score(labels, values, sample_weight=weights) < LEAST_RANKED:
            continue
        order = np.argsort(-values)
        called = np.cumsum(weights[order])
        right = np.cumsum((weights * labels)[order])
        ends = np.flatnonzero(np.append(np.diff(-values[order]) > 0, True))  # claims that are alike fall together
        thresholds = values[order][ends]
        precision, recall, ratio = right[ends] / called[ends], right[ends] / right[-1], called[ends] / right[-1]
        found["balanced"][kind] = _rounded(thresholds[int(np.argmin(np.abs(ratio - 1.0)))])
        counted = np.arange(1, len(order) + 1)[ends] >= LEAST_FLAGGED
        good = np.flatnonzero((precision >= PRECISE) & counted)
        # Where no threshold is so precise: that of all kinds, which come first, and never below the balanced one.
        least = thresholds[good[-1]] if len(good) else found["precise"].get(DEFAULT, 1.0)
        found["precise"][kind] = _rounded(max(least, found["balanced"][kind]))
        found["sensitive"][kind] = _rounded(thresholds[np.flatnonzero(recall >= SENSITIVE)[0]])
    return {name: dict(values) for name, values in found.items()}


def _rounded(threshold: float) -> float:
    return float(np.floor(threshold * 1e4) / 1e4)


def _refits(said: np.ndarray, claims: Claims, rows: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Shift and slope of the calibrated logit in refits on sources drawn again."""
    generator = np.random.default_rng(0)
    values, labels, weights, sources = _logit(said), claims.labels[rows], claims.weights[rows], claims.sources[rows]
    numbers = np.unique(sources)
    drawn = []
    for _ in range(REFITS):
        times = np.bincount(generator.choice(numbers, len(numbers)), minlength=numbers.max() + 1)[sources]
        drawn.append(_shift_and_slope(values, labels, weights * times))
    return tuple(drawn)


def _shift_and_slope(values: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    def loss(given: np.ndarray) -> float:
        logits = given[0] + np.exp(given[1]) * values
        return float((weights * (np.logaddexp(0, logits) - labels * logits)).sum() / weights.sum())

    found = minimize(loss, np.zeros(2), method="Nelder-Mead").x
    # A slope of nothing would forget what was said; so flat it is only where little is known of a kind of text.
    return round(float(found[0]), 4), max(round(float(np.exp(found[1])), 4), 0.001)


def best_stretch_level(held: Sequence[HeldBack], decision: Tier) -> float:
    """The level of tokens with the best F1 of marked characters, the kinds of texts counting the same."""
    marked = [(each, called_of(each, decision)) for each in held if each.example.has_spans]
    weights = text_weights([each for each, _ in marked])
    levels = np.round(np.arange(0.1, 0.75, 0.05), 2)
    return float(max(levels, key=lambda level: _character_f1(marked, weights, float(level))))


def called_of(held: HeldBack, decision: Tier) -> np.ndarray:
    """Which claims of a text the balanced preset calls unsupported."""
    said = _sigmoid(decision.curve(held.kind)(logits_of(decision, held.signals)))
    return np.asarray(said >= decision.threshold("balanced", held.kind))


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
    found = best_stretch(_sigmoid(held.reads[number].unsupported) - level)
    if found is None:
        return range(claim.start, claim.end)
    spans = tokens_of(claim.text).spans
    return range(claim.start + spans[found[0]][0], claim.start + spans[found[1] - 1][1])


def _fields(tier: Tier) -> dict[str, object]:
    return {name: getattr(tier, name) for name in tier.__struct_fields__}


def _sigmoid(logits: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-logits)))


def _logit(shares: np.ndarray | float) -> np.ndarray:
    kept = np.clip(shares, 1e-4, 1 - 1e-4)
    return np.asarray(np.log(kept / (1 - kept)))
