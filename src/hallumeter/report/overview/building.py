"""The overview of a run, from its summary alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.report.aspects.building import ASPECTS
from hallumeter.report.dialogue.building import DIALOGUE
from hallumeter.report.verdicts.baselines import headline_facts

from . import aspects, claims, dialogues, pages
from .facts import Rows
from .sections import Figure, OverviewSection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hallumeter.records import Summary
    from hallumeter.records.decisions.baselines import JudgeChecks
    from hallumeter.report.document import MetricText

    from .sections import Fact

TRANSCRIPTS = "transcripts"
_FACTS: dict[str, Callable[[Summary, str | None, float], Iterator[Fact]]] = {
    TRANSCRIPTS: pages.page_facts,
    DIALOGUE: dialogues.dialogue_facts,
    ASPECTS: aspects.aspect_facts,
}
_FIGURES = {TRANSCRIPTS: pages.FIGURES, DIALOGUE: dialogues.FIGURES, ASPECTS: aspects.FIGURES}


def overview_section(
    summary: Summary,
    headline: str | None,
    *,
    texts: Mapping[str, MetricText],
    confidence: float,
    checks: JudgeChecks | None = None,
) -> OverviewSection:
    """What is told first: a few sentences, and the headline rates that have a value."""
    tell = _FACTS.get(summary.instrument, claims.claim_facts)
    rows = Rows(summary, headline)
    figures = []
    for metric in _FIGURES.get(summary.instrument, claims.FIGURES):
        row, text = rows.whole(metric), texts.get(metric)
        if row is not None and row.value is not None:
            named = (text.alias, text.name, text.question) if text else (metric, "", "")
            figures.append(Figure(*named, row))
    facts = [*tell(summary, headline, confidence)]
    if checks is not None and checks.baselines is not None:
        told = [*headline_facts(checks.baselines, headline)]
        facts = [each for each in facts if not told or each.message != claims.ONE_JUDGE] + told
    return OverviewSection(tuple(facts), tuple(figures))


def overview_sections(
    summary: Summary,
    headline: str | None,
    *,
    texts: Mapping[str, MetricText],
    confidence: float,
    checks: JudgeChecks | None = None,
) -> list[OverviewSection]:
    """The overview, where there is anything to tell."""
    section = overview_section(summary, headline, texts=texts, confidence=confidence, checks=checks)
    return [section] if section.facts or section.figures or summary.profile else []
