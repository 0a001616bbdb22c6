"""Judges beside each other: kappa, confusion, calibration, and what is left undefined."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa
from test_html import Page

from hallumeter.records.claim import Claim, Finding, Label, Verdict
from hallumeter.records.manifest import JudgeEntry
from hallumeter.records.response import Response
from hallumeter.report.charts import charts_of
from hallumeter.report.document import Document, JudgeSection, RecordFindings
from hallumeter.report.judges import JUDGES_SHOWN, agreement_level, pair_grid
from hallumeter.report.page.render import render_html
from hallumeter.report.sections import CONFUSED
from hallumeter.report.tallies import reference_judge
from report_samples import manifest, sample_document

DECIDED = [Label.REFUTED, Label.NOT_ENOUGH_INFO, Label.SUPPORTED]


def judges(document: Document) -> JudgeSection:
    return next(section for section in document.sections if isinstance(section, JudgeSection))


def voted(*claims: Mapping[str, Label | tuple[Label, float]]) -> RecordFindings:
    """A response whose claims have these votes, with a probability where there is one."""
    findings = []
    for place, votes in enumerate(claims):
        verdicts = []
        for judge, vote in votes.items():
            label, probability = vote if isinstance(vote, tuple) else (vote, None)
            verdicts.append(Verdict("r", f"c{place}", judge, label, unsupported_probability=probability))
        findings.append(Finding(Claim("r", f"c{place}", start=0, end=1), tuple(verdicts)))
    return RecordFindings(Response("r", response="xyz"), tuple(findings))


def named(*names: str) -> Document:
    return manifest(judges=tuple(JudgeEntry(name, "recorded") for name in names))  # type: ignore[return-value]


def test_kappa_of_every_pair_is_that_of_another_implementation() -> None:
    rng = np.random.default_rng(3)
    claims = [{judge: DECIDED[rng.integers(3)] for judge in "abc"} for _ in range(60)]
    section = judges(sample_document([voted(*claims)], manifest=named("a", "b", "c")))
    assert [(pair.first, pair.second) for pair in section.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    for pair in section.pairs:
        table = np.zeros((3, 3))
        for claim in claims:
            table[DECIDED.index(claim[pair.first]), DECIDED.index(claim[pair.second])] += 1
        assert pair.kappa is not None
        assert math.isclose(pair.kappa, cohens_kappa(table).kappa)
        assert (pair.shared, pair.agreed) == (60, np.trace(table))


def test_the_confusion_of_a_pair_counts_undecided_verdicts_that_kappa_leaves_out() -> None:
    claims = [
        {"a": Label.REFUTED, "b": Label.SUPPORTED},
        {"a": Label.REFUTED, "b": Label.REFUTED},
        {"a": Label.UNDECIDED, "b": Label.NOT_ENOUGH_INFO},
        {"a": Label.SUPPORTED},
        {"b": Label.SUPPORTED, "consensus": Label.SUPPORTED},
    ]
    (pair,) = judges(sample_document([voted(*claims)], manifest=named("a", "b"))).pairs
    assert CONFUSED == ("REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED", "SUPPORTED")
    assert pair.table == ((1, 0, 0, 1), (0, 0, 0, 0), (0, 1, 0, 0), (0, 0, 0, 0))
    assert (pair.shared, pair.agreed, pair.agreement) == (2, 1, 0.5)


def test_a_pair_without_shared_claims_or_with_one_label_is_undefined_and_says_why() -> None:
    apart = judges(sample_document([voted({"a": Label.SUPPORTED}, {"b": Label.REFUTED})], manifest=named("a", "b")))
    assert (apart.pairs[0].kappa, apart.pairs[0].undefined) == (None, "the two judges decided no claim in common")
    assert apart.pairs[0].agreement is None
    same = judges(sample_document([voted({"a": Label.SUPPORTED, "b": Label.SUPPORTED})], manifest=named("a", "b")))
    assert same.pairs[0].kappa is None
    assert "every rating falls in one category" in str(same.pairs[0].undefined)


def test_one_judge_has_no_pair() -> None:
    assert judges(sample_document([voted({"a": Label.SUPPORTED})], manifest=named("a"))).pairs == ()


def test_of_many_judges_the_most_active_are_compared_and_the_others_counted() -> None:
    names = [f"j{number:02}" for number in range(15)]
    claims = [dict.fromkeys(names[place % 4 :], Label.SUPPORTED) for place in range(8)]
    section = judges(sample_document([voted(*claims)], manifest=named(*names)))
    shown, pairs = pair_grid(section.pairs)
    assert shown == names[3:]
    assert len(section.pairs) == JUDGES_SHOWN * (JUDGES_SHOWN - 1) // 2
    assert pairs["j03", "j04"] is pairs["j04", "j03"]
    assert section.left_out == 3
    words = Page(render_html(sample_document([voted(*claims)], manifest=named(*names)))).words
    assert "3 judges are left out: only the 12 with most verdicts are compared." in words


def test_probabilities_are_compared_with_the_human_judge() -> None:
    bad, good = Label.REFUTED, Label.SUPPORTED
    claims: list[dict[str, Label | tuple[Label, float]]] = [
        {"model": (good, 0.05), "human": good},
        {"model": (good, 0.05), "human": bad},
        {"model": (bad, 0.95), "human": bad},
        {"model": (bad, 1.0), "human": Label.NOT_ENOUGH_INFO},
        {"model": (bad, 0.5), "human": Label.UNDECIDED},
        {"model": (bad, 0.5)},
    ]
    (found,) = judges(sample_document([voted(*claims)], manifest=named("model", "human"))).calibrations
    assert (found.judge, found.reference, found.claims, found.without_reference) == ("model", "human", 4, 2)
    first, *between, last = found.bins
    assert (first.count, first.total, first.mean, first.value) == (1, 2, 0.05, 0.5)
    assert (last.count, last.total) == (2, 2)
    assert all(each.total == 0 and each.mean is None and each.value is None for each in between)
    # By hand: |1 - 0.1| of the first bin and |2 - 1.95| of the last, over four claims.
    assert found.error == pytest.approx((0.9 + 0.05) / 4)


def test_without_a_human_judge_the_reference_is_what_most_of_the_others_say() -> None:
    claims: list[dict[str, Label | tuple[Label, float]]] = [
        {"a": (Label.SUPPORTED, 0.2), "b": Label.REFUTED, "c": Label.REFUTED},
        {"a": (Label.SUPPORTED, 0.2), "b": Label.REFUTED, "c": Label.SUPPORTED},
        {"a": (Label.SUPPORTED, 0.2), "b": Label.SUPPORTED, "consensus": Label.REFUTED},
    ]
    document = sample_document([voted(*claims)], manifest=named("a", "b", "c"))
    (found,) = judges(document).calibrations
    assert (found.reference, found.claims, found.without_reference) == (None, 2, 1)
    assert [(each.count, each.total) for each in found.bins if each.total] == [(1, 2)]
    assert "each is compared with what most of the other judges say" in Page(render_html(document)).words


def test_a_judge_with_probabilities_and_nothing_to_compare_them_with_is_undefined() -> None:
    document = sample_document([voted({"a": (Label.SUPPORTED, 0.2)})], manifest=named("a"))
    (found,) = judges(document).calibrations
    assert (found.error, found.bins, found.without_reference) == (None, (), 1)
    assert "Undefined: no claim with a probability has a label to compare it with." in Page(render_html(document)).words
    assert not any(chart.kind == "calibration" for chart in charts_of(document))


def test_judges_without_probabilities_have_no_calibration_and_the_page_says_so() -> None:
    document = sample_document([voted({"a": Label.SUPPORTED, "b": Label.REFUTED})], manifest=named("a", "b"))
    assert judges(document).calibrations == ()
    assert "Undefined: no judge gives a probability" in Page(render_html(document)).words


def test_a_judge_is_the_reference_when_its_name_says_human_or_gold() -> None:
    assert reference_judge(["rules", "Gold labels", "human"]) == "Gold labels"
    assert reference_judge(["goldfish", "superhuman"]) is None


def test_the_page_shows_the_matrix_and_links_the_cells_of_the_confusion() -> None:
    document = sample_document()
    page = render_html(document)
    words = Page(page).words
    (pair, *_) = judges(document).pairs
    assert (pair.first, pair.second) == ("word-overlap", "numbers-and-names")
    assert "Who agrees with whom Judge word-overlap numbers-and-names human" in words
    link = '{"votes": {"numbers-and-names": "SUPPORTED", "word-overlap": "SUPPORTED"}}'
    assert link.replace('"', "&#34;") in page


def test_darkness_follows_kappa() -> None:
    assert [agreement_level(kappa) for kappa in (-1.0, 0.0, 0.01, 0.2, 0.21, 1.0)] == [0, 0, 1, 1, 2, 5]
