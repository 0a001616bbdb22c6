"""Whether an answer contradicts the patient, or the system's earlier answers."""

from __future__ import annotations

import pytest
from hand_made_answers import read

from hallumeter.dialogue.judges.consistency import (
    Said,
    answer_statements,
    judge_consistency,
    question_statements,
    sorted_statements,
)
from hallumeter.dialogue.records import Consistency


def compared(answer: str, *, question: str = "", earlier: str = "") -> list[Consistency]:
    said = [
        Said("question 1", sorted_statements(question_statements(read(question)))),
        Said("answer 1", sorted_statements(answer_statements(read(earlier)))),
    ]
    return list(judge_consistency(read(answer), said))


def verdicts(answer: str, *, question: str = "", earlier: str = "") -> dict[str, bool]:
    """By what is compared, whether it is a contradiction."""
    found = compared(answer, question=question, earlier=earlier)
    return {each.name: each.is_contradiction for each in found}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "I am 67 years old. I have type 2 diabetes and I take metformin.",
            {"age", "type 2 diabetes mellitus", "metformin"},
        ),
        ("저는 67세 남성입니다. 고혈압을 앓고 있습니다.", {"age", "sex", "hypertension"}),
        ("My HbA1c was 7.2%.", {"hba1c"}),
        ("I have diabetes and take metformin, what should I eat?", {"diabetes mellitus", "metformin"}),
        ("당뇨병이 있는데 이부프로펜을 먹어도 되나요?", {"diabetes mellitus"}),
        ("Should I take ibuprofen, naproxen or aspirin?", set()),
        ("제가 당뇨병인가요?", set()),
        ("My brother has diabetes.", set()),
        ("I am afraid of cancer.", set()),
    ],
)
def test_a_question_states_what_the_patient_says_and_not_what_is_asked(question: str, expected: set[str]) -> None:
    assert {each.mention.name for each in question_statements(read(question))} == expected


def test_what_a_patient_denies_is_a_statement_too() -> None:
    (statement,) = question_statements(read("I do not have diabetes. What may I eat?"))
    assert statement.is_denied


def test_an_answer_states_what_it_asserts_or_denies_and_nothing_else() -> None:
    answer = "You have asthma. You are not taking warfarin. Avoid ibuprofen. If you had gout, colchicine would help."
    found = {(each.mention.name, each.is_denied) for each in answer_statements(read(answer))}
    assert found == {("asthma", False), ("warfarin", True)}


@pytest.mark.parametrize(
    ("answer", "question", "expected"),
    [
        ("You are 67 years old.", "I am 67 years old.", {"age": False}),
        ("You are 76 years old.", "I am 67 years old.", {"age": True}),
        ("You are a woman.", "I am a man.", {"sex": True}),
        ("You are currently taking metformin.", "I take metformin.", {"metformin": False}),
        ("You are not taking metformin.", "I take metformin.", {"metformin": True}),
        ("You are currently taking warfarin.", "I take metformin.", {}),
        ("Your HbA1c is 7.2%.", "My HbA1c was 7.2%.", {"hba1c": False}),
        ("Your HbA1c is 7%.", "My HbA1c was 7.2%.", {"hba1c": False}),
        ("Your HbA1c is 8.2%.", "My HbA1c was 7.2%.", {"hba1c": True}),
        ("Your glucose is 7.0 mmol/L.", "My glucose was 126 mg/dL.", {"glucose": False}),
        ("Your LDL is 120 mg/dL.", "My HbA1c was 7.2%.", {}),
    ],
)
def test_values_and_drugs_are_compared_with_what_the_patient_said(
    answer: str, question: str, expected: dict[str, bool]
) -> None:
    assert verdicts(answer, question=question) == expected


@pytest.mark.parametrize(
    ("answer", "earlier", "expected"),
    [
        ("You have type 2 diabetes.", "You have diabetes.", False),
        ("You have diabetes.", "You have type 2 diabetes.", False),
        ("You have type 1 diabetes.", "You have type 2 diabetes.", True),
        ("You have hypothyroidism.", "You have hyperthyroidism.", True),
        ("You have diabetes.", "You have prediabetes.", None),  # records keep both
        ("You do not have diabetes.", "You have type 2 diabetes.", True),
        ("You have type 2 diabetes.", "You do not have diabetes.", True),
        ("You do not have type 1 diabetes.", "You have diabetes.", None),
        ("You do not have asthma.", "You do not have asthma.", False),
        ("You have asthma.", "You have gout.", None),
    ],
)
def test_denying_a_condition_denies_its_narrower_forms_and_not_its_wider_ones(
    answer: str, earlier: str, expected: bool | None
) -> None:
    found = list(verdicts(answer, earlier=earlier).values())
    assert found == ([] if expected is None else [expected])


def test_a_statement_that_agrees_with_the_patient_and_contradicts_an_earlier_answer_is_a_contradiction() -> None:
    (found,) = compared("Your HbA1c is 7.2%.", question="My HbA1c was 7.2%.", earlier="Your HbA1c is 8.4%.")
    assert found.is_contradiction
    assert (found.against, found.quote) == ("answer 1", "HbA1c is 8.4%")


def test_one_of_two_values_of_an_earlier_answer_is_enough_to_agree_with_it() -> None:
    earlier = "Your HbA1c was 8.4%. Now your HbA1c is 7.2%."
    assert verdicts("Your HbA1c is 7.2%.", earlier=earlier) == {"hba1c": False}


def test_a_comparison_tells_both_sides_and_where_they_stand() -> None:
    answer = "As said, you are 76 years old."
    (found,) = compared(answer, question="I am 67 years old.")
    assert answer[found.start : found.end] == "76 years old"
    assert found.note == "the answer states age 76, question 1 states age 67"
