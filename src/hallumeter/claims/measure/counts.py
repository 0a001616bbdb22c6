"""From a table of verdicts to everything that the metrics read, counted once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.claims.catalog import CLAIM_METRICS
from hallumeter.claims.metrics.uncertainty import UncertaintyMethod, decompose, entropy_of
from hallumeter.claims.settings import MeasureSettings
from hallumeter.records.columns import FAILED_CODE, Answers, LabelCounts, ProbabilitySums, UncertaintySums
from hallumeter.records.measurement import Measurement

from . import columns as inputs
from .columns import CONSENSUS, PANEL, Cells, Statements, Votes
from .response_names import run_record_id, shared_records
from .table import MISSING, Codes, Table


class Measured(Struct, frozen=True, eq=False):
    """Everything that was counted in a table, ready to be summarised or written down."""

    table: Table
    cells: Cells
    votes: Votes
    clusters: Codes | None
    labels: dict[str, LabelCounts]
    """Label counts per cell, the headline judge first."""
    probabilities: dict[str, ProbabilitySums]
    """What the probabilities of each judge that gives any add up to per cell."""
    matrix: NDArray[np.int8]
    answers: Answers
    answer_responses: Codes
    uncertainties: UncertaintySums | None
    statements: Statements | None
    """Who stated what about which question; None with no model."""
    cluster: str
    """The unit of resampling, or the field that names it."""
    is_audited: NDArray[np.bool_]
    """Which cells were looked at for claims; a row that only tells whether a question was answerable was not."""

    @property
    def headline(self) -> str:
        """The judge whose verdicts the headline figures rest on."""
        return next(iter(self.labels), CONSENSUS)


def count(table: Table, settings: MeasureSettings) -> Measured:
    """Count everything that the metrics read, once."""
    cells = inputs.cells_of(table, settings.by)
    votes = inputs.votes_of(table, cells)
    matrix = inputs.rating_matrix(table, votes)
    labels = _labels_by_judge(table, cells, votes, matrix=matrix, settings=settings)
    headline = _claim_labels(table, matrix, settings)
    answers, answer_responses = inputs.answers_of(table, cells)
    return Measured(
        table=table,
        cells=cells,
        votes=votes,
        clusters=None if settings.cluster == "response" else inputs.clusters_of(table, cells, settings.cluster),
        labels=labels,
        probabilities=_probabilities_by_judge(table, cells, votes),
        matrix=matrix,
        answers=answers,
        answer_responses=answer_responses,
        uncertainties=_uncertainties(table, cells, votes, method=settings.uncertainty),
        statements=inputs.statements_of(table, cells, votes, labels=headline, similarity=settings.similarity),
        cluster=settings.cluster,
        is_audited=inputs.audited_cells(table, cells),
    )


def _claim_labels(table: Table, matrix: NDArray[np.int8], settings: MeasureSettings) -> Codes:
    """The label of each claim that the headline figures rest on."""
    names = table.judge_names
    if settings.headline not in (None, CONSENSUS, *names):
        return np.full(len(matrix), np.int8(FAILED_CODE))  # it said nothing here
    if settings.headline in names or len(names) == 1:
        chosen = matrix[:, names.index(settings.headline) if settings.headline in names else 0]
        return np.where(chosen == MISSING, np.int8(FAILED_CODE), chosen)
    return inputs.consensus_labels(matrix, settings.consensus)


def _labels_by_judge(
    table: Table, cells: Cells, votes: Votes, *, matrix: NDArray[np.int8], settings: MeasureSettings
) -> dict[str, LabelCounts]:
    """Label counts of every judge and of the panel, the headline first."""
    labels: dict[str, LabelCounts] = {}
    if len(table.judge_names) > 1:
        consensus = inputs.consensus_labels(matrix, settings.consensus)
        labels[panel_name(table.judge_names)] = inputs.label_counts(cells, votes.claim_rows, consensus)
    for code, judge in enumerate(table.judge_names):
        mine = votes.rows if len(table.judge_names) == 1 else votes.rows[table.judges[votes.rows] == code]
        labels[judge] = inputs.label_counts(cells, mine, table.labels[mine])
    if settings.headline in labels:
        return {settings.headline: labels[settings.headline], **labels}
    return labels


def _probabilities_by_judge(table: Table, cells: Cells, votes: Votes) -> dict[str, ProbabilitySums]:
    by_judge = (
        (judge, inputs.probability_sums(table, cells, votes.rows[table.judges[votes.rows] == code], judge=judge))
        for code, judge in enumerate(table.judge_names)
    )
    return {judge: sums for judge, sums in by_judge if sums is not None}


def panel_name(judges: Sequence[str]) -> str:
    """What the joint verdict of all judges is called; another name when a judge has that one."""
    return PANEL if CONSENSUS in judges else CONSENSUS


def record_measurements(measured: Measured) -> Iterator[Measurement]:
    """The claim metrics of every response by the headline judge, in the order in which the responses appear."""
    if not measured.labels:
        return
    counts = measured.labels[measured.headline]
    columns = [(metric, metric.compute(counts)) for metric in CLAIM_METRICS]
    names = _names_of_cells(measured)
    audited, of_row = np.flatnonzero(measured.is_audited), measured.cells.of_row
    first_rows = np.zeros(len(measured.cells), dtype=np.int64)
    first_rows[of_row[::-1]] = np.arange(len(of_row) - 1, -1, -1)  # of several the last assignment stays
    for cell in audited[np.argsort(first_rows[audited], kind="stable")].tolist():
        by = measured.cells.group_values[int(measured.cells.groups[cell])]
        for metric, rates in columns:
            rate = rates[cell : cell + 1].pooled
            yield Measurement(
                metric=metric.id,
                scope="record",
                record_id=names[cell],
                by=by,
                judge=measured.headline,
                count=rate.count,
                total=rate.total,
                value=rate.value,
                undefined=None if rate.value is not None else "no claim of this response is decided",
            )


def _uncertainties(table: Table, cells: Cells, votes: Votes, *, method: UncertaintyMethod) -> UncertaintySums | None:
    """Entropy, epistemic and aleatoric parts of every verdict that counts and has a distribution, added up per cell."""
    is_counted = np.zeros(len(table.labels), dtype=bool)
    is_counted[votes.rows] = table.labels[votes.rows] != FAILED_CODE
    given_ones = [item for item in table.distributions if is_counted[item.row]]
    if not given_ones:
        return None
    parts = np.zeros((len(given_ones), 3))
    by_shape: dict[tuple[int, int], list[int]] = {}
    for number, item in enumerate(given_ones):
        by_shape.setdefault((len(item.drawn), len(item.probabilities)), []).append(number)
    for numbers in by_shape.values():
        given = np.array([given_ones[number].probabilities for number in numbers])
        drawn = np.array([given_ones[number].drawn for number in numbers])
        epistemic, aleatoric = decompose(drawn, method)
        parts[numbers] = np.stack([entropy_of(given), epistemic, aleatoric], axis=1)
    return inputs.uncertainty_sums(cells, [item.row for item in given_ones], parts)


def _names_of_cells(measured: Measured) -> list[str]:
    """The id of the response of every cell, as the other files of a run have it."""
    table, rows = measured.table, inputs.first_rows(measured.cells.of_row)
    shared = shared_records(table)
    pairs = zip(table.records[rows].tolist(), table.models[rows].tolist(), strict=True)
    return [
        table.response_names.get((record, model))
        or run_record_id(
            table.record_names[record],
            table.model_names[model] if model != MISSING else None,
            is_shared=table.record_names[record] in shared,
        )
        for record, model in pairs
    ]
