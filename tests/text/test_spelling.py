"""A spelling says which differences count, gives one signature for one choice, and keeps the words apart."""

from __future__ import annotations

import re
import unicodedata
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from hallumeter.errors import SettingsError
from hallumeter.text.spelling import AS_WRITTEN, STEPS, Spelling, parse_spelling

SINGLE = [name for name in STEPS if name != "diplomatic"]
spellings = st.lists(st.sampled_from(SINGLE)).map(parse_spelling)
# Letters that steps change, marks that join the letter before, spacing marks that NFKC breaks, jamo, odd white space.
ODD = (
    "vVjJſẛṽṿĵǰæǽÆœﬁﬅﬆĳꜳßİıΐᾳΣς"
    "\u0345\u0301\u0303\u0307\u030c\u0323´¨ͺﷺ゛\u1112\u1161\u11ab한-.,&$½²™①\u2000\u00a0\u0085\x1c \n"
)
texts = st.text(st.sampled_from(ODD) | st.characters(exclude_categories=["Cs"]), max_size=14)


@pytest.mark.parametrize(
    ("names", "text", "expected"),
    [
        ("nfc", "e\u0301 \u1112\u1161\u11ab", "é 한"),
        ("nfkc", "ﬁn ²Ａ ſ\u0307", "fin 2A ṡ"),
        ("caseless", "Straße IN ſo", "strasse in so"),
        ("punctuation", "«L’an 1789, (5 %)»: a\u0301-b_c ¹", "Lan 1789 5  a\u0301bc ¹"),
        ("layout", "| Name | Age |\n|---|:-:|\n| Anna | 7-8 |", "Name Age\nAnna 7-8"),
        ("layout", "┌──┬──┐\n│ a │ b │\n└──┴──┘", "a b"),
        ("layout", "I. Of kings ........ 12\n-----\n***\nII....... 13", "I. Of kings 12\nII 13"),
        (
            "layout",
            "Wait... he said -- no - \u2014 l\u2019an 1-2 ... a|b **bold** *",
            "Wait... he said -- no - \u2014 l\u2019an 1-2 ... a|b **bold** *",
        ),
        ("layout", "Ware, Isaac. . . . . . Clerk\n• one", "Ware, Isaac. Clerk\none"),
        ("layout", "Apples - - - - 12\n* * *\nPears - - 7 - 2", "Apples 12\nPears - - 7 - 2"),
        ("nfkc+layout", "｜ a ｜", "a"),
        ("long-s", "Waſſer, ẛ ﬅ", "Wasser, ṡ ﬆ"),
        ("u-v", "vniuerſal VNE ṽ ṿ Ṽ w", "uniuerſal UNE ũ ụ Ũ w"),
        ("i-j", "jour Ianvier JE ĵ ǰ", "iour Ianvier IE î ǐ"),
        ("ligatures", "æ Œ ꜳ ﬁ ﬂ ﬀ ﬃ ﬄ ﬅ ﬆ ĳ Ĳ ǽ Ꜹ & ß", "ae OE aa fi fl ff ffi ffl ſt st ij IJ aé AV & ß"),
        ("ligatures+long-s", "ﬅ", "st"),
        ("ligatures+i-j+u-v", "ĳ Ꜹ", "ii AU"),
        ("diplomatic", "Vne ſœur, e\u0301te\u0301 & j’ai", "Une soeur, été & i’ai"),
        ("diplomatic+caseless+punctuation", "Vne ſœur & j’ai", "une soeur  iai"),
    ],
)
def test_each_step_changes_what_it_says_and_nothing_else(names: str, text: str, expected: str) -> None:
    assert parse_spelling([names]).text(text) == expected  # by hand


def test_no_step_gives_the_same_object() -> None:
    text = "ſ e\u0301" * 10
    assert AS_WRITTEN.text(text) is text
    assert AS_WRITTEN.word(text) is text


@pytest.mark.parametrize("name", ["long-s", "u-v", "i-j", "ligatures"])
def test_a_letter_with_an_accent_becomes_the_same_in_one_piece_and_in_two(name: str) -> None:
    spelling = parse_spelling([name])
    for letter in "ẛṽṿṼṾĵĴǰǽǼǣǢ":
        in_two = unicodedata.normalize("NFD", letter)
        assert unicodedata.normalize("NFC", spelling.text(in_two)) == spelling.text(letter)


def test_characters_that_nfkc_breaks_into_two_words_stay_whole() -> None:
    nfkc = parse_spelling(["nfkc"])
    assert nfkc.text("a´ﬁ ﷺ") == "a´fi ﷺ"
    assert nfkc.text("¨\u0301") == "\u0385"
    assert parse_spelling(["nfkc", "punctuation"]).text("a´ﬁ") == "afi"


def test_punctuation_keeps_letters_digits_and_marks_of_every_script() -> None:
    kept = "é 한국어 ตำ हिन्दी 中文 ١٢٣ Ⅳ ½ אִ"
    assert parse_spelling(["punctuation"]).text(kept) == kept


def test_a_mark_after_dropped_punctuation_is_composed_with_the_letter_before() -> None:
    assert parse_spelling(["nfc", "punctuation"]).text("e-\u0301") == "é"


def test_equal_choices_are_equal_values_with_one_signature() -> None:
    chosen = ["long-s", "nfc", "caseless", "punctuation"]
    spellings = {parse_spelling(order) for order in permutations(chosen)} | {parse_spelling([",".join(chosen * 2)])}
    assert [str(spelling) for spelling in spellings] == ["nfc+caseless+punctuation+long-s"]


@pytest.mark.parametrize("names", [[], ["none"], "none", ["none", " NONE "]])
def test_no_choice_is_none(names: list[str]) -> None:
    assert parse_spelling(names) == AS_WRITTEN
    assert str(parse_spelling(names)) == "none"


def test_names_are_joined_by_commas_or_plus_signs_in_any_case() -> None:
    assert parse_spelling([" NFC, Long-S", "caseless+u-v"]).steps == ("nfc", "caseless", "long-s", "u-v")
    assert parse_spelling("nfc") == parse_spelling(["nfc"])


def test_nfkc_holds_nfc() -> None:
    assert str(parse_spelling(["nfc", "nfkc"])) == "nfkc"
    assert parse_spelling(["diplomatic", "nfkc"]).steps == ("nfkc", "ligatures", "long-s", "u-v", "i-j")


def test_a_signature_names_its_spelling() -> None:
    for name in STEPS:
        spelling = parse_spelling([name])
        assert parse_spelling([str(spelling)]) == spelling


@pytest.mark.parametrize("name", ["lower", "", "nfc,", "nfd", "none nfc"])
def test_an_unknown_name_is_refused_with_the_known_ones(name: str) -> None:
    steps = "nfc, nfkc, caseless, punctuation, layout, ligatures, long-s, u-v, i-j, diplomatic"
    expected = f"expected one or more of none, {steps}"
    profiles = "or one profile of dinglehopper, jiwer, picarones, strict"
    with pytest.raises(SettingsError, match=f"^unknown normalisation '.*'; {expected}, {profiles}$"):
        parse_spelling([name])


@pytest.mark.parametrize("steps", [("caseless", "nfc"), ("nfc", "nfc"), ("nfc", "nfkc"), ("lower",), ("diplomatic",)])
def test_steps_out_of_order_are_refused(steps: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError, match=re.escape(f"found {', '.join(map(repr, steps))}; make spellings with")):
        Spelling(steps)


@examples(max_examples=1000)
@given(spellings, texts)
def test_a_spelling_applied_twice_changes_nothing_more(spelling: Spelling, text: str) -> None:
    once = spelling.text(text)
    assert spelling.text(once) == once


@examples(max_examples=1000)
@given(spellings, texts)
def test_a_text_and_its_words_agree(spelling: Spelling, text: str) -> None:
    assert spelling.text(text).split() == [word for word in map(spelling.word, text.split()) if word]


@pytest.mark.parametrize("name", [*STEPS, "nfkc+caseless+punctuation+ligatures+long-s+u-v+i-j"])
def test_every_character_stays_one_word_or_none_and_settles_at_once(name: str) -> None:
    spelling = parse_spelling([name])
    characters = [chr(code) for code in [*range(0x3400), *range(0xA000, 0xAC00), *range(0xF900, 0x10000)]]
    once = spelling.text("\n".join(characters))
    assert spelling.text(once) == once
    assert len(once.split()) <= len("\n".join(characters).split())


@given(texts)
def test_canonically_equal_texts_are_one_under_nfc(text: str) -> None:
    nfc = parse_spelling(["nfc"])
    assert nfc.text(unicodedata.normalize("NFD", text)) == nfc.text(text) == unicodedata.normalize("NFC", text)
