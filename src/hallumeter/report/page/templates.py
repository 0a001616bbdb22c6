"""The templates of a page, and the functions that they call."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import version
from importlib.util import cache_from_source
from itertools import groupby
from pathlib import Path

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket

from hallumeter.records.claim import Label
from hallumeter.records.measurement import MetricSummary
from hallumeter.report.behind import mode_query, query_behind, reason_query
from hallumeter.report.document import BreakdownSection, JudgeSection, MetricRow, ReasonCount
from hallumeter.report.drawing import LABEL_COLOURS
from hallumeter.report.integrity import LANGUAGE_WORDS
from hallumeter.report.judges import advice_html, agreement_level, pair_grid
from hallumeter.report.languages.speaking import say, say_count, say_count_html, say_html, spoken
from hallumeter.report.overview import format_percent, format_percents, isolated, tell_fact_html, tell_reason
from hallumeter.report.presentation import Behind, presentation_of
from hallumeter.report.reasons import UndefinedGroup, failure_words, place_words, reason_words, undefined_groups
from hallumeter.report.sections import CONFUSED
from hallumeter.report.segmentation import CONSENSUS
from hallumeter.report.verdict_charts import length_words, tenth_words
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
    p_words,
    signed,
    signed_pair,
    value_words,
)

_TEMPLATES = Path(__file__).parents[1] / "templates"
_TRIMS = True


class _CompiledTemplates(BytecodeCache):
    """Keeps compiled templates where Python keeps compiled modules: compiling them takes longer than a small audit."""

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """The name of the file; a template whose text has changed is compiled again in any case."""
        return hashlib.sha256(f"{name} {filename} {version('jinja2')} {_TRIMS}".encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read what is kept, if anything is."""
        with suppress(OSError), _place(bucket).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep it, unless the place may not be written to or Python was told to write none."""
        if sys.dont_write_bytecode:
            return
        place = _place(bucket)
        unfinished = place.with_name(f"{place.name}.{os.getpid()}")
        with suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            with unfinished.open("wb") as file:
                bucket.write_bytecode(file)
            unfinished.replace(place)


def _place(bucket: Bucket) -> Path:
    return Path(cache_from_source(str(_TEMPLATES / f"{bucket.key}.py")))


@cache
def templates(runs: tuple[str, ...] = ()) -> Environment:
    """The templates of a page on runs of these names; every text that they are given is escaped."""
    own = dict.fromkeys(shown.templates for shown in map(presentation_of, runs) if shown.templates is not None)
    environment = Environment(
        loader=FileSystemLoader([_TEMPLATES, *own]),
        autoescape=True,
        undefined=StrictUndefined,
        bytecode_cache=_CompiledTemplates(),
        trim_blocks=_TRIMS,
        lstrip_blocks=_TRIMS,
    )
    environment.filters.update(_filters())
    environment.globals.update(_functions())
    environment.tests["widened"] = _is_widened
    behind: dict[str, Behind] = {}
    for run in runs:
        shown = presentation_of(run)
        behind |= shown.behind
        environment.filters.update(shown.filters())
        environment.globals.update(shown.functions())
    environment.globals["query_behind"] = partial(query_behind, behind=behind)
    environment.globals["mode_query"] = partial(mode_query, behind=behind)
    return environment


def _is_widened(summary: MetricSummary) -> bool:
    """Whether what could not be measured leaves several values possible."""
    return summary.bounds is not None and summary.bounds[0] != summary.bounds[1]


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
        "capitalized": lambda text: text[:1].upper() + text[1:],
        "interval": interval_words,
        "percent": format_percent,
        "percents": format_percents,
        "signed": signed,
        "plain_p": p_words,
        "signed_pair": signed_pair,
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
        "reason_query": reason_query,
        "value_of": value_words,
        "all_judges": ALL_JUDGES,
        "directions": DIRECTION_WORDS,
        "label_words": LABEL_WORDS,
        "label_colours": LABEL_COLOURS,
        "no_value": NO_VALUE,
        "consensus": CONSENSUS,
        "groups_of": _groups_of,
        "grid_of": _grid_of,
        "unmeasured_of": _unmeasured_of,
        "grid_of_judges": _grid_of_judges,
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
    }


def _aliases_of(metrics: Sequence[str], aliases: Mapping[str, str]) -> str:
    """Metrics in a row, by the names that the literature knows."""
    return ", ".join(aliases.get(metric, metric) for metric in metrics)


def _by_label(rows: Sequence[ReasonCount]) -> list[tuple[Label, list[ReasonCount]]]:
    """Rows that stand together by label, under their label."""
    return [(label, list(group)) for label, group in groupby(rows, key=lambda row: row.label)]


def _by_reason(rows: Sequence[MetricRow]) -> list[UndefinedGroup]:
    """Figures without a value, by the reason for it."""
    return undefined_groups((row.text.alias, row.summary) for row in rows)


def _unmeasured_of(rows: Sequence[MetricRow]) -> MetricRow | None:
    """A row that tells what could not be measured, where all rows of a group that tell anything tell the same."""
    telling = [row for row in rows if row.summary.undecided or row.summary.failed]
    missing = {(row.summary.undecided, row.summary.failed) for row in telling}
    return telling[0] if len(missing) == 1 and len(telling) > 1 else None


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
    defined = {row.summary.metric for row in section.each if row.summary.value is not None}
    return [row for metric, row in columns.items() if metric in defined], judges
