"""One sentence on whether a panel would agree better without one of its judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from hallumeter.policy import judges_apart
from hallumeter.report.languages.speaking import message, say, say_html
from hallumeter.report.overview.telling import isolated
from hallumeter.report.wording import format_number, format_pair

from .sections import PanelAdvice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.records import MetricSummary

NOBODY = message("No judge stands out: without any one of them, the others do not agree better by more than chance.")
_APART = message(
    "Without {judge} the others agree better (alpha {before} → {after}, gain {gain}, intervals in brackets): consider "
    "dropping it. Agreement is not correctness: keep it if it is the judge you trust."
)
_ALSO = message("The same holds for {judges}; leave out one at a time.")


def panel_advice(rows: Sequence[MetricSummary]) -> PanelAdvice | None:
    """What the rows of a whole run say about dropping a judge; None when no judge could be left out."""
    whole = [row for row in rows if not row.by]
    if all(row.value is None for row in whole if row.metric == "alpha_gain_without"):
        return None
    apart = judges_apart(whole)
    if not apart:
        return PanelAdvice(None)
    judge = apart[0]
    found = {row.metric: row for row in whole if row.judge == judge or row.metric == "krippendorff_alpha"}
    figures = tuple(found.get(name) for name in ("krippendorff_alpha", "alpha_without", "alpha_gain_without"))
    return PanelAdvice(judge, figures, apart[1:])


def advice_text(advice: PanelAdvice) -> str:
    """The sentence as plain text."""
    if advice.judge is None:
        return say(NOBODY)
    told = say(_APART, judge=advice.judge, **_figures(advice))
    return f"{told} {say(_ALSO, judges=', '.join(advice.also))}" if advice.also else told


def advice_html(advice: PanelAdvice) -> Markup:
    """The sentence with the names of judges isolated."""
    if advice.judge is None:
        return say_html(NOBODY)
    told = say_html(_APART, judge=isolated(advice.judge), **_figures(advice))
    if not advice.also:
        return told
    return Markup(" ").join([told, say_html(_ALSO, judges=Markup(", ").join(map(isolated, advice.also)))])


def _figures(advice: PanelAdvice) -> dict[str, str]:
    return dict(zip(("before", "after", "gain"), map(_figure, advice.figures), strict=True))


def _figure(row: MetricSummary | None) -> str:
    if row is None or row.value is None:
        return say("undefined")
    return format_number(row.value) + (f" [{format_pair(row.interval)}]" if row.interval else "")
