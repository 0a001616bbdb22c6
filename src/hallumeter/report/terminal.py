"""A summary as tables for a terminal, readable in a pipe as well."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from hallumeter.instruments import metric_named
from hallumeter.records.claim import Label
from hallumeter.records.measurement import MetricSummary, Profile, Summary
from hallumeter.text.normalize import one_line

from .document import ReasonCount
from .findings import CertainFinding, does_repeat, first_words
from .judges import advice_text, panel_advice
from .reasons import reason_words, top_reasons
from .segmentation import CONSENSUS
from .table import Column, Line, Table, left, right, terminal
from .wording import (
    ALL_JUDGES,
    DIRECTION_WORDS,
    LABEL_WORDS,
    NO_VALUE,
    format_count,
    format_counts,
    format_number,
    format_pair,
    interval_words,
    plural,
)

GROUP_COLUMNS = ("mihr", "mahr", "factscore", "consensus_f1", "uncertainty_total", "far", "over_refusal_rate")
"""What the table of groups compares with --verbose; the other formats have everything."""
JUDGE_COLUMNS = ("mihr", "mahr", "judge_sensitivity", "judge_specificity")
PANEL_COLUMNS = ("agreement_with_others", "alpha_without", "alpha_gain_without")
"""What tells whether to drop a judge."""
MOST_PAIRS = 6
"""Pairs of judges that are all named: those of four judges."""
_OF_ONE_JUDGE = {"judge_sensitivity", "judge_specificity", "cohen_kappa", *PANEL_COLUMNS}
_STYLES = {"high": "green", "medium": "yellow", "low": "red", "unknown": "dim"}
CONSENSUS_METRICS = ("consensus_precision", "consensus_recall", "consensus_f1", "consensus_f1_others")
"""How far models agree with each other; shown where somebody asks for it."""
_FURTHER = {
    *("mihr_refuted", "mihr_mean", "factscore", "factscore_penalized", "shannon_entropy"),
    *("uncertainty_total", "uncertainty_epistemic", "uncertainty_aleatoric"),
    *("token_surprisal", "least_token_probability"),
}
"""Variants of the headline, and what comes along without being asked for: for --verbose."""
_PLAIN = {
    "mihr": "Unsupported claims",
    "mahr": "Answers with at least one",
    "expected_unsupported_rate": "Expected share",
}
"""The headline in the shortest words; other metrics are called as in the catalog."""
_IN_COLUMNS = {"mihr": "unsupported claims", "mahr": "answers with one"}
_EXPECTED, _CALIBRATED = "expected_unsupported_rate", "|calibration:"
"""A metric, and what its signature says of a judge whose probabilities are calibrated."""
_QUOTED = "the rate to quote"
_CONFIDENCE = re.compile(r"\bconfidence:([0-9.]+)")


class Shown(Struct, frozen=True, kw_only=True):
    """What a terminal shows of a summary, beside its headline."""

    is_verbose: bool = False
    """Every metric, judge, reason and signature."""
    has_profile: bool = False
    """The opinion of the policies: for a user who gave one."""
    has_consensus: bool = False
    """How far models agree with each other, which a user has asked for."""
    source: str = ""
    """What was read, such as the name of a file."""
    reasons: Sequence[ReasonCount] = ()
    findings: Sequence[CertainFinding] = ()
    """The most certain ones."""


def table_text(
    summary: Summary, *, shown: Shown | None = None, width: int | None = None, has_color: bool = False
) -> str:
    """What a person needs at first: what was read, the rates, groups, judges and findings; or everything."""
    chosen = shown or Shown()
    parts = _everything(summary, chosen) if chosen.is_verbose else _brief(summary, chosen)
    findings = _finding_parts(summary, chosen, has_color=has_color)
    return terminal([*parts, *findings], width=width, has_color=has_color)


# In brief.


def _brief(summary: Summary, shown: Shown) -> Iterator[Table | Line]:
    yield Line(_read_words(summary, shown.source), "bold")
    whole = [row for row in summary.metrics if not row.by]
    headline = whole[0].judge if whole else None
    hidden = _FURTHER | _OF_ONE_JUDGE | (set() if shown.has_consensus else set(CONSENSUS_METRICS))
    mine = [row for row in whole if row.judge in (headline, None) and row.metric not in hidden]
    # Probabilities that nobody has held against the truth make no rate to quote.
    known = [row for row in mine if row.value is not None and (row.metric != _EXPECTED or _CALIBRATED in row.signature)]
    yield Line()
    yield from _rate_lines(known)
    yield from _missing_lines(summary, known)
    yield from _undefined_lines(mine, is_alone=not known, has_consensus=shown.has_consensus)
    groups = [row for row in summary.metrics if row.by and row.judge in (headline, None) and row.metric not in hidden]
    yield from _brief_groups([row for row in groups if row.metric != _EXPECTED])
    yield from _brief_judges([row for row in whole if row.judge is not None])
    if shown.has_profile:
        yield from map(_profile_line, summary.profile.values())


def _read_words(summary: Summary, source: str) -> str:
    """One line of what was read, and who judged it."""
    counts = summary.counts
    read = plural(counts.records, "answer")
    where = f" in {source}" if source else ""
    judges = [row.judge for row in summary.metrics if row.metric == "mihr" and not row.by]
    named = list(dict.fromkeys(judge for judge in judges if judge and judge != CONSENSUS))
    by = f", judged by {_listed(named)}" if named else ""
    claims = f" with {plural(counts.claims, 'claim')}" if counts.claims else ""
    return f"{read}{claims}{where}{by}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _rate_lines(rows: Sequence[MetricSummary]) -> Iterator[Line]:
    """One line for each rate: value, interval, counts, and which way is better where the name does not say so."""
    names = [_PLAIN.get(row.metric) or _alias(row.metric) for row in rows]
    room = max(map(len, names), default=0)
    values, intervals = [_value(row) for row in rows], [_interval(row) for row in rows]
    value_room, interval_room = (max(map(len, texts), default=0) for texts in (values, intervals))
    for row, name, value, interval in zip(rows, names, values, intervals, strict=True):
        head = f"  {name:<{room}}  "
        numbers = f"{value:>{value_room}}  {interval:<{interval_room}}  "
        pieces = ((head, ""), (numbers, "bold"), (_counted(row), ""))
        yield Line(pieces, hang=len(head) + len(numbers))
    if any(row.interval for row in rows):
        expected = any(row.metric == _EXPECTED for row in rows)
        how = " The expected share sums the judge's probabilities: it depends on no threshold." if expected else ""
        yield Line(f"  In brackets: {_interval_name(rows)}s.{how}", "dim")


def _counted(row: MetricSummary) -> str:
    """What was counted, and what a reader cannot see in the name."""
    if row.metric == _EXPECTED:
        return _QUOTED
    counts = f"{format_count(row.count or 0)} of {format_count(row.total or 0)}"
    if row.count is None or not _is_share(row):
        counts = "" if row.total is None else f"n = {format_count(row.total)}"
    way = "" if row.metric in _PLAIN else DIRECTION_WORDS[row.direction][1]
    return ", ".join(filter(None, [counts, way]))


def _missing_lines(summary: Summary, rows: Sequence[MetricSummary]) -> Iterator[Line]:
    """What is undecided or failed, and how far it could move the rate; never left out."""
    first = next((row for row in rows if row.undecided or row.failed), None)
    if first is not None:
        parts = [f"{first.undecided:,} undecided"] if first.undecided else []
        parts += [f"{first.failed:,} failed"] if first.failed else []
        low, high = first.bounds or (None, None)
        name = (_PLAIN.get(first.metric) or _alias(first.metric)).lower()
        moved = "" if low is None or high is None or low == high else _moved(first, name, (low, high))
        yield Line(f"  Not counted: {' and '.join(parts)}{moved}", "yellow")
    elif summary.counts.failures:
        yield Line(f"  Not counted: {plural(summary.counts.failures, 'failure')}", "yellow")
    without = summary.counts.records_without_claims
    if without and summary.counts.claims:
        yield Line(
            f"  {plural(without, 'answer')} without a claim {'counts' if without == 1 else 'count'} in no rate", "dim"
        )


def _moved(row: MetricSummary, name: str, bounds: tuple[float, float]) -> str:
    low, high = (_percent_number(end) if _is_share(row) else format_number(end) for end in bounds)
    return f"; with them, {name}: {low} to {high}{' %' if _is_share(row) else ''}"


def _undefined_lines(rows: Sequence[MetricSummary], *, is_alone: bool, has_consensus: bool) -> Iterator[Line]:
    """Why something has no value: everything where nothing has one, else what was asked for."""
    asked = CONSENSUS_METRICS if has_consensus else ()
    for reason, names in _reasons(row for row in rows if is_alone or row.metric in asked).items():
        yield Line(f"  undefined: {', '.join(names)}: {reason}", "yellow")
    for row in rows:
        if row.note:
            yield Line(f"  warning: {row.metric}: {row.note}", "yellow")


def _brief_groups(rows: Sequence[MetricSummary]) -> Iterator[Table | Line]:
    """One row per group, one column per metric that any group has."""
    found = dict.fromkeys(row.metric for row in rows if row.value is not None)
    metrics = [
        *(metric for metric in _IN_COLUMNS if metric in found),
        *(each for each in found if each not in _IN_COLUMNS),
    ]
    fields = tuple(dict.fromkeys(field for row in rows for field in row.by))
    if not metrics:
        return
    cells = {(tuple(row.by.get(field, "") for field in fields), row.metric): row for row in rows}
    has_claims = "mihr" in metrics
    names = [_IN_COLUMNS.get(metric) or _alias(metric) for metric in metrics]
    columns = [*left(*fields, wrap="words", max_width=40), *(right("claims") if has_claims else [])]
    written = []
    for group in dict.fromkeys(key for key, _ in cells):
        counted = cells.get((group, "mihr"))
        claims = [format_count(counted.total or 0) if counted is not None else ""] if has_claims else []
        written.append([*group, *claims, *(_short_value(cells.get((group, metric))) for metric in metrics)])
    yield Line()
    yield Table([*columns, *left(*names)], written, f"By {' and '.join(fields)}")


def _brief_judges(rows: Sequence[MetricSummary]) -> Iterator[Table | Line]:
    """One row per judge of a panel: what it flags, and what it could not decide."""
    found = list(dict.fromkeys(row.judge for row in rows if row.metric == "mihr"))
    if len(found) < 2:
        return
    cells = {(row.judge, row.metric): row for row in rows}
    missing = [name for name in ("undecided", "failed") if any(getattr(cells[judge, "mihr"], name) for judge in found)]
    written = [
        [
            judge or "",
            *(_short_value(cells.get((judge, metric))) for metric in _IN_COLUMNS),
            *(_count(getattr(cells[judge, "mihr"], name)) for name in missing),
        ]
        for judge in [found[0], *sorted(found[1:], key=CONSENSUS.__eq__)]
    ]
    columns = [*left("judge"), *left(*_IN_COLUMNS.values())]
    yield Line()
    yield Table([*columns, *right(*missing)], written, "By judge; --verbose shows how they agree")


def _finding_parts(summary: Summary, shown: Shown, *, has_color: bool) -> Iterator[Line]:
    if not shown.findings:
        return
    counts = (row.count for row in summary.metrics if row.metric == "mihr" and not row.by)
    flagged = next(counts, None) or 0.0
    of_all = f" of {format_count(flagged)}" if flagged > len(shown.findings) else ""
    yield Line()
    yield Line(f"Most certain findings ({len(shown.findings)}{of_all})", "bold")
    yield from finding_lines(shown.findings, has_color=has_color)


def _is_share(row: MetricSummary) -> bool:
    """Whether it is a share of something, which people read in percent; scores of other tools stay as they are."""
    known = metric_named(row.metric)
    return known is not None and known.is_poolable and known.range[0] == 0 and known.range[1] == 1


def _percent(share: float) -> str:
    """A share in percent, that never shows none or all for what is not quite that.

    >>> _percent(40 / 403), _percent(0.0001), _percent(0.99999), _percent(0.0)
    ('9.9 %', '<0.1 %', '>99.9 %', '0.0 %')
    """
    return f"{_percent_number(share)} %"


def _percent_number(share: float) -> str:
    shown = f"{share * 100:.1f}"
    if shown in ("0.0", "100.0") and share not in (0.0, 1.0):
        return "<0.1" if share < 0.5 else ">99.9"
    return shown


def _value(row: MetricSummary) -> str:
    assert row.value is not None
    return _percent(row.value) if _is_share(row) else format_number(row.value)


def _interval(row: MetricSummary) -> str:
    if row.interval is None:
        return ""
    low, high = (_percent_number(end) if _is_share(row) else format_number(end) for end in row.interval)
    return f"({low} to {high})"


def _short_value(row: MetricSummary | None) -> str:
    if row is None or row.value is None:
        return NO_VALUE
    return f"{_value(row)} {_interval(row)}".rstrip()


def _interval_name(rows: Sequence[MetricSummary]) -> str:
    text = {found[1] for row in rows if row.interval and (found := _CONFIDENCE.search(row.signature))}
    return interval_words(float(text.pop())) if len(text) == 1 else "interval"


# With --verbose.


def _everything(summary: Summary, shown: Shown) -> Iterator[Table | Line]:
    yield Line(_head(summary), "bold")
    hidden = () if shown.has_consensus else CONSENSUS_METRICS
    rows = [row for row in summary.metrics if row.metric not in hidden]
    whole = [row for row in rows if not row.by]
    headline = whole[0].judge if whole else None
    mine = [row for row in whole if row.judge in (headline, None, ALL_JUDGES) and row.metric not in _OF_ONE_JUDGE]
    yield from _metric_parts(mine)
    yield from _group_tables([row for row in rows if row.by and row.judge in (headline, None)])
    yield from _judge_parts([row for row in whole if row.judge is not None])
    yield from _reason_tables(shown.reasons)
    if shown.has_profile:
        yield from map(_profile_line, summary.profile.values())
    # With several judges, the rows on their agreement would say the same again.
    signed = [row for row in mine if row.judge != ALL_JUDGES] or mine
    if signed:
        yield from signature_lines(signed)
    if len(signed) < len(mine):
        yield Line("  --format markdown has those of agreement, too", "dim")


def signature_lines(rows: Iterable[MetricSummary]) -> Iterator[Line]:
    """What the figures depend on."""
    yield from (Line(), Line("signatures", "dim"))
    yield from (Line(f"  {row.signature}", "dim") for row in rows)


def _head(summary: Summary) -> str:
    counts = summary.counts
    parts = [plural(counts.records, "response"), plural(counts.claims, "claim"), plural(counts.verdicts, "verdict")]
    parts += [plural(counts.judges, "judge")] if counts.judges else []
    parts += [plural(counts.models, "model")] if counts.models else []
    parts += [plural(counts.failures, "failure")]
    parts += [f"{counts.records_without_claims:,} without a claim"] if counts.records_without_claims else []
    return " · ".join(parts)


def _metric_parts(rows: Sequence[MetricSummary]) -> Iterator[Table | Line]:
    """The headline: one row per metric."""
    known = [row for row in rows if row.value is not None]
    missing = [name for name in ("undecided", "failed") if any(getattr(row, name) for row in known)]
    has_bounds = any(_best_to_worst(row) for row in known)
    interval = "95 % interval" if _is_usual(rows) else "interval"
    columns = [*left("metric", wrap="words"), *right("value"), *left(interval), *right("counts", *missing)]
    columns += left("best to worst case") if has_bounds else []
    cells = [
        [
            *(_name(row.metric), _number(row.value), format_pair(row.interval), format_counts(row)),
            *(_count(getattr(row, name)) for name in missing),
            *([_best_to_worst(row)] if has_bounds else []),
        ]
        for row in known
    ]
    if cells:
        yield Table(columns, cells, "All responses")
    for reason, names in _reasons(rows).items():
        yield Line(f"undefined: {', '.join(names)}: {reason}", "dim")
    for row in rows:
        if row.note:
            yield Line(f"warning: {row.metric}: {row.note}", "yellow")


def _group_tables(rows: Sequence[MetricSummary]) -> Iterator[Table]:
    """One row per group, one column per metric that any group has."""
    metrics = [name for name in GROUP_COLUMNS if any(row.metric == name and row.value is not None for row in rows)]
    fields = tuple(dict.fromkeys(field for row in rows for field in row.by))
    cells = {(tuple(row.by.get(field, "") for field in fields), row.metric): row for row in rows}
    if not metrics:
        return
    has_claims = "mihr" in metrics
    claims_column = right("claims", wrap="words") if has_claims else []
    columns = [*left(*fields, wrap="words", max_width=40), *claims_column, *left(*map(_name, metrics))]
    written = []
    for group in dict.fromkeys(key for key, _ in cells):
        counted = cells.get((group, "mihr"))
        claims = [f"{counted.total:,.0f}" if counted is not None and counted.total else ""] if has_claims else []
        written.append([*group, *claims, *(_value_and_interval(cells.get((group, name))) for name in metrics)])
    yield Table(columns, written, f"By {' and '.join(fields)}")


def _judge_parts(rows: Sequence[MetricSummary]) -> Iterator[Table | Line]:
    """One row per judge, then how they agree; nothing for a single judge."""
    found = list(dict.fromkeys(row.judge for row in rows if row.metric == "mihr"))
    if len(found) < 2:
        return
    # A consensus that is not the headline stands after the judges that it joins.
    judges = [found[0], *sorted(found[1:], key=CONSENSUS.__eq__)]
    cells = {(row.judge, row.metric): row for row in rows}
    metrics = [name for name in JUDGE_COLUMNS if any(row.metric == name and row.value is not None for row in rows)]
    written = []
    for judge in judges:
        row = cells[judge, "mihr"]
        values = (_value_and_interval(cells.get((judge, name))) for name in metrics)
        written.append([judge or "", *values, f"{row.undecided:,}", f"{row.failed:,}"])
    yield Table([*_judge_columns(metrics), *right("undecided", "failed", wrap="words")], written, "By judge")
    yield from _panel_parts(rows)
    yield from _pair_lines([row for row in rows if row.metric == "cohen_kappa"])


def _judge_columns(metrics: Sequence[str]) -> list[Column]:
    return [*left("judge", wrap="words", max_width=40), *left(*map(_name, metrics))]


def _panel_parts(rows: Sequence[MetricSummary]) -> Iterator[Table | Line]:
    """Each judge beside the others, and whether one stands apart; nothing where no judge could be left out."""
    advice = panel_advice(rows)
    if advice is None:
        return
    cells = {(row.judge, row.metric): row for row in rows}
    judges = dict.fromkeys(row.judge for row in rows if row.metric == "alpha_gain_without")
    written = [
        [judge or "", *(_value_and_interval(cells.get((judge, name))) for name in PANEL_COLUMNS)] for judge in judges
    ]
    yield Table(_judge_columns(PANEL_COLUMNS), written, "Each judge beside the others")
    yield Line(advice_text(advice), "yellow" if advice.judge else "")


def _pair_lines(rows: Sequence[MetricSummary]) -> Iterator[Line]:
    """How pairs of judges agree; of many pairs, those that agree least."""
    shown = list(rows)
    if len(shown) > MOST_PAIRS:
        measured = [row for row in rows if row.value is not None]
        shown = sorted(measured, key=lambda row: row.value or 0.0)[: MOST_PAIRS // 2]
    yield from (Line(f"Cohen's kappa, {row.judge or ''}: {_value_and_interval(row)}") for row in shown)
    if len(shown) < len(rows):
        yield Line(f"These pairs agree least; --format markdown has all {len(rows)}.")


def _reason_tables(reasons: Sequence[ReasonCount]) -> Iterator[Table]:
    """The most frequent reasons of each label; nothing when no judge gave any."""
    has_judges = len({judge for row in reasons for judge in row.judges}) > 1
    columns = [*left("label"), *left("reason", wrap="words", max_width=40), *right("verdicts")]
    columns += left("judges", wrap="words", max_width=40) if has_judges else []
    rows = []
    for row in top_reasons(reasons):
        judges = [", ".join(row.judges)] if has_judges else []
        words = reason_words(row.reason) or ""
        rows.append([LABEL_WORDS[row.label], row.reason or "", f"{row.verdicts:,}", *judges, words])
    if rows:
        yield Table([*columns, *left("meaning", wrap="words")], rows, "Top reasons")


def _name(metric: str) -> str:
    known = metric_named(metric)
    return f"{known.alias} {DIRECTION_WORDS[known.direction][0]}".rstrip() if known else metric


def _alias(metric: str) -> str:
    known = metric_named(metric)
    return known.alias if known else metric


def _count(number: int) -> str:
    """A number of claims; none is left blank."""
    return f"{number:,}" if number else ""


def _number(value: float | None) -> str:
    return NO_VALUE if value is None else format_number(value)


def _best_to_worst(row: MetricSummary) -> str:
    is_widened = row.bounds is not None and row.bounds[0] != row.bounds[1]
    return format_pair(row.bounds) if is_widened else ""


def _value_and_interval(row: MetricSummary | None) -> str:
    if row is None or row.value is None:
        return NO_VALUE
    interval = f"  {format_pair(row.interval)}" if row.interval else ""
    return f"{format_number(row.value)}{interval}"


def _reasons(rows: Iterable[MetricSummary]) -> dict[str, list[str]]:
    """Why metrics are undefined, each reason once."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.value is None:
            found.setdefault(row.undefined or "", []).append(row.metric)
    return found


def _is_usual(rows: Iterable[MetricSummary]) -> bool:
    return all("confidence:0.95" in row.signature for row in rows if row.interval)


def _profile_line(profile: Profile) -> Line:
    return Line(
        (
            (f"Policy {profile.policy}: reliability ", ""),
            (profile.reliability, f"bold {_STYLES[profile.reliability]}"),
            (", HIGH RISK" if profile.is_high_risk else "", "bold red"),
            (f" ({'; '.join(profile.reasons)})" if profile.reasons else "", ""),
        )
    )


# The findings that a judge is most certain of: the sentence, why, and what the evidence says.

LONGEST_QUOTE = 300
"""Characters of the evidence that are shown; a record of JSON can be a page long."""
OPENING, CLOSING = "»", "«"
"""Around the words that are wrong, where no colour can show them."""
_HANG = 13
_LABEL_STYLES = {Label.REFUTED: "bold red", Label.NOT_ENOUGH_INFO: "bold yellow"}
_ACCUSED = {Label.REFUTED: "evidence", Label.NOT_ENOUGH_INFO: "nearest"}
"""What stands before a quotation: the evidence contradicts the claim, or comes nearest to it."""


def finding_lines(findings: Sequence[CertainFinding], *, has_color: bool) -> Iterator[Line]:
    """Each finding: the sentence with the wrong words marked, why, what the evidence says, where."""
    for place, found in enumerate(findings, start=1):
        marks = ("", "") if has_color else (OPENING, CLOSING)
        pieces = (
            (f"{place:>2}. ", ""),
            (_joined(found.before), ""),
            (f"{marks[0]}{one_line(found.wrong)}{marks[1]}", _LABEL_STYLES[found.label]),
            (_joined(found.after), ""),
        )
        yield Line(pieces, hang=4)
        why = _why(found)
        if why:
            yield _fact("why", why)
        quote = found.verdict.evidence[0].quote if found.verdict.evidence else None
        if quote:
            yield _fact(_ACCUSED[found.label], f"“{first_words(one_line(quote), LONGEST_QUOTE)}”")
        said = found.verdict.unsupported_probability
        sure = "" if said is None else f", probability {format_number(said, 2)}"
        # A record that several models answered carries the model in its name.
        model = "" if not found.model or found.model in found.record_id else f" ({found.model})"
        yield _fact("where", f"{found.record_id}{model}{sure}")
        yield Line()


def _why(found: CertainFinding) -> str:
    """What the judge noted; where that repeats the words that are marked anyway, what its reason means."""
    reason = found.verdict.reason
    note, words = one_line(found.verdict.note or ""), (reason_words(reason) or reason) if reason else ""
    return words if words and (not note or does_repeat(found.verdict, found.wrong)) else note


def _fact(name: str, text: str) -> Line:
    return Line(((f"    {name:<{_HANG - 4}}", "dim"), (text, "")), hang=_HANG)


def _joined(text: str) -> str:
    """A piece of a sentence in one line; spaces at its ends part it from its neighbours."""
    shown = one_line(text)
    return f"{' ' * (text[:1].isspace())}{shown}{' ' * (bool(shown) and text[-1:].isspace())}"
