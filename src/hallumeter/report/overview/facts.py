"""Facts and their values, made from the rows of a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .sections import Fact, FactValue

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hallumeter.records import MetricSummary, Summary


class Rows:
    """The rows of a summary that the headline rests on."""

    def __init__(self, summary: Summary, headline: str | None) -> None:
        self._rows = [row for row in summary.metrics if row.judge in {None, headline}]
        self._panel = [row for row in summary.metrics if not row.by]

    def whole(self, metric: str) -> MetricSummary | None:
        """The row of the whole run; None when there is none."""
        return next((row for row in self._rows if row.metric == metric and not row.by), None)

    def panel(self, metric: str) -> MetricSummary | None:
        """The row of all judges together."""
        return next((row for row in self._panel if row.metric == metric), None)

    def by(self, metric: str, *fields: str) -> list[MetricSummary]:
        """The rows of the groups that these fields make."""
        return [row for row in self._rows if row.metric == metric and tuple(row.by) == fields]

    def single_fields(self, metric: str) -> list[str]:
        """The fields that make groups by themselves."""
        found = [row.by for row in self._rows if row.metric == metric and len(row.by) == 1]
        return list(dict.fromkeys(next(iter(by)) for by in found))


def worst_of(rows: Sequence[MetricSummary]) -> tuple[MetricSummary, bool] | None:
    """The group with the worst value, and whether its interval lies apart from those of all others.

    None with fewer than two groups that have an interval: one alone is not the worst of anything.
    """
    known = [row for row in rows if row.value is not None and row.interval is not None]
    if len(known) < 2:
        return None
    is_lower_better = known[0].direction == "lower"
    worst = (max if is_lower_better else min)(known, key=lambda row: row.value or 0.0)
    others = [row.interval for row in known if row is not worst and row.interval is not None]
    low, high = worst.interval or (0.0, 0.0)
    is_apart = all(low > other[1] if is_lower_better else high < other[0] for other in others)
    return worst, is_apart


def fact(code: str, message: str, **values: FactValue | None) -> Fact:
    """A fact; a value that is None is left out, for a place that the message does not have."""
    return Fact(code, message, {name: value for name, value in values.items() if value is not None})


def count(value: float) -> FactValue:
    """A count, such as 1,234."""
    return FactValue("count", (value,))


def share(value: float) -> FactValue:
    """A rate, told in per cent."""
    return FactValue("share", (value,))


def shares(pair: tuple[float, float]) -> FactValue:
    """An interval of rates, told in per cent."""
    return FactValue("shares", pair)


def number(value: float) -> FactValue:
    """A number with three digits."""
    return FactValue("number", (value,))


def numbers(pair: tuple[float, float]) -> FactValue:
    """An interval of numbers."""
    return FactValue("numbers", pair)


def signed(value: float) -> FactValue:
    """A difference with its sign."""
    return FactValue("signed", (value,))


def signeds(pair: tuple[float, float]) -> FactValue:
    """An interval of a difference."""
    return FactValue("signeds", pair)


def p_value(value: float) -> FactValue:
    """A p value."""
    return FactValue("p", (value,))


def confidence(value: float) -> FactValue:
    """What an interval is called."""
    return FactValue("confidence", (value,))


def name(text: str) -> FactValue:
    """A name from the data."""
    return FactValue("name", words=(text,))


def names(texts: Iterable[str]) -> FactValue:
    """Names in a row."""
    return FactValue("names", words=tuple(texts))


def metrics(ids: Iterable[str]) -> FactValue:
    """Metrics in a row, by the names that the literature knows."""
    return FactValue("metrics", words=tuple(ids))


def words(text: str) -> FactValue:
    """Words of ours, such as why something is undefined."""
    return FactValue("words", words=(text,))
