"""Agents that are functions, and the names that users type."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hallumeter.aspects.agents.by_name import AgentSettings, ScriptedAgent, agent_named
from hallumeter.aspects.agents.language_model import LanguageModelAgent, LanguageModelSettings
from hallumeter.aspects.agents.offline import OfflineAgent
from hallumeter.aspects.agents.protocol import AgentFault, AgentReply, AgentTask, Role
from hallumeter.aspects.records.aspect import Aspect, TextSpan
from hallumeter.aspects.records.outputs import (
    AspectExtraction,
    AspectReview,
    AspectSentiments,
    ReviewContext,
    StageOne,
)
from hallumeter.errors import SettingsError
from hallumeter.models.protocol import Provider
from hallumeter.models.scripted import ScriptedProvider

FOUND = AspectExtraction((Aspect("battery", TextSpan(4, 11)),))


def answer(said: object, role: Role = "ate") -> AgentReply:
    return ScriptedAgent(lambda task: said).answer(AgentTask(role=role, text="The battery is bad.", language="en"))


def test_a_function_may_answer_in_many_forms() -> None:
    row = {"aspects": [{"term": "battery", "span": [4, 11]}]}
    for said in (FOUND, AgentReply(answer=FOUND), row, row["aspects"], f"Sure: {str(row).replace(chr(39), chr(34))}"):
        assert answer(said).answer == FOUND
    assert answer('{"aspects": []}').raw == '{"aspects": []}'
    assert answer(AgentReply(answer=FOUND, raw="obeyed")).raw == "obeyed"
    assert answer({"aspect_sentiments": [{"term": "x", "polarity": "?"}]}, "atsa").notes == ("polarity_invalid:?",)


@pytest.mark.parametrize("said", [None, 3, AspectSentiments(), AgentReply(answer=AspectSentiments()), "no", {"a": 1}])
def test_what_is_no_answer_of_the_role_is_a_fault(said: object) -> None:
    with pytest.raises(AgentFault) as caught:
        answer(said)
    assert caught.value.code == "unusable_reply"


def test_a_review_by_a_function_may_hold_no_fresh_list_either() -> None:
    with pytest.raises(AgentFault, match="fresh list"):
        answer({"aspects": []}, "ate_review")
    with pytest.raises(AgentFault, match="expected AspectReview"):
        answer(FOUND, "ate_review")


def test_what_a_function_raises_is_a_fault_and_its_own_faults_pass() -> None:
    def broken(task: AgentTask) -> object:
        raise ValueError("no\nluck")

    def declining(task: AgentTask) -> object:
        raise AgentFault("declined", "not today")

    for function, code in ((broken, "agent_error"), (declining, "declined")):
        with pytest.raises(AgentFault) as caught:
            ScriptedAgent(function, "mine").answer(AgentTask(role="ate", text="x", language="en"))
        assert caught.value.code == code
    with pytest.raises(AgentFault, match="mine raised ValueError: no luck"):
        ScriptedAgent(broken, "mine").answer(AgentTask(role="ate", text="x", language="en"))


def test_an_asynchronous_function_is_told_so() -> None:
    async def later(task: AgentTask) -> object:
        return FOUND

    with pytest.raises(AgentFault, match="asynchronous"):
        ScriptedAgent(later).answer(AgentTask(role="ate", text="x", language="en"))


def test_a_function_sees_no_more_than_its_role_may() -> None:
    seen: list[AgentTask] = []
    agent = ScriptedAgent(lambda task: seen.append(task) or AspectReview(), "spy")  # type: ignore[func-returns-value]
    stage1 = StageOne(FOUND, AspectSentiments())
    agent.answer(AgentTask(role="ate_review", text="x", language="en", stage1=stage1, context=ReviewContext()))
    assert seen[0].stage1 == StageOne(FOUND)
    with pytest.raises(AgentFault):
        agent.answer(AgentTask(role="ate", text="x", language="en", stage1=stage1))
    assert seen[1].stage1 is None
    assert agent.spec == "spy"


def test_a_function_in_a_module_of_the_users_is_an_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_aspect_agent.py").write_text("def answer(task):\n    return {'aspects': []}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    agent = agent_named("python:my_aspect_agent:answer")
    assert agent.spec == "python:my_aspect_agent:answer"
    assert agent.answer(AgentTask(role="ate", text="x", language="en")).answer == AspectExtraction()
    with pytest.raises(SettingsError, match="nothing_here"):
        agent_named("python:my_aspect_agent:nothing_here")


def test_offline_agents_are_one_for_all_roles() -> None:
    agent = agent_named("offline", AgentSettings(languages=("en",)))
    assert isinstance(agent, OfflineAgent)
    assert agent_named("offline", AgentSettings(languages=("en", "en"))) is agent
    assert agent.spec.startswith("offline;version=")
    assert "en=" in agent.spec
    assert "ko=" not in agent.spec


def test_a_language_model_is_named_as_everywhere_and_made_by_whom_one_says(tmp_path: Path) -> None:
    named: list[str] = []

    def provider_for(name: str) -> Provider:
        named.append(name)
        return ScriptedProvider([], name=name)

    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "ate.txt").write_text("Find aspects.", encoding="utf-8")
    settings = AgentSettings(model=LanguageModelSettings(temperature=None, max_tokens=7))
    usual = agent_named("openai:tiny", settings, provider_for=provider_for)
    assert isinstance(usual, LanguageModelAgent)
    assert named == ["openai:tiny"]
    assert "temperature=None;max_tokens=7" in usual.spec
    other = agent_named("openai:tiny", AgentSettings(prompts=tmp_path), provider_for=provider_for)
    assert usual.spec.split(";")[1] != other.spec.split(";")[1]
    at_address = agent_named("http://127.0.0.1:9/v1#tiny")
    assert at_address.spec.startswith("http://127.0.0.1:9/v1#tiny;")


@pytest.mark.parametrize("name", ["", "Offline", "lexicon", "nobody:tiny", "openai:"])
def test_a_name_that_is_none_is_refused_with_the_forms(name: str) -> None:
    with pytest.raises(SettingsError, match=r"expected one of .*openai:MODEL"):
        agent_named(name)


def test_a_missing_key_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(SettingsError, match="OPENAI_API_KEY"):
        agent_named("openai:tiny")
