"""Facts in the language of the page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from hallumeter.metrics.catalog import METRICS_BY_ID
from hallumeter.report.dialogue.wording import signed
from hallumeter.report.languages.speaking import message, say, say_html, written
from hallumeter.report.wording import format_count, format_number, interval_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .sections import Fact, FactValue

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


def tell_fact(fact: Fact) -> str:
    """A fact as plain text."""
    return say(fact.message, **{place: _told(value) for place, value in fact.values.items()})


def tell_fact_html(fact: Fact) -> Markup:
    """A fact with its numbers and names set off; what came from the data is escaped and isolated."""
    return say_html(fact.message, **{place: _told_html(value) for place, value in fact.values.items()})


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


def _told(value: FactValue) -> str:
    return _WRITTEN[value.kind](value)


def _told_html(value: FactValue) -> Markup:
    if value.kind in {"name", "names"}:
        return Markup(", ").join(map(isolated, value.words))
    told = escape(_told(value))
    return Markup('<b class="told">{}</b>').format(told) if value.kind in _SET_OFF else told


def _percent(value: float) -> str:
    shown = f"{value * 100:.1f}"
    if shown == "100.0" and value != 1:
        shown = ">99.9"
    elif shown == "0.0" and value:
        shown = "<0.1"
    return written(shown)


def _shares(value: FactValue) -> str:
    low, high = value.numbers
    return say("{low} to {high} %", low=_percent(low), high=_percent(high))


def _numbers(value: FactValue) -> str:
    low, high = value.numbers
    return say("{low} to {high}", low=format_number(low), high=format_number(high))


def _signeds(value: FactValue) -> str:
    low, high = value.numbers
    return say("{low} to {high}", low=signed(low), high=signed(high))


def _p(value: FactValue) -> str:
    # A p value is never 0: it only was too small for a floating-point number.
    (number,) = value.numbers
    return f"p = {format_number(number)}" if number >= 0.001 else say("p < {bound}", bound=written("0.001"))


def _signs(value: FactValue) -> str:
    pairs = zip(value.numbers[::2], value.numbers[1::2], strict=True)
    told = []
    for metric, (found, bound) in zip(value.words, pairs, strict=True):
        form = format_percent if metric == "hallucinating_page_rate" else format_number
        told.append(say(_SIGNS[metric], value=form(found), bound=form(bound)))
    return "; ".join(told)


def _aliases(value: FactValue) -> str:
    return ", ".join(METRICS_BY_ID[metric].alias if metric in METRICS_BY_ID else metric for metric in value.words)


_WRITTEN: dict[str, Callable[[FactValue], str]] = {
    "count": lambda value: format_count(value.numbers[0]),
    "number": lambda value: format_number(value.numbers[0]),
    "numbers": _numbers,
    "signed": lambda value: signed(value.numbers[0]),
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
