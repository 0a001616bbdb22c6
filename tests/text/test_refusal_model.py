"""What the weights promise: the same from the file as from memory, the same for a sentence wherever it stands."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.text.refusal_model import (
    FACTS,
    LETTER_BITS,
    PLACES,
    SCALE,
    Weights,
    facts_of,
    read_leanings,
    runs_of,
    unpacked,
)


def test_weights_are_kept_to_a_part_of_the_largest() -> None:
    rng = np.random.default_rng(0)
    rarity = np.round(rng.uniform(0, 12, PLACES) / SCALE) * SCALE
    refuses, answers = (rng.normal(size=PLACES + FACTS + 1) for _ in range(2))
    back = unpacked(Weights(rarity, refuses, answers).packed())
    assert back.rarity == pytest.approx(rarity)
    for kept, given_ in ((back.refuses, refuses), (back.answers, answers)):
        assert np.abs(kept[:PLACES] - given_[:PLACES]).max() <= np.abs(given_[:PLACES]).max() / 253
        assert (kept[PLACES:] == given_[PLACES:]).all()


@given(st.text())
def test_runs_have_a_place_each_in_the_part_of_their_kind(text: str) -> None:
    letters, words = runs_of(text)
    assert (np.diff(letters) > 0).all()
    assert (np.diff(words) > 0).all()
    assert ((letters >= 0) & (letters < 1 << LETTER_BITS)).all()
    assert ((words >= 1 << LETTER_BITS) & (words < PLACES)).all()


def test_runs_of_letters_stay_within_words_and_those_of_words_do_not() -> None:
    letters, words = runs_of("ab cd")
    # Every run of letters of the two words is one of either; among the runs of words "ab cd" is new.
    apart = [runs_of(word) for word in ("ab", "cd")]
    assert set(letters.tolist()) == {place for each, _ in apart for place in each.tolist()}
    assert len(words) == sum(len(each) for _, each in apart) + 1


def test_a_sentence_without_words_or_letters_leans_by_its_facts_alone() -> None:
    found = read_leanings(["", "..."])
    assert np.isfinite(found.refuses).all()
    assert np.isfinite(found.answers).all()
    assert read_leanings([]).refuses.shape == (0,)


def test_a_cue_makes_a_sentence_lean_to_refusing() -> None:
    sentence = ["i could not find him."]
    assert read_leanings(sentence, {0}).refuses[0] > read_leanings(sentence).refuses[0]
    assert facts_of(sentence, {0}, trust=0.0).tolist() == facts_of(sentence, (), trust=0.0).tolist()


def test_spaces_and_their_kinds_do_not_count() -> None:
    one, other = read_leanings(["i do not\tknow"]), read_leanings(["i  do not know"])
    assert one.refuses == pytest.approx(other.refuses, abs=0.1)  # the length is a fact
