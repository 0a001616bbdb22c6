"""Dialogues in a report: what is said of modes, how it is drawn, and what a terminal shows."""

from __future__ import annotations

import msgspec
import pytest
from dialogue_samples import dialogue_document, dialogue_summary, difference

from hallumeter.records import Counts, Summary
from hallumeter.report import (
    DifferenceSection,
    RecordSection,
    ScoreSection,
    charts_of,
    dialogue_text,
    render_html,
)
from hallumeter.report.dialogue.wording import fairness_words, result_words


def test_a_document_shows_differences_and_scores_before_groups_and_answers() -> None:
    tags = [str(section.__struct_config__.tag) for section in dialogue_document().sections]
    assert tags == [
        "metrics", "differences", "scores", "breakdown", "breakdown", "reasons", "records", "integrity",
    ]  # fmt: skip


def test_a_single_mode_has_no_section_of_differences() -> None:
    summary = dialogue_summary()
    assert summary.dialogue is not None
    alone = msgspec.structs.replace(summary, dialogue=msgspec.structs.replace(summary.dialogue, differences=()))
    assert not any(isinstance(section, DifferenceSection) for section in dialogue_document(alone).sections)


def test_a_summary_without_scores_is_shown_without_charts() -> None:
    bare = Summary(1, "dialogue", Counts(), ())
    document = dialogue_document(bare)
    assert not any(isinstance(section, DifferenceSection | ScoreSection) for section in document.sections)
    assert charts_of(document) == ()


def test_answers_with_inventions_come_first_then_those_with_unused_facts() -> None:
    (section,) = (each for each in dialogue_document().sections if isinstance(each, RecordSection))
    assert [view.record_id for view in section.records] == ["wrong", "unused", "right"]


def test_there_is_a_chart_of_differences_of_modes_of_the_trend_and_of_the_spread() -> None:
    charts = charts_of(dialogue_document())
    assert [(chart.kind, chart.title) for chart in charts] == [
        ("differences", "agent minus llm"),
        ("modes", "Modes side by side"),
        ("trend", "SFS from turn to turn"),
        ("spread", "SFS of single answers"),
    ]


def values(kind: str) -> list[dict[str, object]]:
    chart = next(chart for chart in charts_of(dialogue_document()) if chart.kind == kind)
    data = chart.spec["data"]
    assert isinstance(data, dict)
    return data["values"]  # type: ignore[return-value]


def test_differences_without_pairs_are_not_drawn() -> None:
    assert [(value["name"], value["value"]) for value in values("differences")] == [("SFS ↑", 0.2), ("CSP ↓", -0.1)]


def test_turns_are_drawn_in_the_order_of_their_numbers() -> None:
    assert [value["turn"] for value in values("trend") if value["mode"] == "agent"] == ["2", "9", "10"]


def test_bars_are_shares_of_the_answers_that_have_a_value() -> None:
    bars = [value["share"] for value in values("spread") if value["mode"] == "llm"]
    assert bars == [0.2, 0.0, 0.0, 0.8]
    chart = next(chart for chart in charts_of(dialogue_document()) if chart.kind == "spread")
    assert "Without a value, not drawn: agent 2." in chart.caption


def test_the_page_tells_modes_their_differences_and_how_to_read_them() -> None:
    page = render_html(dialogue_document(dialogue_summary(is_fair=False)))
    for words in (
        "Not fair: llm and agent",
        "patient p1: only llm was asked",
        "And 6 more differences",
        "agent is better",
    ):
        assert words in page
    assert "All answers together" in page
    assert "Slot factuality: of what an answer says about the patient" in page


def test_names_of_modes_stay_text() -> None:
    page = render_html(dialogue_document(dialogue_summary(modes=("<script>alert(1)</script>", "agent"))))
    assert "<script>alert(1)" not in page


@pytest.mark.parametrize(
    ("metric", "value", "p_value", "expected"),
    [
        ("sfs", 0.2, 0.01, "agent is better"),
        ("sfs", -0.2, 0.01, "agent is worse"),
        ("csp", -0.2, 0.01, "agent is better"),
        ("csp", 0.2, 0.01, "agent is worse"),
        ("sfs", 0.2, 0.05, "not shown to differ"),
        ("sfs", None, 0.01, "no pairs"),
    ],
)
def test_a_result_is_called_better_only_where_it_is_shown(
    metric: str, value: float | None, p_value: float, expected: str
) -> None:
    assert result_words(difference(metric, value, p_value=p_value)) == expected


def test_a_metric_without_a_better_side_has_more_or_less() -> None:
    row = msgspec.structs.replace(difference("sfs", 0.2), direction="none")
    assert result_words(row) == "agent has more"


def test_fairness_is_told_for_any_number_of_modes() -> None:
    found = dialogue_summary(modes=("a", "b", "c")).dialogue
    assert found is not None
    assert found.fairness is not None
    assert fairness_words(found.fairness).startswith(
        "Fair: a, b, c were asked the same questions (4 patients, 20 turns)"
    )


def test_a_terminal_shows_what_has_no_value_and_why() -> None:
    printed = dialogue_text(dialogue_summary(), "table")
    assert "undefined: MCS: nothing to count" in printed
    assert "20 answers · 2 modes · 1 failure" in printed


def test_markdown_has_the_differences_as_a_table() -> None:
    lines = dialogue_text(dialogue_summary(is_fair=False), "markdown").splitlines()
    assert any(line.startswith("| agent minus llm | SFS | 0.500 | 0.700 | +0.200 |") for line in lines)
    assert "- patient p1: only llm was asked" in lines


def test_other_forms_are_those_of_every_summary() -> None:
    assert dialogue_text(dialogue_summary(), "csv").startswith("mode,turn_id,metric,")
    assert '"instrument": "dialogue"' in dialogue_text(dialogue_summary(), "json")
