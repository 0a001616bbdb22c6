"""Answers in a dialogue against what claims assert and deny; expected findings are by hand."""

from __future__ import annotations

import pytest

from hallumeter.claims.judges.fields.dialogue_answers import check_dialogue_answers
from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.claims.judges.rules.statement import Statement
from hallumeter.records.response import Passage

_VISIT = """Doctor: Do you smoke?
Patient: No.
Doctor: Any fever or chills?
Patient: No, but I sweat at night.
Doctor: Do you wear glasses?
Patient: Yes, for reading.
Doctor: Is this your first pregnancy?
Patient: No, my second.
Doctor: Any other problems?
Patient: No.
Doctor: Do you drink coffee?
Patient: Yes, but only one cup.
Doctor: Where does it hurt?
Patient: In the knee."""


def _found(claim: str, dialogue: str = _VISIT) -> list[str]:
    statement = Statement(claim, Evidence((Passage("e", dialogue),)), language="en")
    findings = check_dialogue_answers(statement)
    assert all(finding.reason == "answer_mismatch" for finding in findings)
    return [claim[finding.start : finding.end] for finding in findings]


@pytest.mark.parametrize(
    "claim",
    [
        "The patient denies smoking.",
        "She quit smoking.",
        "Her mother smokes.",
        "She has neither fever nor chills.",
        "She wears glasses.",
        "She had diabetes during her first pregnancy.",
        "She does not drink coffee.",
        "She reports that she denied smoking.",
        "The knee hurts.",
    ],
)
def test_what_was_answered_so_is_not_marked(claim: str) -> None:
    assert _found(claim) == []


@pytest.mark.parametrize(
    ("claim", "marked"),
    [
        ("The patient smokes.", "smokes"),
        ("She has chills.", "chills"),
        ("She does not wear glasses.", "not wear glasses"),
        ("The patient denies wearing glasses.", "denies wearing glasses"),
    ],
)
def test_what_was_answered_otherwise_is_marked(claim: str, marked: str) -> None:
    assert _found(claim) == [marked]


def test_the_finding_quotes_the_question_with_its_answer() -> None:
    statement = Statement("The patient smokes.", Evidence((Passage("e", _VISIT),)), language="en")
    (finding,) = check_dialogue_answers(statement)
    assert (finding.quotes[0].quote or "").strip() == "Doctor: Do you smoke?\nPatient: No."
    assert finding.note == "response says “smokes”, the answer in the evidence is no"


def test_words_that_come_again_elsewhere_are_not_judged() -> None:
    dialogue = f"{_VISIT}\nDoctor: I see.\nPatient: Well, I smoke at parties."
    assert _found("The patient smokes.", dialogue) == []


def test_evidence_that_is_no_dialogue_has_no_findings() -> None:
    assert _found("He smokes.", "He does not smoke.") == []
