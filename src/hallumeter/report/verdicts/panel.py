"""One sentence on whether a panel would agree better without one of its judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.policy import judges_apart
from hallumeter.report.document import PanelAdvice
from hallumeter.report.wording import format_number, format_pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.records import MetricSummary

NOBODY = "No judge stands out: without any one of them, the others do not agree better by more than chance."
CAUTION = "Agreement is not correctness: keep it if it is the judge you trust."


def panel_advice(rows: Sequence[MetricSummary]) -> PanelAdvice | None:
    """What the rows of a whole run say about dropping a judge; None when no judge could be left out."""
    whole = [row for row in rows if not row.by]
    if all(row.value is None for row in whole if row.metric == "alpha_gain_without"):
        return None
    apart = judges_apart(whole)
    if not apart:
        return PanelAdvice(None, NOBODY)
    judge = apart[0]
    found = {row.metric: row for row in whole if row.judge == judge or row.metric == "krippendorff_alpha"}
    before, after, gain = (found.get(name) for name in ("krippendorff_alpha", "alpha_without", "alpha_gain_without"))
    figures = f"alpha {_figure(before)} → {_figure(after)}, gain {_figure(gain)}, intervals in brackets"
    return PanelAdvice(judge, f"the others agree better ({figures}): consider dropping it. {CAUTION}", apart[1:])


def advice_text(advice: PanelAdvice) -> str:
    """The sentence as plain text."""
    if advice.judge is None:
        return advice.words
    more = f" The same holds for {', '.join(advice.also)}; leave out one at a time." if advice.also else ""
    return f"Without {advice.judge} {advice.words}{more}"


def _figure(row: MetricSummary | None) -> str:
    if row is None or row.value is None:
        return "undefined"
    return format_number(row.value) + (f" [{format_pair(row.interval)}]" if row.interval else "")
