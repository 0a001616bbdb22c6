"""How numbers and outcomes are written, the same in every renderer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hallumeter.instruments import instrument_of
from hallumeter.records.claim import Label
from hallumeter.records.measurement import MetricSummary
from hallumeter.records.ranking import Direction

from .document import Coverage
from .languages.speaking import message, say, say_count, written

LABEL_WORDS: dict[Label | None, str] = {
    Label.REFUTED: message("Refuted"),
    Label.NOT_ENOUGH_INFO: message("Not enough info"),
    Label.UNDECIDED: message("Undecided"),
    None: message("No verdict"),
    Label.SUPPORTED: message("Supported"),
}
"""Worst first; None is a claim that has no verdict because the measurement failed."""
DIRECTION_WORDS: dict[Direction, tuple[str, str]] = {
    "lower": ("↓", message("lower is better")),
    "higher": ("↑", message("higher is better")),
    "none": ("", message("neither way is better")),
}
"""An arrow and what it means."""
NO_VALUE = "–"
ALL_JUDGES = message("all judges")
"""Who a figure on the agreement of a whole panel belongs to."""


FIELD_WORDS = {"model": message("model"), "engine": message("engine"), "mode": message("mode")}
"""The fields that every run of an instrument has; others are called what the data calls them."""


def instrument_words(instrument: str) -> str:
    """What measured; a run may come from one that is not known here."""
    return say(instrument_of(instrument).runs.get(instrument, instrument))


def title_words(instrument: str, files: Sequence[str]) -> str:
    """The instrument and what it read; only the first two of many files.

    >>> title_words("audit", ["a.jsonl", "b.jsonl", "c.jsonl"]), title_words("audit", [])
    ('Audit: a.jsonl, b.jsonl, 1 more', 'Audit')
    """
    text = instrument_words(instrument)
    text = text[:1].upper() + text[1:]
    if not files:
        return text
    names = ", ".join(files[:2])
    if len(files) > 2:
        names = say("{names}, {count} more", names=names, count=format_count(len(files) - 2))
    return say("{instrument}: {names}", instrument=text, names=names)


def field_words(fields: Iterable[str]) -> str:
    """The names of fields in a row."""
    return ", ".join(say(FIELD_WORDS.get(name, name)) for name in fields)


def format_number(value: float, digits: int = 3) -> str:
    """A number with a fixed count of digits, that never shows 0 or 1 for what is not quite 0 or 1.

    >>> format_number(7 / 31), format_number(0.0001), format_number(0.9999), format_number(0)
    ('0.226', '<0.001', '>0.999', '0.000')
    """
    shown, step = f"{value:.{digits}f}", 10.0**-digits
    for whole in (-1.0, 0.0, 1.0):
        if float(shown) == whole != value:
            sign, bound = (">", whole - step) if value < whole else ("<", whole + step)
            return written(f"{sign}{bound:.{digits}f}")
    return written(shown)


def format_pair(pair: tuple[float, float] | None) -> str:
    """An interval or a pair of bounds.

    >>> format_pair((0.11, 0.37)), format_pair(None)
    ('0.110 – 0.370', '–')
    """
    return NO_VALUE if pair is None else f"{format_number(pair[0])} – {format_number(pair[1])}"


def format_cost(cost_usd: float) -> str:
    """Dollars; a cost that is not quite nothing is not shown as nothing.

    >>> format_cost(0.0421), format_cost(0.00002)
    ('0.0421', '<0.0001')
    """
    return format_number(cost_usd, 4)


def interval_words(confidence: float) -> str:
    """What an interval is called.

    >>> interval_words(0.95)
    '95 % interval'
    """
    return say("{percent} % interval", percent=written(f"{confidence * 100:g}"))


def format_count(count: float) -> str:
    """A count; weights and sums of shares keep two digits.

    >>> format_count(12345.0), format_count(2.5)
    ('12,345', '2.50')
    """
    return written(f"{count:,.0f}" if float(count).is_integer() else f"{count:,.2f}")


def format_counts(summary: MetricSummary) -> str:
    """What was counted, of how much; for a statistic that is no ratio of counts, how much it rests on."""
    if summary.total is None:
        return NO_VALUE
    if summary.count is None:
        return f"n = {format_count(summary.total)}"
    return f"{format_count(summary.count)} / {format_count(summary.total)}"


def value_words(summary: MetricSummary) -> str:
    """The value, or why there is none."""
    if summary.value is None:
        return say("undefined: {reason}", reason=summary.undefined or say("no reason was given"))
    return format_number(summary.value)


def unit_word(unit: str) -> str:
    """What a unit that is drawn or resampled is called; a field is called what the data calls it.

    >>> unit_word("response"), unit_word("patient_id")
    ('answer', 'patient_id')
    """
    return "answer" if unit == "response" else unit


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "response"), plural(12345, "response")
    ('1 response', '12,345 responses')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def coverage_words(coverage: Coverage) -> str:
    """Which responses are shown, and where the others are."""
    shown = coverage.worst + coverage.random
    if shown == coverage.responses:
        return say("All {count}, worst first.", count=format_count(shown))
    worst, drawn = format_count(coverage.worst), format_count(coverage.random)
    responses = say_count(coverage.responses, "{count} answer", "{count} answers")
    if coverage.random:
        text = say(
            "The {worst} worst and {random} random ones of {responses}; all are in verdicts.jsonl.",
            worst=worst,
            random=drawn,
            responses=responses,
        )
    else:
        text = say("The {worst} worst of {responses}; all are in verdicts.jsonl.", worst=worst, responses=responses)
    return f"{text} {too_large_words(coverage.too_large)}" if coverage.too_large else text


def too_large_words(left_out: int) -> str:
    """What was chosen, but would not fit."""
    return say("{count} more would make this file too large.", count=format_count(left_out))


def signed(value: float | None) -> str:
    """A difference with its sign.

    >>> signed(0.25), signed(-0.25), signed(None)
    ('+0.250', '-0.250', '–')
    """
    if value is None:
        return NO_VALUE
    return format_number(value) if value < 0 or format_number(value).startswith("<") else f"+{format_number(value)}"


def signed_pair(pair: tuple[float, float] | None) -> str:
    """The interval of a difference; a dash between its ends could be taken for a minus.

    >>> signed_pair((-0.551, 0.284)), signed_pair(None)
    ('-0.551 to +0.284', '–')
    """
    return NO_VALUE if pair is None else say("{low} to {high}", low=signed(pair[0]), high=signed(pair[1]))


def p_words(value: float | None) -> str:
    """A p value; one too small for its digits says so."""
    return NO_VALUE if value is None else format_number(value, 4)
