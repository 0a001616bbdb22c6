"""Numbers and the records behind them: every metric of the catalog has a query, or a reason why it has none."""

from __future__ import annotations

import pytest

from hallumeter.catalog import METRICS, METRICS_BY_ID
from hallumeter.records.claim import Label
from hallumeter.records.measurement import MetricSummary
from hallumeter.records.metric import Metric
from hallumeter.report.document import ReasonCount
from hallumeter.report.record_queries import Part, all_behind, no_records, query_behind, reason_query
from report_samples import metric

ON_A_FINDING = {"label", "votes", "reason", "kind", "probability", "judge"}
ON_A_RECORD = {"model", "fields", "failure", "engine", "status", "badge"}
LABELS = {*(label.value for label in Label), "NONE", "unsupported", "decided", "unmeasured"}
STATISTICS = ("judge_sensitivity", "judge_specificity")


def test_every_metric_has_records_behind_it_or_a_reason_why_not() -> None:
    told = [*all_behind(), *no_records(), *STATISTICS]
    assert sorted(told) == sorted(METRICS_BY_ID)
    assert all(no_records().values())


@pytest.mark.parametrize("each", METRICS, ids=lambda each: each.id)
@pytest.mark.parametrize("part", ["value", "counted", "among"])
def test_a_query_asks_only_for_what_pages_can_answer(each: Metric, part: Part) -> None:
    found = query_behind(metric(each.id, 2, 5, judge="human"), part, headline="human")
    assert (found is None) == (each.id in no_records())
    if found is not None:
        assert set(found) <= ON_A_FINDING | ON_A_RECORD
        assert found.get("label", "decided") in LABELS


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mihr", {"label": "unsupported"}),
        ("mihr_refuted", {"label": "REFUTED"}),
        ("mahr", {"label": "unsupported"}),
        ("factscore", {"label": "SUPPORTED"}),
        ("far", {"fields": {"answerable": "false"}}),
        ("over_refusal_rate", {"fields": {"answerable": "true"}}),
        ("shannon_entropy", {"probability": [0, 2], "judge": "human"}),
        ("judge_sensitivity", {"votes": {"human": "unsupported"}}),
        ("sfs", {"kind": "slot", "label": "REFUTED"}),
        ("csp_pooled", {"kind": "rule", "label": "REFUTED"}),
        ("cus", {"kind": "slot_use", "label": "NOT_ENOUGH_INFO"}),
        ("mcs", {"kind": "consistency", "label": "REFUTED"}),
        ("ass", {"kind": "element", "label": "NOT_ENOUGH_INFO"}),
        ("aspect_hallucination_rate_h1", {"kind": "aspect", "reason": "out_of_text"}),
        ("misplaced_aspect_rate", {"kind": "aspect", "reason": "span_mismatch"}),
        ("filter_rejection_rate", {"kind": "aspect", "reason": "not_a_target"}),
        ("parse_generate_failure_rate", {"failure": True}),
        ("omission_rate", {"kind": "omission"}),
        ("hallucinating_page_rate", {"badge": True}),
        ("empty_output_rate", {"status": "empty_output"}),
        ("cer", {}),
        ("fleiss_kappa", None),
    ],
)
def test_a_value_leads_to_what_it_speaks_of(name: str, expected: dict[str, object] | None) -> None:
    assert query_behind(metric(name, 2, 5, judge="human"), headline="human") == expected


def test_groups_models_and_engines_narrow_the_query() -> None:
    by = {"model": "(none)", "topic": "tax", "year": "(none)"}
    assert query_behind(metric("mihr", 1, 2, by=by, judge=None)) == {
        "label": "unsupported",
        "model": None,
        "fields": {"topic": "tax", "year": None},
    }
    asked = query_behind(metric("far", 1, 2, by={"topic": "tax"}, judge=None))
    assert asked == {"fields": {"answerable": "false", "topic": "tax"}}
    engine = query_behind(metric("loop_rate", 1, 2, by={"engine": "ocr"}, judge=None))
    assert engine == {"kind": "loop", "engine": "ocr"}
    assert query_behind(metric("sfs", 1, 2, by={"mode": "llm", "turn_id": "2"}, judge=None)) == {
        "kind": "slot",
        "label": "REFUTED",
        "model": "llm",
        "fields": {"turn_id": "2"},
    }


def test_another_judge_than_that_of_the_headline_is_asked_for_its_votes() -> None:
    row = metric("mihr", 1, 2, judge="rules")
    assert query_behind(row, headline="rules") == {"label": "unsupported"}
    assert query_behind(row, headline="consensus") == {"votes": {"rules": "unsupported"}}
    assert query_behind(row, "undecided", headline="consensus") == {"votes": {"rules": "UNDECIDED"}}


def test_counts_totals_and_what_could_not_be_measured_lead_to_their_own_records() -> None:
    row = metric("sfs", 3, 4, judge=None)
    assert query_behind(row, "counted") == {"kind": "slot", "label": "SUPPORTED"}
    assert query_behind(row, "among") == {"kind": "slot"}
    assert query_behind(row, "undecided") == {"label": "UNDECIDED"}
    assert query_behind(row, "failed") == {"failure": True}
    assert query_behind(metric("cer", 1, 2, by={"engine": "a"}), "undecided") == {"status": "undecided", "engine": "a"}


@pytest.mark.parametrize(
    ("row", "value", "counted", "among"),
    [
        (metric("mihr", 0, 4, judge=None), {"label": "decided"}, None, {"label": "decided"}),
        (metric("mihr", 0, 0, judge=None), None, None, None),
        (metric("ass", 4, 4, judge=None), *({"kind": "element", **more} for more in ({}, {"label": "SUPPORTED"}, {}))),
    ],
)
def test_what_is_not_there_has_no_link_and_a_value_then_leads_to_all(
    row: MetricSummary, value: object, counted: object, among: object
) -> None:
    parts: tuple[Part, ...] = ("value", "counted", "among")
    assert [query_behind(row, part) for part in parts] == [value, counted, among]


def test_a_metric_of_another_package_leads_nowhere() -> None:
    assert query_behind(metric("their_metric", 1, 2)) is None


def test_a_reason_of_several_judges_is_asked_for_without_a_label() -> None:
    one = ReasonCount(Label.REFUTED, "number_mismatch", 2, {"rules": 2})
    assert reason_query(one) == {"votes": {"rules": "REFUTED"}, "reason": "number_mismatch"}
    several = ReasonCount(Label.UNDECIDED, None, 3, {"rules": 2, "model": 1})
    assert reason_query(several) == {"label": "UNDECIDED", "reason": None}
    assert reason_query(several, "model") == {"votes": {"model": "UNDECIDED"}, "reason": None}
