"""Patches of validators and reviews: what is applied, what is ignored, and why."""

from __future__ import annotations

import pytest
from small_reader import at, draft_of, felt, read, terms

from hallumeter.aspects.records.aspect import Aspect, AspectSentiment, AspectTerm, CorrectionProposal, TextSpan
from hallumeter.aspects.records.outputs import AspectReview, AspectReviewItem, SentimentReview, SentimentReviewItem
from hallumeter.aspects.stages.changes import (
    FRESH_LIST,
    Memory,
    Patched,
    anchored,
    refused_proposals,
    with_aspect_review,
    with_proposals,
    with_sentiment_review,
)
from hallumeter.aspects.stages.draft import Draft

TEXT = "The screen is not good but the battery life is great, camera too"
DRAFT = draft_of(TEXT, {"screen": "positive", "battery life": "neutral", "camera": "negative"})


def proposed(*proposals: tuple[str | None, str], draft: Draft = DRAFT, span: TextSpan | None = None) -> Patched:
    given = [CorrectionProposal(target, kind, "why", span) for target, kind in proposals]
    return with_proposals(draft, given, read(TEXT))


def review(*items: AspectReviewItem, draft: Draft = DRAFT) -> Patched:
    return with_aspect_review(draft, AspectReview(items), sentence=read(TEXT), memory=Memory())


def feel(*items: SentimentReviewItem, draft: Draft = DRAFT) -> Patched:
    return with_sentiment_review(draft, SentimentReview(items), sentence=read(TEXT), memory=Memory())


def ignored(patched: Patched) -> list[str | None]:
    return [entry.ignored_reason for entry in patched.log]


def polarities(draft: Draft) -> dict[str, str | None]:
    return {sentiment.term: sentiment.polarity for sentiment in draft.sentiments}


def test_a_flip_turns_the_first_sentiment_and_says_so() -> None:
    patched = proposed(("screen", "FLIP_POLARITY"))
    flipped = patched.draft.sentiments[0]
    assert (flipped.polarity, flipped.confidence) == ("negative", 0.9)
    assert flipped.polarity_distribution == {"negative": 0.9, "positive": 0.1}
    entry = patched.log[0]
    assert (entry.applied, entry.ignored_reason, entry.step) == (True, None, "validator_proposals")
    assert (entry.proposal_type, entry.target_aspect, entry.rationale) == ("FLIP_POLARITY", "screen", "why")
    assert (entry.reason, entry.resulting_polarity) == ("positive -> negative", "negative")


def test_a_flip_keeps_a_higher_confidence_and_turns_only_the_first_of_several() -> None:
    sure = Draft(DRAFT.aspects, (felt("screen", "positive", 0.95), felt("screen", "positive", None)))
    flipped = proposed(("screen", "FLIP_POLARITY"), draft=sure).draft.sentiments
    assert [(one.polarity, one.confidence) for one in flipped] == [("negative", 0.95), ("positive", None)]


def test_a_flip_of_neutral_has_no_effect() -> None:
    patched = proposed(("battery life", "FLIP_POLARITY"))
    assert patched.draft == DRAFT
    assert ignored(patched) == ["without_effect"]
    assert not patched.log[0].applied


def test_a_missing_polarity_cannot_be_turned_and_does_not_become_neutral() -> None:
    missing = Draft(DRAFT.aspects, (felt("screen", None),))
    patched = proposed(("screen", "FLIP_POLARITY"), draft=missing)
    assert (patched.draft, ignored(patched)) == (missing, ["impossible"])


@pytest.mark.parametrize("target", ["speaker", "", None, " ", "?"])
@pytest.mark.parametrize("kind", ["FLIP_POLARITY", "DROP_ASPECT", "REVISE_SPAN"])
def test_a_target_that_is_not_there_makes_a_proposal_impossible(target: str | None, kind: str) -> None:
    implicit = Draft((*DRAFT.aspects, Aspect("")), (*DRAFT.sentiments, felt(None, "positive"), felt("", "negative")))
    patched = proposed((target, kind), draft=implicit)
    assert (patched.draft, ignored(patched)) == (implicit, ["impossible"])


def test_nothing_said_about_an_aspect_cannot_be_flipped() -> None:
    patched = proposed(("screen", "FLIP_POLARITY"), draft=Draft(DRAFT.aspects))
    assert ignored(patched) == ["impossible"]
    assert "nothing is said about it" in patched.log[0].reason


def test_a_dropped_aspect_goes_with_its_sentiments() -> None:
    patched = proposed(("camera", "drop aspect"))
    assert terms(patched.draft.aspects) == ["screen", "battery life"]
    assert "camera" not in polarities(patched.draft)
    assert patched.log[0].applied
    assert patched.log[0].proposal_type == "DROP_ASPECT"


@pytest.mark.parametrize("target", ["Screen", "SCREEN ", "screen."])
def test_spelling_does_not_hide_a_target(target: str) -> None:
    assert proposed((target, "FLIP_POLARITY")).log[0].applied


def test_a_particle_does_not_hide_a_target() -> None:
    text = "배터리가 안 좋다"
    draft = draft_of(text, {"배터리": "positive"})
    patched = with_proposals(draft, [CorrectionProposal("배터리가", "FLIP_POLARITY")], read(text))
    assert polarities(patched.draft) == {"배터리": "negative"}


def test_a_target_that_fits_several_aspects_is_ambiguous() -> None:
    draft = Draft((Aspect("Screen"), Aspect("screen")), (felt("Screen", "positive"), felt("screen", "negative")))
    assert ignored(proposed(("SCREEN", "FLIP_POLARITY"), draft=draft)) == ["ambiguous"]
    assert ignored(proposed(("SCREEN", "DROP_ASPECT"), draft=draft)) == ["ambiguous"]
    assert ignored(proposed(("screen", "DROP_ASPECT"), draft=draft)) == [None]


def test_a_second_flip_conflicts_with_the_first() -> None:
    patched = proposed(("screen", "FLIP_POLARITY"), ("screen", "FLIP_POLARITY"))
    assert ignored(patched) == [None, "conflicting"]
    assert patched.log[1].reason == "an earlier correction made it negative"
    assert polarities(patched.draft)["screen"] == "negative"


def test_proposals_that_contradict_each_other_are_decided_by_the_first() -> None:
    assert ignored(proposed(("screen", "DROP_ASPECT"), ("screen", "FLIP_POLARITY"))) == [None, "conflicting"]
    assert ignored(proposed(("screen", "FLIP_POLARITY"), ("Screen", "DROP_ASPECT"))) == [None, "conflicting"]
    assert ignored(proposed(("screen", "DROP_ASPECT"), ("screen", "DROP_ASPECT"))) == [None, "without_effect"]


def test_what_nobody_knows_is_unsupported_and_keeps_its_name() -> None:
    patched = proposed(("screen", "CHECK_SPAN"))
    assert (patched.log[0].proposal_type, ignored(patched)) == ("CHECK_SPAN", ["unsupported"])


WRONG = Draft(
    (Aspect("screen", TextSpan(0, 6), 0.9), *DRAFT.aspects[1:]),
    (felt("screen", "positive", span=TextSpan(1, 7)), *DRAFT.sentiments[1:]),
)


def test_a_span_is_revised_where_the_term_stands_and_sentiments_follow() -> None:
    patched = proposed(("screen", "REVISE_SPAN"), draft=WRONG, span=at(TEXT, "screen"))
    assert patched.log[0].applied
    assert patched.draft == DRAFT


@pytest.mark.parametrize("span", [None, TextSpan(0, 3), TextSpan(-60, -54), TextSpan(4, 999), TextSpan(10, 4)])
def test_a_span_that_does_not_hold_the_term_is_impossible(span: TextSpan | None) -> None:
    assert ignored(proposed(("screen", "REVISE_SPAN"), draft=WRONG, span=span)) == ["impossible"]


def test_a_span_that_is_right_already_is_without_effect_and_a_second_one_conflicts() -> None:
    text = "screen, screen and screen"
    draft = Draft((Aspect("screen", TextSpan(1, 7)), Aspect("screen", at(text, "screen", 2))))
    spans = [at(text, "screen", 2), at(text, "screen", 0), at(text, "screen", 1)]
    given = [CorrectionProposal("screen", "REVISE_SPAN", revised_span=span) for span in spans]
    patched = with_proposals(draft, given, read(text))
    assert ignored(patched) == ["without_effect", None, "conflicting"]
    assert patched.draft.aspects[0].span == at(text, "screen", 0)


def test_a_revised_span_may_hold_the_particle() -> None:
    text = "배터리는 좋다"
    draft = Draft((Aspect("배터리", TextSpan(1, 4)),))
    given = [CorrectionProposal("배터리", "REVISE_SPAN", revised_span=TextSpan(0, 4))]
    assert with_proposals(draft, given, read(text)).draft.aspects == (Aspect("배터리", TextSpan(0, 3)),)


def test_proposals_of_a_run_without_stage_2_are_kept_as_disabled() -> None:
    log = refused_proposals([CorrectionProposal("screen", "FLIP_POLARITY", "why")])
    assert [(entry.applied, entry.ignored_reason) for entry in log] == [(False, "disabled")]


KEPT = tuple(AspectReviewItem(term, "keep") for term in DRAFT.aspect_terms)


@pytest.mark.parametrize("action", ["keep", "Maintain"])
def test_what_is_kept_stays_as_it_is(action: str) -> None:
    patched = review(AspectReviewItem("screen", action), AspectReviewItem("speaker", action))
    assert patched.draft == DRAFT
    assert ignored(patched) == ["without_effect", "impossible"]
    assert [entry.proposal_type for entry in patched.log] == ["keep", "keep"]


@pytest.mark.parametrize("action", ["drop", "remove"])
def test_a_review_drops_an_aspect_with_its_sentiments(action: str) -> None:
    patched = review(AspectReviewItem("screen", action, reason="no target", provenance="source:tan/patch"))
    assert "screen" not in (*patched.draft.aspect_terms, *patched.draft.sentiment_terms)
    entry = patched.log[0]
    assert (entry.applied, entry.step, entry.proposal_type) == (True, "ate_review", "drop")
    assert (entry.rationale, entry.provenance) == ("no target", "source:tan/patch")
    assert entry.reason == "dropped [source:tan/patch]"


@pytest.mark.parametrize("action", ["revise_span", "revise", "revise-span"])
def test_a_review_revises_a_span(action: str) -> None:
    patched = review(AspectReviewItem("screen", action, at(TEXT, "screen")), draft=WRONG)
    assert (patched.draft, patched.log[0].proposal_type) == (DRAFT, "revise_span")


def test_a_review_adds_an_aspect_that_stands_at_its_span() -> None:
    draft = Draft(DRAFT.aspects[:2], DRAFT.sentiments[:2])
    patched = review(*KEPT[:2], AspectReviewItem("camera", "add", at(TEXT, "camera"), "seen"), draft=draft)
    assert patched.draft.aspects[2] == Aspect("camera", at(TEXT, "camera"), 0.8, "seen")
    assert patched.log[2].applied


def test_an_added_aspect_has_no_particle() -> None:
    text = "화면 배터리는 좋다"
    items = (AspectReviewItem("화면", "keep"), AspectReviewItem("배터리는", "add", TextSpan(3, 7)))
    draft = draft_of(text, {"화면": "positive"})
    patched = with_aspect_review(draft, AspectReview(items), sentence=read(text), memory=Memory())
    assert patched.draft.aspects[1] == Aspect("배터리", TextSpan(3, 6), 0.8)


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (AspectReviewItem("camera", "add"), "impossible"),
        (AspectReviewItem("camera", "add", TextSpan(0, 6)), "impossible"),
        (AspectReviewItem("speaker", "add", TextSpan(0, 7)), "impossible"),
        (AspectReviewItem("screen", "add", at(TEXT, "screen")), "without_effect"),
        (AspectReviewItem("", "add", TextSpan(0, 0)), "impossible"),
        (AspectReviewItem("screen", "reduce_confidence"), "unsupported"),
        (AspectReviewItem("screen", ""), "unsupported"),
    ],
)
def test_items_that_cannot_be_carried_out_are_ignored_with_a_reason(item: AspectReviewItem, reason: str) -> None:
    patched = review(*KEPT, item)
    assert (patched.draft, ignored(patched)[-1]) == (DRAFT, reason)


def test_a_list_of_what_is_there_is_no_review() -> None:
    items = [AspectReviewItem(term, "add", at(TEXT, term)) for term in ("screen", "camera")]
    patched = review(*items)
    assert [(entry.ignored_reason, entry.reason) for entry in patched.log] == [("conflicting", FRESH_LIST)] * 2


def test_several_additions_without_a_word_on_what_is_there_are_refused() -> None:
    draft = Draft(DRAFT.aspects[:1])
    items = [AspectReviewItem(term, "add", at(TEXT, term)) for term in ("battery life", "camera")]
    assert ignored(review(*items, draft=draft)) == ["conflicting", "conflicting"]


def test_additions_beside_reviewed_items_are_taken_on_their_merits() -> None:
    draft = Draft(DRAFT.aspects[:1])
    items = [AspectReviewItem(term, "add", at(TEXT, term)) for term in ("battery life", "camera")]
    patched = review(KEPT[0], *items, draft=draft)
    assert ignored(patched) == ["without_effect", None, None]
    assert terms(patched.draft.aspects) == ["screen", "battery life", "camera"]


def test_a_single_addition_is_taken_on_its_merits() -> None:
    draft = Draft(DRAFT.aspects[:1])
    assert ignored(review(AspectReviewItem("camera", "add", at(TEXT, "camera")), draft=draft)) == [None]
    assert ignored(review(AspectReviewItem("screen", "add", at(TEXT, "screen")), draft=draft)) == ["without_effect"]
    assert ignored(review(AspectReviewItem("camera", "add"), draft=draft)) == ["impossible"]


def test_where_stage_1_found_nothing_there_is_nothing_to_review_and_aspects_may_be_added() -> None:
    patched = review(AspectReviewItem("camera", "add", at(TEXT, "camera")), draft=Draft())
    assert terms(patched.draft.aspects) == ["camera"]


def test_an_aspect_that_a_review_dropped_is_not_added_again_by_it() -> None:
    items = (AspectReviewItem("screen", "drop"), AspectReviewItem("screen", "add", at(TEXT, "screen")), *KEPT[1:])
    assert ignored(review(*items))[:2] == [None, "conflicting"]


def test_both_reviews_share_a_memory() -> None:
    memory = Memory()
    dropped = AspectReview((AspectReviewItem("screen", "drop"),))
    patched = with_aspect_review(DRAFT, dropped, sentence=read(TEXT), memory=memory)
    flip = SentimentReview((SentimentReviewItem("screen", "flip_polarity"),))
    assert ignored(with_sentiment_review(patched.draft, flip, sentence=read(TEXT), memory=memory)) == ["conflicting"]


@pytest.mark.parametrize(
    ("term", "revised", "expected"),
    [
        ("screen", None, "negative"),
        ("camera", None, "positive"),
        ("battery life", None, "negative"),
        ("battery life", "positive", "positive"),
        ("screen", "neutral", "neutral"),
    ],
)
def test_a_review_flips_to_the_revised_polarity_or_the_opposite(term: str, revised: None, expected: str) -> None:
    patched = feel(SentimentReviewItem(term, "flip_polarity", revised))
    assert polarities(patched.draft)[term] == expected
    assert (patched.log[0].applied, patched.log[0].resulting_polarity) == (True, expected)


def test_a_review_flips_all_sentiments_about_a_term() -> None:
    draft = Draft(DRAFT.aspects, (felt("screen", "positive"), felt("screen", "neutral")))
    flipped = feel(SentimentReviewItem("screen", "flip"), draft=draft).draft.sentiments
    assert [one.polarity for one in flipped] == ["negative", "negative"]


def test_flips_that_change_nothing_or_turn_back_are_ignored() -> None:
    same = feel(SentimentReviewItem("screen", "revise_polarity", "positive"))
    assert (same.draft, ignored(same)) == (DRAFT, ["without_effect"])
    back = feel(SentimentReviewItem("screen", "flip"), SentimentReviewItem("screen", "revise", "positive"))
    assert ignored(back) == [None, "conflicting"]
    missing = Draft(DRAFT.aspects, (felt("screen", None),))
    assert ignored(feel(SentimentReviewItem("screen", "flip"), draft=missing)) == ["impossible"]
    named = feel(SentimentReviewItem("screen", "flip", "positive"), draft=missing)
    assert named.draft.sentiments[0].polarity_distribution == {"positive": 0.9}


def test_a_review_drops_sentiments_and_leaves_the_aspect() -> None:
    patched = feel(SentimentReviewItem("screen", "remove"), SentimentReviewItem("camera", "maintain"))
    assert "screen" not in polarities(patched.draft)
    assert "screen" in patched.draft.aspect_terms
    assert ignored(patched) == [None, "without_effect"]
    assert [entry.proposal_type for entry in patched.log] == ["drop", "maintain"]


def test_a_sentiment_is_added_where_there_is_none() -> None:
    draft = Draft(DRAFT.aspects, DRAFT.sentiments[1:])
    patched = feel(
        SentimentReviewItem("camera", "maintain"), SentimentReviewItem("Screen", "add", "negative"), draft=draft
    )
    added = patched.draft.sentiments[-1]
    assert (added.term, added.polarity, added.confidence) == ("Screen", "negative", 0.9)
    assert added.aspect_term == AspectTerm("Screen", at(TEXT, "screen"))
    assert anchored(patched.draft).draft.sentiments[-1].term == "screen"


def test_a_list_of_sentiments_is_refused_and_a_single_one_is_taken_on_its_merits() -> None:
    draft = Draft(DRAFT.aspects, DRAFT.sentiments[2:])
    items = [SentimentReviewItem(term, "add", "negative") for term in ("screen", "battery life")]
    assert ignored(feel(*items, draft=draft)) == ["conflicting", "conflicting"]
    assert ignored(feel(items[0], draft=draft)) == [None]
    assert ignored(feel(*items, draft=Draft(DRAFT.aspects))) == [None, None]


def test_a_sentiment_takes_the_place_of_a_neutral_that_code_filled_in() -> None:
    neutral = AspectSentiment(AspectTerm("screen"), "neutral", 0.5, is_backfilled=True)
    filled = Draft(DRAFT.aspects[:1], (neutral,))
    patched = feel(SentimentReviewItem("screen", "add", "negative"), draft=filled)
    assert [(one.polarity, one.is_backfilled) for one in patched.draft.sentiments] == [("negative", False)]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (SentimentReviewItem("screen", "add", "positive"), "without_effect"),
        (SentimentReviewItem("screen", "add", "negative"), "conflicting"),
        (SentimentReviewItem("screen", "add"), "impossible"),
        (SentimentReviewItem("speaker", "add", "negative"), "impossible"),
        (SentimentReviewItem("", "add", "negative"), "impossible"),
        (SentimentReviewItem("screen", "revise_term", revised_term="speaker"), "impossible"),
        (SentimentReviewItem("screen", "revise_term", revised_term="Screen"), "without_effect"),
        (SentimentReviewItem("screen", "revise"), "impossible"),
        (SentimentReviewItem("screen", "revise_span", revised_span=at(TEXT, "screen")), "without_effect"),
        (SentimentReviewItem("screen", "reduce_confidence"), "unsupported"),
    ],
)
def test_sentiment_items_that_change_nothing_have_a_reason(item: SentimentReviewItem, reason: str) -> None:
    patched = feel(*(SentimentReviewItem(term, "maintain") for term in DRAFT.sentiment_terms), item)
    assert (patched.draft, ignored(patched)[-1]) == (DRAFT, reason)


def test_the_place_and_the_name_of_a_sentiment_can_be_revised() -> None:
    moved = feel(SentimentReviewItem("screen", "revise_span", revised_span=at(TEXT, "screen")), draft=WRONG)
    assert moved.draft.sentiments[0].aspect_term == AspectTerm("screen", at(TEXT, "screen"))
    assert moved.draft.aspects == WRONG.aspects
    items = (
        SentimentReviewItem("screen", "revise", revised_term="camera"),
        SentimentReviewItem("camera", "revise_term", revised_term="screen"),
    )
    renamed = feel(*items)
    assert renamed.draft.sentiment_terms == ("camera", "battery life")
    assert ignored(renamed) == [None, "conflicting"]


def test_sentiments_are_anchored_to_their_aspects_or_left_out() -> None:
    sentiments = (
        felt("screen", "positive"),
        felt("battery", "negative"),
        felt("speaker", "positive"),
        felt(None, "positive"),
        felt("", "negative"),
    )
    tied = anchored(Draft(DRAFT.aspects, sentiments))
    assert [one.term for one in tied.draft.sentiments] == ["screen", "battery life", "", ""]
    assert tied.draft.sentiments[1].aspect_term == AspectTerm("battery life", at(TEXT, "battery life"))
    assert tied.notes == (
        "anchoring: mapped_aspect_term:battery->battery life",
        "anchoring: dropped_unanchored_aspect_term:speaker",
    )
