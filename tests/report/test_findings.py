"""The findings that stand first: the most certain ones, whole enough to be judged, and one click from their answer."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser, expect
from test_html import Page

from browsing import Visit, needs_browser, written
from hallumeter.records.claim import Claim, Finding, Label, Verdict
from hallumeter.records.response import Passage, Quote, Response
from hallumeter.report.document import Document, FindingSection, ListedFinding, RecordFindings, RecordSection
from hallumeter.report.findings import LISTED, certainty
from hallumeter.report.page.render import render_html
from report_samples import manifest, metric, sample_document, summary

TEXT = "The fair opened in May. It drew 999 million visitors. It closed in autumn."
EVIDENCE = "The World's Fair opened in May 1964 and drew 51 million visitors before it closed."
WRONG = (32, 43)
"""999 million."""


def verdict(label: Label, judge: str = "human", **facts: object) -> Verdict:
    return Verdict("r", "c", judge, label, **facts)  # type: ignore[arg-type]


def fair(record_id: str = "r", *, probability: float = 0.9, **facts: object) -> RecordFindings:
    """An answer with a wrong number, and what the evidence says instead."""
    said = Verdict(
        *(record_id, "c1", "human", Label.REFUTED, probability, "number_mismatch", *WRONG),
        evidence=(Quote("e1", 45, 55),),
        note="response says 999 million, evidence says 51 million",
    )
    claims = (
        Finding(Claim(record_id, "c0", start=0, end=23), (Verdict(record_id, "c0", "human", Label.SUPPORTED, 0.1),)),
        Finding(Claim(record_id, "c1", start=24, end=53), (said,)),
    )
    response = Response(record_id, response=TEXT, evidence=(Passage("e1", EVIDENCE),), **facts)  # type: ignore[arg-type]
    return RecordFindings(response, claims)


def listed(*records: RecordFindings) -> tuple[ListedFinding, ...]:
    return section(sample_document(records)).findings


def section(document: Document) -> FindingSection:
    return next(one for one in document.sections if isinstance(one, FindingSection))


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([verdict(Label.REFUTED, unsupported_probability=0.7)], 0.7),
        ([verdict(Label.REFUTED, unsupported_probability=0.7), verdict(Label.REFUTED, "b")], 0.85),
        ([verdict(Label.REFUTED, unsupported_probability=0.7), verdict(Label.SUPPORTED, "b")], 0.35),
        ([verdict(Label.NOT_ENOUGH_INFO, confidence=0.6)], 0.6),
        ([verdict(Label.SUPPORTED, confidence=0.75)], 0.25),
        ([verdict(Label.REFUTED), verdict(Label.UNDECIDED, "b"), verdict(Label.SUPPORTED, "consensus")], 1.0),
        ([verdict(Label.UNDECIDED)], 0.0),
    ],
)
def test_certainty_is_the_mean_of_what_the_judges_say(verdicts: list[Verdict], expected: float) -> None:
    assert certainty(Finding(Claim("r", "c"), tuple(verdicts))) == pytest.approx(expected)


def test_a_finding_can_be_judged_without_its_answer() -> None:
    (found,) = listed(fair(question="How many came?", model="m"))
    # A claim as short as this one is shown with its neighbours.
    assert (found.before, found.marked) == ("The fair opened in May. It drew ", "999 million")
    assert found.after == " visitors. It closed in autumn."
    assert found.evidence is not None
    assert (found.evidence.text, found.evidence.before[-9:], found.evidence.after) == (
        "51 million",
        "and drew ",
        " visitors before it closed.",
    )
    assert (found.record_id, found.claim_id, found.model, found.question) == ("r", "c1", "m", "How many came?")
    assert (found.reason, found.note) == ("number_mismatch", "response says 999 million, evidence says 51 million")
    assert (found.probability, found.judges, found.others) == (0.9, ("human",), 0)


def test_the_most_certain_come_first_one_of_each_answer_and_no_more_than_are_read() -> None:
    records = [fair(f"r{place}", probability=place / 10) for place in range(1, 10)]
    found = section(sample_document(records))
    assert [each.record_id for each in found.findings] == ["r9", "r8", "r7", "r6", "r5"]
    assert (len(found.findings), found.claims, found.responses) == (LISTED, 9, 9)
    assert [each.record_id for each in listed(*(fair(f"r{place}") for place in range(3)))] == ["r0", "r1", "r2"]


def test_an_answer_with_several_wrong_claims_is_listed_by_the_most_certain() -> None:
    first = fair(probability=0.5)
    sure = Finding(
        Claim("r", "c2", start=54, end=len(TEXT)), (Verdict("r", "c2", "human", Label.NOT_ENOUGH_INFO, 0.8),)
    )
    (found,) = listed(RecordFindings(first.response, (*first.findings, sure)))
    assert (found.claim_id, found.marked, found.others) == ("c2", "It closed in autumn.", 1)


def test_what_only_repeats_the_marked_words_is_no_note() -> None:
    claim = "It drew 999 million visitors."
    said = Verdict("r", "c", "human", Label.REFUTED, reason="baseless", note=f"no support for “{claim}”")
    record = RecordFindings(Response("r", response=TEXT), (Finding(Claim("r", "c", start=24, end=53), (said,)),))
    assert listed(record)[0].note is None
    unexplained = Verdict("r", "c", "human", Label.REFUTED, note=f"no support for “{claim}”")
    record = RecordFindings(Response("r", response=TEXT), (Finding(Claim("r", "c", start=24, end=53), (unexplained,)),))
    assert listed(record)[0].note == f"no support for “{claim}”"


def test_a_short_claim_has_the_words_around_it_cut_between_words() -> None:
    text = " ".join(f"word{place}" for place in range(60))
    start = text.index("word30")
    claim = Claim("r", "c", start=start, end=start + 6)
    record = RecordFindings(Response("r", response=text), (Finding(claim, (verdict(Label.REFUTED),)),))
    (found,) = listed(record)
    assert found.before.startswith("… word")
    assert found.before.endswith("word29 ")
    assert found.marked == "word30"
    assert found.after.startswith(" word31")
    assert found.after.endswith(" …")


def test_claims_and_quotations_without_a_place_are_shown_by_their_words() -> None:
    said = verdict(Label.REFUTED, evidence=(Quote("e9"), Quote("e8", quote="the evidence " * 40)))
    (found,) = listed(RecordFindings(Response("r"), (Finding(Claim("r", "c", text="It drew 999 million."), (said,)),)))
    assert (found.before, found.marked, found.after) == ("", "It drew 999 million.", "")
    assert found.evidence is not None
    assert found.evidence.text.endswith("the evid…")
    bare = RecordFindings(
        Response("r"), (Finding(Claim("r", "c"), (verdict(Label.REFUTED, evidence=(Quote("e9"),)),)),)
    )
    assert (listed(bare)[0].marked, listed(bare)[0].evidence) == ("", None)


def test_a_consensus_speaks_by_the_judge_that_points_to_something() -> None:
    votes = (
        Verdict("r", "c", "a", Label.REFUTED),
        Verdict("r", "c", "b", Label.NOT_ENOUGH_INFO, start=32, end=43, reason="number_not_found"),
        Verdict("r", "c", "c", Label.SUPPORTED),
        Verdict("r", "c", "consensus", Label.REFUTED),
    )
    record = RecordFindings(Response("r", response=TEXT), (Finding(Claim("r", "c", start=24, end=53), votes),))
    rows = summary(metrics=(metric("mihr", 1, 1, judge="consensus"),))
    (found,) = section(sample_document([record], summary=rows, manifest=manifest())).findings
    assert (found.marked, found.reason, found.judges, found.against) == (
        "999 million",
        "number_not_found",
        ("a", "b"),
        ("c",),
    )


def test_a_run_without_anything_unsupported_has_no_findings() -> None:
    good = RecordFindings(Response("r", response=TEXT), fair().findings[:1])
    assert not any(isinstance(one, FindingSection) for one in sample_document([good]).sections)


def test_findings_stand_right_after_the_overview_and_before_the_answers() -> None:
    tags = [str(one.__struct_config__.tag) for one in sample_document().sections]
    assert tags[:4] == ["overview", "findings", "records", "metrics"]


def test_a_finding_whose_answer_is_not_on_the_page_has_no_link() -> None:
    document = sample_document([fair()])
    assert 'class="to-finding"' in render_html(document)
    without = tuple(one for one in document.sections if not isinstance(one, RecordSection))
    page = render_html(msgspec.structs.replace(document, sections=without))
    assert 'class="to-finding"' not in page
    assert "It drew 999 million visitors." in Page(page).words


@needs_browser
@pytest.mark.parametrize("width", [1366, 390])
def test_the_worst_answer_of_the_demo_is_found_with_two_clicks(
    browser: Browser, finished_demo: Path, width: int
) -> None:
    visit = Visit(browser, finished_demo / "report.html", width=width)
    page = visit.page.locator("[data-chapter]:visible")
    # Before any click: the first finding, its wrong words marked, and why.
    first = page.locator(".found > li").first
    expect(first.locator(".mark").first).to_be_visible()
    # One click: the same in its answer, the wrong words marked and in sight, the evidence beside them.
    record_id = first.locator("a.to-finding").inner_text()
    words = first.locator(".mark").inner_text()
    first.locator("a.to-finding").click()
    shown = page.locator(".record")
    expect(shown).to_contain_text(record_id)
    expect(shown.locator(".mark.chosen.pinpointed").first).to_be_in_viewport()
    assert words.startswith(shown.locator(".mark.chosen.pinpointed").first.inner_text()[:20])
    expect(shown.locator(".passage").first).to_be_visible()
    expect(page.locator(".inspector")).to_contain_text(words[:20])
    # The worst answer is the first of the list: it is open as soon as the reader gets there.
    visit.page.reload()
    page.get_by_role("link", name="Answers", exact=True).first.click()
    entries = page.locator(".list .entry")
    expect(entries.first).to_have_attribute("aria-current", "true")
    shares = [text.split("/")[0] for text in entries.locator(".share").all_text_contents()[:5]]
    assert all(int(before) >= int(after) for before, after in pairwise(shares))
    expect(page.locator(".record .mark.chosen").first).to_be_visible()
    assert visit.complaints == []
    visit.context.close()


@needs_browser
def test_the_counter_counts_unsupported_claims_and_leads_from_one_to_the_next(browser: Browser, tmp_path: Path) -> None:
    first = fair()
    other = Finding(
        Claim("r", "c2", start=54, end=len(TEXT)), (Verdict("r", "c2", "human", Label.NOT_ENOUGH_INFO, 0.6),)
    )
    visit = Visit(
        browser, written(sample_document([RecordFindings(first.response, (*first.findings, other))]), tmp_path)
    )
    walk = visit.page.locator(".walk")
    expect(walk).to_contain_text("1 of 2 unsupported")
    expect(visit.page.locator(".inspector")).to_contain_text("It drew 999 million visitors.")
    visit.page.get_by_role("button", name="Next finding").click()
    expect(walk).to_contain_text("2 of 2 unsupported")
    visit.page.locator(".record .mark.supported").first.click()
    expect(walk).not_to_contain_text("unsupported")
    visit.page.get_by_role("button", name="Next finding").click()
    expect(walk).to_contain_text("1 of 2 unsupported")
    assert visit.complaints == []
    visit.context.close()


@needs_browser
def test_what_is_wider_than_a_phone_says_that_it_scrolls(browser: Browser, tmp_path: Path) -> None:
    path = written(sample_document(), tmp_path)
    narrow, wide = Visit(browser, path, width=390), Visit(browser, path, width=1366)
    grid = narrow.page.locator("section[id^=breakdown] .scroll").first
    hint = narrow.page.locator("section[id^=breakdown] .sideways").first
    expect(hint).to_be_visible()
    expect(grid).to_have_class("scroll more-right")
    grid.evaluate("box => box.scrollTo(box.scrollWidth, 0)")
    expect(grid).to_have_class("scroll")
    expect(wide.page.locator("section[id^=breakdown] .sideways").first).to_be_hidden()
    for visit in (narrow, wide):
        visit.context.close()
