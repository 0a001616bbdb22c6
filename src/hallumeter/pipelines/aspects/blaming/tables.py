"""The blame of many sentences: rates by step and kind of error, with intervals by resampling sentences."""

from __future__ import annotations

from collections import Counter, defaultdict
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from hallumeter.metrics.aspects.blame import BLAME_RATES, COUNTS
from hallumeter.metrics.catalog.aspect_blame import ASPECT_BLAME_METRICS
from hallumeter.records.aspects import STEPS
from hallumeter.records.aspects.blame import COARSE_STEPS, ERROR_KINDS, SPEAKERS, BlameColumns, BlameTable
from hallumeter.summary import Slice, SummarySettings, summarize_rates

from .sentences import blame_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from hallumeter.metrics.catalog import Metric
    from hallumeter.records import MetricSummary
    from hallumeter.records.aspects import PipelineOutput
    from hallumeter.records.aspects.blame import ErrorKind, SentenceBlame, StepTally


AGAINST_GOLD = "against_gold"
"""Spurious, missing and wrong polarity together."""
_GROUPS: dict[str, tuple[ErrorKind, ...]] = {
    **{str(kind): (kind,) for kind in ERROR_KINDS},
    AGAINST_GOLD: ("spurious", "missing", "polarity"),
}
_SPOKEN = ("detection", "false_alarm")
_ORDER = (*STEPS[:4], *SPEAKERS[:5], "validator_proposals", *SPEAKERS[5:], *STEPS[7:], *COARSE_STEPS)


class BlameSums:
    """Adds up the blame of sentences. Sentences with the same id, as of repeated runs, are resampled together."""

    def __init__(self) -> None:
        self._tallies: dict[str, tuple[StepTally, ...]] = {}
        self._known: dict[tuple[StepTally, ...], tuple[StepTally, ...]] = {}
        self._seen: Counter[str] = Counter()
        self._undefined: Counter[str] = Counter()
        self._introduced: dict[str, Counter[str]] = defaultdict(Counter)
        self._ignored: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, blame: SentenceBlame) -> None:
        """Take in one sentence."""
        self._seen["sentences"] += 1
        if blame.undefined is not None:
            self._undefined[blame.undefined] += 1
            return
        self._seen["gold"] += blame.has_gold
        self._seen["coarse"] += blame.is_coarse
        tallies = (*self._tallies.get(blame.text_id, ()), *blame.tallies)
        self._tallies[blame.text_id] = self._known.setdefault(tallies, tallies)
        for unit in blame.units:
            if unit.does_stand_at_end:
                self._introduced[unit.error][unit.introduced_by] += 1
                for each in unit.ignored_by:
                    self._ignored[each.by][each.reason] += 1

    def table(self, settings: SummarySettings | None = None) -> BlameTable:
        """All rates of all steps that were taken."""
        return BlameTable(
            sentences=self._seen["sentences"],
            with_gold=self._seen["gold"],
            coarse=self._seen["coarse"],
            undefined=dict(sorted(self._undefined.items())),
            introduced_errors=_nested(self._introduced, ERROR_KINDS),
            ignored_errors=_nested(self._ignored, _ORDER),
            rows=tuple(self._rows(blame_settings() if settings is None else settings)),
        )

    def _rows(self, settings: SummarySettings) -> Iterator[MetricSummary]:
        cells, weights = _cells(Counter(self._tallies.values()))
        for step in sorted({step for step, _ in cells}, key=_rank):
            for group, kinds in _GROUPS.items():
                columns = _columns([cells[step, kind] for kind in kinds if (step, kind) in cells], weights)
                part = Slice(by={"step": step, "error": group}, judge=None)
                for metric in _metrics_of(step, columns):
                    yield summarize_rates(metric, metric.compute(columns), part, settings=settings)


def _metrics_of(step: str, columns: BlameColumns) -> Iterator[Metric]:
    """The rates of a step that changes aspects, or of a speaker; of reviews both."""
    for metric, (name, (_, total)) in zip(ASPECT_BLAME_METRICS, BLAME_RATES.items(), strict=True):
        is_theirs = step in SPEAKERS if name in _SPOKEN else step in (*STEPS, *COARSE_STEPS)
        if is_theirs or getattr(columns, total).any():
            yield metric


def blame_settings() -> SummarySettings:
    """How intervals are made unless others are given: by resampling sentences."""
    return SummarySettings(version=version("hallumeter"), cluster="text_id")


def blame_table(outputs: Iterable[PipelineOutput], *, settings: SummarySettings | None = None) -> BlameTable:
    """The blame of all outputs."""
    sums = BlameSums()
    for output in outputs:
        sums.add(blame_of(output))
    return sums.table(settings)


def _cells(
    patterns: Counter[tuple[StepTally, ...]],
) -> tuple[dict[tuple[str, str], NDArray[np.int64]], NDArray[np.int64]]:
    """Counts by step and error, one row per distinct pattern of tallies, and how many sentences show each."""
    cells: dict[tuple[str, str], NDArray[np.int64]] = {}
    for row, tallies in enumerate(patterns):
        for tally in tallies:
            place = (tally.step, tally.error)
            if place not in cells:
                cells[place] = np.zeros((len(patterns), len(COUNTS)), dtype=np.int64)
            cells[place][row] += [getattr(tally, name) for name in COUNTS]
    return cells, np.array(list(patterns.values()), dtype=np.int64)


def _columns(parts: list[NDArray[np.int64]], weights: NDArray[np.int64]) -> BlameColumns:
    rows = sum(parts, np.zeros((len(weights), len(COUNTS)), dtype=np.int64))
    return BlameColumns(*np.repeat(rows, weights, axis=0).T)


def _rank(step: str) -> tuple[int, str]:
    return (_ORDER.index(step) if step in _ORDER else len(_ORDER), step)


def _nested(counts: dict[str, Counter[str]], order: tuple[str, ...]) -> dict[str, dict[str, int]]:
    known = sorted(counts, key=lambda name: (order.index(name) if name in order else len(order), name))
    return {name: {inner: counts[name][inner] for inner in sorted(counts[name], key=_rank)} for name in known}
