"""Evidence is exchanged with that of others, alike in length and of the same slice."""

from __future__ import annotations

import numpy as np
import pytest

from hallumeter.claims.labelled.scoring import ALIKE, exchanged


@pytest.mark.parametrize("seed", range(20))
def test_nothing_keeps_its_own_and_everything_is_used_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 60))
    slices = {number: str(rng.integers(0, 5)) for number in range(size)}
    found = exchanged(rng.integers(1, 9, size).tolist(), slices, rng=rng)
    assert found is not None
    assert sorted(found) == sorted(found.values()) == list(range(size))
    assert all(number != other for number, other in found.items())


def test_pieces_stay_in_their_slice_and_near_their_length() -> None:
    lengths = [*range(100), *range(1000, 1100)]
    slices = {number: "long" if number >= 100 else "short" for number in range(200)}
    found = exchanged(lengths, slices, rng=np.random.default_rng(1))
    assert found is not None
    assert all(slices[number] == slices[other] for number, other in found.items())
    assert max(abs(lengths[number] - lengths[other]) for number, other in found.items()) < 2 * ALIKE


def test_slices_with_one_piece_exchange_with_others() -> None:
    both = exchanged([5, 6], {0: "a", 1: "b"}, rng=np.random.default_rng(0))
    assert both == {0: 1, 1: 0}
    joined = exchanged([5, 6, 7], {0: "a", 1: "a", 2: "b"}, rng=np.random.default_rng(0))
    assert joined is not None
    assert sorted(joined) == [0, 1, 2]


def test_the_seed_decides() -> None:
    slices = dict.fromkeys(range(30), "")
    drawn = [exchanged(list(range(30)), slices, rng=np.random.default_rng(seed)) for seed in (3, 3, 4)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("lengths", [[], [4]])
def test_a_single_piece_cannot_be_exchanged(lengths: list[int]) -> None:
    assert exchanged(lengths, dict.fromkeys(range(len(lengths)), ""), rng=np.random.default_rng(0)) is None
