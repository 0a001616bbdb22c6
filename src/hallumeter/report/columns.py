"""Responses as columns of numbers: what is counted over millions of verdicts is counted by numpy, not one by one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.records.claim import Label
from hallumeter.records.columns import DECIDED_LABELS, LABEL_CODES
from hallumeter.stats.bootstrap import cluster_bootstrap_interval

from .document import RecordFindings
from .segmentation import settled_label

Vote = tuple[str, str, str | None]
"""A judge, the name of its label, and its reason."""


IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

LABELS: tuple[Label | None, ...] = (*LABEL_CODES, None)
"""The labels in the order of their codes; None is a claim without a verdict."""
NO_VOTE = -1
"""Where a judge gave no verdict."""
MOST_VOTES = 4_000
"""Different votes that are told apart; a judge that writes sentences for reasons would fill the memory."""
BEYOND = "\0"
"""Stands for the reasons that came after the last one that was told apart."""
_CODE_OF = {label: code for code, label in enumerate(LABELS)}
_CODES = {label.value: code for label, code in LABEL_CODES.items()}


class VoteNumbers(dict["Vote", int]):
    """Numbers of votes in the order of their appearance, found by subscription at the speed of a dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.judges: dict[str, int] = {}
        """Numbers of judges, in the order of their appearance."""
        self._judge_of: list[int] = []
        self._label_of: list[int] = []

    def __missing__(self, vote: Vote) -> int:
        judge, label, reason = vote
        if reason is not None and reason != BEYOND and len(self) >= MOST_VOTES:
            return self[judge, label, BEYOND]
        self._judge_of.append(self.judges.setdefault(judge, len(self.judges)))
        self._label_of.append(_CODES[label])
        self[vote] = number = len(self)
        return number

    def judge_of(self, votes: IntArray) -> IntArray:
        """The numbers of the judges who gave these votes."""
        return np.array(self._judge_of, dtype=np.int64)[votes]

    def label_of(self, votes: IntArray) -> IntArray:
        """The codes of their labels."""
        return np.array(self._label_of, dtype=np.int64)[votes]


class Columns(Struct, frozen=True, eq=False):
    """A batch of responses, their claims and the verdicts on them, in numbers."""

    models: list[str | None]
    """Of each response."""
    lengths: IntArray
    """Code points of each response; -1 where its words are not known."""
    record_of_claim: IntArray
    labels: IntArray
    """The code of the label that each claim counts with."""
    starts: IntArray
    """First code point of each claim; -1 where it has no place in its response."""
    ends: IntArray
    claim_of_verdict: IntArray
    votes: IntArray
    judge_of_verdict: IntArray
    label_of_verdict: IntArray
    probabilities: FloatArray
    """That the claim is unsupported; NaN where the judge does not tell."""
    costs: FloatArray
    """In dollars; NaN where they are not known."""
    judges: dict[str, int]
    """Numbers of all judges so far."""

    @property
    def records(self) -> int:
        """How many responses there are."""
        return len(self.lengths)

    @property
    def claims(self) -> int:
        """How many claims there are."""
        return len(self.labels)

    def label_counts(self) -> IntArray:
        """How many claims of each response have which label: a row for each response, a column for each code."""
        width = len(LABELS)
        keys = self.record_of_claim * width + self.labels
        return np.bincount(keys, minlength=self.records * width).reshape(-1, width)

    def vote_table(self) -> IntArray:
        """The label that each judge gave each claim: a row for each claim, a column for each judge."""
        table = np.full((self.claims, len(self.judges)), NO_VOTE, dtype=np.int64)
        # Of two verdicts of one judge on one claim the first counts: it is written last.
        table[self.claim_of_verdict[::-1], self.judge_of_verdict[::-1]] = self.label_of_verdict[::-1]
        return table


class ColumnBuffer:
    """Takes responses one by one and keeps only their numbers: records that live on make the reading of others slow."""

    def __init__(self, headline: str | None) -> None:
        self._headline = headline
        self._numbers = VoteNumbers()
        self._settled: dict[tuple[int, ...], int] = {}
        self._empty()

    @property
    def numbers(self) -> VoteNumbers:
        """The numbers that votes have been given."""
        return self._numbers

    def add(self, item: RecordFindings) -> list[int]:
        """Note a response down; the codes of the labels that its claims count with."""
        numbers, text = self._numbers, item.response.response
        verdicts = [verdict for finding in item.findings for verdict in finding.verdicts]
        # Labels are hashed by their names: the hash of an enumeration is a call to Python for each.
        votes = [numbers[verdict.judge, verdict.label._value_, verdict.reason] for verdict in verdicts]
        sizes = [len(finding.verdicts) for finding in item.findings]
        labels = self._labels_of(votes, sizes, item)
        self._models.append(item.response.model)
        self._lengths.append(-1 if text is None else len(text))
        self._claims.append(len(sizes))
        self._labels += labels
        self._starts += [finding.claim.start for finding in item.findings]
        self._ends += [finding.claim.end for finding in item.findings]
        self._sizes += sizes
        self._votes += votes
        self._probabilities += [verdict.unsupported_probability for verdict in verdicts]
        self._costs += [verdict.cost_usd for verdict in verdicts]
        return labels

    def __len__(self) -> int:
        return len(self._lengths)

    def columns(self) -> Columns:
        """What was noted down since this was last asked for."""
        votes = np.array(self._votes, dtype=np.int64)
        lengths = np.array(self._lengths, dtype=np.int64)
        record_of_claim = np.repeat(np.arange(len(lengths)), self._claims)
        starts, ends = np.array(self._starts, dtype=np.float64), np.array(self._ends, dtype=np.float64)
        has_place = (starts < ends) & (ends <= lengths[record_of_claim])
        made = Columns(
            models=self._models,
            lengths=lengths,
            record_of_claim=record_of_claim,
            labels=np.array(self._labels, dtype=np.int64),
            starts=np.where(has_place, starts, -1).astype(np.int64),
            ends=np.where(has_place, ends, -1).astype(np.int64),
            claim_of_verdict=np.repeat(np.arange(len(self._labels)), self._sizes),
            votes=votes,
            judge_of_verdict=self._numbers.judge_of(votes),
            label_of_verdict=self._numbers.label_of(votes),
            probabilities=np.array(self._probabilities, dtype=np.float64),
            costs=np.array(self._costs, dtype=np.float64),
            judges=self._numbers.judges,
        )
        self._empty()
        return made

    def _empty(self) -> None:
        self._models: list[str | None] = []
        self._lengths: list[int] = []
        self._claims: list[int] = []
        self._labels: list[int] = []
        self._starts: list[int | None] = []
        self._ends: list[int | None] = []
        self._sizes: list[int] = []
        self._votes: list[int] = []
        self._probabilities: list[float | None] = []
        self._costs: list[float | None] = []

    def _labels_of(self, votes: list[int], sizes: list[int], item: RecordFindings) -> list[int]:
        """The label of each claim; claims with the same votes have the same one."""
        settled, labels, start = self._settled, [], 0
        for place, size in enumerate(sizes):
            pattern = tuple(votes[start : start + size])
            start += size
            label = settled.get(pattern)
            if label is None:
                if len(settled) >= MOST_VOTES:
                    settled.clear()
                label = settled[pattern] = _CODE_OF[settled_label(item.findings[place], self._headline)]
            labels.append(label)
        return labels


def majority(counts: IntArray) -> IntArray:
    """The label with most votes in each row of counts; NO_VOTE where two share the first place, or none has any.

    >>> majority(np.array([[2, 1, 0], [1, 1, 0], [0, 0, 0]])).tolist()
    [0, -1, -1]
    """
    is_first = counts == counts.max(axis=1, keepdims=True)
    is_alone = (is_first.sum(axis=1) == 1) & counts.any(axis=1)
    return np.where(is_alone, is_first.argmax(axis=1), NO_VOTE)


def decided_votes(claims: IntArray, labels: IntArray, *, size: int) -> IntArray:
    """How many verdicts give each of so many claims which decided label."""
    is_decided = labels < DECIDED_LABELS
    keys = claims[is_decided] * DECIDED_LABELS + labels[is_decided]
    return np.bincount(keys, minlength=size * DECIDED_LABELS).reshape(size, DECIDED_LABELS)


# Rates of groups while they are being counted, kept so that whole responses can be drawn again for an interval.

RESAMPLES = 2_000
SEED = 0


class ResponseRate(Struct, frozen=True):
    """A rate over some responses."""

    count: int
    total: int
    responses: int
    """That have a part in the total."""
    interval: tuple[float, float] | None
    """Whole responses drawn again; None where they tell too little."""


class ResponseCells:
    """How many responses add which count to which total of a group.

    Most responses add the same few counts, so that this stays small, however many responses there are.
    """

    def __init__(self) -> None:
        self._cells: dict[int, dict[tuple[int, int], int]] = {}

    def add(self, groups: IntArray, counts: IntArray, totals: IntArray) -> None:
        """Add one response's part of a group in each row; rows without a total say nothing."""
        kept = totals > 0
        if not kept.any():
            return
        width = int(totals.max()) + 1
        keys, times = np.unique((groups[kept] * width + counts[kept]) * width + totals[kept], return_counts=True)
        for key, number in zip(keys.tolist(), times.tolist(), strict=True):
            rest, total = divmod(key, width)
            group, count = divmod(rest, width)
            own = self._cells.setdefault(group, {})
            own[count, total] = own.get((count, total), 0) + number

    def groups(self) -> list[int]:
        """The groups that have a total, in ascending order."""
        return sorted(self._cells)

    def responses(self, group: int) -> int:
        """How many responses have a part in a group."""
        return sum(self._cells[group].values())

    def rate(self, groups: Iterable[int], *, confidence: float) -> ResponseRate:
        """The rate of these groups together."""
        cells: dict[tuple[int, int], int] = {}
        for group in groups:
            for cell, times in self._cells.get(group, {}).items():
                cells[cell] = cells.get(cell, 0) + times
        if not cells:
            return ResponseRate(0, 0, 0, None)
        # In sorted order, so that the order of the responses cannot change the interval.
        counts, totals, times = np.array([(*cell, number) for cell, number in sorted(cells.items())]).T
        interval = cluster_bootstrap_interval(
            np.repeat(counts, times),
            np.repeat(totals, times),
            rng=np.random.default_rng(SEED),
            resamples=RESAMPLES,
            confidence=confidence,
        )
        pair = None if interval is None else (interval.low, interval.high)
        return ResponseRate(int(counts @ times), int(totals @ times), int(times.sum()), pair)
