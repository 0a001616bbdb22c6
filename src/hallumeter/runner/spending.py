"""What a run has cost so far, and whether it may cost more."""

from __future__ import annotations

import threading

from hallumeter.providers.language_models import Usage

_COUNTS = ("spent_usd", "calls", "retries", "input_tokens", "output_tokens", "calls_without_price")


class BudgetReached(Exception):  # noqa: N818 (nothing went wrong)
    """The budget is spent; the call was not made."""


class Spending:
    """Counts calls, tokens and dollars of all models of a run; shared by all threads."""

    def __init__(self, budget_usd: float | None = None) -> None:
        self.budget_usd = budget_usd
        """None for no limit."""
        self.spent_usd = 0.0
        """Only calls whose price is known."""
        self.calls = 0
        """Requests that were sent, those asked again among them."""
        self.retries = 0
        self.input_tokens = 0
        self.output_tokens = 0
        self.calls_without_price = 0
        """Calls that were answered and whose cost nobody knows."""
        self._lock = threading.Lock()

    def begin(self, *, is_retry: bool = False) -> None:
        """Count a call that is about to be sent.

        Calls under way are not stopped: the budget can be passed by what they cost.

        Raises:
            BudgetReached: As much as the budget has been spent.
        """
        with self._lock:
            if self.budget_usd is not None and self.spent_usd >= self.budget_usd:
                raise BudgetReached(f"spent ${self.spent_usd:.4f} of a budget of ${self.budget_usd:.4f}")
            self.calls += 1
            self.retries += is_retry

    def counted(self) -> dict[str, float]:
        """All counts by name, so that a run can be gone on with."""
        with self._lock:
            return {name: getattr(self, name) for name in _COUNTS}

    def restore(self, counted: dict[str, float]) -> None:
        """Go on from the counts of an earlier run."""
        with self._lock:
            self.spent_usd = counted["spent_usd"]
            for name in _COUNTS[1:]:
                setattr(self, name, int(counted[name]))

    def add(self, usage: Usage, cost_usd: float | None) -> None:
        """Count what a call has cost."""
        with self._lock:
            self.input_tokens += usage.input_tokens or 0
            self.output_tokens += usage.output_tokens or 0
            self.spent_usd += cost_usd or 0.0
            self.calls_without_price += cost_usd is None
