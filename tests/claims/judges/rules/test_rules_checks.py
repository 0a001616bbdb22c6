"""What the checks for negation, direction, roles, plans, lists and fields find and leave alone; worked by hand."""

from __future__ import annotations

import pytest

from hallumeter.claims.judges.fields.record_fields import check_record_fields
from hallumeter.claims.judges.rules.check_directions import check_comparison
from hallumeter.claims.judges.rules.check_lists import check_lists, list_items
from hallumeter.claims.judges.rules.check_names import check_names
from hallumeter.claims.judges.rules.check_numbers import check_numbers
from hallumeter.claims.judges.rules.check_plans import check_plans
from hallumeter.claims.judges.rules.check_polarity import check_negation, denials, is_denied
from hallumeter.claims.judges.rules.check_roles import check_roles
from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.claims.judges.rules.statement import Statement, wrong
from hallumeter.records.response import Passage
from hallumeter.text.terms import language_of, terms_of


def statement(claim: str, evidence: str) -> Statement:
    return Statement(claim, Evidence((Passage("e", evidence),)), language=language_of(terms_of(claim)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It does not offer WiFi", [("not", "offer")]),
        ("Despite not providing garage parking, it has a lot", [("not", "providing")]),
        ("It is not only free", []),
        ("It is not without risk", []),
        ("It does not work without water", [("not", "work")]),
        ("It has neither a jack nor a plug", [("neither", "jack")]),
        ("It no longer sells shoes", [("no", "sells")]),
        ("Il ne vend que des fleurs", []),
        ("Il ne vend pas de fleurs", [("ne", "vend")]),
        ("그는 가지 않으면 안 된다", []),
    ],
)
def test_a_negation_reaches_the_word_that_it_denies(text: str, expected: list[tuple[str, str]]) -> None:
    terms = terms_of(text)
    found = denials(terms, (0, len(terms)))
    assert [(terms.folded[each.cue], terms.folded[each.head]) for each in found] == expected


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("It offers WiFi", "wifi", False),
        ("It has no WiFi", "wifi", True),
        ("WiFi is not available", "wifi", None),
        ("It lacks a pool, a gym and WiFi", "wifi", None),
        ("It has no pool. There is WiFi", "wifi", False),
        ("It works without water", "works", False),
    ],
)
def test_whether_a_word_is_denied_is_told_only_when_it_is_sure(text: str, word: str, expected: bool | None) -> None:
    terms = terms_of(text)
    assert is_denied(terms, terms.folded.index(word), is_item=True) is expected


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The steak was overcooked and dry.", "The steak was way over cooked and dry."),
        ("It does not offer WiFi.", "There is no WiFi."),
        ("The shop is open.", "The shop is not open on Sundays after the fair in May."),
        ("Jack has not been up town.", "Has Jack been up town?"),
        ("Is the shop not open on Mondays?", "The shop is open on Mondays."),
    ],
)
def test_what_is_denied_in_other_words_is_no_contradiction(claim: str, evidence: str) -> None:
    assert check_negation(statement(claim, evidence)) == []


@pytest.mark.parametrize(
    ("claim", "evidence", "said"),
    [
        ("Revenue fell 12% in May.", "Revenue grew 12% in May.", "fell"),
        ("Russia sold Alaska to Spain.", "Spain bought Alaska from Russia.", None),
        ("Sales rose in May.", "Sales climbed in May after they fell in April.", None),
        ("The new car is not cheaper in Spain.", "The new car is dearer in Spain.", None),
        ("매출이 5월에 감소했다.", "매출이 5월에 증가했다.", "감소했다"),
    ],
)
def test_opposites_are_told_by_direction(claim: str, evidence: str, said: str | None) -> None:
    assert [claim[each.start : each.end] for each in check_comparison(statement(claim, evidence))] == [said or ""][
        : said is not None
    ]


@pytest.mark.parametrize(
    ("claim", "evidence", "is_found"),
    [
        ("Apple sued Samsung.", "Samsung sued Apple in 2011.", True),
        ("Apple sued Samsung.", "Samsung was sued by Apple in 2011.", False),
        ("Samsung sued Apple.", "Samsung was sued by Apple in 2011.", True),
        ("Apple met Samsung.", "Samsung met Apple in 2011.", False),
        ("Ann Lee founded the firm and Bob Ray leads it.", "Ann Lee leads it. Bob Ray founded the firm.", True),
        ("Ann Lee founded the firm and Bob Ray leads it.", "Bob Ray leads it. Ann Lee founded the firm.", False),
        ("삼성이 애플을 고소했다.", "애플이 삼성을 고소했다.", True),
        ("삼성이 애플을 고소했다.", "애플을 삼성이 고소했다.", False),
    ],
)
def test_names_that_changed_places_are_found(claim: str, evidence: str, is_found: bool) -> None:
    assert [each.reason for each in check_roles(statement(claim, evidence))] == ["role_mismatch"] * is_found


@pytest.mark.parametrize(
    ("claim", "evidence", "said"),
    [
        ("The firm bought forty jets.", "The firm plans to buy forty jets.", "bought"),
        ("The firm will buy forty jets.", "The firm plans to buy forty jets.", None),
        ("The firm bought forty jets.", "The firm bought forty jets and plans to buy more.", None),
        ("The plant was closed.", "The plant will be closed.", "was closed"),
        ("Coffee prevents colds.", "Coffee may prevent colds.", "prevents"),
        ("Once the plant is closed, we go.", "The plant will be closed.", None),
        ("La ville a construit un stade.", "La ville va construire un stade.", "a construit"),
        ("회사는 공장을 지었다.", "회사는 공장을 지을 계획이다.", "지었다"),
    ],
)
def test_a_plan_told_as_done_is_found(claim: str, evidence: str, said: str | None) -> None:
    found = [claim[each.start : each.end] for each in check_plans(statement(claim, evidence))]
    assert found == ([] if said is None else [said])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It has soup, salad and roast duck.", ["soup", "salad", "roast duck"]),
        ("In a bowl, mix flour, salt, and pepper.", ["mix flour", "salt", "pepper"]),
        ("It opened in May, and everybody who was there came.", []),
        ("Nothing is listed here.", []),
        ("세트에는 솔, 천, 칼이 있다.", ["세트에는 솔", "천", "칼이"]),
    ],
)
def test_lists_are_read_from_their_end(text: str, expected: list[str]) -> None:
    terms = terms_of(text)
    items = list_items(terms, (0, len(terms)))
    assert [text[terms.starts[item.first] : terms.ends[item.last]] for item in items] == expected


@pytest.mark.parametrize(
    ("claim", "evidence", "said"),
    [
        ("The menu has soup, salad and roast duck.", "The menu has soup, salad and cheese.", "roast duck"),
        ("The menu has soup, salad and cheese.", "The menu has soup, salad, fish and cheese.", None),
        ("The menu has soup, salad and cheeses.", "The menu has cheese, soup and salads.", None),
        ("The menu has duck, wine and tea.", "The menu has soup, salad and cheese.", None),
    ],
)
def test_an_item_that_the_list_lacks_is_found(claim: str, evidence: str, said: str | None) -> None:
    found = [claim[each.start : each.end] for each in check_lists(statement(claim, evidence))]
    assert found == ([] if said is None else [said])


@pytest.mark.parametrize(
    ("claim", "evidence", "is_found"),
    [
        ("It has NFC.", '{"NFC": "No"}', True),
        ("It lacks NFC.", '{"NFC": "No"}', False),
        ("Options include GPS, NFC (absent) and radio.", '{"NFC": "No"}', False),
        ("It has a Mini-SIM card slot.", '{"Card slot": "No"}', False),
        ("The restaurant takes reservations.", '{"RestaurantsTakeOut": false}', False),
        ("It is a lot of money.", '{"BusinessParking": {"lot": false}}', False),
        ("It has parking in a lot.", '{"BusinessParking": {"lot": false}}', True),
        ("It has music.", '{"Music": {"no_music": false}}', False),
    ],
)
def test_a_field_is_compared_only_with_what_names_it(claim: str, evidence: str, is_found: bool) -> None:
    assert [each.reason for each in wrong(check_record_fields(statement(claim, evidence)))] == [
        "field_mismatch"
    ] * is_found


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("It is rated 4 out of 5 stars.", "It has a rating of 4.0 stars."),
        ("It is rated 4 out of 5.", "Guests rate it 4/5."),
        ("평점은 5점 만점에 4점이다.", "평점은 4점이다."),
        ("Both plants employ 900 workers.", "One employs 500 workers. The other employs 400 workers."),
        ("The price fell 20% to $80.", "The price fell from $100 to $80."),
        ("A total of 60 came.", "There were 10 men, 20 women and 30 children who came."),
    ],
)
def test_scales_and_derived_figures_need_not_be_found(claim: str, evidence: str) -> None:
    assert check_numbers(statement(claim, evidence)) == []


def test_a_number_of_another_noun_is_a_mismatch() -> None:
    (found,) = check_numbers(statement("The school has 640 teachers.", "The school has 640 pupils and 24 teachers."))
    assert (found.reason, found.quotes[0].quote) == ("number_mismatch", "24")


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("It moved to Munich.", "It moved to München in 2005."),
        ("The president of Brazil left.", "The Brazilian president left."),
        ("L'OMS a publié le rapport.", "L'Organisation mondiale de la santé a publié le rapport."),
        ("He has pain of the Temporomandibular Joint (TMJ).", "He has pain; the TMJ hurts."),
        ("It lies in Tampa, Florida.", "It lies in Tampa."),
        ("He came on Mondays.", "He came often."),
    ],
)
def test_other_forms_of_a_name_are_the_same_name(claim: str, evidence: str) -> None:
    assert check_names(statement(claim, evidence)) == []
