"""Readings as tensors, in batches of about the same number of tokens."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import torch
from msgspec import Struct

from .readings import UNKNOWN, Reading

UNRULED = 0.3
"""Of the readings: what rules found is not shown. The network must not lean on rules that will be others."""
_SHUFFLED = 512
"""Items among which those of about the same length are put together."""

Contrast = tuple[int, int, int, int]
"""Reading and claim that are unsupported, reading and claim that say nearly the same and are supported."""


class Item(Struct, frozen=True):
    """Readings that stand in one batch."""

    readings: tuple[Reading, ...]
    contrasts: tuple[Contrast, ...] = ()
    name: str = ""
    """Its data set and task, by which it is read more or less often."""
    fold: int = 0

    @property
    def longest(self) -> int:
        """Tokens of its longest reading."""
        return max(len(reading.chunk.ids) for reading in self.readings)


class Batch:
    """Readings of about the same length as tensors, one row for each."""

    def __init__(self, items: Sequence[Item], generator: random.Random | None = None) -> None:
        readings = [reading for item in items for reading in item.readings]
        longest = max(item.longest for item in items)
        self.ids = torch.zeros(len(readings), longest, dtype=torch.long)
        self.kinds = torch.zeros_like(self.ids)
        self.mask = torch.zeros_like(self.ids)
        self.labels = torch.full_like(self.ids, UNKNOWN)
        self.owner = torch.full_like(self.ids, -1)
        """For each token the number of its claim in the batch."""
        self.bags: list[tuple[int, int, float]] = []
        """First and one past the last claim of a text that was judged as a whole, and its label."""
        firsts: list[int] = []
        claims: list[float] = []
        for row, reading in enumerate(readings):
            self._fill(row, reading, has_rules=generator is None or generator.random() >= UNRULED)
            firsts.append(len(claims))
            for part, label in zip(reading.chunk.parts, reading.claims, strict=True):
                self.owner[row, part.at : part.at + part.count] = len(claims)
                claims.append(UNKNOWN if label is None else float(label))
            if None in reading.claims and reading.is_bag:
                self.bags.append((firsts[-1], len(claims), float(reading.is_any_unsupported)))
        self.claims = torch.tensor(claims)
        """For each claim 1 unsupported, 0 supported, -1 not known."""
        self.contrasts = torch.tensor(_contrasts(items, firsts), dtype=torch.long).reshape(-1, 2)
        """Rows of an unsupported claim and one that says nearly the same and is supported."""
        self.items = len(items)

    def _fill(self, row: int, reading: Reading, *, has_rules: bool) -> None:
        chunk = reading.chunk
        count = len(chunk.ids)
        end = chunk.claims_at + len(reading.tokens)
        self.ids[row, :count] = torch.tensor(chunk.ids)
        self.kinds[row, :count] = torch.tensor(chunk.kinds)
        if not has_rules:
            self.kinds[row, chunk.claims_at : end] = torch.tensor(reading.unruled)
        self.mask[row, :count] = 1
        self.labels[row, chunk.claims_at : end] = torch.from_numpy(reading.tokens.astype(np.int64))


def _contrasts(items: Sequence[Item], firsts: Sequence[int]) -> list[tuple[int, int]]:
    found = []
    row = 0
    for item in items:
        found += [
            (firsts[row + one] + wrong, firsts[row + other] + right) for one, wrong, other, right in item.contrasts
        ]
        row += len(item.readings)
    return found


def drawn(items: Sequence[Item], times: Sequence[float], generator: random.Random) -> list[Item]:
    """Items as often as they are to be read; where that is no whole number, by chance."""
    return [item for item, often in zip(items, times, strict=True) for _ in range(int(often + generator.random()))]


def groups(items: Sequence[Item], generator: random.Random, *, tokens: int) -> list[list[Item]]:
    """Shuffled groups of items of about the same length, of at most so many tokens unless one item has more."""
    order = list(items)
    generator.shuffle(order)
    made: list[list[Item]] = []
    for start in range(0, len(order), _SHUFFLED):
        made.append([])
        for item in sorted(order[start : start + _SHUFFLED], key=lambda each: each.longest):
            rows = sum(len(each.readings) for each in made[-1]) + len(item.readings)
            if made[-1] and rows * item.longest > tokens:
                made.append([])
            made[-1].append(item)
    generator.shuffle(made)
    return made
