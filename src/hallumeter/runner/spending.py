"""What a run has cost so far, and whether it may cost more."""

from __future__ import annotations

import threading

from hallumeter.providers.language_models import Usage

_DOLLARS = ("spent_usd", "estimated_usd")
_COUNTS = ("calls", "retries", "input_tokens", "output_tokens", "calls_without_price", "calls_estimated")


class BudgetReached(Exception):  # noqa: N818 (nothing went wrong)
    """The budget is spent; the call was not made."""


class Spending:
    """Counts calls, tokens and dollars of all models of a run; shared by all threads."""

    def __init__(self, budget_usd: float | None = None) -> None:
        self.budget_usd = budget_usd
        """None for no limit."""
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

    def begin(self, *, is_retry: bool = False) -> None:
        """Count a call that is about to be sent.

        Calls under way are not stopped: the budget can be passed by what they cost.

        Raises:
            BudgetReached: As much as the budget has been spent.
        """
        with self._lock:
            charged = self.charged_usd
            if self.budget_usd is not None and charged >= self.budget_usd:
                estimated = f" (${self.estimated_usd:.4f} of it estimated)" if self.estimated_usd else ""
                raise BudgetReached(f"spent ${charged:.4f}{estimated} of a budget of ${self.budget_usd:.4f}")
            self.calls += 1
            self.retries += is_retry

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
