"""Alignments, against the textbook table of edit distances, and of texts too long for it."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.text.align import Step, Steps, align, count_edits

# The function and its module may share a name in the package, so the module is named by its text.
MODULE = "hallumeter.text.align"
items = st.lists(st.integers(0, 5), max_size=30)


def plain_distance(reference: Sequence[object], response: Sequence[object]) -> int:
    """The edit distance by the textbook's table."""
    row = list(range(len(response) + 1))
    for top, item in enumerate(reference, 1):
        above, row[0] = row[0], top
        for left, other in enumerate(response, 1):
            above, row[left] = row[left], min(above + (item != other), row[left] + 1, row[left - 1] + 1)
    return row[-1]


def edits_of(steps: Steps) -> int:
    return sum(
        max(step.reference_end - step.reference_start, step.response_end - step.response_start)
        for step in steps.steps
        if step.kind != "equal"
    )


def check_steps(steps: Steps, reference: Sequence[object], response: Sequence[object]) -> None:
    """Steps lead from the one to the other: nothing is left out, and equal parts are equal."""
    top = left = 0
    last = ""
    for step in steps.steps:
        kind, start, end, other_start, other_end = step
        assert (start, other_start) == (top, left)
        assert kind != last, "neighbours of one kind are one step"
        assert (end > start, other_end > other_start) == (kind != "insert", kind != "delete")
        if kind in {"equal", "replace"}:
            assert end - start == other_end - other_start
        if kind == "equal":
            assert list(reference[start:end]) == list(response[other_start:other_end])
        top, left, last = end, other_end, kind
    assert (top, left) == (len(reference), len(response))


def test_two_empty_sequences_have_no_steps() -> None:
    assert align([], []) == Steps((), is_exact=True)
    assert count_edits("", "") == (0, 0, 0, True)


def test_an_empty_side_is_one_deletion_or_one_insertion() -> None:
    assert align(["a", "b"], []).steps == (Step("delete", 0, 2, 0, 0),)
    assert align([], ["a", "b"]).steps == (Step("insert", 0, 0, 0, 2),)


def test_items_may_be_anything_that_can_be_a_key() -> None:
    steps = align([("le", 1), None, 2.5], [None, 2.5]).steps
    assert steps == (Step("delete", 0, 1, 0, 0), Step("equal", 1, 3, 0, 2))


@given(items, items)
def test_short_sequences_have_the_fewest_edits(reference: list[int], response: list[int]) -> None:
    steps = align(reference, response)
    check_steps(steps, reference, response)
    assert steps.is_exact
    assert edits_of(steps) == plain_distance(reference, response)


@given(st.text(max_size=30), st.text(max_size=30))
def test_characters_are_counted_as_the_textbook_does(reference: str, response: str) -> None:
    replaced, deleted, inserted, is_exact = count_edits(reference, response)
    assert is_exact
    assert replaced + deleted + inserted == plain_distance(reference, response)
    assert len(reference) - deleted == len(response) - inserted


@given(items, items, st.integers(0, 40), st.integers(1, 20))
def test_anchored_alignments_leave_nothing_out_and_never_beat_the_fewest_edits(
    reference: list[int], response: list[int], exact_cells: int, piece_cells: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{MODULE}.EXACT_CELLS", exact_cells)
        patch.setattr(f"{MODULE}._PIECE_CELLS", piece_cells)
        steps = align(reference, response)
        counts = count_edits(reference, response)
    check_steps(steps, reference, response)
    assert edits_of(steps) == sum(counts[:3]) >= plain_distance(reference, response)
    assert steps.is_exact == counts[3] == (len(reference) * len(response) <= exact_cells)


@given(st.lists(st.integers(0, 300), max_size=60), st.randoms(use_true_random=False))
def test_moved_deleted_and_repeated_parts_are_survived(reference: list[int], chance: random.Random) -> None:
    cut = chance.randint(0, len(reference))
    response = [item for item in reference[cut:] + reference[:cut] * chance.randint(0, 3) if chance.random() > 0.1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{MODULE}.EXACT_CELLS", 9)
        check_steps(align(reference, response), reference, response)


def test_the_longest_chain_of_anchors_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{MODULE}.EXACT_CELLS", 0)
    # The block of six moved behind the block of eight: keeping the eight in place costs twelve edits.
    steps = align("abcdefghijklmn", "ghijklmnabcdef")
    assert Step("equal", 6, 14, 0, 8) in steps.steps
    assert edits_of(steps) == 12


def test_anchors_that_would_cross_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{MODULE}.EXACT_CELLS", 0)
    # Both "ab" and "bc" occur once in each, but in the reference they share their b.
    check_steps(align("1abc2", "3abxbc4"), "1abc2", "3abxbc4")


def test_more_kinds_of_items_than_characters_are_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    reference, response = ["a", "b", "c", "d", "e"], ["a", "x", "c", "e"]
    expected = align(reference, response)
    monkeypatch.setattr(f"{MODULE}._MOST_CODES", 2)
    assert align(reference, response) == expected
    monkeypatch.setattr(f"{MODULE}.EXACT_CELLS", 3)
    check_steps(align(reference, response), reference, response)


def test_a_long_loop_is_one_insertion_next_to_what_was_read() -> None:
    words = [f"w{number}" for number in range(60_000)]
    response = words[:40_000] + words[100:200] * 300 + words[40_000:]
    steps = align(words, response)
    assert not steps.is_exact
    assert steps.steps == (
        Step("equal", 0, 40_000, 0, 40_000),
        Step("insert", 40_000, 40_000, 40_000, 70_000),
        Step("equal", 40_000, 60_000, 70_000, 90_000),
    )


def test_texts_that_only_repeat_have_no_anchors_and_are_still_aligned() -> None:
    reference, response = ["a", "b"] * 20_000, ["a", "b", "c"] * 20_000
    steps = align(reference, response)
    check_steps(steps, reference, response)
    assert not steps.is_exact
    # Dropping every "c" is best.
    assert 20_000 <= edits_of(steps) < 21_000
