"""The Korean ABSA agents' own names."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from aspect_outputs import TEXT, aspect, failed_output, output
from hallumeter.aspects.records.outputs import StageOpinion
from hallumeter.compat.absa import (
    _apply_stage2_reviews,
    _build_stage_delta,
    aggregate_single_run,
    ate_score,
    build_filtered_aspects,
    build_final_aspects,
    build_hf_signal,
    filtered_aspects,
    has_hallucinated_aspect,
    make_scorecard,
    moderate,
)
from hallumeter.errors import RecordError, SettingsError

BOTH = [{"aspect_term": "a", "polarity": "positive"}, {"aspect_term": "b", "polarity": "negative"}]
P, N, X, U = "positive", "negative", "mixed", "neutral"
Entry = dict[str, Any]


def given(term: str, span: object) -> Entry:
    return {"term": term, "span": span}


def entry(**changes: Any) -> Entry:
    made: Entry = msgspec.json.decode(msgspec.json.encode(output()))
    return made | changes


def opinion(label: str, confidence: float, **more: object) -> Entry:
    return {"label": label, "confidence": confidence, **more}


@pytest.mark.parametrize(
    ("term", "span", "action", "drop_class"),
    [
        ("배터리", {"start": 0, "end": 3}, "keep", None),
        ("뷰", {"start": 9, "end": 10}, "keep", None),
        ("화면", {"start": 9, "end": 11}, "drop", "H1"),
        ("배터리", {"start": 0, "end": 4}, "drop", "H2"),
        ("배터리", None, "drop", "H2"),
        ("가", [10, 11], "drop", "filter"),
        ("하지만", (5, 8), "drop", "H1"),
        ("좋지만", {"start": 5, "end": 8}, "keep", None),
        ("별로", {"start": 12, "end": 99}, "drop", "H2"),
        ("별로", {"start": -2, "end": 14}, "drop", "H2"),
    ],
)
def test_the_filter_keeps_and_drops(term: str, span: object, action: str, drop_class: str | None) -> None:
    found = filtered_aspects(TEXT, [given(term, span)])
    reason = None if action == "keep" else "other_not_target"
    assert found["filtered"] == [
        {"term": term, "span": span, "action": action, "drop_reason": reason, "drop_class": drop_class}
    ]
    assert found["raw"] == [given(term, span)]
    assert (found["kept_terms"], found["dropped_terms"]) == (([term], []) if action == "keep" else ([], [term]))
    assert ate_score(found)["hallucination_flag"] is (action == "drop")
    assert ate_score(found["filtered"])["dropped"] == int(action == "drop")


def test_the_filter_gives_four_values_and_the_same_by_name() -> None:
    aspects = [given("배터리", [0, 3]), given("화면", [0, 2])]
    named = filtered_aspects(TEXT, aspects)
    raw, filtered, kept, dropped = build_filtered_aspects(TEXT, aspects)
    assert {"raw": raw, "filtered": filtered, "kept_terms": kept, "dropped_terms": dropped} == named
    assert (kept, dropped) == (["배터리"], ["화면"])


def test_final_sentiments_stay_as_they_are_but_for_implicit_ones() -> None:
    named = {"aspect_term": {"term": "뷰", "span": {"start": 9, "end": 10}}, "polarity": N, "is_implicit": False}
    implicit = {"aspect_term": None, "polarity": N, "is_implicit": True}
    nowhere = {"term": "", "span": {"start": 0, "end": 0}}
    assert build_final_aspects([named, SimpleNamespace(**implicit)]) == [named, implicit | {"aspect_term": nowhere}]
    assert build_final_aspects(None) == build_final_aspects([]) == []


@pytest.mark.parametrize(
    ("labels", "occurred", "log", "expected"),
    [
        ((P, P), False, [{"applied": True}], (False, "none", [])),
        ((P, N), False, [{"applied": False}, {"applied": True}], (True, "guided", ["0", "1"])),
        ((P, N), False, [{"applied": False}], (True, "unguided", ["0"])),
        ((P, None), False, [], (False, "none", [])),
        ((P, P), True, [], (True, "unguided", [])),
    ],
)
def test_the_change_between_stages_goes_by_their_labels(
    labels: tuple[str, str | None], occurred: bool, log: list[Entry], expected: tuple[bool, str, list[str]]
) -> None:
    line = {
        "stage1_ate": {"label": labels[0]},
        "stage2_ate": None if labels[1] is None else {"label": labels[1]},
        "analysis_flags": {"correction_occurred": occurred},
        "meta": {"correction_applied_log": log},
    }
    found = _build_stage_delta(line)
    assert (found["changed"], found["change_type"], found["related_proposal_ids"]) == expected


def test_reviews_patch_the_result_of_stage_1() -> None:
    aspects = {"aspects": [given("배터리", [0, 3]), given("뷰", [9, 10])]}
    felt = {"aspect_sentiments": [{"aspect_ref": "배터리", "polarity": P}, {"aspect_ref": "뷰", "polarity": P}]}
    flip = {"target_aspect": "뷰", "proposal_type": "FLIP_POLARITY"}
    check = {"target_aspect": "뷰", "proposal_type": "CHECK_SPAN"}
    hints = {"배터리": [{"speaker": "EPM", "stance": "patch", "weight": 2.0, "polarity_hint": N}]}
    ate, atsa, issues, log = _apply_stage2_reviews(
        aspects,
        felt,
        {"aspect_review": [{"term": "배터리", "action": "keep"}]},
        SimpleNamespace(sentiment_review=[{"aspect_term": "배터리", "action": "maintain"}]),
        None,
        {"correction_proposals": [flip, check]},
        {"aspect_hints": hints},
        TEXT,
    )
    assert [each["term"] for each in ate["aspects"]] == ["배터리", "뷰"]
    assert [each["polarity"] for each in atsa["aspect_sentiments"]] == [N, N]
    assert issues == []
    assert [(each["proposal_type"], each["applied"]) for each in log] == [
        ("FLIP_POLARITY", True), ("CHECK_SPAN", False), ("DEBATE_OVERRIDE", True)
    ]  # fmt: skip


def test_sentiments_that_belong_to_no_aspect_are_issues() -> None:
    felt = {"aspect_sentiments": [{"aspect_term": "lid", "polarity": P}]}
    ate, atsa, issues, log = _apply_stage2_reviews({"aspects": [{"term": "battery"}]}, felt, None, None)
    assert (len(ate["aspects"]), atsa["aspect_sentiments"], log) == (1, [], [])
    assert issues == ["dropped_unanchored_aspect_term:lid"]


def test_overrides_are_counted_over_all_rows() -> None:
    stats = {"applied": 2, "skipped_low_signal": 1, "skipped_conflict": 0, "skipped_already_confident": 1}
    told = [{"debate": {"override_stats": stats}}, {"meta": {"debate_override_stats": {"skipped_conflict": 4}}}, {}]
    found = aggregate_single_run(told)
    assert [found[f"debate_override_{name}"] for name in stats] == [2, 1, 4, 1]
    assert found["debate_override_skipped_already_confident_rate"] == 1 / 8
    assert (found["override_applied_n"], found["override_applied_rate"]) == (1, pytest.approx(1 / 3))
    silent = aggregate_single_run([{}])
    assert silent["debate_override_applied"] is silent["override_applied_rate"] is None


def test_an_allowlist_extends_the_one_that_ships() -> None:
    aspects = [given("가", [10, 11]), given("뷰", [9, 10])]
    assert filtered_aspects(TEXT, aspects, ["가"])["kept_terms"] == ["가", "뷰"]
    assert filtered_aspects(TEXT, aspects, [])["kept_terms"] == ["뷰"]


def test_aspects_may_be_objects_or_bare_terms() -> None:
    found = filtered_aspects(TEXT, [aspect("배터리"), SimpleNamespace(term="뷰", span=[9, 10]), "별로"])
    assert (found["kept_terms"], found["dropped_terms"]) == (["배터리", "뷰"], ["별로"])


def deep(value: Any) -> Any:
    """Everything in it as objects with attributes."""
    if isinstance(value, dict):
        return SimpleNamespace(**{name: deep(each) for name, each in value.items()})
    return [deep(each) for each in value] if isinstance(value, list) else value


def test_objects_are_understood_at_every_depth() -> None:
    aspects = [given("배터리", {"start": 0, "end": 3}), given("화면", {"start": 0, "end": 2})]
    plain = filtered_aspects(TEXT, aspects)
    assert filtered_aspects(TEXT, deep(aspects)) == plain
    assert ate_score(deep(plain)) == ate_score(deep(plain["filtered"])) == ate_score(plain)
    entry_of_objects = deep(entry(stage1={"ate": {"aspects": aspects}}))
    card = make_scorecard(entry_of_objects)
    assert card == make_scorecard(entry(stage1={"ate": {"aspects": aspects}}))
    assert has_hallucinated_aspect(deep(card))
    assert aggregate_single_run([deep(card), card])["aspect_hallucination_rate"] == 1
    assert make_scorecard(output()) == make_scorecard(entry())
    tuples = {"final_tuples": [{"aspect_term": "a", "polarity": "negative"}]}
    found = moderate(deep(opinion(P, 0.5)), None, debate_summary=deep(tuples))
    assert found.final_label == N


@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda: filtered_aspects(TEXT, [5]), "aspects[0]"),
        (lambda: filtered_aspects(TEXT, ["뷰", None]), "aspects[1]"),
        (lambda: filtered_aspects(TEXT, [["뷰", [9, 10]]]), "aspects[0]"),
        (lambda: filtered_aspects(TEXT, None), "aspects"),  # type: ignore[arg-type]
        (lambda: filtered_aspects(None, []), "text"),  # type: ignore[arg-type]
        (lambda: ate_score(None), "filtered"),
        (lambda: ate_score([None]), "filtered[0]"),
        (lambda: ate_score({"filtered": 5}), "filtered"),
        (lambda: make_scorecard(None), "entry"),
        (lambda: make_scorecard([entry()]), "entry"),
        (lambda: has_hallucinated_aspect(None), "record"),
        (lambda: has_hallucinated_aspect([]), "record"),
        (lambda: aggregate_single_run([{}, None]), "rows[1]"),
        (lambda: aggregate_single_run([[]]), "rows[0]"),
        (lambda: aggregate_single_run({}), "rows"),
        (lambda: aggregate_single_run(7), "rows"),  # type: ignore[arg-type]
        (lambda: moderate(opinion(P, 0.5), 0.5), "stage2_ate"),
        (lambda: moderate(opinion(P, 0.5), None, validator="NEGATION"), "validator"),
        (lambda: moderate(opinion(P, 0.5), None, debate_summary=["x"]), "debate_summary"),
    ],
)
def test_what_cannot_be_understood_is_refused_in_one_line(call: Callable[[], object], where: str) -> None:
    with pytest.raises(RecordError) as refusal:
        call()
    assert str(refusal.value).startswith(f"{where}: expected ")
    assert "\n" not in str(refusal.value)


def test_no_aspects_are_no_hallucination() -> None:
    assert ate_score(filtered_aspects(TEXT, []))["hallucination_flag"] is False
    assert ate_score({})["hallucination_flag"] is False


def test_a_scorecard_is_made_of_plain_values() -> None:
    card = make_scorecard(entry())
    assert card["ate"]["hallucination_flag"] is False
    assert [each["action"] for each in card["inputs"]["ate_debug"]["filtered"]] == ["keep", "keep"]
    assert card["stage_delta"]["changed"] is True
    assert card["stage_delta"]["change_type"] == "guided"
    assert [each["stage"] for each in card["validator"]] == ["stage1", "stage2"]
    assert type(card["validator"]) is list
    assert card["inputs"]["ate_debug"]["filtered"][0]["drop_reason"] is None


def test_an_entry_may_be_short() -> None:
    short = {"text_id": "s1", "input_text": TEXT, "stage1": {"ate": {"aspects": [given("화면", [0, 2])]}},
             "stage2": None, "moderator": None, "final_result": None, "meta": None}  # fmt: skip
    card = make_scorecard(short)
    assert has_hallucinated_aspect(card)
    assert card["stage_delta"] == {
        "changed": False, "change_type": "none", "related_proposal_ids": [], "pairs_changed": None,
        "proposals": 0, "proposals_applied": 0, "ignored_reasons": {},
    }  # fmt: skip


def test_an_applied_entry_of_the_log_guides_a_change() -> None:
    changed = {"analysis_flags": {"correction_occurred": True}, "override_log": []}
    assert make_scorecard(entry(**changed, correction_applied_log=[{"applied": True}]))["stage_delta"][
        "change_type"
    ] == ("guided")
    assert make_scorecard(entry(**changed, correction_applied_log=[{"applied": False}]))["stage_delta"][
        "change_type"
    ] == ("unguided")


def test_an_entry_without_a_text_is_refused() -> None:
    with pytest.raises(RecordError, match="no input_text"):
        make_scorecard({"text_id": "s1"})


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"ate": {"hallucination_flag": True}}, True),
        ({"ate": {"hallucination_flag": 1}}, False),
        ({"ate": {"hallucination_flag": "true"}}, False),
        ({"ate": None}, False),
        ({"ate": None, "inputs": {"ate_debug": {"filtered": [{"action": "drop"}]}}}, True),
        ({"inputs": {"ate_debug": {"filtered": [{"action": "keep"}]}}}, False),
        ({"ate_score": {"hallucination_flag": True}}, False),
        (
            {"ate_score": {"hallucination_flag": True}, "inputs": {"ate_debug": {"filtered": [{"action": "drop"}]}}},
            True,
        ),
        ({}, False),
    ],
)
def test_a_record_is_hallucinated_by_its_flag_or_by_a_drop(record: Entry, expected: bool) -> None:
    assert has_hallucinated_aspect(record) is expected


def rows() -> list[Entry]:
    def one(aspects: list[Entry]) -> Entry:
        return {"inputs": {"ate_debug": {"filtered": filtered_aspects(TEXT, aspects)["filtered"]}}}

    clean = [given("배터리", [0, 3])]
    return [one(clean), one([given("배터리", [1, 4])]), one([given("화면", [0, 2]), *clean]), one([]), one(clean)]


def test_drops_in_two_of_five_rows_are_a_rate_of_two_fifths() -> None:
    found = aggregate_single_run(rows())
    assert found["N"] == 5
    assert found["aspect_hallucination_rate"] == 0.4
    assert found["aspect_hallucination_rate_H1"] == found["aspect_hallucination_rate_H2"] == 0.2
    assert found["filter_rejection_rate"] == 0
    for name in ("risk_resolution_rate", "guided_share_of_changes", "ignored_proposal_rate"):
        assert found[name] is None


def row(before: int, after: int, *, changed: bool, kind: str = "none", profile: str | None = None) -> Entry:
    validators = [{"stage": f"stage{stage}", "structural_risks": [{"risk_id": "NEGATION_SCOPE"}] * number}
                  for stage, number in ((1, before), (2, after))]  # fmt: skip
    return {"validator": validators, "stage_delta": {"changed": changed, "change_type": kind}, "profile": profile}


def test_risks_and_changes_have_the_stated_denominators() -> None:
    given_rows = [
        row(2, 1, changed=True, kind="guided"),
        row(1, 3, changed=False),
        row(0, 0, changed=True, kind="unguided"),
        row(1, 0, changed=False),
    ]
    found = aggregate_single_run(given_rows)
    assert found["risk_resolution_rate"] == 0
    assert found["guided_change_rate"] == 0.25
    assert found["guided_share_of_changes"] == 0.5
    assert found["unguided_drift_rate"] == 0.25
    assert found["ignored_proposal_rate"] == pytest.approx(2 / 3)
    assert aggregate_single_run([row(1, 3, changed=False)])["risk_resolution_rate"] == -2


def test_changes_are_divided_by_all_rows_those_that_failed_or_tell_nothing_included() -> None:
    failed = make_scorecard(msgspec.json.decode(msgspec.json.encode(failed_output())))
    changed = [row(0, 0, changed=True, kind="guided"), row(0, 0, changed=True, kind="unguided")]
    found = aggregate_single_run([*changed, row(0, 0, changed=False), {"ate": {}}, failed])
    assert found["N"] == 5
    assert (found["guided_change_rate"], found["unguided_drift_rate"]) == (0.2, 0.2)
    assert found["changed_samples_rate"] == 0.4
    assert found["guided_share_of_changes"] == 0.5


@pytest.mark.parametrize(
    ("given_rows", "profile"), [([], None), ([row(1, 0, changed=True, profile="smoke")], "paper_main")]
)
def test_nothing_to_count_gives_n_0_and_no_rate(given_rows: list[Entry], profile: str | None) -> None:
    found = aggregate_single_run(given_rows, profile)
    assert found.pop("N") == 0
    found.pop("profile_filter")
    assert set(found.values()) == {None}


def test_a_profile_chooses_its_rows() -> None:
    given_rows = [row(1, 0, changed=True, profile="smoke"), row(1, 1, changed=True)]
    found = aggregate_single_run(given_rows, "smoke")
    assert (found["N"], found["risk_resolution_rate"]) == (1, 1)


def test_sentences_that_failed_count_in_n() -> None:
    failed = make_scorecard(msgspec.json.decode(msgspec.json.encode(failed_output())))
    found = aggregate_single_run([*rows(), failed])
    assert found["N"] == 6
    assert found["aspect_hallucination_rate"] == pytest.approx(2 / 6)
    assert found["parse_generate_failure_rate"] == pytest.approx(1 / 6)


def test_repeated_runs_are_compared_and_a_single_one_is_not() -> None:
    cards = [make_scorecard(entry(meta={"run_id": "demo", "seed": seed})) for seed in (1, 2)]
    assert aggregate_single_run(cards)["self_consistency_exact"] == 1
    assert aggregate_single_run(cards[:1])["self_consistency_exact"] is None


@pytest.mark.parametrize(
    ("first", "second", "more", "label", "confidence", "rules"),
    [
        ((P, 0), (N, 0), {"debate_summary": {"sentence_polarity": P}}, U, 0.0, ["Z"]),
        ((P, 0.6), (P, 0.7), {}, P, 0.7, ["B"]),
        ((P, 0.9), (P, 0.6), {}, P, 0.9, ["B"]),
        ((P, 0.6), (N, 0.55), {}, X, 0.6, ["B", "M"]),
        ((P, 0.8), (P, 0.85), {"validator": {"suggested_label": N, "confidence": 0.3, "issues": ["NEGATION scope"]}},
         N, 0.85, ["B", "C"]),
        ((P, 0.8), (P, 0.85), {"validator": {"suggested_label": N, "confidence": 0.5}}, P, 0.85, ["B"]),
        ((P, 0.5), (P, 0.5), {"debate_summary": {"sentence_polarity": N}}, N, 0.5, ["B", "E"]),
        ((P, 0.5), (P, 0.5), {"debate_summary": {"final_tuples": BOTH}}, X, 0.5, ["B", "E"]),
        ((P, 0.6), (P, 0.6), {"stage1_atsa": (P, 0.8, [0, 10]), "stage2_atsa": (P, 0.8, [1, 9])}, P, 0.7, ["B", "A"]),
    ],
)  # fmt: skip
def test_the_rules_decide(
    first: Any, second: Any, more: Entry, label: str, confidence: float, rules: list[str]
) -> None:
    given_more = {
        name: opinion(value[0], value[1], span=value[2]) if isinstance(value, tuple) else value
        for name, value in more.items()
    }
    found = moderate(opinion(*first), opinion(*second), **given_more)
    assert (found.final_label, found.applied_rules) == (label, rules)
    assert found["confidence"] == pytest.approx(confidence)


def test_opinions_may_be_objects_and_stage_2_may_be_missing() -> None:
    found = moderate(StageOpinion(P, 0.62), None, stage1_atsa=SimpleNamespace(label=N, confidence=0.53))
    assert (found.final_label, found.applied_rules) == (P, ["B", "D"])
    assert found.arbiter_flags.rule_b_applied is False
    assert found.arbiter_flags["rule_e_attempted_after_b"] is False
    assert found.arbiter_flags.confidence_margin_used is None
    assert not hasattr(found, "nothing")


@pytest.mark.parametrize("label", [None, "", "great", 1, ["positive"]])
def test_an_opinion_must_have_a_label_that_is_one(label: object) -> None:
    broken = {"label": label, "confidence": 0.5}
    for name in ("stage1_ate", "stage2_ate", "stage1_atsa", "stage2_atsa"):
        given_opinions: Entry = {"stage1_ate": opinion(P, 0.5), "stage2_ate": None, name: broken}
        with pytest.raises(RecordError, match=rf"^{name}: label is .*; expected positive, negative, neutral or mixed$"):
            moderate(**given_opinions)
    with pytest.raises(RecordError, match=r"^stage1_ate: label is None"):
        moderate({"confidence": 0.5}, None)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("POS", P),
        ("neg", N),
        ("Neu", U),
        ("긍정", P),
        ("부정", N),
        ("중립", U),
        ("혼합", X),
        ("Mixed ", X),
        ("positve", P),
    ],
)
def test_labels_are_read_in_any_spelling(word: str, expected: str) -> None:
    assert moderate(opinion(word, 0.6), opinion(expected, 0.6))["final_label"] == expected
    assert moderate(opinion(word, 0.6), opinion(expected, 0.6))["applied_rules"] == ["B"]
    suggestion = {"suggested_label": word, "confidence": 0.9}
    assert moderate(opinion("neutral", 0.6), None, validator=suggestion).final_label == expected
    assert moderate(opinion("neutral", 0.5), None, debate_summary={"sentence_polarity": word}).final_label == expected


def test_a_validator_may_suggest_nothing_but_no_nonsense() -> None:
    for suggestion in (None, ""):
        assert moderate(opinion(P, 0.6), None, validator={"suggested_label": suggestion}).applied_rules == ["B"]
    with pytest.raises(RecordError, match=r"^validator: suggested_label is 'good'"):
        moderate(opinion(P, 0.6), None, validator={"suggested_label": "good"})


@pytest.mark.parametrize("name", ["key_agreements", "key_disagreements"])
def test_a_single_text_is_a_list_of_one(name: str) -> None:
    assert moderate(opinion(P, 0.5), None, debate_summary={name: "전반적으로 부정"}).final_label == N
    issue = {"suggested_label": N, "confidence": 0.1, "issues": "NEGATION scope"}
    assert moderate(opinion(P, 0.8), None, validator=issue).final_label == N


def test_stage_1_must_be_there() -> None:
    with pytest.raises(RecordError, match="stage1_ate"):
        moderate(None, opinion(P, 0.5))


def test_an_auxiliary_classifier_is_asked_and_compared() -> None:
    found = build_hf_signal("The food was great and the staff lovely.", "lexicon", None, P, N)
    assert found["task"] == "sentiment"
    assert found["label"] == "pos"
    assert found["disagrees_with"] == {"stage1_final": False, "stage2_final": True}


@pytest.mark.parametrize("checkpoint", ["llm:gpt", "LLM:x"])
def test_a_language_model_is_no_auxiliary_classifier(checkpoint: str) -> None:
    with pytest.raises(SettingsError, match="language model"):
        build_hf_signal("Fine.", checkpoint, {}, P, P)
