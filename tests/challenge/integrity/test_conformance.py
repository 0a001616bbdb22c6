"""The conformance kit tells evaluators that invent numbers from those that say what they could not measure."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hallumeter.challenge.integrity.cases import IntegrityResult, all_cases
from hallumeter.challenge.integrity.probe import IntegritySettings, check_integrity, result_text
from hallumeter.challenge.integrity.worker import Call, answered, evaluator_of, outcome_of
from hallumeter.claims.judges.embedded.word_pieces import tokens_of
from hallumeter.errors import SettingsError


def examined(function: str, *cases: str, seconds: float = 120) -> IntegrityResult:
    name = f"evaluators:{function}"
    return check_integrity(IntegritySettings(kind="python", name=name, only=cases, timeout_seconds=seconds))


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent)


@pytest.mark.long
def test_our_own_judge_is_honest_on_every_case() -> None:
    result = check_integrity(IntegritySettings(kind="judge", name="rules", timeout_seconds=600))
    assert (result.dishonest, result.not_run, result.measured) == (0, 3, 4)
    opinions = {case.case: case.opinion for case in result.cases}
    assert opinions["empty_response"] == opinions["no_claims"] == opinions["refusal"] == "honest"
    assert opinions["long_evidence"] == opinions["invented_end"] == opinions["other_language"] == "honest"
    assert {name for name, opinion in opinions.items() if opinion == "unhandled"} == {"missing_response", "not_a_text"}


@pytest.mark.parametrize("reply", ['{"verdicts": [{"verdict": "ye', "I would rather not say.", "I'm sorry, I can't."])
def test_our_language_model_judge_says_that_a_reply_could_not_be_read(reply: str) -> None:
    call = Call("The Seine is 777 km long.", ["The Seine is 777 km long."], "How long?", reply=reply)
    outcome = answered(evaluator_of("openai:any"), call)
    assert outcome.kind == "nothing"
    assert outcome.said


def test_long_cases_are_as_long_as_they_say() -> None:
    cases = {case.name: case for case in all_cases()}
    assert len(tokens_of(str(cases["invented_end"].response))) > 8_192
    assert len(tokens_of(str(cases["long_evidence"].evidence[0]))) > 100_000


def test_a_number_where_nothing_was_measured_is_silent() -> None:
    result = examined("share_of_words", "empty_response", "number_changed", "unparsable_reply")
    assert [case.opinion for case in result.cases] == ["silent", "not run", "honest"]
    assert (result.honest, result.dishonest, result.not_run, result.measured) == (1, 1, 1, 1)


def test_one_who_reads_the_beginning_alone_is_blind_to_an_invented_end() -> None:
    result = examined("only_the_beginning", "empty_response", "empty_evidence", "invented_end", "long_evidence")
    opinions = {case.case: case.opinion for case in result.cases}
    assert opinions["invented_end"] == opinions["long_evidence"] == "blind"
    assert opinions["empty_response"] == opinions["empty_evidence"] == "honest"


def test_one_who_takes_any_reply_for_approval_is_silent() -> None:
    result = examined("faithfulness_of_a_model", "truncated_reply", "unparsable_reply", "refusing_reply")
    assert [case.opinion for case in result.cases] == ["silent"] * 3


@pytest.mark.parametrize(("function", "opinion"), [("not_a_number", "nan"), ("a_text", "unreadable")])
def test_what_is_neither_a_number_nor_a_reason_is_dishonest(function: str, opinion: str) -> None:
    [case] = examined(function, "refusal").cases
    assert (case.opinion, case.is_honest) == (opinion, False)


def test_a_process_that_ends_and_one_that_hangs_are_honest_but_unhandled() -> None:
    result = examined("ends_the_process", "refusal", "number_changed")
    assert [case.opinion for case in result.cases] == ["unhandled"] * 2
    assert result.measured == 0
    [case] = examined("never_comes_back", "refusal", seconds=1).cases
    assert (case.opinion, case.returned) == ("unhandled", "timeout: no answer in 1 s")


@pytest.mark.skipif(sys.platform == "win32", reason="a process of Windows keeps the id of a parent that has ended")
def test_an_evaluator_that_hangs_does_not_outlive_whoever_asked_it() -> None:
    asking = (
        "from hallumeter.challenge.integrity.cases import all_cases\n"
        "from hallumeter.challenge.integrity.probe import _Evaluator, IntegritySettings\n"
        "import os, threading\n"
        "one = _Evaluator(IntegritySettings(kind='python', name='evaluators:never_comes_back'))\n"
        "one.start()\n"
        "threading.Timer(0.5, os._exit, [9]).start()\n"
        "print(one._process.pid, flush=True)\n"
        "one.ask(all_cases()[0], 'a')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", asking], capture_output=True, encoding="utf-8", timeout=120, check=False
    )
    assert done.returncode == 9, done.stderr
    for _ in range(100):
        if not _is_alive(int(done.stdout)):
            return
        time.sleep(0.2)
    pytest.fail("the process is still there")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_returned_values_of_many_kinds_are_read() -> None:
    class Measured:
        score = 0.25

    assert outcome_of(True).value == 1
    assert outcome_of({"score": 0.5, "reason": "fine"}).value == 0.5
    assert outcome_of(Measured()).value == 0.25
    assert outcome_of({"score": None, "reason": "no\nclaims"}).said == "no claims"
    assert outcome_of({"score": float("nan")}).kind == "nan"
    assert outcome_of(float("inf")).kind == outcome_of({"score": {}}).kind == outcome_of([1.0]).kind == "unreadable"


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(SettingsError, match="has no 'nobody'"):
        examined("nobody")
    with pytest.raises(SettingsError, match="no judge is called 'nobody'"):
        check_integrity(IntegritySettings(kind="judge", name="nobody"))
    with pytest.raises(SettingsError, match="no case is called 'rain'"):
        examined("a_text", "rain")
    with pytest.raises(SettingsError, match="time limit is 0 s"):
        IntegritySettings(kind="judge", name="rules", timeout_seconds=0)


def test_a_table_of_markdown_stays_one_whatever_an_evaluator_says() -> None:
    result = examined("a_text", "refusal")
    text = result_text(result, "markdown")
    assert text.splitlines()[0] == (
        "evaluators:a_text: 0 honest · 1 dishonest · never gave a number where there was something to measure"
    )
    assert len(text.splitlines()) == 5
    assert "a str" in result_text(result, "table")
