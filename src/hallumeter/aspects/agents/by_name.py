"""Choose an agent from what a user types."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

from hallumeter.aspects.readers.by_language import reader_for
from hallumeter.errors import SettingsError
from hallumeter.models.by_name import PROVIDER_FORMS, provider_named
from hallumeter.models.protocol import Provider
from hallumeter.plugins import function_named

from .language_model import LanguageModelAgent, LanguageModelSettings, read_prompts
from .offline import OfflineAgent
from .protocol import ANSWERS, Agent, AgentAnswer, AgentFault, AgentReply, AgentTask, visible
from .replies import ReadAnswer, UnusableReply, read_reply, read_value

# An agent whose answers a function gives: for tests, and for agents of the user's own.

AgentFunction = Callable[[AgentTask], object]
"""Gives an answer of the task's role, a whole `AgentReply`, a mapping or a list in the form of the role, or a text with
JSON in it; raises `AgentFault` when it has none."""


class ScriptedAgent:
    """Answers with what a function says, in any role.

    The function is given no more of a task than its role may see. What it raises, other than `AgentFault`, is a fault
    of the agent, `agent_error`; what it returns of another form is `unusable_reply`.

    >>> agent = ScriptedAgent(lambda task: {"aspects": [{"term": "battery", "span": [4, 11]}]}, name="one battery")
    >>> agent.answer(AgentTask(role="ate", text="The battery is bad.", language="en")).answer.aspects[0].term
    'battery'
    """

    def __init__(self, function: AgentFunction, name: str = "scripted") -> None:
        self._function = function
        self._name = name

    @property
    def spec(self) -> str:
        """The name; what the function does is not known."""
        return self._name

    def answer(self, task: AgentTask) -> AgentReply:
        """What the function says.

        Raises:
            AgentFault: It has no answer, or none of the role.
        """
        try:
            said = self._function(visible(task))
        except AgentFault:
            raise
        except Exception as error:
            cause = " ".join(f"{type(error).__name__}: {error}".split())
            raise AgentFault("agent_error", f"{self._name} raised {cause}") from error
        return self._reply(said, task)

    def _reply(self, said: object, task: AgentTask) -> AgentReply:
        if isinstance(said, AgentReply) and isinstance(said.answer, ANSWERS[task.role]):
            return said
        if isinstance(said, ANSWERS[task.role]):
            answer: AgentAnswer = said
            return AgentReply(answer=answer)
        raw = said if isinstance(said, str) else None
        try:
            read = _read(said, task)
        except UnusableReply as problem:
            raise AgentFault("unusable_reply", f"{self._name}: {problem}", raw=raw) from None
        return AgentReply(answer=read.answer, raw=raw, notes=read.notes)


def python_agent(path: str) -> ScriptedAgent:
    """The function at ``module:function`` as an agent; the current folder is looked in too.

    Raises:
        SettingsError: There is no such module or function.
    """
    return ScriptedAgent(function_named(path), name=f"python:{path}")


def _read(said: object, task: AgentTask) -> ReadAnswer:
    if isinstance(said, str):
        return read_reply(said, task.role, task.text)
    if isinstance(said, Mapping | list):
        return read_value(dict(said) if isinstance(said, Mapping) else said, task.role, task.text)
    if inspect.iscoroutine(said):
        said.close()
        raise UnusableReply("the function is asynchronous; give one that returns the answer itself")
    expected = ANSWERS[task.role].__name__
    raise UnusableReply(
        f"expected {expected}, a mapping or a text for the role {task.role}, found {type(said).__name__}"
    )


OFFLINE = "offline"
AGENT_FORMS = (OFFLINE, *PROVIDER_FORMS, "python:MODULE:FUNCTION")
"""What a user can type."""


class AgentSettings(Struct, frozen=True, kw_only=True):
    """What agents are made with."""

    languages: tuple[str, ...] = ("en", "ko")
    """Of the sentences; readers of others are not loaded."""
    prompts: Path | None = None
    """A folder of prompts that replace the shipped ones."""
    model: LanguageModelSettings = LanguageModelSettings()


def agent_named(
    text: str,
    settings: AgentSettings | None = None,
    *,
    provider_for: Callable[[str], Provider] = provider_named,
) -> Agent:
    """The agent that a text names, in one of `AGENT_FORMS`; the offline agent is one for all who ask for it.

    `provider_for` makes the language model that a text names; give it to put pace and budget around it.

    Raises:
        SettingsError: There is no such agent, or its key is missing from the environment.
        MissingExtraError: A package for it is not installed.
    """
    settings = settings or AgentSettings()
    if text == OFFLINE:
        return _offline(tuple(sorted(set(settings.languages))))
    if text.startswith("python:"):
        return python_agent(text.removeprefix("python:"))
    if ":" not in text:
        raise SettingsError(f"no agent is called {text!r}; expected one of {', '.join(AGENT_FORMS)}")
    return LanguageModelAgent(provider_for(text), read_prompts(settings.prompts), settings.model)


@cache
def _offline(languages: tuple[str, ...]) -> OfflineAgent:
    return OfflineAgent([reader_for(language) for language in languages])
