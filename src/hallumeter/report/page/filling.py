"""The templates of a page, and the functions that they call."""

from __future__ import annotations

from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from hallumeter.records import Label
from hallumeter.report.aspects.filling import aspect_functions
from hallumeter.report.behind import mode_query, query_behind, reason_query
from hallumeter.report.dialogue.sections import DifferenceSection
from hallumeter.report.dialogue.wording import (
    MARK_WORDS,
    difference_cells,
    difference_values,
    fairness_words,
    pairs_of_modes,
    result_words,
    signed,
    signed_pair,
    too_few_words,
)
from hallumeter.report.dialogue.wording import p_words as plain_p_words
from hallumeter.report.document import BreakdownSection, JudgeSection
from hallumeter.report.drawing import LABEL_COLOURS
from hallumeter.report.languages.speaking import say, say_count, say_count_html, say_html, spoken
from hallumeter.report.overview.telling import format_percent, isolated, tell_fact_html, tell_reason
from hallumeter.report.segmentation import CONSENSUS
from hallumeter.report.transcripts.payload import KIND_WORDS
from hallumeter.report.transcripts.ranking import HALLUCINATING, difference_words, metric_words, neighbours, p_words
from hallumeter.report.transcripts.wording import reading_coverage_words
from hallumeter.report.undefined import place_words, undefined_groups
from hallumeter.report.verdicts.baselines import LEVEL_WORDS, SCORE_WORDS, baseline_words, level_facts
from hallumeter.report.verdicts.charts import length_words, tenth_words
from hallumeter.report.verdicts.codes import failure_words, reason_words
from hallumeter.report.verdicts.comparing import agreement_level, pair_grid
from hallumeter.report.verdicts.integrity import LANGUAGE_WORDS
from hallumeter.report.verdicts.panel import advice_html
from hallumeter.report.verdicts.sections import CONFUSED
from hallumeter.report.wording import (
    ALL_JUDGES,
    DIRECTION_WORDS,
    LABEL_WORDS,
    NO_VALUE,
    coverage_words,
    field_words,
    format_cost,
    format_count,
    format_counts,
    format_number,
    format_pair,
    instrument_words,
    interval_words,
    value_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hallumeter.records.decisions.baselines import LevelBaselines
    from hallumeter.records.pairing import ModeDifference
    from hallumeter.report.document import MetricRow, ReasonCount
    from hallumeter.report.overview.sections import Fact
    from hallumeter.report.undefined import UndefinedGroup

_TEMPLATES = Path(__file__).parents[1] / "templates"


@cache
def templates() -> Environment:
    """The templates; every text that they are given is escaped."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(_filters())
    environment.globals.update(_functions())
    return environment


def _filters() -> dict[str, Callable[..., object]]:
    return {
        "number": format_number,
        "cost": format_cost,
        "reason": reason_words,
        "groupby_label": _by_label,
        "failure": failure_words,
        "by_reason": _by_reason,
        "place": place_words,
        "pair": format_pair,
        "count": format_count,
        "fields": field_words,
        "coverage": coverage_words,
        "interval": interval_words,
        "percent": format_percent,
        "metric_name": metric_words,
        "p_value": p_words,
        "reading_coverage": reading_coverage_words,
        "signed": signed,
        "signed_pair": signed_pair,
        "plain_p": plain_p_words,
    }


def _functions() -> dict[str, object]:
    return {
        "_": say,
        "html": say_html,
        "counted": say_count,
        "counted_html": say_count_html,
        "spoken": spoken,
        "counts_of": format_counts,
        "instrument_of": instrument_words,
        "query_behind": query_behind,
        "reason_query": reason_query,
        "mode_query": mode_query,
        "value_of": value_words,
        "all_judges": ALL_JUDGES,
        "directions": DIRECTION_WORDS,
        "label_words": LABEL_WORDS,
        "mark_words": MARK_WORDS,
        "label_colours": LABEL_COLOURS,
        "no_value": NO_VALUE,
        "consensus": CONSENSUS,
        "groups_of": _groups_of,
        "grid_of": _grid_of,
        "unmeasured_of": _unmeasured_of,
        "grid_of_judges": _grid_of_judges,
        "kind_words": KIND_WORDS,
        "hallucinating": HALLUCINATING,
        "difference_of": difference_words,
        "neighbours_of": neighbours,
        "difference_cells_of": difference_cells,
        "difference_values_of": difference_values,
        "result_of": result_words,
        "fairness_of": fairness_words,
        "caution_of": too_few_words,
        "pairs_of": _pairs_of,
        "tell": tell_fact_html,
        "tell_reason": tell_reason,
        "isolated": isolated,
        "aliases_of": _aliases_of,
        "tenth_words": tenth_words,
        "length_words": length_words,
        "pair_grid_of": pair_grid,
        "level_of": agreement_level,
        "advice_of": advice_html,
        "language_words": LANGUAGE_WORDS,
        "confused": [Label(name) for name in CONFUSED],
        **_baseline_functions(),
        **aspect_functions(),
    }


def _baseline_functions() -> dict[str, object]:
    return {
        "level_words": LEVEL_WORDS,
        "score_words": SCORE_WORDS,
        "baseline_of": baseline_words,
        "baseline_facts_of": _baseline_facts,
    }


def _aliases_of(metrics: Sequence[str], aliases: Mapping[str, str]) -> str:
    """Metrics in a row, by the names that the literature knows."""
    return ", ".join(aliases.get(metric, metric) for metric in metrics)


def _pairs_of(section: DifferenceSection) -> list[tuple[tuple[str, str], list[ModeDifference]]]:
    """The differences of a section, by the modes that are compared."""
    return pairs_of_modes(section.differences)


def _baseline_facts(judge: str, level: LevelBaselines, confidence: float) -> list[Fact]:
    """What a judge does not beat at this level, and what follows."""
    return [*level_facts(judge, level, at=confidence)]


def _by_label(rows: Sequence[ReasonCount]) -> list[tuple[Label, list[ReasonCount]]]:
    """Rows that stand together by label, under their label."""
    return [(label, list(group)) for label, group in groupby(rows, key=lambda row: row.label)]


def _by_reason(rows: Sequence[MetricRow]) -> list[UndefinedGroup]:
    """Figures without a value, by the reason for it."""
    return undefined_groups((row.text.alias, row.summary) for row in rows)


def _unmeasured_of(rows: Sequence[MetricRow]) -> MetricRow | None:
    """A row that tells what could not be measured, where all rows of a group that tell anything tell the same."""
    telling = [row for row in rows if row.summary.undecided or row.summary.failed]
    told = {(row.summary.undecided, row.summary.failed) for row in telling}
    return telling[0] if len(told) == 1 and len(telling) > 1 else None


def _groups_of(section: BreakdownSection) -> list[tuple[str, ...]]:
    """The groups of a breakdown in order of appearance."""
    return list(dict.fromkeys(tuple(row.summary.by.values()) for row in section.rows))


def _grid_of(section: BreakdownSection) -> list[tuple[MetricRow, dict[tuple[str, ...], MetricRow]]]:
    """For each metric (and judge) its rows by group."""
    lines: dict[tuple[str, str | None], dict[tuple[str, ...], MetricRow]] = {}
    for row in section.rows:
        key = (row.summary.metric, row.summary.judge)
        lines.setdefault(key, {})[tuple(row.summary.by.values())] = row
    return [(next(iter(cells.values())), cells) for cells in lines.values()]


def _grid_of_judges(section: JudgeSection) -> tuple[list[MetricRow], dict[str | None, dict[str, MetricRow]]]:
    """The metrics that say something of single judges, and for each judge its rows by metric."""
    columns: dict[str, MetricRow] = {}
    judges: dict[str | None, dict[str, MetricRow]] = {}
    for row in section.each:
        columns.setdefault(row.summary.metric, row)
        judges.setdefault(row.summary.judge, {})[row.summary.metric] = row
    told = {row.summary.metric for row in section.each if row.summary.value is not None}
    return [row for metric, row in columns.items() if metric in told], judges
