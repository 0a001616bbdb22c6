"""Judging by rules takes time that grows with the claim and with the evidence, whatever they are."""

from __future__ import annotations

import pytest

from growing_texts import UNITS, check_growth
from hallumeter.claims.judges.rules.judge import RulesJudge
from hallumeter.records.claim import Claim, Verdict
from hallumeter.records.judging import JudgeTask
from hallumeter.records.response import Passage, Response

CLAIM = 'The low tower cost 12 million dollars on May 3, 2020, "so he said to us all" at 3:30, says Bob Smith.'
EVIDENCE = "Paris had 12 million people in May 2020. The low tower of Ann Lee cost $5 and weighs 3 kg, he said. " * 5


def judged(claim: str, evidence: str) -> Verdict:
    response = Response("r", response=claim, evidence=(Passage("e", evidence),))
    (verdict,) = RulesJudge().judge(JudgeTask(response, (Claim("r", "c", start=0, end=len(claim), text=claim),)))
    assert isinstance(verdict, Verdict)
    return verdict


@pytest.mark.long
@pytest.mark.parametrize("unit", UNITS)
def test_evidence_is_read_in_time_that_grows_with_it(unit: str) -> None:
    check_growth(lambda text: judged(CLAIM, text), unit, size=1_500)


@pytest.mark.long
@pytest.mark.parametrize("unit", UNITS)
def test_a_claim_is_judged_in_time_that_grows_with_it(unit: str) -> None:
    check_growth(lambda text: judged(text, EVIDENCE), unit, size=1_500)


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_json_that_is_nested_too_deeply_is_read_as_plain_text(opening: str) -> None:
    closing = {"[": "]", '{"a":': "}"}[opening]
    evidence = opening * 20_000 + '"The tower is 330 metres high."' + closing * 20_000
    assert judged("The tower is 330 metres high.", evidence).label.value == "SUPPORTED"
