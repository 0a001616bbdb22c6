"""Metrics of a summary and of a comparison by their names."""

from __future__ import annotations

import pytest

import hallumeter
from hallumeter.records.comparison import COMPARISON_VERSION, ComparedRun, Comparison, MetricComparison, Transitions
from hallumeter.records.measurement import Counts, MetricSummary, Summary, html_table


def row(metric: str, value: float | None = 0.25, judge: str | None = "a", **by: str) -> MetricSummary:
    return MetricSummary(
        metric=metric,
        by=by,
        judge=judge,
        count=None if value is None else 1.0,
        total=None if value is None else 4.0,
        value=value,
        interval=None if value is None else (0.1, 0.5),
        interval_method=None,
        direction="lower",
        undefined=None if value is not None else "no claim is decided",
        undecided=0,
        failed=0,
        bounds=None,
        signature="",
    )


ROWS = (
    row("mihr"),
    row("mihr", 0.5, "b"),
    row("mihr", 0.75, model="x"),
    row("mahr", None),
    row("own", 1.0, None, t="1"),
)
SUMMARY = Summary(1, "audit", Counts(records=3, claims=4), ROWS)


def test_a_metric_is_found_by_its_name_for_the_whole_run_and_the_headline_judge() -> None:
    assert SUMMARY["mihr"] is ROWS[0]
    assert SUMMARY["MiHR"] is ROWS[0]
    assert SUMMARY.get("mihr", judge="b") is ROWS[1]
    assert SUMMARY.get("mihr", by={"model": "x"}) is ROWS[2]
    assert SUMMARY.get("mihr", by={"model": "y"}) is None
    assert SUMMARY.get("nothing") is None
    assert SUMMARY["own"] is ROWS[4]
    assert list(SUMMARY) == ["mihr", "mahr", "own"]
    assert "MAHR" in SUMMARY
    assert "nothing" not in SUMMARY
    assert 7 not in SUMMARY


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("hallucination rate", "did you mean mihr or mahr"),
        ("hallucination_rate", "did you mean mihr or mahr"),
        ("mihrr", "did you mean mihr"),
        ("faithfulness", "did you mean mihr"),
        ("zzz", "it has mihr, mahr, own"),
    ],
)
def test_a_metric_that_is_not_there_is_a_key_error_with_those_that_may_be_meant(name: str, said: str) -> None:
    with pytest.raises(KeyError, match=said):
        SUMMARY[name]
    with pytest.raises(KeyError, match="it has none"):
        Summary(1, "audit", Counts(), ())[name if name == "zzz" else "zzz"]


def test_a_summary_and_its_rows_are_shown_in_a_line() -> None:
    assert str(ROWS[0]) == "mihr 0.25 (0.1 to 0.5), 1 of 4"
    assert str(ROWS[3]) == "mahr not measured: no claim is decided"
    assert repr(SUMMARY) == (
        "Summary(audit: 3 records; 4 claims; mihr 0.25 (0.1 to 0.5), 1 of 4; mahr not measured: no claim is decided)"
    )
    more = Summary(1, "audit", Counts(), (*ROWS[:1], row("x"), row("y")))
    assert repr(more).endswith("and 1 more metrics)")
    assert "no claim is decided" in SUMMARY._repr_html_()
    long = Summary(1, "audit", Counts(), ROWS * 5)
    assert "the first 20 of 25 rows" in long._repr_html_()


def compared(metric: str, first: float | None, **by: str) -> MetricComparison:
    return MetricComparison(
        metric=metric,
        by=by,
        direction="lower",
        first=first,
        second=0.5,
        unmeasured=(0, 0),
        measurable=(4, 4),
        difference_bounds=None,
        outcome="worse" if first is not None else "unmeasured",
    )


def comparison(*rows: MetricComparison) -> Comparison:
    runs = [ComparedRun(name, 4, 9, 0, "a") for name in ("before", "after")]
    return Comparison(
        version=COMPARISON_VERSION,
        instrument="audit",
        first=runs[0],
        second=runs[1],
        common=4,
        only_first=0,
        only_second=0,
        cluster="response",
        confidence=0.95,
        rows=rows,
        transitions=Transitions((), 0, 0, 0, 0, 0, None),
        outcome="regression",
        reasons=(),
    )


def test_a_comparison_is_read_by_the_name_of_a_metric_and_shown_in_a_line() -> None:
    rows = (compared("mihr", 0.25), compared("mahr", None), compared("mihr", 0.1, model="x"))
    found = comparison(*rows)
    assert found["MIHR"] is rows[0]
    assert list(found) == ["mihr", "mahr"]
    with pytest.raises(KeyError, match="no metric 'x'; it has mihr, mahr"):
        found["x"]
    with pytest.raises(KeyError, match="it has none"):
        comparison()["x"]
    assert repr(found) == (
        "Comparison(before -> after: regression, 4 common records; "
        "mihr 0.25 -> 0.5, worse; mahr unmeasured; and 1 more)"
    )
    assert repr(comparison(rows[0])) == (
        "Comparison(before -> after: regression, 4 common records; mihr 0.25 -> 0.5, worse)"
    )
    assert "before -&gt; after: regression" in found._repr_html_()


def test_a_table_of_a_notebook_escapes_and_aligns() -> None:
    html = html_table(["<a>"], [[1], [True], [None], ["&"]], caption="<c>")
    assert "<a>" not in html
    assert "<c>" not in html
    assert "&amp;" in html
    assert html.count("right") == 1


def test_a_real_summary_is_read_so() -> None:
    run = hallumeter.audit([{"response": "It is 9 m.", "evidence": "It is 3 m."}], judge=lambda claim, evidence: False)
    assert run.summary["mihr"].value == 1.0
