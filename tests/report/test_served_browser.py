"""Records from a server: pages of the list, filters, answers that come too late, labels, and what goes wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from records_server import RecordServer, served

from browsing import needs_browser
from hallumeter.records.claim import Label
from hallumeter.records.response import Passage, Quote, Response
from hallumeter.report.document import Document, RecordFindings
from report_samples import finding, sample_document

pytestmark = [needs_browser, pytest.mark.long]


def many() -> Document:
    """A hundred and twenty responses: the first refuted, the second unknown, all others supported."""
    labels = [Label.REFUTED, Label.NOT_ENOUGH_INFO, *[Label.SUPPORTED] * 118]
    return sample_document(
        [
            RecordFindings(
                Response(f"r{n}", f"Question {n}?", f"Answer {n} is.", (Passage("e", "It is so."),), model="m"),
                (finding(0, 6, label, claim_id=f"r{n}#0", quotes=(Quote("e", 3, 5),)),),
            )
            for n, label in enumerate(labels)
        ]
    )


@pytest.fixture(scope="module")
def document() -> Document:
    return many()


@pytest.fixture
def server(document: Document) -> Iterator[RecordServer]:
    with served(document) as started:
        yield started


@pytest.fixture
def page(browser: Browser, server: RecordServer) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.goto(server.address)
    expect(opened.locator("#list .entry").first).to_be_visible()
    yield opened
    context.close()


def test_the_list_is_asked_for_in_pages_and_a_record_when_it_is_opened(page: Page, server: RecordServer) -> None:
    expect(page.locator("#shown")).to_have_text("120 of 120")
    assert page.locator("#list .entry").count() == 50
    expect(page.locator("#record .asked")).to_have_text("Question 0?")
    page.locator("#list .entry").nth(49).focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#list .entry").nth(50)).to_be_focused()
    expect(page.locator("#record .asked")).to_have_text("Question 50?")
    # The rest comes as soon as the end of the list is in sight.
    page.locator("#list").evaluate("(node) => node.scrollTo(0, node.scrollHeight)")
    expect(page.locator("#list .entry")).to_have_count(120)
    assert [asked["start"] for asked in server.asked] == ["0", "50", "100"]


def test_a_finding_of_a_served_record_shows_its_evidence(page: Page) -> None:
    page.locator("#record .mark").click()
    expect(page.locator("#inspector .claim")).to_have_text("Answer")
    expect(page.locator("#record .passage mark")).to_have_text("is")


def test_filters_are_sent_to_the_server(page: Page, server: RecordServer) -> None:
    page.select_option("#by-label", label="Refuted (1)")
    expect(page.locator("#shown")).to_have_text("1 of 120")
    page.select_option("#by-label", value="")
    page.fill("#search", "Question 77?")
    expect(page.locator("#record .asked")).to_have_text("Question 77?")
    assert json.loads(server.asked[1]["query"]) == {"search": "", "behind": {"label": "REFUTED"}}


def test_typing_waits_until_the_reader_pauses(page: Page, server: RecordServer) -> None:
    server.asked.clear()
    # All letters at once: on a busy machine keys of the browser's driver come with pauses of their own.
    page.locator("#search").evaluate("""(node) => { for (const letter of "question 9") {
        node.value += letter;
        node.dispatchEvent(new Event("input", { bubbles: true }));
    } }""")
    expect(page.locator("#shown")).to_have_text("11 of 120")
    assert [json.loads(asked["query"])["search"] for asked in server.asked] == ["question 9"]


def test_an_answer_that_comes_too_late_changes_nothing(page: Page, server: RecordServer) -> None:
    server.slow["Question 5?"] = 1.0
    with page.expect_request(lambda request: "Question+5" in request.url or "Question%205" in request.url):
        page.fill("#search", "Question 5?")
    page.fill("#search", "Question 7?")
    expect(page.locator("#record .asked")).to_have_text("Question 7?")
    page.wait_for_timeout(1200)
    expect(page.locator("#list .entry")).to_have_count(1)
    expect(page.locator("#record .asked")).to_have_text("Question 7?")


def test_a_label_is_still_there_after_the_page_is_loaded_again(page: Page, server: RecordServer) -> None:
    wrong = page.get_by_role("button", name="Wrong")
    expect(page.get_by_role("group", name="Is this verdict right?")).to_be_visible()
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    wrong.press("Enter")
    expect(wrong).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#labelled")).to_have_text("1 labelled")
    assert server.labels == {("r0", "r0#0"): False}
    page.reload()
    expect(wrong).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Right")).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="Undo").click()
    expect(wrong).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#labelled")).to_be_hidden()
    assert server.labels == {}


def test_a_label_that_was_not_stored_is_not_shown_as_stored(page: Page, server: RecordServer) -> None:
    server.broken.add("post")
    page.get_by_role("button", name="Right").click()
    expect(page.locator(".label-problem")).to_have_text("The label was not stored: the server answered 500.")
    expect(page.get_by_role("button", name="Right")).to_have_attribute("aria-pressed", "false")


def test_what_could_not_be_read_is_told_in_a_line_and_can_be_tried_again(page: Page, server: RecordServer) -> None:
    server.broken.add("records")
    page.fill("#search", "Question 3?")
    expect(page.locator("#list .problem")).to_contain_text("The list could not be read: the server answered 500.")
    server.broken.clear()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#record .asked")).to_have_text("Question 3?")
    server.broken.add("records/8")
    page.fill("#search", "Question 8?")
    expect(page.locator("#record .problem")).to_contain_text("This record could not be read: the server answered 500.")


def test_a_server_that_is_gone_is_told(page: Page, server: RecordServer) -> None:
    page.route("**/records?*", lambda route: route.abort())
    page.fill("#search", "anything")
    expect(page.locator("#list .problem")).to_contain_text("The list could not be read: the server cannot be reached.")


def test_facets_that_cannot_be_read_are_told(browser: Browser, server: RecordServer) -> None:
    server.broken.add("facets")
    page = browser.new_page()
    page.goto(server.address)
    expect(page.locator(".problem")).to_have_text("The records could not be read: the server answered 500.")
    page.close()
