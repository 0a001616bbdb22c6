"""Thresholds to opinions: judge-auditor's reliability table at its exact bounds, and faults in policy files."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from hallumeter.claims.profiles import (
    HALLUMETER,
    JUDGE_AUDITOR,
    Policy,
    Rule,
    headline_rows,
    opinion_on,
    parse_policy,
    profile_of,
)
from hallumeter.decide.policy import ComparePolicy
from hallumeter.errors import SettingsError
from hallumeter.records.bounds import LooksAt
from hallumeter.records.comparison import MetricComparison
from hallumeter.records.measurement import MetricSummary, Profile
from hallumeter.transcripts.policy import EnginePolicy, PagePolicy, WitnessPolicy

METRICS = ("mihr", "fleiss_kappa", "uncertainty_total", "mahr", "gwet_ac1", "far")


def row(
    metric: str,
    value: float | None,
    *,
    interval: tuple[float, float] | None = None,
    bounds: tuple[float, float] | None = None,
    by: dict[str, str] | None = None,
    judge: str | None = None,
) -> MetricSummary:
    return MetricSummary(
        metric=metric,
        by=by or {},
        judge=judge,
        count=None,
        total=None,
        value=value,
        interval=interval,
        interval_method="wilson" if interval else None,
        direction="lower",
        undefined=None if value is not None else "nothing to count",
        undecided=0,
        failed=0,
        bounds=bounds,
        signature="",
    )


def judged(**values: float | None) -> Profile:
    return profile_of(JUDGE_AUDITOR, {metric: row(metric, value) for metric, value in values.items()})


def reliability(mihr: float | None, kappa: float | None = None, uncertainty: float | None = None) -> str:
    return judged(mihr=mihr, fleiss_kappa=kappa, uncertainty_total=uncertainty).reliability


@pytest.mark.parametrize(
    ("mihr", "kappa", "uncertainty", "expected"),
    [
        # judge-auditor: high if MiHR <= 0.15 and kappa >= 0.6 and uncertainty <= 0.5.
        (0.0, 1.0, 0.0, "high"),
        (0.15, 0.6, 0.5, "high"),
        (0.15, None, None, "high"),
        (0.15, 0.6, None, "high"),
        (0.15, None, 0.5, "high"),
        # Medium between: one part is enough.
        (0.15 + 1e-9, 0.6, 0.5, "medium"),
        (0.15, 0.6 - 1e-9, 0.5, "medium"),
        (0.15, 0.6, 0.5 + 1e-9, "medium"),
        (0.2, None, None, "medium"),
        (0.3, 0.4, 0.8, "medium"),
        # Low if MiHR > 0.3 or kappa < 0.4 or uncertainty > 0.8, each strictly.
        (0.3 + 1e-9, 0.6, 0.5, "low"),
        (0.15, 0.4 - 1e-9, 0.5, "low"),
        (0.15, 0.6, 0.8 + 1e-9, "low"),
        (2 / 3, None, None, "low"),
        (None, 0.39, None, "low"),
        # Without MiHR nothing is high; without anything nothing is known.
        (None, 1.0, 0.0, "medium"),
        (None, None, 0.0, "medium"),
        (None, None, None, "unknown"),
    ],
)
def test_the_reliability_table_of_judge_auditor(
    mihr: float | None, kappa: float | None, uncertainty: float | None, expected: str
) -> None:
    assert reliability(mihr, kappa, uncertainty) == expected


def test_bounds_met_up_to_rounding_are_met() -> None:
    # 0.1 + 0.2 is a hair above 0.3, and 0.7 - 0.1 a hair below 0.6.
    assert reliability(0.1 + 0.2) == "medium"
    assert reliability(0.1, kappa=0.7 - 0.1) == "high"


@pytest.mark.parametrize(
    ("values", "reasons"),
    [
        ({"mihr": 2 / 3}, ("mihr is 0.667, above 0.3",)),
        ({"mihr": 0.2}, ("mihr is 0.200, above 0.15",)),
        ({"mihr": 0.1, "fleiss_kappa": 0.2}, ("fleiss_kappa is 0.200, below 0.4",)),
        ({"mihr": 0.1, "fleiss_kappa": 0.5}, ("fleiss_kappa is 0.500, below 0.6",)),
        ({"fleiss_kappa": 0.9}, ("mihr was not measured",)),
        ({"mihr": 0.1}, ()),
        ({}, ("nothing was measured",)),
    ],
)
def test_reasons_name_the_metric_the_value_and_the_bound(values: dict[str, float], reasons: tuple[str, ...]) -> None:
    assert judged(**values).reasons == reasons


def test_a_profile_states_its_policy_and_what_was_measured() -> None:
    profile = judged(mihr=2 / 3, fleiss_kappa=None, uncertainty_total=0.1)
    assert profile.policy == "judge-auditor"
    assert profile.measured == ("mihr", "uncertainty_total")
    assert profile.is_high_risk


def test_an_opinion_on_plain_numbers_is_that_on_the_rows_they_come_from() -> None:
    numbers = {"mihr": 0.2, "fleiss_kappa": None, "far": 0.9}
    assert opinion_on(JUDGE_AUDITOR, numbers) == judged(**numbers)
    assert opinion_on(JUDGE_AUDITOR, {"mihr": 0.2}) == judged(**numbers)
    assert opinion_on(JUDGE_AUDITOR, {}) == judged()


def test_nothing_measured_is_no_risk_and_no_praise() -> None:
    profile = judged(mihr=None, fleiss_kappa=None)
    assert (profile.reliability, profile.is_high_risk, profile.measured) == ("unknown", False, ())


values = st.none() | st.floats(-1, 2, allow_nan=False) | st.sampled_from([0.15, 0.3, 0.4, 0.5, 0.6, 0.8])
summaries = st.fixed_dictionaries(
    dict.fromkeys(METRICS, st.tuples(values, values.map(lambda low: None if low is None else (low, low + 0.25))))
)


@pytest.mark.parametrize("policy", [JUDGE_AUDITOR, HALLUMETER], ids=lambda policy: policy.name)
@settings(max_examples=300)
@given(case=summaries)
def test_high_risk_means_low_reliability_and_the_reverse(
    policy: Policy, case: dict[str, tuple[float | None, tuple[float, float] | None]]
) -> None:
    rows = {metric: row(metric, value, interval=ends, bounds=ends) for metric, (value, ends) in case.items()}
    profile = profile_of(policy, rows)
    assert profile.is_high_risk == (profile.reliability == "low")
    assert set(profile.measured) == {rule.metric for rule in policy.rules if case[rule.metric][0] is not None}
    if profile.reliability == "high":
        assert "mihr" in profile.measured
        assert profile.reasons == ()
    else:
        assert profile.reasons


@settings(max_examples=200)
@given(mihr=values, kappa=values, uncertainty=values)
def test_judge_auditor_equals_its_table_written_as_conditions(
    mihr: float | None, kappa: float | None, uncertainty: float | None
) -> None:
    def fails(value: float | None, bound: float, *, is_lower_better: bool) -> bool:
        return value is not None and (value > bound + 1e-12 if is_lower_better else value < bound - 1e-12)

    is_bad = fails(mihr, 0.3, is_lower_better=True) or fails(kappa, 0.4, is_lower_better=False)
    is_bad = is_bad or fails(uncertainty, 0.8, is_lower_better=True)
    is_good = mihr is not None and not fails(mihr, 0.15, is_lower_better=True)
    is_good = is_good and not fails(kappa, 0.6, is_lower_better=False)
    is_good = is_good and not fails(uncertainty, 0.5, is_lower_better=True)
    is_unknown = mihr is None and kappa is None and uncertainty is None
    expected = "unknown" if is_unknown else "low" if is_bad else "high" if is_good else "medium"
    assert reliability(mihr, kappa, uncertainty) == expected


@pytest.mark.parametrize(
    ("looks_at", "lower_is_better", "higher_is_better"),
    [("point", 0.2, 0.2), ("interval", 0.4, 0.1), ("worst_case", 0.9, 0.05)],
)
def test_a_rule_looks_at_the_point_the_far_end_of_the_interval_or_the_worst_case(
    looks_at: LooksAt, lower_is_better: float, higher_is_better: float
) -> None:
    seen = row("x", 0.2, interval=(0.1, 0.4), bounds=(0.05, 0.9))
    assert Rule("x", good=0.1, bad=0.3, looks_at=looks_at).examined(seen) == lower_is_better
    assert Rule("x", good=0.3, bad=0.1, looks_at=looks_at).examined(seen) == higher_is_better


@pytest.mark.parametrize("looks_at", ["point", "interval", "worst_case"])
def test_a_rule_falls_back_to_the_point_and_sees_nothing_where_nothing_was_measured(looks_at: LooksAt) -> None:
    rule = Rule("x", good=0.1, bad=0.3, looks_at=looks_at)
    assert rule.examined(row("x", 0.2)) == 0.2
    assert rule.examined(row("x", None, interval=(0, 1), bounds=(0, 1))) is None


def test_the_products_own_policy_looks_at_the_worst_case_and_at_interval_ends() -> None:
    hidden = row("mihr", 0.1, interval=(0.05, 0.14), bounds=(0.08, 0.35))
    assert profile_of(JUDGE_AUDITOR, {"mihr": hidden}).reliability == "high"
    profile = profile_of(HALLUMETER, {"mihr": hidden})
    assert (profile.reliability, profile.reasons) == ("low", ("mihr is in the worst case 0.350, above 0.3",))
    unsure = {"mihr": row("mihr", 0.0), "far": row("far", 0.05, interval=(0.01, 0.2))}
    assert profile_of(HALLUMETER, unsure).reasons == ("far is up to 0.200, above 0.1",)


def test_a_low_kappa_alone_raises_no_flag_in_the_products_own_policy() -> None:
    rows = {"mihr": row("mihr", 0.0), "fleiss_kappa": row("fleiss_kappa", -0.1), "gwet_ac1": row("gwet_ac1", 0.97)}
    assert profile_of(HALLUMETER, rows).reliability == "high"
    assert profile_of(JUDGE_AUDITOR, rows).reliability == "low"


POLICY_TEXT = """
name = "mine"

[[rules]]
metric = "mihr"
good = 0
bad = 0.2
looks_at = "worst_case"
is_required = true

[[rules]]
metric = "fleiss_kappa"
good = 0.7
bad = 0.5
"""


def parsed(text: str) -> Policy:
    return parse_policy(text, source="strict.toml", known_metrics=METRICS)


def test_a_policy_is_read_from_toml() -> None:
    policy = parsed(POLICY_TEXT)
    assert policy == Policy(
        "mine",
        (
            Rule("mihr", good=0.0, bad=0.2, looks_at="worst_case", is_required=True),
            Rule("fleiss_kappa", good=0.7, bad=0.5),
        ),
    )
    assert [rule.is_lower_better for rule in policy.rules] == [True, False]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[rules]]", "[[rules", "strict.toml: not valid TOML: "),
        ("good = 0.7", f"good = {'9' * 5000}", "strict.toml: not valid TOML: Exceeds the limit"),
        ("good = 0.7", f"good = {'[' * 5000}", "strict.toml: not valid TOML: "),
        ('"mihr"', '"mhir"', "strict.toml: unknown metric 'mhir'; `hallumeter metrics` lists those that exist"),
        ("is_required", "required", "strict.toml: Object contains unknown field `required` - at `$.rules[0]`"),
        ('name = "mine"', 'title = "mine"', "strict.toml: Object "),
        ('name = "mine"', "", "strict.toml: Object missing required field `name`"),
        ("bad = 0.5", "", "strict.toml: Object missing required field `bad` - at `$.rules[1]`"),
        ("good = 0.7", 'good = "0.7"', "strict.toml: Expected `float`, got `str` - at `$.rules[1].good`"),
        (
            "is_required = true",
            "is_required = 1",
            "strict.toml: Expected `bool`, got `int` - at `$.rules[0].is_required`",
        ),
        ('"worst_case"', '"worst"', "strict.toml: Invalid enum value 'worst' - at `$.rules[0].looks_at`"),
    ],
    ids=[
        "TOML",
        "long number",
        "deep list",
        "metric",
        "field",
        "field of the policy",
        "name",
        "bound",
        "number",
        "flag",
        "looks_at",
    ],
)
def test_a_fault_in_a_policy_is_one_line_that_names_the_file(old: str, new: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parsed(POLICY_TEXT.replace(old, new))
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_good_and_bad_must_differ() -> None:
    with pytest.raises(SettingsError, match=r"expected two different numbers, found good = 0\.2 and bad = 0\.2"):
        Rule("mihr", good=0.2, bad=0.2)


def test_the_headline_row_is_that_of_the_headline_judge() -> None:
    rows = [
        row("mihr", 0.1, judge="human"),
        row("mihr", 0.2, judge="consensus"),
        row("mihr", 0.3, judge="embedded"),
        row("mihr", 0.9, judge="consensus", by={"model": "m"}),
        row("far", 0.4),
        row("fleiss_kappa", 0.5, judge="all judges"),
    ]
    chosen = headline_rows(rows, "consensus")
    assert {metric: found.value for metric, found in chosen.items()} == {"mihr": 0.2, "far": 0.4, "fleiss_kappa": 0.5}


def test_without_a_headline_judge_the_first_row_speaks() -> None:
    rows = [row("mihr", 0.1, judge="human"), row("mihr", 0.2, judge="embedded")]
    assert headline_rows(rows, None)["mihr"].value == 0.1
    assert headline_rows([], None) == {}


def test_a_policy_of_no_rules_knows_nothing() -> None:
    assert profile_of(Policy("empty", ()), {"mihr": row("mihr", 0.9)}).reliability == "unknown"


def test_infinite_bounds_are_never_reached() -> None:
    rule = Rule("mihr", good=0.1, bad=math.inf)
    assert not rule.is_bad(1e9)
    assert not rule.is_good(1e9)


@pytest.mark.parametrize("bounds", ["good = nan\nbad = 0.2", "good = 0.2\nbad = 0.2"])
def test_bounds_that_decide_nothing_are_refused_with_the_name_of_the_file(bounds: str) -> None:
    text = f'name = "mine"\n[[rules]]\nmetric = "mihr"\n{bounds}'
    with pytest.raises(SettingsError, match=r"^policy\.toml: rule for 'mihr': expected two different numbers"):
        parse_policy(text, source="policy.toml", known_metrics=["mihr"])


def test_a_policy_file_without_rules_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"^policy\.toml: no \[\[rules\]\] found"):
        parse_policy('name = "mine"\nrules = []', source="policy.toml", known_metrics=["mihr"])


@pytest.mark.parametrize(
    ("invented", "words", "is_badged"),
    [(5, 100, True), (4, 20, False), (5, 101, False), (6, 120, True), (6, 121, False), (0, 0, False), (5, 5, True)],
)
def test_a_page_is_hallucinated_from_five_invented_words_and_a_twentieth_of_it(
    invented: int, words: int, is_badged: bool
) -> None:
    assert PagePolicy().is_hallucinated(invented_words=invented, words=words) is is_badged


@settings(max_examples=200)
@given(st.integers(0, 100), st.integers(1, 2_000))
def test_a_page_at_the_very_share_is_hallucinated_whatever_the_rounding(percent: int, hundreds: int) -> None:
    # 0.07 * 100 is above 7 in floating point.
    policy = PagePolicy(fewest_words=1, smallest_share=percent / 100)
    at_the_share = percent * hundreds
    assert policy.is_hallucinated(invented_words=max(1, at_the_share), words=100 * hundreds)
    assert not policy.is_hallucinated(invented_words=at_the_share - 1, words=100 * hundreds)


@pytest.mark.parametrize("fewest", [-1, 0, 1])
def test_a_page_without_invented_words_is_never_hallucinated(fewest: int) -> None:
    policy = PagePolicy(fewest_words=fewest, smallest_share=0)
    assert not policy.is_hallucinated(invented_words=0, words=10)
    assert policy.is_hallucinated(invented_words=1, words=10)


def test_a_response_of_which_nothing_is_on_the_page_is_hallucinated_however_short() -> None:
    assert PagePolicy().is_hallucinated(invented_words=0, words=2, is_whole=True)
    assert not PagePolicy().is_hallucinated(invented_words=0, words=2)


LITTLE = "the witness read fewer than 10 words"
SILENT = "the witness does not say how sure it is of its reading"
UNSURE = "the witness is less than 0.8 sure of its reading"
SKIPPED = "the witness confirms too little of what the engine wrote, and may have skipped a part of the page"


@pytest.mark.parametrize(
    ("words", "confidence", "confirmed", "contradicted", "reason"),
    [
        (10, 0.8, 0.5, 0.0, None),
        (10, 0.8, 0.0, 0.5, None),
        (10, 1.0, 1.0, 1.0, None),
        (9, 0.9, 1.0, 0.0, LITTLE),
        (0, None, 1.0, 0.0, LITTLE),
        (10, None, 1.0, 1.0, SILENT),
        (10, 0.79, 1.0, 1.0, UNSURE),
        (10, 0.0, 0.0, 0.0, UNSURE),
        (10, 0.9, 0.49, 0.49, SKIPPED),
        (500, 1.0, 0.0, 0.0, SKIPPED),
    ],
)
def test_a_witness_speaks_against_an_engine_only_when_it_read_enough_and_surely_and_agrees_or_differs_on_half(
    words: int, confidence: float | None, confirmed: float, contradicted: float, reason: str | None
) -> None:
    why_not = WitnessPolicy().why_not
    assert why_not(words=words, confidence=confidence, confirmed=confirmed, contradicted=contradicted) == reason


@given(
    words=st.integers(0, 30),
    confidence=st.floats(0, 1),
    confirmed=st.floats(0, 1),
    contradicted=st.floats(0, 1),
    more=st.tuples(st.integers(0, 10), *[st.floats(0, 1)] * 3),
)
@settings(max_examples=200)
def test_a_better_witness_is_never_heard_less(
    words: int, confidence: float, confirmed: float, contradicted: float, more: tuple[int, float, float, float]
) -> None:
    policy = WitnessPolicy()
    why = policy.why_not(words=words, confidence=confidence, confirmed=confirmed, contradicted=contradicted)
    better = policy.why_not(
        words=words + more[0],
        confidence=max(confidence, more[1]),
        confirmed=max(confirmed, more[2]),
        contradicted=max(contradicted, more[3]),
    )
    assert why is not None or better is None


def test_a_witness_at_the_very_bound_is_enough_whatever_the_rounding() -> None:
    # In floating point 1 - 9 / 10 is below 0.1, and 0.3 below 0.1 + 0.2.
    policy = WitnessPolicy(smallest_share=0.1, lowest_confidence=0.1 + 0.2)
    assert policy.why_not(words=10, confidence=0.3, confirmed=1 - 9 / 10, contradicted=0.0) is None
    assert policy.why_not(words=10, confidence=0.3, confirmed=0.0, contradicted=1 - 9 / 10) is None


def test_the_reasons_name_the_bounds_that_were_asked_for() -> None:
    policy = WitnessPolicy(fewest_words=3, lowest_confidence=0.25)
    little = policy.why_not(words=2, confidence=1.0, confirmed=1.0, contradicted=0.0)
    unsure = policy.why_not(words=3, confidence=0.2, confirmed=1.0, contradicted=0.0)
    assert little == "the witness read fewer than 3 words"
    assert unsure == "the witness is less than 0.25 sure of its reading"


@pytest.mark.parametrize("share", [-0.1, 5.0, math.nan])
@pytest.mark.parametrize(
    ("policy", "name"),
    [
        (PagePolicy(), "smallest_share"),
        (WitnessPolicy(), "smallest_share"),
        (WitnessPolicy(), "lowest_confidence"),
    ],
)
def test_a_threshold_that_is_no_share_is_refused(policy: PagePolicy | WitnessPolicy, name: str, share: float) -> None:
    with pytest.raises(SettingsError, match=f"{name} is .*; expected a share from 0 to 1"):
        structs.replace(policy, **{name: share})


def test_an_engine_shows_signs_beyond_the_bounds_and_not_at_them() -> None:
    policy = EnginePolicy()
    at_the_bounds = {"hallucinating_page_rate": 0.3, "anchor_mean": 0.6, "length_ratio_mean": 1.3}
    assert policy.signs(at_the_bounds) == ()
    beyond = {"hallucinating_page_rate": 0.31, "anchor_mean": 0.59, "length_ratio_mean": 1.31}
    assert policy.signs(beyond) == tuple(policy.bounds)
    assert policy.signs({"anchor_mean": None}) == ()


def compared(metric: str, **facts: object) -> MetricComparison:
    given: dict[str, object] = dict.fromkeys(MetricComparison.__struct_fields__)
    given |= {"metric": metric, "by": {}, "direction": "lower", "clusters": 9, "differing": 3, "difference": 0.1}
    given |= {"unmeasured": (0, 0), "measurable": (9, 9), "outcome": "inconclusive", **facts}
    return MetricComparison(**given)  # type: ignore[arg-type]


def test_without_a_margin_nothing_is_ruled_out_and_the_reason_asks_for_one() -> None:
    policy = ComparePolicy()
    assert policy.margin_of("cer", is_share=False) is None
    row = compared("cer")
    assert policy.outcome_of(row, alpha=0.05) == "inconclusive"
    outcome, [reason] = policy.outcome([row], missing=0.0)
    assert (outcome, reason) == (
        "inconclusive",
        "CER: no margin says what is too much; give --margin cer=NUMBER",
    )


def test_a_metric_without_a_better_side_only_differs_and_decides_nothing() -> None:
    row = compared("length_ratio", direction="none", adjusted_p_value=0.001)
    assert ComparePolicy().outcome_of(row, alpha=0.05) == "differs"
    assert ComparePolicy().outcome([row], missing=0.0) == ("unmeasured", ("no metric with a better side was compared",))
