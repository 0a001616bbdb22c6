"""Marks are exact to the code point in any script, and no character can hide, reorder or slow down what is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import Visit, needs_browser, written
from hallumeter.records.claim import Label
from hallumeter.records.response import Passage, Quote, Response
from hallumeter.report.document import RecordFindings
from report_samples import finding, sample_document

pytestmark = [needs_browser, pytest.mark.long]
TEXTS = {
    "hebrew": "בירת צרפת היא ליון 🇫🇷, ולא \u202eevil\u202c פריז (1875).",
    "arabic": "القاهرة عاصمةُ مصر \u2067abc\u2069 منذ ٩٦٩ م.",
    "persian": "می\u200cخواهم به تهران بروم، نه به شیراز.",
    "devanagari": "नमस्ते दुनिया क्\u200dष त्रिज्ञ और कुछ।",
    "emoji": "👨\u200d👩\u200d👧\u200d👦 and 👩🏽\u200d🚀 see 🇰🇷 ok, 🏴"
    "\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "combining": "e\u0301te\u0301 Z\u0337\u0358a\u0334l\u0336 o\u0308 vs ö and é",
    "korean": "한강의 길이는 494 km이며 \u1112\u1161\u11ab글 자모",
    "astral": "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠀋𠮷 and plain BMP text",
    "unseen": "a\u200bb\u200dc\ufeffd\u00ade \x00\x1b[31m\u2028end of it",
}
SPANS = ((1, 9), (6, 14), (10, 12))


@pytest.fixture(scope="module")
def visit(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    labels = (Label.REFUTED, Label.NOT_ENOUGH_INFO, Label.REFUTED)
    found = [
        RecordFindings(
            Response(name, text, text, evidence=(Passage("e", text),)),
            tuple(
                finding(*span, label, claim_id=f"c{place}", quotes=(Quote("e", *span),))
                for place, (span, label) in enumerate(zip(SPANS, labels, strict=True))
            ),
        )
        for name, text in TEXTS.items()
    ]
    opened = Visit(browser, written(sample_document(found), tmp_path_factory.mktemp("exact")))
    yield opened
    assert opened.complaints == []
    opened.context.close()


def marked(page: Page, place: int) -> str:
    """All pieces of the response that show a finding, put together."""
    pieces = page.locator(f"#record .response [data-findings~='{place}']")
    return str(pieces.evaluate_all("(nodes) => nodes.map((node) => node.textContent).join('')"))


@pytest.mark.parametrize("name", TEXTS)
def test_marks_are_exact_to_the_code_point(visit: Visit, name: str) -> None:
    text, page = TEXTS[name], visit.page
    page.locator(f".entry[data-position='{list(TEXTS).index(name)}']").click()
    assert page.locator("#record .response").evaluate("(node) => node.textContent") == text
    for place, (start, end) in enumerate(SPANS):
        assert marked(page, place) == text[start:end]
        # From one finding to the next by the buttons of the finding.
        expect(page.locator("#inspector h3 bdi")).to_have_text(f"c{place}")
        assert page.locator("#inspector .claim").evaluate("(node) => node.textContent") == text[start:end]
        assert page.locator("#record .passage mark").evaluate("(node) => node.textContent") == text[start:end]
        page.get_by_role("button", name="Next finding").click()


def signs(page: Page, name: str) -> list[str]:
    page.locator(f".entry[data-position='{list(TEXTS).index(name)}']").click()
    nodes = page.locator("#record .asked .unseen")
    return [str(node.get_attribute("data-sign")) for node in nodes.all()]


def test_characters_that_cannot_be_seen_have_a_sign(visit: Visit) -> None:
    assert signs(visit.page, "unseen") == ["ZWSP", "ZWJ", "BOM", "SHY", "^@", "^[", "LS"]
    assert signs(visit.page, "hebrew") == ["RLO", "PDF"]


def test_joiners_that_do_their_work_are_left_alone(visit: Visit) -> None:
    for name in ("persian", "devanagari", "emoji", "combining", "korean", "astral"):
        assert signs(visit.page, name) == [], name


def test_an_override_reorders_nothing(visit: Visit) -> None:
    visit.page.locator(f".entry[data-position='{list(TEXTS).index('hebrew')}']").click()
    places = visit.page.locator("#record .asked").evaluate(
        """(node) => {
            const text = [...node.childNodes].find((child) => child.nodeType === 3 && child.data.includes("evil"));
            const at = text.data.indexOf("evil");
            return [0, 1, 2, 3].map((step) => {
                const range = document.createRange();
                range.setStart(text, at + step);
                range.setEnd(text, at + step + 1);
                return range.getBoundingClientRect().left;
            });
        }"""
    )
    assert places == sorted(places)


@pytest.fixture(scope="module")
def long(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    text = "𝔸" + "x" * 1_048_576
    spans = ((0, 5), (900_000, 900_010), (1_048_500, 1_048_577))
    found = tuple(finding(*span, claim_id=f"c{place}") for place, span in enumerate(spans))
    document = sample_document([RecordFindings(Response("long", text, text, reference=text), found)])
    opened = Visit(browser, written(document, tmp_path_factory.mktemp("long")))
    yield opened
    assert opened.complaints == []
    opened.context.close()


def test_a_line_of_a_megabyte_is_shown_in_part_and_every_finding_in_it_is_reached(long: Visit) -> None:
    page = long.page
    response = page.locator("#record .response")
    assert len(response.evaluate("(node) => node.textContent")) < 25_000
    page.get_by_role("button", name="Next finding").click()
    assert marked(page, 1) == "x" * 10
    expect(page.locator("#record .mark.chosen")).to_be_in_viewport()
    page.get_by_role("button", name="Next finding").click()
    assert marked(page, 2) == "x" * 77
    page.get_by_role("button", name="more characters").first.click()
    assert len(response.evaluate("(node) => node.textContent")) == 1_048_577
    assert marked(page, 1) == "x" * 10


def test_a_question_of_a_megabyte_is_shown_whole_on_demand(long: Visit) -> None:
    asked = long.page.locator("#record .asked")
    assert len(asked.evaluate("(node) => node.textContent")) < 6_000
    asked.get_by_role("button", name="Show all 1,048,577 characters").click()
    assert len(asked.evaluate("(node) => node.textContent")) == 1_048_577


def test_a_slash_goes_to_the_search_and_is_a_letter_inside_it(visit: Visit) -> None:
    page = visit.page
    page.locator("#list .entry").first.focus()
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.press("/")
    expect(page.locator("#search")).to_have_value("/")
    page.fill("#search", "")


def test_escape_closes_the_finding_on_a_phone_and_a_mark_opens_it_again(browser: Browser, tmp_path: Path) -> None:
    visit = Visit(browser, written(sample_document(), tmp_path), width=390)
    page = visit.page
    mark = page.locator("#record .response .mark[tabindex='0']").first
    mark.press("Enter")
    expect(page.locator("#inspector")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#inspector")).to_be_hidden()
    expect(mark).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#inspector")).to_be_hidden()
    assert visit.complaints == []
    visit.context.close()


def test_arrow_keys_go_on_from_page_to_page_of_the_list(browser: Browser, tmp_path: Path) -> None:
    visit = Visit(browser, written(sample_document(), tmp_path))
    page = visit.page
    assert page.locator("#list .entry").count() == 50
    page.locator("#list .entry").nth(49).focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#list .entry").nth(50)).to_be_focused()
    assert page.locator("#list .entry").nth(50).get_attribute("aria-current") == "true"
    assert page.locator("#list .entry").count() == 69
    page.keyboard.press("ArrowUp")
    expect(page.locator("#list .entry").nth(49)).to_be_focused()
    visit.context.close()
