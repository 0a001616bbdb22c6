"""Plain phrases in two languages: where they are found and where not."""

from __future__ import annotations

import pickle
import time
import unicodedata

import pytest

from hallumeter.dialogue.judges.phrases import Found, Phrase, PhraseMatcher, RegexError, compiled


def matcher(*sources: str, but_not: tuple[str, ...] = ()) -> PhraseMatcher:
    return PhraseMatcher([Phrase("g", source) for source in sources], [Phrase("g", source) for source in but_not])


def quotes(text: str, found: list[Found]) -> list[str]:
    return [text[each.start : each.end] for each in found]


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("banana", "Bananas, banana, BANANA를 bananarama", ["Bananas", "banana", "BANANA"]),
        ("potato", "potatoes potato potatos", ["potatoes", "potato", "potatos"]),
        ("strawberry", "strawberries strawberry", ["strawberries", "strawberry"]),
        ("high-intensity", "high intensity, High-Intensity, high\nintensity, highintensity", 3),
        ("interval training", "interval training은 interval trainings", ["interval training", "interval trainings"]),
        ("male", "female male", ["male"]),
        ("breathless*", "breathlessness breathless", ["breathless", "breathless"]),
        ("바나나", "바나나를 바나나우유 골드바나나 바나나", ["바나나", "바나나", "바나나"]),
        ("*고강도", "초고강도 고강도로", ["고강도", "고강도"]),
        ("고강도", "초고강도 고강도로", ["고강도"]),
        ("숨이 차", "숨이 차요, 숨이 찹니다, 숨이 찬데, 숨이차서, 숨이 막혀", 4),
        ("다리가 붓", "다리가 붓고 다리가 부러져", ["다리가 붓"]),
        ("술", "술은 수술 술을 술기 술", ["술", "술", "술"]),
        ("❌", "❌ 바나나", ["❌"]),
        ("1RM", "80% of 1RM, 11RM", ["1RM"]),
    ],
)
def test_a_phrase_is_found_at_the_edges_of_words(source: str, text: str, expected: list[str] | int) -> None:
    found = quotes(text, matcher(source).found(text))
    assert (len(found) if isinstance(expected, int) else found) == expected


def test_positions_are_those_of_the_text_as_given_also_when_it_is_decomposed_or_spaced() -> None:
    text = unicodedata.normalize("NFD", "아침에  바나나를") + "\u00a0\u00a0banana\u200b!"
    found = quotes(text, matcher("바나나", "banana").found(text))
    assert [unicodedata.normalize("NFC", quote) for quote in found] == ["바나나", "banana"]


def test_phrases_are_folded_as_texts_are() -> None:
    assert matcher("don’t").found("Don't!")
    assert matcher("e‑bike").found("e-bike")


def test_an_exception_hides_what_it_touches_and_nothing_else() -> None:
    text = "고강도 스타틴과 고강도 운동"
    assert [found.start for found in matcher("고강도", but_not=("고강도 스타틴",)).found(text)] == [9]


def test_an_exception_of_another_group_hides_nothing() -> None:
    both = PhraseMatcher([Phrase("a", "banana")], [Phrase("b", "banana bread")])
    assert len(both.found("banana bread")) == 1


@pytest.mark.parametrize("source", ["", "  ", "*", "**"])
def test_an_empty_phrase_is_refused(source: str) -> None:
    with pytest.raises(RegexError, match="an empty phrase"):
        compiled(source)


def test_a_matcher_comes_back_whole_from_another_process() -> None:
    back = pickle.loads(pickle.dumps(matcher("banana", but_not=("banana bread",))))
    assert quotes("banana, banana bread", back.found("banana, banana bread")) == ["banana"]


def test_more_phrases_than_one_automaton_holds_are_found_all_the_same() -> None:
    many = PhraseMatcher([Phrase("g", f"re:[a-z]{{100,200}}{number}") for number in range(400)])
    text = "x" * 120 + "7"
    assert [found.phrase.source for found in many.found(text)] == ["re:[a-z]{100,200}7"]


def test_time_grows_with_the_text_and_not_with_its_square() -> None:
    fruit = matcher("banana", "바나나", but_not=("바나나 우유",))

    def seconds(repeats: int) -> float:
        text = "avoid 바나나를 and 바나나 우유 " * repeats
        before = time.process_time()
        assert len(fruit.found(text)) == repeats
        return time.process_time() - before

    seconds(200)
    assert seconds(4_000) < 30 * max(seconds(400), 0.002)


def test_a_text_with_half_a_character_is_searched_like_any_other() -> None:
    assert len(matcher("banana").found("\ud800 banana")) == 1
