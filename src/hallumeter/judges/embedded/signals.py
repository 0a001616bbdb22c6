"""What a tier weighs: one number of each kind for every claim of a response."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .encoder import ReadClaim

Signals = dict[str, NDArray[np.float64]]


def signals_of(logits: NDArray[np.float64], reads: Sequence[ReadClaim] | None, *, is_structured: bool) -> Signals:
    """What the trees say, and in the full tier the network, of a claim and of those beside it: errors come together."""
    said = _tree_signals(logits, is_structured=is_structured)
    return said if reads is None else said | _network_signals(reads)


def _tree_signals(logits: NDArray[np.float64], *, is_structured: bool) -> Signals:
    structured = np.full(len(logits), float(is_structured))
    return {"trees": logits, "trees_beside": _beside(logits), "is_structured": structured}


def _network_signals(reads: Sequence[ReadClaim]) -> Signals:
    votes = np.asarray([read.vote for read in reads])
    return {"vote": votes, "vote_beside": _beside(votes)}


def _beside(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each claim the mean of the others; its own value when it is alone."""
    if len(values) < 2:
        return values
    return np.asarray((values.sum() - values) / (len(values) - 1))
