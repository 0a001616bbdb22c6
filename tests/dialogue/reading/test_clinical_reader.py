"""The reader as a whole: indirect words, scopes of any place, odd texts, long texts, other processes."""

from __future__ import annotations

import pickle

import pytest
from mentions_in_words import reader

from growing_texts import check_growth
from hallumeter.dialogue.reading.cues import CUE_LANGUAGES, Role, load_cue_words, roles_of, wordings
from hallumeter.dialogue.reading.lexicon import load_tables
from hallumeter.dialogue.reading.reader import ClinicalReader, Hint


def hints_of(text: str) -> set[tuple[str, str]]:
    return {(hint.kind, hint.name) for hint in reader().read(text).hints}


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Keep an eye on your blood sugar.", ("condition", "diabetes mellitus")),
        ("혈당 조절이 중요합니다.", ("condition", "diabetes mellitus")),
        ("혈압을 재세요.", ("condition", "hypertension")),
        ("혈압을 재세요.", ("measurement", "bp")),
        ("신장 기능을 위해", ("condition", "chronic kidney disease")),
        ("Your statin helps.", ("medication_class", "statin")),
        ("혈압약은 아침에 드세요.", ("medication_class", "antihypertensive")),
        ("당뇨약", ("medication_class", "antidiabetic")),
        ("Retest your HbA1c.", ("measurement", "hba1c")),
        ("60대에는", ("life_stage", "60-69")),
        ("in your sixties", ("life_stage", "60-69")),
        ("고령이시므로", ("life_stage", "60-120")),
        ("older adults", ("life_stage", "60-120")),
    ],
)
def test_words_that_do_not_name_a_thing_are_hints(text: str, hint: tuple[str, str]) -> None:
    assert hint in hints_of(text)


def test_a_name_with_a_value_is_a_mention_and_no_hint() -> None:
    assert ("measurement", "hba1c") not in hints_of("HbA1c 7.2%")


def test_hints_have_a_scope_and_a_place() -> None:
    text = "Your mother took statins."
    assert Hint("medication_class", "statin", 17, 24, "family") in reader().read(text).hints


@pytest.mark.parametrize(
    ("text", "words", "scope"),
    [
        ("Avoid interval training, heavy lifting, and Motrin.", "heavy lifting", "avoided"),
        ("interval training은 피하세요.", "interval training", "avoided"),
        ("Please avoid bananas, oranges and salt substitutes, since your potassium is high.", "oranges", "avoided"),
        ("바나나와 오렌지 주스는 피하세요.", "바나나", "avoided"),
        ("바나나·시금치, 고단백 보충제, 술은 모두 삼가세요.", "시금치", "avoided"),
        ("Do not lift heavy weights.", "heavy weights", "negated"),
        ("고단백 식단도 권하지 않습니다.", "고단백 식단", "negated"),
        ("Sprints are not recommended.", "Sprints", "negated"),
        ("다만 토요일에는 고강도 운동을 20분 하셔도 좋습니다.", "고강도 운동", "advised"),
        ("데드리프트를 무거운 중량으로 하세요.", "데드리프트", "advised"),
        ("Eat plenty of bananas.", "bananas", "advised"),
        ("If you do interval training, stop when dizzy.", "interval training", "hypothetical"),
        ("평일에는 고강도 운동을 피하고 걷기만 하세요.", "고강도 운동", "avoided"),
        ("평일에는 고강도 운동을 피하고 걷기만 하세요.", "걷기", "advised"),
    ],
)
def test_the_scope_of_any_place_can_be_asked_for(text: str, words: str, scope: str) -> None:
    start = text.index(words)
    found = reader().read(text).scope_at(start, start + len(words))
    assert (found.scope, found.start, found.end) == (scope, start, start + len(words))


def test_a_scope_comes_with_the_words_that_decide_it() -> None:
    text = "이부프로펜은 꼭 피하세요."
    (place,) = reader().read(text).mentions[0].occurrences
    assert text[place.cue_start : place.cue_end] == "피하"


def test_sentences_are_places_of_the_text() -> None:
    text = "You  take metformin.  Avoid ibuprofen."
    read = reader().read(text)
    assert [text[start:end] for start, end in read.sentences] == ["You  take metformin.", "Avoid ibuprofen."]


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "?", "\x00", "\ud800", "1", "%", "(((", "、。", "Ж" * 50, "no", "없"]
)
def test_a_text_that_says_nothing_mentions_nothing(text: str) -> None:
    read = reader().read(text)
    assert read.mentions == ()
    assert read.scope_at(0, len(text)).scope in {"mentioned", "hypothetical"}


def test_another_process_can_be_given_a_reader() -> None:
    copy = pickle.loads(pickle.dumps(reader()))
    assert [each.name for each in copy.read("You take metformin.").mentions] == ["metformin"]


def test_a_reader_can_be_made_from_other_lexicons() -> None:
    tables = load_tables()
    small = ClinicalReader(type(tables)(tables.drugs[:1], (), tables.measurements, {}, {}))
    assert [each.name for each in small.read("abacavir and metformin").mentions] == ["abacavir"]


UNITS = [
    "metformin ",
    "no diabetes, ",
    "당뇨병은 없고 ",
    "HbA1c 7.2% ",
    "혈압 120/80 ",
    "(",
    ")(",
    "and take ",
    "if ",
    "70-",
    "one ",
    "이부프로펜은 피하고, ",
    "you have ",
    "의",
    "면 ",
    "120/",
    "- x:\n",
    ", which ",
    "LDL, HDL, ",
    "do not avoid ",
    "LDL and ",
    "AST and ALT 41 and 62 ",
]


@pytest.mark.long
@pytest.mark.parametrize("unit", UNITS)
def test_reading_takes_time_that_grows_with_the_text(unit: str) -> None:
    check_growth(reader().read, unit, size=20_000)


@pytest.mark.parametrize("language", CUE_LANGUAGES)
def test_no_phrase_is_a_cue_and_said_to_be_none(language: str) -> None:
    words = load_cue_words(language)
    roles = roles_of(words)
    neutral = {written for phrase in words.words.neutral for written in wordings(phrase, words.sets)}
    assert {phrase for phrase in neutral if roles[phrase] != Role()} == set()
