"""Choose an agent from what a user types."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.extractors.aspects import reader_for
from hallumeter.providers.language_models import PROVIDER_FORMS, Provider, provider_named

from .language_model import LanguageModelAgent, LanguageModelSettings
from .offline import OfflineAgent
from .prompt_files import read_prompts
from .protocol import Agent
from .scripted import python_agent

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
