"""Engines are compared on the pages that they share, and what is left out is said."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import hallumeter
from hallumeter import Transcript
from hallumeter.records.page import PageRow
from hallumeter.records.ranking import Ranking
from hallumeter.transcripts import partial


def row(page: str, engine: str, cer: float | None, anchor: float = 1.0) -> PageRow:
    return PageRow(
        page=page,
        engine=engine,
        status="ok",
        is_hallucinating=False,
        picarones_badge=False,
        cer=cer,
        net_insertion_rate=0.0,
        anchor_score=anchor,
        length_ratio=1.0,
        length_ratio_capped=1.0,
        reference_words=1,
        response_words=1,
    )


def rank_engines(rows: list[PageRow], metric: str) -> tuple[Ranking | None, tuple[str, ...]]:
    """The ranking of all engines that some row is of."""
    engines = list(dict.fromkeys(each.engine for each in rows))
    values = np.frombuffer(partial.values_by_page(rows, metric, engines)).reshape(-1, max(1, len(engines)))
    return partial.rank_engines(values, engines, metric)


RATES = {
    "a": [0.10, 0.12, 0.20, 0.05, 0.30, 0.17, 0.22, 0.08],
    "b": [0.15, 0.13, 0.29, 0.11, 0.28, 0.24, 0.30, 0.09],
    "c": [0.40, 0.33, 0.52, 0.36, 0.41, 0.47, 0.39, 0.35],
}
ROWS = [row(f"p{place}", engine, rates[place]) for place in range(8) for engine, rates in RATES.items()]


def test_the_tests_are_those_of_scipy() -> None:
    ranking, left_out = rank_engines(ROWS, "cer")
    assert ranking is not None
    assert left_out == ()
    friedman = stats.friedmanchisquare(*RATES.values())
    assert ranking.statistic == pytest.approx(friedman.statistic)
    assert ranking.p_value == pytest.approx(friedman.pvalue)
    # By hand: a is first on seven pages and second on one; c is last on all.
    assert [(each.engine, each.mean_rank) for each in ranking.engines] == [("a", 9 / 8), ("b", 15 / 8), ("c", 3.0)]
    for pair in ranking.pairs:
        wilcoxon = stats.wilcoxon(RATES[pair.first], RATES[pair.second], method="exact")
        assert pair.p_value == pytest.approx(wilcoxon.pvalue)
        assert pair.difference is not None
        assert pair.difference < 0
        assert pair.adjusted_p_value is not None
        assert pair.adjusted_p_value >= wilcoxon.pvalue
    assert (ranking.pages, ranking.dropped) == (8, 0)


def test_a_higher_anchor_score_is_better_and_differences_keep_their_sign() -> None:
    rows = [
        row(f"p{place}", engine, None, score + place / 100)
        for place in range(6)
        for engine, score in (("a", 0.2), ("b", 0.8))
    ]
    ranking, _ = rank_engines(rows, "anchor_score")
    assert ranking is not None
    assert [each.engine for each in ranking.engines] == ["b", "a"]
    assert ranking.pairs[0].difference == pytest.approx(0.2 - 0.8)


def test_there_is_no_ranking_of_one_engine_or_of_nothing() -> None:
    assert rank_engines([], "cer") == (None, ())
    assert rank_engines(ROWS[::3], "cer") == (None, ())
    assert rank_engines([row("p", engine, None) for engine in "ab"], "cer") == (None, ())


def test_an_engine_that_has_read_few_pages_is_left_out_and_does_not_take_pages_from_the_others() -> None:
    ranking, left_out = rank_engines([row("p0", "d", 0.1), *ROWS], "cer")
    assert left_out == ("d",)
    assert ranking is not None
    assert (ranking.pages, ranking.dropped, len(ranking.engines)) == (8, 0, 3)
    assert rank_engines([row("p0", "d", 0.1), *ROWS[::3]], "cer") == (None, ("d",))


def test_a_page_that_some_engine_lacks_takes_part_in_pairs_only() -> None:
    ranking, _ = rank_engines([each for each in ROWS if (each.page, each.engine) != ("p1", "c")], "cer")
    assert ranking is not None
    assert (ranking.pages, ranking.dropped) == (7, 1)
    assert [(pair.first, pair.second, pair.pages) for pair in ranking.pairs] == [
        ("a", "b", 8),
        ("a", "c", 7),
        ("b", "c", 7),
    ]


def test_engines_without_a_page_in_common_are_not_ranked_and_it_is_said_why() -> None:
    rows = [row(f"p{place}", "a" if place < 2 else "b", 0.1) for place in range(4)]
    ranking, _ = rank_engines(rows, "cer")
    assert ranking is not None
    assert (ranking.engines, ranking.undefined) == ((), "no page was read by every engine")
    assert (ranking.pairs[0].pages, ranking.pairs[0].p_value, ranking.pairs[0].adjusted_p_value) == (0, None, None)


def test_the_summary_says_what_the_ranking_leaves_out() -> None:
    given = [Transcript(f"p{place}", engine, "un deux", "un deux") for place in range(4) for engine in "ab"]
    given += [Transcript("p0", "c", "un deux", "un"), Transcript("p4", "a", "un deux", "un")]
    notices = hallumeter.transcripts(given).summary.notices
    assert "not ranked, because they read fewer than 50% of the pages: c" in notices
    assert "pages that some ranked engine lacks take part only in the pairwise tests: 1" in notices


def test_the_summary_says_which_pages_have_only_upper_bounds() -> None:
    words = " ".join(f"w{number}" for number in range(30_000))
    other = " ".join(f"v{number}" for number in range(30_000))
    run = hallumeter.transcripts([(words, other), ("un", "un")])
    bounded = [page.page for page in run.pages() if page.is_exact is False]
    said = "long pages aligned by anchors, whose CER, WER, MER and WIL are upper bounds: "
    assert [notice for notice in run.summary.notices if notice.startswith(said)] == [f"{said}{len(bounded)}"]
    assert bounded == ["1"]
