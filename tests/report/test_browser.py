"""The page in a real browser: charts are drawn, findings open, filters filter, and nothing leaves the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from test_untrusted_text import HOSTILE, hostile_document

from audit_samples import NOTE, audit_document
from browsing import Visit, needs_browser, written
from hallumeter.records.response import Passage, Response
from hallumeter.report.document import RecordFindings
from report_samples import finding, sample_document

pytestmark = needs_browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(sample_document(), tmp_path_factory.mktemp("report"))


@pytest.fixture
def page(browser: Browser, report: Path) -> Iterator[Page]:
    visit = Visit(browser, report)
    yield visit.page
    assert visit.complaints == []
    visit.context.close()


def entries(page: Page) -> int:
    return page.locator("#list .entry").count()


def test_charts_are_drawn_under_a_policy_without_eval_or_inline_styles(page: Page) -> None:
    expect(page.locator("html[data-charts=drawn]")).to_be_attached()
    assert page.locator("[data-chart] svg").count() == 8
    assert page.locator("[data-chart=rates-0] .mark-symbol path").count() == 3


def test_a_script_that_is_not_one_of_the_page_does_not_run(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report)
    inject = "node.textContent = 'window.stolen = 1'; document.body.append(node); return window.stolen === undefined"
    assert visit.page.evaluate(f"() => {{ const node = document.createElement('script'); {inject} }}")
    assert len(visit.complaints) == 1
    assert "Content Security Policy" in visit.complaints[0]
    visit.context.close()


def test_a_chart_tells_its_numbers_under_the_pointer(page: Page) -> None:
    expect(page.locator("html[data-charts=drawn]")).to_be_attached()
    page.locator("[data-chart=rates-0] .mark-symbol path").first.hover()
    expect(page.locator("#vg-tooltip-element.visible")).to_contain_text("47 / 481")


def test_a_click_on_a_finding_shows_its_verdicts_and_its_evidence(page: Page) -> None:
    page.fill("#search", "ko-1")
    page.locator("#record .mark.supported").click()
    expect(page.locator("#inspector .claim")).to_have_text("한강의 길이는 약 494 km")
    page.locator("#record .mark.refuted").click()
    expect(page.locator("#inspector .claim")).to_have_text("동해로 흐릅니다")
    expect(page.locator("#inspector .tag")).to_have_text("Refuted")
    expect(page.locator("#inspector .note")).to_have_text("동해가 아니라 황해")
    expect(page.locator("#inspector blockquote mark")).to_have_text("황해로")
    expect(page.locator("#record .passage mark")).to_have_text("황해로")
    assert page.locator("#record .response").get_attribute("lang") == "ko"


def test_the_keyboard_reaches_every_finding_and_opens_it(page: Page) -> None:
    page.fill("#search", "fr-1")
    marks = page.locator("#record .response .mark[tabindex='0']")
    assert marks.count() == 3
    marks.nth(1).focus()
    page.keyboard.press("Enter")
    # The second mark stands where two findings overlap: both are shown.
    assert page.locator("#inspector .claim").all_inner_texts() == [
        "L’opéra a ouvert en 1869",
        "1869, sous Napoléon III",
    ]
    marks.nth(2).focus()
    page.keyboard.press("Space")
    expect(page.locator("#inspector")).to_contain_text("the judge failed")


def test_a_finding_without_a_place_is_listed_below_the_text(page: Page) -> None:
    page.fill("#search", "fr-1")
    page.get_by_role("button", name="Garnier était né à Paris.").click()
    expect(page.locator("#inspector .tag")).to_have_text("Not enough info")
    expect(page.locator("#record .broken")).to_contain_text("no reply in 60 s")


def test_pieces_of_overlapping_findings_read_as_the_response(page: Page) -> None:
    page.fill("#search", "fr-1")
    text = page.locator("#record .response").evaluate("node => node.textContent")
    assert text == "L’opéra a ouvert en 1869, sous Napoléon III ; l’architecte était « Garnier »."


def test_right_to_left_text_runs_from_right_to_left(page: Page) -> None:
    page.fill("#search", "he-1")
    response = page.locator("#record .response")
    assert response.evaluate("node => getComputedStyle(node).direction") == "rtl"
    expect(page.locator("#inspector blockquote mark")).to_have_text("פריז")


def test_filters_shorten_the_list_and_together_they_shorten_it_more(page: Page) -> None:
    expect(page.locator("#shown")).to_have_text("69 of 69 shown here")
    page.select_option("#by-label", label="Refuted (7)")
    assert entries(page) == 7
    page.select_option("#by-model", label="modèle-b")
    assert entries(page) == 2
    expect(page.locator("#shown")).to_have_text("2 of 69 shown here")


def test_search_reads_questions_responses_claims_and_evidence_in_any_script(page: Page) -> None:
    for words, found in (("NAPOLÉON", "fr-1"), ("황해로", "ko-1"), ("פריז", "he-1"), ("Garnier né", "fr-1")):
        page.fill("#search", words)
        assert entries(page) == 1
        expect(page.locator("#list .who bdi")).to_contain_text(found)
    page.fill("#search", "no such words")
    expect(page.locator("#list")).to_have_text("No answer matches.")


def test_the_worst_come_first_and_the_order_can_be_changed(page: Page) -> None:
    told = [tuple(map(int, text.split("/"))) for text in page.locator("#list .share").all_text_contents()]
    assert told == sorted(told, key=lambda pair: (-pair[0], -pair[0] / pair[1]))
    page.select_option("#order", "name")
    page.locator("#list").evaluate("(node) => node.scrollTo(0, node.scrollHeight)")
    expect(page.locator("#list .who bdi").last).to_contain_text("ko-1")
    page.select_option("#order", "unmeasured")
    expect(page.locator("#list .who bdi").first).to_contain_text("fr-1")


def test_arrow_keys_walk_through_the_list(page: Page) -> None:
    page.locator("#list .entry").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("#list .entry").nth(1).get_attribute("aria-current") == "true"
    assert page.locator("#list .entry[aria-current=true]").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_the_page_does_not_scroll_sideways(browser: Browser, report: Path, scheme: str) -> None:
    visit = Visit(browser, report, width=390, scheme=scheme)
    expect(visit.page.locator("html[data-charts=drawn]")).to_be_attached()
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 390
    assert visit.complaints == []
    visit.context.close()


def test_charts_follow_the_colours_of_the_scheme(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report)
    bars = visit.page.locator("[data-chart=labels-5] .mark-rect path")
    expect(bars.first).to_have_attribute("fill", "#2474b5")
    visit.page.emulate_media(color_scheme="dark")
    expect(bars.first).to_have_attribute("fill", "#5fa8e6")
    assert visit.complaints == []
    visit.context.close()


def test_hostile_responses_are_read_as_they_were_written(browser: Browser, tmp_path: Path) -> None:
    records = [
        RecordFindings(Response(name, response=text, evidence=(Passage("e", text),)), (finding(0, len(text)),))
        for name, text in HOSTILE.items()
    ]
    visit = Visit(browser, written(sample_document(records), tmp_path))
    for position, text in enumerate(HOSTILE.values()):
        visit.page.locator(f".entry[data-position='{position}']").click()
        visit.page.locator("#record .mark").first.click()
        for place in ("#record .response", "#record .passage .words", "#inspector .claim"):
            assert visit.page.locator(place).evaluate("node => node.textContent") == text
    assert visit.page.evaluate("window.stolen === undefined")
    assert visit.complaints == []
    visit.context.close()


def test_hostile_names_of_everything_else_stay_names(browser: Browser, tmp_path: Path) -> None:
    visit = Visit(browser, written(hostile_document(" ".join(HOSTILE.values())), tmp_path))
    expect(visit.page.locator("html[data-charts=drawn]")).to_be_attached()
    visit.page.locator("#record .mark").first.click()
    assert visit.page.locator("[data-chart] svg").count() == 5
    assert visit.page.evaluate("window.stolen === undefined")
    assert visit.complaints == []
    visit.context.close()


@pytest.fixture(scope="module")
def audit_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(audit_document(), tmp_path_factory.mktemp("audit"))


@pytest.fixture
def audit(browser: Browser, audit_report: Path) -> Iterator[Page]:
    visit = Visit(browser, audit_report)
    # A chart that is drawn later moves what stands below it.
    expect(visit.page.locator("html[data-charts=drawn]")).to_be_attached()
    yield visit.page
    assert visit.complaints == []
    visit.context.close()


def test_the_part_that_a_judge_pointed_to_is_marked_inside_its_claim(audit: Page) -> None:
    marks = audit.locator("#record .response .mark.refuted")
    assert [mark.inner_text() for mark in marks.all()][:4] == [
        *("Acme had revenue of ", "999 million", " dollars", " in 2021."),
    ]
    assert [" pinpointed" in (mark.get_attribute("class") or "") for mark in marks.all()][:4] == [
        *(False, True, True, False),
    ]


def test_the_pointer_tells_every_judges_verdict_before_a_click(audit: Page) -> None:
    title = audit.locator("#record .mark.pinpointed").first.get_attribute("title") or ""
    assert title.splitlines() == [
        f"rules: Refuted, money_mismatch, {NOTE}",
        "openai:small: Refuted, number_mismatch",
        "anthropic:large: Supported",
    ]


def test_a_click_shows_every_judge_with_reason_note_and_what_it_pointed_to(audit: Page) -> None:
    audit.locator("#record .mark.pinpointed").first.click()
    verdicts = audit.locator("#inspector .verdict")
    assert verdicts.count() == 3
    first = verdicts.first
    expect(first.locator("code")).to_have_text("money_mismatch")
    expect(first).to_contain_text("the response and the evidence give different amounts of money")
    expect(first.locator(".note")).to_have_text(NOTE)
    expect(first.locator(".pointed")).to_have_text("999 million dollars")
    expect(first.locator("blockquote mark")).to_have_text("1.2 billion dollars")
    expect(verdicts.nth(1)).to_contain_text("0.0002")


def test_the_two_places_of_a_mismatch_lead_to_each_other(audit: Page) -> None:
    # Two hundred sentences stand between the response and what the evidence says.
    place = audit.locator("#record .mark.pinpointed", has_text="Lyon")
    place.click()
    quoted = audit.locator("#record .passage mark")
    expect(quoted).to_have_text("Seoul")
    expect(quoted).to_be_in_viewport()
    expect(place).not_to_be_in_viewport()
    quoted.press("Enter")
    expect(place).to_be_in_viewport()
    # A click by the browser's driver scrolls by itself, which may come after the page's own scrolling.
    audit.locator("#inspector blockquote mark").dispatch_event("click")
    expect(quoted).to_be_in_viewport()
    audit.locator("#inspector .pointed").first.dispatch_event("click")
    expect(place).to_be_in_viewport()


def test_a_judge_that_failed_on_a_claim_is_named_beside_those_that_did_not(audit: Page) -> None:
    audit.locator("#record .mark.undecided").first.click()
    verdicts = audit.locator("#inspector .verdict")
    assert [" ".join(text.split()) for text in verdicts.locator("p:first-child").all_inner_texts()] == [
        "Undecided rules",
        "Failed openai:small",
        "Failed anthropic:large",
    ]
    expect(verdicts.nth(1)).to_contain_text("timeout: no reply in 60 s (5 attempts)")
    expect(verdicts.nth(2)).to_contain_text("found <b>prose</b>")


def test_choosing_a_response_does_not_move_the_page(audit: Page) -> None:
    audit.locator("#browser").evaluate("node => node.scrollIntoView({ block: 'start', behavior: 'instant' })")
    before = audit.evaluate("scrollY")
    audit.locator("#list .entry").first.click()
    expect(audit.locator("#record .passage mark").first).to_be_attached()
    assert audit.evaluate("scrollY") == before


ABOVE_THE_FINDING = """() => {
    const mark = document.querySelector("#record .passage mark").getBoundingClientRect();
    return mark.top >= 0 && mark.bottom <= document.getElementById("inspector").getBoundingClientRect().top;
}"""


@pytest.mark.parametrize("height", [900, 360])
def test_an_audit_fits_a_phone_and_its_evidence_is_in_sight_above_the_finding(
    browser: Browser, audit_report: Path, height: int
) -> None:
    visit = Visit(browser, audit_report, width=390)
    visit.page.set_viewport_size({"width": 390, "height": height})
    # A chart that is drawn later moves what stands below it.
    expect(visit.page.locator("html[data-charts=drawn]")).to_be_attached()
    visit.page.locator("#record .mark.pinpointed", has_text="Lyon").click()
    visit.page.wait_for_function(ABOVE_THE_FINDING)
    expect(visit.page.locator("#inspector")).to_be_in_viewport()
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 390
    assert visit.complaints == []
    visit.context.close()


def test_evidence_comes_into_sight_although_another_scroll_ends_the_one_that_leads_to_it(
    browser: Browser, audit_report: Path
) -> None:
    visit = Visit(browser, audit_report, width=390)
    expect(visit.page.locator("html[data-charts=drawn]")).to_be_attached()
    visit.page.evaluate("addEventListener('scroll', () => scrollBy({ top: -1, behavior: 'instant' }), { once: true })")
    visit.page.locator("#record .mark.pinpointed", has_text="Lyon").dispatch_event("click")
    visit.page.wait_for_function(ABOVE_THE_FINDING)
    assert visit.complaints == []
    visit.context.close()
