"""The systems of an experiment, ready to be asked."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

from hallumeter.pipelines.experiments import PacedModels, Rates
from hallumeter.providers.language_models import Reply, Request
from hallumeter.records import EventUsage
from hallumeter.runner import PacedProvider, Spending

from .experiment import OFFLINE, Experiment, System
from .offline import OfflineResponder
from .own_systems import FunctionResponder, ProgramResponder
from .systems import Answer, Responder, Turn, encodable, perplexity_of


class ModelResponder:
    """Asks a language model."""

    def __init__(self, provider: PacedProvider, system: System, *, wants_logprobs: bool) -> None:
        self._provider = provider
        self._system = system
        self._wants_logprobs = wants_logprobs

    def respond(self, turn: Turn) -> Answer:
        """The model's reply to the whole conversation."""
        request = Request(
            messages=turn.messages,
            max_tokens=self._system.max_tokens,
            temperature=self._system.temperature,
            seed=turn.seed,
            wants_logprobs=self._wants_logprobs,
        )
        reply = self._provider.complete(request)
        completion = reply.completions[0]
        usage = reply.usage
        return Answer(
            text=encodable(completion.text),
            usage=EventUsage(usage.input_tokens, usage.output_tokens, self._provider.cost_of(reply)),
            metrics=_perplexity(reply),
            metadata={"model": reply.model or self._provider.spec.model, "finish": completion.finish},
        )

    def close(self) -> None:
        """Connections end with the last who could use them."""


def _perplexity(reply: Reply) -> dict[str, float | None]:
    logprobs = reply.completions[0].logprobs
    # Servers write log-probabilities of tokens that were certain as a little more than 0.
    found = None if logprobs is None else perplexity_of([min(0.0, token.logprob) for token in logprobs])
    return {} if found is None else {"perplexity": found}


class Responders:
    """One responder for each system, in their order; systems with the same model share its pace."""

    def __init__(self, experiment: Experiment, *, spending: Spending, stop: Event) -> None:
        """Make all of them, and ask none.

        Raises:
            SettingsError: A key, a function or a price is missing.
            MissingExtraError: A package is.
        """
        self._experiment = experiment
        self._spending = spending
        rates = Rates(
            prices=experiment.prices,
            requests_per_minute=experiment.requests_per_minute,
            tokens_per_minute=experiment.tokens_per_minute,
        )
        self._models = PacedModels(rates, spending=spending, stop=stop)
        self._responders = tuple(self._made(system) for system in experiment.systems)

    def __getitem__(self, number: int) -> Responder:
        return self._responders[number]

    def __enter__(self) -> Responders:
        return self

    def __exit__(self, *_: object) -> None:
        for responder in self._responders:
            responder.close()

    @property
    def troubles(self) -> Iterator[str]:
        """Which settings the models did not take, a line for each model."""
        return self._models.troubles

    def _made(self, system: System) -> Responder:
        if system.python is not None:
            return FunctionResponder(system.python, timeout=system.timeout, spending=self._spending)
        if system.command is not None:
            return ProgramResponder(system.command, timeout=system.timeout, spending=self._spending)
        if system.model in (None, OFFLINE):
            return OfflineResponder()
        wants_logprobs = self._experiment.perplexity == "logprobs"
        return ModelResponder(self._provider(system), system, wants_logprobs=wants_logprobs)

    def _provider(self, system: System) -> PacedProvider:
        assert system.model is not None
        sharing = [other.concurrency for other in self._experiment.systems if other.model == system.model]
        return self._models.named(
            system.model, timeout=system.timeout, retries=system.retries, connections=sum(sharing)
        )
