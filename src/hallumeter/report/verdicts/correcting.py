"""What is said of rates that labels corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.report.languages.speaking import message
from hallumeter.report.overview.facts import confidence, count, fact, name, number, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hallumeter.records.decisions.correction import CorrectedRate, Correction
    from hallumeter.report.overview.sections import Fact

CODE = "correction"
_CORRECTED = message(
    "Corrected for the errors of {judge} by {labels} labelled claims, the share of unsupported claims is {value} "
    "({confidence} {interval}); the judge says {raw}."
)


def correction_facts(found: Correction) -> Iterator[Fact]:
    """What the overview says: the corrected share of unsupported claims."""
    rate = next((each for each in found.rates if each.metric == "mihr" and not each.by), None)
    if rate is None or rate.corrected.value is None or rate.corrected.interval is None or rate.raw.value is None:
        return
    yield fact(
        CODE,
        _CORRECTED,
        judge=name(found.judge),
        labels=count(rate.labelled),
        value=number(rate.corrected.value),
        confidence=confidence(found.confidence),
        interval=numbers(rate.corrected.interval),
        raw=number(rate.raw.value),
    )


def shown_rates(found: Correction) -> list[CorrectedRate]:
    """The rates of the whole run."""
    return [rate for rate in found.rates if not rate.by]
