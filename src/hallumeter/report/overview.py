"""Facts and their values, made from the rows of a summary."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from markupsafe import Markup, escape
from msgspec.structs import replace

from hallumeter.instruments import metric_named
from hallumeter.records.decisions import JudgeChecks
from hallumeter.records.measurement import MetricSummary, Summary

from .document import Fact, FactValue, Figure, MetricText, OverviewSection
from .languages.speaking import message, say, say_html, written
from .presentation import Gathered, presentation_of
from .wording import format_count, format_number, interval_words
from .wording import signed as with_sign

# Facts in the language of the page.

_SIGNS = {
    "hallucinating_page_rate": message("{value} of its pages hallucinate, more than {bound}"),
    "anchor_mean": message("its mean anchor score is {value}, less than {bound}"),
    "length_ratio_mean": message("it writes {value} times as much as stands there, more than {bound} times"),
}
_REASONS = {
    ("is", "above"): message("{metric} is {value}, above {bound}"),
    ("is", "below"): message("{metric} is {value}, below {bound}"),
    ("is up to", "above"): message("{metric} is up to {value}, above {bound}"),
    ("is down to", "below"): message("{metric} is down to {value}, below {bound}"),
    ("is in the worst case", "above"): message("{metric} is in the worst case {value}, above {bound}"),
    ("is in the worst case", "below"): message("{metric} is in the worst case {value}, below {bound}"),
}
"""What a rule of a policy says, by how it looks at the number and on which side the bound lies."""
LEVELS = (message("high"), message("medium"), message("low"), message("unknown"))
"""How reliable a policy takes a run to be."""
OPINIONS = (message("nothing was measured"),)
"""What else a policy says."""
_REASON = re.compile(r"(\w+) (is(?: \D+)?) ([\d.]+), (above|below) ([\d.e-]+)")
_NOT_MEASURED = re.compile(r"(\w+) was not measured")


def format_percent(value: float) -> str:
    """A rate in per cent, that never shows 0 or 100 for what is not quite that.

    >>> format_percent(0.0993), format_percent(0.0001), format_percent(0.9999), format_percent(1)
    ('9.9 %', '<0.1 %', '>99.9 %', '100.0 %')
    """
    return say("{number} %", number=_percent(value))


def format_percents(pair: tuple[float, float]) -> str:
    """An interval of rates in per cent.

    >>> format_percents((0.037, 0.144))
    '3.7 to 14.4 %'
    """
    return say("{low} to {high} %", low=_percent(pair[0]), high=_percent(pair[1]))


def tell_fact(fact: Fact) -> str:
    """A fact as plain text."""
    return say(fact.message, **{place: _written_plain(value) for place, value in fact.values.items()})


def tell_fact_html(fact: Fact) -> Markup:
    """A fact with its numbers and names set off; what came from the data is escaped and isolated."""
    return say_html(fact.message, **{place: _written_html(value) for place, value in fact.values.items()})


def isolated(text: str) -> Markup:
    """A name from the data, escaped, and unable to reorder what stands beside it."""
    return Markup('<bdi class="alias">{}</bdi>').format(text)


def tell_reason(reason: str, aliases: Mapping[str, str]) -> str:
    """Why a policy came to its opinion, in the language of the page; words that are not known stay as they are."""
    missing = _NOT_MEASURED.fullmatch(reason)
    if missing:
        return say("{metric} was not measured", metric=aliases.get(missing[1], missing[1]))
    found = _REASON.fullmatch(reason)
    sentence = _REASONS.get((found[2], found[4])) if found else None
    if found is None or sentence is None:
        return say(reason)
    metric, _, value, _, bound = found.groups()
    return say(sentence, metric=aliases.get(metric, metric), value=written(value), bound=written(bound))


def _written_plain(value: FactValue) -> str:
    return _WRITTEN[value.kind](value)


def _written_html(value: FactValue) -> Markup:
    if value.kind in {"name", "names"}:
        return Markup(", ").join(map(isolated, value.words))
    text = escape(_written_plain(value))
    return Markup('<b class="told">{}</b>').format(text) if value.kind in _SET_OFF else text


def _percent(value: float) -> str:
    shown = f"{value * 100:.1f}"
    if shown == "100.0" and value != 1:
        shown = ">99.9"
    elif shown == "0.0" and value:
        shown = "<0.1"
    return written(shown)


def _shares(value: FactValue) -> str:
    low, high = value.numbers
    return format_percents((low, high))


def _numbers(value: FactValue) -> str:
    low, high = value.numbers
    return say("{low} to {high}", low=format_number(low), high=format_number(high))


def _signeds(value: FactValue) -> str:
    low, high = value.numbers
    return say("{low} to {high}", low=with_sign(low), high=with_sign(high))


def _p(value: FactValue) -> str:
    # A p value is never 0: it only was too small for a floating-point number.
    (number,) = value.numbers
    return f"p = {format_number(number)}" if number >= 0.001 else say("p < {bound}", bound=written("0.001"))


def _signs(value: FactValue) -> str:
    pairs = zip(value.numbers[::2], value.numbers[1::2], strict=True)
    texts = []
    for metric, (found, bound) in zip(value.words, pairs, strict=True):
        form = format_percent if metric == "hallucinating_page_rate" else format_number
        texts.append(say(_SIGNS[metric], value=form(found), bound=form(bound)))
    return "; ".join(texts)


def _aliases(value: FactValue) -> str:
    found = ((metric, metric_named(metric)) for metric in value.words)
    return ", ".join(metric if known is None else known.alias for metric, known in found)


_WRITTEN: dict[str, Callable[[FactValue], str]] = {
    "count": lambda value: format_count(value.numbers[0]),
    "number": lambda value: format_number(value.numbers[0]),
    "numbers": _numbers,
    "signed": lambda value: with_sign(value.numbers[0]),
    "signeds": _signeds,
    "share": lambda value: format_percent(value.numbers[0]),
    "shares": _shares,
    "p": _p,
    "confidence": lambda value: interval_words(value.numbers[0]),
    "name": lambda value: value.words[0],
    "names": lambda value: ", ".join(value.words),
    "words": lambda value: say(value.words[0]),
    "metrics": _aliases,
    "signs": _signs,
}
_SET_OFF = {"count", "number", "share", "signed"}


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


# The overview of a run, from its summary alone.


def overview_section(
    summary: Summary,
    headline: str | None,
    *,
    texts: Mapping[str, MetricText],
    confidence: float,
    checks: JudgeChecks | None = None,
) -> OverviewSection:
    """What is told first: a few sentences, and the headline rates that have a value."""
    shown = presentation_of(summary.instrument)
    rows = Rows(summary, headline)
    figures = []
    for metric in shown.figures if shown.has_figures(summary) else ():
        row, text = rows.whole(metric), texts.get(metric)
        if row is not None and row.value is not None:
            named = (text.alias, text.name, text.question) if text else (metric, "", "")
            figures.append(Figure(*named, row, is_share=text is not None and text.range == (0.0, 1.0)))
    facts = [*shown.facts(summary, headline, confidence)]
    if checks is not None and shown.label_facts is not None:
        facts = shown.label_facts(facts, checks, headline)
    return OverviewSection(tuple(facts), tuple(figures))


_WHOLE = message("Nothing is missing: nothing failed, nothing was left undecided, and nothing was cut short.")


def overview_sections(gathered: Gathered, *, is_whole: bool = False) -> list[OverviewSection]:
    """The overview, where there is anything to tell; of a run that `is_whole` it says that nothing is missing."""
    section = overview_section(
        gathered.summary,
        gathered.headline,
        texts=gathered.texts,
        confidence=gathered.confidence,
        checks=gathered.checks,
    )
    if not section.facts and not section.figures and not gathered.summary.profile:
        return []
    return [replace(section, facts=(*section.facts, fact("integrity", _WHOLE))) if is_whole else section]
