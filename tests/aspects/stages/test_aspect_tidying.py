"""What code makes of the answers of stage 1."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from small_reader import at, draft_of, felt, read, terms

from hallumeter.aspects.records.aspect import (
    Aspect,
    AspectSentiment,
    AspectTerm,
    CorrectionProposal,
    Polarity,
    StructuralRisk,
    TextSpan,
)
from hallumeter.aspects.records.outputs import StructuralReview, StructuralValidation
from hallumeter.aspects.stages.draft import Draft
from hallumeter.aspects.stages.tidying import (
    MISSING_SECOND_ASPECT,
    gated_review,
    gated_validation,
    tidied_aspects,
    tidied_sentiments,
    with_second_aspect_settled,
)

BATTERY = "배터리는 오래 간다"


def test_a_particle_is_cut_from_a_term_and_its_span() -> None:
    tidied = tidied_aspects((Aspect("배터리는", TextSpan(0, 4), 0.9),), read(BATTERY))
    assert tidied.aspects == (Aspect("배터리", TextSpan(0, 3), 0.9),)
    assert tidied.notes == ("ate: '배터리는' without its particle is '배터리'",)


@pytest.mark.parametrize("noun", ["고양이", "종이"])
def test_a_noun_that_ends_as_a_particle_does_is_left_whole(noun: str) -> None:
    aspect = Aspect(noun, TextSpan(0, len(noun)))
    assert tidied_aspects((aspect,), read(f"{noun} 귀엽다")).aspects == (aspect,)


def test_a_particle_of_a_term_that_does_not_occur_is_not_cut() -> None:
    aspect = Aspect("화면은", TextSpan(0, 3))
    assert tidied_aspects((aspect,), read(BATTERY)).aspects == (aspect,)


def test_a_span_that_left_the_particle_out_already_is_kept() -> None:
    tidied = tidied_aspects((Aspect("배터리는", TextSpan(0, 3)),), read(BATTERY))
    assert tidied.aspects == (Aspect("배터리", TextSpan(0, 3)),)


def test_a_wrong_span_stays_as_wrong_as_it_was() -> None:
    tidied = tidied_aspects((Aspect("배터리는", TextSpan(2, 6)),), read(BATTERY))
    assert tidied.aspects == (Aspect("배터리", TextSpan(2, 5)),)


def test_a_term_without_a_span_gets_none() -> None:
    assert tidied_aspects((Aspect("배터리는"),), read(BATTERY)).aspects == (Aspect("배터리"),)


def test_a_term_is_read_at_the_place_that_is_nearest_to_its_span() -> None:
    text = "나이 나이는 어리다"
    assert tidied_aspects((Aspect("나이는", TextSpan(2, 5)),), read(text)).aspects == (Aspect("나이", TextSpan(2, 4)),)


@pytest.mark.parametrize("span", [TextSpan(-9, 99), TextSpan(3, 1), None])
def test_an_aspect_that_does_not_stand_in_the_text_reaches_the_score(span: TextSpan | None) -> None:
    aspect = Aspect("카메라", span)
    tidied = tidied_aspects((aspect,), read("화면이 좋다"))
    assert (tidied.aspects, tidied.notes, tidied.risk) == ((aspect,), (), None)


def test_behind_a_contrast_a_second_aspect_is_added_and_the_risk_is_raised() -> None:
    text = "The screen is fine but the battery is weak"
    tidied = tidied_aspects((Aspect("screen", at(text, "screen")),), read(text))
    assert terms(tidied.aspects) == ["screen", "battery"]
    assert tidied.aspects[1].span == at(text, "battery")
    assert tidied.aspects[1].confidence == 0.5
    assert tidied.risk is not None
    assert (tidied.risk.type, tidied.risk.severity) == (MISSING_SECOND_ASPECT, "high")
    assert tidied.risk.scope == TextSpan(0, len(text))
    assert "'battery' was added" in tidied.notes[0]


def test_the_risk_is_raised_too_where_no_second_aspect_is_found() -> None:
    tidied = tidied_aspects((Aspect("screen", TextSpan(4, 10)),), read("The screen is fine but"))
    assert terms(tidied.aspects) == ["screen"]
    assert tidied.risk is not None
    assert "no further one" in tidied.risk.description


def test_a_term_that_is_known_is_not_added_again() -> None:
    text = "fine but screen, however battery"
    assert terms(tidied_aspects((Aspect("screen"),), read(text)).aspects) == ["screen", "battery"]


def test_two_aspects_satisfy_a_contrast_and_one_named_twice_does_not() -> None:
    text = "screen good but battery weak"
    assert tidied_aspects((Aspect("screen"), Aspect("battery")), read(text)).risk is None
    assert tidied_aspects((Aspect("screen"), Aspect("screen")), read(text)).risk is not None


@pytest.mark.parametrize("text", ["butter is fine", "부동산인데도시락", "인데스크는 좋다"])
def test_a_contrast_within_another_word_is_none(text: str) -> None:
    assert tidied_aspects((), read(text)).risk is None


def test_an_added_korean_aspect_has_no_particle() -> None:
    text = "화면은 좋지만 배터리가 짧다"
    assert terms(tidied_aspects((Aspect("화면", TextSpan(0, 2)),), read(text)).aspects) == ["화면", "배터리"]


TEXT = "The screen and the battery life of the phone"
ASPECTS = (Aspect("screen", at(TEXT, "screen")), Aspect("battery life", at(TEXT, "battery life")))


def test_an_aspect_that_nothing_was_said_about_is_filled_in_as_neutral_and_marked() -> None:
    tidied = tidied_sentiments((felt("screen", "positive"),), ASPECTS, read(TEXT))
    assert tidied.sentiments[1] == AspectSentiment(
        AspectTerm("battery life", at(TEXT, "battery life")),
        "neutral",
        0.5,
        TEXT,
        is_backfilled=True,
        neutral_reason="missing_atsa_for_aspect",
    )
    assert len(tidied.notes) == 1


def test_a_missing_polarity_is_not_made_neutral() -> None:
    given = (felt("screen", None), felt("battery life", "negative"))
    assert tidied_sentiments(given, ASPECTS, read(TEXT)).sentiments == given


def test_a_sentiment_about_no_kept_aspect_is_left_out_with_a_note() -> None:
    given = (felt("screen", "positive"), felt("battery life", "negative"), felt("camera", "positive"))
    tidied = tidied_sentiments(given, ASPECTS, read(TEXT))
    assert tidied.sentiments == given[:2]
    assert tidied.notes == ("atsa: 'camera' is no aspect of the sentence and was left out",)


def test_sentiments_about_nothing_by_name_stay_and_stand_for_no_aspect() -> None:
    given = (felt(None, "positive"), felt("", "negative"), felt(" ", "neutral"))
    tidied = tidied_sentiments(given, ASPECTS[:1], read(TEXT))
    assert tidied.sentiments[:3] == given
    assert tidied.sentiments[3].term == "screen"
    assert tidied.sentiments[3].is_backfilled


def test_an_aspect_without_a_name_is_not_filled_in() -> None:
    assert tidied_sentiments((), (Aspect(""), Aspect(" ")), read(TEXT)).sentiments == ()


def test_an_aspect_that_is_named_twice_is_filled_in_once() -> None:
    twice = (Aspect("screen", TextSpan(4, 10)), Aspect("screen", TextSpan(0, 6)))
    tidied = tidied_sentiments((), twice, read(TEXT))
    assert [sentiment.aspect_term for sentiment in tidied.sentiments] == [AspectTerm("screen", TextSpan(4, 10))]


@pytest.mark.parametrize("written", ["Battery-Life", "BATTERY LIFE", "batterylife"])
def test_spelling_alone_does_not_part_a_sentiment_from_its_aspect(written: str) -> None:
    tidied = tidied_sentiments((felt(written, "negative", span=TextSpan(1, 2)),), ASPECTS[1:], read(TEXT))
    assert [sentiment.aspect_term for sentiment in tidied.sentiments] == [AspectTerm("battery life", TextSpan(1, 2))]
    assert tidied.notes == (f"atsa: mapped_aspect_term:{written}->battery life",)


def test_a_particle_does_not_part_a_sentiment_from_its_aspect() -> None:
    aspects = (Aspect("배터리", TextSpan(0, 3)),)
    tidied = tidied_sentiments((felt("배터리는", "positive", span=TextSpan(0, 4)),), aspects, read(BATTERY))
    assert tidied.sentiments == (felt("배터리", "positive", span=TextSpan(0, 3)),)


RISKS = (StructuralRisk("NEGATION"), StructuralRisk("negation_scope"), StructuralRisk("CONTRAST"), StructuralRisk(""))
PROPOSALS = (CorrectionProposal("screen", "FLIP_POLARITY"), CorrectionProposal("screen", "DROP_ASPECT"))


def test_where_nothing_is_negated_risks_of_negation_and_flips_are_left_out_with_a_note() -> None:
    given = StructuralValidation(RISKS, PROPOSALS, 0.4)
    gated, notes = gated_validation(given, read("the screen is fine"), risk=None, draft=Draft())
    assert gated == StructuralValidation(RISKS[2:], PROPOSALS[1:], 0.4)
    assert notes == (
        "validator: nothing is negated here; 2 risks of negation and 1 proposals to flip a polarity were left out",
    )


def test_where_something_is_negated_everything_stays() -> None:
    given = StructuralValidation(RISKS, PROPOSALS)
    assert gated_validation(given, read("the screen is not fine"), risk=None, draft=Draft()) == (given, ())


@pytest.mark.parametrize(
    ("text", "said", "passes"),
    [
        ("The screen is great but the battery is awful", {"screen": "negative", "battery": "negative"}, True),
        ("The screen is great but the battery is awful", {"screen": "positive", "battery": "negative"}, False),
        ("The screen is great but the battery is awful", {"screen": "positive", "battery": "positive"}, False),
        ("The phone is old but the screen is great", {"screen": "negative"}, True),
        ("The phone is old but the screen is great", {"screen": "positive"}, False),
        ("The phone is old but the screen is great", {"screen": "neutral"}, False),
        ("The phone is old but the screen is great", {}, False),
    ],
)
def test_a_contrast_lets_a_flip_pass_that_it_and_the_words_ask_for(
    text: str, said: dict[str, Polarity], passes: bool
) -> None:
    gated, notes = gated_validation(
        StructuralValidation(RISKS, PROPOSALS), read(text), risk=None, draft=draft_of(text, said)
    )
    assert gated.structural_risks == RISKS[2:]
    assert gated.correction_proposals == (PROPOSALS if passes else PROPOSALS[1:])
    assert notes[0].endswith(f"2 risks of negation and {1 - passes} proposals to flip a polarity were left out")


def test_a_flip_of_an_aspect_without_a_place_is_held_back() -> None:
    nowhere = Draft((Aspect("screen"),), (felt("screen", "negative"),))
    beyond = Draft((Aspect("screen", TextSpan(900, 906)),), (felt("screen", "negative", span=TextSpan(900, 906)),))
    given = StructuralValidation((), PROPOSALS[:1])
    for draft in (nowhere, beyond):
        gated, _ = gated_validation(given, read("The phone is old but the screen is great"), risk=None, draft=draft)
        assert gated.correction_proposals == ()


def test_a_knot_is_no_negation() -> None:
    gated, _ = gated_validation(StructuralValidation(RISKS), read("the knot is fine"), risk=None, draft=Draft())
    assert gated.structural_risks == RISKS[2:]


def test_the_risk_that_code_saw_comes_last_and_passes_the_gate() -> None:
    risk = StructuralRisk(MISSING_SECOND_ASPECT)
    gated, _ = gated_validation(StructuralValidation(RISKS), read("fine"), risk=risk, draft=Draft())
    assert gated.structural_risks == (*RISKS[2:], risk)


def test_the_second_validator_passes_the_same_gate() -> None:
    gated, notes = gated_review(StructuralReview(RISKS, PROPOSALS), read("the screen is fine"), draft=Draft())
    assert (gated.structural_risks, gated.correction_proposals) == (RISKS[2:], PROPOSALS[1:])
    assert notes[0].startswith("validator_review: ")


CONTRAST = "The screen is dull but the battery lasts"
RAISED = StructuralRisk(MISSING_SECOND_ASPECT, TextSpan(0, len(CONTRAST)), "high", "of code")
TWO = draft_of(CONTRAST, {"screen": "negative", "battery": "positive"})


def left_of(
    draft: Draft, *said: StructuralRisk, raised: tuple[StructuralRisk, ...] = (RAISED,)
) -> tuple[StructuralRisk, ...]:
    return with_second_aspect_settled(StructuralReview(said), StructuralValidation(raised), draft).structural_risks


def test_a_second_aspect_is_missing_until_somebody_said_something_about_two() -> None:
    filled = replace(TWO.sentiments[1], is_backfilled=True)
    assert left_of(TWO) == ()
    assert left_of(Draft(TWO.aspects, (TWO.sentiments[0], filled))) == (RAISED,)
    assert left_of(Draft(TWO.aspects, TWO.sentiments[:1])) == (RAISED,)
    assert left_of(Draft(TWO.aspects[:1], TWO.sentiments)) == (RAISED,)
    assert left_of(Draft(TWO.aspects, (TWO.sentiments[0], felt(None, "positive")))) == (RAISED,)
    assert left_of(Draft()) == (RAISED,)


def test_code_decides_about_its_own_risk_whatever_the_agent_says() -> None:
    own = StructuralRisk(" missing_second_aspect", None, "low", "of the agent")
    irony = StructuralRisk("IRONY")
    assert left_of(TWO, own, irony) == (irony,)
    assert left_of(Draft(), own, irony) == (irony, RAISED)
    assert left_of(Draft(), own, irony, raised=()) == (irony,)
