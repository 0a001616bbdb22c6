"""The agents of an experiment: who answers in which role."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

from hallumeter.aspects.agents.by_name import AgentSettings, agent_named
from hallumeter.aspects.agents.language_model import LanguageModelSettings, read_prompts
from hallumeter.aspects.agents.protocol import Agent, AgentReply, AgentTask, Role
from hallumeter.models.by_name import provider_spec
from hallumeter.models.pace import PaceSettings
from hallumeter.models.protocol import Provider, ProviderSpec, Reply, Request
from hallumeter.run.paced_models import PacedModels

from .experiment import CALLS_AT_ONCE, OFFLINE, Experiment

PYTHON = "python:"


class RoleAgents(Struct, frozen=True):
    """One agent for every role."""

    agents: Mapping[Role, Agent]
    specs: Mapping[Role, str]
    models: Mapping[Role, str]
    """What the experiment calls them."""
    prompts: Path | None = None
    """A folder of the user's own; None for the prompts that ship."""
    has_prompts: bool = True
    """Whether anyone is given prompts; nobody is in a replay."""

    def is_free(self, role: Role) -> bool:
        """Whether whoever answers in it can be asked again at no cost, and will answer the same."""
        return self.models[role] == OFFLINE

    def prompt_hash(self, role: Role, language: str) -> str | None:
        """The hash of the prompt that a role is given in a language; None for who is given none."""
        if not self.has_prompts or not is_model(self.models[role]):
            return None
        return _prompt_hash(role, language, self.prompts)


def is_model(name: str) -> bool:
    """Whether a name is that of a language model.

    >>> is_model("openai:gpt-4o-mini"), is_model("offline"), is_model("python:my:agent")
    (True, False, False)
    """
    return name != OFFLINE and not name.startswith(PYTHON)


def calls_at_once(experiment: Experiment) -> int:
    """How many sentences are read at once; functions of the user's own are called one at a time unless told."""
    if experiment.concurrency is not None:
        return experiment.concurrency
    return 1 if any(name.startswith(PYTHON) for name in experiment.models.values()) else CALLS_AT_ONCE


def role_agents_of(experiment: Experiment, languages: tuple[str, ...], models: PacedModels | None = None) -> RoleAgents:
    """An agent for every role; without `models` agents are only named: nobody can be asked, and no code is imported.

    Raises:
        SettingsError: A key, a price or a function is missing.
        MissingExtraError: A package is.
    """
    pace = PaceSettings(
        requests_per_minute=experiment.requests_per_minute,
        tokens_per_minute=experiment.tokens_per_minute,
        most_attempts=experiment.retries + 1,
        timeout_seconds=experiment.timeout,
    )

    def paced(name: str) -> Provider:
        assert models is not None
        return models.named(name, pace=pace, connections=calls_at_once(experiment))

    settings = AgentSettings(
        languages=languages,
        prompts=experiment.pipeline.prompts,
        model=LanguageModelSettings(
            temperature=experiment.pipeline.temperature, max_tokens=experiment.pipeline.max_tokens
        ),
    )
    make: Callable[[str], Provider] = _NamedModel if models is None else paced

    def agent(name: str) -> Agent:
        is_only_named = models is None and name.startswith(PYTHON)
        return _NamedFunction(name) if is_only_named else agent_named(name, settings, provider_for=make)

    made = {name: agent(name) for name in dict.fromkeys(experiment.models.values())}
    return RoleAgents(
        agents={role: made[name] for role, name in experiment.models.items()},
        specs={role: made[name].spec for role, name in experiment.models.items()},
        models=experiment.models,
        prompts=experiment.pipeline.prompts,
    )


def prompt_files(experiment: Experiment, languages: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The hash of every prompt that language models are given, by language and file; none without models."""
    if any(is_model(name) for name in experiment.models.values()):
        prompts = read_prompts(experiment.pipeline.prompts)
        for language in languages:
            for name, digest in prompts.prompt_hashes(language).items():
                yield f"{language}/{name}", digest


class _NamedModel:
    """A language model that is only spoken of: no key and no package is needed for that."""

    def __init__(self, name: str) -> None:
        self.spec: ProviderSpec = provider_spec(name)

    def complete(self, request: Request) -> Reply:
        raise AssertionError(f"{self.spec.name} is only spoken of, and was asked: {request}")


class _NamedFunction:
    """A function that is only spoken of, so that a dry run imports nothing."""

    def __init__(self, name: str) -> None:
        self.spec = name

    def answer(self, task: AgentTask) -> AgentReply:
        raise AssertionError(f"{self.spec} is only spoken of, and was asked: {task}")


@cache
def _prompt_hash(role: Role, language: str, folder: Path | None) -> str:
    return hashlib.sha256(read_prompts(folder).system(role, language).encode()).hexdigest()
