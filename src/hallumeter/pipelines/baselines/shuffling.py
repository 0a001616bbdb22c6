"""Evidence of other responses: alike in length, from the same slice where it can be, and drawn by the seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ALIKE = 8
"""Pieces of evidence of about the same length that are exchanged among each other."""


def exchanged(lengths: Sequence[int], slices: Mapping[int, str], *, rng: np.random.Generator) -> dict[int, int] | None:
    """For each piece of evidence another: all are used once, and none is its own; None when there is only one.

    Within a slice, pieces are sorted by length, cut into groups of about `ALIKE`, and passed on within the group in a
    random circle. A slice with a single piece is joined with the other such slices.

    >>> lengths = [10, 900, 12, 880]
    >>> exchanged(lengths, dict.fromkeys(range(4), ""), rng=np.random.default_rng(0)) is not None
    True
    """
    if len(lengths) < 2:
        return None
    by_slice: dict[str, list[int]] = {}
    for number in range(len(lengths)):
        by_slice.setdefault(slices[number], []).append(number)
    groups = [members for members in by_slice.values() if len(members) > 1]
    alone = [number for members in by_slice.values() if len(members) == 1 for number in members]
    if len(alone) == 1:
        groups[0] += alone
    elif alone:
        groups.append(alone)
    found: dict[int, int] = {}
    for members in groups:
        # Chance decides among equals before the stable sort.
        drawn = [members[place] for place in rng.permutation(len(members))]
        for part in np.array_split(sorted(drawn, key=lengths.__getitem__), max(1, len(members) // ALIKE)):
            circle = rng.permutation(part)
            found |= dict(zip(circle.tolist(), np.roll(circle, 1).tolist(), strict=True))
    return found
