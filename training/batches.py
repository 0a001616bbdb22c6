"""Readings as tensors, in batches of about the same number of tokens."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import torch

from .readings import UNKNOWN, Reading

TOKENS_IN_A_BATCH = 2048
_SHUFFLED = 512
"""Readings among which those of about the same length are put together."""


class WeightedReading:
    """A reading, and how much it counts."""

    __slots__ = ("reading", "weight")

    def __init__(self, reading: Reading, weight: float) -> None:
        self.reading = reading
        self.weight = weight

    def __len__(self) -> int:
        return len(self.reading.chunk.ids)


class Batch:
    """Readings of about the same length as tensors, one row for each."""

    def __init__(self, readings: Sequence[WeightedReading]) -> None:
        longest = max(map(len, readings))
        self.ids = torch.zeros(len(readings), longest, dtype=torch.long)
        self.kinds = torch.zeros_like(self.ids)
        self.mask = torch.zeros_like(self.ids)
        self.labels = torch.full_like(self.ids, UNKNOWN)
        self.owner = torch.full_like(self.ids, -1)
        """For each token the number of its claim in the batch."""
        self.bags: list[tuple[int, int, float]] = []
        """First and one past the last claim of a text that was judged as a whole, and its label."""
        self.weights = torch.tensor([each.weight for each in readings])
        claims: list[float] = []
        weights: list[float] = []
        for row, each in enumerate(readings):
            self._fill(row, each.reading)
            first = len(claims)
            for part, label in zip(each.reading.chunk.parts, each.reading.claims, strict=True):
                self.owner[row, part.at : part.at + part.count] = len(claims)
                claims.append(UNKNOWN if label is None else float(label))
                weights.append(each.weight)
            if None in each.reading.claims and each.reading.is_whole:
                self.bags.append((first, len(claims), float(each.reading.is_any_unsupported)))
        self.claims = torch.tensor(claims)
        """For each claim 1 unsupported, 0 supported, -1 not known."""
        self.claim_weights = torch.tensor(weights)

    def _fill(self, row: int, reading: Reading) -> None:
        chunk = reading.chunk
        count = len(chunk.ids)
        self.ids[row, :count] = torch.tensor(chunk.ids)
        self.kinds[row, :count] = torch.tensor(chunk.kinds)
        self.mask[row, :count] = 1
        end = chunk.claims_at + len(reading.tokens)
        self.labels[row, chunk.claims_at : end] = torch.from_numpy(reading.tokens.astype(np.int64))


def groups(readings: Sequence[WeightedReading], generator: random.Random) -> list[list[WeightedReading]]:
    """Shuffled groups of readings of about the same length."""
    order = list(readings)
    generator.shuffle(order)
    made: list[list[WeightedReading]] = []
    for start in range(0, len(order), _SHUFFLED):
        made.append([])
        for each in sorted(order[start : start + _SHUFFLED], key=len):
            if made[-1] and (len(made[-1]) + 1) * len(each) > TOKENS_IN_A_BATCH:
                made.append([])
            made[-1].append(each)
    generator.shuffle(made)
    return made
