"""When two texts are the same claim."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallumeter.claims.metrics.consensus import claim_codes
from hallumeter.errors import SettingsError
from hallumeter.text.normalize import claim_key

WORDS = st.lists(st.sampled_from(["Paris", "is", "the", "capital", "수도는", "è"]), min_size=1, max_size=4).map(
    " ".join
)


def test_codes_are_given_in_order_of_first_appearance() -> None:
    assert claim_codes(["b", "a", "b", "c", "a"]) == [0, 1, 0, 2, 1]
    assert claim_codes(["b", "a", "b", "c", "a"], similarity=1.0) == [0, 1, 0, 2, 1]


@pytest.mark.parametrize("similarity", [None, 0.9, 1.0])
def test_no_claims_have_no_codes(similarity: float | None) -> None:
    assert claim_codes([], similarity=similarity) == []


@pytest.mark.parametrize("similarity", [None, 0.999])
@pytest.mark.parametrize(
    "other",
    [
        "Marie Curie née à Varsovie.",
        "marie curie NÉE à varsovie",
        "  Marie\tCurie  née à\nVarsovie ",
        "Marie Curie ne\u0301e a\u0300 Varsovie.",
    ],
    ids=["period", "case", "space", "unicode form"],
)
def test_how_a_claim_is_typed_makes_no_difference(other: str, similarity: float | None) -> None:
    assert claim_codes(["Marie Curie née à Varsovie", other], similarity=similarity) == [0, 0]


@pytest.mark.parametrize("similarity", [None, 0.95])
def test_a_paraphrase_is_another_claim(similarity: float | None) -> None:
    texts = ["Curie was born in Warsaw.", "Warsaw is where Curie was born."]
    assert claim_codes(texts, similarity=similarity) == [0, 1]


def test_claims_that_are_alike_enough_take_the_code_of_the_earlier_one() -> None:
    # By hand: ratio = 2 * common characters / all characters; "born in 1867" and "born in 1868" share 11 of 12.
    texts = ["born in 1867", "born in 1868", "died in 1934"]
    assert claim_codes(texts, similarity=0.9) == [0, 0, 1]
    assert claim_codes(texts, similarity=0.92) == [0, 1, 2]
    assert claim_codes(texts, similarity=22 / 24) == [0, 0, 1]


def test_likeness_is_measured_against_the_first_claim_of_a_code_not_along_a_chain() -> None:
    # Each shares 9 of 10 characters with its neighbour; the third shares 8 with the first.
    texts = ["aaaaaaaaaa", "aaaaaaaaab", "aaaaaaaabb"]
    assert claim_codes(texts, similarity=0.9) == [0, 0, 1]


@settings(max_examples=100)
@given(st.lists(WORDS, max_size=12))
def test_texts_have_one_code_exactly_when_they_have_one_key(texts: list[str]) -> None:
    codes = claim_codes(texts)
    for one, first in zip(texts, codes, strict=True):
        for other, second in zip(texts, codes, strict=True):
            assert (first == second) == (claim_key(one) == claim_key(other))
    assert list(dict.fromkeys(codes)) == list(range(len(set(codes))))
    assert claim_codes(texts, similarity=1.0) == codes


@pytest.mark.parametrize("similarity", [0, -0.1, 1.01, 85])
def test_a_similarity_outside_its_range_is_refused(similarity: float) -> None:
    with pytest.raises(SettingsError, match="expected a number above 0 and up to 1"):
        claim_codes(["a", "b"], similarity=similarity)
