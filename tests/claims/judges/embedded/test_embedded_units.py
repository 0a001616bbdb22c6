"""The units of the evidence: nothing is lost, values keep their keys, and their ranking is always the same."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from embedded_tasks import passages_of
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.claims.judges.embedded.units import Unit, Units, units_of
from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.text.terms import terms_of

LONGEST = 40
"""Words of a unit of prose."""
ENGLISH = "The old tower stands in Paris. It was built by Ann Lee in 1889! Who paid for it? Nobody knows."
FRENCH = "La tour fut achevée en 1889. Elle compte trois étages, et l’été elle est ouverte jusqu’à minuit."
KOREAN = "탑은 1889년에 완공되었다. 세 개의 층이 있으며 여름에는 자정까지 문을 연다."
WORDS = st.sampled_from(
    [
        *("tower", "Paris", "1889", "3.5", "1,200", "étage", "l’été", "탑은", "층이", "it's", "U.S.", "Dr.", "x"),
        *("…", "?", "!", ".", "\n", "(", ")", "-", ";"),
    ]
)
PROSE = st.lists(WORDS, max_size=130).map(" ".join)


def fresh(*texts: str) -> list[Unit]:
    """The units, made anew."""
    return Units(Evidence(passages_of(*texts))).units


def texts_of(*texts: str) -> list[str]:
    return [unit.text for unit in fresh(*texts)]


def words_in(*texts: str) -> list[str]:
    return [word for text in texts for word in terms_of(text).folded]


def keys_in(*texts: str) -> set[str]:
    return {key for text in texts for key in terms_of(text).keys if key}


@pytest.mark.parametrize(
    ("text", "count"), [(ENGLISH, 4), (FRENCH, 2), (KOREAN, 2)], ids=["English", "French", "Korean"]
)
def test_each_sentence_is_a_unit(text: str, count: int) -> None:
    found = texts_of(text)
    assert len(found) == count
    assert "".join(found).replace(" ", "") == text.replace(" ", "")


def test_a_unit_knows_the_keys_of_its_words() -> None:
    for unit in fresh(ENGLISH, FRENCH, KOREAN):
        assert unit.keys == keys_in(unit.text)


def test_a_long_sentence_becomes_parts_of_about_one_length() -> None:
    words = [f"word{chr(97 + number % 26)}" for number in range(95)]
    found = texts_of(" ".join(words) + ".")
    # 95 words need 3 parts of at most 40; cut at 95 * 1 // 3 = 31 and 95 * 2 // 3 = 63.
    assert [len(terms_of(text)) for text in found] == [31, 32, 32]
    assert words_in(*found) == words


def test_a_sentence_of_the_largest_length_stays_whole() -> None:
    assert len(texts_of("tower " * LONGEST)) == 1
    assert len(texts_of("tower " * (LONGEST + 1))) == 2


@given(st.lists(PROSE, max_size=3))
def test_every_word_of_every_passage_stands_in_a_unit_in_order(passages: list[str]) -> None:
    found = fresh(*passages)
    assert words_in(*(unit.text for unit in found)) == words_in(*passages)
    assert set().union(*(unit.keys for unit in found)) == keys_in(*passages)
    assert all(len(terms_of(unit.text)) <= LONGEST for unit in found)


def test_short_values_of_a_record_stand_together_with_their_keys() -> None:
    hours = {"Monday": "9:0-17:0", "Tuesday": "9:0-17:0"}
    attributes = {"WiFi": "free", "parking": {"garage": False, "street": True}}
    record = {"hours": hours, "name": "Café Rouge", "attributes": attributes}
    assert texts_of(json.dumps(record)) == [
        "hours: Monday 9:0-17:0; Tuesday 9:0-17:0",
        "name Café Rouge",
        "attributes: Wi Fi free; parking garage false; parking street true",
    ]


def test_values_of_two_passages_do_not_stand_together() -> None:
    assert texts_of('{"name": "Bo"}', '{"name": "Al"}') == ["name Bo", "name Al"]


def test_a_record_as_python_prints_it_is_read_like_json() -> None:
    record = {"name": "Bo", "open": True, "WiFi": None, "stars": [4.5]}
    assert texts_of(str(record)) == ["name Bo; open True; Wi Fi None; stars 4.5"]
    assert texts_of(json.dumps(record)) == ["name Bo; open true; Wi Fi null; stars 4.5"]


@pytest.mark.parametrize(("name", "value"), [("이름", "푸른 카페"), ("adresse", "12, rue de l’Été"), ("naïve", "été")])
def test_keys_and_values_in_other_letters_are_kept(name: str, value: str) -> None:
    (unit,) = fresh(json.dumps({name: value}, ensure_ascii=False))
    assert unit.text == f"{name} {value}"
    assert unit.keys == keys_in(name, value)


def test_a_long_value_is_cut_into_sentences_that_each_name_their_key() -> None:
    review = "We came late and the soup was cold. The waiter was kind, and so we stayed for a long evening."
    assert texts_of(json.dumps({"stars": 4, "review": review, "city": "Lyon"})) == [
        "stars 4",
        "review: We came late and the soup was cold.",
        "review: The waiter was kind, and so we stayed for a long evening.",
        "city Lyon",
    ]


def test_many_values_become_several_units() -> None:
    record = {f"field{chr(97 + number)}": "some words of this value" for number in range(20)}
    found = texts_of(json.dumps(record))
    # A value of five words counts six with its key, so that five of them make up the 30 of a group.
    assert len(found) == 4
    assert all(text.count("some words") == 5 for text in found)


# Values are no words of the keys: a value that repeats a key stands in the text as that key.
VALUES = st.one_of(
    st.integers(0, 9999), st.booleans(), st.lists(st.sampled_from(["soup", "été", "탑은"]), min_size=1).map(" ".join)
)
NAMES = st.sampled_from(["name", "openHours", "WiFi", "이름", "stars"])
RECORDS = st.recursive(
    VALUES,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(NAMES, below, max_size=4),
    max_leaves=25,
)


@given(st.dictionaries(NAMES, RECORDS))
def test_every_value_of_a_record_stands_in_a_unit(record: dict[str, object]) -> None:
    written = json.dumps(record, ensure_ascii=False)
    evidence = Evidence(passages_of(written))
    missing = Counter(words_in(*(block.terms.text for block in evidence.blocks)))
    missing -= Counter(words_in(*(unit.text for unit in Units(evidence).units)))
    assert not missing


@pytest.mark.parametrize("text", ["", " \n", "…!", "{}", "[]", "😀"])
def test_evidence_without_a_word_has_no_unit(text: str) -> None:
    assert fresh(text) == []
    assert units_of(passages_of(text)).ranked(keys_in("tower")) == []


def test_a_megabyte_of_evidence_is_cut_into_as_many_units_as_it_has_sentences() -> None:
    sentence = "The old tower of the town stands on a hill by the river, and people like it."
    count = 1_000_000 // (len(sentence) + 1)
    assert len(texts_of(f"{sentence} " * count)) == count


def test_a_megabyte_without_a_full_stop_is_cut_by_its_words() -> None:
    words = 1_000_000 // len("tower ")
    found = fresh("tower " * words)
    assert sum(len(terms_of(unit.text)) for unit in found) == words
    assert words / LONGEST <= len(found) < words / LONGEST + 2


def test_units_with_rarer_words_of_a_claim_come_first() -> None:
    units = Units(Evidence(passages_of("The tower is old. The tower is red. A hill. The tower is in Paris.")))
    # Of 4 units 3 have "tower" and one has "paris": log(1 + 4/3) for the first, log(1 + 4) more for the last.
    assert units.ranked(keys_in("tower paris nowhere")) == [3, 0, 1]


def test_units_of_equal_weight_keep_the_order_of_the_evidence() -> None:
    units = Units(Evidence(passages_of(*["The tower is high."] * 5)))
    assert units.ranked(keys_in("tower")) == [0, 1, 2, 3, 4]


@given(PROSE, st.lists(WORDS, max_size=12), st.randoms(use_true_random=False))
def test_the_ranking_depends_neither_on_order_nor_on_repetition(
    text: str, words: list[str], shuffler: random.Random
) -> None:
    keys = sorted(keys_in(*words))
    shuffled = keys * 2
    shuffler.shuffle(shuffled)
    ranked = Units(Evidence(passages_of(text))).ranked(keys)
    units = Units(Evidence(passages_of(text)))
    assert units.ranked(shuffled) == ranked
    assert set(ranked) == {number for number, unit in enumerate(units.units) if unit.keys & set(keys)}


def test_the_same_passages_are_prepared_once() -> None:
    assert units_of(passages_of(ENGLISH)) is units_of(passages_of(ENGLISH))
