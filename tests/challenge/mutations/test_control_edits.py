"""Other forms of a claim that say the same; the expected sentences were written by hand."""

from __future__ import annotations

import unicodedata

import pytest

from hallumeter.challenge.mutations.edits import controls_of
from hallumeter.challenge.mutations.protocol import CONTROL_KINDS
from hallumeter.errors import SettingsError


def forms(kind: str, text: str) -> set[str]:
    return {mutation.text for seed in range(20) for mutation in controls_of(text, seed=seed, kinds=[kind])}


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("number_form", "It is 1,200 km long.", "It is 1200 km long."),
        ("number_form", "They have 5 horses.", "They have five horses."),
        ("number_form", "They have five horses.", "They have 5 horses."),
        ("number_form", "About 50% of them came.", "About 50 percent of them came."),
        ("number_form", "Le pont mesure 2 460 mètres.", "Le pont mesure 2460 mètres."),
        ("number_form", "Une hausse de 12 % est prévue.", "Une hausse de 12 pour cent est prévue."),
        ("number_form", "매출이 8.5% 늘었다.", "매출이 8.5퍼센트 늘었다."),
        ("date_form", "It opened on 12 May 2019.", "It opened on May 12, 2019."),
        ("date_form", "It opened on May 12, 2019.", "It opened on 12 May 2019."),
        ("date_form", "다리는 2009년 10월 16일에 개통되었다.", "다리는 2009-10-16에 개통되었다."),
        ("contraction", "It isn't open.", "It is not open."),
        ("contraction", "They don’t know.", "They do not know."),
        ("contraction", "He did not come.", "He didn't come."),
        ("synonym", "It lasts approximately an hour, however.", None),
        ("synonym", "Il y a environ dix chats dans la cour.", "Il y a à peu près dix chats dans la cour."),
        ("synonym", "약 10명이 왔다.", "대략 10명이 왔다."),
        ("punctuation", "He said “no” to it", 'He said "no" to it'),
        ("punctuation", "It is long.", "It is long"),
        ("unicode_form", "La tour est âgée.", unicodedata.normalize("NFD", "La tour est âgée.")),
        ("unicode_form", unicodedata.normalize("NFD", "서울은 크다."), "서울은 크다."),
        ("case", "The tower is high.", "the tower is high."),
        ("case", "the tower is high.", "The tower is high."),
    ],
)
def test_a_claim_is_written_in_another_form(kind: str, text: str, expected: str | None) -> None:
    if expected is None:
        assert forms(kind, text) <= {
            "It lasts about an hour, however.",
            "It lasts roughly an hour, however.",
            "It lasts approximately an hour, nevertheless.",
        }
    assert expected is None or forms(kind, text) == {expected}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("number_form", "Boys aged 5 to 7 came."),
        ("number_form", "The code is 01000001 today."),
        ("date_form", "It is due on 05/06/2019."),
        ("punctuation", "He works for Acme Inc."),
        ("unicode_form", "It is plain."),
        ("case", "Paris is large."),
        ("case", "I know it."),
        ("framing", "But it rained."),
        ("framing", "Is it open?"),
        ("synonym", "They went to the film festival."),
        ("synonym", "그는 약을 먹었다."),
    ],
)
def test_nothing_is_rewritten_that_might_say_something_else(kind: str, text: str) -> None:
    assert forms(kind, text) == set()


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("The tower is high.", "the tower is high."),
        ("Paris is large.", "Paris is large."),
        ("La tour est haute.", "la tour est haute."),
        ("서울은 크다.", "서울은 크다."),
    ],
)
def test_a_phrase_that_says_nothing_may_stand_before_a_claim(text: str, ends: str) -> None:
    found = forms("framing", text)
    assert found
    assert all(form.endswith(ends) and len(form) > len(text) for form in found)


def test_a_control_marks_no_place_and_is_no_error() -> None:
    for mutation in controls_of("The tower isn't 1,200 m high."):
        assert (mutation.start, mutation.end, mutation.is_error) == (None, None, False)
        assert mutation.kind in CONTROL_KINDS


def test_an_unknown_kind_of_control_is_refused() -> None:
    with pytest.raises(SettingsError, match="no edit of kind 'number'; choose from number_form"):
        controls_of("A text.", kinds=["number"])
