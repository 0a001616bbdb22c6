"""When a debate changes a polarity."""

from __future__ import annotations

import pytest
from small_reader import draft_of, felt

from hallumeter.aspects.records.aspect import StructuralRisk
from hallumeter.aspects.records.outputs import AspectHint, ReviewContext
from hallumeter.aspects.settings import OverrideThresholds
from hallumeter.aspects.stages.draft import Draft
from hallumeter.aspects.stages.override import Overridden, with_overrides

TEXT = "The screen and the camera"
DRAFT = draft_of(TEXT, {"screen": "negative", "camera": "positive"})
DEFAULT = OverrideThresholds()


def hint(polarity: str | None, weight: float = 0.8, speaker: str = "epm", *, is_drop: bool = False) -> AspectHint:
    return AspectHint(speaker, "patch", weight, polarity, is_drop)


def overridden(
    *hints: AspectHint,
    draft: Draft = DRAFT,
    term: str = "screen",
    thresholds: OverrideThresholds = DEFAULT,
    risks: tuple[StructuralRisk, ...] = (),
) -> Overridden:
    context = ReviewContext(aspect_hints={term: hints})
    return with_overrides(draft, context, thresholds=thresholds, risks=risks)


def test_strong_hints_that_agree_change_a_polarity() -> None:
    done = overridden(hint("positive"), hint("positive", speaker="cj"))
    assert (done.draft.sentiments[0].polarity, done.draft.sentiments[0].confidence) == ("positive", 0.8)
    assert done.draft.sentiments[0].polarity_distribution == {"positive": 0.8, "negative": 0.2}
    assert done.draft.sentiments[1] == DRAFT.sentiments[1]
    decision = done.decisions[0]
    assert (decision.decision, decision.reason) == ("applied", "debate_override_flip negative->positive")
    assert (decision.current_polarity, decision.current_confidence, decision.target) == ("negative", 0.8, "positive")
    entry = done.log[0]
    assert (entry.proposal_type, entry.applied, entry.step) == ("DEBATE_OVERRIDE", True, "debate_override")
    assert (entry.resulting_polarity, entry.provenance) == ("positive", "source:epm/patch; source:cj/patch")
    assert entry.reason.endswith("[source:epm/patch; source:cj/patch]")


@pytest.mark.parametrize(
    ("hints", "reason"),
    [
        ([hint("positive")], "skipped_low_signal"),
        ([], "skipped_low_signal"),
        ([hint("neutral", 9)], "skipped_low_signal"),
        ([hint(None, 9, is_drop=True)], "skipped_low_signal"),
        ([hint("negative", 9, is_drop=True)], "skipped_low_signal"),
        ([hint("positive", 1.0), hint("negative", 0.9)], "skipped_conflict"),
        ([hint("negative", 2.0)], "skipped_already_confident"),
    ],
)
def test_weak_or_divided_hints_change_nothing(hints: list[AspectHint], reason: str) -> None:
    done = overridden(*hints)
    assert (done.draft, done.log) == (DRAFT, ())
    assert (done.decisions[0].decision, done.decisions[0].reason) == ("skipped", reason)


def test_sums_at_the_bound_count() -> None:
    thirds = [hint("positive", 0.1)] * 3
    bounds = OverrideThresholds(min_total=0.3, min_margin=0.3)
    assert overridden(*thirds, thresholds=bounds).log
    assert overridden(hint("positive", 1.2), hint("negative", 0.4)).log


def test_hints_that_weigh_the_same_decide_nothing_whatever_the_thresholds() -> None:
    none = OverrideThresholds(min_total=0, min_margin=0)
    assert not overridden(hint("positive"), hint("negative"), thresholds=none).log
    assert not overridden(thresholds=none).log


def test_a_missing_sentiment_is_added() -> None:
    done = overridden(hint("negative", 2.0), draft=Draft(DRAFT.aspects))
    added = done.draft.sentiments[0]
    assert (added.term, added.polarity, added.confidence) == ("screen", "negative", 0.7)
    assert added.aspect_term is not None
    assert added.aspect_term.span == DRAFT.aspects[0].span
    assert (added.polarity_distribution, done.log[0].reason) == (
        {"negative": 0.8},
        "debate_override_add [source:epm/patch]",
    )


def test_an_aspect_that_was_dropped_is_not_brought_back() -> None:
    done = overridden(hint("negative", 2.0), draft=Draft(DRAFT.aspects[1:]))
    assert done.decisions[0].reason == "skipped_no_such_aspect"


def test_an_unsure_sentiment_that_agrees_is_confirmed() -> None:
    unsure = Draft(DRAFT.aspects, (felt("screen", "negative", 0.4),))
    done = overridden(hint("negative", 2.0), draft=unsure)
    assert (done.draft.sentiments[0].polarity, done.draft.sentiments[0].confidence) == ("negative", 0.7)
    assert done.decisions[0].reason == "debate_override_confirm negative"
    assert done.draft != unsure


def test_all_sentiments_about_an_aspect_are_brought_into_line() -> None:
    divided = Draft(DRAFT.aspects, (felt("screen", "positive", 0.9), felt("screen", "negative", 0.9)))
    done = overridden(hint("positive", 2.0), draft=divided)
    assert [one.polarity for one in done.draft.sentiments] == ["positive", "positive"]


@pytest.mark.parametrize("kind", ["NEGATION", "contrast_scope", "IRONY", "POLARITY_MISMATCH"])
def test_delicate_sentences_are_left_alone_only_where_the_profile_says_so(kind: str) -> None:
    hints, risks = [hint("positive", 2.0)], (StructuralRisk(kind),)
    careful = OverrideThresholds(l3_conservative=True)
    assert overridden(*hints, thresholds=careful, risks=risks).decisions[0].reason == "skipped_l3_conservative"
    assert overridden(*hints, risks=risks).log
    assert overridden(*hints, thresholds=careful, risks=(StructuralRisk("MISSING_SECOND_ASPECT"),)).log


def test_missing_polarities_and_confidences_can_be_set() -> None:
    unsaid = Draft(DRAFT.aspects, (felt("screen", None, None),))
    done = overridden(hint("positive", 2.0), draft=unsaid)
    assert (done.draft.sentiments[0].polarity, done.draft.sentiments[0].confidence) == ("positive", 0.7)
    assert done.decisions[0].reason == "debate_override_flip None->positive"
