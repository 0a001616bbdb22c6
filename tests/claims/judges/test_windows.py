"""Evidence that does not fit into one call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.claims.judges.replies import Windows, cut_into_windows
from hallumeter.records.response import Passage


def cut(texts: list[str], claims: list[str] | None = None, *, size: int = 40, most: int = 8) -> Windows:
    passages = [Passage(f"e{number}", text) for number, text in enumerate(texts, 1)]
    return cut_into_windows(passages, claims or ["x"], window_characters=size, most_windows=most)


def shown(windows: Windows) -> list[list[str]]:
    return [[piece.text for piece in window] for window in windows.shown]


def test_passages_are_packed_together_while_they_fit() -> None:
    windows = cut(["a" * 15, "b" * 20, "c" * 10])
    assert shown(windows) == [["a" * 15, "b" * 20], ["c" * 10]]
    assert windows.is_whole
    assert windows.characters == windows.shown_characters == 45


def test_a_long_passage_is_cut_between_sentences() -> None:
    text = "The tower is tall. It is in Paris. It was built in 1889. It is made of iron."
    assert shown(cut([text])) == [
        ["The tower is tall. It is in Paris."],
        ["It was built in 1889."],
        ["It is made of iron."],
    ]


def test_a_sentence_longer_than_a_window_is_cut_at_white_space() -> None:
    windows = cut(["mot " * 30], size=50)
    assert all(piece.end - piece.start <= 50 for window in windows.shown for piece in window)
    assert all(word == "mot" for window in shown(windows) for text in window for word in text.split())


def test_offsets_lead_back_to_the_passage() -> None:
    text = "서울은 대한민국의 수도이다. 인구는 약 940만 명이다. 한강이 흐른다. 여름은 덥다."
    windows = cut([text], size=30)
    assert len(windows.shown) > 1
    for window in windows.shown:
        for piece in window:
            assert text[piece.start : piece.end] == piece.text


@pytest.mark.parametrize(
    ("claim", "expected"),
    [("La tour mesure 330 mètres.", 1), ("서울은 수도였다.", 2), ("Bananas are yellow.", 3)],
)
def test_the_windows_that_share_most_words_with_the_claims_are_kept(claim: str, expected: int) -> None:
    texts = [
        "Rien à voir ici du tout.",
        "La tour mesure 330 mètres.",
        "서울은 대한민국의 수도이다.",
        "All bananas are yellow.",
    ]
    windows = cut(texts, [claim], size=30, most=1)
    assert shown(windows) == [[texts[expected]]]
    assert not windows.is_whole


def test_what_was_left_out_is_said_in_numbers() -> None:
    windows = cut(["a" * 30, "b" * 30, "c" * 30], size=40, most=2)
    assert windows.in_words == "judged on 2 of 3 windows (60 of 90 characters)"


def test_windows_stay_in_the_order_of_the_evidence() -> None:
    windows = cut(["one cat", "no animals", "two cats and one dog"], ["one dog two cats"], size=20, most=2)
    assert shown(windows) == [["one cat", "no animals"], ["two cats and one dog"]]


def test_blank_passages_are_nothing_to_show() -> None:
    assert cut([" \n ", ""]).shown == ()


@given(st.lists(st.text(alphabet="ab. \n가é!", max_size=200), max_size=6), st.integers(5, 60))
def test_every_character_but_white_space_is_in_exactly_one_window(texts: list[str], size: int) -> None:
    windows = cut(texts, size=size, most=10_000)
    seen = ["".join("".join(t for window in shown(windows) for t in window).split())]
    assert seen == ["".join("".join(texts).split())]
    assert all(sum(piece.end - piece.start for piece in window) <= size for window in windows.shown)
