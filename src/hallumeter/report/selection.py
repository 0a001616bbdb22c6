"""One pass over all responses: count everything, keep the worst and a random few, in bounded memory."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from hallumeter.records import Label

from .document import LabelTally, ModelTally, RecordFindings, ShareBin
from .segmentation import is_aligned, settled_label
from .verdicts.reasons import ReasonTally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

BINS = 10
"""Bins of the unsupported share; a response without any unsupported claim has a bin of its own."""
MODELS_SHOWN = 50
ROWS_KEPT = 6_000


class Limits(Struct, frozen=True):
    """How much of a run a document holds; what is beyond is counted, never silently dropped."""

    worst: int = 900
    """Responses with most unsupported claims."""
    random: int = 100
    """Further responses drawn at random."""
    bytes: int = 16_000_000
    """Size of all responses, findings and distinct passages as JSON; a page packs it and takes what fits."""
    pages: int = ROWS_KEPT
    """Rows of the table of pages, where there is one; more would make the page slow to open."""
    failures: int = 50
    seed: int = 0
    """Of the random draw."""


class JudgeTally(Struct):
    """What one judge said and cost, while it is being counted."""

    labels: Counter[Label | None]
    cost_usd: float | None = None
    without_cost: int = 0


class Overview(Struct):
    """What a pass over all responses has counted so far."""

    responses: int
    bins: list[int]
    without_decided_claim: int
    not_aligned: int
    labels: Counter[Label | None]
    models: dict[str | None, Counter[Label | None]]
    model_responses: Counter[str | None]
    judges: dict[str, JudgeTally]
    reasons: ReasonTally

    def share_bins(self) -> tuple[ShareBin, ...]:
        """The distribution of the unsupported share over responses."""
        return tuple(
            ShareBin(max(0, position - 1) / BINS, position / BINS, responses)
            for position, responses in enumerate(self.bins)
        )

    def model_tallies(self) -> tuple[ModelTally, ...]:
        """Label counts of the models with most responses, by name."""
        kept = [model for model, _ in self.model_responses.most_common(MODELS_SHOWN)]
        return tuple(
            ModelTally(model, self.model_responses[model], tally_of(self.models[model]))
            for model in sorted(kept, key=lambda model: (model is None, model or ""))
        )


class Selection(Struct, frozen=True):
    """The responses to show, each group in its order, and what was counted over all of them."""

    worst: tuple[RecordFindings, ...]
    random: tuple[RecordFindings, ...]
    overview: Overview


def tally_of(labels: Mapping[Label | None, int]) -> LabelTally:
    """Counts by label as a record."""
    return LabelTally(
        supported=labels.get(Label.SUPPORTED, 0),
        refuted=labels.get(Label.REFUTED, 0),
        not_enough_info=labels.get(Label.NOT_ENOUGH_INFO, 0),
        undecided=labels.get(Label.UNDECIDED, 0),
        no_verdict=labels.get(None, 0),
    )


def select(
    records: Iterable[RecordFindings],
    limits: Limits,
    *,
    headline: str | None = None,
    severity: Callable[[RecordFindings], tuple[float, float, float]] | None = None,
) -> Selection:
    """Keep the responses with most unsupported claims, and a uniform sample of the others.

    Ties go to the higher unsupported share, then to more unmeasured claims, then to the earlier response; `severity`
    puts another order in their place. Memory holds `worst + random` responses, however many there are.
    """
    rng = np.random.default_rng(limits.seed)
    overview = Overview(0, [0] * (BINS + 1), 0, 0, Counter(), {}, Counter(), {}, ReasonTally(Counter()))
    heap: list[tuple[tuple[float, float, float, int], RecordFindings]] = []
    sample: list[tuple[int, RecordFindings]] = []
    passed_over = 0
    for position, item in enumerate(records):
        tally = _count(overview, item, headline=headline)
        share = tally.unsupported / tally.decided if tally.decided else 0.0
        weight = severity(item) if severity else (tally.unsupported, share, tally.unmeasured)
        entry = ((*weight, -position), item)
        if len(heap) < limits.worst:
            heapq.heappush(heap, entry)
            continue
        # Whoever leaves the heap, or never enters it, is offered to the sample exactly once: it stays uniform.
        key, out = heapq.heappushpop(heap, entry)
        passed_over += 1
        slot = len(sample) if len(sample) < limits.random else int(rng.integers(passed_over))
        if slot < limits.random:
            sample[slot : slot + 1] = [(-key[3], out)]
    ranked = sorted(heap, key=lambda entry: entry[0], reverse=True)
    picked = sorted(sample, key=lambda entry: entry[0])
    return Selection(tuple(item for _, item in ranked), tuple(item for _, item in picked), overview)


def _count(overview: Overview, item: RecordFindings, *, headline: str | None) -> LabelTally:
    """Add one response to the counts."""
    response, findings = item.response, item.findings
    settled = [settled_label(finding, headline) for finding in findings]
    labels = Counter(settled)
    tally = tally_of(labels)
    overview.responses += 1
    overview.labels.update(labels)
    overview.models.setdefault(response.model, Counter()).update(labels)
    overview.model_responses[response.model] += 1
    length = len(response.response or "")
    pairs = zip(findings, settled, strict=True)
    overview.not_aligned += sum(not is_aligned(finding, label, length=length) for finding, label in pairs)
    if tally.decided:
        overview.bins[math.ceil(BINS * tally.unsupported / tally.decided)] += 1
    else:
        overview.without_decided_claim += 1
    for finding in findings:
        for verdict in finding.verdicts:
            judge = overview.judges.get(verdict.judge)
            if judge is None:
                judge = overview.judges[verdict.judge] = JudgeTally(Counter())
            judge.labels[verdict.label] += 1
            overview.reasons.add(verdict)
            if verdict.cost_usd is None:
                judge.without_cost += 1
            else:
                judge.cost_usd = (judge.cost_usd or 0.0) + verdict.cost_usd
    return tally
