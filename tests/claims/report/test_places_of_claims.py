"""Where claims are unsupported: by position, by length, and whatever has neither."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_html import Page

from hallumeter.records.claim import Claim, Finding, Label, Verdict
from hallumeter.records.columns import LABEL_CODES
from hallumeter.records.response import Response
from hallumeter.report import columns, tallies
from hallumeter.report.charts import charts_of, length_words, tenth_words
from hallumeter.report.columns import BEYOND, LABELS, ColumnBuffer, VoteNumbers, majority
from hallumeter.report.document import Document, RecordFindings
from hallumeter.report.findings import FindingPicker
from hallumeter.report.page.render import render_html
from hallumeter.report.sections import ConcentrationSection
from hallumeter.report.segmentation import settled_label
from hallumeter.report.selection import Limits, select
from hallumeter.report.tallies import RECORDS_AT_ONCE, UNSUPPORTED, Tallies, shortened
from hallumeter.stats.bootstrap import cluster_bootstrap_interval
from report_samples import finding, sample_document

BAD, GOOD = Label.REFUTED, Label.SUPPORTED


def places(document: Document) -> ConcentrationSection:
    return next(section for section in document.sections if isinstance(section, ConcentrationSection))


def answer(record_id: str, length: int, *claims: tuple[int | None, int | None, Label]) -> RecordFindings:
    found = tuple(finding(start, end, label, claim_id=f"c{place}") for place, (start, end, label) in enumerate(claims))
    return RecordFindings(Response(record_id, response="x" * length), found)


def test_the_middle_of_a_claim_decides_in_which_tenth_it_is() -> None:
    # Middles at 5 of 100 (first tenth), 10 (second), 99.5 (last), and a claim over the whole text at 50 (sixth).
    record = answer("r", 100, (0, 10, BAD), (0, 20, GOOD), (99, 100, BAD), (0, 100, Label.NOT_ENOUGH_INFO))
    tenths = places(sample_document([record])).tenths
    assert [(each.count, each.total) for each in tenths] == [
        (1, 1), (0, 1), (0, 0), (0, 0), (0, 0), (1, 1), (0, 0), (0, 0), (0, 0), (1, 1),
    ]  # fmt: skip
    assert [each.value for each in tenths[:3]] == [1.0, 0.0, None]


def test_claims_without_a_place_or_without_a_text_are_counted_apart() -> None:
    silent = RecordFindings(Response("s"), (finding(0, 4, text="blue"), finding(None, None, Label.UNDECIDED)))
    placed = answer("r", 10, (0, 5, BAD), (None, None, GOOD), (8, 20, GOOD), (3, 3, GOOD), (0, 1, Label.UNDECIDED))
    section = places(sample_document([placed, silent]))
    assert (section.without_place, section.without_text) == (3, 1)
    assert sum(each.total for each in section.tenths) == 1


def test_a_run_without_places_or_texts_has_no_such_section() -> None:
    records = [RecordFindings(Response(f"r{number}"), (finding(0, 4),)) for number in range(3)]
    assert not any(isinstance(section, ConcentrationSection) for section in sample_document(records).sections)


def test_intervals_draw_whole_responses() -> None:
    rng = np.random.default_rng(1)
    counts = [(int(rng.integers(0, 3)), 3) for _ in range(40)]
    records = [
        answer(f"r{place}", 30, *[(0, 2, BAD)] * bad, *[(0, 2, GOOD)] * (total - bad))
        for place, (bad, total) in enumerate(counts)
    ]
    tenth = places(sample_document(records)).tenths[0]
    bad, totals = np.array(sorted(counts)).T
    expected = cluster_bootstrap_interval(bad, totals, rng=np.random.default_rng(0), resamples=2_000)
    assert expected is not None
    assert tenth.interval == (expected.low, expected.high)


def test_responses_are_put_into_bins_of_about_equal_size_by_their_length() -> None:
    records = [answer(f"r{place}", 10 + place, (0, 5, BAD if place >= 40 else GOOD)) for place in range(50)]
    bins = places(sample_document(records)).lengths
    assert [(each.start, each.end) for each in bins] == [(10, 20), (20, 30), (30, 40), (40, 50), (50, None)]
    assert [(each.responses, each.count, each.total) for each in bins] == [(10, 0, 10)] * 4 + [(10, 10, 10)]
    assert [length_words(each) for each in bins[-2:]] == ["40–49", "50 and more"]


def test_responses_of_one_length_are_in_no_bin() -> None:
    section = places(sample_document([answer(f"r{place}", 10, (0, 5, BAD)) for place in range(4)]))
    assert section.lengths == ()
    assert tenth_words(section.tenths[9]) == "90–100 %"


@given(st.lists(st.integers(0, 2**40), min_size=1))
def test_shortened_lengths_are_less_than_two_per_cent_below_and_keep_their_order(lengths: list[int]) -> None:
    given_lengths = np.array(sorted(lengths))
    found = shortened(given_lengths)
    assert (np.diff(found) >= 0).all()
    assert ((found <= given_lengths) & (given_lengths - found <= given_lengths / 64)).all()


def test_what_is_drawn_is_what_the_tables_hold() -> None:
    document = sample_document()
    section = places(document)
    drawn = {chart.kind: chart.spec["data"] for chart in charts_of(document) if chart.kind in ("tenths", "lengths")}
    assert [value["value"] for value in drawn["tenths"]["values"]] == [each.value for each in section.tenths]  # type: ignore[index,call-overload,union-attr]
    page = render_html(document)
    assert "{&#34;label&#34;: &#34;unsupported&#34;, &#34;tenth&#34;: 0}" in page
    assert "By position in the answer Tenth of the answer Unsupported Decided Share 95 % interval" in Page(page).words


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(["a", "b", "consensus"]), st.sampled_from(list(LABEL_CODES))), max_size=4),
        max_size=6,
    ),
    st.sampled_from([None, "a", "consensus"]),
)
def test_labels_of_columns_are_the_settled_labels(votes: list[list[tuple[str, Label]]], headline: str | None) -> None:
    findings = tuple(
        Finding(Claim("r", f"c{place}"), tuple(Verdict("r", f"c{place}", *vote) for vote in own))
        for place, own in enumerate(votes)
    )
    ledger = ColumnBuffer(headline)
    ledger.add(RecordFindings(Response("r", response="x"), findings))
    found = [LABELS[code] for code in ledger.columns().labels.tolist()]
    assert found == [settled_label(finding, headline) for finding in findings]


def test_batches_do_not_change_what_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sample_document()
    monkeypatch.setattr(tallies, "RECORDS_AT_ONCE", 7)
    assert RECORDS_AT_ONCE > 7
    assert sample_document() == whole


def test_reasons_beyond_the_limit_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MOST_VOTES", 2)
    numbers = VoteNumbers()
    found = [numbers["a", "REFUTED", reason] for reason in ("one", "two", "three", "four", None, "one")]
    assert found == [0, 1, 2, 2, 3, 0]
    assert list(numbers) == [
        ("a", "REFUTED", "one"),
        ("a", "REFUTED", "two"),
        ("a", "REFUTED", BEYOND),
        ("a", "REFUTED", None),
    ]
    records = [
        RecordFindings(Response(reason, response="x"), (finding(0, 1, reason=reason),))
        for reason in ("one", "two", "three", "four")
    ]
    tallies = Tallies()
    select(records, Limits(), tallies=tallies, picker=FindingPicker(None, UNSUPPORTED))
    assert tallies.reasons().beyond == 2


def test_a_majority_needs_one_label_that_is_first_alone() -> None:
    assert majority(np.array([[3, 2, 0], [1, 1, 1], [0, 0, 4]])).tolist() == [0, -1, 2]
