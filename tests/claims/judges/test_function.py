"""Functions of users as judges."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hallumeter.claims.judges.function import FunctionJudge
from hallumeter.errors import SettingsError
from hallumeter.plugins import function_named
from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.judging import JudgeTask
from hallumeter.records.response import Passage, Response

RESPONSE = Response("r1", "서울은?", "서울은 수도이다.", (Passage("a", "Seoul."), Passage("b", "수도.")))
CLAIM = Claim("r1", "c1", start=0, end=9, text="서울은 수도이다.")


def said_by(function: Callable[..., object], name: str | None = None) -> Verdict | Failure:
    return FunctionJudge(function, name).judge(JudgeTask(RESPONSE, (CLAIM,)))[0]


@pytest.mark.parametrize(
    ("returned", "label", "probability"),
    [
        (Label.REFUTED, Label.REFUTED, None),
        ("supported", Label.SUPPORTED, None),
        (True, Label.SUPPORTED, None),
        (np.bool_(False), Label.NOT_ENOUGH_INFO, None),
        (0.1, Label.SUPPORTED, 0.1),
        (np.float32(0.75), Label.NOT_ENOUGH_INFO, 0.75),
        (1, Label.NOT_ENOUGH_INFO, 1.0),
        (0.5, Label.UNDECIDED, 0.5),
        (None, Label.UNDECIDED, None),
        ({"label": "NEI", "unsupported_probability": 0.8}, Label.NOT_ENOUGH_INFO, 0.8),
        ({"unsupported_probability": 0.2}, Label.SUPPORTED, 0.2),
        ({"label": None}, Label.UNDECIDED, None),
    ],
)
def test_what_a_function_returns_becomes_a_verdict(returned: object, label: Label, probability: float | None) -> None:
    verdict = said_by(lambda claim, evidence: returned, "mine")
    assert isinstance(verdict, Verdict)
    assert (verdict.label, verdict.unsupported_probability, verdict.judge) == (label, probability, "mine")
    assert (verdict.record_id, verdict.claim_id, verdict.start, verdict.end) == ("r1", "c1", 0, 9)


def test_further_fields_of_a_mapping_are_kept() -> None:
    quotes = [{"evidence_id": "b", "start": 0, "end": 2, "quote": "수도"}]
    returned = {"label": "REFUTED", "reason": "mine", "note": "why", "start": 4, "end": 8, "quotes": quotes}
    verdict = said_by(lambda claim, evidence: returned)
    assert isinstance(verdict, Verdict)
    assert (verdict.reason, verdict.note, verdict.start, verdict.end) == ("mine", "why", 4, 8)
    assert verdict.evidence[0].quote == "수도"


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("perhaps", "it returned 'perhaps', which is not a label"),
        (1.5, "it returned 1.5; expected a probability from 0 to 1"),
        (float("nan"), "it returned nan; expected a probability from 0 to 1"),
        ([], "it returned a list, which is no verdict"),
        ({}, "it returned a mapping with nothing; expected label or unsupported_probability"),
        ({"note": "x"}, "it returned a mapping with note; expected label or unsupported_probability"),
        ({"label": "perhaps"}, "it returned 'perhaps', which is not a label"),
        ({"label": {"a": 1}}, "it returned a mapping with label; expected label or unsupported_probability"),
        ({"label": "SUPPORTED", "confidence": 3}, "it returned what is no verdict: verdict of"),
        ({"label": "SUPPORTED", "confidence": "high"}, "it returned what is no verdict: could not convert"),
    ],
)
def test_what_is_no_verdict_is_a_failure_that_says_so(returned: object, message: str) -> None:
    failure = said_by(lambda claim, evidence: returned)
    assert isinstance(failure, Failure)
    assert failure.code == "judge_error"
    assert failure.message.startswith(message)


def test_what_a_function_raises_is_a_failure_of_one_line() -> None:
    def breaks(claim: str, evidence: list[str]) -> bool:
        raise ValueError("no\n such   thing")

    failure = said_by(breaks)
    assert isinstance(failure, Failure)
    assert (failure.code, failure.message, failure.step) == ("judge_error", "ValueError: no such thing", "judge")


def test_an_interrupt_is_not_a_failure_of_the_function() -> None:
    def stops(claim: str, evidence: list[str]) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        said_by(stops)


def test_question_and_record_are_given_to_those_who_have_a_place_for_them() -> None:
    def asks(claim: str, evidence: list[str], question: str | None, *, record: Response) -> bool:
        return (claim, evidence, question, record) == (CLAIM.text, ["Seoul.", "수도."], "서울은?", RESPONSE)

    def takes_two(question: str, record: list[str]) -> bool:
        return (question, record) == (CLAIM.text, ["Seoul.", "수도."])

    def takes_any(*arguments: object, question: str) -> bool:
        return (len(arguments), question) == (2, "서울은?")

    for function in (asks, takes_two, takes_any):
        verdict = said_by(function)
        assert isinstance(verdict, Verdict)
        assert verdict.label is Label.SUPPORTED, function.__name__


def test_a_function_whose_parameters_are_not_known_gets_claim_and_evidence() -> None:
    failure = said_by(max)
    assert isinstance(failure, Failure)
    assert "TypeError" in failure.message


def test_a_function_is_named_after_itself() -> None:
    spec = FunctionJudge(said_by).spec
    assert spec.name == f"python:{__name__}.said_by"
    assert not spec.is_remote


def test_functions_are_imported_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_judging_module.py").write_text(
        "LIMIT = 3\n\ndef always(claim, evidence):\n    return True\n", encoding="utf-8"
    )
    (tmp_path / "my_broken_module.py").write_text("import no_such_package_at_all\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    assert function_named("my_judging_module.always")("x", []) is True
    assert function_named("my_judging_module:always")("x", []) is True
    with pytest.raises(SettingsError, match="has no 'never'"):
        function_named("my_judging_module.never")
    with pytest.raises(SettingsError, match="not as a function, 'LIMIT'"):
        function_named("my_judging_module.LIMIT")
    with pytest.raises(SettingsError, match=r"cannot be imported \(ModuleNotFoundError: .*no_such_package_at_all"):
        function_named("my_broken_module.always")
    for name in ("always", "", ".x"):
        with pytest.raises(SettingsError, match="names no function"):
            function_named(name)
    sys.modules.pop("my_judging_module", None)
