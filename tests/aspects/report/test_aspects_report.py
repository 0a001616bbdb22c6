"""Aspects in a report: what is told first, who erred, and what the parts of a whole are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import msgspec
import pytest
from aspect_samples import ROW, erring_run
from playwright.sync_api import Browser, expect

from browsing import Visit, needs_browser
from hallumeter.aspects.commands import aspects
from hallumeter.aspects.report.families import DRAWN, EXECUTIVE, SECTIONS, THEMES, theme_of
from hallumeter.aspects.report.text import brief_table
from hallumeter.records.manifest import Manifest
from hallumeter.records.measurement import Counts, Summary
from hallumeter.records.summaries import Breakdown
from hallumeter.report.build import build_document
from hallumeter.report.catalog import metric_texts
from hallumeter.report.charts import charts_of
from hallumeter.report.document import Document, MetricSection
from hallumeter.report.page.render import render_html
from hallumeter.report.sections import PartSection
from hallumeter.run.finished import Run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    yield from erring_run(tmp_path_factory.mktemp("aspects"))


def document_of(run: Run) -> Document:
    return build_document(summary=run.summary, manifest=run.manifest, metric_texts=metric_texts())


def test_sections_follow_the_themes_in_their_order(run: Run) -> None:
    themes = [theme_of(section) for section in document_of(run).sections]
    told = [theme for theme, _ in groupby(theme for theme in themes if theme is not None)]
    assert told == [theme for theme in THEMES if theme in told]
    assert told[:2] == ["Structural quality", "Effectiveness"]
    titles = [section.title for section in document_of(run).sections if isinstance(section, MetricSection)]
    assert titles[0] == EXECUTIVE
    assert set(titles[1:]) <= set(SECTIONS)


def test_the_step_that_invented_is_blamed_and_the_one_that_mended_is_named(run: Run) -> None:
    rows = {(row.by["step"], row.metric): row for row in run.summary.metrics if row.by.get("error") == "ungrounded"}
    introduced, repaired = rows["ate", "step_introduction_rate"], rows["ate_review", "step_repair_rate"]
    assert (introduced.count, introduced.total) == (4, 4)  # two aspects under two seeds
    assert (repaired.count, repaired.total) == (4, 4)


def test_only_the_summary_and_what_is_against_gold_are_drawn_of_the_families(run: Run) -> None:
    document = document_of(run)
    drawn = {chart.section for chart in charts_of(document)}
    for place, section in enumerate(document.sections):
        if isinstance(section, MetricSection) and section.title not in DRAWN:
            assert place not in drawn


def test_parts_of_sentences_are_shown_with_an_interval(run: Run) -> None:
    assert run.summary.aspects is not None
    rule = Breakdown("moderator_rule", 10, {"M": 1}, intervals={"M": (0.0179, 0.4042)})
    drops = Breakdown("drop_class", 4, {"H1": 1})
    parts = msgspec.structs.replace(run.summary.aspects, breakdowns=(rule, drops))
    summary = msgspec.structs.replace(run.summary, aspects=parts)
    page = render_html(build_document(summary=summary, manifest=run.manifest, metric_texts=metric_texts()))
    rules = page.partition("Which rules decided</caption>")[2].partition("</table>")[0]
    assert '<th scope="col" class="figure">95 % interval</th>' in rules
    assert 'data-low="0.0179" data-high="0.4042">0.018 – 0.404</td>' in rules
    others = page.partition("Parts in counts</caption>")[2].partition("</table>")[0]
    assert '<td class="figure nowrap">–</td>' in others


def test_a_summary_without_aspects_has_no_parts() -> None:
    bare = Summary(1, "aspects", Counts(), ())
    document = build_document(
        summary=bare,
        manifest=Manifest(version=1, hallumeter="0", instrument="aspects", inputs=()),
        metric_texts=metric_texts(),
    )
    assert not any(isinstance(section, PartSection | MetricSection) for section in document.sections)


def test_a_first_look_tells_drops_and_steps(run: Run) -> None:
    told = brief_table(run.summary)
    assert "aspect_hallucination_rate_H1 ↓   1.000" in told
    assert "Errors against gold, by step" in told
    assert "ate_review" in told


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_click_on_a_misplaced_aspect_shows_where_it_stands(
    browser: Browser, run: Run, width: int, scheme: str
) -> None:
    visit = Visit(browser, run.path / "report.html", width=width, scheme=scheme)
    visit.page.locator(".entry").first.click()
    expect(visit.page.locator("#record")).to_contain_text("The battery is great")
    expect(visit.page.locator("#record")).to_contain_text("keyboard")
    expect(visit.page.get_by_role("heading", name="Who made which error")).to_be_visible()
    closed = visit.page.locator("section", has=visit.page.get_by_role("heading", name="Grounding"))
    closed.locator("summary").click()
    expect(closed.get_by_role("rowheader", name="Spans that hold their term")).to_be_visible()
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.complaints == []
    visit.context.close()


def test_a_failure_belongs_to_the_sentence_and_the_seed_in_which_it_happened(tmp_path: Path) -> None:
    run = aspects([ROW], settings={"agents": {"atsa": "python:math:floor"}, "seeds": [0, 7]}, out=tmp_path / "run")
    assert [failure.record_id for failure in run.failures] == ["r1", "r1@7"]
    names = [msgspec.json.decode(line)["record_id"] for line in (run.path / "records.jsonl").read_bytes().splitlines()]
    assert names == ["r1", "r1@7"]
