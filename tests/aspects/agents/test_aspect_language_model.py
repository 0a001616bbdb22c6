"""Language models as agents, behind a real server on this machine that does not always behave."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hallumeter.aspects.agents.language_model import (
    LanguageModelAgent,
    LanguageModelSettings,
    prompts_digest,
    reply_schema,
    shipped_prompts,
)
from hallumeter.aspects.agents.protocol import ANSWERS, AgentFault, AgentReply, AgentTask, Role
from hallumeter.aspects.records.outputs import AspectExtraction, AspectReview, AspectSentiments
from hallumeter.errors import SettingsError
from hallumeter.models.by_name import provider_named
from hallumeter.models.pace import PaceSettings
from hallumeter.models.prices import Price
from hallumeter.models.protocol import Completion, ProviderFault, Reply, Request, Usage
from hallumeter.models.retry import PacedProvider
from hallumeter.models.scripted import ScriptedProvider
from misbehaving_server import MisbehavingServer, server_in_thread

TEXT = "The battery is terrible."
GOOD = json.dumps({"aspects": [{"term": "battery", "span": {"start": 4, "end": 11}, "confidence": 0.9}]})
BAD = json.dumps({"aspects": [{"term": "battery", "span": "4-11"}]})


def asked(agent: LanguageModelAgent, role: Role = "ate", text: str = TEXT, language: str = "en") -> AgentReply:
    return agent.answer(AgentTask(role=role, text=text, language=language, seed=7))


def scripted(*answers: str | Reply | ProviderFault, **settings: Any) -> tuple[LanguageModelAgent, ScriptedProvider]:
    provider = ScriptedProvider(answers)
    return LanguageModelAgent(provider, settings=LanguageModelSettings(**settings)), provider


@contextmanager
def served(
    say: Callable[[dict[str, Any]], str], *, timeout: float = 5
) -> Iterator[tuple[LanguageModelAgent, MisbehavingServer]]:
    """An agent whose model stands behind a real server."""
    with server_in_thread(say) as server:
        yield LanguageModelAgent(provider_named(f"{server.openai}#tiny", timeout_seconds=timeout)), server


def test_a_role_is_asked_with_its_prompt_its_form_and_one_json_object() -> None:
    with served(lambda body: GOOD) as (agent, server):
        reply = asked(agent)
        [call] = server.seen()
    assert isinstance(reply.answer, AspectExtraction)
    assert (reply.answer.aspects[0].term, reply.raw, reply.notes) == ("battery", GOOD, ())
    system, user = call.body["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert system["content"] == shipped_prompts().system("ate", "en")
    assert json.loads(user["content"])["text"] == TEXT
    assert call.body["seed"] == 7
    assert call.body["temperature"] == 0.0
    form = call.body["response_format"]["json_schema"]
    assert form == {"name": "ate_reply", "strict": True, "schema": reply_schema("ate").schema}


def test_a_korean_sentence_is_asked_about_in_korean() -> None:
    with served(lambda body: GOOD) as (agent, server):
        asked(agent, text="배터리는 최악", language="ko")
        [call] = server.seen()
    assert call.body["messages"][0]["content"] == shipped_prompts().system("ate", "ko")


def test_calls_tokens_time_and_money_are_counted() -> None:
    with server_in_thread(lambda body: GOOD) as server:
        paced = PacedProvider(provider_named(f"{server.openai}#tiny"), price=Price(1_000_000, 2_000_000))
        usage = asked(LanguageModelAgent(paced)).usage
    assert (usage.calls, usage.repairs, usage.retries) == (1, 0, 0)
    assert usage.tokens_in is not None
    assert usage.tokens_out is not None
    assert usage.cost_usd == pytest.approx(usage.tokens_in + 2 * usage.tokens_out)
    assert usage.latency_ms is not None
    assert usage.latency_ms > 0


def test_what_is_not_known_of_the_cost_stays_unknown() -> None:
    agent, _ = scripted(GOOD)
    usage = asked(agent).usage
    assert (usage.calls, usage.tokens_in, usage.tokens_out, usage.cost_usd) == (1, None, None, None)


def test_a_reply_of_the_wrong_form_is_repaired_with_what_was_wrong() -> None:
    with served(lambda body: GOOD if len(body["messages"]) > 2 else BAD) as (agent, server):
        reply = asked(agent)
        first, second = server.seen()
    assert isinstance(reply.answer, AspectExtraction)
    assert (reply.usage.calls, reply.usage.repairs) == (2, 1)
    assert [message["role"] for message in second.body["messages"]] == ["system", "user", "assistant", "user"]
    assert second.body["messages"][:2] == first.body["messages"]
    assert second.body["messages"][2]["content"] == BAD
    assert "aspects[0].span: expected an object, found text" in second.body["messages"][3]["content"]
    assert reply.notes[0].startswith("refused_reply:aspects[0].span")


@pytest.mark.parametrize(
    "said", ["I would rather not say.", "{}", '{"unexpected": true}', "[" * 3000, GOOD[:30], "\\ud800", '"\ud83d"'[:1]]
)
def test_after_two_repairs_garbage_is_a_fault_and_never_an_answer(said: str) -> None:
    with served(lambda body: said) as (agent, server):
        with pytest.raises(AgentFault) as caught:
            asked(agent)
        assert len(server.seen()) == 3
    fault = caught.value
    assert (fault.code, fault.attempts, fault.raw) == ("unusable_reply", 3, said)
    assert (fault.usage.calls, fault.usage.repairs) == (3, 2)
    assert fault.message.startswith("no usable reply: ")


@pytest.mark.parametrize("role", ANSWERS)
def test_a_reply_of_another_form_is_unusable_in_every_role(role: Role) -> None:
    with served(lambda body: "never") as (agent, server):
        server.play(otherwise="wrong_schema")
        with pytest.raises(AgentFault, match="expected an object with the list"):
            asked(agent, role)


@pytest.mark.parametrize("behaviour", ["prose", "ok"])
def test_json_in_prose_is_an_answer_at_once(behaviour: str) -> None:
    with served(lambda body: GOOD) as (agent, server):
        server.play(otherwise=behaviour)
        assert asked(agent).usage.calls == 1


@pytest.mark.parametrize(
    ("role", "fresh", "review"),
    [
        ("ate_review", GOOD, {"aspect_review": [{"term": "battery", "action": "keep"}]}),
        (
            "atsa_review",
            '{"aspect_sentiments": []}',
            {"sentiment_review": [{"aspect_term": "battery", "action": "maintain"}]},
        ),
    ],
)
def test_a_fresh_list_in_a_review_is_refused_and_asked_for_again(role: Role, fresh: str, review: object) -> None:
    with served(lambda body: json.dumps(review) if len(body["messages"]) > 2 else fresh) as (agent, server):
        reply = asked(agent, role)
        assert "fresh list" in server.seen()[1].body["messages"][3]["content"]
    assert isinstance(reply.answer, ANSWERS[role])
    with served(lambda body: fresh) as (agent, _), pytest.raises(AgentFault, match="fresh list"):
        asked(agent, role)


def test_a_reply_that_was_cut_off_is_asked_for_with_more_room_and_never_taken_in_part() -> None:
    cut_off = Reply((Completion(GOOD[:-3], "length"),))
    agent, provider = scripted(cut_off, cut_off, GOOD, max_tokens=100)
    assert asked(agent).usage.repairs == 2
    assert [request.max_tokens for request in provider.requests] == [100, 200, 400]
    assert "ended before it was complete" in provider.requests[1].messages[-1].content
    agent, _ = scripted(cut_off, cut_off, cut_off)
    with pytest.raises(AgentFault, match="it ended before it was complete"):
        asked(agent)


def test_a_whole_reply_is_taken_even_where_the_provider_calls_it_cut_off() -> None:
    agent, _ = scripted(Reply((Completion(GOOD, "length"),)))
    assert asked(agent).usage.calls == 1


def test_an_empty_reply_is_asked_for_again_with_more_room() -> None:
    with served(lambda body: GOOD) as (agent, server):
        server.play(first=("length",))
        assert asked(agent).usage.calls == 2
        first, second = server.seen()
    assert second.body["max_tokens"] == 2 * first.body["max_tokens"]
    assert second.body["messages"] == first.body["messages"]
    with served(lambda body: GOOD) as (agent, server):
        server.play(otherwise="empty")
        with pytest.raises(AgentFault) as caught:
            asked(agent)
    assert (caught.value.code, caught.value.attempts) == ("empty_reply", 3)


def test_a_reply_without_any_completion_is_repaired() -> None:
    agent, provider = scripted(Reply(()), GOOD)
    asked(agent)
    assert provider.requests[1].messages[2].content == "(nothing)"


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        ("stall", "timeout"),
        ("reset", "connection"),
        ("truncated", "truncated_reply"),
        ("server_error", "server_error"),
        ("rate_limited", "rate_limited"),
        ("content_filter", "content_filter"),
        ("html", "truncated_reply"),
    ],
)
def test_a_fault_of_the_provider_is_a_fault_of_the_agent(behaviour: str, code: str) -> None:
    with served(lambda body: GOOD, timeout=0.5) as (agent, server):
        server.play(otherwise=behaviour)
        with pytest.raises(AgentFault) as caught:
            asked(agent)
        assert len(server.seen()) == 1
    assert caught.value.code == code
    assert caught.value.usage.calls == 1


def test_retries_of_the_provider_are_counted() -> None:
    with server_in_thread(lambda body: GOOD) as server:
        server.play(otherwise="server_error")
        pace = PaceSettings(most_attempts=3, first_delay_seconds=0.001)
        agent = LanguageModelAgent(PacedProvider(provider_named(f"{server.openai}#tiny"), pace=pace))
        with pytest.raises(AgentFault) as caught:
            asked(agent)
    assert (caught.value.attempts, caught.value.usage.retries, caught.value.usage.calls) == (3, 2, 1)


@pytest.mark.parametrize("behaviour", ["bad_key", "unknown_model", "no_quota"])
def test_a_fault_that_every_call_would_meet_passes_through(behaviour: str) -> None:
    with served(lambda body: GOOD) as (agent, server):
        server.play(otherwise=behaviour)
        with pytest.raises(ProviderFault) as caught:
            asked(agent)
    assert caught.value.is_fatal


def test_what_a_fault_cost_is_counted() -> None:
    fault = ProviderFault("content_filter", "declined")
    fault.usage = Usage(10, 2)
    agent, _ = scripted(fault)
    with pytest.raises(AgentFault) as caught:
        asked(agent)
    assert (caught.value.usage.tokens_in, caught.value.usage.tokens_out) == (10, 2)


def test_a_polarity_that_is_missing_stays_missing_and_needs_no_repair() -> None:
    agent, _ = scripted(
        '{"aspect_sentiments": [{"aspect_term": "battery", "polarity": "awful"}, {"aspect_term": "lid"}]}'
    )
    reply = asked(agent, "atsa")
    assert isinstance(reply.answer, AspectSentiments)
    assert [each.polarity for each in reply.answer.aspect_sentiments] == [None, None]
    assert reply.notes == ("polarity_invalid:awful",)


def test_a_server_without_strict_forms_is_asked_without_them() -> None:
    with served(lambda body: GOOD) as (agent, server):
        server.play(refuses=("response_format", "seed"))
        assert isinstance(asked(agent).answer, AspectExtraction)


def test_the_other_dialect_is_asked_in_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    with server_in_thread(lambda body: '{"aspect_review": []}') as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.root)
        reply = asked(LanguageModelAgent(provider_named("anthropic:small")), "ate_review")
        [call] = server.seen()
    assert reply.answer == AspectReview()
    assert call.body["output_config"]["format"]["schema"] == reply_schema("ate_review").schema
    assert "fresh list of aspects is refused" in call.body["system"]


def test_the_name_holds_all_that_changes_answers() -> None:
    agent, _ = scripted(temperature=0.5, max_tokens=99, repairs=1)
    assert agent.spec == f"scripted:model;prompts={prompts_digest()};temperature=0.5;max_tokens=99;repairs=1"
    with served(lambda body: GOOD) as (agent, server):
        assert f"address={server.openai}" in agent.spec


@pytest.mark.parametrize(("name", "value"), [("max_tokens", 0), ("repairs", 3), ("repairs", -1)])
def test_impossible_settings_are_refused(name: str, value: int) -> None:
    with pytest.raises(SettingsError, match=name):
        LanguageModelSettings(**{name: value})


def test_fewer_repairs_are_fewer_calls() -> None:
    agent, provider = scripted("no", "no", repairs=1)
    with pytest.raises(AgentFault):
        asked(agent)
    assert len(provider.requests) == 2


def test_what_is_no_fault_of_the_provider_is_passed_on() -> None:
    class BudgetError(Exception):
        pass

    def broke(_: Request) -> str:
        raise BudgetError

    with pytest.raises(BudgetError):
        asked(LanguageModelAgent(ScriptedProvider(broke)))
