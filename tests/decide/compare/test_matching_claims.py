"""Which claims are the same: by place, by wording, by likeness; one to one, and always the same way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hallumeter.decide.compare import sides as matching
from hallumeter.decide.compare.sides import EXACT, MOVED, REWORDED, ClaimKey, match_claims


def claim(text: str, start: int | None = 0, *, kind: str = "claim", label: int = 0) -> ClaimKey:
    return ClaimKey(kind, text, start, None if start is None else start + len(text), label)


def matched(
    first: list[ClaimKey], second: list[ClaimKey], *, is_same_response: bool = False
) -> list[tuple[int, int, int]]:
    found = match_claims(first, second, similarity=0.7, is_same_response=is_same_response)
    return [(pair.first, pair.second, pair.how) for pair in found]


def test_equal_lists_are_matched_place_by_place_whatever_their_labels() -> None:
    ours = [claim("A is B.", 0), claim("A is B.", 8)]
    theirs = [claim("A is B.", 0, label=1), claim("A is B.", 8, label=2)]
    assert matched(ours, theirs) == [(0, 0, EXACT), (1, 1, EXACT)]


def test_a_claim_that_moved_is_the_same_and_equal_ones_are_taken_in_order() -> None:
    ours = [claim("It rains.", 0), claim("It rains.", 20), claim("Snow falls in the north.", 40)]
    theirs = [claim("Snow falls in the north.", 0), claim("It rains.", 30), claim("It rains.", 40)]
    assert matched(ours, theirs) == [(0, 1, MOVED), (1, 2, MOVED), (2, 0, MOVED)]


def test_what_was_reworded_goes_to_the_most_alike_and_to_no_other() -> None:
    ours = [claim("The tower is 330 m high."), claim("The tower was built in 1889.", 30)]
    theirs = [claim("The tower was built in 1887."), claim("The tower is 999 m high.", 30), claim("Cats sleep.", 60)]
    assert matched(ours, theirs) == [(0, 1, REWORDED), (1, 0, REWORDED)]


def test_claims_of_another_kind_are_never_the_same() -> None:
    assert matched([claim("aspirin", kind="slot")], [claim("aspirin", kind="rule")]) == []


def test_a_place_in_an_unchanged_response_tells_more_than_wording() -> None:
    ours, theirs = [claim("abc def", 0)], [ClaimKey("claim", "something else", 0, 8, 1)]
    assert matched(ours, theirs, is_same_response=True) == [(0, 0, REWORDED)]
    assert matched(ours, theirs, is_same_response=False) == []


def test_claims_without_place_and_words_are_matched_by_nothing_but_likeness() -> None:
    ours, theirs = [claim("", None)], [claim("x", None)]
    assert matched(ours, theirs, is_same_response=True) == []


def test_a_long_record_is_compared_with_what_stands_near() -> None:
    ours = [claim(f"statement number {place} ends with a", 50 * place) for place in range(520)]
    theirs = [claim(f"statement number {place} ends with b", 50 * place) for place in range(520)]
    found = matched(ours, theirs)
    assert len(ours) * len(theirs) > matching.MOST_PAIRS
    assert [(one, other) for one, other, _ in found] == [(place, place) for place in range(520)]


texts = st.lists(
    st.sampled_from(["It rains.", "It rained.", "It snows.", "Oslo is big.", "Oslo is a big city."]), max_size=6
)


@given(texts, texts, st.booleans())
def test_matches_are_one_to_one_and_repeatable(first: list[str], second: list[str], is_same: bool) -> None:
    ours = [claim(text, 30 * place) for place, text in enumerate(first)]
    theirs = [claim(text, 30 * place) for place, text in enumerate(second)]
    found = matched(ours, theirs, is_same_response=is_same)
    assert found == matched(ours, theirs, is_same_response=is_same)
    assert len({one for one, _, _ in found}) == len(found) == len({other for _, other, _ in found})
    common = set(first) & set(second)
    assert {ours[one].text for one, _, how in found if how != REWORDED} == common
