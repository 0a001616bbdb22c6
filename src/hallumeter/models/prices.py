"""What tokens cost: from the table of the package genai-prices (extra ``llm``), or as the user says."""

from __future__ import annotations

import math
import re
import threading
from datetime import UTC, datetime
from typing import Any, Protocol

from msgspec import Struct

from hallumeter.errors import SettingsError

from .pace import Meter
from .protocol import ProviderSpec, Reply, Request, Usage

# What a run has cost so far, and whether it may cost more.

_DOLLARS = ("spent_usd", "estimated_usd")
_COUNTS = ("calls", "retries", "input_tokens", "output_tokens", "calls_without_price", "calls_estimated")


class BudgetReached(Exception):  # noqa: N818 (nothing went wrong)
    """The budget is spent; the call was not made."""


class SharedCalls(Protocol):
    """What workers in several processes have together: a budget, a pace, and the replies that were paid for."""

    def take(self, expected_usd: float) -> object:
        """Begin a call that may cost so much; gives what `give_back` needs.

        Raises:
            BudgetReached: There is not so much left.
        """
        ...

    def give_back(self, held: object, paid_usd: float) -> None:
        """End a call, which has cost so much."""
        ...

    def meter(self, name: str, per_minute: float) -> Meter:
        """So many units a minute for all workers together."""
        ...

    def recall(self, spec: ProviderSpec, request: Request) -> tuple[bytes, Reply | None]:
        """The reply that another attempt at the same work has paid for, and the key under which one is kept."""
        ...

    def keep(self, key: bytes, reply: Reply) -> None:
        """Keep a reply; it outlives this process when this returns."""
        ...


class Spending:
    """Counts calls, tokens and dollars of all models of a run; shared by all threads."""

    def __init__(self, budget_usd: float | None = None, *, shared: SharedCalls | None = None) -> None:
        self.budget_usd = budget_usd
        """None for no limit."""
        self.shared = shared
        """What other workers of the same run share; it then keeps the budget."""
        self.spent_usd = 0.0
        """Only calls whose cost is known."""
        self.estimated_usd = 0.0
        """For calls whose price is known and whose tokens the server did not count; the budget counts them."""
        self.calls = 0
        """Requests that were sent, those asked again among them."""
        self.retries = 0
        self.input_tokens = 0
        self.output_tokens = 0
        self.calls_without_price = 0
        """Calls that were answered and whose cost nobody knows."""
        self.calls_estimated = 0
        """Those of them for which `estimated_usd` stands."""
        self._lock = threading.Lock()

    @property
    def charged_usd(self) -> float:
        """What the budget is compared with: known costs, and estimates where only the price is known."""
        return self.spent_usd + self.estimated_usd

    def begin(self, *, is_retry: bool = False, expected_usd: float = 0.0) -> object:
        """Count a call that is about to be sent; gives what `end` needs.

        Calls under way are not stopped: the budget can be passed by what they cost. A budget that workers share is
        passed only by what calls cost more than was expected.

        Raises:
            BudgetReached: As much as the budget has been spent.
        """
        held = None if self.shared is None else self.shared.take(expected_usd)
        with self._lock:
            charged = self.charged_usd
            if self.shared is None and self.budget_usd is not None and charged >= self.budget_usd:
                estimated = f" (${self.estimated_usd:.4f} of it estimated)" if self.estimated_usd else ""
                raise BudgetReached(f"spent ${charged:.4f}{estimated} of a budget of ${self.budget_usd:.4f}")
            self.calls += 1
            self.retries += is_retry
        return held

    def end(self, held: object, paid_usd: float) -> None:
        """Say that a call is over, and what it has cost."""
        if self.shared is not None:
            self.shared.give_back(held, paid_usd)

    def counted(self) -> dict[str, float]:
        """All counts by name, so that a run can be gone on with."""
        with self._lock:
            return {name: getattr(self, name) for name in (*_DOLLARS, *_COUNTS)}

    def restore(self, counted: dict[str, float]) -> None:
        """Go on from the counts of an earlier run."""
        with self._lock:
            for name in _DOLLARS:
                setattr(self, name, counted.get(name, 0.0))
            for name in _COUNTS:
                setattr(self, name, int(counted.get(name, 0)))

    def add(self, usage: Usage, cost_usd: float | None, *, estimated_usd: float | None = None) -> None:
        """Count what a call has cost, or what it has cost by an estimate where that is unknown."""
        with self._lock:
            self.input_tokens += usage.input_tokens or 0
            self.output_tokens += usage.output_tokens or 0
            if cost_usd is not None:
                self.spent_usd += cost_usd
                return
            self.calls_without_price += 1
            if estimated_usd is not None:
                self.estimated_usd += estimated_usd
                self.calls_estimated += 1


# Tokens of a text, where nobody has counted them.


def estimated_tokens(text: str) -> int:
    """About as many tokens as a text has: four characters of ASCII each, or one and a half of another script.

    >>> estimated_tokens("four words of text, a few"), estimated_tokens("서울은 수도이다")
    (7, 6)
    """
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return -(-plain // 4) + round((len(text) - plain) / 1.5)


_CHECKED = re.compile(r"\b(?:verified|checked|updated|as of)(?: on)? (20\d\d-\d\d-\d\d)\b", re.IGNORECASE)
"""In comments of the table. Days on which prices begin or end may lie ahead, and say nothing of its age."""


class Price(Struct, frozen=True):
    """US dollars for a million tokens."""

    input_usd_per_million: float
    output_usd_per_million: float
    cached_input_usd_per_million: float | None = None
    """None when input from a cache has no price of its own; it is then counted at the full price."""
    as_of: str = "given by the user"
    """How old the price may be: the version of the table, and the newest day on which it says prices were checked."""


def price_of(spec: ProviderSpec) -> Price | None:
    """The price of a model in the table that is installed; None when it is not in there, or there is no table.

    Nothing is fetched. Where long prompts cost more per token, this is the price of short ones.
    """
    if spec.price_key is None:
        return None
    try:
        import genai_prices
        from genai_prices.data_snapshot import get_snapshot
    except ImportError:
        return None
    vendor, model = spec.price_key
    table = get_snapshot()
    try:
        _, found = table.find_provider_model(model, None, vendor, None)
    except LookupError:
        return None
    prices = found.get_prices(datetime.now(UTC))
    paid = [_dollars(getattr(prices, f"{kind}_mtok", None)) for kind in ("input", "output", "cache_read")]
    if paid[0] is None or paid[1] is None:
        return None
    return Price(paid[0], paid[1], paid[2], as_of=f"genai-prices {genai_prices.__version__}{_last_check(table)}")


def parse_price(text: str) -> Price:
    """The price in ``0.15/0.60``: dollars for a million tokens of input and of output.

    >>> parse_price("0.15/0.60").output_usd_per_million
    0.6

    Raises:
        SettingsError: The text is something else.
    """
    try:
        paid = [float(piece) for piece in text.split("/")]
    except ValueError:
        paid = []
    if len(paid) != 2 or not all(math.isfinite(price) and price >= 0 for price in paid):
        raise SettingsError(
            f"{text!r} is no price; expected dollars for a million tokens of input and of output, such as 0.15/0.60"
        )
    return Price(paid[0], paid[1])


def _dollars(price: Any) -> float | None:
    """A price in the table is a number, or one with a lowest tier; None stays None."""
    lowest = getattr(price, "base", price)
    return None if lowest is None else float(lowest)


def _last_check(table: Any) -> str:
    entries = [entry for vendor in table.providers for entry in (vendor, *vendor.models)]
    days = [day for entry in entries for day in _CHECKED.findall(entry.price_comments or "")]
    return f", checked {max(days)}" if days else ""
