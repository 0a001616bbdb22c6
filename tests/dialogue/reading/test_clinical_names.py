"""Names of drugs and conditions: synonyms, word boundaries in two languages, and what the lexicons say of them."""

from __future__ import annotations

import unicodedata

import pytest
from mentions_in_words import mentions_in, reader

from hallumeter.dialogue.reading.lexicon import load_tables
from hallumeter.dialogue.reading.reader import (
    classes_of,
    condition_named,
    drug_named,
    is_same_condition,
    is_wider_condition,
)


@pytest.mark.parametrize(
    "text",
    [
        "metformin",
        "METFORMIN",
        "Glucophage",
        "메트포르민",
        "메트포르민을",
        "메트포르민은",
        "메트포르민이며",
        "메트포르민까지",
        "다이아벡스도",
        "metformin을",
        "Metformin(글루코파지)",
        "메트포르민정",
        "**메트포르민**은",
        "metformin's",
        "메트포르민으로는",
    ],
)
def test_a_drug_is_found_by_all_its_names_and_with_all_particles(text: str) -> None:
    assert list(mentions_in(text)) == ["metformin"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("당뇨병이며", ["diabetes mellitus"]),
        ("당뇨가", ["diabetes mellitus"]),
        ("당뇨병 전단계", ["prediabetes"]),
        ("제2형 당뇨병", ["type 2 diabetes mellitus"]),
        ("고혈압환자", ["hypertension"]),
        ("type-2 diabetes", ["type 2 diabetes mellitus"]),
        ("pulmonary hypertension", ["pulmonary hypertension"]),
        (
            "HTN, COPD, GERD",
            ["hypertension", "chronic obstructive pulmonary disease", "gastroesophageal reflux disease"],
        ),
        ("hydrochlorothiazide and esomeprazole", ["hydrochlorothiazide", "esomeprazole"]),
        ("kidney stones", ["kidney stones"]),
        ("migraines", ["migraine"]),
    ],
)
def test_the_longest_name_counts_and_nothing_inside_of_it(text: str, names: list[str]) -> None:
    assert list(mentions_in(text)) == names


@pytest.mark.parametrize(
    "text",
    [
        "고혈압약",
        "당뇨약을 드세요",
        "혈압약",
        "인슐린저항성이라는 말과 리튬이온",
        "당장 당근과 당면",
        "당분간",
        "신장과 간",
        "kidney and liver",
        "the environment",
        "breakfast with salt",
        "통풍이 잘 되는 신발",
        "statins and NSAIDs",
        "blood pressure pills",
        "it aids digestion",
        "안정과 안과",
        "혈당계",
        "GPT-4 got 3 stars",
    ],
)
def test_classes_organs_and_parts_of_other_words_are_no_mentions(text: str) -> None:
    assert not {each.name for each in reader().read(text).mentions} - {"insulin resistance"}


def test_synonyms_of_one_thing_are_one_mention_with_all_its_places() -> None:
    text = "Metformin, that is Glucophage or 메트포르민."
    (mention,) = reader().read(text).mentions
    places = [text[each.start : each.end] for each in mention.occurrences]
    assert (mention.name, places) == ("metformin", ["Metformin", "Glucophage", "메트포르민"])


@pytest.mark.parametrize(
    "text",
    [
        unicodedata.normalize("NFD", "현재 메트포르민을 복용 중이십니다."),
        "Straße, İstanbul, ﬁne: you take metformin.",
        "You  take\u00a0\u200bmetformin\u200b now.",
        "😀 You take “metformin”.",
    ],
)
def test_places_are_those_of_the_text_as_it_was_given(text: str) -> None:
    (mention,) = reader().read(text).mentions
    (place,) = mention.occurrences
    found = unicodedata.normalize("NFC", text[place.start : place.end])
    assert found in {"메트포르민", "metformin"}
    assert place.cue_start is not None
    assert place.cue_end is not None
    assert unicodedata.normalize("NFC", text[place.cue_start : place.cue_end]).lower() in {
        "현재",
        "you  take",
        "you take",
    }


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Metformin hydrochloride 500 MG Oral Tablet", "metformin"),
        ("24 HR Metformin 500 MG Extended Release", "metformin"),
        ("Simvistatin 10 MG", "simvastatin"),
        ("타이레놀", "acetaminophen"),
        ("NSAIDs", None),
        ("", None),
    ],
)
def test_a_drug_of_a_record_is_named_by_the_lexicon(text: str, name: str | None) -> None:
    assert drug_named(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Type 2 Diabetes Mellitus", "type 2 diabetes mellitus"),
        ("Chronic kidney disease stage 3 (disorder)", "chronic kidney disease stage 3"),
        ("만성 콩팥병", "chronic kidney disease"),
        ("신장", None),
    ],
)
def test_a_condition_of_a_record_is_named_by_the_lexicon(text: str, name: str | None) -> None:
    assert condition_named(text) == name


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("당뇨", "Type 2 diabetes mellitus", True),
        ("type 1 diabetes", "type 2 diabetes", False),
        ("prediabetes", "diabetes", False),
        ("heart attack", "심근경색", True),
        ("hypertension", "pulmonary hypertension", False),
        ("asthma", "unheard of", False),
        ("high cholesterol", "hyperlipidemia", True),
        ("고콜레스테롤혈증", "고지혈증", True),
        ("infection", "요로감염", True),
        ("wound", "laceration", True),
        ("oligohydramnios", "polyhydramnios", False),
    ],
)
def test_conditions_are_the_same_when_one_is_a_form_of_the_other(one: str, other: str, expected: bool) -> None:
    assert is_same_condition(one, other) is expected
    assert is_same_condition(other, one) is expected


def test_the_wider_condition_is_told_from_the_narrower() -> None:
    assert is_wider_condition("diabetes", "type 2 diabetes")
    assert not is_wider_condition("type 2 diabetes", "diabetes")
    assert not is_wider_condition("diabetes", "당뇨병")


def test_classes_of_a_drug_come_from_the_lexicon() -> None:
    assert "antihypertensive" in classes_of("lisinopril")
    assert classes_of("unheard of") == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *(("needlestick injury", "needlestick injury"), ("knife wound", "stab wound"), ("찰과상", "abrasion")),
        *(("painful periods", "dysmenorrhea"), ("월경과다", "menorrhagia"), ("생리불순", "oligomenorrhea")),
        *(("impacted earwax", "cerumen impaction"), ("황반원공", "macular hole"), ("부정교합", "malocclusion")),
        *(("dry socket", "dry socket"), ("사건수면", "parasomnia"), ("게임 중독", "gaming disorder")),
        *(("C O P D", "chronic obstructive pulmonary disease"), ("C.V.A.", "stroke"), ("HIV", "hiv infection")),
    ],
)
def test_conditions_of_all_specialities_are_found(text: str, name: str) -> None:
    assert [(each.kind, each.name) for each in reader().read(f"You have {text}.").mentions] == [("condition", name)]


def test_a_test_for_a_disease_is_not_the_disease() -> None:
    assert reader().read("Your hepatitis B surface antigen was negative; get an HIV test.").mentions == ()


def test_the_lexicons_hold_what_is_promised() -> None:
    tables = load_tables()
    assert len(tables.drugs) >= 300
    assert len(tables.conditions) >= 200
    assert len(tables.measurements) >= 40
    names = [each.name for each in tables.conditions]
    assert all(wider in names for each in tables.conditions for wider in each.wider)


def test_every_name_of_the_lexicons_is_found_as_what_it_is() -> None:
    """Alone in a text, each name of a drug or condition is a mention of it, unless another one begins with it."""
    tables = load_tables()
    wrong = [
        (kind, name, each.name)
        for kind, entries in (("medication", tables.drugs[::9]), ("condition", tables.conditions[::9]))
        for each in entries
        for name in each.names
        if (kind, each.name) not in {(found.kind, found.name) for found in reader().read(f"{name}.").mentions}
    ]
    assert wrong == []
