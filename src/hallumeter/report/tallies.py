"""Everything that a pass over all responses has counted so far."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.records.claim import Label, is_cut_evidence, unchecked_language_in
from hallumeter.records.columns import DECIDED_LABELS, LABEL_CODES

from .columns import (
    BEYOND,
    LABELS,
    NO_VOTE,
    ColumnBuffer,
    Columns,
    FloatArray,
    IntArray,
    ResponseCells,
    decided_votes,
    majority,
)
from .document import LabelTally, ModelTally, RecordFindings, ShareBin
from .reasons import ReasonTally
from .sections import LengthBin, TenthBin
from .segmentation import CONSENSUS, is_aligned

BoolArray = NDArray[np.bool_]


# Who agrees with whom, and whether probabilities hold what they promise, while it is being counted.

MOST_JUDGES = 40
"""Judges that are compared with each other: those that came first."""
BINS = 10
"""Of probabilities."""
_GOLD = re.compile(r"\b(human|gold)s?\b", re.IGNORECASE)
_LABELS = len(LABELS) - 1
_SUPPORTED = 0


def reference_judge(judges: Iterable[str]) -> str | None:
    """The judge that others are compared with: the first whose name says that it is human or gold.

    >>> reference_judge(["rules", "human:expert"]), reference_judge(["rules", "superhuman"])
    ('human:expert', None)
    """
    return next((judge for judge in judges if _GOLD.search(judge)), None)


class CalibrationTally:
    """The probabilities of one judge beside what the reference says."""

    def __init__(self) -> None:
        self.cells = ResponseCells()
        self.sums = np.zeros(BINS)
        """The probabilities of each bin added up."""
        self.without_reference = 0
        """Claims that have a probability and nothing to compare it with."""

    def add(self, records: IntArray, probabilities: FloatArray, reference: IntArray) -> None:
        """Count the claims of a batch that have a probability."""
        is_known = reference != NO_VOTE
        self.without_reference += int((~is_known).sum())
        if not is_known.any():
            return
        records, probabilities = records[is_known], probabilities[is_known]
        bins = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
        self.sums += np.bincount(bins, probabilities, minlength=BINS)
        keys = records * BINS + bins
        size = int(records.max() + 1) * BINS
        totals = np.bincount(keys, minlength=size)
        counts = np.bincount(keys[reference[is_known] != _SUPPORTED], minlength=size)
        self.cells.add(np.arange(size) % BINS, counts, totals)


class VoteTally:
    """The votes of judges on the same claims; the settled verdict of a panel is no judge of its own."""

    def __init__(self, reference: str | None) -> None:
        self.reference = reference
        self.judges: list[str] = []
        """Those that are compared."""
        self.together = np.zeros((0, 0), dtype=np.int64)
        """How often a judge gave a label where another gave one: rows and columns are judges times labels."""
        self.calibration: dict[str, CalibrationTally] = {}

    def add(self, columns: Columns) -> None:
        """Count a batch."""
        compared = {judge: number for judge, number in columns.judges.items() if judge != CONSENSUS}
        self.judges = list(compared)[:MOST_JUDGES]
        chosen = np.array([compared[judge] for judge in self.judges], dtype=np.int64)
        if not len(chosen):
            return
        table = columns.vote_table()[:, chosen]
        if len(chosen) > 1:
            self._add_pairs(table)
        if not np.isnan(columns.probabilities).all():
            self._add_probabilities(columns, table)

    def _add_pairs(self, table: IntArray) -> None:
        # One column for each judge and label; the product of the table with itself counts every pair at once.
        given = (table[:, :, np.newaxis] == np.arange(_LABELS)).reshape(len(table), -1).astype(np.float64)
        size = given.shape[1]
        counted = np.zeros((size, size), dtype=np.int64)
        known = len(self.together)
        counted[:known, :known] = self.together
        self.together = counted + (given.T @ given).astype(np.int64)

    def _add_probabilities(self, columns: Columns, table: IntArray) -> None:
        probabilities = columns.probabilities
        everybody = columns.judges.get(CONSENSUS, NO_VOTE) != columns.judge_of_verdict
        votes = decided_votes(
            columns.claim_of_verdict[everybody], columns.label_of_verdict[everybody], size=columns.claims
        )
        for place, judge in enumerate(self.judges):
            own = (columns.judge_of_verdict == columns.judges[judge]) & ~np.isnan(probabilities)
            if judge == self.reference or not own.any():
                continue
            claims = columns.claim_of_verdict[own]
            reference = self._reference(table, votes, place)[claims]
            tally = self.calibration.setdefault(judge, CalibrationTally())
            tally.add(columns.record_of_claim[claims], probabilities[own], reference)

    def _reference(self, table: IntArray, votes: IntArray, place: int) -> IntArray:
        """The decided label that a judge is compared with for each claim; NO_VOTE where there is none."""
        if self.reference is not None:
            known = (
                table[:, self.judges.index(self.reference)] if self.reference in self.judges else table[:, 0] * 0 - 1
            )
            return np.where(known < DECIDED_LABELS, known, NO_VOTE)
        own = table[:, place, np.newaxis] == np.arange(DECIDED_LABELS)
        return majority(votes - own)


# Where in answers, and in answers of what length, claims are unsupported.

TENTHS = 10
LENGTH_BINS = 5
_LEADING_BITS = 7


class PlaceTally:
    """Unsupported and decided claims by their place in the response and by its length."""

    def __init__(self, unsupported: Collection[int]) -> None:
        self._unsupported = list(unsupported)
        self._tenths, self._lengths = ResponseCells(), ResponseCells()
        self.without_text = 0
        """Decided claims of responses whose words are not known."""
        self.without_place = 0
        """Decided claims that could not be found in their response."""

    def add(self, columns: Columns) -> None:
        """Count a batch."""
        is_decided = columns.labels < DECIDED_LABELS
        is_unsupported = np.isin(columns.labels, self._unsupported)
        lengths = columns.lengths[columns.record_of_claim]
        self.without_text += int((is_decided & (lengths < 0)).sum())
        self.without_place += int((is_decided & (lengths >= 0) & (columns.starts < 0)).sum())
        self._add_tenths(columns, is_decided & (columns.starts >= 0), is_unsupported, lengths=lengths)
        decided = _by_response(columns, is_decided)
        unsupported = _by_response(columns, is_unsupported)
        has_text = columns.lengths >= 0
        self._lengths.add(shortened(columns.lengths[has_text]), unsupported[has_text], decided[has_text])

    def _add_tenths(self, columns: Columns, placed: BoolArray, is_unsupported: BoolArray, *, lengths: IntArray) -> None:
        middles = (columns.starts[placed] + columns.ends[placed]) * (TENTHS // 2)
        tenths = np.minimum(middles // lengths[placed], TENTHS - 1)
        keys = columns.record_of_claim[placed] * TENTHS + tenths
        size = columns.records * TENTHS
        counts = np.bincount(keys[is_unsupported[placed]], minlength=size)
        groups = np.tile(np.arange(TENTHS), columns.records)
        self._tenths.add(groups, counts, np.bincount(keys, minlength=size))

    def tenths(self, confidence: float) -> tuple[TenthBin, ...]:
        """The rate of every tenth of the responses; empty when no claim has a place."""
        if not self._tenths.groups():
            return ()
        rates = [self._tenths.rate([tenth], confidence=confidence) for tenth in range(TENTHS)]
        return tuple(TenthBin(tenth, rate.count, rate.total, rate.interval) for tenth, rate in enumerate(rates))

    def lengths(self, confidence: float) -> tuple[LengthBin, ...]:
        """The rate of responses that are alike in length, as many in each bin as their lengths allow.

        Empty when all are of about the same length.
        """
        groups = self._lengths.groups()
        bins = _cut(groups, [self._lengths.responses(group) for group in groups])
        if len(bins) < 2:
            return ()
        ends = [own[0] for own in bins[1:]]
        made = []
        for own, end in zip(bins, [*ends, None], strict=True):
            rate = self._lengths.rate(own, confidence=confidence)
            made.append(LengthBin(own[0], end, rate.responses, rate.count, rate.total, rate.interval))
        return tuple(made)


def shortened(lengths: IntArray) -> IntArray:
    """Lengths rounded down to their seven leading bits, so that there are few of them, less than 2 % apart.

    >>> shortened(np.array([0, 5, 127, 129, 1000])).tolist()
    [0, 5, 127, 128, 1000]
    """
    bits = np.floor(np.log2(np.maximum(lengths, 1))).astype(np.int64) + 1
    dropped = np.maximum(bits - _LEADING_BITS, 0)
    return lengths >> dropped << dropped


def _cut(groups: list[int], responses: list[int]) -> list[list[int]]:
    """Neighbours put together into bins of about equal numbers of responses."""
    bins: dict[int, list[int]] = {}
    seen, total = 0, sum(responses)
    for group, number in zip(groups, responses, strict=True):
        # Where the middle of a group stands among all responses decides where the group belongs.
        bins.setdefault(int((seen + number / 2) * LENGTH_BINS / total), []).append(group)
        seen += number
    return list(bins.values())


def _by_response(columns: Columns, chosen: BoolArray) -> IntArray:
    return np.bincount(columns.record_of_claim[chosen], minlength=columns.records)


SHARE_BINS = 10
"""Bins of the unsupported share; a response without any unsupported claim has a bin of its own."""
MODELS_SHOWN = 50
RECORDS_AT_ONCE = 256
"""So many that columns are worth their while, and so few that memory stays small."""
UNSUPPORTED = (Label.REFUTED, Label.NOT_ENOUGH_INFO)
_SUPPORTED_LABEL, _REFUTED, _SILENT = (LABEL_CODES[label] for label in (Label.SUPPORTED, *UNSUPPORTED))


class JudgeTally(Struct):
    """What one judge said and cost."""

    labels: dict[Label | None, int]
    cost_usd: float | None = None
    without_cost: int = 0


class Tallies:
    """What a pass over all responses has counted so far; its size does not depend on how many there are.

    `headline` is the judge whose labels count, `reference` the one that others are compared with, and `unsupported`
    are the labels that speak against an answer where claims have a place.
    """

    def __init__(
        self,
        headline: str | None = None,
        *,
        reference: str | None = None,
        unsupported: Sequence[Label] = UNSUPPORTED,
    ) -> None:
        self._ledger = ColumnBuffer(headline)
        self._votes = np.zeros(0, dtype=np.int64)
        self._costs: dict[int, tuple[float, int]] = {}
        self._labels = np.zeros(len(LABELS), dtype=np.int64)
        self._models: dict[str | None, IntArray] = {}
        self._model_responses: Counter[str | None] = Counter()
        self._bins = np.zeros(SHARE_BINS + 1, dtype=np.int64)
        self.responses = 0
        self.without_decided_claim = 0
        self.not_aligned = 0
        self.cut_verdicts = 0
        self.unchecked_languages: Counter[str] = Counter()
        """Responses by the language in which the model of a judge was not checked."""
        self.places = PlaceTally([LABEL_CODES[label] for label in unsupported])
        self.votes = VoteTally(reference)

    def add(self, item: RecordFindings) -> tuple[int, int, int]:
        """Count a response; how many of its claims are unsupported, decided and unmeasured."""
        codes = self._ledger.add(item)
        self._add_loose(item, codes)
        self._add_notes(item)
        if len(self._ledger) == RECORDS_AT_ONCE:
            self.finish()
        unsupported = codes.count(_REFUTED) + codes.count(_SILENT)
        decided = unsupported + codes.count(_SUPPORTED_LABEL)
        return unsupported, decided, len(codes) - decided

    def finish(self) -> None:
        """Count what was noted down; to be called after the last response."""
        columns = self._ledger.columns()
        table = columns.label_counts()
        decided = table[:, :DECIDED_LABELS].sum(axis=1)
        unsupported = table[:, _REFUTED] + table[:, _SILENT]
        self.responses += columns.records
        self._labels += table.sum(axis=0)
        is_decided = decided > 0
        self.without_decided_claim += int((~is_decided).sum())
        # The quotient is rounded up, without leaving whole numbers.
        bins = -(-SHARE_BINS * unsupported[is_decided] // decided[is_decided])
        self._bins += np.bincount(bins, minlength=SHARE_BINS + 1)
        self._add_models(columns, table)
        self._add_verdicts(columns)
        self.places.add(columns)
        self.votes.add(columns)

    def _add_models(self, columns: Columns, table: IntArray) -> None:
        self._model_responses.update(columns.models)
        for model in dict.fromkeys(columns.models):
            own = table[[name == model for name in columns.models]].sum(axis=0)
            self._models[model] = self._models[model] + own if model in self._models else own

    def _add_verdicts(self, columns: Columns) -> None:
        counted = np.bincount(columns.votes, minlength=len(self._ledger.numbers))
        counted[: len(self._votes)] += self._votes
        self._votes = counted
        is_known = ~np.isnan(columns.costs)
        if not is_known.any():
            return
        judges, costs = columns.judge_of_verdict[is_known], columns.costs[is_known]
        for judge in np.unique(judges).tolist():
            own = costs[judges == judge]
            spent, verdicts = self._costs.get(judge, (0.0, 0))
            self._costs[judge] = (spent + float(own.sum()), verdicts + len(own))

    def _add_loose(self, item: RecordFindings, codes: list[int]) -> None:
        """Count the claims that no piece of their response can show: without a place, or a part that a judge named."""
        length = len(item.response.response or "")
        for finding in item.findings:
            start, end = finding.claim.start, finding.claim.end
            if start is None or end is None or not start < end <= length:
                break
        else:
            return
        pairs = zip(item.findings, codes, strict=True)
        self.not_aligned += sum(not is_aligned(finding, LABELS[code], length=length) for finding, code in pairs)

    def _add_notes(self, item: RecordFindings) -> None:
        notes = [verdict.note for finding in item.findings for verdict in finding.verdicts if verdict.note]
        if notes:
            self.cut_verdicts += sum(map(is_cut_evidence, notes))
            found = {unchecked_language_in(note) for note in notes}
            self.unchecked_languages.update(language for language in found if language is not None)

    def tally(self) -> LabelTally:
        """All claims by label."""
        return tally_of(_by_label(self._labels))

    def share_bins(self) -> tuple[ShareBin, ...]:
        """The distribution of the unsupported share over responses."""
        return tuple(
            ShareBin(max(0, position - 1) / SHARE_BINS, position / SHARE_BINS, responses)
            for position, responses in enumerate(self._bins.tolist())
        )

    def model_tallies(self) -> tuple[ModelTally, ...]:
        """Label counts of the models with most responses, by name."""
        kept = [model for model, _ in self._model_responses.most_common(MODELS_SHOWN)]
        return tuple(
            ModelTally(model, self._model_responses[model], tally_of(_by_label(self._models[model])))
            for model in sorted(kept, key=lambda model: (model is None, model or ""))
        )

    @property
    def models(self) -> int:
        """How many models there are."""
        return len(self._models)

    def judges(self) -> dict[str, JudgeTally]:
        """What every judge said and cost, in the order of their appearance."""
        found: dict[str, JudgeTally] = {judge: JudgeTally({}) for judge in self._ledger.numbers.judges}
        for (judge, label, _), verdicts in zip(self._ledger.numbers, self._votes.tolist(), strict=True):
            labels = found[judge].labels
            labels[Label(label)] = labels.get(Label(label), 0) + verdicts
        for judge, number in self._ledger.numbers.judges.items():
            spent, verdicts = self._costs.get(number, (None, 0))
            found[judge].cost_usd = spent
            found[judge].without_cost = sum(found[judge].labels.values()) - verdicts
        return found

    def reasons(self) -> ReasonTally:
        """Why verdicts were given."""
        tally = ReasonTally(Counter())
        for (judge, label, reason), verdicts in zip(self._ledger.numbers, self._votes.tolist(), strict=True):
            if reason == BEYOND:
                tally.beyond += verdicts
            else:
                tally.add(Label(label), reason, judge=judge, verdicts=verdicts)
        return tally


def tally_of(labels: Mapping[Label | None, int]) -> LabelTally:
    """Counts by label as a record."""
    return LabelTally(
        supported=labels.get(Label.SUPPORTED, 0),
        refuted=labels.get(Label.REFUTED, 0),
        not_enough_info=labels.get(Label.NOT_ENOUGH_INFO, 0),
        undecided=labels.get(Label.UNDECIDED, 0),
        no_verdict=labels.get(None, 0),
    )


def _by_label(counts: IntArray) -> dict[Label | None, int]:
    return dict(zip(LABELS, counts.tolist(), strict=True))
