"""What scorecards add up to: by which settings, a row for every metric, and what they say beside their rates."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.aspects.blame.tables import BlamePartial
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
from hallumeter.aspects.records.blame import BlameTable
from hallumeter.aspects.records.columns import ASPECT_COUNTS, CaseColumns
from hallumeter.aspects.score.quality import PROFILES
from hallumeter.aspects.settings import MappingThresholds
from hallumeter.errors import SettingsError
from hallumeter.records.measurement import SUMMARY_VERSION, Counts, MetricSummary, Summary
from hallumeter.records.metric import Metric
from hallumeter.records.rate import Rate, Rates
from hallumeter.records.summaries import AspectSummary, Breakdown, MappingWarning, SeedSpread
from hallumeter.run.engines.local import map_in_order
from hallumeter.run.run_folder import decoded_partial, read_partial
from hallumeter.stats.intervals import manski_bounds, wilson_interval
from hallumeter.stats.summarize import (
    Slice,
    SummarySettings,
    check_interval_settings,
    summarize_patterns,
    summarize_rates,
)
from hallumeter.stats.tally import Exact, RateTally, added, exact_sum_of, rounded

from .counted import OTHERS, CardCounts, RunKey, bounded_parts, run_name
from .tables import drop_words

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


_OF_ALL = ("told", "classified", "final_known", "validated", "delta_known", "pairs_known", "bucketed")
"""Totals that every sentence would have been in that failed."""
_OF_GOLD = ("gold_s1", "gold_final")
"""Totals that every sentence with gold would have been in that failed."""
_OF_ATTEMPTS = ("attempted", "implicit_gold", "tokens_known", "cost_known", "latency_known")
"""Totals that sentences that failed are in."""


class RunTally(Struct, frozen=True):
    """What the scorecards of one run add up to, or those of all."""

    run: RunKey | None = None
    """None for all."""
    totals: dict[str, Exact] = {}
    """Counts added up over all scorecards; those that are not 0."""
    rates: dict[str, RateTally] = {}
    """By metric, over sentences; of a mean of differences as a share of the way from -1 to 1."""
    differences: dict[str, tuple[Exact, Exact]] = {}
    """Count and total of means of differences."""
    risks: tuple[tuple[int, int, int], ...] = ()
    """Different numbers of risks of a sentence before and after, in order, and how many sentences have them."""
    is_each_once: bool = True
    """Whether no sentence stands among them twice."""
    breakdowns: dict[str, dict[str, int]] = {}

    def merge(self, other: RunTally) -> RunTally:
        """Both together; all scorecards of a sentence are in one of them."""
        return RunTally(
            self.run,
            {
                name: added(self.totals.get(name, ()), other.totals.get(name, ()))
                for name in sorted({*self.totals, *other.totals})
            },
            {
                name: self.rates.get(name, RateTally()).merge(other.rates.get(name, RateTally()))
                for name in sorted({*self.rates, *other.rates})
            },
            {
                name: (added(count, other.differences[name][0]), added(total, other.differences[name][1]))
                for name, (count, total) in self.differences.items()
            },
            _counted((*self.risks, *other.risks)),
            self.is_each_once and other.is_each_once,
            _added_breakdowns(self.breakdowns, other.breakdowns),
        )

    def total(self, name: str) -> float:
        """One count added up."""
        return rounded(self.totals.get(name, ()))

    @property
    def by(self) -> dict[str, str]:
        """The group that they are."""
        return {} if self.run is None else run_name(self.run)


def _counted(cells: Iterable[tuple[int, int, int]]) -> tuple[tuple[int, int, int], ...]:
    times: Counter[tuple[int, int]] = Counter()
    for before, after, number in cells:
        times[before, after] += number
    return tuple((before, after, number) for (before, after), number in sorted(times.items()))


def _added_breakdowns(*several: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    found: Counter[tuple[str, str]] = Counter()
    for breakdowns in several:
        for name, parts in breakdowns.items():
            for part, number in parts.items():
                found[name, part] += number
    kept: dict[str, dict[str, int]] = {}
    for (name, part), number in sorted(bounded_parts(found).items()):
        kept.setdefault(name, {})[part] = number
    return kept


class AspectsPartial(Struct, frozen=True, kw_only=True):
    """What some scorecards add up to."""

    settings: AggregateSettings
    numbers: SummarySettings
    runs: tuple[RunKey, ...]
    tallies: tuple[RunTally, ...]
    """Of all scorecards, then of each run."""
    profiles: dict[str, int]
    cards: int
    claims: int
    failures: int
    """Lines that could not be read."""
    repeated: int
    """Scorecards of a sentence that its run has one of already."""
    blame: BlamePartial | None = None
    """Who made which error; None where only scorecards are known."""

    def merge(self, other: AspectsPartial) -> AspectsPartial:
        """Both parts together; all scorecards of a sentence are in one of them."""
        if (self.settings, self.numbers) != (other.settings, other.numbers):
            raise SettingsError("parts that were measured with different settings or versions cannot be merged")
        runs = self.runs or other.runs
        if other.runs and other.runs != runs:
            runs = tuple(sorted({*self.runs, *other.runs}, key=_run_order))
        found: dict[RunKey | None, RunTally] = {}
        for tally in (*self.tallies, *other.tallies):
            found[tally.run] = found[tally.run].merge(tally) if tally.run in found else tally
        return AspectsPartial(
            settings=self.settings,
            numbers=self.numbers,
            runs=runs,
            tallies=tuple(found[run] for run in (None, *runs) if run in found),
            profiles=dict(sorted((Counter(self.profiles) + Counter(other.profiles)).items())),
            cards=self.cards + other.cards,
            claims=self.claims + other.claims,
            failures=self.failures + other.failures,
            repeated=self.repeated + other.repeated,
            blame=self.blame if self.blame is None or other.blame is None else self.blame.merge(other.blame),
        )

    def to_bytes(self) -> bytes:
        """As JSON; equal partials give equal bytes."""
        return msgspec.json.encode(self)

    def summary(self, *, workers: int = 1) -> Summary:
        """Every metric of all scorecards and of each run, and what they say beside; in so many processes."""
        told = [tally for tally in self.tallies if tally.run is None or len(self.runs) > 1]
        rows = metric_rows(told, self.numbers, workers=workers)
        aspects = aspect_summary(self, told, rows)
        blamed = () if self.blame is None else blame_rows(self.blame.table())
        return Summary(
            version=SUMMARY_VERSION,
            instrument=INSTRUMENT,
            counts=Counts(
                records=self.cards,
                claims=self.claims,
                verdicts=self.claims,
                failures=self.failures + aspects.failed,
                judges=1,
                models=len(self.runs),
            ),
            metrics=(*rows, *blamed),
            notices=(*_notices(self), *drop_words(aspects)),
            aspects=aspects,
        )


def blame_rows(table: BlameTable) -> tuple[MetricSummary, ...]:
    """Who made which error, as rows of a summary.

    What steps had nothing to do with stands in blame.csv alone: it would fill the report with rows that say nothing.
    """
    return tuple(row for row in table.rows if row.value is not None)


def _run_order(run: RunKey) -> tuple[str, int]:
    return run[0], -1 if run[1] is None else run[1]


def _notices(partial: AspectsPartial) -> Iterator[str]:
    whole, chosen = partial.tallies[0], partial.settings.profile
    left_out = sum(number for name, number in partial.profiles.items() if name != chosen)
    if chosen is not None and left_out:
        text = ", ".join(f"{name or 'none'} {number:,}" for name, number in partial.profiles.items())
        yield f"scorecards of other profiles than {chosen}, left out: {left_out:,} (profiles found: {text})"
    if len(partial.runs) == 1:
        yield "there is one run: how consistent runs are with each other is not known"
    if partial.repeated:
        yield f"scorecards of a sentence that its run has one of already: {partial.repeated:,}"
    if whole.total("unequal_gold") or whole.total("unequal_final"):
        yield "gold or results do not match themselves; nothing measured against gold can be trusted"


def partial_of(folder: Path) -> AspectsPartial:
    """The partial that a finished run has kept."""
    return partial_from_bytes(read_partial(folder))


def partial_from_bytes(data: bytes) -> AspectsPartial:
    """A partial as `AspectsPartial.to_bytes` wrote it."""
    return decoded_partial(data, AspectsPartial)


def partial_of_counts(card_counts: CardCounts, settings: AggregateSettings, numbers: SummarySettings) -> AspectsPartial:
    """What scorecards add up to."""
    return AspectsPartial(
        settings=structs.replace(settings, workers=1, is_strict=False),
        numbers=numbers,
        runs=tuple(card_counts.runs),
        tallies=tuple(_tallies(card_counts, workers=settings.workers)),
        profiles=dict(sorted(card_counts.profiles.items())),
        cards=len(card_counts),
        claims=card_counts.claims,
        failures=card_counts.failures_total,
        repeated=card_counts.repeated_in_a_run,
    )


# From the counts of single scorecards to what they add up to.


class _Part(Struct, frozen=True, eq=False):
    """Some of the scorecards: those of one run, or all of them."""

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


def _tallies(card_counts: CardCounts, *, workers: int) -> Iterator[RunTally]:
    """All scorecards, and those of each run."""
    cases, runs = card_counts.cases, card_counts.run_codes
    breakdowns = {run: _by_name(counts) for run, counts in card_counts.breakdowns.items()}
    whole = _Part(card_counts, None, _clusters(cases), case_columns(cases, runs, card_counts.said))
    found = _tally(whole, cases, workers=workers)
    yield structs.replace(found, breakdowns=_added_breakdowns(*breakdowns.values()))
    for run, code in card_counts.runs.items():
        rows = np.flatnonzero(runs == code)
        part = _Part(card_counts, rows, _clusters(cases[rows]), CaseColumns.of([]))
        own = found
        if len(card_counts.runs) > 1:
            own = _tally(part, cases[rows], workers=workers)
        elif found.rates.keys() & _OF_CASES:
            own = structs.replace(found, rates={k: v for k, v in found.rates.items() if k not in _OF_CASES})
        yield structs.replace(own, run=run, breakdowns=_added_breakdowns(breakdowns.get(run, {})))


_OF_CASES = frozenset(metric.id for metric in ASPECT_METRICS if metric.reads == "aspect_cases")


def _by_name(counts: Mapping[tuple[str, str], int]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (name, part), number in counts.items():
        found.setdefault(name, {})[part] = number
    return found


def _tally(part: _Part, cases: NDArray[np.int64], *, workers: int) -> RunTally:
    places = range(len(ASPECT_METRICS))
    tallied = partial(_share_tallies, part=part)
    with closing(
        map_in_order(tallied, [list(places[first::_SHARES]) for first in range(_SHARES)], workers=workers)
    ) as found:
        rates = {name: tally for share in found for name, tally in share if tally.clusters}
    totals = {name: exact_sum_of(part.column(name)) for name in sorted(ASPECT_COUNTS)}
    differing = [metric for metric in ASPECT_METRICS if _is_difference(metric)]
    raw: dict[str, Rates] = {metric.id: metric.compute(part) for metric in differing}
    sums = Rates(*(part.column(name) for name in RESOLUTION[::-1])).pooled_by(part.clusters)
    pairs, times = np.unique(np.stack([sums.totals, sums.counts]).astype(np.int64), axis=1, return_counts=True)
    return RunTally(
        totals={name: total for name, total in totals.items() if total},
        rates=dict(sorted(rates.items())),
        differences={
            name: (exact_sum_of(each.counts), exact_sum_of(each.totals)) for name, each in sorted(raw.items())
        },
        risks=_counted(zip(*pairs.tolist(), times.tolist(), strict=True)),
        is_each_once=len(np.unique(cases)) == len(cases),
    )


def _is_difference(metric: Metric) -> bool:
    """Whether it is a mean of differences between -1 and 1."""
    return metric.is_poolable and metric.range[0] < 0 and metric.reads != "aspect_cases"


def _share_tallies(share: list[int], part: _Part) -> list[tuple[str, RateTally]]:
    found = []
    for place in share:
        metric = ASPECT_METRICS[place]
        if metric.reads == "aspect_cases":
            found.append((metric.id, RateTally.of(metric.compute(part.cases))))
        elif metric.is_poolable:
            rates: Rates = metric.compute(part)
            if _is_difference(metric):
                rates = Rates((rates.counts + rates.totals) / 2, rates.totals)
            found.append((metric.id, RateTally.of(rates.pooled_by(part.clusters))))
    return found


def _clusters(cases: NDArray[np.int64]) -> NDArray[np.intp]:
    return np.unique(cases, return_inverse=True)[1].astype(np.intp)


# A row for every metric.


def metric_rows(parts: Sequence[RunTally], settings: SummarySettings, *, workers: int) -> list[MetricSummary]:
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


def _share_rows(
    share: list[tuple[int, int]], parts: Sequence[RunTally], settings: SummarySettings
) -> list[tuple[tuple[int, int], MetricSummary]]:
    return [((part, metric), _row(parts[part], ASPECT_METRICS[metric], settings)) for part, metric in share]


def _row(part: RunTally, metric: Metric, settings: SummarySettings) -> MetricSummary:
    failed = int(part.total("failed"))
    slice_ = Slice(part.by, None, failed=failed)
    tally = part.rates.get(metric.id, RateTally())
    if metric.reads == "aspect_cases":
        return summarize_rates(metric, tally, slice_, settings=settings)
    if not metric.is_poolable:
        return _resolution_row(part, metric, slice_, settings=settings)
    total = metric.compute.keywords["total"]  # type: ignore[attr-defined]
    undecided = int(part.total("samples") - part.total("classified"))
    if total in ("classified", "classified_aspects"):
        slice_ = structs.replace(slice_, undecided=undecided)
    if total in _OF_ATTEMPTS:
        slice_ = structs.replace(slice_, failed=0)
    if _is_difference(metric):
        return _difference_row(part, metric, slice_, settings=settings)
    bounds = _bounds(part, metric, tally.pooled, total=total)
    row = summarize_rates(metric, tally, slice_, settings=settings, bounds=bounds)
    is_open = bounds is None and slice_.failed > 0
    return structs.replace(row, bounds=None) if is_open else row


def _difference_row(part: RunTally, metric: Metric, slice_: Slice, *, settings: SummarySettings) -> MetricSummary:
    """A mean of differences between -1 and 1, taken as a share of the way from one to the other."""
    row = summarize_rates(metric, part.rates.get(metric.id, RateTally()), slice_, settings=settings)
    interval = None if row.interval is None else (2 * row.interval[0] - 1, 2 * row.interval[1] - 1)
    count, total = part.differences.get(metric.id, ((), ()))
    pooled = Rate(rounded(count), rounded(total))
    bounds = None if slice_.failed or pooled.value is None else (pooled.value, pooled.value)
    return structs.replace(row, count=pooled.count, value=pooled.value, interval=interval, bounds=bounds)


def _resolution_row(part: RunTally, metric: Metric, slice_: Slice, *, settings: SummarySettings) -> MetricSummary:
    """Risks before and after, added up within every sentence."""
    cells = np.array(part.risks, dtype=np.int64).reshape(-1, 3)
    clusters = np.repeat(cells[:, :2], cells[:, 2], axis=0)
    row = summarize_patterns(metric, clusters, slice_, settings=settings, statistic=resolution_of_sums)
    before, after = (float(clusters[:, place].sum()) for place in range(2))
    return structs.replace(row, count=before - after, total=before)


def _bounds(part: RunTally, metric: Metric, pooled: Rate, *, total: str) -> tuple[float, float] | None:
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
    partial: AspectsPartial, tallies: Sequence[RunTally], rows: Sequence[MetricSummary]
) -> AspectSummary:
    """Everything beside the rates."""
    whole, settings = tallies[0], partial.settings
    right_under = {name: int(whole.total(name)) for name in SPAN_COUNTS}
    bucketed = whole.total("bucketed")
    buckets = sum(whole.total(name) for name in ("implicit", "explicit", "explicit_failure", "unsupported"))
    return AspectSummary(
        samples=partial.cards,
        failed=int(whole.total("failed")),
        with_gold=int(whole.total("gold") + whole.total("failed_gold")),
        profile=settings.profile,
        profiles=partial.profiles,
        runs=tuple(run_name(run) for run in partial.runs),
        right_under=right_under,
        suggested_convention=suggested_convention(right_under),
        grounding_sum=buckets / bucketed if bucketed else None,
        breakdowns=tuple(each for tally in tallies for each in _breakdowns(tally, settings.confidence)),
        warnings=tuple(_warnings({row.metric: row for row in rows if not row.by}, settings.thresholds)),
        spread=tuple(spread_of(rows)),
        unequal_gold=int(whole.total("unequal_gold")),
        unequal_final=int(whole.total("unequal_final")),
    )


def _breakdowns(tally: RunTally, confidence: float) -> Iterator[Breakdown]:
    counts = Counter(
        {(name, part): number for name, parts in tally.breakdowns.items() for part, number in parts.items()}
    )
    return _of_counts(counts, tally.by, confidence=confidence if tally.is_each_once else None)


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
