"""Everything that a pass over all responses has counted so far."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from hallumeter.records import Label
from hallumeter.records.columns import DECIDED_LABELS, LABEL_CODES
from hallumeter.records.notes import is_cut_evidence, unchecked_language_in
from hallumeter.report.document import LabelTally, ModelTally, ShareBin
from hallumeter.report.segmentation import is_aligned
from hallumeter.report.verdicts.reasons import ReasonTally

from .columns import BEYOND, LABELS, Ledger
from .places import PlaceTally
from .votes import VoteTally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hallumeter.report.document import RecordFindings

    from .columns import Columns, IntArray

BINS = 10
"""Bins of the unsupported share; a response without any unsupported claim has a bin of its own."""
MODELS_SHOWN = 50
RECORDS_AT_ONCE = 256
"""So many that columns are worth their while, and so few that memory stays small."""
UNSUPPORTED = (Label.REFUTED, Label.NOT_ENOUGH_INFO)
_SUPPORTED, _REFUTED, _SILENT = (LABEL_CODES[label] for label in (Label.SUPPORTED, *UNSUPPORTED))


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
        self._ledger = Ledger(headline)
        self._votes = np.zeros(0, dtype=np.int64)
        self._costs: dict[int, tuple[float, int]] = {}
        self._labels = np.zeros(len(LABELS), dtype=np.int64)
        self._models: dict[str | None, IntArray] = {}
        self._model_responses: Counter[str | None] = Counter()
        self._bins = np.zeros(BINS + 1, dtype=np.int64)
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
        decided = unsupported + codes.count(_SUPPORTED)
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
        bins = -(-BINS * unsupported[is_decided] // decided[is_decided])
        self._bins += np.bincount(bins, minlength=BINS + 1)
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
            ShareBin(max(0, position - 1) / BINS, position / BINS, responses)
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
