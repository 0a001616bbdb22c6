"""What holds for every edit of every text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hallumeter.challenge.mutations.donors import donors_of
from hallumeter.challenge.mutations.edits import controls_of, errors_of

WORDS = (
    *(
        "the",
        "tower",
        "is",
        "330",
        "1,200",
        "metres",
        "high",
        "in",
        "2019",
        "12 May 2019",
        "Paris",
        "Ada Lovelace",
        "not",
    ),
    *("more than", "before", "five", "kg", "won", "12%", "$5", "at least", "La", "tour", "n'est", "pas", "est", "3,5"),
    *(
        "millions",
        "d'euros",
        "le",
        "19h30",
        "서울은",
        "수도이다",
        "3월 4일",
        "증가했다",
        "5킬로미터를",
        "김민수 씨는",
        "약",
        ".",
        ",",
        "“",
        "🙂",
    ),
)
phrases = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
texts = st.one_of(phrases, st.text(max_size=80))
seeds = st.integers(min_value=0, max_value=5)


@given(texts, texts, seeds)
def test_an_error_is_one_stretch_written_anew_and_the_rest_is_as_it_was(text: str, evidence: str, seed: int) -> None:
    for mutation in errors_of(text, donors=donors_of([text, evidence]), seed=seed):
        start, end = mutation.start, mutation.end
        assert start is not None
        assert end is not None
        assert 0 <= start < end <= len(mutation.text)
        assert mutation.text[:start] + mutation.original + mutation.text[end:] == text
        assert mutation.text != text
        assert mutation.is_error


@given(texts, seeds)
def test_a_control_differs_from_the_text_and_is_no_error(text: str, seed: int) -> None:
    for mutation in controls_of(text, seed=seed):
        assert mutation.text != text
        assert not mutation.is_error


@given(texts, texts, seeds)
def test_the_same_seed_gives_the_same_edits_whatever_was_edited_before(text: str, other: str, seed: int) -> None:
    donors = donors_of([text])
    first = errors_of(text, donors=donors, seed=seed), controls_of(text, seed=seed)
    errors_of(other, donors=donors, seed=seed)
    assert (errors_of(text, donors=donors, seed=seed), controls_of(text, seed=seed)) == first


@given(texts, seeds)
def test_a_kind_alone_is_edited_as_it_is_among_all(text: str, seed: int) -> None:
    donors = donors_of([text])
    for mutation in errors_of(text, donors=donors, seed=seed):
        assert errors_of(text, donors=donors, seed=seed, kinds=[mutation.kind]) == [mutation]


def test_another_seed_can_give_another_edit() -> None:
    text = "The bridge is 343 metres high."
    found = {errors_of(text, donors=donors_of([text]), seed=seed, kinds=["number"])[0].text for seed in range(20)}
    assert len(found) > 1
