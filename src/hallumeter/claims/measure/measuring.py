"""From a table of verdicts to a summary: every metric of the catalog, for the run and for each group."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.claims.catalog import (
    ABSTENTION_METRICS,
    CLAIM_METRICS,
    EXPECTED_METRICS,
    METRICS_BY_ID,
    UNCERTAINTY_METRICS,
)
from hallumeter.claims.metrics.consensus import ConsensusPart, consensus_counts, consensus_scores, mean_over_models
from hallumeter.claims.metrics.expected import calibration_shifts, expected_bounds
from hallumeter.claims.metrics.rates import rate_bounds
from hallumeter.claims.metrics.uncertainty import UncertaintyMethod, decompose, entropy_of
from hallumeter.claims.settings import MeasureSettings
from hallumeter.errors import SettingsError
from hallumeter.records.columns import (
    FAILED_CODE,
    UNDECIDED_CODE,
    Answers,
    LabelCounts,
    ProbabilitySums,
    Ratings,
    Support,
    UncertaintySums,
)
from hallumeter.records.measurement import Measurement, MetricSummary
from hallumeter.records.metric import Metric
from hallumeter.records.rate import Rates
from hallumeter.stats.agreement import (
    FEWEST_JUDGES,
    judge_accuracies,
    panel_fleiss_kappa,
    panel_gwet_ac1,
    prevalence_warning,
)
from hallumeter.stats.summarize import (
    Slice,
    SummarySettings,
    summarize_agreement,
    summarize_clusters,
    summarize_expected,
    summarize_rates,
    summarize_value,
)

from . import columns as inputs
from .columns import CONSENSUS, PANEL, Cells, ConsensusMethod, Votes
from .response_names import run_record_id, shared_records
from .table import MISSING, Codes, Table

MOST_BLOCKS = 512
"""Responses are resampled one by one up to this many; beyond it in this many equal blocks, which is as good."""
_CONSENSUS_PARTS: tuple[tuple[str, ConsensusPart, bool], ...] = (
    ("consensus_precision", "precision", False),
    ("consensus_recall", "recall", False),
    ("consensus_f1", "f1", False),
    ("consensus_f1_others", "f1", True),
)
AGREEMENT_IDS = ("fleiss_kappa", "observed_agreement", "krippendorff_alpha", "gwet_ac1")
ALL_JUDGES = "all judges"
NO_JOINT_PROBABILITY = "the joint verdict of several judges has no probability; see each judge"


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
    support: Support | str
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
        support=inputs.support_of(table, cells, votes, labels=headline, similarity=settings.similarity),
        is_audited=inputs.audited_cells(table, cells),
    )


def _claim_labels(table: Table, matrix: NDArray[np.int8], settings: MeasureSettings) -> Codes:
    """The label of each claim that the headline figures rest on."""
    names = table.judge_names
    if settings.headline not in (None, CONSENSUS, *names):
        known = ", ".join(names)
        raise SettingsError(f"no verdict is by a judge called {settings.headline!r}; judges found: {known}")
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
        labels[panel_name(table)] = inputs.label_counts(cells, votes.claim_rows, consensus)
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


def panel_name(table: Table) -> str:
    """What the joint verdict of all judges is called; another name when a judge has that one."""
    return PANEL if CONSENSUS in table.judge_names else CONSENSUS


def summary_rows(measured: Measured, settings: MeasureSettings, summary: SummarySettings) -> Iterator[MetricSummary]:
    """Every metric for the whole run, then for each group."""
    for group in _groups(measured.cells, settings):
        yield from _claim_rows(measured, group, summary, joined_by=settings.consensus)
        yield from _expected_rows(measured, group, summary)
        if not group.by:
            yield from _consensus_rows(measured.support, settings, summary)
        yield from _agreement_rows(measured, group, summary)
        yield from _uncertainty_rows(measured, group, summary, method=settings.uncertainty)
        yield from _abstention_rows(measured, group, summary)


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


class _Group(NamedTuple):
    """Some cells that are summarised together."""

    by: dict[str, str]
    cells: NDArray[np.intp]


def _groups(cells: Cells, settings: MeasureSettings) -> Iterator[_Group]:
    """The cells of the whole run, then those of each group."""
    yield _Group({}, np.arange(len(cells)))
    if settings.by:
        order = np.argsort(cells.groups, kind="stable")
        edges = np.searchsorted(cells.groups[order], np.arange(len(cells.group_values) + 1))
        for group, by in enumerate(cells.group_values):
            yield _Group(by, order[edges[group] : edges[group + 1]])


def _claim_rows(
    measured: Measured, group: _Group, summary: SummarySettings, *, joined_by: ConsensusMethod
) -> Iterator[MetricSummary]:
    by, chosen = group.by, group.cells[measured.is_audited[group.cells]]
    for judge, counts in measured.labels.items():
        mine = _merged(counts[chosen], measured, chosen)
        unmeasured = mine.table.sum(axis=0)
        part = Slice(
            by,
            judge,
            undecided=int(unmeasured[UNDECIDED_CODE]),
            failed=int(unmeasured[FAILED_CODE]),
            settings=(("joined", joined_by),) if judge not in measured.table.judge_names else _stated(measured, judge),
        )
        for metric in CLAIM_METRICS:
            bounds = rate_bounds(metric.compute, mine, widened_by_claimless=metric.is_widened_by_claimless)
            rates = _clustered(metric.compute(mine), measured, chosen)
            yield summarize_rates(metric, rates, part, settings=summary, bounds=bounds)


def _expected_rows(measured: Measured, group: _Group, summary: SummarySettings) -> Iterator[MetricSummary]:
    """The expected share of each judge; the joint verdict of several has no probability."""
    chosen = group.cells[measured.is_audited[group.cells]]
    for metric in EXPECTED_METRICS:
        for judge, counts in measured.labels.items():
            unmeasured = counts[chosen].table.sum(axis=0)
            part = Slice(
                group.by,
                judge,
                undecided=int(unmeasured[UNDECIDED_CODE]),
                failed=int(unmeasured[FAILED_CODE]),
                settings=_stated(measured, judge),
            )
            sums = measured.probabilities.get(judge)
            if sums is None or not sums[chosen].claims.any():
                why = NO_JOINT_PROBABILITY if judge not in measured.table.judge_names else None
                yield summarize_value(metric, None, part, settings=summary, undefined=why)
                continue
            mine = sums[chosen]
            named = structs.replace(
                metric, settings=(*metric.settings, ("calibration_error", _calibration_error(mine)))
            )
            rates = _clustered(metric.compute(mine), measured, chosen)
            shifts = calibration_shifts(mine)
            bounds = expected_bounds(mine)
            yield summarize_expected(named, rates, part, settings=summary, shifts=shifts, bounds=bounds)


def _stated(measured: Measured, judge: str) -> tuple[tuple[str, str], ...]:
    return measured.table.stated.get(judge, ())


def _calibration_error(sums: ProbabilitySums) -> str:
    """Whether the interval holds the error of the calibration, as its signature says it."""
    if not sums.changes:
        return "not-included"
    return "partly-refitted" if sums.uncovered is None or sums.uncovered.any() else "refitted"


def _consensus_rows(
    support: Support | str, settings: MeasureSettings, summary: SummarySettings
) -> Iterator[MetricSummary]:
    """Precision, recall and F1 of each model, and their means over models for the run."""
    if isinstance(support, str):
        for name, _, _ in _CONSENSUS_PARTS:
            yield summarize_value(METRICS_BY_ID[name], None, Slice({}, None), settings=summary, undefined=support)
        return
    for name, part, is_left_out in _CONSENSUS_PARTS:
        metric = _with_identity(METRICS_BY_ID[name], settings.similarity)
        counts = consensus_counts(support, is_left_out=is_left_out)
        yield _consensus_mean(metric, counts, summary, part=part)
        for score in consensus_scores(support, is_left_out=is_left_out):
            rate = {"precision": score.precision, "recall": score.recall}.get(part)
            yield summarize_value(
                metric,
                rate.value if rate else score.f1,
                Slice({"model": score.model}, None),
                settings=summary,
                counts=(rate.count, rate.total) if rate else None,
            )


def _consensus_mean(
    metric: Metric, counts: NDArray[np.int64], summary: SummarySettings, *, part: ConsensusPart
) -> MetricSummary:
    """The mean over models, with questions as the unit of resampling."""
    questions, models, width = counts.shape
    blocks = min(questions, MOST_BLOCKS)
    clusters = np.zeros((blocks, models * width), dtype=np.int64)
    np.add.at(clusters, np.arange(questions) % blocks, counts.reshape(questions, models * width))

    def statistic(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return mean_over_models(rows.reshape(len(rows), models, width), part=part)

    row = summarize_clusters(metric, clusters, Slice({}, None), settings=summary, statistic=statistic)
    return structs.replace(row, total=float(questions))


def _agreement_rows(measured: Measured, group: _Group, summary: SummarySettings) -> Iterator[MetricSummary]:
    by, chosen = group
    if len(measured.table.judge_names) < 2:
        return
    ratings = _ratings(measured, chosen)
    part = Slice(by, ALL_JUDGES)
    warning = prevalence_warning(panel_fleiss_kappa(ratings), panel_gwet_ac1(ratings))
    for name in AGREEMENT_IDS:
        row = summarize_agreement(METRICS_BY_ID[name], ratings, part, settings=summary)
        yield structs.replace(row, note=warning) if name == "fleiss_kappa" else row
    names = ratings.judges
    for first, second in combinations(range(len(names)), 2):
        pair = Slice(by, f"{names[first]} & {names[second]}")
        judges = {"first": first, "second": second}
        yield summarize_agreement(METRICS_BY_ID["cohen_kappa"], ratings, pair, settings=summary, judges=judges)
    sensitivity, specificity = METRICS_BY_ID["judge_sensitivity"], METRICS_BY_ID["judge_specificity"]
    for name, accuracy in zip(names, judge_accuracies(ratings), strict=True):
        yield summarize_value(sensitivity, accuracy.sensitivity, Slice(by, name), settings=summary)
        yield summarize_value(specificity, accuracy.specificity, Slice(by, name), settings=summary)
    if not by:  # a judge is kept or dropped for the whole run
        yield from _left_out_rows(ratings, summary)


def _left_out_rows(ratings: Ratings, summary: SummarySettings) -> Iterator[MetricSummary]:
    """How each judge agrees with the others, and how they agree without it."""
    beside = METRICS_BY_ID["agreement_with_others"]
    for column, name in enumerate(ratings.judges):
        part = Slice({}, name)
        yield summarize_rates(beside, beside.compute(ratings, column), part, settings=summary)
        if len(ratings.judges) >= FEWEST_JUDGES:
            for metric in (METRICS_BY_ID["alpha_without"], METRICS_BY_ID["alpha_gain_without"]):
                yield summarize_agreement(metric, ratings, part, settings=summary, judges={"judge": column})


def _uncertainty_rows(
    measured: Measured, group: _Group, summary: SummarySettings, *, method: UncertaintyMethod
) -> Iterator[MetricSummary]:
    by, chosen = group
    if measured.uncertainties is None:
        return
    sums = measured.uncertainties[chosen]
    judges = measured.table.judge_names
    part = Slice(by, judges[0] if len(judges) == 1 else ALL_JUDGES)
    outcomes = max(len(item.probabilities) for item in measured.table.distributions)
    largest = max(math.log(outcomes), 1.0)  # of the entropy; the other methods stay below it
    for metric in UNCERTAINTY_METRICS:
        if metric.reads == "distributions":
            named = structs.replace(metric, settings=(*metric.settings, ("method", method)))
            rates = _clustered(metric.compute(sums), measured, chosen)
            yield summarize_rates(named, rates, part, settings=summary, largest=largest)


def _abstention_rows(measured: Measured, group: _Group, summary: SummarySettings) -> Iterator[MetricSummary]:
    by, chosen = group
    if not len(measured.answers):
        return
    responses, first = np.unique(measured.cells.responses[chosen], return_index=True)
    mine = np.isin(measured.answer_responses, responses)
    answers = measured.answers[mine]
    for metric in ABSTENTION_METRICS:
        rates = metric.compute(answers)
        if measured.clusters is not None:
            cells = chosen[first[np.searchsorted(responses, measured.answer_responses[mine])]]
            rates = rates.pooled_by(measured.clusters[cells])
        yield summarize_rates(metric, rates, Slice(by, None), settings=summary)


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


def _ratings(measured: Measured, chosen: NDArray[np.intp]) -> Ratings:
    """Patterns of votes of the chosen cells, and how they spread over blocks of responses."""
    of_claim = measured.cells.of_row[measured.votes.claim_rows]
    here = np.flatnonzero(np.isin(of_claim, chosen)) if len(chosen) < len(measured.cells) else np.arange(len(of_claim))
    ratings, inverse = inputs.ratings_of(measured.matrix[here], measured.table.judge_names)
    units = measured.cells.responses if measured.clusters is None else measured.clusters
    _, unit = np.unique(units[of_claim[here]], return_inverse=True)
    blocks = min(int(unit.max()) + 1, MOST_BLOCKS) if len(unit) else 0
    patterns = len(ratings.patterns)
    flat = np.bincount((unit % max(blocks, 1)) * patterns + inverse, minlength=blocks * patterns)
    return structs.replace(ratings, clusters=flat.reshape(blocks, patterns))


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


def _with_identity(metric: Metric, similarity: float | None) -> Metric:
    if similarity is None:
        return metric
    others = ((name, value) for name, value in metric.settings if name != "identity")
    settings = (*others, ("identity", f"fuzzy-{similarity:g}"))
    return structs.replace(metric, settings=settings)


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
