"""What counted verdicts add up to, group by group, in a form that merges exactly: see `hallumeter.stats.tally`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.claims.catalog import ABSTENTION_METRICS, CLAIM_METRICS, EXPECTED_METRICS, UNCERTAINTY_METRICS
from hallumeter.claims.metrics.consensus import consensus_counts
from hallumeter.errors import SettingsError
from hallumeter.records.claim import Label
from hallumeter.records.columns import FAILED_CODE, UNDECIDED_CODE, LabelCounts, ProbabilitySums, Ratings, stable_hashes
from hallumeter.records.rate import Rate, Rates
from hallumeter.stats.bootstrap import distinct_cells
from hallumeter.stats.tally import BlockCounts, Exact, RateTally, added, rounded

from . import columns as inputs
from .counts import Measured
from .table import MISSING, Codes, Table

JOINT = ""
"""Stands for the joint verdict of several judges among their names."""
_MISSING_VOTE = "."
_CHANGE_UNIT = 2.0**-32
"""Changes of a sum of probabilities are counted in this unit, so that they add up without rounding."""


class MetricTally(Struct, frozen=True):
    """A metric over label counts: its rates, and what they would be if all unmeasured claims had one label."""

    rates: RateTally = RateTally()
    best: tuple[Exact, Exact] = ((), ())
    """Counts and totals if all had turned out supported."""
    worst: tuple[Exact, Exact] = ((), ())
    """The same if all had turned out refuted."""

    def merge(self, other: MetricTally) -> MetricTally:
        """Both together."""
        return MetricTally(
            self.rates.merge(other.rates),
            (added(self.best[0], other.best[0]), added(self.best[1], other.best[1])),
            (added(self.worst[0], other.worst[0]), added(self.worst[1], other.worst[1])),
        )

    @property
    def ends(self) -> tuple[Rate, Rate]:
        """The pooled rates if all unmeasured claims had been supported, and if all had been refuted."""
        best, worst = (Rate(rounded(count), rounded(total)) for count, total in (self.best, self.worst))
        return best, worst


class ProbabilityTally(Struct, frozen=True):
    """The probabilities of a judge: see `ProbabilitySums`."""

    rates: RateTally
    claims: int
    changes: dict[str, tuple[int, ...]]
    """By a digest of the refits of a calibration: how much each refit changes the sum, in a unit of 2 ** -32."""
    uncovered: int

    def merge(self, other: ProbabilityTally) -> ProbabilityTally:
        """Both together."""
        changes = dict(self.changes)
        for refits, sums in other.changes.items():
            mine = changes.get(refits, (0,) * len(sums))
            changes[refits] = tuple(one + two for one, two in zip(mine, sums, strict=True))
        return ProbabilityTally(
            self.rates.merge(other.rates),
            self.claims + other.claims,
            _moving(changes),
            self.uncovered + other.uncovered,
        )

    @property
    def calibration_error(self) -> str:
        """Whether the interval holds the error of the calibration, as its signature says it."""
        if self.uncovered == self.claims:
            return "not-included"
        return "partly-refitted" if self.uncovered else "refitted"

    @property
    def shifts(self) -> list[NDArray[np.float64]]:
        """By how much each refit moves the expected share; one array for each calibration."""
        return [np.array(sums, dtype=np.float64) * _CHANGE_UNIT / self.claims for sums in self.changes.values()]


def _moving(changes: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Calibrations whose refits move a sum, in order."""
    return dict(sorted((calibration, sums) for calibration, sums in changes.items() if any(sums)))


class JudgeTally(Struct, frozen=True):
    """The verdicts of one judge, or of all together."""

    labels: tuple[int, ...] = (0,) * (FAILED_CODE + 1)
    """Claims by label: supported, refuted, not enough info, undecided, failed."""
    with_claims: int = 0
    """Responses with at least one claim that it was asked about."""
    metrics: dict[str, MetricTally] = {}
    probabilities: ProbabilityTally | None = None

    def merge(self, other: JudgeTally) -> JudgeTally:
        """Both together."""
        mine, others = self.probabilities, other.probabilities
        return JudgeTally(
            tuple(one + two for one, two in zip(self.labels, other.labels, strict=True)),
            self.with_claims + other.with_claims,
            {metric.id: self.metric(metric.id).merge(other.metric(metric.id)) for metric in CLAIM_METRICS},
            mine.merge(others) if mine is not None and others is not None else mine or others,
        )

    def metric(self, name: str) -> MetricTally:
        """A metric over its labels; empty where it was asked about nothing."""
        return self.metrics.get(name, MetricTally())

    @property
    def undecided(self) -> int:
        """Claims on which it could not tell."""
        return self.labels[UNDECIDED_CODE]

    @property
    def failed(self) -> int:
        """Claims on which it gave no verdict that counts."""
        return self.labels[FAILED_CODE]

    @property
    def unknown(self) -> int:
        """Claims without a probability."""
        return sum(self.labels) - (self.probabilities.claims if self.probabilities is not None else 0)


class GroupTally(Struct, frozen=True):
    """The responses of a group, or of the whole run."""

    values: tuple[str, ...] = ()
    """Of the fields that the run is grouped by; empty for the whole run."""
    audited: int = 0
    """Responses that were looked at for claims."""
    judges: dict[str, JudgeTally] = {}
    votes: BlockCounts = BlockCounts()
    """Claims by pattern of votes and by unit of resampling."""
    uncertainty: dict[str, RateTally] = {}
    answers: dict[str, RateTally] = {}

    def merge(self, other: GroupTally) -> GroupTally:
        """Both together; their judges are the same, in the same order."""
        return GroupTally(
            self.values,
            self.audited + other.audited,
            {
                judge: self.judges.get(judge, JudgeTally()).merge(other.judges.get(judge, JudgeTally()))
                for judge in sorted({*self.judges, *other.judges})
            },
            self.votes.merge(other.votes),
            _merged_rates(self.uncertainty, other.uncertainty),
            _merged_rates(self.answers, other.answers),
        )

    def for_judges(self, own: Sequence[str], all_judges: Sequence[str]) -> GroupTally:
        """The same as part of a run with more judges: what one judge said alone is the joint verdict as well."""
        if len(all_judges) < 2 or list(own) == list(all_judges):
            return self
        judges = dict(self.judges)
        if len(own) == 1 and own[0] in judges:
            judges[JOINT] = structs.replace(judges[own[0]], probabilities=None)
        places = [own.index(judge) if judge in own else None for judge in all_judges]
        columns: dict[str, dict[int, int]] = {}
        for pattern, counts in self.votes.columns.items():
            name = "".join(_MISSING_VOTE if place is None else pattern[place] for place in places)
            columns[name] = counts
        return structs.replace(self, judges=judges, votes=BlockCounts(columns, self.votes.is_blocked))

    def ratings(self, judges: tuple[str, ...]) -> Ratings:
        """Patterns of votes, and how they spread over responses or blocks of them."""
        codes = {"".join(map(_vote, row)): row for row in map(_codes_of, self.votes.columns)}
        names = sorted(codes, key=codes.__getitem__)
        clusters = self.votes.table(names)
        patterns = np.array([codes[name] for name in names], dtype=np.int8).reshape(len(names), len(judges))
        return Ratings(patterns, clusters.sum(axis=0), judges, clusters)


def _vote(code: int) -> str:
    return _MISSING_VOTE if code == MISSING else str(code)


def _codes_of(pattern: str) -> tuple[int, ...]:
    return tuple(MISSING if vote == _MISSING_VOTE else int(vote) for vote in pattern)


def _merged_rates(first: dict[str, RateTally], second: dict[str, RateTally]) -> dict[str, RateTally]:
    """Metrics of both, in order; those that count nothing are left out."""
    together = {
        metric: first.get(metric, RateTally()).merge(second.get(metric, RateTally()))
        for metric in sorted({*first, *second})
    }
    return {metric: rates for metric, rates in together.items() if rates.clusters}


class ConsensusTally(Struct, frozen=True):
    """Who stated what about the same questions, question by question or in blocks of questions.

    A question is a record that several models share; where no record is shared, it is what the rows name. Merging is
    exact as long as all answers to a question are in one part.
    """

    is_by_record: bool = False
    """Whether some record is shared by several models."""
    has_statements: bool = False
    """Whether some claim has a text, a model and a label."""
    has_questions: bool = False
    """The same of claims whose question is named."""
    counts: BlockCounts = BlockCounts()
    asked: tuple[int, ...] | None = ()
    """Hashes of the questions that rows name, as long as they are few; None when they are many."""
    is_split: bool = False
    """Whether the answers to a question were found in two parts, or could have been."""

    def merge(self, other: ConsensusTally, *, is_whole_by_question: bool) -> ConsensusTally:
        """Both together; `is_whole_by_question` when the parts were cut by question."""
        is_by_record = self.is_by_record or other.is_by_record
        found = ConsensusTally(
            is_by_record,
            self.has_statements or other.has_statements,
            self.has_questions or other.has_questions,
        )
        if is_by_record:  # questions that rows name count for nothing then
            counts = [part.counts for part in (self, other) if part.is_by_record]
            return structs.replace(found, counts=counts[0] if len(counts) == 1 else counts[0].merge(counts[1]))
        asked, is_apart = None, self.asked == () or other.asked == ()
        if self.asked is not None and other.asked is not None:
            together = tuple(sorted({*self.asked, *other.asked}))
            is_apart = len(together) == len(self.asked) + len(other.asked)
            asked = together if len(together) <= _MOST_QUESTIONS else None
        is_split = self.is_split or other.is_split or not (is_apart or is_whole_by_question)
        return structs.replace(found, counts=self.counts.merge(other.counts), asked=asked, is_split=is_split)


_MOST_QUESTIONS = 1 << 16
"""Questions that are remembered to see that none is in two parts."""


def questions_column(vote: str, part: int, model: str) -> str:
    """The column of a count of one model; the vote is of all models, or of the others."""
    return f"{vote} {part} {model}"


ASKED = "asked"


def consensus_tally(measured: Measured) -> ConsensusTally:
    """What the answers of several models to the same questions add up to."""
    table, stated = measured.table, measured.statements
    if stated is None:
        return ConsensusTally()
    found = ConsensusTally(
        is_by_record=stated.is_by_record,
        has_statements=stated.has_statements,
        has_questions=stated.has_questions,
        asked=() if stated.is_by_record else _question_hashes(table),
    )
    if stated.support is None:
        return found
    questions = np.unique(stated.support.asked[:, 0])
    names = table.record_names if stated.is_by_record else table.question_names
    hashes = stable_hashes(names[code] for code in questions.tolist()).tolist()
    columns: dict[str, dict[int, int]] = {ASKED: dict.fromkeys(hashes, 1)}
    for vote, is_left_out in (("all", False), ("others", True)):
        counts = consensus_counts(stated.support, is_left_out=is_left_out)
        for model, name in enumerate(table.model_names):
            for part in range(counts.shape[2]):
                column = zip(hashes, counts[:, model, part].tolist(), strict=True)
                columns[questions_column(vote, part, name)] = {unit: number for unit, number in column if number}
    return structs.replace(found, counts=BlockCounts.of(columns))


def _question_hashes(table: Table) -> tuple[int, ...] | None:
    """Of the questions that some model answered."""
    named = np.unique(table.questions[(table.questions != MISSING) & (table.models != MISSING)])
    if len(named) > _MOST_QUESTIONS:
        return None
    return tuple(sorted(stable_hashes(table.question_names[code] for code in named.tolist()).tolist()))


class _Group(NamedTuple):
    """Some cells that are summarised together."""

    values: tuple[str, ...]
    cells: NDArray[np.intp]


def group_tallies(measured: Measured) -> tuple[GroupTally, ...]:
    """The whole run, then each group in the order of its values."""
    units = _units(measured)
    whole, *others = (_group_tally(measured, group, units) for group in _groups(measured))
    return (whole, *merged_groups(others, ()))


def merged_groups(first: Sequence[GroupTally], second: Sequence[GroupTally]) -> tuple[GroupTally, ...]:
    """Groups of two parts, those with the same values merged, in the order of their values."""
    found: dict[tuple[str, ...], GroupTally] = {}
    for group in (*first, *second):
        known = found.get(group.values)
        found[group.values] = group if known is None else known.merge(group)
    return tuple(found[values] for values in sorted(found, key=inputs.order_of_values))


def _groups(measured: Measured) -> Iterator[_Group]:
    """The cells of the whole run, then those of each group."""
    cells = measured.cells
    yield _Group((), np.arange(len(cells)))
    if any(cells.group_values):
        order = np.argsort(cells.groups, kind="stable")
        edges = np.searchsorted(cells.groups[order], np.arange(len(cells.group_values) + 1))
        for group, by in enumerate(cells.group_values):
            yield _Group(tuple(by.values()), order[edges[group] : edges[group + 1]])


def _group_tally(measured: Measured, group: _Group, units: Codes) -> GroupTally:
    chosen = group.cells[measured.is_audited[group.cells]]
    judges = {
        judge if judge in measured.table.judge_names else JOINT: _judge_tally(measured, judge, chosen)
        for judge in measured.labels
    }
    responses = len(np.unique(measured.cells.responses[chosen]))
    return GroupTally(
        group.values,
        responses,
        {judge: judges[judge] for judge in sorted(judges) if any(judges[judge].labels)},
        _votes(measured, group.cells, units),
        _merged_rates(_uncertainty(measured, group.cells), {}),
        _merged_rates(_answers(measured, group.cells), {}),
    )


def _judge_tally(measured: Measured, judge: str, chosen: NDArray[np.intp]) -> JudgeTally:
    mine = _merged(measured.labels[judge][chosen], measured, chosen)
    distinct = distinct_cells(mine.table.astype(np.float64))
    few, times = LabelCounts(distinct.columns.astype(np.int64)), distinct.multiplicities
    metrics = {}
    for metric in CLAIM_METRICS:
        if measured.clusters is None:
            rates = RateTally.of(metric.compute(few), times)
        else:
            rates = RateTally.of(_clustered(metric.compute(mine), measured, chosen))
        best, worst = (_sums(metric.compute(few.resolved(label)), times) for label in (Label.SUPPORTED, Label.REFUTED))
        metrics[metric.id] = MetricTally(rates, best, worst)
    sums = measured.probabilities.get(judge)
    return JudgeTally(
        tuple((times @ few.table).tolist()) if len(few) else JudgeTally().labels,
        int(times[few.claims > 0].sum()),
        metrics,
        None if sums is None else _probability_tally(sums[chosen], measured, chosen),
    )


def _sums(rates: Rates, times: NDArray[np.int64]) -> tuple[Exact, Exact]:
    """Counts and totals added up, each so many times."""
    tally = RateTally.of(rates, times)
    return tally.count, tally.total


def _probability_tally(sums: ProbabilitySums, measured: Measured, chosen: NDArray[np.intp]) -> ProbabilityTally | None:
    claims = int(sums.claims.sum())
    if not claims:
        return None
    (metric,) = EXPECTED_METRICS
    changes = {
        digest: tuple(np.rint(change / _CHANGE_UNIT).astype(np.int64).sum(axis=0).tolist())
        for digest, change in zip(sums.calibrations, sums.changes, strict=True)
    }
    return ProbabilityTally(
        RateTally.of(_clustered(metric.compute(sums), measured, chosen)),
        claims,
        _moving(changes),
        claims if sums.uncovered is None else int(sums.uncovered.sum()),
    )


def _uncertainty(measured: Measured, chosen: NDArray[np.intp]) -> dict[str, RateTally]:
    if measured.uncertainties is None:
        return {}
    sums = measured.uncertainties[chosen]
    return {
        metric.id: RateTally.of(_clustered(metric.compute(sums), measured, chosen)) for metric in UNCERTAINTY_METRICS
    }


def _answers(measured: Measured, chosen: NDArray[np.intp]) -> dict[str, RateTally]:
    if not len(measured.answers):
        return {}
    responses, first = np.unique(measured.cells.responses[chosen], return_index=True)
    mine = np.isin(measured.answer_responses, responses)
    tallies = {}
    for metric in ABSTENTION_METRICS:
        rates = metric.compute(measured.answers[mine])
        if measured.clusters is not None:
            cells = chosen[first[np.searchsorted(responses, measured.answer_responses[mine])]]
            rates = rates.pooled_by(np.unique(measured.clusters[cells], return_inverse=True)[1])
        tallies[metric.id] = RateTally.of(rates)
    return tallies


def _merged(counts: LabelCounts, measured: Measured, chosen: NDArray[np.intp]) -> LabelCounts:
    """Put the parts of a response together again when the whole run is looked at."""
    if len(measured.cells) == measured.cells.response_count:
        return counts
    responses, inverse = np.unique(measured.cells.responses[chosen], return_inverse=True)
    table = np.zeros((len(responses), counts.table.shape[1]), dtype=np.int64)
    np.add.at(table, inverse, counts.table)
    return LabelCounts(table)


def _clustered(rates: Rates, measured: Measured, chosen: NDArray[np.intp]) -> Rates:
    """Add up rates per cell, or per response, by the unit of resampling."""
    if measured.clusters is None and len(measured.cells) == measured.cells.response_count:
        return rates
    responses, first, inverse = np.unique(measured.cells.responses[chosen], return_index=True, return_inverse=True)
    is_per_response = len(rates) == len(responses)
    if measured.clusters is None:
        return rates if is_per_response else rates.pooled_by(inverse)
    clusters = measured.clusters[chosen]
    return rates.pooled_by(clusters[first] if is_per_response else clusters)


def _units(measured: Measured) -> Codes:
    """The unit of resampling of every cell, numbered."""
    return measured.cells.responses if measured.clusters is None else measured.clusters


def _votes(measured: Measured, chosen: NDArray[np.intp], units: Codes) -> BlockCounts:
    """Claims of the chosen cells by pattern of votes and unit of resampling."""
    cells, judges = measured.cells, measured.table.judge_names
    of_claim = cells.of_row[measured.votes.claim_rows]
    here = np.flatnonzero(np.isin(of_claim, chosen)) if len(chosen) < len(cells) else np.arange(len(of_claim))
    if not judges or not len(here):
        return BlockCounts()
    ratings, inverse = inputs.ratings_of(measured.matrix[here], judges)
    _, first, unit = np.unique(units[of_claim[here]], return_index=True, return_inverse=True)
    hashes = inputs.unit_hashes(measured.table, cells, of_claim[here][first], cluster=measured.cluster)
    names = ["".join(map(_vote, pattern)) for pattern in ratings.patterns.tolist()]
    return BlockCounts.tally(unit, inverse, hashes=hashes, names=names)


def check_joined(judges: Sequence[str], consensus: str) -> None:
    """Refuse to merge what needs all votes at once."""
    if consensus == "dawid-skene" and len(judges) > 1:
        raise SettingsError(
            "the joint verdict by dawid-skene needs the votes on all claims at once and cannot be merged from parts; "
            "join the judges by majority, or measure the verdicts of the whole run with hallumeter measure"
        )
