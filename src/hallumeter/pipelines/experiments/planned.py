"""What one model of an experiment would be asked, and what that would cost."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from hallumeter.providers.language_models import Price, Usage
from hallumeter.runner.retrying import cost_usd


class PlannedCalls(Struct, frozen=True, kw_only=True):
    """Questions that are left, with their cost."""

    name: str
    calls: int
    """Questions that have no answer yet."""
    answered: int
    """Questions that were answered before."""
    input_tokens: int | None
    """Estimated; None for who is no language model, and may count otherwise."""
    output_tokens: int | None
    price: Price | None = None
    is_free: bool = False
    """Whether code answers, and nobody is paid."""

    @property
    def cost_usd(self) -> float | None:
        """Estimated; None when the price is not known."""
        return 0.0 if self.is_free else cost_usd(Usage(self.input_tokens, self.output_tokens), self.price)


def planned_cost(planned: Iterable[PlannedCalls]) -> float | None:
    """Of all together; None when some price is not known."""
    costs = [each.cost_usd for each in planned if each.calls]
    return None if None in costs else sum(cost for cost in costs if cost is not None)
