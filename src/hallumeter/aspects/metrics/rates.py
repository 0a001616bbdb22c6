"""From columns of counts to rates."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hallumeter.aspects.records.columns import CaseColumns
from hallumeter.aspects.records.outputs import ArbiterFlags
from hallumeter.aspects.records.scorecard import DROP, ModeratorScore, Scorecard
from hallumeter.records.rate import Rates

from .tuples import pairs_of

# What the parts of a whole are: rules that decided, reasons of drops, of skips and of failures, in plain counts.

WHOLE = ""
"""Under this name stands of how many the parts are."""
OF_SENTENCES = frozenset(
    {
        "change_type",
        "moderator_rule",
        "arbiter_flag",
        "rule_e_block_reason",
        "selected_stage",
        "quality_fail_reason",
        "latency_gate",
        "failure",
    }
)
"""Breakdowns whose whole counts sentences, each of which adds at most one to a part."""
MODERATOR_RULES = ("Z", "B", "M", "C", "A", "D", "E")
ARBITER_FLAGS = tuple(
    name for name in ArbiterFlags.__struct_fields__ if name not in ("confidence_margin_used", "rule_e_block_reason")
)
"""The flags that are true or false."""
FARTHEST = 4
"""Offset errors from here on are counted together."""
Item = tuple[str, str, int]
"""A breakdown, a part of it, and how much the scorecard adds."""


def breakdown_items(card: Scorecard) -> Iterator[Item]:
    """Everything that a scorecard adds to breakdowns; failures are told of all sentences."""
    yield "failure", WHOLE, 1
    if card.is_failed:
        assert card.flags is not None
        yield "failure", "parse_failed" if card.flags.parse_failed else "generate_failed", 1
        return
    yield from _drops(card)
    yield from _stages(card)
    yield from _debate(card)
    if card.moderator is not None:
        yield from _moderation(card.moderator)
    if card.summary is not None and card.summary.quality_pass is not None:
        yield "quality_fail_reason", WHOLE, 1
        yield from (("quality_fail_reason", reason, 1) for reason in dict.fromkeys(card.summary.fail_reasons))
    if card.latency is not None and card.latency.gate_status is not None:
        yield "latency_gate", WHOLE, 1
        yield "latency_gate", card.latency.gate_status, 1


def offset_bin(error: int) -> str:
    """How far a span is off; all that are farther than a few characters together.

    >>> [offset_bin(error) for error in (-9, -1, 0, 2, 4)]
    ['-4 or less', '-1', '0', '+2', '+4 or more']
    """
    if error <= -FARTHEST:
        return f"-{FARTHEST} or less"
    return f"+{FARTHEST} or more" if error >= FARTHEST else f"{error:+d}" if error else "0"


def _drops(card: Scorecard) -> Iterator[Item]:
    for aspect in card.filtered:
        if aspect.action != DROP:
            continue
        yield "drop_class", WHOLE, 1
        yield "drop_class", aspect.drop_class or "unknown", 1
        placement = aspect.placement
        if placement is not None and placement.offset_error is not None:
            yield "offset_error", WHOLE, 1
            yield "offset_error", offset_bin(placement.offset_error), 1
            for name in placement.conventions:
                yield "offset_convention", name, 1
            yield "offset_convention", WHOLE, 1


def _stages(card: Scorecard) -> Iterator[Item]:
    before = card.validator_of("stage1")
    for risk in () if before is None else before.structural_risks:
        yield "risk", WHOLE, 1
        yield "risk", risk.risk_id or "OTHER", 1
    delta = card.stage_delta
    if delta is None:
        return
    if delta.change_type is not None:
        yield "change_type", WHOLE, 1
        yield "change_type", delta.change_type, 1
    for reason, number in (delta.ignored_reasons or {}).items():
        yield "ignored_reason", WHOLE, number
        yield "ignored_reason", reason, number


def _debate(card: Scorecard) -> Iterator[Item]:
    debate = card.debate
    if debate is None:
        return
    stats = debate.mapping_stats
    if stats is not None:
        yield "mapping_fail_reason", WHOLE, stats.direct + stats.fallback + stats.none
    for reason, number in (debate.mapping_fail_reasons or {}).items():
        yield "mapping_fail_reason", reason, number
    for outcome, number in (debate.override_stats or {}).items():
        if outcome == "applied" or outcome.startswith("skipped_"):
            yield "override", WHOLE, number
            yield "override", outcome, number


def _moderation(moderator: ModeratorScore) -> Iterator[Item]:
    yield "moderator_rule", WHOLE, 1
    for rule in dict.fromkeys(moderator.applied_rules):
        yield "moderator_rule", rule, 1
    if moderator.selected_stage is not None:
        yield "selected_stage", WHOLE, 1
        yield "selected_stage", moderator.selected_stage, 1
    flags = moderator.arbiter_flags
    if flags is None:
        return
    yield "arbiter_flag", WHOLE, 1
    for name in ARBITER_FLAGS:
        if getattr(flags, name):
            yield "arbiter_flag", name, 1
    if flags.confidence_margin_used is not None:
        yield "arbiter_flag", "confidence_margin_used", 1
    if flags.rule_e_block_reason is not None:
        yield "rule_e_block_reason", WHOLE, 1
        yield "rule_e_block_reason", flags.rule_e_block_reason, 1


# The same sentence in several runs: does it get the same label, the same risks, the same tuples?

UNKNOWN = -1


class Repeated(NamedTuple):
    """What is compared between the runs of a sentence, each as a number that tells it from others."""

    label: int
    risks: int
    tuples: int


def repeated(card: Scorecard) -> Repeated:
    """What a scorecard says that another run of the sentence could say otherwise; `UNKNOWN` where it says nothing."""
    if card.is_failed:
        return Repeated(UNKNOWN, UNKNOWN, UNKNOWN)
    label, validator, result = card.final_label, card.validator_of("stage1"), card.final_result
    risks = None if validator is None else {risk.risk_id or "" for risk in validator.structural_risks}
    tuples = None if result is None or result.final_tuples is None else pairs_of(result.final_tuples)
    return Repeated(
        UNKNOWN if label is None else _number((label,)),
        UNKNOWN if risks is None else _number(tuple(sorted(risks))),
        UNKNOWN if tuples is None else _number(tuple(sorted(tuples))),
    )


def case_columns(cases: NDArray[np.int64], runs: NDArray[np.int64], said: NDArray[np.int64]) -> CaseColumns:
    """Compare the runs of every sentence; `said` has a row of `Repeated` for each scorecard.

    Of two scorecards of one sentence in one run the first counts. A sentence that only one run tells something of has
    nothing to be compared with.

    >>> cases, runs = np.array([0, 0, 1]), np.array([0, 1, 0])
    >>> found = case_columns(cases, runs, np.array([[5, 1, -1], [5, 2, 7], [5, 1, 7]]))
    >>> found.labels.tolist(), found.same_labels.tolist(), found.same_risks.tolist(), found.tuples.tolist()
    ([1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    """
    size = int(cases.max()) + 1 if len(cases) else 0
    columns = [column for place in range(said.shape[1]) for column in _compared(cases, runs, said[:, place], size=size)]
    return CaseColumns(*columns)


def _compared(
    cases: NDArray[np.int64], runs: NDArray[np.int64], said: NDArray[np.int64], *, size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    known = np.flatnonzero(said != UNKNOWN)
    places = cases[known] * (int(runs.max(initial=0)) + 1) + runs[known]
    first = known[np.unique(places, return_index=True)[1]]
    several = np.bincount(cases[first], minlength=size) > 1
    pairs = np.unique(np.stack([cases[first], said[first]]), axis=1)
    is_same = np.bincount(pairs[0], minlength=size) == 1
    return several.astype(np.float64), (several & is_same).astype(np.float64)


@lru_cache(maxsize=1 << 14)
def _number(parts: tuple[str, ...] | tuple[tuple[str, str], ...]) -> int:
    """A number that stays the same in every process, as Python's own hashes do not."""
    text = repr(parts).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest())


class CountColumns(Protocol):
    """Counts of scorecards, a column for each of `ASPECT_COUNTS`: `AspectColumns`, or whatever keeps more of them."""

    def column(self, name: str) -> NDArray[np.float64]:
        """One count of all scorecards."""
        ...


RESOLUTION = ("risks_before", "risks_after")
"""The counts that risk resolution is made from."""


def rate_of(cards: CountColumns, *, count: str, total: str) -> Rates:
    """One count over another, a rate for each scorecard."""
    return Rates(cards.column(count), cards.column(total))


def case_rate(cases: CaseColumns, *, same: str, total: str) -> Rates:
    """Of the sentences that were run several times, those that stay the same."""
    return Rates(getattr(cases, same), getattr(cases, total))


def case_difference(cases: CaseColumns, *, same: str, total: str) -> Rates:
    """Of the sentences that were run several times, those that do not stay the same."""
    return Rates(getattr(cases, total) - getattr(cases, same), getattr(cases, total))


def risk_resolution(cards: CountColumns) -> float | None:
    """By how much there are fewer risks after stage 2 than before, as a share of those before.

    Risks that appear where there was none count against it, so that it may be negative.
    """
    sums = np.array([[cards.column(name).sum() for name in RESOLUTION]])
    value = float(resolution_of_sums(sums)[0])
    return None if np.isnan(value) else value


def resolution_of_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same for many sums at once, NaN without a risk before.

    >>> resolution_of_sums(np.array([[4.0, 1.0], [0.0, 2.0], [2.0, 3.0]])).tolist()
    [0.75, nan, -0.5]
    """
    before, after = sums[:, 0], sums[:, 1]
    found = np.full(len(sums), np.nan)
    np.divide(before - after, before, out=found, where=before > 0)
    return found
