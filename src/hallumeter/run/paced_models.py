"""The language models of a run: who shares a model shares its pace, and all share what may be spent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from threading import Event

from hallumeter.errors import SettingsError
from hallumeter.models.by_name import provider_named
from hallumeter.models.pace import PaceSettings, Waiting
from hallumeter.models.prices import Price, Spending, parse_price, price_of
from hallumeter.models.protocol import ProviderSpec
from hallumeter.models.retry import PacedProvider

PRICE_IN_FILE = ": --price {name}=0.15/0.60, or under prices: in the file"
PRICE_OPTION = ", with --price {name}=0.15/0.60"
"""Where a user can say what a model costs."""


class PacedModels:
    """Makes each model once."""

    def __init__(
        self, prices: Mapping[str, Price | str], *, spending: Spending, stop: Event, advice: str = PRICE_IN_FILE
    ) -> None:
        """Prices by name of the model, where the table of prices has none or an old one."""
        self._prices = prices
        self._spending = spending
        self._stop = stop
        self._advice = advice
        self._providers: dict[tuple[str, PaceSettings], PacedProvider] = {}

    @property
    def troubles(self) -> Iterator[str]:
        """Which settings the models did not take, a line for each model."""
        for (name, _), provider in self._providers.items():
            if provider.left_out:
                yield f"{name} does not take {', '.join(provider.left_out)}"

    def named(self, name: str, *, pace: PaceSettings, connections: int) -> PacedProvider:
        """A model, with its pace, its price and its retries.

        Raises:
            SettingsError: Its key is missing, or its price where there is a budget.
            MissingExtraError: A package is missing.
        """
        if (name, pace) not in self._providers:
            provider = provider_named(name, timeout_seconds=pace.timeout_seconds, connections=connections)
            self._providers[name, pace] = PacedProvider(
                provider,
                pace=pace,
                spending=self._spending,
                price=self._price(provider.spec),
                waiting=Waiting(self._stop),
            )
        return self._providers[name, pace]

    def _price(self, spec: ProviderSpec) -> Price | None:
        price = price_for(spec, self._prices)
        if price is None and self._spending.budget_usd is not None:
            raise SettingsError(
                f"the price of {spec.name} is not known, so a budget cannot be kept; say what a million tokens cost, "
                f"in and out{self._advice.format(name=spec.name)}"
            )
        return price


def price_for(spec: ProviderSpec, prices: Mapping[str, Price | str]) -> Price | None:
    """What the user says of a model, under its whole name or its model's, else what the table says."""
    given = prices.get(spec.name) or prices.get(spec.model)
    return parse_price(given) if isinstance(given, str) else given or price_of(spec)
