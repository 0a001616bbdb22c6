"""From what was found in an answer to its rates, and from the rates of many answers to those of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hallumeter.records import Rate, Rates, TurnRates

from .actionability import actionability
from .consistency import consistency
from .context import context_utilisation, slots_used
from .safety import contraindication_penalty
from .slots import slot_factuality

if TYPE_CHECKING:
    from hallumeter.records import TurnColumns, TurnFindings

NOTHING = Rate(0, 0)


def turn_rates(findings: TurnFindings, overall: Rate = NOTHING) -> TurnRates:
    """Every rate of one answer.

    >>> from hallumeter.records import TurnFindings
    >>> turn_rates(TurnFindings()).factuality.value is None
    True
    """
    return TurnRates(
        factuality=slot_factuality(findings.slots),
        penalty=contraindication_penalty(findings.rules),
        utilisation=context_utilisation(findings.uses),
        slots_used=slots_used(findings.uses),
        consistency=consistency(findings.consistency),
        actionability=actionability(findings.elements),
        overall=overall,
    )


def pooled(turns: TurnColumns, name: str) -> Rates:
    """The sums of each answer: pooled, answers that say more weigh more."""
    return turns.column(name)


def mean_of(turns: TurnColumns, name: str) -> Rates:
    """The value of each answer, every answer counting once; answers without a value count nowhere."""
    rates = turns.column(name)
    shares = np.zeros(len(rates))
    np.divide(rates.counts, rates.totals, out=shares, where=rates.totals > 0)
    return Rates(shares, (rates.totals > 0).astype(np.float64))
