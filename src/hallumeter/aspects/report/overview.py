"""What is told first of aspects that agents found in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from hallumeter.records.measurement import Summary
from hallumeter.report.document import Fact
from hallumeter.report.languages.speaking import message
from hallumeter.report.overview import Rows, confidence, count, fact, names, number, share, shares, signed, signeds

FIGURES = ("aspect_hallucination_rate", "filter_rejection_rate", "tuple_f1_final", "delta_f1")

_DROPPED = message(
    "A hallucinated aspect stands in {count} of {total} sentences: {share} ({confidence} {interval}). By class: not in "
    "the text (H1) {first}, at the wrong place (H2) {second}, no target (filter) {filtered}."
)
_STAGE_UP = message(
    "The second stage raised F1 from {before} to {after}: {difference} for a sentence ({confidence} {interval})."
)
_STAGE_DOWN = message(
    "The second stage lowered F1 from {before} to {after}: {difference} for a sentence ({confidence} {interval})."
)
_STAGE_EQUAL = message(
    "The second stage is not shown to change F1, {before} before it and {after} after it: {difference} for a sentence "
    "({confidence} {interval})."
)
_NO_GOLD = message("What the second stage did to F1 cannot be told: no sentence has gold and both stages.")
_BLAMED = message("Most errors against gold were introduced by {steps}: {count} of {total} that it could have made.")
_BLAMED_ALL = message("Most errors against gold were introduced by {steps}, {count} each.")
_UNGROUNDED = message(
    "Most aspects that are not in the text were introduced by {steps}: {count} of {total} that it passed on."
)
_FAILED = message("Sentences that failed: {failed} of {total}.")


def aspect_facts(summary: Summary, headline: str | None, level: float) -> Iterator[Fact]:
    """What was dropped and why, what the second stage did, and who introduced most errors."""
    rows = Rows(summary, headline)
    yield from _drop_facts(rows, level)
    yield from _stage_facts(rows, level)
    yield from _blame_facts(rows)
    found = summary.aspects
    if found is not None and found.failed:
        yield fact("failed", _FAILED, failed=count(found.failed), total=count(found.samples))


def _drop_facts(rows: Rows, level: float) -> Iterator[Fact]:
    all_kinds = rows.whole("aspect_hallucination_rate")
    parts = {
        "first": rows.whole("aspect_hallucination_rate_h1"),
        "second": rows.whole("aspect_hallucination_rate_h2"),
        "filtered": rows.whole("filter_rejection_rate"),
    }
    if all_kinds is None or all_kinds.value is None or all_kinds.interval is None:
        return
    told = {part: share(row.value) for part, row in parts.items() if row is not None and row.value is not None}
    if len(told) == len(parts):
        yield fact(
            "dropped",
            _DROPPED,
            count=count(all_kinds.count or 0),
            total=count(all_kinds.total or 0),
            share=share(all_kinds.value),
            confidence=confidence(level),
            interval=shares(all_kinds.interval),
            **told,
        )


def _stage_facts(rows: Rows, level: float) -> Iterator[Fact]:
    before, after, change = (rows.whole(metric) for metric in ("tuple_f1_s1", "tuple_f1_final", "delta_f1"))
    if change is None:
        return
    if change.value is None or change.interval is None or before is None or after is None:
        yield fact("stages", _NO_GOLD)
        return
    if before.value is None or after.value is None:
        return
    low, high = change.interval
    sentence = _STAGE_UP if low > 0 else _STAGE_DOWN if high < 0 else _STAGE_EQUAL
    yield fact(
        "stages",
        sentence,
        before=number(before.value),
        after=number(after.value),
        difference=signed(change.value),
        confidence=confidence(level),
        interval=signeds(change.interval),
    )


def _blame_facts(rows: Rows) -> Iterator[Fact]:
    """The step with most errors, against gold where there is any, else of aspects that are not in the text."""
    blamed = [row for row in rows.by("step_introduction_rate", "step", "error") if row.count and row.total]
    for error, sentence in (("against_gold", _BLAMED), ("ungrounded", _UNGROUNDED)):
        own = [row for row in blamed if row.by["error"] == error]
        if not own:
            continue
        most = max(row.count or 0 for row in own)
        first = [row for row in own if row.count == most]
        steps = names(row.by["step"] for row in first)
        if len(first) == 1:
            yield fact("blame", sentence, steps=steps, count=count(most), total=count(first[0].total or 0))
        elif error == "against_gold":
            yield fact("blame", _BLAMED_ALL, steps=steps, count=count(most))
        return
