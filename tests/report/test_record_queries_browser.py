"""A number of the report leads to the records behind it: every key of a query, on a document made by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import Visit, needs_browser, written
from hallumeter.records.claim import Claim, Failure, Finding, Label, Verdict
from hallumeter.records.manifest import JudgeEntry
from hallumeter.records.response import Passage, Response
from hallumeter.report.document import RecordFindings
from hallumeter.report.selection import Limits
from report_samples import manifest, sample_document, summary

pytestmark = [needs_browser, pytest.mark.long]
REFUTED, UNKNOWN, UNDECIDED, SUPPORTED = Label.REFUTED, Label.NOT_ENOUGH_INFO, Label.UNDECIDED, Label.SUPPORTED


def claim(record: str, number: int, start: int, end: int, *votes: Verdict, kind: str = "claim") -> Finding:
    return Finding(Claim(record, f"{record}#{number}", start=start, end=end, kind=kind), votes)


def vote(record: str, number: int, judge: str, label: Label, **facts: object) -> Verdict:
    return Verdict(record, f"{record}#{number}", judge, label, **facts)  # type: ignore[arg-type]


def records() -> list[RecordFindings]:
    """Five responses; what each is behind of can be read off here."""
    text = "0123456789" * 4
    return [
        RecordFindings(
            Response("a", "Asked of taxes?", text, (Passage("e", "Evidence."),), model="m1", fields={"topic": "tax"}),
            (
                # Middle at 2 of 40: the first tenth. One judge refutes, for a reason; the other supports.
                claim(
                    *("a", 0, 0, 4),
                    vote("a", 0, "rules", REFUTED, reason="number_mismatch", unsupported_probability=0.3),
                    vote("a", 0, "model", SUPPORTED, unsupported_probability=0.1),
                    vote("a", 0, "consensus", REFUTED),
                ),
                # Middle at 38 of 40: the last tenth.
                claim("a", 1, 36, 40, vote("a", 1, "consensus", SUPPORTED), kind="rule"),
            ),
        ),
        RecordFindings(
            Response("b", "Asked of law?", text[:20], model="m1", fields={"topic": "law", "is_hard": True}),
            # Middle at 10 of 20: the sixth tenth, which begins there.
            (
                claim(
                    *("b", 0, 8, 12),
                    vote("b", 0, "rules", UNKNOWN, unsupported_probability=0.29999999999),
                    vote("b", 0, "consensus", UNKNOWN),
                ),
            ),
        ),
        RecordFindings(
            Response("c", response=text, model="m2"), (claim("c", 0, 0, 1, vote("c", 0, "consensus", UNDECIDED)),)
        ),
        RecordFindings(Response("d", response=text), (claim("d", 0, 4, 8),)),
        RecordFindings(Response("e", "Nothing?", "", model="m2"), ()),
    ]


FAILURES = (
    Failure("d", "d#0", "judge", "rules", "timeout", "no reply", 3),
    Failure("e", None, "extract", None, "bad_reply", "found prose"),
)
QUERIES: list[tuple[dict[str, object], str, str]] = [
    ({"label": "REFUTED"}, "a", "Refuted"),
    ({"label": "NOT_ENOUGH_INFO"}, "b", "Not enough info"),
    ({"label": "UNDECIDED"}, "c", "Undecided"),
    ({"label": "NONE"}, "d", "No verdict"),
    ({"label": "SUPPORTED"}, "a", "Supported"),
    ({"label": "unsupported"}, "a b", "Unsupported"),
    ({"label": "decided"}, "a b", "Decided"),
    ({"label": "unmeasured"}, "c d", "Unmeasured"),
    ({"votes": {"rules": "REFUTED", "model": "SUPPORTED"}}, "a", "rules: Refuted · model: Supported"),
    ({"votes": {"rules": "unsupported", "model": "NONE"}}, "b", "rules: Unsupported · model: No verdict"),
    ({"reason": "number_mismatch"}, "a", "reason number_mismatch"),
    ({"reason": None, "votes": {"rules": "decided"}}, "a b", "no reason given · rules: Decided"),
    ({"kind": "rule"}, "a", "rule"),
    ({"kind": "rule", "label": "REFUTED"}, "", "rule · Refuted"),
    ({"tenth": 0}, "a c", "tenth 1 of the answer"),
    ({"tenth": 9, "label": "SUPPORTED"}, "a", "tenth 10 of the answer · Supported"),
    ({"tenth": 9, "label": "REFUTED"}, "", "tenth 10 of the answer · Refuted"),
    ({"tenth": 5}, "b", "tenth 6 of the answer"),
    ({"probability": [0.3, 0.4]}, "a", "P(unsupported) from 0.3 to 0.4"),
    ({"probability": [0.2, 0.3]}, "b", "P(unsupported) from 0.2 to 0.3"),
    ({"probability": [0, 0.2], "judge": "model"}, "a", "model: P(unsupported) from 0 to 0.2"),
    ({"probability": [0, 0.2], "judge": "rules"}, "", "rules: P(unsupported) from 0 to 0.2"),
    ({"model": "m1"}, "a b", "model m1"),
    ({"model": None}, "d", "model not given"),
    ({"fields": {"topic": "tax"}}, "a", "topic: tax"),
    ({"fields": {"is_hard": "true"}, "model": "m1"}, "b", "is_hard: true · model m1"),
    ({"failure": "timeout"}, "d", "failure timeout"),
    ({"failure": True}, "d e", "any failure"),
    ({"length": [20, 40]}, "b", "20 to 39 characters"),
    ({"length": [40, None]}, "a c d", "40 characters or more"),
    ({"without_claims": True}, "e", "no claims"),
    ({"search": "LAW"}, "b", "“LAW”"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    judges = tuple(JudgeEntry(name, name) for name in ("rules", "model"))
    document = sample_document(
        records(), summary=summary(profile={}), manifest=manifest(judges=judges), failures=FAILURES
    )
    return written(document, tmp_path_factory.mktemp("behind"))


@pytest.fixture(scope="module")
def visit(browser: Browser, report: Path) -> Iterator[Visit]:
    opened = Visit(browser, report)
    yield opened
    assert opened.complaints == []
    opened.context.close()


@pytest.fixture
def page(visit: Visit) -> Page:
    return visit.page


def follow(page: Page, query: dict[str, object]) -> None:
    """Click a number that a template of another section would have made."""
    page.evaluate(
        """(query) => {
            const link = document.createElement("a");
            [link.className, link.href, link.dataset.behind] = ["behind", "#nowhere", query];
            document.querySelector("[data-chapter]").append(link);
            link.click();
            link.remove();
        }""",
        json.dumps(query),
    )


def listed(page: Page) -> str:
    names = page.locator("#list .who bdi").all_text_contents()
    return " ".join(sorted(name.split(" ")[0] for name in names))


@pytest.mark.parametrize(("query", "expected", "words"), QUERIES, ids=[json.dumps(query) for query, _, _ in QUERIES])
def test_a_number_leads_to_the_records_behind_it(
    page: Page, query: dict[str, object], expected: str, words: str
) -> None:
    follow(page, query)
    expect(page.locator("#chip .chip-words")).to_have_text(words)
    assert listed(page) == expected


def test_the_findings_behind_a_number_are_chosen_and_marked(page: Page) -> None:
    follow(page, {"label": "SUPPORTED", "tenth": 9})
    expect(page.locator("#inspector .claim")).to_have_text("6789")
    expect(page.locator("#record .mark.sought")).to_have_text("6789")
    follow(page, {"model": "m1"})
    assert page.locator("#record .mark.sought").count() == 0


def test_what_a_link_asked_for_can_be_taken_back_and_a_later_choice_takes_its_place(page: Page) -> None:
    follow(page, {"label": "REFUTED", "model": "m1"})
    page.select_option("#by-label", label="Not enough info (1)")
    assert listed(page) == "b"
    expect(page.locator("#chip .chip-words")).to_have_text("model m1")
    page.get_by_role("button", name="Show all again").click()
    expect(page.locator("#chip")).to_be_hidden()
    assert listed(page) == "a b c d e"
    assert page.locator("#by-label").input_value() == ""


def test_fields_with_few_values_kinds_and_reasons_can_be_chosen(page: Page) -> None:
    follow(page, {"model": "m1"})
    page.locator("#more-filters summary").click()
    page.get_by_label("topic").select_option(label="law (1)")
    assert listed(page) == "b"
    page.get_by_label("topic").select_option(label="any")
    page.select_option("#by-kind", label="rule (1)")
    assert listed(page) == "a"
    page.select_option("#by-kind", label="any")
    page.locator("#more-filters summary").click()


def test_the_records_that_judges_dispute_come_first_when_asked_for(page: Page) -> None:
    follow(page, {})
    page.select_option("#order", "disagreement")
    expect(page.locator("#list .who bdi").first).to_contain_text("a")
    page.select_option("#order", "worst")


def test_a_link_says_what_it_leads_to(browser: Browser, report: Path, tmp_path: Path) -> None:
    source = report.read_text(encoding="utf-8")
    link = '<a class="behind" href="#x" data-behind="{&#34;label&#34;: &#34;REFUTED&#34;}"> 1 </a>'
    changed = tmp_path / "linked.html"
    changed.write_text(source.replace("<h1>", f"{link}<h1>", 1), encoding="utf-8")
    visit = Visit(browser, changed)
    found = visit.page.get_by_role("link", name="1: show what is behind it (Refuted)")
    found.click()
    expect(visit.page.locator("#chip .chip-words")).to_have_text("Refuted")
    expect(visit.page.locator("#list .entry").first).to_be_focused()
    assert visit.complaints == []
    visit.context.close()


def test_a_report_that_holds_some_of_the_records_says_how_many_of_these_it_holds(
    browser: Browser, tmp_path: Path
) -> None:
    document = sample_document(records(), limits=Limits(worst=2, random=0))
    visit = Visit(browser, written(document, tmp_path))
    follow(visit.page, {"label": "unsupported"})
    expect(visit.page.locator("#chip .chip-told")).to_have_text(
        "2 of these are in this file, which holds 2 of 5 answers"
    )
    follow(visit.page, {"label": "UNDECIDED"})
    expect(visit.page.locator("#list")).to_have_text("No answer matches.")
    expect(visit.page.locator("#record")).to_be_empty()
    visit.context.close()
