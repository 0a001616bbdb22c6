"""Steps downhill: Adam with weight decay, a falling rate, and the mean of the last weights."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from hallumeter.aspects.readers.english.networks import Numbers

Weights = dict[str, Numbers]
_MEAN = 0.998
"""How much of the mean of the weights stays at each step."""


class Descent:
    """Moves weights; `mean` is what is kept in the end."""

    def __init__(self, weights: Weights, *, steps: int, rate: float, decay: float) -> None:
        self._weights = weights
        self._steps, self._rate, self._decay = steps, rate, decay
        self._step = 0
        self._first = {name: np.zeros_like(value) for name, value in weights.items()}
        self._second = {name: np.zeros_like(value) for name, value in weights.items()}
        self.mean = {name: value.copy() for name, value in weights.items()}

    def move(self, gradients: Weights) -> None:
        """One step."""
        self._step += 1
        rate = self._rate * max(1 - self._step / self._steps, 0.005)
        keep = min(_MEAN, self._step / (self._step + 10))
        for name, gradient in gradients.items():
            weight, first, second = self._weights[name], self._first[name], self._second[name]
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient * gradient - second)
            own = rate * (0.3 if name == "words" else 1.0) / (1 - 0.9**self._step)
            weight -= own * first / (np.sqrt(second / (1 - 0.999**self._step)) + 1e-8)
            if weight.ndim > 1:
                weight *= 1 - rate * self._decay
            self.mean[name] += (1 - keep) * (weight - self.mean[name])


def summed_by_row(rows: np.ndarray, values: Numbers, count: int) -> Numbers:
    """Sums of the values that share a row number."""
    flat = rows.ravel()
    chosen = sparse.csr_matrix((np.ones(len(flat), np.float32), (flat, np.arange(len(flat)))), (count, len(flat)))
    return np.asarray(chosen @ values.reshape(len(flat), -1))


def flat(values: Numbers) -> Numbers:
    """All axes but the last as one."""
    return values.reshape(-1, values.shape[-1])


def start(random: np.random.Generator, *shape: int, scale: float | None = None) -> Numbers:
    """Weights to begin with."""
    size = shape[0] ** -0.5 if scale is None else scale
    return (random.standard_normal(shape) * size).astype(np.float32)


def dropped(random: np.random.Generator, shape: tuple[int, ...], share: float) -> Numbers:
    """A mask that hides a share and makes up for it."""
    return ((random.random(shape, np.float32) >= share) / (1 - share)).astype(np.float32)
