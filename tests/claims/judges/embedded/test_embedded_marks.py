"""Marks are whole words and values, in English, French and Korean, whatever part of them the tokens were."""

from __future__ import annotations

import unicodedata

import pytest
from embedded_tasks import TIERS, suspicious, task_of, verdicts_of
from hypothesis import given, settings
from hypothesis import strategies as st

from hallumeter.claims.judges.embedded.judge import whole_words
from hallumeter.text.quantities import find_quantities
from hallumeter.text.terms import language_of, terms_of

ENGLISH = (
    *("The", "tower", "it's", "so-called", "AT&T", "U.S.", "(red)", "density.", "“old”", "1,200", "$5", "12%", "9:30"),
    *("330 metres", "3/4", "1990–1995", "[1]", "…", "!", "file_name", "the towers'", "-5 °C"),
)
FRENCH = (
    *("l’été", "L'eau", "aujourd’hui", "«été»", "3,5 km", "12 %", "5 €", "1 200", "Est-ce", "cafe\u0301", "d’eau,"),
)
KOREAN = (*("탑은", "330미터이고", "5만 원", "12%", "‘높다’.", "1889년에", "(서울)", "에펠이,", "$5"),)
TEXTS = st.lists(st.sampled_from((*ENGLISH, *FRENCH, *KOREAN)), min_size=1, max_size=12).map(" ".join)


def is_letter(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


def words_in(text: str) -> list[tuple[int, int]]:
    """Runs of letters, digits and marks on them: the smallest parts of which no mark may be a part."""
    found, start = [], None
    for place, character in enumerate(f"{text} "):
        if is_letter(character):
            start = place if start is None else start
        elif start is not None:
            found.append((start, place))
            start = None
    return found


def values_in(text: str) -> list[tuple[int, int]]:
    return [(each.start, each.end) for each in find_quantities(text, language=language_of(terms_of(text)))]


@settings(max_examples=300)
@given(TEXTS, st.data())
def test_a_mark_has_all_that_it_touches_whole_and_ends_with_letters_digits_or_values(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    values = values_in(text)
    found = whole_words(text, start, end, values=values)
    touched = [(first, last) for first, last in words_in(text) if first < end and start < last]
    if found is None:
        assert not touched
        return
    first, last = found
    assert 0 <= first < last <= len(text)
    assert all(first <= begin and stop <= last for begin, stop in touched)
    for begin, stop in (*words_in(text), *values):
        assert stop <= first or last <= begin or (first <= begin and stop <= last), text[first:last]
    signs = {"%", "°", *"$€£₩"}
    ends = {place for value in values for place in (value[0], value[1] - 1)}
    for place in (first, last - 1):
        assert is_letter(text[place]) or text[place] in signs or place in ends, text[first:last]
    assert whole_words(text, first, last, values=values) == found


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("The tower's density. (It is low.)", "'s", "tower's"),
        ("The tower's density. (It is low.)", "density. (", "density"),
        ("A so-called tower", "called", "so-called"),
        ("It is 1,200 metres high.", "200", "1,200 metres"),
        ("It costs $5 million.", "5", "$5 million"),
        ("It costs 12% more.", "12", "12%"),
        ("It costs 12% more.", "% m", "12% more"),
        ("Elle mesure 3,5 km en l’été.", "km en l", "3,5 km en l’été"),
        ("Elle coûte 5 € (au moins).", "€ (", "5 €"),
        ("높이는 330미터이고 크다.", "30미", "330미터이고"),
        ("값은 5만 원이다.", "만 ", "5만 원이다"),
        ("서울(수도)은 크다.", "수도)", "수도"),
        ("caf" + "e\u0301 ouvert", "\u0301", "caf" + "e\u0301"),
        ("from 1990–1995 on", "1995", "1990–1995"),
        ("in the U.S. today", "S.", "U.S"),
        ("at 9:30 in", "30", "9:30"),
        ("one / two", "/ t", "two"),
    ],
)
def test_parts_of_words_and_values_are_made_whole(text: str, part: str, expected: str) -> None:
    start = text.index(part)
    found = whole_words(text, start, start + len(part), values=values_in(text))
    assert found is not None
    assert text[found[0] : found[1]] == expected


@pytest.mark.parametrize("text", ["", " ", "…", "(“ ”)", "$", "%", "- -"])
def test_a_part_without_a_letter_or_digit_has_no_mark(text: str) -> None:
    assert whole_words(text, 0, len(text)) is None


@pytest.mark.parametrize("tier", TIERS)
@settings(max_examples=40)
@given(st.lists(st.sampled_from(ENGLISH), min_size=3, max_size=14).map(" ".join))
def test_verdicts_mark_whole_words(tier: str, text: str) -> None:
    task = task_of((text,), "The old tower of Paris was built in 1889, and it is open to all people of the town.")
    (verdict,) = verdicts_of(tier, task, judge=suspicious(tier))
    if verdict.unsupported_probability is None or "judged by rules" in (verdict.note or ""):
        return
    assert verdict.start is not None
    assert verdict.end is not None
    for begin, stop in words_in(text):
        is_apart = stop <= verdict.start or verdict.end <= begin
        assert is_apart or (verdict.start <= begin and stop <= verdict.end), text[verdict.start : verdict.end]
    assert text[verdict.start] not in "([“,.;:!"
    assert text[verdict.end - 1] not in ")]”,.;:!("
