"""Dialogues in a report: what is said of modes, how it is drawn, and what a terminal shows."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dialogue_samples import answered, dialogue_document, dialogue_summary, difference, metric_row
from hallumeter.dialogue.report.text import dialogue_brief, dialogue_table, dialogue_text
from hallumeter.dialogue.report.wording import fairness_words, result_words, too_few_words
from hallumeter.records.claim import Label
from hallumeter.records.measurement import Counts, Summary
from hallumeter.records.summaries import ModeDifference, ScoreBins
from hallumeter.report.charts import charts_of
from hallumeter.report.document import RecordSection
from hallumeter.report.page.render import render_html
from hallumeter.report.sections import DifferenceSection, ScoreSection


def test_a_document_shows_findings_and_answers_then_differences_and_scores_then_groups() -> None:
    tags = [str(section.__struct_config__.tag) for section in dialogue_document().sections]
    assert tags == [
        *("overview", "findings", "records", "differences", "scores", "metrics", "breakdown", "breakdown"),
        *("concentration", "reasons", "integrity"),
    ]


def test_a_single_mode_has_no_section_of_differences() -> None:
    summary = dialogue_summary()
    assert summary.dialogue is not None
    alone = msgspec.structs.replace(summary, dialogue=msgspec.structs.replace(summary.dialogue, differences=()))
    assert not any(isinstance(section, DifferenceSection) for section in dialogue_document(alone).sections)


def test_a_summary_without_scores_is_shown_without_charts() -> None:
    bare = Summary(1, "dialogue", Counts(), ())
    document = dialogue_document(bare)
    assert not any(isinstance(section, DifferenceSection | ScoreSection) for section in document.sections)
    assert {chart.kind for chart in charts_of(document)} <= {"tenths", "lengths"}


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
        ("tenths", "By position in the answer"),
    ]


def values(kind: str, summary: Summary | None = None) -> list[dict[str, Any]]:
    chart = next(chart for chart in charts_of(dialogue_document(summary)) if chart.kind == kind)
    data = chart.spec["data"]
    assert isinstance(data, dict)
    return data["values"]  # type: ignore[return-value]


def test_differences_without_pairs_are_not_drawn() -> None:
    assert [(value["name"], value["value"]) for value in values("differences")] == [("SFS ↑", 0.2), ("CSP ↓", -0.1)]


def test_turns_are_drawn_in_the_order_of_their_numbers() -> None:
    assert [value["turn"] for value in values("trend") if value["mode"] == "agent"] == ["2", "9", "10"]


def test_a_mode_without_a_value_at_a_turn_has_a_gap_there() -> None:
    shown = {value["turn"]: value["value"] for value in values("trend") if value["mode"] == "llm"}
    assert shown == {"2": None, "9": 1.4, "10": 1.5}  # 0.5 and a tenth for each turn, as the sample has it


def test_modes_stand_a_little_apart_at_a_turn() -> None:
    places = {value["mode"]: value["place"] for value in values("trend") if value["turn"] == "9"}
    assert places == {"llm": pytest.approx(8.97), "agent": pytest.approx(9.03)}


def test_twenty_bins_are_drawn_as_ten_bars() -> None:
    summary = dialogue_summary()
    assert summary.dialogue is not None
    bins = ScoreBins("sfs", "llm", (*range(19), 29), 0)  # 0 to 18, and 29: 200 answers
    fine = msgspec.structs.replace(summary, dialogue=msgspec.structs.replace(summary.dialogue, spread=(bins,)))
    bars = values("spread", fine)
    assert [bars[place]["values"] for place in (0, 1, 9)] == ["0.0–0.1", "0.1–0.2", "0.9–1.0"]
    assert [bar["answers"] for bar in bars] == [1, 5, 9, 13, 17, 21, 25, 29, 33, 47]
    assert sum(bar["share"] for bar in bars) == pytest.approx(1)


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


def test_the_page_speaks_of_patients_modes_answers_and_turns() -> None:
    page = render_html(dialogue_document())
    for words in ("<b>4</b> patients", "<b>2</b> modes", "<b>20</b> answers", "By mode and turn", ">Answers<"):
        assert words in page
    for words in ("<b>20</b> responses", "By turn_id", ">Responses<"):
        assert words not in page


def test_a_group_without_a_value_has_a_dash_that_tells_why() -> None:
    summary = dialogue_summary()
    row = metric_row("mcs", None, mode="llm")
    page = render_html(dialogue_document(msgspec.structs.replace(summary, metrics=(*summary.metrics, row))))
    assert '<abbr title="nothing to count">–</abbr>' in page


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
    assert "20 answers · 2 modes · 4 patients · 1 failure" in printed


def test_a_terminal_shows_modes_side_by_side_at_every_turn_with_intervals() -> None:
    lines = dialogue_text(dialogue_summary(), "table").splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("By turn"))
    assert lines[start + 1].split() == ["metric", "turn", "llm", "agent"]
    value = ["1.500", "1.400", "–", "1.000"]  # with the interval that the sample has
    assert lines[start + 3].split() == ["SFS", "↑", "10", *value, *value]
    assert lines[start + 5].split()[:3] == ["2", "–", "0.700"]  # the plain model was not asked at turn 2


@pytest.mark.parametrize("width", [80, 100, 131])
def test_a_narrow_terminal_keeps_difference_interval_p_and_result(width: int) -> None:
    lines = dialogue_table(dialogue_summary(), width=width).splitlines()
    assert max(map(len, lines)) <= width
    start = next(place for place, line in enumerate(lines) if line.startswith("agent minus llm"))
    words = lines[start + 1].split()
    assert words == ["metric", "difference", "interval", "p", "(Holm)", "result"]


def test_the_failed_are_a_column_only_where_something_failed() -> None:
    summary = dialogue_summary()
    whole = [msgspec.structs.replace(row, failed=0) for row in summary.metrics]
    assert "failed" in dialogue_text(summary, "table")
    assert "failed" not in dialogue_text(msgspec.structs.replace(summary, metrics=tuple(whole)), "table")


def compared(patients: int, metrics: int) -> list[ModeDifference]:
    row = msgspec.structs.replace(difference("sfs", 0.2), patients=patients)
    return [row] * metrics


@pytest.mark.parametrize(
    ("patients", "metrics", "smallest", "corrected", "enough"),
    [
        # By hand: 2 / 2 ** 5 = 0.0625, six times that 0.375; 6 * 2 / 2 ** 7 = 0.09, 6 * 2 / 2 ** 8 = 0.047.
        (5, 6, "0.0625", "0.3750", 8),
        (5, 1, "0.0625", "0.0625", 6),
        (1, 2, "1.0000", "1.0000", 7),
    ],
)
def test_too_few_patients_to_show_any_difference_are_told(
    patients: int, metrics: int, smallest: str, corrected: str, enough: int
) -> None:
    told = too_few_words(compared(patients, metrics))
    assert told is not None
    assert f"no p can be below {smallest}, nor below {corrected} after" in told
    assert told.endswith(f"Take at least {enough} patients.")


@pytest.mark.parametrize(("patients", "metrics"), [(6, 1), (8, 6), (60, 6)])
def test_enough_patients_need_no_word(patients: int, metrics: int) -> None:
    assert too_few_words(compared(patients, metrics)) is None


def test_that_there_are_too_few_stands_in_every_form() -> None:
    summary = dialogue_summary()  # four patients
    words = "with 4 patients no p can be below 0.1250"
    for text in (dialogue_text(summary, "table"), dialogue_text(summary, "markdown"), render_html(dialogue_document())):
        assert words in " ".join(text.split())


def test_a_brief_summary_has_modes_differences_and_one_finding_of_each_kind() -> None:
    records = [answered("right", Label.SUPPORTED), answered("wrong", Label.REFUTED), answered("again", Label.REFUTED)]
    printed = dialogue_brief(dialogue_summary(), records)
    for words in ("By mode", "agent minus llm", "What is wrong, for example", "You a"):
        assert words in printed
    assert printed.count("You a") == 1
    assert "All answers" not in printed


def test_a_brief_summary_of_right_answers_has_no_findings() -> None:
    assert "for example" not in dialogue_brief(dialogue_summary(), [answered("right", Label.SUPPORTED)])


def test_markdown_has_the_differences_as_a_table() -> None:
    lines = dialogue_text(dialogue_summary(is_fair=False), "markdown").splitlines()
    assert any(line.startswith("| agent minus llm | SFS | 0.500 | 0.700 | +0.200 |") for line in lines)
    assert "- patient p1: only llm was asked" in lines


def test_other_forms_are_those_of_every_summary() -> None:
    assert dialogue_text(dialogue_summary(), "csv").startswith("mode,turn_id,metric,")
    assert '"instrument": "dialogue"' in dialogue_text(dialogue_summary(), "json")
