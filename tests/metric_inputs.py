"""Inputs for every kind of column that a metric reads, and what all metrics have in common when they are called."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, get_args

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from aspect_outputs import different_cards
from hallumeter.aspects.metrics.counts import count_scorecard
from hallumeter.aspects.records.blame import BlameColumns
from hallumeter.aspects.records.columns import AspectColumns, CaseColumns
from hallumeter.claims.metrics.consensus import consensus_scores
from hallumeter.claims.metrics.samples import MeaningColumns, TokenColumns
from hallumeter.claims.metrics.uncertainty import UncertaintyMethod, decompose, entropy_of
from hallumeter.dialogue.records import TurnColumns, TurnRates
from hallumeter.records.columns import Answers, LabelCounts, ProbabilitySums, Ratings, Support, UncertaintySums
from hallumeter.records.metric import Metric
from hallumeter.records.rate import Rate
from hallumeter.stats.raters import distinct_patterns
from hallumeter.transcripts.records import PageColumns, PageCounts

RowColumns = (
    LabelCounts
    | UncertaintySums
    | ProbabilitySums
    | Answers
    | PageColumns
    | MeaningColumns
    | TokenColumns
    | TurnColumns
    | AspectColumns
    | CaseColumns
    | BlameColumns
)
"""Columns with one row per response."""
Columns = RowColumns | Ratings | Support
Values = tuple[float | None, ...]
Statement = tuple[int, int, int, bool]
"""Question, claim, model, and whether the evidence supports it."""

MODELS = ("a", "b", "c")
ASKED_JUDGES = {
    "cohen_kappa": ("first", "second"),
    "agreement_with_others": ("judge",),
    "alpha_without": ("judge",),
    "alpha_gain_without": ("judge",),
}
"""The judges whose columns a statistic of a panel asks for, by the names of its parameters."""
METHODS: tuple[UncertaintyMethod, ...] = get_args(UncertaintyMethod)


def label_counts(rows: Sequence[Sequence[int]]) -> LabelCounts:
    """Rows of supported, refuted, not enough info, undecided, failed."""
    return LabelCounts(np.array(rows, dtype=np.int64).reshape(-1, 5))


def ratings(rows: Sequence[Sequence[int]], judges: int | None = None) -> Ratings:
    """One row per claim and one column per judge, -1 for no vote; equal rows are counted once."""
    width = len(rows[0]) if judges is None else judges
    patterns, multiplicities, _ = distinct_patterns(np.array(rows, dtype=np.int64).reshape(-1, width))
    return Ratings(patterns, multiplicities, tuple(f"judge {number}" for number in range(width)))


def support(statements: Sequence[Statement], asked: Sequence[tuple[int, int]]) -> Support:
    """Statements of the three models as columns."""
    questions, claims, models, supported = np.array(statements, dtype=np.int64).reshape(-1, 4).T
    pairs = np.array(asked, dtype=np.int64).reshape(-1, 2)
    return Support(questions, claims, models, supported.astype(bool), pairs, MODELS)


def uncertainty_sums(responses: Sequence[Sequence[NDArray[np.float64]]], method: UncertaintyMethod) -> UncertaintySums:
    """Responses of claims, each a table of samples by outcomes; the first sample is the judge's own distribution."""
    rows = []
    for claims in responses:
        parts = [decompose(samples[np.newaxis], method) for samples in claims]
        entropies = sum(float(entropy_of(samples[0])) for samples in claims)
        epistemic, aleatoric = (sum(float(part[side][0]) for part in parts) for side in (0, 1))
        rows.append((len(claims), entropies, epistemic, aleatoric))
    claims_column, *sums = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    return UncertaintySums(claims_column.astype(np.int64), *sums)


def probability_sums(responses: Sequence[Sequence[float]]) -> ProbabilitySums:
    """Responses with the probabilities of their claims."""
    claims = np.array(list(map(len, responses)), dtype=np.int64)
    expected = np.array(list(map(math.fsum, responses)), dtype=np.float64)
    return ProbabilitySums(claims, expected, unknown=np.zeros_like(claims))


def _normalized(rows: list[list[int]]) -> NDArray[np.float64]:
    table = np.array(rows, dtype=np.float64)
    shares: NDArray[np.float64] = table / table.sum(axis=1, keepdims=True)
    return shares


def _statements_and_asked(case: tuple[list[Statement], list[tuple[int, int]]]) -> tuple[list[Statement], Any]:
    statements, silent = case
    answered = {(question, model) for question, _, model, _ in statements}
    return statements, sorted(answered | set(silent))


@st.composite
def page_counts(draw: st.DrawFn) -> PageCounts:
    """Counts that one page can have: no part larger than its whole, and the ratios that follow from the counts."""

    def up_to(most: int) -> int:
        return draw(st.integers(0, most))

    def one_if(is_possible: bool) -> bool:
        return is_possible and draw(st.booleans())

    on_page, written = up_to(6), up_to(9)
    ngrams = min(written, max(1, written - 2))
    anchored = up_to(ngrams) if on_page else 0
    on_page_characters, written_characters = on_page * (1 + up_to(3)), written * (1 + up_to(30))
    hits, substituted, deleted, inserted = (up_to(4) for _ in range(4))
    character_hits, character_errors = up_to(20), up_to(30)
    read, unread, numbers, names = up_to(9), up_to(9), up_to(3), up_to(3)
    blocks = up_to(unread)
    is_empty = one_if(not written)
    is_decided = one_if(not is_empty)
    return PageCounts(
        reference_words=on_page,
        response_words=written,
        unknown_words=up_to(written) if on_page else written,
        anchored_ngrams=anchored,
        ngrams=ngrams,
        anchor_score=anchored / ngrams if ngrams else float(not on_page),
        reference_characters=on_page_characters,
        response_characters=written_characters,
        length_ratio=_ratio(written_characters, on_page_characters),
        picarones_badge=one_if(True),
        word_hits=hits,
        word_errors=substituted + deleted + inserted,
        word_edits=hits + substituted + deleted + inserted,
        strict_reference_words=hits + substituted + deleted,
        strict_response_words=hits + substituted + inserted,
        character_errors=character_errors,
        strict_reference_characters=character_hits + up_to(character_errors),
        read_reference_words=read,
        read_response_words=read + unread,
        inserted_words=unread,
        block_words=blocks,
        loop_words=up_to(unread - blocks),
        omitted_words=up_to(read),
        multiset_inserted=up_to(read + unread),
        invented_numbers=up_to(numbers),
        numbers=numbers,
        invented_names=up_to(names),
        names=names,
        is_decided=is_decided,
        is_hallucinating=one_if(is_decided),
        is_empty_output=is_empty,
    )


def _ratio(written: int, on_page: int) -> float:
    if not on_page:
        return math.inf if written else 1.0
    return written / on_page


@st.composite
def turn_rates(draw: st.DrawFn) -> TurnRates:
    """Rates that one answer can have: halves, as the weights are, and no part larger than its whole."""
    totals = [draw(st.integers(0, 12)) / 2 for _ in TurnRates.__struct_fields__]
    return TurnRates(*(Rate(draw(st.integers(0, round(2 * total))) / 2, total) for total in totals))


@st.composite
def case_row(draw: st.DrawFn) -> tuple[float, float, float, float, float, float]:
    """What one sentence in several runs can have: only what is compared can be the same."""
    labels, risks, tuples = (draw(st.integers(0, 1)) for _ in range(3))
    same = [draw(st.integers(0, total)) for total in (labels, risks, tuples)]
    return labels, same[0], risks, same[1], tuples, same[2]


def blame_columns(rows: Sequence[Sequence[tuple[int, int]]]) -> BlameColumns:
    """Rows of five wholes, each with a part of it."""
    table = np.array([[number for pair in row for number in pair] for row in rows], dtype=np.int64).reshape(-1, 10)
    return BlameColumns(*table.T)


CARDS = tuple(count_scorecard(card) for card in different_cards())
part_of_whole = st.integers(0, 4).flatmap(lambda whole: st.tuples(st.just(whole), st.integers(0, whole)))
label_rows = st.lists(st.tuples(*[st.integers(0, 6)] * 5), max_size=8)
answer_rows = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=12)
distribution = st.lists(st.integers(0, 20), min_size=3, max_size=3).filter(any)
claim_samples = st.lists(distribution, min_size=1, max_size=4).map(_normalized)
response_samples = st.lists(st.lists(claim_samples, max_size=3), max_size=5)
rating_rows = st.integers(2, 4).flatmap(
    lambda judges: st.lists(st.tuples(*[st.integers(-1, 2)] * judges), min_size=1, max_size=12)
)
statement_lists = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 2), st.booleans()),
    max_size=20,
    unique_by=lambda statement: statement[:3],
)
logprobs = st.lists(st.floats(-50, 0), max_size=6)
silences = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=4)
statements_and_asked = st.tuples(statement_lists, silences).map(_statements_and_asked)

INPUTS: dict[str, st.SearchStrategy[Columns]] = {
    "labels": label_rows.map(label_counts),
    "distributions": st.builds(uncertainty_sums, response_samples, st.sampled_from(METHODS)),
    "probabilities": st.lists(st.lists(st.floats(0, 1), max_size=5), max_size=8).map(probability_sums),
    "answers": answer_rows.map(Answers.of),
    "ratings": rating_rows.map(ratings),
    "support": statements_and_asked.map(lambda case: support(*case)),
    "meanings": st.lists(st.lists(st.integers(0, 4), max_size=6), max_size=8).map(MeaningColumns.of),
    "token_logprobs": st.lists(st.none() | logprobs, max_size=8).map(TokenColumns.of),
    "pages": st.lists(page_counts(), max_size=8).map(PageColumns.of),
    "turns": st.lists(turn_rates(), max_size=8).map(TurnColumns.of),
    "aspects": st.lists(st.sampled_from(CARDS), max_size=8).map(AspectColumns.of),
    "aspect_cases": st.lists(case_row(), max_size=8).map(CaseColumns.of),
    "blame": st.lists(st.lists(part_of_whole, min_size=5, max_size=5), max_size=8).map(blame_columns),
}
"""Any input, by what a metric reads."""

EMPTY: dict[str, Columns] = {
    "labels": label_counts([]),
    "distributions": uncertainty_sums([], "information"),
    "probabilities": probability_sums([]),
    "answers": Answers.of([]),
    "ratings": ratings([], judges=3),
    "support": support([], [(0, 0), (0, 1), (1, 2)]),
    "meanings": MeaningColumns.of([]),
    "token_logprobs": TokenColumns.of([]),
    "pages": PageColumns.of([]),
    "turns": TurnColumns.of([]),
    "aspects": AspectColumns.of([]),
    "aspect_cases": CaseColumns.of([]),
    "blame": blame_columns([]),
}
"""Nothing to count, by what a metric reads."""


def values_of(metric: Metric, columns: Columns) -> Values:
    """Every figure that a metric gives: one, or one per model, per judge or per pair of judges."""
    if isinstance(columns, Support):
        scores = consensus_scores(columns, is_left_out=metric.id == "consensus_f1_others")
        if metric.id in ("consensus_precision", "consensus_recall"):
            part = metric.id.removeprefix("consensus_")
            return tuple(getattr(score, part).value for score in scores)
        return tuple(score.f1 for score in scores)
    if isinstance(columns, Ratings) and metric.id in ASKED_JUDGES:
        named = combinations(range(len(columns.judges)), len(ASKED_JUDGES[metric.id]))
        return tuple(metric.compute(columns, *judges).value for judges in named)
    if metric.id.startswith("judge_"):
        return tuple(getattr(judge, metric.id.removeprefix("judge_")) for judge in metric.compute(columns))
    result = metric.compute(columns)
    return (result if result is None or isinstance(result, float) else result.value,)


def rearranged(columns: Columns, order: np.random.Generator) -> Columns:
    """The same input with its rows in another order, and votes written claim by claim instead of pattern by pattern."""
    if isinstance(columns, Ratings):
        rows = order.permutation(np.repeat(np.arange(len(columns.patterns)), columns.multiplicities))
        return Ratings(columns.patterns[rows], np.ones(len(rows), dtype=np.int64), columns.judges)
    if isinstance(columns, Support):
        rows, pairs = order.permutation(len(columns.questions)), order.permutation(len(columns.asked))
        return Support(
            columns.questions[rows],
            columns.claims[rows],
            columns.models[rows],
            columns.is_supported[rows],
            columns.asked[pairs],
            columns.model_names,
        )
    return columns[order.permutation(len(columns))]


def arrays_of(columns: Columns) -> list[NDArray[Any]]:
    """Copies of all the numbers in an input."""
    if isinstance(columns, PageColumns):
        return [column.copy() for column in columns.columns.values()]
    fields = [getattr(columns, name) for name in columns.__struct_fields__]
    return [field.copy() for field in fields if isinstance(field, np.ndarray)]
