"""The table of words of the model: a vector for each token, whatever stands around it."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from .model_files import load_arrays


@cache
def table() -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Whole numbers, and one scale for each row."""
    arrays = load_arrays("words.npz")
    return arrays["numbers"], arrays["scales"]


def vectors(ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """The vectors of some tokens, as the encoder reads them."""
    numbers, scales = table()
    return numbers[ids].astype(np.float32) * scales[ids][..., None]


def directions(ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """The vectors of some tokens, each of length 1, so that a product is a cosine."""
    numbers, _ = table()
    rows = numbers[ids].astype(np.float32)
    rows -= mean()
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-6), np.float32)


@cache
def mean() -> NDArray[np.float32]:
    """What all vectors have in common; without it every two words look alike."""
    return np.asarray(table()[0].mean(axis=0, dtype=np.float64), np.float32)
