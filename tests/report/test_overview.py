"""The overview: its numbers are those of the summary, and nothing is called better that is not shown to be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec
import pytest
from test_html import Page

from dialogue_samples import dialogue_document
from hallumeter.records.claim import Claim, Finding, Label, Verdict
from hallumeter.records.measurement import Counts, MetricSummary, Profile, Summary
from hallumeter.records.ranking import EnginePair, RankedEngine, Ranking
from hallumeter.records.response import Response
from hallumeter.records.summaries import AspectSummary, DialogueSummary, ModeDifference
from hallumeter.report.document import Document, FactValue, IntegritySection, OverviewSection, RecordFindings
from hallumeter.report.languages.speaking import speaking
from hallumeter.report.overview import (
    format_percent,
    overview_section,
    tell_fact,
    tell_fact_html,
    tell_reason,
    worst_of,
)
from hallumeter.report.page.render import render_html
from hallumeter.report.wording import format_count, format_number, signed
from hallumeter.transcripts.policy import EnginePolicy
from hallumeter.transcripts.report.presentation import page_facts
from report_samples import manifest, metric, sample_document, summary
from transcript_samples import transcripts_document

NUMBER = re.compile(r"[<>]?[+-]?\d[\d,]*(?:\.\d+)?")
LANGUAGES = ("en", "fr", "ko")
NAMELESS = FactValue("name", words=("x",))
"""In the place of names, whose digits are no numbers."""


def overview(document: Document) -> OverviewSection:
    return next(section for section in document.sections if isinstance(section, OverviewSection))


def facts_of(summary: Summary, headline: str | None = None) -> dict[str, str]:
    section = overview_section(summary, headline, texts={}, confidence=0.95)
    return {fact.code: tell_fact(fact) for fact in section.facts}


def numbers_in(value: object) -> Iterator[float]:
    """Every number in a summary, and the shares that follow from its thresholds and confidence."""
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, dict):
        for item in value.values():
            yield from numbers_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from numbers_in(item)


def forms_of(number: float) -> set[str]:
    told = {
        format_number(number),
        format_count(number),
        format_percent(number),
        signed(number),
        format_number(abs(number)),
    }
    return {form.removesuffix(" %").lstrip("+") for form in told} | {f"{number * 100:g}"}


def row(
    name: str,
    value: float | None,
    interval: tuple[float, float] | None = None,
    *,
    direction: Literal["lower", "higher"] = "lower",
    counts: tuple[float, float] | None = None,
    **by: str,
) -> MetricSummary:
    found = metric(name, *(counts or (1, 2)), by=by, judge=None, direction=direction)
    undefined = None if value is not None else "nothing to count"
    return msgspec.structs.replace(found, value=value, interval=interval, undefined=undefined)


def ranked(p_value: float | None, *, groups: tuple[tuple[str, ...], ...] = (), **changes: object) -> Ranking:
    engines = tuple(RankedEngine(name, rank) for name, rank in (("a", 1.25), ("b", 2.0), ("c", 2.75)))
    facts: dict[str, object] = {
        "metric": "cer", "pages": 12, "dropped": 0, "engines": engines, "statistic": 9.0, "p_value": p_value,
        "critical_difference": 0.5, "groups": groups, "pairs": (),
    }  # fmt: skip
    return Ranking(**{**facts, **changes})  # type: ignore[arg-type]


def pages(*rows: MetricSummary, ranking: Ranking | None = None) -> Summary:
    return Summary(1, "transcripts", Counts(records=36, models=3), rows, ranking=ranking)


@pytest.mark.parametrize("make", [sample_document, transcripts_document, dialogue_document])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_number_that_is_told_is_a_value_of_the_summary(make: object, language: str) -> None:
    document: Document = make()  # type: ignore[operator]
    known = {0.95, *(bound for bound, _ in EnginePolicy().bounds.values())}
    known |= set(numbers_in(msgspec.to_builtins(document.sections)))
    known |= set(numbers_in(msgspec.to_builtins(document.counts)))
    with speaking("en"):
        forms = set().union(*(forms_of(number) for number in known))
    told = overview(document).facts
    assert told
    for fact in told:
        plain = msgspec.structs.replace(
            fact, values={place: value if value.numbers else NAMELESS for place, value in fact.values.items()}
        )
        with speaking(language):
            words = tell_fact(plain).replace("\u202f", "").replace("F1", "").replace("H1", "").replace("H2", "")
        for found in NUMBER.findall(re.sub(r"(\d),(\d)", r"\1.\2", words) if language == "fr" else words):
            assert found.lstrip("+") in {form.replace(",", "") if language == "fr" else form for form in forms}, fact


def test_the_overview_comes_first_and_tells_the_headline_rates() -> None:
    section = sample_document().sections[0]
    assert isinstance(section, OverviewSection)
    assert [figure.alias for figure in section.figures] == ["MiHR", "MaHR"]
    # 47 of 481 is 9.77 %; the sample's intervals reach 8 points down and 9 up; 28 undecided make 47/509 and 75/509.
    assert [tell_fact(fact) for fact in section.facts] == [
        "Unsupported claims: 9.8 % (95 % interval 1.8 to 18.8 %), 47 of 481.",
        "Answers with at least one unsupported claim: 42.4 % (95 % interval 34.4 to 51.4 %), 28 of 66.",
        (
            "By model, no group stands out: llama-2-7b-chat has the highest share, 17.8 % (95 % interval 9.8 to "
            "26.8 %), but the intervals overlap."
        ),
        (
            "28 claims were left undecided and 0 failed. Depending on how they turn out, the share lies between 9.2 % "
            "and 14.7 %."
        ),
    ]


def test_a_group_is_called_worst_only_where_its_interval_lies_apart() -> None:
    low, high = row("mihr", 0.1, (0.05, 0.2), model="a"), row("mihr", 0.4, (0.3, 0.5), model="b")
    near = row("mihr", 0.25, (0.15, 0.31), model="c")
    assert worst_of([low, high]) == (high, True)
    assert worst_of([low, near, high]) == (high, False)
    assert worst_of([high]) is None
    assert worst_of([high, row("mihr", None, model="d")]) is None
    score_low, score_high = (
        row("score", 0.2, (0.1, 0.3), direction="higher"),
        row("score", 0.6, (0.4, 0.8), direction="higher"),
    )
    assert worst_of([score_high, score_low]) == (score_low, True)
    told = facts_of(Summary(1, "audit", Counts(), (low, high)))
    assert told["group"] == "By model, b is the worst: 40.0 % (95 % interval 30.0 to 50.0 %), clearly above all others."


def test_a_field_in_which_a_group_stands_out_is_told_before_one_in_which_none_does() -> None:
    rows = [row("mihr", 0.2, (0.1, 0.3), model=name) for name in "ab"]
    rows += [row("mihr", 0.1, (0.0, 0.2), topic="law"), row("mihr", 0.5, (0.4, 0.6), topic="tax")]
    assert facts_of(Summary(1, "audit", Counts(), tuple(rows)))["group"].startswith("By topic, tax is the worst")


def test_what_cannot_be_told_of_claims_is_said() -> None:
    told = facts_of(Summary(1, "audit", Counts(judges=1), (row("mihr", None),)), "rules")
    assert told["unsupported"] == "The share of unsupported claims is not known: nothing to count."
    assert told["judges"].startswith("One judge, rules, made all of these verdicts, and nobody has checked it")
    alone = facts_of(Summary(1, "audit", Counts(judges=2), (row("mihr", 0.5), row("mahr", 0.25, counts=(1, 4)))))
    assert alone["unsupported"] == "Unsupported claims: 50.0 %, 1 of 2."
    assert alone["responses"] == "Answers with at least one unsupported claim: 25.0 %, 1 of 4."
    assert "unmeasured" not in alone
    assert "judges" not in alone


def test_judges_agree_as_far_as_the_summary_says() -> None:
    agreed = row("observed_agreement", 0.9, counts=(0, 394))
    rows = (agreed, row("krippendorff_alpha", 0.47, (0.24, 0.62)))
    told = facts_of(Summary(1, "audit", Counts(judges=2), rows))["judges"]
    assert told.endswith(
        "(394 claims, 2 judges); corrected for chance, Krippendorff's alpha is 0.470 (95 % interval 0.240 to 0.620)."
    )
    barely = facts_of(Summary(1, "audit", Counts(judges=2), (agreed, row("krippendorff_alpha", None))))["judges"]
    assert barely.endswith("how much of that is chance is not known.")


def test_an_engine_is_best_only_as_far_as_the_tests_show() -> None:
    apart = facts_of(pages(ranking=ranked(0.001, groups=(("a", "b"), ("b", "c")))))["ranking"]
    assert apart == (
        "a has the best mean rank by CER, 1.250, on 12 pages that all ranked engines have read, and differs from c "
        "(Friedman, p = 0.001)."
    )
    together = facts_of(pages(ranking=ranked(0.04, groups=(("a", "b", "c"),))))["ranking"]
    assert "but is not shown to differ from any other alone" in together
    assert facts_of(pages(ranking=ranked(0.2)))["ranking"].startswith("No engine is shown to be better than another")
    untested = facts_of(pages(ranking=ranked(None, undefined="fewer than two pages")))["ranking"]
    assert untested == "Whether the engines differ was not tested: fewer than two pages."
    assert "ranking" not in facts_of(pages())


def test_of_many_engines_the_best_and_the_worst_are_named_and_the_others_counted() -> None:
    engines = tuple(RankedEngine(f"e{place}", float(place)) for place in range(1, 49))
    few = facts_of(pages(ranking=ranked(0.001, engines=engines, groups=(("e1", "e2", "e3"),))))
    assert few["ranking"] == (
        "e1 has the best mean rank by CER, 1.000, and e48 the worst, 48.000, on 12 pages that all ranked engines have "
        "read; the best differs from 45 of the 47 others (Friedman, p = 0.001)."
    )
    assert few["alike"] == "Not told apart from each other: e1, e2, e3."
    group = tuple(f"e{place}" for place in range(1, 22))
    many = facts_of(pages(ranking=ranked(0.001, engines=engines, groups=(group,))))["alike"]
    assert many == "Not told apart from each other: 21 engines, in the order of mean rank from e1 to e21."
    assert "alike" not in facts_of(pages(ranking=ranked(0.001, engines=engines)))


def test_every_group_that_cannot_be_told_apart_is_named_not_only_that_of_the_best() -> None:
    engines = tuple(RankedEngine(f"e{place}", float(place)) for place in range(1, 49))
    apart = ranked(0.001, engines=engines, groups=(("e2", "e1"), ("e7", "e6"), ("e47", "e48")))
    told = [tell_fact(fact) for fact in page_facts(pages(ranking=apart), None, 0.95) if fact.code == "alike"]
    assert told == [
        "Not told apart from each other: e1, e2.",
        "Not told apart from each other: e6, e7.",
        "Not told apart from each other: e47, e48.",
    ]
    # Of many groups that overlap, as few are told as hold every engine; the others are counted.
    windows = tuple(tuple(f"e{place}" for place in range(start, start + 9)) for start in range(1, 41))
    told = [
        tell_fact(fact)
        for fact in page_facts(pages(ranking=ranked(0.001, engines=engines, groups=windows)), None, 0.95)
        if fact.code == "alike"
    ]
    ends = [("e1", "e9"), ("e10", "e18"), ("e19", "e27"), ("e28", "e36"), ("e37", "e45"), ("e40", "e48")]
    assert told == [
        *(
            f"Not told apart from each other: 9 engines, in the order of mean rank from {first} to {last}."
            for first, last in ends
        ),
        "Groups that lie across these: 34; all are listed under Engines.",
    ]


def test_figures_over_several_engines_are_no_headline() -> None:
    whole, first, second = (metric("cer", 1, 10, by=by, judge=None) for by in ({}, {"engine": "a"}, {"engine": "b"}))
    shown = overview_section(pages(whole, first), None, texts={}, confidence=0.95)
    assert [figure.summary.metric for figure in shown.figures] == ["cer"]
    assert not overview_section(pages(whole, first, second), None, texts={}, confidence=0.95).figures


@pytest.mark.parametrize(
    ("difference", "p_value", "expected"),
    [
        (-0.1, 0.01, "a is better than b by CER on 9 pages that both have read: typical difference 0.100"),
        (0.1, 0.01, "b is better than a by CER"),
        (-0.1, 0.2, "a and b are not shown to differ by CER on 9 pages"),
        (None, None, "a and b do not differ on any page by CER."),
    ],
)
def test_two_engines_are_compared_by_their_pair(difference: float | None, p_value: float | None, expected: str) -> None:
    pair = EnginePair("a", "b", 9, difference, p_value, p_value)
    two = ranked(None, engines=(RankedEngine("a", 1.1), RankedEngine("b", 1.9)), pairs=(pair,))
    assert facts_of(pages(ranking=two))["ranking"].startswith(expected)


def test_an_engine_hallucinates_by_the_bounds_of_picarones_with_every_reason() -> None:
    def engine(name: str, rate: float, anchor: float, ratio: float) -> tuple[MetricSummary, ...]:
        figures = {"hallucinating_page_rate": rate, "anchor_mean": anchor, "length_ratio_mean": ratio}
        return tuple(row(metric, value, engine=name) for metric, value in figures.items())

    assert "over a bound" in facts_of(pages(*engine("at the bounds", 0.3, 0.6, 1.3)))["hallucination"]
    told = facts_of(pages(*engine("wild", 0.31, 0.5, 1.4)))["hallucination"]
    assert told == (
        "wild shows signs of hallucination: 31.0 % of its pages hallucinate, more than 30.0 %; its mean anchor score "
        "is 0.500, less than 0.600; it writes 1.400 times as much as stands there, more than 1.300 times."
    )
    assert "misread characters alone" in facts_of(pages(*engine("noisy", 0.1, 0.5, 1.0)))["hallucination"]
    many = [one for name in "abcde" for one in engine(name, 0.9, 0.1, 1.0)]
    section = overview_section(pages(*many), None, texts={}, confidence=0.95)
    assert tell_fact([fact for fact in section.facts if fact.code == "hallucination"][-1]) == "So do d, e."


def test_the_lowest_error_and_empty_outputs_are_told() -> None:
    rows = (row("cer", 0.2, (0.1, 0.3), engine="a"), row("cer", 0.1, (0.05, 0.2), engine="b"))
    empty = row("empty_output_rate", 0.1, counts=(3, 30))
    told = facts_of(pages(*rows, empty))
    assert told["error"] == "The lowest CER is that of b: 0.100 (95 % interval 0.050 to 0.200)."
    assert told["empty"] == "Outputs that are empty: 3 of 30."
    assert facts_of(pages(rows[0]))["error"].startswith("a, the only engine, has a CER of 0.200")
    assert "error" not in facts_of(pages(row("cer", 0.2, engine="a")))


def difference(name: str, size: float | None, p_value: float, direction: Literal["lower", "higher"]) -> ModeDifference:
    interval = None if size is None else (size - 0.1, size + 0.1)
    return ModeDifference(name, "llm", "agent", 25, 9, 0.5, 0.6, size, interval, 1.0, p_value, p_value, direction)


def dialogues(*differences: ModeDifference, rows: tuple[MetricSummary, ...] = ()) -> Summary:
    return Summary(1, "dialogue", Counts(), rows, dialogue=DialogueSummary(differences))


def test_a_mode_is_better_only_by_the_metrics_that_show_it() -> None:
    better, worse = difference("sfs", 0.2, 0.01, "higher"), difference("csp", 0.2, 0.01, "lower")
    overall, unclear = difference("dialogue_score", 0.1, 0.02, "higher"), difference("mcs", 0.3, 0.2, "higher")
    section = overview_section(dialogues(better, worse, overall, unclear), None, texts={}, confidence=0.95)
    assert [tell_fact(fact) for fact in section.facts] == [
        "agent is shown to be better than llm by SFS, dialogue score on the same turns (25 turns, 9 patients).",
        "agent is shown to be worse than llm by CSP on the same turns (25 turns, 9 patients).",
        (
            "dialogue score of agent minus that of llm: +0.100 (95 % interval +0.000 to +0.200; p = 0.020 after Holm’s "
            "correction)."
        ),
    ]
    assert "are not shown to differ by any metric" in facts_of(dialogues(unclear))["modes"]


def test_the_worst_turn_and_broken_rules_are_told() -> None:
    turns = [
        row("dialogue_score", value, (value - 0.1, value + 0.1), direction="higher", turn_id=turn)
        for turn, value in (("1", 0.9), ("2", 0.4))
    ]
    broken = row("csp_pooled", 0.1, (0.05, 0.2), counts=(3.5, 35))
    right = row("sfs_pooled", 0.9, (0.8, 0.95), counts=(9, 10), direction="higher")
    told = facts_of(dialogues(rows=(*turns, broken, right)))
    assert told["turn"].startswith("Turn 2 is the worst by dialogue score, 0.400")
    assert told["safety"].startswith("Safety rules were broken with a weight of 3.50 of 35 that applied: 10.0 %")
    assert told["facts"].startswith("Of what answers say of their patients, 9 of 10 statements are right: 90.0 %")
    near = msgspec.structs.replace(turns[0], value=0.5, interval=(0.4, 0.6))
    safe = facts_of(dialogues(rows=(near, turns[1], row("csp_pooled", 0.0, (0.0, 0.1), counts=(0, 35)))))
    assert safe["turn"].startswith("No turn stands out: turn 2 has the lowest dialogue score")
    assert safe["safety"] == "No safety rule was broken, of a weight of 35 that applied."


def aspects(*rows: MetricSummary, failed: int = 0) -> Summary:
    return Summary(1, "aspects", Counts(), rows, aspects=AspectSummary(samples=60, failed=failed))


def test_dropped_aspects_are_told_by_class() -> None:
    parts = ("aspect_hallucination_rate_h1", "aspect_hallucination_rate_h2", "filter_rejection_rate")
    rows = [row("aspect_hallucination_rate", 0.1, (0.05, 0.2), counts=(6, 60))]
    rows += [row(name, value) for name, value in zip(parts, (0.05, 0.03, 0.02), strict=True)]
    told = facts_of(aspects(*rows, failed=2))
    assert told["dropped"].endswith(
        "not in the text (H1) 5.0 %, at the wrong place (H2) 3.0 %, no target (filter) 2.0 %."
    )
    assert told["failed"] == "Sentences that failed: 2 of 60."
    assert "dropped" not in facts_of(aspects(*rows[:2]))


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ((0.01, 0.2), "The second stage raised F1 from 0.500 to 0.600: +0.100"),
        ((-0.3, -0.01), "The second stage lowered F1 from 0.500 to 0.600"),
        ((-0.1, 0.2), "The second stage is not shown to change F1, 0.500 before it and 0.600 after it"),
    ],
)
def test_a_stage_changes_f1_only_where_the_interval_leaves_out_zero(
    interval: tuple[float, float], expected: str
) -> None:
    rows = (row("tuple_f1_s1", 0.5), row("tuple_f1_final", 0.6), row("delta_f1", 0.1, interval))
    assert facts_of(aspects(*rows))["stages"].startswith(expected)
    assert facts_of(aspects(row("delta_f1", None)))["stages"].startswith(
        "What the second stage did to F1 cannot be told"
    )


def test_the_step_with_most_errors_is_named_and_those_that_tie_are_all_named() -> None:
    def step(name: str, count: float, error: str = "against_gold") -> MetricSummary:
        return row("step_introduction_rate", count / 90, counts=(count, 90), step=name, error=error)

    told = facts_of(aspects(step("ate", 7), step("atsa", 3), step("moderator", 0)))["blame"]
    assert told == "Most errors against gold were introduced by ate: 7 of 90 that it could have made."
    tied = facts_of(aspects(step("ate", 7), step("atsa", 7)))["blame"]
    assert tied == "Most errors against gold were introduced by ate, atsa, 7 each."
    assert facts_of(aspects(step("ate", 2, "ungrounded")))["blame"].startswith("Most aspects that are not in the text")
    assert "blame" not in facts_of(aspects(step("ate", 0)))


def test_names_in_facts_are_escaped_and_isolated() -> None:
    rows = (row("mihr", 0.1, (0.05, 0.2), model="a"), row("mihr", 0.4, (0.3, 0.5), model="<img src=x>"))
    section = overview_section(Summary(1, "audit", Counts(), rows), None, texts={}, confidence=0.95)
    assert '<bdi class="alias">&lt;img src=x&gt;</bdi>' in tell_fact_html(section.facts[-1])


def test_what_a_policy_says_is_said_in_the_language_of_the_page() -> None:
    with speaking("fr"):
        assert (
            tell_reason("mihr is in the worst case 0.412, above 0.3", {"mihr": "MiHR"})
            == "MiHR vaut au pire 0,412, plus que 0,3"
        )
        assert tell_reason("mihr was not measured", {}) == "mihr n’a pas été mesuré"
        assert tell_reason("nothing was measured", {}) == "rien n’a été mesuré"
    assert tell_reason("MaHR is above 0.30.", {}) == "MaHR is above 0.30."


def test_the_page_begins_with_the_figures_the_sentences_that_add_to_them_and_the_profile() -> None:
    words = Page(render_html(sample_document())).words
    start = words.index("MiHR ↓ 9.8 % micro hallucination rate 95 % interval 1.8 to 18.8 % counts 47 / 481")
    told = words.index("claims were left undecided and")
    assert start < told < words.index("Reliability: medium") < words.index("Headline metrics")
    # The figure says it already.
    assert "Unsupported claims: 9.8 %" not in words


def test_the_opinion_of_a_policy_is_shown_only_where_one_was_given() -> None:
    usual = {name: Profile(name, "high", False, measured=("mihr",)) for name in ("hallumeter", "judge-auditor")}
    assert sample_document([], summary=summary(profile=usual)).profiles == {}
    given = {"strict": Profile("strict", "low", True, measured=("mihr",))}
    assert sample_document([], summary=summary(profile=given)).profiles == given


def test_a_run_in_which_nothing_is_missing_says_so_in_one_line() -> None:
    supported = (Verdict("r", "c", "human", Label.SUPPORTED),)
    record = RecordFindings(Response("r", response="It is so."), (Finding(Claim("r", "c", start=0, end=9), supported),))
    whole = summary(metrics=(metric("mihr", 0, 1),), counts=Counts(records=1, claims=1, verdicts=1, judges=1))
    document = sample_document([record], summary=whole, failures=())
    assert not any(isinstance(section, IntegritySection) for section in document.sections)
    told = [tell_fact(fact) for fact in overview(document).facts]
    assert told[-1] == "Nothing is missing: nothing failed, nothing was left undecided, and nothing was cut short."


def test_a_summary_without_anything_to_tell_has_no_overview() -> None:
    bare = sample_document([], summary=summary(metrics=(), profile={}), manifest=manifest())
    assert not any(isinstance(section, OverviewSection) for section in bare.sections)
