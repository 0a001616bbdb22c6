"""What scorecards add up to: by which settings, a row for every metric, and what they say beside their rates."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.aspects.catalog import ASPECT_METRICS
from hallumeter.aspects.grounding import suggested_convention
from hallumeter.aspects.metrics.counts import SPAN_COUNTS
from hallumeter.aspects.metrics.rates import (
    ARBITER_FLAGS,
    MODERATOR_RULES,
    OF_SENTENCES,
    RESOLUTION,
    WHOLE,
    case_columns,
    resolution_of_sums,
)
from hallumeter.aspects.records.columns import CaseColumns
from hallumeter.aspects.score.quality import PROFILES
from hallumeter.aspects.settings import MappingThresholds
from hallumeter.errors import SettingsError
from hallumeter.records.measurement import MetricSummary
from hallumeter.records.metric import Metric
from hallumeter.records.rate import Rates
from hallumeter.records.summaries import AspectSummary, Breakdown, MappingWarning, SeedSpread
from hallumeter.run.engines.local import map_in_order
from hallumeter.stats.intervals import manski_bounds, wilson_interval
from hallumeter.stats.summarize import (
    Slice,
    SummarySettings,
    check_interval_settings,
    summarize_patterns,
    summarize_rates,
)

from .counted import OTHERS, CardCounts, RunKey

INSTRUMENT = "aspects"


class AggregateSettings(Struct, frozen=True, kw_only=True):
    """Which scorecards count, and how sure their rates are said to be."""

    profile: str | None = None
    """Only scorecards of this profile; None for all."""
    thresholds: MappingThresholds = MappingThresholds()
    is_strict: bool = False
    """Stop at a line that cannot be used."""
    workers: int = 1
    seed: int = 0
    resamples: int = 2_000
    confidence: float = 0.95

    def __post_init__(self) -> None:
        check_interval_settings(confidence=self.confidence, resamples=self.resamples, seed=self.seed)
        if self.profile is not None and self.profile not in PROFILES:
            raise SettingsError(f"no profile is called {self.profile!r}; expected one of {', '.join(PROFILES)}")


RUN, SEED = "run", "seed"
UNNAMED = "unnamed"
"""What a run is called whose scorecards do not name it; nothing stands for all runs together."""
_OF_ALL = ("told", "classified", "final_known", "validated", "delta_known", "pairs_known", "bucketed")
"""Totals that every sentence would have been in that failed."""
_OF_GOLD = ("gold_s1", "gold_final")
"""Totals that every sentence with gold would have been in that failed."""
_OF_ATTEMPTS = ("attempted", "implicit_gold", "tokens_known", "cost_known", "latency_known")
"""Totals that sentences that failed are in."""


class Part(Struct, frozen=True, eq=False):
    """Some of the scorecards: those of one run, or all of them."""

    by: dict[str, str]
    card_counts: CardCounts
    rows: NDArray[np.intp] | None
    """Which of them; None for all."""
    clusters: NDArray[np.intp]
    """Which sentence each is of, from 0 without gaps."""
    cases: CaseColumns

    def column(self, name: str) -> NDArray[np.float64]:
        """One count."""
        column = self.card_counts.column(name)
        return column if self.rows is None else column[self.rows]

    def total(self, name: str) -> float:
        """One count added up."""
        return float(self.column(name).sum())


def run_name(run: RunKey) -> dict[str, str]:
    """A run as the group that it is.

    >>> run_name(("demo", 1)), run_name(("", None))
    ({'run': 'demo', 'seed': '1'}, {'run': 'unnamed'})
    """
    name = run[0] or UNNAMED
    return {RUN: name} if run[1] is None else {RUN: name, SEED: str(run[1])}


def parts_of(card_counts: CardCounts) -> list[Part]:
    """All scorecards, and those of each run when there are several."""
    cases, runs = card_counts.cases, card_counts.run_codes
    parts = [Part({}, card_counts, None, _clusters(cases), case_columns(cases, runs, card_counts.said))]
    for run, code in card_counts.runs.items() if len(card_counts.runs) > 1 else ():
        rows = np.flatnonzero(runs == code)
        parts.append(Part(run_name(run), card_counts, rows, _clusters(cases[rows]), CaseColumns.of([])))
    return parts


def metric_rows(parts: Sequence[Part], settings: SummarySettings, *, workers: int) -> list[MetricSummary]:
    """Every metric of every part."""
    tasks = [(part, metric) for part in range(len(parts)) for metric in range(len(ASPECT_METRICS))]
    shares = [tasks[first::_SHARES] for first in range(_SHARES)]
    summarize = partial(_share_rows, parts=parts, settings=settings)
    with closing(map_in_order(summarize, shares, workers=workers)) as found:
        rows = dict(row for share in found for row in share)
    return [rows[task] for task in tasks]


_SHARES = 8
"""Into how many the work is cut."""


def spread_of(rows: Sequence[MetricSummary]) -> Iterator[SeedSpread]:
    """Mean and deviation of each metric over the runs; nothing for a single run."""
    by_metric: dict[str, list[MetricSummary]] = {}
    for row in rows:
        if row.by:
            by_metric.setdefault(row.metric, []).append(row)
    for metric, found in by_metric.items():
        values = [row.value for row in found if row.value is not None]
        mean = math.fsum(values) / len(values) if values else None
        deviation = None
        if mean is not None and len(values) > 1:
            deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
        yield SeedSpread(metric, mean, deviation, len(values))


def _clusters(cases: NDArray[np.int64]) -> NDArray[np.intp]:
    return np.unique(cases, return_inverse=True)[1].astype(np.intp)


def _share_rows(
    share: list[tuple[int, int]], parts: Sequence[Part], settings: SummarySettings
) -> list[tuple[tuple[int, int], MetricSummary]]:
    return [((part, metric), _row(parts[part], ASPECT_METRICS[metric], settings)) for part, metric in share]


def _row(part: Part, metric: Metric, settings: SummarySettings) -> MetricSummary:
    failed = int(part.total("failed"))
    slice_ = Slice(part.by, None, failed=failed)
    if metric.reads == "aspect_cases":
        return summarize_rates(metric, metric.compute(part.cases), slice_, settings=settings)
    if not metric.is_poolable:
        return _resolution_row(part, metric, slice_, settings=settings)
    total = metric.compute.keywords["total"]  # type: ignore[attr-defined]
    undecided = int(part.total("samples") - part.total("classified"))
    if total in ("classified", "classified_aspects"):
        slice_ = structs.replace(slice_, undecided=undecided)
    if total in _OF_ATTEMPTS:
        slice_ = structs.replace(slice_, failed=0)
    rates: Rates = metric.compute(part)
    if metric.range[0] < 0:
        return _difference_row(part, metric, rates, slice_=slice_, settings=settings)
    bounds = _bounds(part, metric, rates, total=total)
    row = summarize_rates(metric, rates.pooled_by(part.clusters), slice_, settings=settings, bounds=bounds)
    is_open = bounds is None and slice_.failed > 0
    return structs.replace(row, bounds=None) if is_open else row


def _difference_row(
    part: Part, metric: Metric, rates: Rates, *, slice_: Slice, settings: SummarySettings
) -> MetricSummary:
    """A mean of differences between -1 and 1, taken as a share of the way from one to the other."""
    shares = Rates((rates.counts + rates.totals) / 2, rates.totals).pooled_by(part.clusters)
    row = summarize_rates(metric, shares, slice_, settings=settings)
    interval = None if row.interval is None else (2 * row.interval[0] - 1, 2 * row.interval[1] - 1)
    pooled = rates.pooled
    bounds = None if slice_.failed or pooled.value is None else (pooled.value, pooled.value)
    return structs.replace(row, count=pooled.count, value=pooled.value, interval=interval, bounds=bounds)


def _resolution_row(part: Part, metric: Metric, slice_: Slice, *, settings: SummarySettings) -> MetricSummary:
    """Risks before and after, added up within every sentence."""
    before, after = (part.column(name) for name in RESOLUTION)
    sums = Rates(after, before).pooled_by(part.clusters)
    clusters = np.stack([sums.totals, sums.counts], axis=1).astype(np.int64)
    row = summarize_patterns(metric, clusters, slice_, settings=settings, statistic=resolution_of_sums)
    return structs.replace(row, count=float(before.sum() - after.sum()), total=float(before.sum()))


def _bounds(part: Part, metric: Metric, rates: Rates, *, total: str) -> tuple[float, float] | None:
    """What a share could be if sentences that failed had been measured; None where nobody can tell."""
    unmeasured = 0.0
    if total in _OF_ALL:
        unmeasured = part.total("failed")
    elif total in _OF_GOLD:
        unmeasured = part.total("failed_gold")
    if total == "classified":
        unmeasured += part.total("samples") - part.total("classified")
    if not unmeasured or metric.range[1] is None:
        return None
    pooled = rates.pooled
    return manski_bounds(pooled.count, pooled.total, unmeasured)


BREAKDOWNS = (
    "drop_class",
    "offset_error",
    "offset_convention",
    "risk",
    "change_type",
    "ignored_reason",
    "mapping_fail_reason",
    "override",
    "moderator_rule",
    "arbiter_flag",
    "rule_e_block_reason",
    "selected_stage",
    "quality_fail_reason",
    "latency_gate",
    "failure",
)
"""In the order in which they are told."""
_ALWAYS = {
    "drop_class": ("H1", "H2", "filter"),
    "moderator_rule": MODERATOR_RULES,
    "arbiter_flag": (*ARBITER_FLAGS, "confidence_margin_used"),
    "failure": ("parse_failed", "generate_failed"),
}
"""Parts that are told even where there is none."""
_ADVICE = {
    "debate_mapping_coverage": (
        "few turns name an aspect of the sentence: let the debate's prompts copy aspect terms letter by letter"
    ),
    "debate_fail_no_match_rate": (
        "turns speak of aspects that nobody extracted: add synonyms to the pattern file, or look at what ATE misses"
    ),
    "debate_fail_neutral_stance_rate": (
        "turns take no side: let the debate's prompts ask for an edit with a polarity in every turn"
    ),
}


def aspect_summary(
    card_counts: CardCounts, rows: Sequence[MetricSummary], settings: AggregateSettings
) -> AspectSummary:
    """Everything beside the rates."""
    right_under = {name: int(card_counts.total(name)) for name in SPAN_COUNTS}
    whole = {row.metric: row for row in rows if not row.by}
    bucketed = card_counts.total("bucketed")
    buckets = sum(card_counts.total(name) for name in ("implicit", "explicit", "explicit_failure", "unsupported"))
    return AspectSummary(
        samples=len(card_counts),
        failed=int(card_counts.total("failed")),
        with_gold=int(card_counts.total("gold") + card_counts.total("failed_gold")),
        profile=settings.profile,
        profiles=dict(sorted(card_counts.profiles.items())),
        runs=tuple(run_name(run) for run in card_counts.runs),
        right_under=right_under,
        suggested_convention=suggested_convention(right_under),
        grounding_sum=buckets / bucketed if bucketed else None,
        breakdowns=tuple(_breakdowns(card_counts, settings.confidence)),
        warnings=tuple(_warnings(whole, settings.thresholds)),
        spread=tuple(spread_of(rows)),
        unequal_gold=int(card_counts.total("unequal_gold")),
        unequal_final=int(card_counts.total("unequal_final")),
    )


def _breakdowns(card_counts: CardCounts, confidence: float) -> Iterator[Breakdown]:
    """All scorecards first, then each run when there are several."""
    whole: Counter[tuple[str, str]] = Counter()
    for counts in card_counts.breakdowns.values():
        whole.update(counts)
    cases, runs = card_counts.cases, card_counts.run_codes
    yield from _of_counts(whole, {}, confidence=confidence if _is_each_once(cases) else None)
    if len(card_counts.runs) < 2:
        return
    for run, code in card_counts.runs.items():
        bound = confidence if _is_each_once(cases[runs == code]) else None
        yield from _of_counts(card_counts.breakdowns[run], run_name(run), confidence=bound)


def _is_each_once(cases: NDArray[np.int64]) -> bool:
    """Whether no sentence stands among others twice."""
    return len(np.unique(cases)) == len(cases)


def _of_counts(
    counts: Counter[tuple[str, str]], by: dict[str, str], *, confidence: float | None
) -> Iterator[Breakdown]:
    """The breakdowns of some scorecards; without a confidence, none of them has intervals."""
    for name in BREAKDOWNS:
        found = {part: number for (of, part), number in counts.items() if of == name and part != WHOLE}
        if not found and not counts[name, WHOLE]:
            continue
        known = [*_ALWAYS.get(name, ()), *sorted(found, key=lambda part: (-found[part], part))]
        parts = {part: found.get(part, 0) for part in dict.fromkeys(known)}
        total = counts[name, WHOLE] or sum(found.values())
        intervals = None if confidence is None or name not in OF_SENTENCES else _intervals(parts, total, confidence)
        yield Breakdown(name, total, parts, by, intervals)


def _intervals(parts: dict[str, int], total: int, confidence: float) -> dict[str, tuple[float, float]]:
    """Of every part but the one in which others are gathered, to which a sentence may add several."""
    found = {
        part: wilson_interval(number, total, confidence=confidence) for part, number in parts.items() if part != OTHERS
    }
    return {part: (interval.low, interval.high) for part, interval in found.items() if interval is not None}


def _warnings(rows: dict[str, MetricSummary], bounds: MappingThresholds) -> Iterator[MappingWarning]:
    """Debates that map badly: HIGH beyond the outer bound, WARN beyond the inner one."""
    checks = (
        ("debate_mapping_coverage", -1, bounds.coverage_warn, bounds.coverage_high),
        ("debate_fail_no_match_rate", 1, bounds.no_match_warn, bounds.no_match_high),
        ("debate_fail_neutral_stance_rate", 1, bounds.neutral_warn, bounds.neutral_high),
    )
    for metric, direction, warn, high in checks:
        row = rows.get(metric)
        value = None if row is None else row.value
        if value is None:
            continue
        for level, bound in (("HIGH", high), ("WARN", warn)):
            if direction * (value - bound) > 0:
                yield MappingWarning(level, metric, value, bound, _ADVICE[metric])
                break
