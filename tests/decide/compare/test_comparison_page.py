"""The page on two runs, and on several: what it says first, what it marks, and that it stays one small file."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs
from test_html import Page
from test_untrusted_text import HOSTILE

from comparison_samples import cell, change, compared_row, comparison_of, run_ranking
from hallumeter.decide.compare.page import (
    ROWS_DRAWN,
    ROWS_SHOWN,
    difference_charts,
    marked_wordings,
    matrix_of,
    render_comparison,
    write_comparison,
)
from hallumeter.decide.compare.ranking import diagram_lines
from hallumeter.decide.compare.text import comparison_markdown, comparison_text, ranking_markdown, ranking_text
from hallumeter.decide.compare.wording import reasons_of
from hallumeter.records.comparison import ComparedRun, Comparison, Outcome, Transitions

MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("regression", "Regression: candidate is worse than baseline."),
        ("no_regression", "No regression from baseline to candidate."),
        ("inconclusive", "Inconclusive: whether candidate is worse than baseline is neither shown nor ruled out."),
        ("unmeasured", "Unmeasured: too much is missing to compare baseline and candidate."),
    ],
)
def test_the_verdict_comes_first_in_plain_words(outcome: Outcome, words: str) -> None:
    page = render_comparison(comparison_of(outcome=outcome))
    assert words in page
    assert page.index(words) < page.index('id="runs"') < page.index('id="metrics"') < page.index('id="claims"')


def test_reasons_tell_what_moved_and_by_how_much() -> None:
    told = "{}: from 0.100 to 0.300, a difference of {} that chance does not explain (p 0.001 after correction)."
    worse, better = compared_row(), compared_row("mahr", outcome="better", difference=-0.2, interval=(-0.3, -0.1))
    assert reasons_of(comparison_of(worse, better)) == [
        told.format("Unsupported claims (MiHR) is worse", "+0.200 (0.120 – 0.280)"),
        told.format("Answers with an unsupported claim (MaHR) is better", "-0.200 (-0.300 – -0.100)"),
    ]


def test_reasons_tell_what_is_unmeasured_open_or_unchanged() -> None:
    missing = compared_row(
        outcome="unmeasured", unmeasured=(4, 0), measurable=(6, 6), counted="records", causes={"nan": 4}
    )
    undefined = compared_row("mahr", outcome="unmeasured", undefined="the first run has nothing to count")
    assert reasons_of(comparison_of(missing, undefined, outcome="unmeasured")) == [
        (
            "Unsupported claims (MiHR): of the records 4 / 6 are unmeasured in the first run and 0 / 6 in the second. "
            "Records that broke: nan 4."
        ),
        "Answers with an unsupported claim (MaHR): the first run has nothing to count.",
        "1 record is only in candidate.",
    ]
    sided = compared_row(direction="none", outcome="differs")
    assert "No metric that has a better side was compared." in reasons_of(comparison_of(sided, outcome="unmeasured"))
    wide, free = compared_row(outcome="inconclusive"), compared_row("x:y", outcome="inconclusive", margin=None)
    assert reasons_of(comparison_of(wide, free, outcome="inconclusive")) == [
        (
            "Unsupported claims (MiHR): a change for the worse of 0.050 or more is neither shown nor ruled out. "
            "So many records would show a difference of 0.080."
        ),
        "x:y: nobody has said how much is too much; choose a margin.",
    ]
    assert reasons_of(comparison_of(compared_row(outcome="same"), outcome="no_regression")) == [
        "Every answer, and the label of every claim, is the same in both runs."
    ]
    assert "ruled out" in reasons_of(comparison_of(compared_row(outcome="equivalent"), outcome="no_regression"))[0]


def test_of_many_reasons_the_first_are_told_and_the_others_counted() -> None:
    rows = [compared_row(by={"task": str(number)}) for number in range(9)]
    reasons = reasons_of(comparison_of(*rows, are_slices_gated=True))
    assert len(reasons) == 7
    assert reasons[0].startswith("Unsupported claims (MiHR), task=0 is worse")
    assert reasons[-1] == "And 3 more; the tables have all."
    # Slices that are not gated are no reason for an outcome.
    assert reasons_of(comparison_of(*rows)) == []


def test_a_page_is_one_file_without_any_address_to_load_from() -> None:
    text = render_comparison(comparison_of())
    tags = Page(text).tags
    assert not [name for name, given in tags if name in ("link", "img", "iframe") or "src" in given]
    assert all((given["href"] or "").startswith("#") for name, given in tags if name == "a")
    policy = next(given["content"] for name, given in tags if given.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")


def test_words_that_only_one_wording_has_are_marked() -> None:
    page = render_comparison(comparison_of())
    assert "It is <mark>330</mark> m high." in page
    assert "It is <mark>999</mark> m high." in page
    first, second = marked_wordings("서울은 1 번", "서울은 2 번")
    assert [piece.text for piece in (*first, *second) if piece.is_changed] == ["1", "2"]
    first, second = marked_wordings("東京都", "東都")
    assert [piece.text for piece in first if piece.is_changed] == ["京"]
    assert not any(piece.is_changed for piece in second)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_texts_of_runs_stay_text(text: str) -> None:
    plain = Page(render_comparison(_hostile("plain")))
    hostile = Page(render_comparison(_hostile(text)))
    assert [name for name, _ in hostile.tags] == [name for name, _ in plain.tags]
    assert not [name for _, given in hostile.tags for name in given if name.startswith("on")]
    assert render_comparison(run_ranking(text, f"{text} ", "other")).count("<script") == render_comparison(
        run_ranking("a", "b", "other")
    ).count("<script")


def _hostile(text: str) -> Comparison:
    transitions = Transitions(
        (cell("SUPPORTED", "REFUTED", 1, change(text, f"a {text}", f"b {text}")),), 0, 0, 1, 1, 0, 1.0
    )
    row = compared_row(metric=f"x:{text}", by={text: text}, undefined=text, causes={text: 1})
    run = ComparedRun(text, 1, 1, 0, text)
    return comparison_of(
        row,
        transitions=transitions,
        first=run,
        second=run,
        cluster=text,
        notices=(text,),
        instrument=f"audit and {text}",
    )


def test_a_page_stays_below_two_megabytes_whatever_was_compared() -> None:
    claims = tuple(
        change(f"record {number} " + "長" * 500, "文" * 299 + str(number), "字" * 299 + str(number))
        for number in range(2_000)
    )
    cells = tuple(
        cell("SUPPORTED", state, 2_000, *claims) for state in ("REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED", "FAILED")
    )
    rows = [compared_row(by={"task": "t" * 300 + str(number)}) for number in range(1_000)]
    found = comparison_of(
        *rows, transitions=Transitions(cells, 0, 0, 8_000, 4_000, 0, 0.0), notices=("n" * 5_000,) * 99
    )
    page = render_comparison(found)
    assert len(page.encode()) < 2 * MEGABYTE
    assert f"{1_000 - ROWS_SHOWN} more rows are only in the JSON." in page
    matrix = matrix_of(found)
    assert matrix is not None
    assert 10 < len(matrix.changed[0].changes) < 2_000
    assert "--examples keeps more" in page


def test_a_comparison_without_claims_has_no_table_of_them() -> None:
    page = render_comparison(comparison_of(transitions=Transitions((), 0, 0, 0, 0, 0, None)))
    assert 'id="claims"' not in page


def test_only_shares_are_drawn_and_the_others_named() -> None:
    rows = [compared_row(), compared_row("perplexity:x", effect="paired_d"), compared_row("mahr", difference=None)]
    [chart] = difference_charts(rows, 0.95, number=0)
    assert len(chart.spec["data"]["values"]) == 1  # type: ignore[call-overload, index, arg-type]
    assert chart.caption.endswith("Not drawn: perplexity:x, Answers with an unsupported claim (MaHR).")
    assert difference_charts(rows[1:], 0.95, number=0) == []
    many = [compared_row(by={"task": str(number)}) for number in range(ROWS_DRAWN + 2)]
    assert difference_charts(many, 0.95, number=0)[0].caption.endswith("2 more rows are in the table.")


def test_a_written_page_replaces_the_file_of_that_name(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("old", encoding="utf-8")
    write_comparison(comparison_of(), target, language="fr")
    assert "Régression\u00a0: candidate est moins bon que baseline." in target.read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_ranking_says_who_is_ahead_and_who_is_alike() -> None:
    page = render_comparison(run_ranking())
    assert "good has the best mean rank, and does not differ from: fair (Friedman, p &lt; 0.001)." in page
    assert "Not ranked: nowhere has every run a value." in page
    assert "Not tested: the runs are equal everywhere." in page
    ranking = run_ranking()
    alone = structs.replace(ranking.rankings[0], groups=())
    unclear = structs.replace(ranking.rankings[0], p_value=0.4)
    page = render_comparison(structs.replace(ranking, rankings=(alone, unclear)))
    assert "good is ahead of every other run" in page
    assert "No difference between the runs is shown" in page


def test_the_diagram_in_characters_puts_runs_on_a_scale_and_joins_those_alike() -> None:
    lines = diagram_lines(run_ranking().rankings[0])
    # By hand: 56 characters for 3 ranks, so that 1.5 stands 9 places right of rank 1, and 0.7 is 13 wide.
    assert lines == [
        "mean rank  1                  2                 3                  4",
        "           ├──────────────────┼─────────────────┼──────────────────┤",
        "good                ●",
        "fair                            ●",
        "poor                                       ●",
        "bad                                                   ●",
        "                    ━━━━━━━━━━━━━ a",
        "                                ━━━━━━━━━━━━ b",
        "                                           ━━━━━━━━━━━━ c",
        "critical   ├────────────┤ 0.70",
    ]
    assert diagram_lines(run_ranking().rankings[1]) == []
    many = diagram_lines(run_ranking(*(f"a run with a rather long name {number}" for number in range(20))).rankings[0])
    assert many[0].split() == ["mean", "rank", "1", "10", "20"]
    assert max(map(len, many)) < 100


def test_terminal_and_markdown_hold_the_diagram() -> None:
    ranking = run_ranking("good", "`bad`\x1b[31m", "other")
    text, markdown = ranking_text(ranking), ranking_markdown(ranking)
    assert "━" in text
    assert "\x1b" not in text + markdown
    assert markdown.count("```") == 2
    assert "undefined: Answers with an unsupported claim (MaHR): no answer was read by every run" in " ".join(
        text.split()
    )
    assert "Not tested: on every answer all runs are equal." in markdown
    assert markdown.count("<details>") == markdown.count("</details>") == 2


def test_terminal_and_markdown_of_two_runs_say_the_outcome() -> None:
    assert "Outcome: REGRESSION" in comparison_text(comparison_of())
    assert comparison_markdown(comparison_of()).startswith("### hallumeter: REGRESSION\n")
