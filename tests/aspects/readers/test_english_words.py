"""Words, clauses, cues and feelings of English sentences."""

from __future__ import annotations

import pytest

from hallumeter.aspects.readers.english.reader import EnglishReader, head_of, noun_phrases
from hallumeter.aspects.readers.english.words import lexicon_polarity, tokens_of, wording
from hallumeter.aspects.readers.protocol import CueKind

READER = EnglishReader()


def cues(text: str, kind: CueKind) -> list[str]:
    return [text[cue.start : cue.end] for cue in READER.read(text).cues_of(kind)]


def scopes(text: str, kind: CueKind) -> list[str]:
    return [text[cue.scope_start : cue.scope_end] for cue in READER.read(text).cues_of(kind)]


def test_words_keep_their_apostrophes_and_give_up_a_final_s() -> None:
    assert tokens_of("The waiter's tie wasn’t red").words == ("the", "waiter", "'s", "tie", "wasn't", "red")


def test_accents_and_combining_marks_do_not_change_a_word_and_stay_inside_its_span() -> None:
    text = "cafe\u0301 CRÈME"
    tokens = tokens_of(text)
    assert tokens.words == ("cafe", "creme")
    assert (tokens.starts, tokens.ends) == ((0, 6), (5, 11))


def test_a_stretch_of_text_covers_the_words_that_it_touches() -> None:
    tokens = tokens_of("one two three")
    assert tokens.covering(0, 13) == (0, 3)
    assert tokens.covering(4, 5) == (1, 2)
    assert tokens.covering(3, 4) == (1, 1)
    assert tokens.covering(50, 60) == (3, 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The food was great but the service was slow.", ["but"]),
        ("The button is yellow and the yeti whiles away.", []),
        ("Although it was late, the staff smiled; however, the soup was cold.", ["Although", "however"]),
        ("While the pasta was good, the wine was not.", ["While"]),
        ("We talked while we waited for a while.", []),
        ("There is nothing but praise for this hotel.", []),
        ("They have yet to answer.", []),
        ("The room was cheap, yet clean.", ["yet"]),
        ("Even though it rained, we came back in spite of the price.", ["Even though", "in spite of"]),
        ("It looked as though nobody cared.", []),
    ],
)
def test_words_of_contrast_are_found_as_words_and_not_where_they_mean_something_else(
    text: str, expected: list[str]
) -> None:
    assert cues(text, "contrast") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The waiter did not smile and never came back.", ["not", "never"]),
        ("I don’t like it, nor did they.", ["don’t", "nor"]),
        ("Another notable nobleman knocked.", []),
        ("Not only the fish, no doubt the wine was fine.", []),
        ("We can't wait to return.", []),
    ],
)
def test_words_of_negation_are_found_as_words_and_not_in_idioms(text: str, expected: list[str]) -> None:
    assert cues(text, "negation") == expected


def test_only_safe_signs_of_irony_are_taken() -> None:
    assert cues("Oh great, another hour of waiting.", "irony") == ["Oh great"]
    assert cues("Yeah right, like they would call back.", "irony") == ["Yeah right"]
    assert cues("The food was great and the staff wonderful.", "irony") == []


def test_a_negation_acts_on_the_rest_of_its_clause_and_a_contrast_on_its_clause() -> None:
    text = "The fish was not fresh, but the rice was good."
    assert scopes(text, "negation") == ["not fresh"]
    assert scopes(text, "contrast") == ["but the rice was good"]


def test_a_dash_inside_a_word_ends_no_clause() -> None:
    assert scopes("It was not well-made - sadly.", "negation") == ["not well-made"]


@pytest.mark.parametrize(
    ("text", "term", "expected"),
    [
        ("The soup was delicious.", "soup", "positive"),
        ("The soup was not delicious.", "soup", "negative"),
        ("The soup wasn't bad.", "soup", "positive"),
        ("The soup was hardly good.", "soup", "negative"),
        ("The soup was served.", "soup", "neutral"),
        ("The soup was delicious but the fish was awful.", "fish", "negative"),
        ("Pretty awful soup.", "soup", "negative"),
        ("A pretty room.", "room", "positive"),
        ("The soup is not worth the wait.", "soup", "negative"),
        ("A top-notch soup!", "soup", "positive"),
        ("No one ate the soup.", "soup", "neutral"),
    ],
)
def test_the_lexicon_reads_clauses_with_negation_and_degree(text: str, term: str, expected: str) -> None:
    start = text.index(term)
    assert lexicon_polarity(text, start, start + len(term)) == expected


def test_the_lexicon_says_neutral_where_there_are_no_words() -> None:
    assert lexicon_polarity("", 0, 0) == "neutral"
    assert lexicon_polarity("good", 40, 50) == "neutral"


def test_degrees_scale_what_is_felt_in_a_sentence() -> None:
    plain = READER.sentence_polarity("The soup was good.")
    strong = READER.sentence_polarity("The soup was extremely good.")
    weak = READER.sentence_polarity("The soup was somewhat good.")
    assert weak.confidence < plain.confidence < strong.confidence


def test_what_follows_a_turn_weighs_more_in_the_sentence() -> None:
    text = "The soup was good but the fish was bad."
    felt = READER.sentence_polarity(text)
    assert felt.polarity == "negative"
    assert text[felt.start : felt.end] == "bad"
    assert READER.sentence_polarity("The fish was bad but the soup was good.").polarity == "positive"
    assert sum(felt.distribution.values()) == pytest.approx(1.0)


def test_a_sentence_without_feelings_is_neutral_and_shows_nothing() -> None:
    felt = READER.sentence_polarity("We ate at noon.")
    assert (felt.polarity, felt.confidence, felt.start, felt.end) == ("neutral", 1.0, None, None)


def test_the_head_of_a_term_is_its_last_word_before_a_preposition() -> None:
    assert head_of(("bottle", "of", "house", "wine"), wording()) == 0
    assert head_of(("house", "wine"), wording()) == 1


def test_noun_phrases_stand_behind_a_determiner_or_before_a_linking_verb() -> None:
    assert noun_phrases(("the", "front", "camera", "is", "sharp"), wording()) == [(1, 3)]
    assert noun_phrases(("shipping", "was", "slow"), wording()) == [(0, 1)]
    assert noun_phrases(("we", "slept"), wording()) == []
