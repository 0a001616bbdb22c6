"""The metrics of the catalog over scorecards, calculated by hand."""

from __future__ import annotations

import pytest

from aspect_outputs import aspect, card_of, foreign_card
from hallumeter.aspects.catalog import ASPECT_METRICS, METRICS_BY_ID
from hallumeter.aspects.metrics.counts import count_scorecard
from hallumeter.aspects.metrics.rates import risk_resolution
from hallumeter.aspects.records.columns import ASPECT_COUNTS, AspectColumns, AspectCounts
from hallumeter.aspects.records.scorecard import Scorecard


def value(metric: str, *counts: AspectCounts) -> float | None:
    found = METRICS_BY_ID[metric].compute(AspectColumns.of(counts))
    result: float | None = found if found is None or isinstance(found, float) else found.value
    return result


def of_cards(metric: str, *cards: Scorecard) -> float | None:
    return value(metric, *map(count_scorecard, cards))


def test_five_sentences_with_drops_in_two_have_a_rate_of_two_fifths() -> None:
    clean, dropped = card_of(aspect("배터리")), card_of(aspect("배터리", 1), aspect("화면", 0, 2))
    cards = [clean, dropped, card_of(), card_of(aspect("가")), clean]
    assert of_cards("aspect_hallucination_rate", *cards) == 0.4
    assert of_cards("aspect_hallucination_rate_h1", *cards) == 0.2
    assert of_cards("aspect_hallucination_rate_h2", *cards) == 0.2
    assert of_cards("filter_rejection_rate", *cards) == 0.2
    assert of_cards("aspect_drop_rate", *cards) == 0.6


def test_each_class_is_at_most_the_combined_rate_and_all_are_at_least_that() -> None:
    cards = [card_of(aspect("배터리", 1)), card_of(aspect("화면", 0, 2), aspect("가")), card_of(aspect("뷰"))]
    combined = of_cards("aspect_hallucination_rate", *cards)
    parts = [of_cards(name, *cards) for name in
             ("aspect_hallucination_rate_h1", "aspect_hallucination_rate_h2", "filter_rejection_rate")]  # fmt: skip
    assert combined is not None
    known = [part for part in parts if part is not None]
    assert len(known) == 3
    assert max(known) <= combined <= sum(known)


def test_unknown_classes_are_left_out_and_not_taken_for_none() -> None:
    cards = [foreign_card(drops=1), foreign_card(keeps=1)]
    assert of_cards("aspect_hallucination_rate", *cards) == 0.5
    assert of_cards("aspect_hallucination_rate_h1", *cards) == 0
    assert of_cards("aspect_hallucination_rate_h1", cards[0]) is None


@pytest.mark.parametrize(
    ("before", "after", "rate"), [(8, 6, 0.25), (8, 10, -0.25), (4, 0, 1.0), (0, 0, None), (0, 3, None)]
)
def test_risk_resolution_is_a_decrease_of_summed_counts(before: int, after: int, rate: float | None) -> None:
    counts = [AspectCounts(risks_before=before), AspectCounts(risks_after=after)]
    assert value("risk_resolution_rate", *counts) == rate
    assert risk_resolution(AspectColumns.of(counts)) == rate


def test_guided_changes_have_two_denominators() -> None:
    counts = [AspectCounts(delta_known=1, changed=1, guided=1)] * 4 + [
        AspectCounts(delta_known=1, changed=1, unguided=1)
    ]
    counts += [AspectCounts(delta_known=1)] * 45
    assert value("guided_change_rate", *counts) == 0.08
    assert value("guided_share_of_changes", *counts) == 0.8
    assert value("unguided_drift_rate", *counts) == 0.02


def test_the_four_buckets_add_up_to_one() -> None:
    counts = [AspectCounts(bucketed=1, **{name: 1}) for name in ("implicit", "explicit", "unsupported", "explicit")]
    names = ("implicit_grounding_rate", "explicit_grounding_rate", "explicit_grounding_failure_rate")
    assert sum(value(name, *counts) or 0 for name in (*names, "unsupported_polarity_rate")) == 1


@pytest.mark.parametrize("metric", ASPECT_METRICS, ids=lambda metric: metric.id)
def test_sentences_that_all_failed_leave_every_metric_undefined_but_that_of_failures(metric: object) -> None:
    name = getattr(metric, "id", "")
    if METRICS_BY_ID[name].reads == "aspects":
        expected = 1.0 if name == "parse_generate_failure_rate" else None
        assert value(name, AspectCounts(attempted=1, failed=1)) == expected


def test_columns_are_cut_by_rows() -> None:
    columns = AspectColumns.of([AspectCounts(samples=1), AspectCounts(samples=1, flagged=1)])
    assert len(columns) == 2
    assert columns[1:].column("flagged").tolist() == [1]
    assert AspectColumns.of([]).table.shape == (0, len(ASPECT_COUNTS))
