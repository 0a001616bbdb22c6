"""Errors of every kind in three languages; the expected sentences were written by hand."""

from __future__ import annotations

import re

import pytest

from hallumeter.challenge.mutations.donors import Donors, donors_of, facts_of
from hallumeter.challenge.mutations.edits import errors_of
from hallumeter.challenge.mutations.protocol import ERROR_KINDS, Mutation
from hallumeter.errors import SettingsError


def edited(kind: str, text: str, *evidence: str, seed: int = 0) -> Mutation | None:
    """The error of one kind; the claim itself is part of its evidence."""
    found = errors_of(text, donors=donors_of([text, *evidence]), seed=seed, kinds=[kind])
    return found[0] if found else None


def text_of(kind: str, text: str, *evidence: str) -> str | None:
    mutation = edited(kind, text, *evidence)
    return None if mutation is None else mutation.text


def forms(kind: str, text: str, *evidence: str) -> set[str]:
    """What the error says with many seeds."""
    found = [edited(kind, text, *evidence, seed=seed) for seed in range(40)]
    return {mutation.text for mutation in found if mutation is not None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The bridge is open to the public.", "The bridge is not open to the public."),
        ("She can swim.", "She cannot swim."),
        ("The team won the final.", "The team won the final."),
        ("Marie Curie won the Nobel Prize.", "Marie Curie did not win the Nobel Prize."),
        ("It contains two rooms.", "It does not contain two rooms."),
        ("She didn't win the race.", "She won the race."),
        ("The plan does not include parks.", "The plan includes parks."),
        ("The road isn’t closed.", "The road is closed."),
        ("He has never been to Rome.", "He has been to Rome."),
        ("When it rains, the path is closed.", "When it rains, the path is not closed."),
        ("La tour mesure 330 mètres.", "La tour ne mesure pas 330 mètres."),
        ("Le texte est en vigueur.", "Le texte n'est pas en vigueur."),
        ("Elle s'est installée à Lyon.", "Elle ne s'est pas installée à Lyon."),
        ("C'est la plus grande ville du pays.", "Ce n'est pas la plus grande ville du pays."),
        ("Il n'est pas venu à la fête.", "Il est venu à la fête."),
        ("L'accord n'a pas été signé par les deux parties.", "L'accord a été signé par les deux parties."),
        ("서울은 대한민국의 수도이다.", "서울은 대한민국의 수도가 아니다."),
        ("그것은 책입니다.", "그것은 책이 아닙니다."),
        ("다리는 지난해 개통되었다.", "다리는 지난해 개통되지 않았다."),
        ("그는 상을 받지 않았다.", "그는 상을 받았다."),
        ("이 섬에는 공항이 없다.", "이 섬에는 공항이 있다."),
    ],
)
def test_what_is_said_is_denied_and_what_is_denied_is_said(text: str, expected: str) -> None:
    assert text_of("negation", text) == (None if text == expected else expected)


@pytest.mark.parametrize(
    "text",
    [
        "Some people are allergic to nuts.",
        "He did not win any medals.",
        "It is not only cheap but good.",
        "Is the bridge open?",
        "Most birds can fly.",
        "Certains sont venus.",
        "Il n'y a pas de gare.",
        "그것은 전혀 없다.",
    ],
)
def test_no_negation_is_made_that_changes_no_fact_or_breaks_the_grammar(text: str) -> None:
    assert edited("negation", text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The new tower is higher than the old one.", "The new tower is lower than the old one."),
        ("Sales rose in March.", "Sales fell in March."),
        ("More than 40 people came.", "Less than 40 people came."),
        ("She arrived before noon.", "She arrived after noon."),
        ("He is the first driver to win it.", "He is the last driver to win it."),
        ("It costs at least five dollars.", "It costs at most five dollars."),
        ("La population a augmenté.", "La population a diminué."),
        ("Elle est partie avant la guerre.", "Elle est partie après la guerre."),
        ("참가자가 15% 증가했다.", "참가자가 15% 감소했다."),
        ("회사는 올해 흑자를 기록했다.", "회사는 올해 적자를 기록했다."),
        ("기온이 30도 이상으로 나왔다고 한다.", "기온이 30도 이하로 나왔다고 한다."),
    ],
)
def test_a_comparison_is_turned_round(text: str, expected: str) -> None:
    assert text_of("comparison", text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "He won't come.",
        "No more than 40 people came.",
        "It was named after him.",
        "더 이상 비가 오지 않는다.",
        "Which is better?",
    ],
)
def test_words_that_only_look_like_comparisons_are_left_alone(text: str) -> None:
    assert edited("comparison", text) is None


@pytest.mark.parametrize(
    ("kind", "text", "evidence", "expected"),
    [
        ("number", "The tower is 330 metres high.", "A hill rises 480 metres.", "The tower is 480 metres high."),
        ("number", "Five people were hurt.", "Nine cars burnt.", "Nine people were hurt."),
        (
            "number",
            "Le prix est de 3,5 millions d'euros.",
            "On vendit 2,8 millions d'euros.",
            "Le prix est de 2,8 millions d'euros.",
        ),
        ("number", "학생 1,200명이 왔다.", "표가 2,500명에게 팔렸다.", "학생 2,500명이 왔다."),
        ("date", "It opened on 12 May 2019.", "He died on 3 June 2015.", "It opened on 3 June 2015."),
        ("date", "Elle ouvrit en 1998.", "Paul mourut en 2004.", "Elle ouvrit en 2004."),
        ("date", "회의는 3월 4일에 열렸다.", "축제가 5월 9일에 끝난다.", "회의는 5월 9일에 열렸다."),
        ("name", "She met Ada Lovelace.", "The prize went to Mary Somerville.", "She met Mary Somerville."),
        ("name", "They live in Paris.", "It rained in Dublin.", "They live in Dublin."),
        ("name", "박철수 씨가 걸었다.", "김민수 씨도 왔다.", "김민수 씨가 걸었다."),
    ],
)
def test_a_value_of_the_same_shape_is_taken_from_elsewhere_in_the_evidence(
    kind: str, text: str, evidence: str, expected: str
) -> None:
    assert text_of(kind, text, evidence) == expected


@pytest.mark.parametrize(
    ("kind", "text", "evidence", "value"),
    [
        ("number", "The tower is 330 metres high.", "With its antenna the tower is 480 metres high.", "480"),
        ("date", "The museum opened in 1998.", "The museum opened again in 2004.", "2004"),
        ("name", "Obama met Putin in Geneva.", "Biden met Putin in Geneva too.", "Biden"),
    ],
)
def test_no_value_is_taken_from_a_sentence_about_the_same_thing(
    kind: str, text: str, evidence: str, value: str
) -> None:
    found = forms(kind, text, evidence)
    assert not any(value in each for each in found)
    assert kind == "name" or found


def test_a_number_that_is_made_up_stands_nowhere_in_the_evidence() -> None:
    evidence = "Other houses have 2, 3, 4, 6, 7 and 9 floors."
    assert forms("number", "It has 5 floors.", evidence) == {"It has 8 floors."}


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("More than 50 people came.", 51, 99),
        ("Less than 50 people came.", 2, 49),
        ("The share is 80%.", 2, 100),
        ("Entre 20 et 30 élèves sont dans la classe.", 31, 99),
    ],
)
def test_a_bound_is_only_moved_to_where_it_says_something_else(text: str, low: int, high: int) -> None:
    numbers = {int(each) for form in forms("number", text) for each in form.replace("%", " ").split() if each.isdigit()}
    changed = numbers - {20, 50, 80}
    assert changed
    assert all(low <= number <= high for number in changed)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("It cost $1,200 in all.", r"It cost \$\d,\d00 in all\."),
        ("Le pont mesure 2 460 mètres.", r"Le pont mesure \d \d\d0 mètres\."),
        ("Le prix est de 3,5 millions d'euros.", r"Le prix est de \d,\d millions d'euros\."),
        ("약 3만 5천 명이 왔다.", r"약 \d만 5천 명이 왔다\."),
        ("세 명이 상을 받았다.", r"(?:두|네|다섯|여섯|일곱|여덟|아홉) 명이 상을 받았다\."),
        ("It fell for the third year.", r"It fell for the \w+th year\."),
        ("He came 3rd in the race.", r"He came [456]th in the race\."),
    ],
)
def test_a_number_keeps_its_form(text: str, pattern: str) -> None:
    found = forms("number", text)
    assert found
    assert text not in found
    for form in found:
        assert re.fullmatch(pattern, form), form


@pytest.mark.parametrize(
    "text",
    [
        "See step 3 of the guide.",
        "Passages 1 and 2 say so.",
        "The Boeing 747 is large.",
        "The file is on page 12.",
        "Call 555-1234 for help.",
        "It is B12 that helps.",
        "As shown before [3], it works.",
        "He has one child.",
        "3. Preheat the oven.",
        "He left after his 2012 conviction.",
    ],
)
def test_numbers_that_count_nothing_are_left_alone(text: str) -> None:
    assert edited("number", text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It weighs 12 ounces.", {"It weighs 12 pounds."}),
        ("It weighs 3 kg.", {"It weighs 3 g."}),
        ("It has 2 acres.", {"It has 2 hectares."}),
        ("The fee is $20.", {"The fee is €20.", "The fee is £20."}),
        ("Il pèse 3,5 kg et dort.", {"Il pèse 3,5 g et dort."}),
        ("그는 3시간 동안 걸었다.", {"그는 3분 동안 걸었다."}),
        ("그는 5킬로미터를 달렸다.", {"그는 5미터를 달렸다.", "그는 5마일을 달렸다.", "그는 5센티미터를 달렸다."}),
    ],
)
def test_a_unit_is_exchanged_for_another_of_its_kind(text: str, expected: set[str]) -> None:
    found = forms("unit", text)
    assert found
    assert found <= expected


def test_an_ordinal_is_no_unit() -> None:
    assert edited("unit", "The second quarter was better.") is None


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("It opened on 12 May 2019.", r"It opened on \d+ \w+ \d{4}\."),
        ("It closes at 19:30.", r"It closes at \d\d:30\."),
        ("Le concert commence à 19h30.", r"Le concert commence à \d\dh30\."),
        ("Il arriva le mardi 17 décembre 1903.", r"Il arriva le \w+ \d+ \w+ \d{4}\."),
        ("도서관은 월요일에 쉰다.", r"도서관은 [화수목금토일]요일에 쉰다\."),
        ("It was built in the 1990s.", r"It was built in the (?:19\d0|2000)s\."),
        ("It dates from the 19th century.", r"It dates from the (?:16th|18th|20th|21st) century\."),
    ],
)
def test_a_date_keeps_its_form(text: str, pattern: str) -> None:
    found = forms("date", text)
    assert found
    assert text not in found
    assert all(re.fullmatch(pattern, form) for form in found), found


def test_scores_verses_and_version_names_are_no_dates() -> None:
    for text in ("They won 2:1 at home.", "It runs on Excel 2007 only."):
        assert edited("date", text) is None


def test_something_that_the_evidence_does_not_say_is_added_before_the_last_period_or_after_it() -> None:
    for text in ("The road is long.", "La route est longue.", "길이 매우 길다."):
        for seed in range(20):
            mutation = edited("addition", text, seed=seed)
            assert mutation is not None
            assert mutation.start is not None
            assert mutation.original == ""
            assert mutation.text.startswith(text.rstrip("."))
            assert mutation.start in {len(text) - 1, len(text)}
            assert mutation.text.endswith(".")


def test_an_addition_is_not_made_of_words_that_the_evidence_has() -> None:
    told = "A memorial plaque was put up to mark it. The matter was later settled out of court."
    for seed in range(60):
        mutation = edited("addition", "The road is long.", told, seed=seed)
        assert mutation is not None
        assert "plaque" not in mutation.text
        assert "settled" not in mutation.text


def test_names_come_from_other_records_where_the_evidence_has_no_other() -> None:
    donors = Donors(facts_of(["They live in Paris."]), facts_of(["It rained in Dublin."]))
    [mutation] = errors_of("They live in Paris.", donors=donors, kinds=["name"])
    assert mutation.text == "They live in Dublin."
    assert mutation.note == "a name from another record"


def test_a_form_of_the_same_name_is_no_other_name() -> None:
    text = "He studied Pastafarianism for years."
    assert edited("name", text, "We asked some Pastafarians.") is None


def test_french_articles_suit_the_name_that_is_put_in() -> None:
    assert edited("name", "Il vient d'Orléans.", "Elle vit à Paris.") is None


def test_the_place_of_an_error_is_what_was_written_anew() -> None:
    mutation = edited("negation", "It contains two rooms.")
    assert mutation is not None
    assert (mutation.start, mutation.end, mutation.original) == (3, 19, "contains")
    assert mutation.text[3:19] == "does not contain"


def test_all_kinds_can_be_asked_for_and_others_are_refused() -> None:
    text = "In 2019 Ada Lovelace did not run more than 12 km."
    donors = donors_of([text, "Mary Somerville came."])
    kinds = [mutation.kind for mutation in errors_of(text, donors=donors)]
    assert kinds == [kind for kind in ERROR_KINDS if kind in kinds]
    assert {"number", "date", "unit", "name", "negation", "addition", "comparison"} == set(kinds)
    with pytest.raises(SettingsError, match="no edit of kind 'typo'; choose from number, date"):
        errors_of("A text.", donors=donors, kinds=["typo"])


def test_a_claim_without_telling_words_is_read_in_the_language_that_is_given() -> None:
    text = "Marie Curie a reçu deux prix Nobel."
    [mutation] = errors_of(text, donors=donors_of([text]), kinds=["negation"], language="fr")
    assert mutation.text == "Marie Curie n'a pas reçu deux prix Nobel."
