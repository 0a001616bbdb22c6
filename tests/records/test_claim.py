"""Claims and verdicts are checked on creation and cannot be changed."""

from __future__ import annotations

import math

import msgspec
import pytest

from hallumeter.errors import RecordError
from hallumeter.records.claim import Claim, Finding, Label, Verdict, check_distribution, check_probability

VERDICT = {"record_id": "r1", "claim_id": "c1", "judge": "human", "label": "SUPPORTED"}
NO_PROBABILITY = [-0.1, 1.0000001, math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("weight", [-1.0, -1e-9, math.nan, math.inf, -math.inf])
def test_a_weight_that_is_no_finite_number_from_zero_is_refused(weight: float) -> None:
    with pytest.raises(RecordError, match=rf"^claim 'c1' weighs {weight}; expected a number >= 0$"):
        Claim("r1", "c1", weight=weight)


@pytest.mark.parametrize("weight", [0.0, 0.5, 1, 1e300])
def test_a_weight_from_zero_passes(weight: float) -> None:
    assert Claim("r1", "c1", weight=weight).weight == weight


@pytest.mark.parametrize("field", ["unsupported_probability", "confidence"])
@pytest.mark.parametrize("value", NO_PROBABILITY)
def test_a_verdict_refuses_what_is_no_probability(field: str, value: float) -> None:
    expected = rf"^verdict of 'human' on claim 'c1': {field} is {value}; expected a number from 0 to 1$"
    with pytest.raises(RecordError, match=expected):
        msgspec.convert({**VERDICT, field: value}, Verdict)


@pytest.mark.parametrize("value", [None, 0, 0.0, 0.5, 1, 1.0])
def test_probabilities_and_their_absence_pass(value: float | None) -> None:
    check_probability(value, "confidence")
    verdict = Verdict("r1", "c1", "human", Label.SUPPORTED, unsupported_probability=value, confidence=value)
    assert verdict.confidence == value


@pytest.mark.parametrize(
    ("values", "total"),
    [
        ((), "0"),
        ((0.7, 0.7), "1.4"),
        ((0.5, 0.4), "0.9"),
        ((1.5, -0.5), "1"),
        ((math.nan, 1.0), "nan"),
        ((math.inf, 0.0), "inf"),
        ((1.0, 2e-6), "1"),
    ],
)
def test_what_is_no_distribution_is_refused_with_its_sum(values: tuple[float, ...], total: str) -> None:
    with pytest.raises(RecordError, match=rf"^p \[.*\] add up to {total}; expected numbers >= 0 that add up to 1$"):
        check_distribution(values, "p")


@pytest.mark.parametrize(
    "values", [(1.0,), (0.0, 1.0), (0.7, 0.2, 0.1), (1 / 3, 1 / 3, 1 / 3), (0.1,) * 10, (0.5, 0.5 + 1e-7)]
)
def test_a_distribution_passes_up_to_rounding(values: tuple[float, ...]) -> None:
    check_distribution(values, "p")


def test_the_tolerance_of_a_distribution_can_be_chosen() -> None:
    check_distribution((0.33, 0.33, 0.33), "p", tolerance=0.02)
    with pytest.raises(RecordError, match=r"add up to 0\.99"):
        check_distribution((0.33, 0.33, 0.33), "p", tolerance=0.001)


def test_a_verdict_refuses_distributions_that_are_none() -> None:
    with pytest.raises(RecordError, match=r"^verdict of 'human' on claim 'c1': probabilities \[0.5, 0.6\]"):
        Verdict("r1", "c1", "human", Label.REFUTED, probabilities=(0.5, 0.6))
    with pytest.raises(RecordError, match=r"^verdict of 'human' on claim 'c1': inference_samples \[0.5, 0.6\]"):
        Verdict("r1", "c1", "human", Label.REFUTED, inference_samples=((0.5, 0.5), (0.5, 0.6)))


def test_a_verdict_knows_nothing_that_it_was_not_told() -> None:
    verdict = Verdict("r1", "c1", "human", Label.UNDECIDED)
    optional = [getattr(verdict, name) for name in verdict.__struct_fields__[4:]]
    assert optional == [None, None, None, None, (), None, None, None, None, ()]


def test_records_cannot_be_changed() -> None:
    claim = Claim("r1", "c1")
    finding = Finding(claim, (Verdict("r1", "c1", "human", Label.SUPPORTED),))
    for record, field in ((claim, "text"), (finding, "verdicts"), (finding.verdicts[0], "label")):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(record, field, None)


def test_labels_are_written_as_their_names() -> None:
    assert [label.value for label in Label] == [label.name for label in Label]
    assert [label.value for label in Label] == ["SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED"]
