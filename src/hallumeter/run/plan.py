"""What a run would take: calls, tokens and dollars, before anything is paid."""

from __future__ import annotations

from msgspec import Struct

from hallumeter.models.prices import Price
from hallumeter.models.protocol import Usage
from hallumeter.models.retry import cost_usd


class PlannedCalls(Struct, frozen=True, kw_only=True):
    """What one model would still be asked, and what that would cost."""

    name: str
    title: str
    """The name, with what the model is asked for."""
    calls: int
    """Questions that have no answer yet."""
    answered: int
    """Questions that were answered before, or claims whose verdicts are in the cache."""
    done: str
    """The same in words."""
    input_tokens: int | None
    """Estimated; None for who is no language model, and may count otherwise."""
    output_tokens: int | None
    price: Price | None = None
    free: str | None = None
    """Why nobody is paid; None where somebody may be."""

    @property
    def cost_usd(self) -> float | None:
        """Estimated; None when the price is not known."""
        return 0.0 if self.free else cost_usd(Usage(self.input_tokens, self.output_tokens), self.price)


class RunPlan(Struct, frozen=True):
    """What a run would take."""

    heading: str
    """How much there is to work on."""
    parts: tuple[PlannedCalls, ...]
    """One for each model."""
    notices: tuple[str, ...] = ()
    counted: str = "estimated, without retries"
    """How the tokens were counted."""

    @property
    def cost_usd(self) -> float | None:
        """None when the price of a model that would be asked is not known."""
        costs = [part.cost_usd for part in self.parts if part.calls]
        return None if None in costs else sum(cost for cost in costs if cost is not None)
