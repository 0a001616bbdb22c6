"""What the presets do on what was held back, at the share of errors that probabilities are made for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from hallumeter.claims.judges.embedded.judge import probabilities_of
from hallumeter.claims.judges.embedded.model_files import KINDS, Tier
from hallumeter.claims.settings import PRESETS

from .decisions import HeldBack, text_weights
from .folds import half_of
from .sentences import BINS


class Said(Struct, frozen=True):
    """Claims with a label, what is said of them, and how much each counts."""

    probabilities: np.ndarray
    thresholds: np.ndarray
    is_unsupported: np.ndarray
    weights: np.ndarray

    def counts(self) -> tuple[float, float, float]:
        """Weights of what is called, of what is unsupported, and of what is both."""
        called = self.probabilities >= self.thresholds
        both = called & self.is_unsupported
        return tuple(float(self.weights[rows].sum()) for rows in (called, self.is_unsupported, both))  # type: ignore[return-value]

    def decile_error(self) -> float:
        """The mean gap between said and observed, by tenths of the probability."""
        places = np.minimum((self.probabilities * BINS).astype(int), BINS - 1)
        gaps = self.weights * (self.probabilities - self.is_unsupported)
        return float(np.abs(np.bincount(places, gaps, minlength=BINS)).sum() / self.weights.sum())


def preset_table(held: Sequence[HeldBack], tiers: Mapping[int, Tier]) -> list[str]:
    """By preset and kind of text: precision, recall, said over true, and the error of the probabilities.

    Args:
        held: Texts that trees and network have not seen, and what they say.
        tiers: For each half of the sources, how a tier decides that was fitted on the other half.
    """
    lines = [
        "| preset | kind of text | claims | precision | recall | F1 | said / true | ECE |",
        "| --- | --- | --: | --: | --: | --: | --: | --: |",
    ]
    weights = text_weights(held)
    for preset in PRESETS:
        for kind in (*KINDS, ""):
            chosen = [pair for pair in zip(held, weights, strict=True) if not kind or pair[0].kind == kind]
            said = _said(chosen, tiers, preset)
            called, wrong, both = said.counts()
            precision = f"{both / called:.3f}" if called else "–"
            figures = [both / wrong, 2 * both / (called + wrong), called / wrong, said.decile_error()]
            cells = [precision, *(f"{figure:.3f}" for figure in figures)]
            lines.append(f"| {preset} | {kind or '**all**'} | {len(said.weights)} | {' | '.join(cells)} |")
    return lines


def _said(held: Sequence[tuple[HeldBack, float]], tiers: Mapping[int, Tier], preset: str) -> Said:
    parts: list[tuple[np.ndarray, float, np.ndarray, float]] = []
    for text, weight in held:
        tier = tiers[half_of(text.example)]
        known = text.labels >= 0
        said = np.asarray(probabilities_of(tier, text.signals, kind=text.kind))[known]
        parts.append((said, tier.threshold(preset, text.kind), text.labels[known] == 1, weight))
    return Said(
        probabilities=np.concatenate([said for said, *_ in parts]),
        thresholds=np.concatenate([np.full(len(said), threshold) for said, threshold, *_ in parts]),
        is_unsupported=np.concatenate([labels for *_, labels, _ in parts]),
        weights=np.concatenate([np.full(len(said), weight) for said, *_, weight in parts]),
    )
