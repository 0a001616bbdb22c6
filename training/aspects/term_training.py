"""Training of the network that marks terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hallumeter.aspects.readers.english.networks import LABELS, LEXICAL, PLACED, WINDOW, Numbers

from .descent import Descent, Weights, dropped, flat, start
from .examples import Batch, Example, Lexis, batches
from .word_layer import WordLayer, joined, joined_back

SIZE = 96
EPOCHS = 20
_SENTENCES = 16
_HIDDEN = 0.25


class TermTraining:
    """A network for terms and how it learns."""

    def __init__(self, lexis: Lexis, seed: int, size: int = SIZE) -> None:
        self._random = np.random.default_rng(seed)
        self._layer = WordLayer(lexis, vector_first=True)
        width = self._layer.size + LEXICAL + PLACED
        self._size = size
        random = self._random
        self.weights: Weights = {
            "first": start(random, WINDOW * width, size),
            "first_bias": np.zeros(size, np.float32),
            "second": start(random, 3 * size, size),
            "second_bias": np.zeros(size, np.float32),
            "out": start(random, size + width, LABELS, scale=0.05),
            "out_bias": np.zeros(LABELS, np.float32),
            "words": self._layer.words_to_learn(),
        }

    def fit(self, examples: Sequence[Example], epochs: int = EPOCHS) -> Weights:
        """Learn from examples; the mean of the last weights."""
        steps = epochs * -(-len(examples) // _SENTENCES)
        descent = Descent(self.weights, steps=steps, rate=2e-3, decay=0.02)
        for _ in range(epochs):
            for batch in batches(examples, _SENTENCES, self._random):
                descent.move(self._gradients(batch))
        self.weights = descent.mean
        return descent.mean

    def probabilities(self, batch: Batch) -> Numbers:
        """Of the labels of every word."""
        return self._forward(batch, None)[0]

    def _forward(self, batch: Batch, random: np.random.Generator | None) -> tuple[Numbers, dict[str, Any]]:
        weights = self.weights
        read = self._layer.read(batch, weights, random)
        near = np.maximum(read.windows @ weights["first"] + weights["first_bias"], 0) * batch.mask[:, :, None]
        near_mask = 1.0 if random is None else dropped(random, near.shape, _HIDDEN)
        kept = near * near_mask
        beside = joined(np.pad(kept, ((0, 0), (1, 1), (0, 0))), 3)
        far = np.maximum(beside @ weights["second"] + weights["second_bias"], 0)
        seen = np.concatenate([kept + far, read.values[:, 2:-2]], axis=2)
        seen_mask = 1.0 if random is None else dropped(random, seen.shape, _HIDDEN)
        seen = seen * seen_mask
        scores = seen @ weights["out"] + weights["out_bias"]
        scores = np.exp(scores - scores.max(axis=2, keepdims=True))
        scores /= scores.sum(axis=2, keepdims=True)
        return scores, {
            "read": read,
            "near": near,
            "near_mask": near_mask,
            "beside": beside,
            "far": far,
            "seen": seen,
            "seen_mask": seen_mask,
        }

    def _gradients(self, batch: Batch) -> Weights:
        weights, size = self.weights, self._size
        scores, kept = self._forward(batch, self._random)
        error = scores
        np.put_along_axis(
            error, batch.labels[:, :, None], np.take_along_axis(error, batch.labels[:, :, None], 2) - 1, 2
        )
        error *= (batch.mask / batch.mask.sum())[:, :, None]
        seen = (error @ weights["out"].T) * kept["seen_mask"]
        far = seen[:, :, :size] * (kept["far"] > 0)
        near = seen[:, :, :size] + joined_back(far @ weights["second"].T, 3)[:, 1:-1]
        near = near * kept["near_mask"] * (kept["near"] > 0)
        values = joined_back(near @ weights["first"].T, WINDOW)
        values[:, 2:-2] += seen[:, :, size:]
        read = kept["read"]
        return {
            "out": flat(kept["seen"]).T @ flat(error),
            "out_bias": flat(error).sum(axis=0),
            "second": flat(kept["beside"]).T @ flat(far),
            "second_bias": flat(far).sum(axis=0),
            "first": flat(read.windows).T @ flat(near),
            "first_bias": flat(near).sum(axis=0),
            "words": self._layer.words_back(read, values, weights),
        }
