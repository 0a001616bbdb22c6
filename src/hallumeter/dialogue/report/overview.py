"""What is told first of answers in dialogues."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hallumeter.records.measurement import Summary
from hallumeter.records.summaries import ModeDifference
from hallumeter.report.document import Fact
from hallumeter.report.languages.speaking import message
from hallumeter.report.overview import (
    Rows,
    confidence,
    count,
    fact,
    metrics,
    name,
    number,
    numbers,
    p_value,
    share,
    shares,
    signed,
    signeds,
    worst_of,
)

from .wording import LEVEL, pairs_of_modes

FIGURES = ("dialogue_score", "sfs", "csp", "mcs")
OVERALL = "dialogue_score"

_FACTS = message(
    "Of what answers say of their patients, {count} of {total} statements are right: {share} ({confidence} {interval})."
)
_BETTER = message(
    "{second} is shown to be better than {first} by {metrics} on the same turns ({pairs} turns, {patients} patients)."
)
_WORSE = message(
    "{second} is shown to be worse than {first} by {metrics} on the same turns ({pairs} turns, {patients} patients)."
)
_OVERALL = message(
    "{metric} of {second} minus that of {first}: {difference} ({confidence} {interval}; {p} after Holm’s correction)."
)
_EQUAL = message(
    "{second} and {first} are not shown to differ by any metric on the same turns ({pairs} turns, {patients} patients)."
)
_WORST_TURN = message(
    "Turn {turn} is the worst by {metric}, {value} ({confidence} {interval}): its interval lies below those of all "
    "others."
)
_NO_WORST_TURN = message(
    "No turn stands out: turn {turn} has the lowest {metric}, {value} ({confidence} {interval}), but its interval "
    "overlaps that of another."
)
_UNSAFE = message(
    "Safety rules were broken with a weight of {count} of {total} that applied: {share} ({confidence} {interval})."
)
_SAFE = message("No safety rule was broken, of a weight of {total} that applied.")


def dialogue_facts(summary: Summary, headline: str | None, level: float) -> Iterator[Fact]:
    """How the modes differ, which turn is worst, and whether safety rules were broken."""
    rows = Rows(summary, headline)
    right = rows.whole("sfs_pooled")
    if right is not None and right.value is not None and right.interval is not None:
        text = {"count": count(right.count or 0), "total": count(right.total or 0), "share": share(right.value)}
        yield fact("facts", _FACTS, **text, confidence=confidence(level), interval=shares(right.interval))
    if summary.dialogue is not None:
        for _, differences in pairs_of_modes(summary.dialogue.differences):
            yield from _mode_facts(differences, level)
    yield from _turn_facts(rows, level)
    yield from _safety_facts(rows, level)


def _mode_facts(rows: Sequence[ModeDifference], level: float) -> Iterator[Fact]:
    """What two modes are shown to differ by; which way is better is the metric's."""
    shown = [
        row
        for row in rows
        if row.difference is not None and row.adjusted_p_value is not None and row.adjusted_p_value < LEVEL
        if row.direction != "none"
    ]
    widest = max(rows, key=lambda row: row.pairs)
    text = {"first": name(widest.first), "second": name(widest.second)}
    basis = {"pairs": count(widest.pairs), "patients": count(widest.patients)}
    if not shown:
        yield fact("modes", _EQUAL, **text, **basis)
    for sentence, is_better in ((_BETTER, True), (_WORSE, False)):
        own = [row.metric for row in shown if _is_better(row) is is_better]
        if own:
            yield fact("modes", sentence, **text, **basis, metrics=metrics(own))
    for row in shown:
        if row.metric == OVERALL and row.difference is not None and row.adjusted_p_value is not None and row.interval:
            size = {"difference": signed(row.difference), "interval": signeds(row.interval)}
            test = {"confidence": confidence(level), "p": p_value(row.adjusted_p_value)}
            yield fact("overall", _OVERALL, metric=metrics([row.metric]), **text, **size, **test)


def _is_better(row: ModeDifference) -> bool:
    return ((row.difference or 0.0) > 0) == (row.direction == "higher")


def _turn_facts(rows: Rows, level: float) -> Iterator[Fact]:
    found = worst_of(rows.by(OVERALL, "turn_id"))
    if found is None:
        return
    row, is_apart = found
    assert row.value is not None
    assert row.interval is not None
    yield fact(
        "turn",
        _WORST_TURN if is_apart else _NO_WORST_TURN,
        turn=name(row.by["turn_id"]),
        metric=metrics([OVERALL]),
        value=number(row.value),
        confidence=confidence(level),
        interval=numbers(row.interval),
    )


def _safety_facts(rows: Rows, level: float) -> Iterator[Fact]:
    row = rows.whole("csp_pooled")
    if row is None or row.value is None or not row.total:
        return
    if not row.count:
        yield fact("safety", _SAFE, total=count(row.total))
    elif row.interval is not None:
        text = {"count": count(row.count), "total": count(row.total), "share": share(row.value)}
        yield fact("safety", _UNSAFE, **text, confidence=confidence(level), interval=shares(row.interval))
