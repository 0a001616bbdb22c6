"""What is told first of answers whose claims were judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from hallumeter.report.languages.speaking import message
from hallumeter.report.overview import (
    Rows,
    confidence,
    count,
    fact,
    name,
    number,
    numbers,
    share,
    shares,
    words,
    worst_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hallumeter.records.measurement import MetricSummary, Summary
    from hallumeter.report.document import Fact


FIGURES = ("mihr", "mahr", "expected_unsupported_rate", "far")

_RATE = message("Unsupported claims: {share} ({confidence} {interval}), {count} of {total}.")
_RATE_ALONE = message("Unsupported claims: {share}, {count} of {total}.")
_EXPECTED = message(
    "Which number to quote: for the whole set, the expected share, {share} ({confidence} {interval}), which adds up "
    "the judge's probabilities. Use the flagged claims to find what to fix."
)
_EXPECTED_ALONE = message(
    "Which number to quote: for the whole set, the expected share, {share}, which adds up the judge's probabilities. "
    "Use the flagged claims to find what to fix."
)
_NO_EXPECTED = message("There is no expected share of unsupported claims: {reason}.")
_NO_RATE = message("The share of unsupported claims is not known: {reason}.")
_RESPONSES = message(
    "Answers with at least one unsupported claim: {share} ({confidence} {interval}), {count} of {total}."
)
_RESPONSES_ALONE = message("Answers with at least one unsupported claim: {share}, {count} of {total}.")
_WORST = message("By {field}, {group} is the worst: {share} ({confidence} {interval}), clearly above all others.")
_NO_WORST = message(
    "By {field}, no group stands out: {group} has the highest share, {share} ({confidence} {interval}), but the "
    "intervals overlap."
)
_UNMEASURED = message(
    "{undecided} claims were left undecided and {failed} failed. Depending on how they turn out, the share lies "
    "between {best} and {worst}."
)
_AGREE = message(
    "The judges agree on {agreement} of the claims ({claims} claims, {judges} judges); corrected for chance, "
    "Krippendorff's alpha is {alpha} ({confidence} {interval})."
)
_AGREE_BARELY = message(
    "The judges agree on {agreement} of the claims ({claims} claims, {judges} judges); how much of that is chance is "
    "not known."
)
ONE_JUDGE = message(
    "One judge, {judge}, made all of these verdicts, and nobody has checked it on this data. Label some claims to find "
    "out how far to trust it."
)


def claim_facts(summary: Summary, headline: str | None, level: float) -> Iterator[Fact]:
    """How many claims are unsupported, where most, what is not known, and whether the judges agree."""
    rows = Rows(summary, headline)
    rate, responses = rows.whole("mihr"), rows.whole("mahr")
    if rate is not None:
        yield _rate_fact("unsupported", rate, (_RATE, _RATE_ALONE), level=level)
    if responses is not None and responses.value is not None:
        yield _rate_fact("responses", responses, (_RESPONSES, _RESPONSES_ALONE), level=level)
    if rate is not None:
        yield from _expected_facts(rows, level)
    yield from _group_facts(rows, level)
    if rate is not None and rate.value is not None:
        yield from _unmeasured_facts(rate)
    yield from _judge_facts(rows, summary, headline=headline, level=level)


def _rate_fact(code: str, row: MetricSummary, messages: tuple[str, str], *, level: float) -> Fact:
    if row.value is None or row.count is None or row.total is None:
        return fact(code, _NO_RATE, reason=words(row.undefined or ""))
    figures = {"count": count(row.count), "total": count(row.total), "share": share(row.value)}
    interval = row.interval and {"confidence": confidence(level), "interval": shares(row.interval)}
    told = fact(code, messages[0], **figures, **interval) if interval else fact(code, messages[1], **figures)
    return replace(told, figure=row.metric)


def _expected_facts(rows: Rows, level: float) -> Iterator[Fact]:
    """The expected share beside the flagged one, and which of the two to quote."""
    row = rows.whole("expected_unsupported_rate")
    if row is None:
        return
    if row.value is None:
        yield fact("expected", _NO_EXPECTED, reason=words(row.undefined or ""))
    elif row.interval is None:
        yield fact("expected", _EXPECTED_ALONE, share=share(row.value))
    else:
        figures = {"share": share(row.value), "confidence": confidence(level), "interval": shares(row.interval)}
        yield fact("expected", _EXPECTED, **figures)


def _group_facts(rows: Rows, level: float) -> Iterator[Fact]:
    """The group that stands out; where none does, the one that has the highest share by the first field."""
    found = [(field, worst_of(rows.by("mihr", field))) for field in rows.single_fields("mihr")]
    known = [(field, worst) for field, worst in found if worst is not None]
    for field, (row, is_apart) in sorted(known, key=lambda entry: not entry[1][1])[:1]:
        assert row.value is not None
        assert row.interval is not None
        yield fact(
            "group",
            _WORST if is_apart else _NO_WORST,
            field=name(field),
            group=name(row.by[field]),
            share=share(row.value),
            confidence=confidence(level),
            interval=shares(row.interval),
        )


def _unmeasured_facts(row: MetricSummary) -> Iterator[Fact]:
    if (not row.undecided and not row.failed) or row.bounds is None:
        return
    yield fact(
        "unmeasured",
        _UNMEASURED,
        undecided=count(row.undecided),
        failed=count(row.failed),
        best=share(row.bounds[0]),
        worst=share(row.bounds[1]),
    )


def _judge_facts(rows: Rows, summary: Summary, *, headline: str | None, level: float) -> Iterator[Fact]:
    observed, alpha = rows.panel("observed_agreement"), rows.panel("krippendorff_alpha")
    if observed is None or observed.value is None or observed.total is None:
        if summary.counts.judges == 1 and headline is not None:
            yield fact("judges", ONE_JUDGE, judge=name(headline))
        return
    figures = {
        "agreement": share(observed.value),
        "claims": count(observed.total),
        "judges": count(summary.counts.judges),
    }
    if alpha is None or alpha.value is None or alpha.interval is None:
        yield fact("judges", _AGREE_BARELY, **figures)
        return
    beyond = {"alpha": number(alpha.value), "confidence": confidence(level), "interval": numbers(alpha.interval)}
    yield fact("judges", _AGREE, **figures, **beyond)
