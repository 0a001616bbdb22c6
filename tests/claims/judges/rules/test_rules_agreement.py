"""When two numbers or two dates may be the same, and what is no name, quotation or contrary; all worked by hand."""

from __future__ import annotations

import pytest

from hallumeter.claims.judges.rules import check_dates, check_numbers
from hallumeter.claims.judges.rules.check_directions import check_comparison
from hallumeter.claims.judges.rules.check_names import check_names, check_quotations
from hallumeter.claims.judges.rules.check_polarity import check_negation, denials
from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.claims.judges.rules.statement import Statement
from hallumeter.records.response import Passage
from hallumeter.text.dates import find_dates
from hallumeter.text.quantities import find_quantities
from hallumeter.text.terms import language_of, terms_of


def statement(claim: str, *evidence: str) -> Statement:
    passages = tuple(Passage(f"e{number}", text) for number, text in enumerate(evidence))
    return Statement(claim, Evidence(passages), language=language_of(terms_of(claim)))


@pytest.mark.parametrize(
    ("claimed", "known", "expected"),
    [
        ("1.2 billion", "1,213,000,000", True),
        ("1.2 billion", "1,260,000,000", False),
        ("10 million", "14 million", False),
        ("10 million", "10.4 million", True),
        ("about 1,200", "1,187", True),
        ("about 1,200", "1,000", False),
        ("about 100", "140", False),
        ("1,200", "1,187", False),
        ("1,187", "about 1,200", True),
        ("45", "45.3", True),
        ("45", "46.3", False),
        ("1.5", "1.46", True),
        ("more than 1,000", "1,187", True),
        ("more than 1,000", "900", False),
        ("less than 1,500", "1,187", True),
        ("less than 1,500", "1,600", False),
        ("5 to 10", "5-10", True),
        ("5 to 10", "5-12", False),
        ("5 to 10", "7", True),
        ("5 to 10", "12", False),
        ("6 to 9", "5 to 10", True),
        ("6 to 11", "5 to 10", False),
        ("7", "5 to 10", True),
        ("4", "5 to 10", False),
        ("12 miles", "19.3 km", True),
        ("12 miles", "12 km", False),
        ("5 km", "5 kg", False),
        ("15 minutes", "0.2 to 0.3 hours", True),
        ("350 degrees", "350 °F", True),
        ("175 °C", "350 °F", True),
        ("5", "5 km", True),
        ("1.234", "1,234", True),
    ],
)
def test_numbers_agree_within_what_is_said_of_them(claimed: str, known: str, expected: bool) -> None:
    (one,), (other,) = find_quantities(claimed, language="en"), find_quantities(known, language="en")
    assert check_numbers.agrees(one, other) is expected


@pytest.mark.parametrize(
    ("claimed", "known", "expected"),
    [
        ("5 March 1998", "1998-03-05", True),
        ("March 1998", "5 March 1998", True),
        ("5 March 1998", "March 1998", False),
        ("5 March 1998", "5 March 1999", False),
        ("in 1998", "in the 1990s", True),
        ("in 1998", "5 March", False),
        ("3/5/2020", "5 March 2020", True),
        ("5 March 2020", "3/5/2020", True),
        ("3/5/2020", "May 3, 2020", True),
        ("on Monday", "on Tuesday", False),
        ("on Monday", "Monday, June 3", True),
        ("5:30 pm", "17h30", True),
        ("5:30 pm", "5:30", True),
        ("5:30 pm", "5:30 am", False),
        ("5:30 pm", "in 1998", False),
    ],
)
def test_dates_agree_when_no_part_is_missing_or_different(claimed: str, known: str, expected: bool) -> None:
    (one,), (other,) = find_dates(claimed), find_dates(known)
    assert check_dates.agrees(one, other) is expected


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("He was born on 5 March 1998.", "He was born on 5 March. That was in 1998."),
        ("It holds 1998 (in 1998).", "The hall holds 1998 people."),
        ("They met on Monday.", "They met each monday at noon."),
        ("The shop opens at 9:15 then.", "The shop opens then."),
        ("It does not name 1998.", "The hall is full."),
    ],
)
def test_dates_that_stand_there_in_parts_or_need_not_are_not_missed(claim: str, evidence: str) -> None:
    assert check_dates.check_dates(statement(claim, evidence)) == []


def test_the_same_day_of_another_year_is_missed_even_if_that_year_is_named() -> None:
    found = check_dates.check_dates(statement("Born on 5 March 1998.", "Born on 5 March 1997. In 1998 it rained."))
    assert [finding.reason for finding in found] == ["date_not_found"]


def test_the_closest_of_several_places_is_the_counterpart() -> None:
    evidence = "The tall old tower was built in 1905. The tall old tower was painted red in 1932 by workers."
    (finding,) = check_dates.check_dates(statement("The tall old tower was painted red in 1937.", evidence))
    assert finding.quotes[0].quote == "1932"
    evidence = "The old tower has 12 rooms. The old tower has 90 tall windows of glass."
    (number,) = check_numbers.check_numbers(statement("The old tower has 80 tall windows.", evidence))
    assert number.quotes[0].quote == "90"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The range of quartiles (ROQ) is wide.", "The range of quartiles is wide."),
        ("They drilled at Spindletop for oil.", "They drilled at Spindle top for oil."),
        ("Heat Transfer: it moves.", "It moves."),
        ("Signed, [Your Name]", "It is signed."),
        ("It has no link to Paris.", "It has a link."),
        ("Tokyo grows.", "The city grows."),
    ],
)
def test_what_only_looks_like_a_strange_name_is_let_pass(claim: str, evidence: str) -> None:
    assert check_names(statement(claim, evidence)) == []


@pytest.mark.parametrize(
    "evidence",
    [
        "The film was directed by Hann Leep in May.",  # spelled alike
        "The film was directed in Rome by a friend of James Cameron.",  # another neighbour
        "James Cameron swam.",  # another context
    ],
)
def test_another_name_elsewhere_is_no_counterpart(evidence: str) -> None:
    (finding,) = check_names(statement("The film was directed by Ann Lee.", evidence))
    assert finding.reason == "name_not_found"


def test_short_quotations_and_those_of_nobody_are_not_checked() -> None:
    assert check_quotations(statement('He said "never again".', "He spoke.")) == []
    assert check_quotations(statement('The term "one two three four five" is long.', "He spoke.")) == []


def test_the_passage_with_the_closest_words_is_quoted() -> None:
    found = check_quotations(
        statement(
            'He said "we will sell all our shares".', "He spoke of we will all.", "we will sell all his shoes", "x"
        )
    )
    assert [finding.quotes[0].evidence_id for finding in found] == ["e1"]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Does the drug help sick children there?", "The drug does not help sick children there."),
        ("* not helping sick children there", "It is helping sick children there."),
        ("The drug will not help sick children.", "The drug does not help sick children."),
        ("The drug does help sick children.", "The drug does not only help sick children."),
        ("The drug does help sick children.", "The drug does not cure sick children nor does it help them."),
        ("The drug can help sick old people.", "The drug, which is not red, can help sick old people."),
        ("The drug helps sick old people.", "The drug helps sick old people. Never, the drug helps sick old people."),
        ("The drug is not, helpful.", "The drug is helpful."),
        ("Not.", "The drug is helpful."),
        ("그는 틀림없이 회의에 참석했다.", "그는 회의에 참석했다."),
        ("않았다 그는.", "그는 회의에 참석했다."),
    ],
)
def test_negation_is_told_only_where_words_tell_it(claim: str, evidence: str) -> None:
    assert check_negation(statement(claim, evidence)) == []


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("A warm front replaces colder air over the land.", "A cold front replaces warmer air over the land."),
        ("It is closed if the next shop opens early.", "It closes if the next shop is open early."),
        ("Sales were higher in March and lower in May.", "Sales were lower in March and high in May."),
        (
            "Higher sales in March than in the long year.",
            "In March sales than the long year, all say, they paid lower.",
        ),
    ],
)
def test_opposites_count_only_in_the_same_place(claim: str, evidence: str) -> None:
    assert check_comparison(statement(claim, evidence)) == []


def test_korean_denies_what_stands_before() -> None:
    terms = terms_of("그는 회의에 참석하지 않았다")
    assert [(each.cue, each.head) for each in denials(terms, (0, len(terms)))] == [(3, 2)]
    terms = terms_of("않았다")
    assert denials(terms, (0, len(terms))) == []
