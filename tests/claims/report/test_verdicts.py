"""Why verdicts were given, what broke, what it cost, and which judge stands apart."""

from __future__ import annotations

import re
from importlib import resources

import pytest
from test_html import Page

from audit_samples import (
    MODEL,
    OTHER,
    RULES,
    VERDICTS,
    audit_document,
    audit_summary,
    panel_row,
    panel_rows,
    verdict,
)
from hallumeter.records.claim import Claim, Finding, Label, Verdict
from hallumeter.records.response import Response
from hallumeter.report.document import Document, JudgeSection, ReasonCount, ReasonSection, RecordFindings
from hallumeter.report.judges import NOBODY, advice_text, panel_advice
from hallumeter.report.page.render import render_html
from hallumeter.report.reasons import count_reasons, failure_words, reason_words
from hallumeter.report.summary_text import summary_text
from hallumeter.report.terminal import Shown, table_text
from hallumeter.stats.agreement import judges_apart
from report_samples import sample_document

APART = panel_rows((RULES, -0.2, (-0.3, -0.1)), (MODEL, -0.1, (-0.2, 0.02)), (OTHER, 0.21, (0.1, 0.33)))
TOGETHER = panel_rows((RULES, 0.02, (-0.01, 0.05)), (MODEL, -0.1, (-0.2, 0.02)), (OTHER, 0.1, (0, 0.2)))


def reasons_of(document: Document) -> ReasonSection | None:
    return next((section for section in document.sections if isinstance(section, ReasonSection)), None)


def judges_of(document: Document) -> JudgeSection:
    return next(section for section in document.sections if isinstance(section, JudgeSection))


def test_reasons_are_counted_by_label_with_those_that_were_not_given_last() -> None:
    assert count_reasons(VERDICTS) == (
        ReasonCount(Label.REFUTED, "money_mismatch", 1, {RULES: 1}),
        ReasonCount(Label.REFUTED, "my_own", 1, {OTHER: 1}),
        ReasonCount(Label.REFUTED, "name_mismatch", 1, {RULES: 1}),
        ReasonCount(Label.REFUTED, "number_mismatch", 1, {MODEL: 1}),
        ReasonCount(Label.NOT_ENOUGH_INFO, "words_not_found", 1, {RULES: 1}),
        ReasonCount(Label.NOT_ENOUGH_INFO, None, 1, {MODEL: 1}),
        ReasonCount(Label.UNDECIDED, "quote_not_found", 1, {MODEL: 1}),
        ReasonCount(Label.UNDECIDED, "too_short", 1, {RULES: 1}),
    )


def test_the_most_frequent_reason_comes_first_and_tells_who_gave_it() -> None:
    some = [verdict(0, RULES, Label.REFUTED, code) for code in ("a", "b", "b")]
    rows = count_reasons([*some, verdict(0, MODEL, Label.REFUTED, "b")])
    assert [(row.reason, row.verdicts, row.judges) for row in rows] == [
        ("b", 3, {MODEL: 1, RULES: 2}),
        ("a", 1, {RULES: 1}),
    ]


def test_a_run_whose_judges_gave_no_reason_has_no_section_of_reasons() -> None:
    assert count_reasons([verdict(0, RULES, Label.REFUTED), verdict(0, RULES, Label.SUPPORTED, "found")]) == ()
    found = (Finding(Claim("r", "c"), (Verdict("r", "c", "a", Label.REFUTED),)),)
    assert reasons_of(sample_document([RecordFindings(Response("r", response="x"), found)])) is None


def test_the_settled_verdict_of_a_panel_is_not_counted_beside_its_judges() -> None:
    both = [verdict(0, judge, Label.REFUTED, "number_mismatch") for judge in ("consensus", RULES)]
    assert [row.judges for row in count_reasons(both)] == [{RULES: 1}]
    assert [row.judges for row in count_reasons(both[:1])] == [{"consensus": 1}]


def test_reasons_beyond_the_most_frequent_are_added_up() -> None:
    # 2,000 reasons that are told once each, one told twice, one verdict without any.
    verdicts = [verdict(0, RULES, Label.REFUTED, code) for code in ("same", "same", None)]
    verdicts += [verdict(0, RULES, Label.REFUTED, f"sentence {number}") for number in range(2_000)]
    found = (Finding(Claim("q1", "c"), tuple(verdicts)),)
    section = reasons_of(sample_document([RecordFindings(Response("q1", response="x"), found)]))
    assert section is not None
    assert [row.verdicts for row in section.rows] == [2, *[1] * 14, 1]
    assert (section.rows[0].reason, section.rows[-1].reason) == ("same", None)
    assert section.verdicts_left_out == 2_003 - 17


@pytest.mark.parametrize(
    "code",
    [
        *("number_mismatch", "unit_mismatch", "date_mismatch", "money_mismatch", "percent_mismatch", "name_mismatch"),
        *("quotation_mismatch", "negation_mismatch", "comparison_mismatch", "number_not_found", "name_not_found"),
        *("words_not_found", "no_evidence", "quote_not_found", "evidence_cut", "windows_disagree"),
        *("instruction_in_evidence", "too_short", "uncertain"),
    ],
)
def test_every_reason_of_our_own_judges_is_explained(code: str) -> None:
    assert reason_words(code)


def test_every_mismatch_that_the_source_of_our_judges_names_is_explained() -> None:
    folder = resources.files("hallumeter.claims") / "judges" / "rules"
    sources = [file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".py")]
    codes = {code for source in sources for code in re.findall(r'"([a-z]+_(?:mismatch|not_found))"', source)}
    assert "number_mismatch" in codes
    assert [code for code in sorted(codes) if reason_words(code) is None] == []


@pytest.mark.parametrize(
    "code",
    [
        *("timeout", "connection", "rate_limited", "server_error", "conflict", "truncated_reply", "refused_request"),
        *("content_filter", "empty_reply", "malformed_reply", "error_reply", "bad_key", "unknown_model", "no_quota"),
        *("budget_reached", "interrupted", "not_recorded", "judge_error"),
    ],
)
def test_every_failure_of_judging_is_explained(code: str) -> None:
    assert failure_words(code)


def test_the_page_tells_reasons_in_plain_words() -> None:
    words = Page(render_html(audit_document())).words
    assert "Refuted money_mismatch the response and the evidence give different amounts of money 1 rules 1" in words
    assert "my_own a code of the judge’s own 1 anthropic:large 1" in words
    assert "no reason was given 1 openai:small 1" in words
    assert "Undecided quote_not_found the judge quoted words that are not in the evidence" in words


def test_the_page_counts_failures_by_judge_and_cause() -> None:
    words = Page(render_html(audit_document())).words
    assert "judge openai:small timeout no reply in time 1" in words
    assert "judge anthropic:large malformed_reply the reply could not be read, nor repaired 1" in words


def test_costs_are_added_up_and_what_is_unknown_stays_unknown() -> None:
    document = audit_document()
    judges = judges_of(document)
    # Of openai:small two verdicts have a cost and one has none; the six of the others have none.
    assert judges.cost_usd == pytest.approx(0.0005)
    assert judges.verdicts_without_cost == 7
    words = Page(render_html(document)).words
    assert "Together 0.0005 7 verdicts without one" in words
    assert "rules settings rules|prompt:1 2 1 1 0 none reported" in words


def test_a_run_without_any_known_cost_says_so_and_has_no_column_for_it() -> None:
    assert judges_of(sample_document()).cost_usd is None
    words = Page(render_html(sample_document())).words
    assert "No judge reported a cost." in words
    assert "Cost, USD" not in words
    assert "Together" not in words


def test_a_judge_stands_apart_when_the_interval_of_its_gain_lies_above_zero() -> None:
    assert judges_apart(APART) == (OTHER,)
    assert judges_apart(TOGETHER) == ()
    assert judges_apart(panel_rows((RULES, 0.1, (0.01, 0.2)), (MODEL, 0.3, (0.2, 0.4)))) == (MODEL, RULES)


def test_the_advice_names_the_judge_with_both_alphas_and_their_intervals() -> None:
    advice = panel_advice(APART)
    assert advice is not None
    assert advice_text(advice) == (
        "Without anthropic:large the others agree better (alpha 0.410 [0.300 – 0.520] → 0.620 [0.500 – 0.730], gain "
        "0.210 [0.100 – 0.330], intervals in brackets): consider dropping it. Agreement is not correctness: keep it if "
        "it is the judge you trust."
    )


def test_several_judges_that_stand_apart_are_left_out_one_at_a_time() -> None:
    advice = panel_advice(panel_rows((RULES, 0.1, (0.01, 0.2)), (MODEL, 0.3, (0.2, 0.4))))
    assert advice is not None
    assert advice.judge == MODEL
    assert advice_text(advice).endswith("The same holds for rules; leave out one at a time.")


def test_no_judge_stands_out_by_chance_and_a_pair_gets_no_advice() -> None:
    advice = panel_advice(TOGETHER)
    assert advice is not None
    assert advice_text(advice) == NOBODY
    assert panel_advice([panel_row("cohen_kappa", "a & b", 0.5)]) is None
    assert panel_advice(panel_rows((RULES, None, None))) is None


def test_groups_do_not_speak_for_the_run() -> None:
    group = panel_row("alpha_gain_without", RULES, 0.5, (0.4, 0.6), model="m")
    advice = panel_advice([*TOGETHER, group])
    assert advice is not None
    assert advice.judge is None


def test_the_page_advises_and_shows_each_judge_beside_the_others() -> None:
    words = Page(render_html(audit_document(*APART))).words
    assert "Without anthropic:large the others agree better (alpha 0.410 [0.300 – 0.520] → 0.620" in words
    assert "Each judge beside the others Judge alpha without ↑ alpha gain without ↓" in words
    assert "anthropic:large 0.620 0.500 – 0.730 n = 40 0.210 0.100 – 0.330 n = 40" in words
    assert NOBODY in Page(render_html(audit_document(*TOGETHER))).words


def test_the_terminal_names_the_top_reasons_and_the_judge_that_stands_apart() -> None:
    rates = [panel_row("mihr", judge, 0.5) for judge in ("consensus", RULES, MODEL, OTHER)]
    text = table_text(
        audit_summary(*rates, *APART), shown=Shown(is_verbose=True, reasons=count_reasons(VERDICTS)), width=140
    )
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "Refuted money_mismatch 1 rules the response and the evidence give different amounts of money" in lines
    assert any(line.startswith("Undecided too_short 1 ") and "too short to be checked" in line for line in lines)
    assert not any("number_mismatch" in line for line in lines), "only three reasons of a label are named"
    assert any(line.startswith("anthropic:large ") and "0.620 0.500 – 0.730 0.210 0.100" in line for line in lines)
    assert "Without anthropic:large the others agree better" in text
    assert "Top reasons" not in table_text(audit_summary(*rates), shown=Shown(is_verbose=True))


def test_markdown_names_them_too_and_escapes_what_it_must() -> None:
    odd = [verdict(0, RULES, Label.REFUTED, "a`b|c\nd")]
    text = summary_text(audit_summary(*APART), "markdown", shown=Shown(reasons=count_reasons([*odd, *VERDICTS])))
    assert "- undecided, top reasons: `quote_not_found` 1, `too_short` 1" in text
    assert r"`a'b\|c" in text
    assert "- judges: Without anthropic:large the others agree better (alpha 0.410 \\[0.300" in text


def test_a_reason_from_a_file_does_not_command_the_terminal() -> None:
    odd = [verdict(0, RULES, Label.REFUTED, "\x1b[31mred\x00")]
    assert "\x1b" not in table_text(audit_summary(), shown=Shown(is_verbose=True, reasons=count_reasons(odd)))


def test_a_judge_that_points_to_the_whole_claim_points_to_nothing_further() -> None:
    claim = Claim("q1", "c", start=0, end=5, text="It is")
    whole = Verdict("q1", "c", RULES, Label.REFUTED, start=0, end=5)
    part = Verdict("q1", "c", MODEL, Label.REFUTED, start=3, end=5)
    beyond = Verdict("q1", "c", OTHER, Label.REFUTED, start=3, end=50)
    records = [RecordFindings(Response("q1", response="It is so."), (Finding(claim, (whole, part, beyond)),))]
    payload = Page(render_html(sample_document(records))).data("records-data")
    assert isinstance(payload["records"], list)
    assert [found.get("s") for found in payload["records"][0]["f"][0]["v"]] == [1, [3, 5], None]
