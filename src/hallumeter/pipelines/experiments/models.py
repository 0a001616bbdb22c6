"""The language models of an experiment: who shares a model shares its pace, and all share what may be spent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from threading import Event

from msgspec import Struct, field

from hallumeter.errors import SettingsError
from hallumeter.providers.language_models import Price, ProviderSpec, parse_price, price_of, provider_named
from hallumeter.runner import PacedProvider, PaceSettings, Spending, Waiting


class Rates(Struct, frozen=True, kw_only=True):
    """What an experiment says of all its language models."""

    prices: dict[str, str] = field(default_factory=dict)
    """Dollars for a million tokens, as ``0.15/0.60``, by name of the model."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


class PacedModels:
    """Makes each model once."""

    def __init__(self, rates: Rates, *, spending: Spending, stop: Event) -> None:
        self._rates = rates
        self._spending = spending
        self._stop = stop
        self._providers: dict[tuple[str, float, int], PacedProvider] = {}

    @property
    def troubles(self) -> Iterator[str]:
        """Which settings the models did not take, a line for each model."""
        for (name, *_), provider in self._providers.items():
            if provider.left_out:
                yield f"{name} does not take {', '.join(provider.left_out)}"

    def named(self, name: str, *, timeout: float, retries: int, connections: int) -> PacedProvider:
        """A model, with its pace, its price and its retries.

        Raises:
            SettingsError: Its key is missing, or its price where there is a budget.
            MissingExtraError: A package is missing.
        """
        key = name, timeout, retries
        if key not in self._providers:
            provider = provider_named(name, timeout_seconds=timeout, connections=connections)
            self._providers[key] = PacedProvider(
                provider,
                pace=PaceSettings(
                    requests_per_minute=self._rates.requests_per_minute,
                    tokens_per_minute=self._rates.tokens_per_minute,
                    most_attempts=retries + 1,
                    timeout_seconds=timeout,
                ),
                spending=self._spending,
                price=self._price(provider.spec),
                waiting=Waiting(self._stop),
            )
        return self._providers[key]

    def _price(self, spec: ProviderSpec) -> Price | None:
        price = price_for(spec, self._rates.prices)
        if price is None and self._spending.budget_usd is not None:
            raise SettingsError(
                f"the price of {spec.name} is not known, so a budget cannot be kept; say what a million tokens cost, "
                f"in and out: --price {spec.name}=0.15/0.60, or under prices: in the file"
            )
        return price


def price_for(spec: ProviderSpec, prices: Mapping[str, str]) -> Price | None:
    """What an experiment says of a model, under its whole name or its model's, else what the table says."""
    given = prices.get(spec.name) or prices.get(spec.model)
    return price_of(spec) if given is None else parse_price(given)
