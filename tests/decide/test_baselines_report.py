"""A report of a labelled run says when its judge is not distinguishable from length, in every language."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browsing import Visit, needs_browser
from compared_runs import run_of
from hallumeter.report.document import OverviewSection, document_json
from hallumeter.report.overview import tell_fact
from hallumeter.report.page.render import write_html
from hallumeter.run.finished import Run
from made_runs import MadeClaim, by_length, labelled_run, made_claims, rows_of, truth

SENTENCE = "is not distinguishable from answer length"


def mostly_right(claim: MadeClaim) -> float:
    is_right = sum(map(ord, claim.record)) % 29 > 0
    spread = (len(claim.text) * 37 % 101) / 500
    return (0.7 if claim.is_unsupported == is_right else 0.1) + spread


def told(run: Run) -> list[str]:
    [overview] = [section for section in run.document().sections if isinstance(section, OverviewSection)]
    return [tell_fact(fact) for fact in overview.facts]


def test_the_overview_says_what_the_judge_is_not_distinguishable_from(tmp_path: Path) -> None:
    facts = told(labelled_run(tmp_path / "run", made_claims(80), by_length))
    assert any(f"On 80 labelled answers, j {SENTENCE}: AUROC 0." in fact for fact in facts)


def test_the_overview_says_when_a_judge_beats_every_baseline(tmp_path: Path) -> None:
    claims = made_claims(300)
    facts = told(labelled_run(tmp_path / "run", claims, mostly_right))
    assert any("j is better than every null baseline that was tried" in fact for fact in facts)
    assert not any("not distinguishable" in fact for fact in facts)


def test_a_run_without_labels_says_that_nobody_checked(tmp_path: Path) -> None:
    facts = told(run_of(tmp_path / "run", rows_of(made_claims(20), "j", by_length)))
    assert any("nobody has checked it on this data" in fact for fact in facts)
    assert not any("labelled" in fact for fact in facts)


def test_decisions_that_are_worth_less_than_flagging_everything_are_told(tmp_path: Path) -> None:
    run = labelled_run(tmp_path / "run", made_claims(80), lambda claim: 0.4 * by_length(claim))
    assert any("flagging everything has" in fact for fact in told(run))


def test_several_judges_have_a_table_each(tmp_path: Path) -> None:
    claims = made_claims(40)
    rows = [*rows_of(claims, "a", mostly_right), *rows_of(claims, "b", by_length), *rows_of(claims, "human", truth)]
    page = tmp_path / "page.html"
    run_of(tmp_path / "run", rows).to_html(page)
    text = page.read_text(encoding="utf-8")
    assert text.count('<details class="data baselines"') == 3
    assert text.count("Not tried with the evidence of other answers") == 3


def test_the_document_holds_the_baselines(tmp_path: Path) -> None:
    run = labelled_run(tmp_path / "run", made_claims(30), by_length)
    assert '"baseline":"shuffled_overlap"' in document_json(run.document()).replace('": "', '":"')


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_shows_the_sentence_and_the_table(tmp_path: Path, browser: Browser, width: int) -> None:
    run = labelled_run(tmp_path / "run", made_claims(80), by_length)
    run.to_html(tmp_path / "page.html")
    visit = Visit(browser, tmp_path / "page.html", width=width)
    assert visit.page.get_by_text(SENTENCE).first.is_visible()
    visit.page.locator(".baselines p.baseline", has_text=SENTENCE).wait_for()
    table = visit.page.locator(".baselines table").last
    assert "answer length (longer is more suspicious)" in table.inner_text()
    assert visit.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert visit.complaints == []


@needs_browser
@pytest.mark.parametrize(("language", "words"), [("fr", "ne se distingue pas de ceci"), ("ko", "구별되지 않습니다")])
def test_other_languages_say_it_too(tmp_path: Path, browser: Browser, language: str, words: str) -> None:
    run = labelled_run(tmp_path / "run", made_claims(80), by_length)
    write_html(run.document(), tmp_path / "page.html", language=language)
    visit = Visit(browser, tmp_path / "page.html")
    section = visit.page.locator("section:has(.baselines)").inner_text()
    assert words in section
    assert "baseline" not in section.replace("hallumeter baselines", "").lower()
    assert visit.complaints == []
