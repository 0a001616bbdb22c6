"""How runs of dialogues are shown: modes and turns, where another has judges."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from hallumeter.records.claim import Label
from hallumeter.records.measurement import MetricSummary, Summary
from hallumeter.records.summaries import ModeDifference, ScoreBins
from hallumeter.report import build, findings, presentation, wording
from hallumeter.report.charts import concentration_charts
from hallumeter.report.document import Fact, Section
from hallumeter.report.drawing import ENGINE_COLOURS, PALETTE, Chart, Json, base_spec, tooltip
from hallumeter.report.languages.speaking import message, say, written
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
from hallumeter.report.page.chapters import RECORDS
from hallumeter.report.sections import ConcentrationSection, DifferenceSection, ScoreSection

from .wording import (
    LEVEL,
    MARK_WORDS,
    SINGLE,
    difference_cells,
    difference_section,
    difference_values,
    fairness_words,
    group_title,
    pairs_of_modes,
    result_words,
    score_section,
    severity,
    too_few_words,
)

# What is told first of answers in dialogues.

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
_UNSAFE_WORDS = message(
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
        yield fact("safety", _UNSAFE_WORDS, **text, confidence=confidence(level), interval=shares(row.interval))


# Charts and sections.

ROW_HEIGHT = 34
CHART_HEIGHT = 180
APART = 0.06
"""How far modes stand from each other at a turn, in turns."""
BARS = 10
"""Bars of a spread at most; finer bins are added up."""


def score_charts(section: ScoreSection, confidence: float) -> list[Chart]:
    """Modes side by side, then for each metric its trend over turns and the spread over answers."""
    drawn = _mode_chart(section, confidence)
    for metric in SINGLE:
        drawn += _trend_chart(section, metric, confidence)
        drawn += _spread_chart(section, metric)
    return drawn


def difference_charts(section: DifferenceSection, confidence: float) -> list[Chart]:
    """Every difference as a point with its interval; one chart for each mode that is compared."""
    drawn = []
    for (first, second), rows in pairs_of_modes(section.differences):
        known = [row for row in rows if row.difference is not None]
        if known:
            title = say("{second} minus {first}", second=second, first=first)
            caption = say(
                "Mean difference over the turns that both were asked, with its {interval}; whole patients are "
                "resampled. An arrow tells which way the metric is better.",
                interval=wording.interval_words(confidence),
            )
            spec = _difference_spec(title, [_difference(row, section.names) for row in known], confidence)
            drawn.append(Chart("differences", title, caption, spec))
    return drawn


def _difference(row: ModeDifference, names: dict[str, str]) -> dict[str, Json]:
    low, high = row.interval or (None, None)
    return {
        "name": f"{names.get(row.metric, row.metric)} {wording.DIRECTION_WORDS[row.direction][0]}".strip(),
        "value": row.difference,
        "low": low,
        "high": high,
        "shown": wording.signed(row.difference),
        "interval": wording.signed_pair(row.interval),
        "p": wording.p_words(row.adjusted_p_value),
    }


def _difference_spec(title: str, values: list[dict[str, Json]], confidence: float) -> dict[str, Json]:
    """Points and intervals beside a line at no difference."""
    spec = base_spec(title, height=ROW_HEIGHT * len(values))
    spec["data"] = {"values": [*values]}
    spec["encoding"] = {"y": {"field": "name", "type": "nominal", "sort": None, "title": None}}
    accent, line = PALETTE["accent"][0], PALETTE["muted"][0]
    tips: list[Json] = [
        tooltip("name", say("metric")),
        tooltip("shown", say("difference")),
        tooltip("interval", wording.interval_words(confidence)),
        tooltip("p", say("adjusted p")),
    ]
    intervals: dict[str, Json] = {
        "mark": {"type": "rule", "size": 2.5, "color": accent},
        "encoding": {"x": _along("low", title), "x2": {"field": "high"}},
    }
    # The scale follows the data, and a field without any has no extent: a single patient gives no interval.
    has_intervals = any(value["low"] is not None for value in values)
    spec["layer"] = [
        {
            "data": {"values": [{"zero": 0}]},
            "mark": {"type": "rule", "color": line, "strokeDash": [4, 3]},
            "encoding": {"x": {"field": "zero", "type": "quantitative"}, "y": None},
        },
        *([intervals] if has_intervals else []),
        {
            "mark": {"type": "point", "filled": True, "size": 90, "color": accent, "opacity": 1},
            "encoding": {"x": _along("value", title), "tooltip": tips},
        },
    ]
    return spec


def _mode_chart(section: ScoreSection, confidence: float) -> list[Chart]:
    """Every metric with a point for each mode."""
    rows = [row for metric in SINGLE for row in section.by_mode if row.metric == metric]
    if not rows:
        return []
    values: list[Json] = [_point(row) | {"metric": _label(section, row)} for row in rows]
    metrics = list(dict.fromkeys(row.metric for row in rows))
    title = say("Modes side by side")
    spec = base_spec(title, height=(18 * len(section.modes) + 10) * len(metrics))
    spec["data"] = {"values": values}
    spec["encoding"] = {
        "y": {"field": "metric", "type": "nominal", "sort": None, "title": None},
        "yOffset": {"field": "mode", "type": "nominal", "sort": None},
        "color": _mode_colours(section),
    }
    tips: list[Json] = [
        tooltip("mode", say("mode")),
        tooltip("metric", say("metric")),
        tooltip("shown", say("mean")),
        tooltip("interval", wording.interval_words(confidence)),
    ]
    spec["layer"] = [
        {"mark": {"type": "rule", "size": 2.5}, "encoding": {"x": _axis("low"), "x2": {"field": "high"}}},
        {
            "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
            "encoding": {"x": _axis("value"), "tooltip": tips},
        },
    ]
    caption = say(
        "Mean over answers with its {interval}; an arrow tells which way a metric is better.",
        interval=wording.interval_words(confidence),
    )
    return [Chart("modes", title, caption, spec)]


def _trend_chart(section: ScoreSection, metric: str, confidence: float) -> list[Chart]:
    """A metric from turn to turn, a line for each mode."""
    turns = sorted({int(row.by["turn_id"]) for row in section.trend if row.metric == metric})
    if len(turns) < 2:
        return []
    title = say("{metric} from turn to turn", metric=section.names[metric])
    spec = base_spec(title, height=CHART_HEIGHT)
    spec["data"] = {"values": _trend_points(section, metric, turns)}
    axis: dict[str, Json] = {"format": "d", "tickMinStep": 1, "grid": False}
    scale: dict[str, Json] = {"domain": [turns[0] - 0.5, turns[-1] + 0.5], "nice": False, "zero": False}
    spec["encoding"] = {
        "x": {"field": "place", "type": "quantitative", "title": say("turn"), "axis": axis, "scale": scale},
        "color": _mode_colours(section),
    }
    tips: list[Json] = [
        tooltip("mode", say("mode")),
        tooltip("turn", say("turn")),
        tooltip("shown", say("mean")),
        tooltip("interval", wording.interval_words(confidence)),
    ]
    height: dict[str, Json] = {"type": "quantitative", "title": None, "scale": {"domain": [0, 1]}}
    spec["layer"] = [
        {
            "mark": {"type": "rule", "size": 2, "opacity": 0.45},
            "encoding": {"y": {"field": "low", **height}, "y2": {"field": "high"}},
        },
        {"mark": {"type": "line"}, "encoding": {"y": {"field": "value", **height}}},
        {
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
            "encoding": {"y": {"field": "value", **height}, "tooltip": tips},
        },
    ]
    caption = say(
        "Mean over the answers of a turn, with its {interval}. A gap: no answer has a value.",
        interval=wording.interval_words(confidence),
    )
    return [Chart("trend", title, caption, spec, metric=metric)]


def _trend_points(section: ScoreSection, metric: str, turns: Sequence[int]) -> list[Json]:
    """A point for each mode and turn; a mode that has no value there has a gap."""
    rows = {(row.by["mode"], int(row.by["turn_id"])): row for row in section.trend if row.metric == metric}
    middle = (len(section.modes) - 1) / 2
    points: list[Json] = []
    for order, mode in enumerate(section.modes):
        for turn in turns:
            row = rows.get((mode, turn))
            # Modes stand a little apart, so that no interval hides another.
            place: dict[str, Json] = {"turn": str(turn), "place": turn + APART * (order - middle)}
            points.append(place | ({"mode": mode, "value": None} if row is None else _point(row)))
    return points


def _spread_chart(section: ScoreSection, metric: str) -> list[Chart]:
    """How many answers of each mode have which value."""
    rows = [bins for bins in section.spread if bins.metric == metric]
    if not rows:
        return []
    title = say("{metric} of single answers", metric=section.names[metric])
    spec = base_spec(title, height=CHART_HEIGHT)
    spec["data"] = {"values": [value for bins in rows for value in _bars(bins)]}
    spec["mark"] = {"type": "bar"}
    spec["encoding"] = {
        "x": {
            "field": "values",
            "type": "ordinal",
            "sort": None,
            "title": section.names[metric],
            "axis": {"labelAngle": 0, "labelOverlap": True},
        },
        "xOffset": {"field": "mode", "type": "nominal", "sort": None},
        "y": {
            "field": "share",
            "type": "quantitative",
            "title": say("share of answers"),
            "scale": {"domain": [0, 1]},
            "axis": {"format": ".0%", "tickCount": 5},
        },
        "color": _mode_colours(section),
        "tooltip": [
            tooltip("mode", say("mode")),
            tooltip("values", say("value")),
            tooltip("answers", say("answers")),
        ],
    }
    without = [f"{bins.mode} {wording.format_count(bins.undefined)}" for bins in rows if bins.undefined]
    caption = say("Of the answers that have a value, the share with which value.")
    if without:
        caption += " " + say("Without a value, not drawn: {modes}.", modes=", ".join(without))
    return [Chart("spread", title, caption, spec, metric=metric)]


def _bars(bins: ScoreBins) -> list[Json]:
    """The bins as bars, neighbours added up where there are too many to be told apart."""
    width = math.ceil(len(bins.answers) / BARS)
    counts = [sum(bins.answers[place : place + width]) for place in range(0, len(bins.answers), width)]
    known = sum(counts)
    digits = 1 if BARS % len(counts) == 0 else 2
    return [
        {
            "mode": bins.mode,
            "values": written(f"{place / len(counts):.{digits}f}–{(place + 1) / len(counts):.{digits}f}"),
            "answers": count,
            "share": count / known if known else 0.0,
        }
        for place, count in enumerate(counts)
    ]


def _point(row: MetricSummary) -> dict[str, Json]:
    low, high = row.interval or (None, None)
    return {
        "mode": row.by["mode"],
        "value": row.value,
        "low": low,
        "high": high,
        "shown": "" if row.value is None else wording.format_number(row.value),
        "interval": wording.format_pair(row.interval),
    }


def _label(section: ScoreSection, row: MetricSummary) -> str:
    return f"{section.names[row.metric]} {wording.DIRECTION_WORDS[row.direction][0]}".strip()


def _mode_colours(section: ScoreSection) -> dict[str, Json]:
    names: list[Json] = list(section.modes)
    colours: list[Json] = [ENGINE_COLOURS[place % len(ENGINE_COLOURS)][0] for place in range(len(names))]
    return {
        "field": "mode",
        "type": "nominal",
        "scale": {"domain": names, "range": colours},
        "legend": {"title": None, "orient": "top", "direction": "horizontal", "symbolOpacity": 1},
    }


def _axis(name: str) -> dict[str, Json]:
    axis: dict[str, Json] = {"format": ".1f", "tickCount": 10}
    return {"field": name, "type": "quantitative", "title": None, "scale": {"domain": [0, 1]}, "axis": axis}


def _along(name: str, title: str) -> dict[str, Json]:
    axis: dict[str, Json] = {"format": "+.1f", "tickCount": 10}
    scale: dict[str, Json] = {"zero": True, "nice": True}
    return {"field": name, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def _sections(gathered: presentation.Gathered) -> presentation.Sections:
    differences, scores = difference_section(gathered.summary), score_section(gathered.summary)
    return presentation.Sections(
        [
            *findings.finding_sections(gathered.selection.picker),
            *build.record_sections(gathered),
            *([differences] if differences else []),
            *([scores] if scores else []),
            *build.metric_sections(gathered),
            *build.breakdown_sections(gathered, [row for row in gathered.rows if row.summary.metric in SINGLE]),
            # A fact that is not used, or not said of a patient, is not invented.
            *build.concentration_sections(gathered, "REFUTED"),
            *build.reason_sections(gathered),
        ]
    )


def _charts(section: Section, confidence: float) -> list[Chart]:
    if isinstance(section, DifferenceSection):
        return difference_charts(section, confidence)
    if isinstance(section, ConcentrationSection):
        return concentration_charts(section, confidence)
    return score_charts(section, confidence) if isinstance(section, ScoreSection) else []


def _functions() -> dict[str, object]:
    return {
        "mark_words": MARK_WORDS,
        "difference_cells_of": difference_cells,
        "difference_values_of": difference_values,
        "result_of": result_words,
        "fairness_of": fairness_words,
        "caution_of": too_few_words,
        "pairs_of": _pairs_of,
    }


def _pairs_of(section: DifferenceSection) -> list[tuple[tuple[str, str], list[ModeDifference]]]:
    """The differences of a section, by the modes that are compared."""
    return pairs_of_modes(section.differences)


def _right(kind: str, missed: str) -> presentation.Behind:
    return presentation.Behind({"kind": kind, "label": "SUPPORTED"}, {"kind": kind}, {"kind": kind, "label": missed})


_TRUE, _CONSISTENT = _right("slot", "REFUTED"), _right("consistency", "REFUTED")
_USED, _INCLUDED = _right("slot_use", "NOT_ENOUGH_INFO"), _right("element", "NOT_ENOUGH_INFO")
_UNSAFE = presentation.findings_behind("rule", "REFUTED")

PRESENTATION = presentation.Presentation(
    sections=_sections,
    facts=dialogue_facts,
    figures=FIGURES,
    charts=_charts,
    severity=severity,
    unsupported=(Label.REFUTED,),
    kinds={
        "metrics": presentation.SectionKind(title=message("All answers together"), template="section_metrics.html"),
        "records": presentation.SectionKind(
            title=message("Answers"), template="section_records_dialogue.html", scripts=RECORDS.scripts
        ),
        "differences": presentation.SectionKind(title=message("Modes compared"), template="section_differences.html"),
        "scores": presentation.SectionKind(title=message("Spread and trend"), template="section_scores.html"),
    },
    guide="guide_dialogue.html",
    counts="counts_dialogue.html",
    metrics="metrics_dialogue.html",
    is_undefined_abbreviated=True,
    style="dialogues.css",
    script="dialogues.js",
    group_title=group_title,
    texts={ModeDifference: ("undefined",), DifferenceSection: ("names",), ScoreSection: ("names",)},
    functions=_functions,
    behind={
        **dict.fromkeys(("sfs", "sfs_pooled"), _TRUE),
        **dict.fromkeys(("csp", "csp_pooled"), _UNSAFE),
        **dict.fromkeys(("cus_improved", "cus_improved_pooled", "cus"), _USED),
        **dict.fromkeys(("mcs", "mcs_pooled"), _CONSISTENT),
        **dict.fromkeys(("ass", "ass_pooled"), _INCLUDED),
        "dialogue_score": presentation.labels_behind("unsupported"),
    },
)
