"""What is told first of answers whose claims were judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


FIGURES = ("mihr", "expected_unsupported_rate", "mahr", "factscore", "far")

_RATE = message("The evidence does not support {count} of {total} decided claims: {share} ({confidence} {interval}).")
_RATE_ALONE = message("The evidence does not support {count} of {total} decided claims: {share}.")
_EXPECTED = message(
    "By the judge's probabilities {share} of the claims are unsupported ({confidence} {interval}): quote this share as "
    "the rate of the whole set, and use the claims that are called unsupported when you act on single claims."
)
_EXPECTED_ALONE = message(
    "By the judge's probabilities {share} of the claims are unsupported: quote this share as the rate of the whole "
    "set, and use the claims that are called unsupported when you act on single claims."
)
_NO_EXPECTED = message("What share of the claims is unsupported by the judge's probabilities cannot be told: {reason}.")
_NO_RATE = message("How many claims are unsupported cannot be told: {reason}.")
_RESPONSES = message(
    "At least one such claim stands in {count} of {total} responses: {share} ({confidence} {interval})."
)
_RESPONSES_ALONE = message("At least one such claim stands in {count} of {total} responses: {share}.")
_WORST = message(
    "By {field}, {group} has the highest share, {share} ({confidence} {interval}), and its interval lies above those "
    "of all others."
)
_NO_WORST = message(
    "By {field}, no group stands out: {group} has the highest share, {share} ({confidence} {interval}), but its "
    "interval overlaps that of another."
)
_UNMEASURED = message(
    "Claims left undecided: {undecided}; failed: {failed}. Had all of them turned out best, or all of them worst, the "
    "share would be {best} or {worst}."
)
_ALL_MEASURED = message("No claim was left undecided, and none failed.")
_AGREE = message(
    "Two judges gave the same claim the same label in {agreement} of all cases ({claims} claims, {judges} judges); "
    "beyond chance, that is an alpha of {alpha} ({confidence} {interval})."
)
_AGREE_BARELY = message(
    "Two judges gave the same claim the same label in {agreement} of all cases ({claims} claims, {judges} judges); "
    "how much of that is more than chance cannot be told."
)
ONE_JUDGE = message("All of this rests on one judge, {judge}; nobody checked it here.")


def claim_facts(summary: Summary, headline: str | None, level: float) -> Iterator[Fact]:
    """How many claims are unsupported, where most, what is not known, and whether the judges agree."""
    rows = Rows(summary, headline)
    rate, responses = rows.whole("mihr"), rows.whole("mahr")
    if rate is not None:
        yield _rate_fact("unsupported", rate, (_RATE, _RATE_ALONE), level=level)
        yield from _expected_facts(rows, level)
    if responses is not None and responses.value is not None:
        yield _rate_fact("responses", responses, (_RESPONSES, _RESPONSES_ALONE), level=level)
    yield from _group_facts(rows, level)
    if rate is not None and rate.value is not None:
        yield _unmeasured_fact(rate)
    yield from _judge_facts(rows, summary, headline=headline, level=level)


def _rate_fact(code: str, row: MetricSummary, messages: tuple[str, str], *, level: float) -> Fact:
    if row.value is None or row.count is None or row.total is None:
        return fact(code, _NO_RATE, reason=words(row.undefined or ""))
    figures = {"count": count(row.count), "total": count(row.total), "share": share(row.value)}
    if row.interval is None:
        return fact(code, messages[1], **figures)
    return fact(code, messages[0], **figures, confidence=confidence(level), interval=shares(row.interval))


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


def _unmeasured_fact(row: MetricSummary) -> Fact:
    if (not row.undecided and not row.failed) or row.bounds is None:
        return fact("unmeasured", _ALL_MEASURED)
    return fact(
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
