"""A calibration for a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from hallumeter.decide.correct import census_words
from hallumeter.records.decisions import (
    AcceptanceThreshold,
    Calibration,
    ProbabilityScores,
    Reliability,
    ReliabilityBin,
)
from hallumeter.report.table import Column, Line, Table, escaped, markdown, terminal, terminal_width
from hallumeter.report.wording import NO_VALUE, format_count, format_number, format_pair, interval_words, unit_word

# A reliability diagram in characters.

WIDTH = 31
"""Characters from 0 to 1."""
PROMISED, TRUE, BETWEEN = "|", "o", "-"


def diagram_scale() -> str:
    """The head of the column: from 0 to 1, and what the signs are.

    >>> len(diagram_scale()) == WIDTH
    True
    """
    return "0" + "| mean, o true".center(WIDTH - 2) + "1"


def diagram_line(each: ReliabilityBin) -> str:
    """One bin: the interval of what is true, its share, and the probability that was promised.

    >>> from hallumeter.records.decisions import ReliabilityBin
    >>> diagram_line(ReliabilityBin(0.2, 0.3, 50, 0.25, 0.5, (0.4, 0.6)))
    '        |   ---o---            '
    """
    signs = [" "] * WIDTH
    if each.interval is not None:
        for place in range(_place(each.interval[0]), _place(each.interval[1]) + 1):
            signs[place] = BETWEEN
    signs[_place(each.share)] = TRUE
    if _place(each.mean_probability) != _place(each.share):
        signs[_place(each.mean_probability)] = PROMISED
    return "".join(signs)


def _place(share: float) -> int:
    return round(share * (WIDTH - 1))


NARROW = 96
"""Columns below which numbers of an interval and its drawing do not fit beside each other."""
_INTERVAL = 4
"""Which column of the table of probabilities has the interval."""
_RISK_NAMES = {
    "among_accepted": "hallucinated among accepted",
    "of_all": "hallucinated and accepted",
    "missed": "accepted among hallucinated",
}


def calibration_text(calibration: Calibration, *, width: int | None = None, has_color: bool = False) -> str:
    """The promise, the thresholds, and how far probabilities can be believed."""
    style = "bold green" if calibration.is_promised else "bold yellow"
    parts: list[Table | Line] = [
        Line(_title(calibration), "bold"),
        Line(census_words(calibration.labels)),
        *_tables(calibration, has_diagram=True, is_narrow=(width or terminal_width()["width"]) < NARROW),
        *map(Line, _reliability_lines(calibration)),
        Line(),
        *(Line(line, style) for line in promise_lines(calibration)),
    ]
    return terminal(parts, width=width, has_color=has_color)


def calibration_markdown(calibration: Calibration) -> str:
    """The same as tables for a comment."""
    lines = [f"### {escaped(_title(calibration))}", "", *(f"- {escaped(line)}" for line in promise_lines(calibration))]
    lines += [f"- {escaped(census_words(calibration.labels))}"]
    for table in _tables(calibration, has_diagram=False):
        lines += ["", f"**{escaped(table.title)}**", "", *markdown(table)]
    texts = list(_reliability_lines(calibration))
    lines += ["", *(f"- {line}" for line in texts)] if texts else []
    if calibration.notices:
        lines += ["", *(f"- note: {escaped(notice)}" for notice in calibration.notices)]
    return "\n".join(lines) + "\n"


def promise_lines(calibration: Calibration) -> Iterator[str]:
    """What is promised of each slice, or why nothing is; then what would be needed."""
    rows = calibration.thresholds
    if len(rows) == 1:
        yield _promised(rows[0], calibration) if rows[0].threshold is not None else _refused(rows[0], calibration)
    else:
        promised = f"{calibration.promise.words} ({_surety(calibration)})"
        yield f"Accept {unit_word(calibration.unit)}s up to these probabilities: {promised}"
        yield from (f"  {slice_words(row)}: {_short(row, calibration)}" for row in rows)
    refused = [row for row in rows if row.threshold is None]
    if refused and refused[0].fewest_clean is not None:
        yield _needed(calibration, refused[0].fewest_clean)
    if calibration.promise.confidence is not None and len(rows) > 1 and not calibration.promise.is_joint:
        yield "Each row keeps its promise with this confidence on its own, not all at once; --jointly asks for that."


def slice_words(row: AcceptanceThreshold) -> str:
    """The slice of a row."""
    return ", ".join(f"{field}={value}" for field, value in row.by.items()) or "all"


def _title(calibration: Calibration) -> str:
    return f"{calibration.run} · {calibration.promise.words} · {_surety(calibration)} · judge {calibration.judge}"


def _surety(calibration: Calibration) -> str:
    promise = calibration.promise
    if promise.confidence is None:
        return "on average"
    jointly = ", all rows at once" if promise.is_joint else ""
    return f"confidence {promise.confidence * 100:g} %{jointly}"


def _promised(row: AcceptanceThreshold, calibration: Calibration) -> str:
    what = "an answer when no claim has" if calibration.unit == "response" else "a claim unless it has"
    return (
        f"Accept {what} a probability above {row.threshold!r}: {calibration.promise.words} ({_surety(calibration)}). "
        f"That accepts {row.accepted:,} of {row.units:,} {unit_word(calibration.unit)}s."
    )


def _refused(row: AcceptanceThreshold, calibration: Calibration) -> str:
    best = _best(row)
    text = f" The best that can be promised is {best}." if best else ""
    return f"No threshold can promise {calibration.promise.words!r}: {row.why_not}.{text}"


def _short(row: AcceptanceThreshold, calibration: Calibration) -> str:
    """The same of one slice among others."""
    if row.threshold is not None:
        return f"{row.threshold!r}, which accepts {row.accepted:,} of {row.units:,} {unit_word(calibration.unit)}s"
    best = _best(row)
    return f"none, {row.why_not}" + (f"; at best {best}" if best else "")


def _best(row: AcceptanceThreshold) -> str:
    if row.best_limit is None or row.best_limit >= 1:
        return ""
    where = f"at the threshold {row.best_threshold!r}, with {row.best_labelled_accepted:,} labelled accepted"
    return f"{_up(row.best_limit)} {where}"


def _needed(calibration: Calibration, fewest: int) -> str:
    is_missed = calibration.promise.risk == "missed"
    kind, fault = ("hallucinated", "a miss") if is_missed else ("accepted", "a hallucination")
    text = f"It takes {fewest:,} labelled {kind} {unit_word(calibration.unit)}s without {fault} at the least"
    if calibration.unit != calibration.cluster:
        return f"{text}, each of another {unit_word(calibration.cluster)}."
    return f"{text}."


def _tables(calibration: Calibration, *, has_diagram: bool, is_narrow: bool = False) -> Iterator[Table]:
    rows = calibration.thresholds
    first = ["slice"] if len(rows) > 1 else []
    names = [
        *first,
        "threshold",
        "labelled",
        "accepted of these",
        "hallucinated",
        "estimate",
        "at most",
        "run accepted",
    ]
    yield Table(
        _columns(names, has_diagram=has_diagram),
        [[*([slice_words(row)] if first else []), *_row_cells(row)] for row in rows],
        f"Thresholds for {unit_word(calibration.unit)}s: {_RISK_NAMES[calibration.promise.risk]}",
    )
    if calibration.reliability is not None:
        table = _reliability_table(calibration, calibration.reliability, has_diagram=has_diagram)
        if is_narrow:
            # The diagram draws the interval; its numbers are in the other forms.
            kept = [place for place in range(len(table.columns)) if place != _INTERVAL]
            table = Table(
                [table.columns[place] for place in kept],
                [[row[place] for place in kept] for row in table.rows],
                table.title,
            )
        yield table


def _row_cells(row: AcceptanceThreshold) -> list[str]:
    labelled = f"{row.labelled:,} of {row.units:,}"
    if row.threshold is None:
        return ["none", labelled, NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE]
    share = row.accepted_share
    return [
        repr(row.threshold),
        labelled,
        f"{row.labelled_accepted:,}",
        format_count(row.hallucinated),
        NO_VALUE if row.risk is None else format_number(row.risk),
        NO_VALUE if row.upper_bound is None else format_number(row.upper_bound),
        NO_VALUE if share is None else f"{share:.1%}",
    ]


def _columns(names: list[str], *, has_diagram: bool) -> list[Column]:
    """Numbers stand at the right where there is a diagram, which is in a terminal."""
    return [Column(name, is_right=has_diagram and name not in {"slice", "probability"}) for name in names]


def _reliability_table(calibration: Calibration, found: Reliability, *, has_diagram: bool) -> Table:
    names = ["probability", "labelled", "mean", "hallucinated", interval_words(calibration.confidence)]
    return Table(
        [*_columns(names, has_diagram=has_diagram), *([Column(diagram_scale())] if has_diagram else [])],
        [[*_bin_cells(each), *([diagram_line(each)] if has_diagram else [])] for each in found.bins],
        f"Reliability of {calibration.judge}'s probabilities, {unit_word(calibration.unit)}s",
    )


def _bin_cells(each: ReliabilityBin) -> list[str]:
    return [
        f"{each.low:.1f} – {each.high:.1f}",
        f"{each.labelled:,}",
        format_number(each.mean_probability),
        format_number(each.share),
        format_pair(each.interval),
    ]


def _reliability_lines(calibration: Calibration) -> Iterator[str]:
    found = calibration.reliability
    if found is None:
        return
    yield f"Before: {_scores(found.before)}"
    if found.after is None or found.brier_change is None:
        yield "After: not known, the labels are of a single cluster"
        return
    how = f"{found.mapping.method}, fitted without the {unit_word(calibration.cluster)} it is tried on"
    yield f"After: {_scores(found.after)} ({how})"
    yield f"Change of the Brier score: {found.brier_change:+.3f}  {_change(found)}".rstrip()


def _scores(scores: ProbabilityScores) -> str:
    brier = f"{format_number(scores.brier)}  {format_pair(scores.brier_interval)}"
    return f"ECE {format_number(scores.ece)}, Brier score {brier}"


def _change(found: Reliability) -> str:
    pair = found.brier_change_interval
    return "" if pair is None else f"{pair[0]:+.3f} – {pair[1]:+.3f}"


def _up(share: float) -> str:
    """A share that is promised, never rounded to less."""
    return f"{-(-share * 1000 // 1) / 10:g}%"
