"""Choices without chance."""

from __future__ import annotations

from hallumeter.challenge.mutations.protocol import Choice


def test_among_nothing_there_is_nothing_to_choose() -> None:
    assert list(Choice(0, "A claim.", "number").ordered([])) == []


def test_the_same_seed_and_text_choose_the_same_and_all_options_are_there() -> None:
    first, again = (list(Choice(7, "A claim.", "number").ordered([1, 2, 3, 4])) for _ in range(2))
    assert first == again
    assert sorted(first) == [1, 2, 3, 4]
