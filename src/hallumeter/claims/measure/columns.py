"""From a table of verdicts to what the metrics read: counts per response, votes per claim, statements per question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Literal, TypeAlias

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.claims.metrics.consensus import claim_codes
from hallumeter.claims.metrics.rates import changes_by_response
from hallumeter.records.columns import (
    DECIDED_LABELS,
    FAILED_CODE,
    UNDECIDED_CODE,
    Answers,
    LabelCounts,
    ProbabilitySums,
    Ratings,
    Support,
    UncertaintySums,
    stable_hashes,
)
from hallumeter.records.measurement import NO_VALUE
from hallumeter.stats.raters import dawid_skene, distinct_patterns

from .table import MISSING, Codes, Table, dense_codes, first_appearance_order

ConsensusMethod = Literal["majority", "dawid-skene"]
CONSENSUS = "consensus"
PANEL = "consensus of all judges"
"""The name under which the joint verdict of several judges is reported."""
Refits: TypeAlias = tuple[tuple[float, float], ...]
"""Shift and slope of the logit, one pair for each refit of a calibration."""
_ODD = np.int64(-7046029254386353131)


class Cells(Struct, frozen=True, eq=False):
    """Responses, cut by group: the rows of all counts. A response is in several groups if its claims are."""

    responses: Codes
    groups: Codes
    of_row: Codes
    """The cell of every row of the table."""
    group_values: tuple[dict[str, str], ...]
    response_count: int

    def __len__(self) -> int:
        return len(self.responses)


class Votes(Struct, frozen=True, eq=False):
    """The verdict rows of a table, with claims numbered in order of first appearance."""

    rows: Codes
    claims: Codes
    claim_rows: Codes
    """The row on which each claim appears first."""
    duplicates: Codes
    """Rows left out because the same judge had judged the same claim before."""


def cells_of(table: Table, by: Sequence[str]) -> Cells:
    """Number responses and groups, and find the cell of every row."""
    responses = _responses(table)
    count = int(responses.max()) + 1 if len(responses) else 0
    if not by:
        return Cells(np.arange(count), np.zeros(count, dtype=np.int64), responses, ({},), count)
    groups, values = _groups(table, by, responses, count=count)
    keys, of_row = dense_codes(responses.astype(np.int64) * len(values) + groups)
    return Cells(keys // len(values), keys % len(values), of_row, values, count)


def votes_of(table: Table, cells: Cells) -> Votes:
    """Find the verdicts that count: the first of each judge on each claim."""
    is_verdict = table.labels != MISSING
    rows: Codes = np.flatnonzero(is_verdict) if not is_verdict.all() else np.arange(len(is_verdict), dtype=np.int64)
    first, claims = first_appearance_order(_claim_hashes(table, cells, rows))
    if len(first) == len(rows):
        return Votes(rows, claims, rows, np.zeros(0, dtype=np.int64))
    votes = claims.astype(np.int64) * len(table.judge_names) + table.judges[rows]
    is_first = np.zeros(len(rows), dtype=bool)
    is_first[np.unique(votes, return_index=True)[1]] = True
    return Votes(rows[is_first], claims[is_first], rows[first], rows[~is_first])


def _claim_hashes(table: Table, cells: Cells, rows: Codes) -> Codes:
    """One number per verdict, equal for verdicts on the same claim of the same response."""
    keys = cells.responses[cells.of_row].astype(np.int64)
    keys *= _ODD
    keys ^= table.claims
    return keys if len(rows) == len(keys) else keys[rows]


def rating_matrix(table: Table, votes: Votes) -> NDArray[np.int8]:
    """Label codes by claim and judge: -1 where there is no verdict."""
    matrix = np.full((len(votes.claim_rows), len(table.judge_names)), MISSING, dtype=np.int8)
    matrix[votes.claims, table.judges[votes.rows]] = table.labels[votes.rows]
    return matrix


def ratings_of(matrix: NDArray[np.int8], judges: tuple[str, ...]) -> tuple[Ratings, Codes]:
    """Distinct patterns of decided votes, and which of them each claim shows; undecided and failed are not given."""
    decided = np.where(matrix < DECIDED_LABELS, matrix, np.int8(MISSING))
    patterns, multiplicities, inverse = distinct_patterns(decided)
    return Ratings(patterns, multiplicities, judges), inverse


def consensus_labels(matrix: NDArray[np.int8], method: ConsensusMethod = "majority") -> Codes:
    """The panel's label for each claim.

    Majority of the decided votes; a tie is undecided; a claim without a decided vote is undecided if a judge could not
    tell, else failed. Dawid-Skene takes the most probable label given every judge's estimated errors.
    """
    decided = np.where(matrix < DECIDED_LABELS, matrix, np.int8(MISSING))
    patterns, multiplicities, inverse = distinct_patterns(decided)
    counts = np.stack([(patterns == code).sum(axis=1) for code in range(DECIDED_LABELS)], axis=1)
    if method == "dawid-skene":
        rated = counts.any(axis=1)
        labels = np.full(len(patterns), UNDECIDED_CODE)
        if rated.any():
            result = dawid_skene(patterns[rated], multiplicities[rated], classes=DECIDED_LABELS)
            labels[rated] = result.posteriors.argmax(axis=1)
    else:
        ordered = np.sort(counts, axis=1)
        labels = np.where(ordered[:, -1] > ordered[:, -2], counts.argmax(axis=1), UNDECIDED_CODE)
    by_claim = labels.astype(np.int8)[inverse]
    has_vote = (decided != MISSING).any(axis=1)
    has_doubt = (matrix == UNDECIDED_CODE).any(axis=1)
    return np.where(has_vote | has_doubt, by_claim, np.int8(FAILED_CODE))


def label_counts(cells: Cells, rows: Codes, labels: Codes) -> LabelCounts:
    """Count labels per cell."""
    of_row = cells.of_row if len(rows) == len(cells.of_row) else cells.of_row[rows]
    return LabelCounts.tally(of_row, labels, size=len(cells))


def uncertainty_sums(cells: Cells, rows: list[int], parts: NDArray[np.float64]) -> UncertaintySums:
    """Add up the uncertainties of the verdicts of each cell; parts has the columns entropy, epistemic, aleatoric."""
    of_claim = cells.of_row[rows]
    claims = np.bincount(of_claim, minlength=len(cells))
    sums = [np.bincount(of_claim, column, minlength=len(cells)).astype(np.float64) for column in parts.T]
    return UncertaintySums(claims, *sums)


def probability_sums(table: Table, cells: Cells, rows: Codes, *, judge: str) -> ProbabilitySums | None:
    """Add up the probabilities of a judge's verdicts per cell, and how refits of its calibration change the sums."""
    if table.probabilities is None:
        return None
    counted = rows[table.labels[rows] != FAILED_CODE]
    known = counted[~np.isnan(table.probabilities[counted])]
    if not len(known):
        return None
    size = len(cells)
    probabilities, of_claim = table.probabilities[known], cells.of_row[known].astype(np.int64)
    claims = np.bincount(of_claim, minlength=size)
    changes, calibrations, uncovered = [], [], claims.copy()
    for refits, mine in _refitted(table, known, judge):
        changes.append(changes_by_response(of_claim[mine], probabilities[mine], refits, size=size))
        calibrations.append(blake2b(repr(refits).encode(), digest_size=8).hexdigest())
        uncovered -= np.bincount(of_claim[mine], minlength=size)
    return ProbabilitySums(
        claims,
        np.bincount(of_claim, probabilities, minlength=size).astype(np.float64),
        unknown=np.bincount(cells.of_row[rows], minlength=size) - claims,
        changes=tuple(changes),
        uncovered=uncovered,
        calibrations=tuple(calibrations),
    )


def _refitted(table: Table, known: Codes, judge: str) -> Iterator[tuple[Refits, NDArray[np.bool_]]]:
    """Each calibration of a judge that was refitted, and which claims it is for; kinds of text may share one."""
    kinds_by_refits: dict[Refits, list[int]] = {}
    for code, kind in enumerate(table.kind_names):
        refits = table.refits.get((judge, kind), ())
        if refits:
            kinds_by_refits.setdefault(refits, []).append(code)
    if table.kinds is not None:
        for refits, codes in sorted(kinds_by_refits.items()):
            mine = np.isin(table.kinds[known], codes)
            if mine.any():
                yield refits, mine


def audited_cells(table: Table, cells: Cells) -> NDArray[np.bool_]:
    """Cells with a verdict, or with a row that has neither a verdict nor anything to say about abstention."""
    rows = np.flatnonzero((table.labels != MISSING) | (table.answerable == MISSING))
    return np.bincount(cells.of_row[rows], minlength=len(cells)) > 0


def answers_of(table: Table, cells: Cells) -> tuple[Answers, Codes]:
    """What is known about abstention, once per response, and the response of each."""
    rows = np.flatnonzero(table.answerable != MISSING)
    found, first = np.unique(cells.responses[cells.of_row[rows]], return_index=True)
    kept = rows[first]
    return Answers(table.answerable[kept] == 1, table.abstained[kept]), found


class Statements(Struct, frozen=True, eq=False):
    """Who stated what about which question."""

    is_by_record: bool
    """Whether a question is a record that several models share; else it is what rows name."""
    has_statements: bool
    """Whether some claim has a text, a model and a label."""
    has_questions: bool
    """The same of claims whose question is named."""
    support: Support | None
    """The statements on questions that several models answered; None without any."""


def statements_of(
    table: Table, cells: Cells, votes: Votes, *, labels: Codes, similarity: float | None = None
) -> Statements | None:
    """Who stated what about which question; None when no row names a model."""
    if not table.model_names:
        return None
    pairs = _distinct_pairs(table.records, table.models, len(table.model_names))
    is_by_record = bool((np.bincount(pairs[:, 0]) > 1).any())
    named = _filled(table.questions, cells.responses[cells.of_row], cells.response_count)
    questions = table.records if is_by_record else named
    rows = votes.claim_rows
    stated = (table.claim_keys[rows] != 0) & (table.models[rows] != MISSING) & (labels < DECIDED_LABELS)
    found = Statements(is_by_record, bool(stated.any()), bool((stated & (named[rows] != MISSING)).any()), None)
    stated &= questions[rows] != MISSING
    if not stated.any():
        return found
    asked = _distinct_pairs(questions, table.models, len(table.model_names))
    is_shared = np.bincount(asked[:, 0], minlength=int(questions.max()) + 1) > 1
    if not is_shared.any():
        return found
    # A question that one model alone answered says nothing about consensus.
    asked, stated = asked[is_shared[asked[:, 0]]], stated & is_shared[questions[rows]]
    rows, supported = rows[stated], labels[stated] == 0
    claims = _claim_codes(table, questions[rows], rows, similarity=similarity)
    width = int(claims.max(initial=0)) + 1
    keys = (questions[rows].astype(np.int64) * width + claims) * len(table.model_names) + table.models[rows]
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    support = Support(
        questions=questions[rows][first].astype(np.int64),
        claims=claims[first].astype(np.int64),
        models=table.models[rows][first].astype(np.int64),
        is_supported=np.bincount(inverse, supported, minlength=len(distinct)) > 0,
        asked=asked,
        model_names=table.model_names,
    )
    return structs.replace(found, support=support)


def clusters_of(table: Table, cells: Cells, field: str) -> Codes:
    """The cluster of every cell, by a field such as the document; rows without it stand alone."""
    of_cell = _field_of_cells(table, cells, field)
    alone = of_cell == MISSING
    of_cell[alone] = len(table.field_names[field]) + cells.responses[alone]
    return np.unique(of_cell, return_inverse=True)[1].astype(np.int64)


def unit_hashes(table: Table, cells: Cells, chosen: Codes, *, cluster: str) -> NDArray[np.int64]:
    """A stable hash for the unit of resampling of each chosen cell: of its cluster, else of its response."""
    rows = first_rows(cells.of_row)[chosen]
    models = (table.model_names[code] if code != MISSING else "" for code in table.models[rows].tolist())
    records = (table.record_names[code] for code in table.records[rows].tolist())
    names = [f"{record}\0{model}" for record, model in zip(records, models, strict=True)]
    if cluster != "response":
        known = table.field_names[cluster]
        codes = _field_of_cells(table, cells, cluster)[chosen].tolist()
        names = [known[code] if code != MISSING else name for code, name in zip(codes, names, strict=True)]
    return stable_hashes(names)


def _field_of_cells(table: Table, cells: Cells, field: str) -> Codes:
    """The value of a field for every cell."""
    codes = _filled(table.fields[field], cells.responses[cells.of_row], cells.response_count)
    of_cell = np.full(len(cells), MISSING)
    of_cell[cells.of_row[::-1]] = codes[::-1]
    return of_cell


def _claim_codes(table: Table, questions: Codes, rows: Codes, *, similarity: float | None) -> Codes:
    """Number the claims; with a similarity, claims about the same question may also match by likeness."""
    if similarity is None:
        return first_appearance_order(table.claim_keys[rows])[1]
    codes = np.zeros(len(rows), dtype=np.int64)
    next_code = 0
    for question in np.unique(questions):
        here = np.flatnonzero(questions == question)
        texts = [table.claim_texts[key - 1] for key in table.claim_keys[rows[here]].tolist()]
        codes[here] = next_code + np.array(claim_codes(texts, similarity=similarity))
        next_code = int(codes[here].max()) + 1
    return codes


def _responses(table: Table) -> Codes:
    """A response is a record, or one model's part of a record that several models answered."""
    if len(table.model_names) < 2:
        return table.records
    width = len(table.model_names) + 1
    return dense_codes(table.records.astype(np.int64) * width + table.models + 1)[1]


def _groups(
    table: Table, by: Sequence[str], responses: Codes, *, count: int
) -> tuple[Codes, tuple[dict[str, str], ...]]:
    """One number per combination of values of the grouping fields, in the order of their names."""
    groups: Codes = np.zeros(len(responses), dtype=np.int64)
    columns: dict[str, tuple[Codes, list[str]]] = {}
    for field in by:
        filled = _filled(table.fields[field], responses, count)
        names = [*table.field_names[field], NO_VALUE]  # the code of a missing value, -1, finds the last
        order = [*sorted(range(len(names) - 1), key=names.__getitem__), len(names) - 1]
        rank = np.empty(len(names), dtype=np.int64)
        rank[order] = np.arange(len(names))
        # Numbered anew after each field: the product of all names would outgrow the combinations that occur.
        groups = dense_codes(groups.astype(np.int64) * len(names) + rank[filled])[1]
        columns[field] = filled, names
    first = first_rows(groups)
    values = ({field: names[codes[row]] for field, (codes, names) in columns.items()} for row in first.tolist())
    return groups, tuple(values)


def order_of_values(values: Sequence[str]) -> list[tuple[bool, str]]:
    """By which groups are sorted: by their values, those without one last."""
    return [(value == NO_VALUE, value) for value in values]


def first_rows(codes: Codes) -> Codes:
    """The first row that has each code; the codes are dense."""
    first = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return first


def _filled(codes: Codes, responses: Codes, count: int) -> Codes:
    """A field given only on some rows of a response holds for its other rows as well."""
    known = np.flatnonzero(codes != MISSING)
    if len(known) in (0, len(codes)):
        return codes
    first = np.full(count, MISSING)
    first[responses[known[::-1]]] = codes[known[::-1]]
    return np.asarray(np.where(codes == MISSING, first[responses], codes))


def _distinct_pairs(first: Codes, second: Codes, width: int) -> Codes:
    known = (first != MISSING) & (second != MISSING)
    keys = dense_codes(first[known].astype(np.int64) * width + second[known])[0]
    return np.stack([keys // width, keys % width], axis=1)
