"""The order of questions keeps estimates honest; `benchmarks/label_allocation.py` has more."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hallumeter.claims.labelled.run import LabelledRun, claim_strata, merged_strata
from hallumeter.decide.label.claims import AnnotateSettings
from hallumeter.decide.label.order import Answered, ClaimOrder, ResponseOrder, is_turn_to_share, next_claim
from hallumeter.records.decisions import LabelCensus
from hallumeter.stats.correction import LabelledUnits, prediction_powered_rate

RATE, LABELS, SEEDS = 0.15, 120, 120


def simulated(seed: int) -> tuple[LabelledRun, NDArray[np.float64]]:
    """Responses whose claims are true together, a judge with probabilities that tell something, and the truth."""
    rng = np.random.default_rng(seed)
    owners = np.repeat(np.arange(300), rng.integers(1, 8, 300))
    truth = (rng.random(len(owners)) < rng.beta(0.6, 3.4, 300)[owners]).astype(np.float64)
    probabilities = 1 / (1 + np.exp(-rng.normal(np.where(truth == 1, 1.0, -1.6), 1.2)))
    unknown = np.full(len(owners), np.nan)
    return LabelledRun(
        judge="j",
        unit="response",
        record_ids=[f"r{number}" for number in range(300)],
        clusters=np.arange(300),
        slices=[()] * 300,
        response_truth=np.full(300, np.nan),
        claim_ids=[f"c{number}" for number in range(len(owners))],
        owners=owners,
        codes=(probabilities >= 0.5).astype(np.int8),
        probabilities=probabilities,
        unsupported=unknown,
        refuted=unknown,
        census=LabelCensus(0, 0, 0, {}),
    ), truth


def told_in_order(columns: LabelledRun, truth: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """The truths of the claims that are asked for, NaN elsewhere."""
    drawing = ClaimOrder(columns, AnnotateSettings(annotator="kim", seed=seed))
    known = np.full(len(truth), np.nan)
    for _ in range(LABELS):
        claim = drawing.fresh(np.isnan(known), known)
        assert claim is not None
        known[claim] = truth[claim]
    return known


@pytest.mark.long
def test_estimates_from_the_claims_that_are_asked_for_are_unbiased_and_their_intervals_hold() -> None:
    errors, held = [], 0
    for seed in range(SEEDS):
        columns, truth = simulated(seed)
        known = told_in_order(columns, truth, seed)
        strata = claim_strata(columns.codes, columns.probabilities)
        merged = merged_strata(strata, columns.is_flagged, ~np.isnan(known))
        found = prediction_powered_rate(LabelledUnits(columns.owners, merged, columns.is_flagged, known))
        assert found.value is not None
        assert found.interval is not None
        errors.append(found.value - truth.mean())
        held += found.interval.low <= RATE <= found.interval.high
    # Three standard errors of the mean; 95 % of 120 is 114, and fewer than 107 come by chance once in a thousand.
    assert abs(np.mean(errors)) < 3 * np.std(errors) / SEEDS**0.5
    assert held >= 107


@pytest.mark.long
def test_within_a_stratum_every_claim_is_as_likely_to_be_asked_for_first() -> None:
    columns, _ = simulated(0)
    unknown = np.full(len(columns.claim_ids), np.nan)
    first = [
        ClaimOrder(columns, AnnotateSettings(annotator="kim", seed=seed)).fresh(np.isnan(unknown), unknown)
        for seed in range(200)
    ]
    strata = claim_strata(columns.codes, columns.probabilities)
    chosen = {int(strata[each]) for each in first if each is not None}
    assert len(chosen) == 1
    size = int((strata == chosen.pop()).sum())
    # Of n numbers, k draws leave about n(1 - 1/n)^k unseen.
    assert abs(len(set(first)) - size * (1 - (1 - 1 / size) ** 200)) < 25


@pytest.mark.long
def test_responses_are_drawn_whatever_their_length() -> None:
    columns, _ = simulated(1)
    sizes = np.bincount(columns.owners)
    unknown = np.full(len(columns.claim_ids), np.nan)
    drawn = []
    for seed in range(200):
        claim = ResponseOrder(columns, AnnotateSettings(annotator="kim", seed=seed)).fresh(np.isnan(unknown), unknown)
        assert claim is not None
        drawn.append(sizes[columns.owners[claim]])
    assert abs(np.mean(drawn) - sizes.mean()) < 3 * sizes.std() / 200**0.5


def test_nothing_is_left_when_nothing_is_open() -> None:
    columns, truth = simulated(2)
    nobody = np.zeros(len(truth), dtype=bool)
    for kind in (ClaimOrder, ResponseOrder):
        drawing = kind(columns, AnnotateSettings(annotator="kim"))
        assert next_claim(drawing, Answered(truth, ~nobody, nobody), nobody, overlap=0.2) is None


def test_the_turns_to_share_add_up_to_the_share() -> None:
    for overlap in (0.0, 0.1, 0.2, 0.3, 1 / 3, 0.5, 1.0):
        assert sum(is_turn_to_share(done, overlap) for done in range(300)) == round(300 * overlap)
