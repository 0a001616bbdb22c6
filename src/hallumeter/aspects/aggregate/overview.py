"""What scorecards tell beside their rates: parts of wholes, ways of counting, warnings about debates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from hallumeter.aspects.metrics.counts import SPAN_COUNTS
from hallumeter.aspects.metrics.rates import ARBITER_FLAGS, MODERATOR_RULES, OF_SENTENCES, WHOLE
from hallumeter.aspects.offset_conventions import suggested_convention
from hallumeter.aspects.settings import MappingThresholds
from hallumeter.records.measurement import MetricSummary
from hallumeter.records.summaries import AspectSummary, Breakdown, MappingWarning
from hallumeter.stats.intervals import wilson_interval

from .counted import OTHERS, CardCounts
from .rows import run_name, spread_of
from .settings import AggregateSettings

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
