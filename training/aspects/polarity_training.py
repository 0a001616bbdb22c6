"""Training of the network that says what is felt about a term."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hallumeter.aspects.readers.english.networks import LEXICAL, ORDER, PLACED, PLACES, WINDOW, Numbers

from .descent import Descent, Weights, dropped, flat, start, summed_by_row
from .examples import Batch, Example, Lexis, batches
from .word_layer import WordLayer, joined_back

SIZE = 128
EPOCHS = 20
_SENTENCES = 12
_HIDDEN = 0.3
_FAR = -1e9


class PolarityTraining:
    """A network for polarities and how it learns."""

    def __init__(self, lexis: Lexis, seed: int, size: int = SIZE) -> None:
        self._random = np.random.default_rng(seed)
        self._layer = WordLayer(lexis, vector_first=False)
        width = self._layer.size + LEXICAL + PLACED
        self._size = size
        random = self._random
        self.weights: Weights = {
            "said": start(random, WINDOW * width, size),
            "said_bias": np.zeros(size, np.float32),
            "gate": start(random, WINDOW * width, size),
            "gate_bias": np.zeros(size, np.float32),
            "term": start(random, width, size),
            "places": start(random, PLACES, size, scale=0.1),
            "out": start(random, 2 * size + width, len(ORDER), scale=0.05),
            "out_bias": np.zeros(len(ORDER), np.float32),
            "words": self._layer.words_to_learn(),
        }

    def fit(self, examples: Sequence[Example], epochs: int = EPOCHS) -> Weights:
        """Learn from examples; the mean of the last weights."""
        with_terms = [example for example in examples if example.terms]
        steps = epochs * -(-len(with_terms) // _SENTENCES)
        descent = Descent(self.weights, steps=steps, rate=2e-3, decay=0.02)
        for _ in range(epochs):
            for batch in batches(with_terms, _SENTENCES, self._random):
                descent.move(self._gradients(batch))
        self.weights = descent.mean
        return descent.mean

    def scores(self, batch: Batch) -> Numbers:
        """Of the terms of a batch, before they are made probabilities."""
        return self._forward(batch, None)[0]

    def _forward(self, batch: Batch, random: np.random.Generator | None) -> tuple[Numbers, dict[str, Any]]:
        weights = self.weights
        read = self._layer.read(batch, weights, random)
        contents = np.tanh(read.windows @ weights["said"] + weights["said_bias"])
        gates = read.windows @ weights["gate"] + weights["gate_bias"]
        term = np.einsum("tw,twd->td", batch.inside, read.values[batch.owners, 2:-2])
        opening = gates[batch.owners] + (term @ weights["term"])[:, None]
        for kind in range(4):
            opening += weights["places"][batch.places[:, kind]]
        gate = 1 / (1 + np.exp(-np.clip(opening, -30, 30)))
        content = contents[batch.owners]
        heard = content * gate
        near = batch.near[:, :, None]
        strongest = np.where(near > 0, heard, _FAR).argmax(axis=1)[:, None]
        peaks = np.take_along_axis(heard, strongest, axis=1)[:, 0]
        seen = np.concatenate([peaks, (heard * near).sum(axis=1) / 3, term], axis=1)
        mask = 1.0 if random is None else dropped(random, seen.shape, _HIDDEN)
        seen = seen * mask
        scores = seen @ weights["out"] + weights["out_bias"]
        return scores, {
            "read": read,
            "contents": contents,
            "content": content,
            "gate": gate,
            "term": term,
            "strongest": strongest,
            "seen": seen,
            "mask": mask,
        }

    def _gradients(self, batch: Batch) -> Weights:
        weights, size = self.weights, self._size
        scores, kept = self._forward(batch, self._random)
        error = np.exp(scores - scores.max(axis=1, keepdims=True))
        error /= error.sum(axis=1, keepdims=True)
        error[np.arange(len(error)), batch.polarities] -= 1
        error /= len(error)
        seen = (error @ weights["out"].T) * kept["mask"]
        heard = (seen[:, size : 2 * size] / 3)[:, None] * batch.near[:, :, None]
        peaks = np.take_along_axis(heard, kept["strongest"], axis=1) + seen[:, None, :size]
        np.put_along_axis(heard, kept["strongest"], peaks, axis=1)
        gate, content, read = kept["gate"], kept["content"], kept["read"]
        opening = heard * content * gate * (1 - gate)
        by_sentence = (len(batch.rows), *opening.shape[1:])
        gates = summed_by_row(batch.owners, opening, len(batch.rows)).reshape(by_sentence)
        contents = summed_by_row(batch.owners, heard * gate, len(batch.rows)).reshape(by_sentence)
        contents = contents * (1 - kept["contents"] ** 2)
        by_term = opening.sum(axis=1)
        term = seen[:, 2 * size :] + by_term @ weights["term"].T
        values = joined_back(contents @ weights["said"].T + gates @ weights["gate"].T, WINDOW)
        spread = batch.inside[:, :, None] * term[:, None]
        values[:, 2:-2] += summed_by_row(batch.owners, spread, len(batch.rows)).reshape(
            len(batch.rows), -1, term.shape[1]
        )
        windows = flat(read.windows)
        return {
            "out": kept["seen"].T @ error,
            "out_bias": error.sum(axis=0),
            "said": windows.T @ flat(contents),
            "said_bias": flat(contents).sum(axis=0),
            "gate": windows.T @ flat(gates),
            "gate_bias": flat(gates).sum(axis=0),
            "term": kept["term"].T @ by_term,
            "places": sum(summed_by_row(batch.places[:, kind], opening, PLACES) for kind in range(4)),
            "words": self._layer.words_back(read, values, weights),
        }
