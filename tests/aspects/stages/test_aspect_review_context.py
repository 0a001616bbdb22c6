"""What stage 2 is told of a debate."""

from __future__ import annotations

import pytest
from small_reader import draft_of, felt, read

from hallumeter.aspects.records.aspect import Aspect, AspectSentiment
from hallumeter.aspects.records.outputs import (
    AspectExtraction,
    AspectHint,
    AspectReview,
    AspectReviewItem,
    AspectSentiments,
    DebateOutput,
    DebateRound,
    DebateSummary,
    DebateTurn,
    EditTarget,
    MappingStats,
    ProposedEdit,
    RebuttalPoint,
    ReviewContext,
    SentimentReview,
    SentimentReviewItem,
    StageOne,
)
from hallumeter.aspects.resource_files import shipped_patterns
from hallumeter.aspects.stages.hints import expectation_of_edit, expectation_of_stance
from hallumeter.aspects.stages.review_context import (
    review_context,
    term_index,
    traced_aspect_review,
    traced_sentiment_review,
)

TEXT = "The screen is bright, the battery life short, delivery slow"
DRAFT = draft_of(TEXT, {"screen": "positive", "battery life": "negative"})
STAGE1 = StageOne(AspectExtraction(DRAFT.aspects), AspectSentiments(DRAFT.sentiments))
ENGLISH = shipped_patterns()["en"]


def edit(op: str, term: str | None = None, value: str | None = None, polarity: str | None = None) -> ProposedEdit:
    return ProposedEdit(op, EditTarget(aspect_term=term, polarity=polarity), value)


def context_of(
    *turns: DebateTurn, stage1: StageOne = STAGE1, summary: DebateSummary | None = None, text: str = TEXT
) -> ReviewContext:
    index = term_index(stage1, ENGLISH, read(text))
    return review_context(DebateOutput((DebateRound(1, turns),), summary), stage1, index=index)


def point(turn: DebateTurn, stage1: StageOne = STAGE1) -> RebuttalPoint:
    return context_of(turn, stage1=stage1).rebuttal_points[0]


@pytest.mark.parametrize(
    ("given", "weight", "polarity", "is_drop"),
    [
        (edit("set_polarity", value="pos"), 0.5, "positive", False),
        (edit("set_polarity", value="mixed"), 0.0, None, False),
        (edit("set_polarity", polarity="positive"), 0.0, None, False),
        (edit("confirm_tuple", polarity="negative"), 0.5, "negative", False),
        (edit("confirm_tuple"), 0.0, None, False),
        (edit("drop_tuple", polarity="positive"), 0.8, None, True),
        (edit("set_aspect_ref", value="positive"), 0.0, None, False),
        (edit("merge_tuples", polarity="negative"), 0.5, "negative", False),
        (edit("merge_tuples"), 0.0, None, False),
    ],
)
def test_an_edit_weighs_by_what_it_does(
    given: ProposedEdit, weight: float, polarity: str | None, is_drop: bool
) -> None:
    expected = expectation_of_edit(given)
    assert (expected.weight, expected.polarity, expected.is_drop) == (weight, polarity, is_drop)


def test_at_the_end_a_confirmation_weighs_more() -> None:
    assert expectation_of_edit(edit("confirm_tuple", polarity="pos"), is_last_word=True).weight == 0.8
    assert expectation_of_edit(edit("drop_tuple"), is_last_word=True).weight == 0.8
    assert expectation_of_edit(edit("set_polarity", value="pos"), is_last_word=True).weight == 0.5


@pytest.mark.parametrize(
    ("stance", "weight", "polarity"),
    [("pro", 1.0, "positive"), ("CON", 1.0, "negative"), ("neutral", 0.6, "neutral"), ("cautious", 0.8, "neutral")],
)
def test_a_stance_weighs_by_its_side(stance: str, weight: float, polarity: str) -> None:
    expected = expectation_of_stance(stance)
    assert (expected.weight, expected.polarity) == (weight, polarity)


@pytest.mark.parametrize("stance", [None, "", "  "])
def test_without_a_stance_nothing_is_expected(stance: str | None) -> None:
    assert expectation_of_stance(stance).weight == 0


def test_a_turn_of_edits_is_mapped_directly_and_gives_hints() -> None:
    context = context_of(DebateTurn("epm", (edit("set_polarity", "Battery-Life", "positive"),)))
    assert context.rebuttal_points[0].aspect_terms == ("battery life",)
    assert context.rebuttal_points[0].mapping_confidence == "direct"
    assert context.rebuttal_points[0].provenance_hint == "source:epm/patch"
    assert context.aspect_hints == {"battery life": (AspectHint("epm", "patch", 0.5, "positive"),)}
    assert context.mapping_stats == MappingStats(1, 0, 0)
    assert context.mapping_coverage == 1.0


def test_a_request_to_drop_is_a_hint_of_its_own_and_not_negative() -> None:
    context = context_of(DebateTurn("tan", (edit("drop_tuple", "screen"),)))
    assert context.aspect_hints["screen"] == (AspectHint("tan", "patch", 0.8, None, is_drop=True),)


def test_the_patch_at_the_end_is_the_judges() -> None:
    summary = DebateSummary(final_patch=(edit("confirm_tuple", "screen", polarity="positive"), edit("drop_tuple")))
    context = context_of(summary=summary)
    assert context.aspect_hints == {"screen": (AspectHint("cj", "final_patch", 0.8, "positive"),)}
    assert context.mapping_stats.total == 0
    assert context.mapping_coverage is None
    assert context.summary == summary


def test_synonyms_widen_what_is_recognised() -> None:
    delivery = draft_of(TEXT, {"delivery": "negative"})
    stage1 = StageOne(AspectExtraction(delivery.aspects), AspectSentiments(delivery.sentiments))
    context = context_of(DebateTurn("epm", (edit("set_polarity", "shipping", "negative"),)), stage1=stage1)
    assert context.rebuttal_points[0].aspect_terms == ("delivery",)
    assert "delivery" in context.aspect_hints
    assert context.synonym_hints == {"delivery": ("shipping", "shipment")}
    assert [entry.key for entry in context.aspect_map] == ["delivery", "shipping", "shipment"]


def test_aspects_of_the_extraction_come_before_those_of_the_sentiments() -> None:
    stage1 = StageOne(
        AspectExtraction((Aspect("b"), Aspect(""))),
        AspectSentiments((felt("a", None), felt("b", None), felt(None, None))),
    )
    assert context_of(stage1=stage1).aspect_terms == ("b", "a")


def test_a_category_names_an_aspect_too() -> None:
    by_ref = ProposedEdit("set_polarity", EditTarget(aspect_ref="phone#screen"), "negative")
    assert context_of(DebateTurn("epm", (by_ref,))).aspect_hints["screen"][0].polarity_hint == "negative"


def test_without_edits_the_message_and_the_stance_count() -> None:
    context = context_of(
        DebateTurn(speaker="EPM", stance="con", message="It is short", key_points=("the battery life",))
    )
    assert context.aspect_hints == {"battery life": (AspectHint("EPM", "con", 1.0, "negative"),)}
    assert context.rebuttal_points[0].provenance_hint == "source:EPM/con"


def test_a_message_without_a_stance_is_mapped_but_gives_no_hint() -> None:
    context = context_of(DebateTurn("epm", message="the screen"))
    assert context.rebuttal_points[0].aspect_terms == ("screen",)
    assert context.rebuttal_points[0].provenance_hint is None
    assert context.aspect_hints == {}


def test_a_side_without_a_name_falls_back_to_the_surest_aspect_of_that_polarity() -> None:
    mapped = point(DebateTurn("epm", stance="con", message="This is bad"))
    assert (mapped.aspect_terms, mapped.mapping_confidence) == (("battery life",), "fallback")
    assert mapped.mapping_fail_reason == "fallback_used"
    context = context_of(DebateTurn("epm", stance="con", message="This is bad"))
    assert context.mapping_fail_reasons == {"fallback_used": 1}
    assert context.aspect_hints["battery life"][0].polarity_hint == "negative"


def test_where_no_aspect_has_that_polarity_the_surest_of_all_is_taken() -> None:
    sentiments = (felt("screen", "positive", 0.6), felt("battery life", "neutral", 0.9))
    stage1 = StageOne(STAGE1.ate, AspectSentiments(sentiments))
    assert point(DebateTurn("epm", stance="con", message="bad"), stage1).aspect_terms == ("battery life",)


@pytest.mark.parametrize("stance", ["neutral", None])
def test_without_a_side_only_a_single_aspect_can_be_meant(stance: str | None) -> None:
    turn = DebateTurn("epm", stance=stance, message="well")
    assert point(turn).mapping_fail_reason == "neutral_stance"
    assert point(turn).mapping_confidence == "none"
    only = StageOne(STAGE1.ate, AspectSentiments((felt("screen", None), felt("screen", "positive"))))
    assert point(turn, only).aspect_terms == ("screen",)


def test_the_reasons_why_nothing_was_mapped() -> None:
    empty, unfelt = StageOne(), StageOne(STAGE1.ate)
    con = DebateTurn("epm", stance="con", message="bad")
    assert point(con, empty).mapping_fail_reason == "no_aspects"
    assert point(con, unfelt).mapping_fail_reason == "no_match"
    assert point(DebateTurn("epm", stance="neutral"), unfelt).mapping_fail_reason == "neutral_stance"


@pytest.mark.parametrize("turn", [DebateTurn("cj"), DebateTurn("cj", message=" ", key_points=("",), stance="")])
def test_who_says_nothing_is_not_mapped_and_counts_nowhere(turn: DebateTurn) -> None:
    only = StageOne(STAGE1.ate, AspectSentiments((felt("screen", "positive"),)))
    context = context_of(turn, stage1=only)
    assert (context.rebuttal_points, context.mapping_stats, context.mapping_coverage) == ((), MappingStats(), None)


def test_sentiments_about_nothing_by_name_are_never_meant() -> None:
    implicit = StageOne(atsa=AspectSentiments((AspectSentiment(None, "negative", 1.0), felt("", "negative", 1.0))))
    context = context_of(DebateTurn("epm", stance="con", message="bad"), stage1=implicit)
    assert context.mapping_fail_reasons == {"no_aspects": 1}
    assert context.aspect_terms == ()


def test_an_edit_of_something_unknown_is_no_hint_about_what_is_known() -> None:
    context = context_of(DebateTurn("epm", (edit("set_polarity", "speaker", "negative"),)))
    assert context.rebuttal_points[0].mapping_confidence == "fallback"
    assert context.aspect_hints == {}
    unnamed = context_of(DebateTurn("epm", (edit("set_polarity", value="negative"),)))
    assert unnamed.aspect_hints == {"battery life": (AspectHint("epm", "patch", 0.5, "negative"),)}


def test_edits_that_disagree_leave_a_turn_without_a_polarity() -> None:
    turn = DebateTurn("epm", (edit("set_polarity", "screen", "pos"), edit("set_polarity", "battery life", "neg")))
    mapped = point(turn)
    assert (mapped.aspect_terms, mapped.polarity_hint, mapped.weight) == (("screen", "battery life"), None, 0.5)


def test_counts_are_kept_in_a_fixed_order() -> None:
    context = context_of(
        DebateTurn("epm", message="screen"),
        DebateTurn("tan", stance="pro", message="nice"),
        DebateTurn("cj", stance="neutral"),
    )
    assert context.mapping_stats == MappingStats(1, 1, 1)
    assert context.mapping_coverage == 2 / 3
    assert list(context.mapping_fail_reasons.items()) == [("fallback_used", 1), ("neutral_stance", 1)]


def test_provenance_is_written_by_code_over_whatever_an_agent_wrote() -> None:
    turns = (
        DebateTurn("epm", (edit("set_polarity", "screen", "pos"), edit("confirm_tuple", "screen", polarity="pos"))),
        DebateTurn("cj", (edit("confirm_tuple", "screen", polarity="pos"),)),
    )
    context = context_of(*turns)
    index = term_index(STAGE1, ENGLISH, read(TEXT))
    aspects = AspectReview((AspectReviewItem("Screen", "keep", provenance="forged"), AspectReviewItem("x", "keep")))
    traced = traced_aspect_review(aspects, context, index)
    assert [item.provenance for item in traced.aspect_review] == ["source:epm/patch; source:cj/patch", None]
    felt_review = SentimentReview(
        (SentimentReviewItem("screen", "maintain"), SentimentReviewItem("battery life", "drop", provenance="forged"))
    )
    traced_felt = traced_sentiment_review(felt_review, context, index)
    assert [item.provenance for item in traced_felt.sentiment_review] == ["source:epm/patch; source:cj/patch", None]
    assert traced_aspect_review(aspects, None, None).aspect_review[0].provenance is None


def test_the_reason_of_a_review_names_the_sources_once() -> None:
    context = context_of(DebateTurn("tan", (edit("drop_tuple", "screen"),)))
    index = term_index(STAGE1, ENGLISH, read(TEXT))
    aspects = AspectReview((AspectReviewItem("screen", "drop", reason="no target"), AspectReviewItem("screen", "keep")))
    traced = traced_aspect_review(aspects, context, index)
    assert [item.reason for item in traced.aspect_review] == ["no target [source:tan/patch]", "[source:tan/patch]"]
    assert traced_aspect_review(traced, context, index) == traced
    felt_review = SentimentReview(
        (SentimentReviewItem("screen", "maintain", reason="clear"), SentimentReviewItem("x", "drop", reason="odd"))
    )
    traced_felt = traced_sentiment_review(felt_review, context, index)
    assert [item.reason for item in traced_felt.sentiment_review] == ["clear [source:tan/patch]", "odd"]


@pytest.mark.parametrize(
    "message", ["the 'Battery - Life', well", "BATTERY/LIFE!!", "battery\u00a0life?", "batterylife"]
)
def test_a_turn_names_an_aspect_whatever_its_marks_spaces_and_case(message: str) -> None:
    mapped = point(DebateTurn(speaker="EPM", stance="con", message=message))
    assert (mapped.aspect_terms, mapped.mapping_confidence) == (("battery life",), "direct")


@pytest.mark.parametrize(
    ("stance", "polarity", "weight"),
    [("pro", "positive", 1.0), ("con", "negative", 1.0), ("neutral", "neutral", 0.6), ("sceptical", "neutral", 0.8)],
)
def test_the_stance_of_an_older_turn_gives_its_polarity_and_weight(stance: str, polarity: str, weight: float) -> None:
    mapped = point(DebateTurn(speaker="EPM", stance=stance, key_points=("screen",)))
    assert (mapped.aspect_terms, mapped.polarity_hint, mapped.weight) == (("screen",), polarity, weight)
