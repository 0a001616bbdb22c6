"""Decision trees as plain arrays."""

from __future__ import annotations

from functools import cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from .model_files import load_arrays


class Trees(Struct, frozen=True):
    """A sum of trees. Every tree's nodes stand together; a leaf is its own child."""

    roots: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    """The child when the feature is at most the threshold."""
    right: NDArray[np.int32]
    value: NDArray[np.float64]
    depth: int

    def logits(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """What the trees say together of each row of features."""
        rows = np.arange(len(features))[:, None]
        nodes = np.broadcast_to(self.roots, (len(features), len(self.roots)))
        for _ in range(self.depth):
            goes_left = features[rows, self.feature[nodes]] <= self.threshold[nodes]
            nodes = np.where(goes_left, self.left[nodes], self.right[nodes])
        return np.asarray(self.value[nodes].sum(axis=1))


@cache
def trees() -> Trees:
    """The trees of the model."""
    arrays = load_arrays("trees.npz")
    return Trees(
        **{name: arrays[name] for name in Trees.__struct_fields__ if name != "depth"}, depth=int(arrays["depth"])
    )
