"""Judge-auditor's profile: what it holds, what it makes of it, and its way through JSON.

Expected values were worked out by hand from the definitions.
"""

from __future__ import annotations

import json
import math
from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_auditor_samples import (
    OPPOSED,
    REFUTED,
    SUPPORTED,
    THREE_MODELS,
    THREE_SAMPLES,
    UNCLEAR,
    claims_of,
    matrix_of,
    verdicts_of,
)

from hallumeter import SettingsError
from hallumeter.claims.metrics.uncertainty import UncertaintyMethod
from hallumeter.claims.profiles import JUDGE_AUDITOR
from hallumeter.compat.judge_auditor import (
    Claim,
    ClaimType,
    ClaimVerificationMatrixBuilder,
    HallucinationMetricsCalculator,
    HallucinationMetricsConfig,
    HallucinationProfile,
    ReliabilityLevel,
    Verdict,
)

calculator = HallucinationMetricsCalculator()


def test_a_profile_holds_all_that_the_inputs_allow() -> None:
    profile = calculator.generate_hallucination_profile(
        verdicts=[SUPPORTED, REFUTED, UNCLEAR],
        response_verdicts=[[SUPPORTED], [REFUTED]],
        claim_matrix=matrix_of(THREE_MODELS),
        judge_verdicts={"judge1": verdicts_of("SR"), "judge2": verdicts_of("SR")},
        probabilities=[0.7, 0.2, 0.1],
        inference_samples=THREE_SAMPLES,
    )
    assert (profile.reliability.value, profile.is_high_risk) == ("low", True)
    assert profile.mihr is not None
    assert profile.mihr.value == 2 / 3
    assert profile.mahr is not None
    assert profile.mahr.value == 0.5
    assert profile.factscore == 1 / 3
    assert profile.consensus_f1 is not None
    means = (profile.consensus_f1.precision, profile.consensus_f1.recall, profile.consensus_f1.f1)
    assert means == pytest.approx((0.722222, 0.833333, 0.766667), abs=5e-7)
    assert profile.fleiss_kappa is not None
    assert profile.fleiss_kappa.kappa == 1
    assert profile.uncertainty is not None
    assert profile.uncertainty.is_high_uncertainty
    assert [claim.text for claim in profile.consensus_claims] == ["A", "B"]
    assert [claim.text for claim in profile.disputed_claims] == ["X", "C"]
    assert profile.measured == ["mihr", "mahr", "factscore", "consensus_f1", "fleiss_kappa", "uncertainty"]
    assert profile.reasons == ["mihr is 0.667, above 0.3", "uncertainty_total is 0.814, above 0.8"]
    assert HallucinationProfile.from_json(profile.to_json()) == profile


def test_a_claim_that_every_judge_refuted_is_disputed() -> None:
    matrix = ClaimVerificationMatrixBuilder().build_matrix({"a": claims_of("A")}, {"a": [REFUTED]})
    profile = calculator.generate_hallucination_profile([REFUTED], claim_matrix=matrix)
    assert (profile.disputed_claims, profile.consensus_claims) == (claims_of("A"), [])


def test_nothing_measured_is_unknown_and_never_high() -> None:
    profile = calculator.generate_hallucination_profile([])
    assert (profile.reliability.value, profile.is_high_risk, profile.measured) == ("unknown", False, [])
    profile = calculator.generate_hallucination_profile([], response_verdicts=[], judge_verdicts={})
    assert (profile.reliability, profile.measured) == (ReliabilityLevel.UNKNOWN, [])


def test_parts_without_a_threshold_say_nothing_about_reliability() -> None:
    profile = calculator.generate_hallucination_profile([], response_verdicts=[[SUPPORTED]])
    assert (profile.reliability, profile.measured) == (ReliabilityLevel.UNKNOWN, ["mahr"])


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("S" * 17 + "R" * 3, "high"),  # 0.15 is still good
        ("S" * 8 + "R" * 2, "medium"),
        ("S" * 7 + "R" * 3, "medium"),  # 0.3 is not above 0.3
        ("S" * 69 + "R" * 31, "low"),
        ("SRN", "low"),
    ],
)
def test_reliability_by_mihr_alone(letters: str, expected: str) -> None:
    profile = calculator.generate_hallucination_profile(verdicts_of(letters))
    assert profile.reliability.value == expected
    assert profile.is_high_risk is (expected == "low")


def panel(agreeing: str, *, disagreeing: int) -> dict[str, list[Verdict]]:
    """Two judges who give the same labels, and on as many further claims differ both ways."""
    return {
        "judge1": verdicts_of(agreeing + "SR" * disagreeing),
        "judge2": verdicts_of(agreeing + "RS" * disagreeing),
    }


@pytest.mark.parametrize(
    ("judges", "expected"),
    [
        (panel("SR" * 4, disagreeing=1), "high"),  # Po = 0.8, Pe = 0.5, kappa = 0.6
        (panel("SR" * 3, disagreeing=1), "medium"),  # Po = 0.75: kappa = 0.5
        (panel("SR" * 7, disagreeing=3), "medium"),  # Po = 0.7: kappa = 0.4, which is not below 0.4
        (panel("SR" * 2, disagreeing=1), "low"),  # Po = 2/3: kappa = 1/3
        (panel("SSSS", disagreeing=0), "high"),  # undefined
    ],
)
def test_reliability_by_kappa_beside_a_good_mihr(judges: dict[str, list[Verdict]], expected: str) -> None:
    profile = calculator.generate_hallucination_profile(verdicts_of("SSSS"), judge_verdicts=judges)
    assert profile.reliability.value == expected


def test_kappa_without_mihr_is_never_high() -> None:
    profile = calculator.generate_hallucination_profile([], judge_verdicts=panel("SR", disagreeing=0))
    assert (profile.reliability, profile.measured) == (ReliabilityLevel.MEDIUM, ["fleiss_kappa"])


def test_an_undefined_kappa_never_raises_a_risk() -> None:
    profile = calculator.generate_hallucination_profile([SUPPORTED], judge_verdicts={"judge1": [SUPPORTED]})
    assert (profile.is_high_risk, profile.reliability.value) == (False, "high")
    assert profile.measured == ["mihr", "factscore"]
    assert profile.fleiss_kappa is not None
    assert profile.fleiss_kappa.error_message == "Fewer than 2 judges: kappa needs at least two judges, found 1"


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    # Entropies by hand in nats: 0.325, 0.639 and 1.040.
    [([0.9, 0.1], "high"), ([0.8, 0.1, 0.1], "medium"), ([0.5, 0.25, 0.25], "low")],
)
def test_reliability_by_uncertainty_beside_a_good_mihr(probabilities: list[float], expected: str) -> None:
    profile = calculator.generate_hallucination_profile([SUPPORTED], probabilities=probabilities)
    assert profile.reliability.value == expected


def test_samples_without_probabilities_are_not_read() -> None:
    profile = calculator.generate_hallucination_profile([SUPPORTED], inference_samples=OPPOSED)
    assert profile.uncertainty is None
    assert "uncertainty" not in profile.measured


def test_verdicts_may_be_read_only_once() -> None:
    assert calculator.generate_hallucination_profile(iter([SUPPORTED, REFUTED])).factscore == 0.5


def test_the_default_thresholds_are_those_of_the_policy() -> None:
    assert HallucinationMetricsConfig().policy == JUDGE_AUDITOR


@pytest.mark.parametrize(
    ("threshold", "letters", "expected"),
    [
        (0.2, "SSSR", "low"),
        (0.2, "SSSSR", "medium"),  # 0.2 is not above 0.2
        (0.15, "S" * 17 + "R" * 3, "high"),
        (0.1, "S" * 9 + "R", "high"),  # stricter than the bound for high: whatever is not low is high
        (0.1, "S" * 8 + "R", "low"),
        (0, "S", "high"),
        (1, "R", "medium"),
    ],
)
def test_the_mihr_threshold_can_be_set(threshold: float, letters: str, expected: str) -> None:
    chosen = HallucinationMetricsCalculator(HallucinationMetricsConfig(mihr_high_risk_threshold=threshold))
    assert chosen.generate_hallucination_profile(verdicts_of(letters)).reliability.value == expected


def test_the_other_thresholds_can_be_set() -> None:
    chosen = HallucinationMetricsCalculator(
        HallucinationMetricsConfig(kappa_low_threshold=0.7, uncertainty_high_threshold=0.3)
    )
    assert chosen.compute_uncertainty([0.9, 0.1]).is_high_uncertainty  # 0.325 nats
    profile = chosen.generate_hallucination_profile([SUPPORTED], judge_verdicts=panel("SR" * 4, disagreeing=1))
    assert profile.is_high_risk  # kappa 0.6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mihr_high_risk_threshold": 30}, "mihr_high_risk_threshold is 30; expected a number from 0 to 1"),
        ({"kappa_low_threshold": math.nan}, "kappa_low_threshold is nan; expected a number from -1 to 1"),
        ({"uncertainty_high_threshold": -1}, "uncertainty_high_threshold is -1; expected a number from 0 up"),
        ({"uncertainty_method": "guess"}, "'guess'; expected one of information, variance, literal"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        HallucinationMetricsConfig(**settings)  # type: ignore[arg-type]


# Strategies for whole profiles

letters = st.text("SRN", max_size=8)
distributions = st.lists(st.integers(1, 9), min_size=3, max_size=3).map(lambda ws: [w / sum(ws) for w in ws])
configs = st.builds(
    HallucinationMetricsConfig,
    # Lenient ones beside any: where every threshold is strict, one of them hides the others.
    st.just(1) | st.floats(0, 1),
    st.sampled_from([0.9, 0.6, -1]) | st.floats(-1, 1),
    st.just(2) | st.floats(0, 2),
    st.sampled_from(get_args(UncertaintyMethod)),
)
claims = st.builds(
    lambda text, start, length, kind: Claim(text, (start, start + length), kind),
    st.text(), st.integers(0, 99), st.integers(0, 99), st.sampled_from(ClaimType),
)  # fmt: skip


@st.composite
def profiles(draw: st.DrawFn) -> tuple[HallucinationMetricsConfig, HallucinationProfile]:
    config = draw(configs)
    # Mostly judges who can be compared: a kappa that is undefined tries no threshold.
    judge_count, claim_count = draw(st.sampled_from([2, 3, 2, 3, 1, 0])), draw(st.sampled_from([3, 4, 5, 3, 1, 0]))
    votes = st.text("SRN", min_size=claim_count, max_size=claim_count).map(verdicts_of)
    judges = {f"judge{number}": draw(votes) for number in range(judge_count)}
    model_claims = st.dictionaries(st.text(max_size=3), st.lists(claims, max_size=3), max_size=3)
    profile = HallucinationMetricsCalculator(config).generate_hallucination_profile(
        verdicts_of(draw(letters)),
        draw(st.none() | st.lists(letters.map(verdicts_of), max_size=3)),
        draw(st.none() | model_claims.map(ClaimVerificationMatrixBuilder().build_matrix)),
        judges or None,
        draw(st.none() | distributions),
        draw(st.none() | st.lists(distributions, max_size=3)),
    )
    return config, profile


@given(profiles())
def test_a_profile_survives_json_unchanged(drawn: tuple[HallucinationMetricsConfig, HallucinationProfile]) -> None:
    _, profile = drawn
    for indent in (None, 0, 2):
        again = HallucinationProfile.from_json(profile.to_json(indent=indent))
        assert again == profile
        for claim in again.disputed_claims + again.consensus_claims:
            assert isinstance(claim.source_span, tuple)
            assert isinstance(claim.claim_type, ClaimType)


@given(profiles())
def test_high_risk_means_beyond_a_threshold_and_implies_low(
    drawn: tuple[HallucinationMetricsConfig, HallucinationProfile],
) -> None:
    config, profile = drawn
    assert profile.mihr is not None
    rate = profile.mihr.value
    kappa = profile.fleiss_kappa.kappa if profile.fleiss_kappa else None
    total = profile.uncertainty.total if profile.uncertainty else None
    is_high_risk = (
        (rate is not None and rate > config.mihr_high_risk_threshold + 1e-12)
        or (kappa is not None and kappa < config.kappa_low_threshold - 1e-12)
        or (total is not None and total > config.uncertainty_high_threshold + 1e-12)
    )
    assert profile.is_high_risk is is_high_risk
    assert (profile.reliability is ReliabilityLevel.LOW) is is_high_risk
    assert (profile.reliability is ReliabilityLevel.UNKNOWN) is (rate is kappa is total is None)
    if profile.reliability is ReliabilityLevel.HIGH:
        assert rate is not None
        assert rate <= 0.15 + 1e-12
        assert kappa is None or kappa >= 0.6 - 1e-12
        assert total is None or total <= 0.5 + 1e-12


def test_the_json_of_a_profile_is_plain_and_can_be_indented() -> None:
    profile = calculator.generate_hallucination_profile([REFUTED], judge_verdicts={"judge1": [REFUTED]})
    plain = json.loads(profile.to_json())
    assert plain["reliability"] == "low"
    assert plain["mihr"] == {"value": 1.0, "unsupported_claims": 1, "total_claims": 1, "has_claims": True}
    assert plain["fleiss_kappa"]["kappa"] is None
    assert plain == profile.to_dict()
    assert profile.to_json().startswith('{\n  "mihr"')
    assert profile.to_json(indent=None).startswith('{"mihr"')


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"reliability": "superb"}', '{"reliability": "high", "is_high_risk": true}']
)
def test_a_text_that_is_no_profile_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a hallucination profile"):
        HallucinationProfile.from_json(text)


def test_a_profile_written_by_judge_auditor_is_read() -> None:
    text = '{"reliability": "low", "is_high_risk": true, "mihr": null, "disputed_claims": ['
    text += '{"text": "A", "source_span": [0, 1], "claim_type": "temporal"}, {"text": "B", "source_span": [2, 3]}]}'
    profile = HallucinationProfile.from_json(text)
    assert (profile.reliability, profile.is_high_risk, profile.mahr) == (ReliabilityLevel.LOW, True, None)
    assert profile.disputed_claims == [Claim("A", (0, 1), ClaimType.TEMPORAL), Claim("B", (2, 3), ClaimType.FACTUAL)]


def test_a_profile_that_is_high_risk_and_reliable_cannot_be_made() -> None:
    for level, is_high_risk in product(ReliabilityLevel, (True, False)):
        if is_high_risk and level is not ReliabilityLevel.LOW:
            with pytest.raises(ValueError, match="a high-risk profile has low reliability"):
                HallucinationProfile(None, None, None, None, None, None, level, is_high_risk=True)
        else:
            made = HallucinationProfile(None, None, None, None, None, None, level, is_high_risk=is_high_risk)
            assert made.reliability is level


def test_half_a_character_survives_json() -> None:
    profile = calculator.generate_hallucination_profile([SUPPORTED], claim_matrix=matrix_of({"a": ["half \ud83d"]}))
    assert HallucinationProfile.from_json(profile.to_json()) == profile
