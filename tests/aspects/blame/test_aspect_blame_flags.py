"""Who flagged what, and who let it stand."""

from __future__ import annotations

import msgspec
from blamed_outputs import GOLD, TEXT, found, output, place, said, states

from hallumeter.aspects.blame.tables import blame_of
from hallumeter.aspects.records.aspect import CorrectionProposal, StructuralRisk, TextSpan
from hallumeter.aspects.records.blame import ErrorFlag, Ignoring, SentenceBlame, StepTally, UnitBlame
from hallumeter.aspects.records.outputs import (
    AspectReview,
    AspectReviewItem,
    Correction,
    DebateOutput,
    DebateRound,
    DebateSummary,
    DebateTurn,
    EditTarget,
    OverrideDecision,
    PipelineOutput,
    ProposedEdit,
    RebuttalPoint,
    ReviewContext,
    SentimentReview,
    SentimentReviewItem,
    StageOne,
    StageTwo,
    StructuralReview,
    StructuralValidation,
)

NAMED = (found("battery"), found("screen", shift=1), found("camera"))
READ = (said("battery", "positive"), said("screen", "positive", shift=1), said("camera", "neutral"))
"""The screen is misplaced and has the wrong polarity, the camera is invented, the service is missing."""
MADE = output(*states(ate=NAMED, atsa=READ))


def unit(blame: SentenceBlame, error: str, term: str) -> UnitBlame:
    [only] = [unit for unit in blame.units if (unit.error, unit.term) == (error, term)]
    return only


def tally(blame: SentenceBlame, speaker: str, error: str) -> StepTally:
    spoken = [tally for tally in blame.tallies if (tally.step, tally.error) == (speaker, error)]
    return next(tally for tally in spoken if tally.heard_wrong or tally.heard_right)


def validated(*, risks: tuple[StructuralRisk, ...] = (), proposals: tuple[CorrectionProposal, ...] = ()) -> StageOne:
    return StageOne(validator=StructuralValidation(risks, proposals, 0.5))


def with_edits(*edits: ProposedEdit, decisions: tuple[OverrideDecision, ...] = ()) -> PipelineOutput:
    debate = DebateOutput((DebateRound(1, (DebateTurn("epm", edits), DebateTurn("tan"))),))
    return msgspec.structs.replace(MADE, debate=debate, override_log=decisions)


def test_a_risk_flags_the_polarities_within_its_scope_and_nothing_else() -> None:
    negation = StructuralRisk("NEGATION", TextSpan(24, 49))
    blame = blame_of(msgspec.structs.replace(MADE, stage1=validated(risks=(negation,))))
    assert unit(blame, "polarity", "screen").flagged_by == ("validator",)
    assert unit(blame, "ungrounded", "screen").flagged_by == ()
    assert tally(blame, "validator", "polarity") == StepTally(
        "validator", "polarity", heard_wrong=1, flagged=1, heard_right=1, alarmed=0
    )


def test_a_risk_over_the_whole_text_alarms_about_what_is_right_as_well() -> None:
    irony = StructuralRisk("IRONY", TextSpan(0, len(TEXT)))
    blame = blame_of(msgspec.structs.replace(MADE, stage1=validated(risks=(irony,))))
    assert tally(blame, "validator", "polarity").alarmed == 1


def test_a_risk_without_a_place_speaks_of_nothing() -> None:
    blame = blame_of(msgspec.structs.replace(MADE, stage1=validated(risks=(StructuralRisk("NEGATION"),))))
    assert all(unit.flags == () for unit in blame.units)


def test_the_risk_of_a_missing_aspect_flags_what_is_missing() -> None:
    risk = StructuralRisk("MISSING_SECOND_ASPECT", TextSpan(0, len(TEXT)))
    blame = blame_of(msgspec.structs.replace(MADE, stage1=validated(risks=(risk,))))
    assert unit(blame, "missing", "service").flagged_by == ("validator",)
    assert tally(blame, "validator", "missing").alarmed == 2


def test_missing_aspects_of_gold_without_a_place_are_sought_in_the_text() -> None:
    risk = StructuralRisk("MISSING_SECOND_ASPECT", place("service"))
    bare = tuple(msgspec.structs.replace(each, span=None) for each in GOLD)
    lost = msgspec.structs.replace(bare[2], aspect_term="waiters")
    made = msgspec.structs.replace(MADE, stage1=validated(risks=(risk,)), gold_tuples=(*bare, lost))
    blame = blame_of(made)
    assert unit(blame, "missing", "service").flagged_by == ("validator",)
    assert unit(blame, "missing", "waiters").flagged_by == ()


def test_an_unknown_risk_may_be_about_anything() -> None:
    blame = blame_of(
        msgspec.structs.replace(MADE, stage1=validated(risks=(StructuralRisk("OTHER", TextSpan(24, 49)),)))
    )
    assert unit(blame, "polarity", "screen").flagged_by == ("validator",)
    assert unit(blame, "ungrounded", "screen").flagged_by == ("validator",)


def test_a_proposal_that_was_applied_says_so() -> None:
    proposal = CorrectionProposal("Screen", "flip_polarity")
    log = (Correction("FLIP_POLARITY", "Screen", applied=True, step="validator_proposals"),)
    repaired = (READ[0], said("screen", "negative", shift=1), READ[2])
    made = output(*states(ate=NAMED, atsa=READ, validator_proposals=repaired))
    blame = blame_of(
        msgspec.structs.replace(
            made, stage1=validated(proposals=(proposal,)), correction_applied_log=log, stage2=StageTwo()
        )
    )
    screen = unit(blame, "polarity", "screen")
    assert screen.flags == (ErrorFlag("validator", "FLIP_POLARITY", "applied"),)
    assert screen.repaired_by == ("validator_proposals",)
    assert screen.ignored_by == ()


def test_a_proposal_that_was_not_applied_was_ignored_for_the_reason_of_the_log() -> None:
    proposals = (CorrectionProposal("screen", "CHECK_SPAN"), CorrectionProposal("camera", "DROP_ASPECT"))
    log = (
        Correction(
            "CHECK_SPAN", "screen", reason="nobody knows", step="validator_proposals", ignored_reason="unsupported"
        ),
        Correction("DROP_ASPECT", "camera", reason="no such aspect"),
    )
    blame = blame_of(msgspec.structs.replace(MADE, stage1=validated(proposals=proposals), correction_applied_log=log))
    assert unit(blame, "ungrounded", "screen").ignored_by == (Ignoring("validator_proposals", "unsupported"),)
    assert unit(blame, "spurious", "camera").ignored_by == (Ignoring("validator_proposals", "no such aspect"),)
    assert unit(blame, "polarity", "screen").flags == ()


def test_two_equal_proposals_have_an_entry_each() -> None:
    proposal = CorrectionProposal("camera", "DROP_ASPECT")
    log = (Correction("DROP_ASPECT", "camera", applied=True), Correction("DROP_ASPECT", "camera", reason="again"))
    blame = blame_of(
        msgspec.structs.replace(MADE, stage1=validated(proposals=(proposal, proposal)), correction_applied_log=log)
    )
    assert [flag.outcome for flag in unit(blame, "spurious", "camera").flags] == ["applied", "ignored"]


def test_proposals_without_a_target_or_an_entry_are_no_blame_of_anyone() -> None:
    proposals = (CorrectionProposal(None, "DROP_ASPECT"), CorrectionProposal("camera", "DROP_ASPECT"))
    blame = blame_of(msgspec.structs.replace(MADE, stage1=validated(proposals=proposals)))
    assert unit(blame, "spurious", "camera").flags == (ErrorFlag("validator", "DROP_ASPECT"),)
    assert unit(blame, "spurious", "camera").ignored_by == ()


def test_an_edit_flags_only_when_it_asks_for_something_else() -> None:
    blame = blame_of(
        with_edits(
            ProposedEdit("set_polarity", EditTarget(aspect_term="screen"), "negative"),
            ProposedEdit("set_polarity", EditTarget(aspect_term="battery"), "positive"),
            ProposedEdit("confirm_tuple", EditTarget(aspect_term="camera")),
            ProposedEdit("set_aspect_ref", EditTarget(aspect_term="camera"), "lens"),
            ProposedEdit("set_polarity", EditTarget(), "negative"),
        )
    )
    assert unit(blame, "polarity", "screen").flagged_by == ("epm",)
    assert unit(blame, "spurious", "camera").flags == ()
    assert tally(blame, "epm", "polarity").alarmed == 0
    assert tally(blame, "tan", "polarity").flagged == 0


def test_an_edit_that_drops_or_merges_speaks_of_an_aspect_that_should_not_be_there() -> None:
    blame = blame_of(
        with_edits(
            ProposedEdit("drop_tuple", EditTarget(aspect_ref="camera")),
            ProposedEdit("merge_tuples", EditTarget(aspect_term="battery")),
        )
    )
    assert unit(blame, "ungrounded", "camera").flagged_by == ("epm",)
    assert tally(blame, "epm", "spurious").alarmed == 1


def test_an_override_that_was_skipped_ignored_the_debate() -> None:
    skipped = OverrideDecision("screen", 0.0, 0.5, "skipped", "skipped_low_signal")
    edit = ProposedEdit("set_polarity", EditTarget(aspect_term="screen"), "negative")
    screen = unit(blame_of(with_edits(edit, decisions=(skipped,))), "polarity", "screen")
    assert screen.ignored_by == (Ignoring("debate_override", "skipped_low_signal"),)
    applied = msgspec.structs.replace(skipped, decision="applied", target="negative")
    [flag] = unit(blame_of(with_edits(edit, decisions=(applied,))), "polarity", "screen").flags
    assert flag.outcome == "applied"


def test_the_patch_that_ends_a_debate_has_a_speaker_of_its_own() -> None:
    edit = ProposedEdit("drop_tuple", EditTarget(aspect_term="camera"))
    debate = DebateOutput((DebateRound(1, (DebateTurn("cj"),)),), DebateSummary(final_patch=(edit,)))
    blame = blame_of(msgspec.structs.replace(MADE, debate=debate))
    assert unit(blame, "spurious", "camera").flagged_by == ("debate_summary",)


def test_a_debate_in_words_flags_by_the_polarity_that_was_read_out_of_it() -> None:
    points = (
        RebuttalPoint("Con", "con", ("screen",), polarity_hint="negative"),
        RebuttalPoint("Pro", "pro", ("battery",), polarity_hint="positive"),
        RebuttalPoint("Pro", "pro", ("battery",)),
    )
    debate = DebateOutput((DebateRound(1, (DebateTurn(speaker="Con"), DebateTurn(speaker="Pro"))),))
    made = msgspec.structs.replace(MADE, debate=debate, debate_review_context=ReviewContext(rebuttal_points=points))
    blame = blame_of(made)
    assert unit(blame, "polarity", "screen").flags == (ErrorFlag("con", "message"),)
    assert tally(blame, "con", "polarity").flagged == 1
    assert tally(blame, "pro", "polarity").alarmed == 0


def test_reviews_flag_what_they_want_changed() -> None:
    stage2 = StageTwo(
        AspectReview(
            (
                AspectReviewItem("screen", "revise_span", place("screen")),
                AspectReviewItem("camera", "remove"),
                AspectReviewItem("service", "add", place("service")),
                AspectReviewItem("battery", "revise", place("battery")),
            )
        ),
        SentimentReview(
            (SentimentReviewItem("screen", "flip", "negative"), SentimentReviewItem("battery", "maintain"))
        ),
        StructuralReview(
            (StructuralRisk("NEGATION", TextSpan(24, 49)),), (CorrectionProposal("camera", "DROP_ASPECT"),)
        ),
    )
    log = (
        Correction("revise_span", "screen", applied=True, step="ate_review"),
        Correction("drop", "camera", step="ate_review", ignored_reason="conflicting"),
        Correction("flip_polarity", "screen", applied=True, step="atsa_review"),
    )
    blame = blame_of(msgspec.structs.replace(MADE, stage2=stage2, review_applied_log=log))
    assert unit(blame, "ungrounded", "screen").flags == (ErrorFlag("ate_review", "revise_span", "applied"),)
    assert unit(blame, "ungrounded", "camera").flagged_by == ("ate_review", "validator_review")
    assert unit(blame, "ungrounded", "camera").ignored_by == (Ignoring("ate_review", "conflicting"),)
    assert unit(blame, "missing", "service").flagged_by == ("ate_review",)
    assert unit(blame, "polarity", "screen").flagged_by == ("atsa_review", "validator_review")
    assert tally(blame, "ate_review", "ungrounded").alarmed == 0


def test_a_review_that_keeps_what_others_flagged_ignored_them() -> None:
    risk = StructuralRisk("NEGATION", TextSpan(24, 49))
    stage2 = StageTwo(
        AspectReview((AspectReviewItem("screen", "keep"),)),
        SentimentReview((SentimentReviewItem("screen", "maintain"), SentimentReviewItem("x", "?"))),
    )
    blame = blame_of(msgspec.structs.replace(MADE, stage1=validated(risks=(risk,)), stage2=stage2))
    assert unit(blame, "polarity", "screen").ignored_by == (Ignoring("atsa_review", "kept"),)


def test_flags_about_what_was_right_are_kept_and_nobody_detected_anything() -> None:
    proposal = CorrectionProposal("battery", "FLIP_POLARITY")
    log = (Correction("FLIP_POLARITY", "battery", applied=True, step="validator_proposals"),)
    turned = (said("battery", "negative"), *READ[1:])
    made = output(*states(ate=NAMED, atsa=READ, validator_proposals=turned))
    blame = blame_of(msgspec.structs.replace(made, stage1=validated(proposals=(proposal,)), correction_applied_log=log))
    battery = unit(blame, "polarity", "battery")
    assert battery.broken_by == ("validator_proposals",)
    assert battery.flagged_by == ()
    assert [flag.by for flag in battery.flags] == ["validator"]


def test_a_validator_that_was_not_asked_is_no_speaker() -> None:
    speakers = {tally.step for tally in blame_of(msgspec.structs.replace(MADE, stage2=StageTwo())).tallies}
    assert "validator" not in speakers
    assert "validator_proposals" not in speakers
    assert "validator_review" not in speakers
    assert {"ate_review", "atsa_review", "anchoring"} <= speakers
