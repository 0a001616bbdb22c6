"""Outputs and scorecards of other makers."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from aspect_outputs import TEXT, output
from hallumeter.aspects.metrics.counts import count_scorecard, grounding_bucket
from hallumeter.aspects.records.aspect import Aspect, AspectSentiment, TextSpan
from hallumeter.aspects.records.outputs import Correction, FinalResult, PipelineOutput, StructuralValidation
from hallumeter.aspects.records.scorecard import Scorecard
from hallumeter.aspects.score.outputs import output_reader
from hallumeter.aspects.score.reading import Chunk, tolerant_record
from hallumeter.aspects.score.scorecard import make_scorecard
from hallumeter.aspects.score.scorecards import completed, scorecard_of, scorecard_reader
from hallumeter.errors import RecordError
from hallumeter.records.claim import Failure


def output_of(**row: Any) -> PipelineOutput:
    return output_reader().record_of({"text_id": "s1", "input_text": TEXT, **row})


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ([0, 3], TextSpan(0, 3)),
        ((0, 3), TextSpan(0, 3)),
        ({"start": 0, "end": 3}, TextSpan(0, 3)),
        ({"start": "0", "end": 3.0}, TextSpan(0, 3)),
        ([0], None),
        ([0, 1, 2], None),
        ([0, None], None),
        ([0, 1.5], None),
        ([True, 3], None),
        ("0-3", None),
        ({"start": 0}, None),
        (None, None),
    ],
)
def test_a_span_is_read_in_any_form_or_is_missing(span: object, expected: TextSpan | None) -> None:
    assert tolerant_record({"term": "배터리", "span": span}, Aspect).span == expected


@pytest.mark.parametrize(
    ("polarity", "expected"),
    [
        *[("positive", "positive"), ("NEG", "negative"), (" neu ", "neutral"), ("negatve", "negative")],
        *[("mixed", None), (3, None), (None, None)],
    ],
)
def test_a_polarity_that_is_not_known_is_missing_and_not_neutral(polarity: object, expected: str | None) -> None:
    assert tolerant_record({"aspect_term": "뷰", "polarity": polarity}, AspectSentiment).polarity == expected


def test_a_term_may_stand_alone() -> None:
    found = tolerant_record({"aspect_term": "뷰"}, AspectSentiment)
    assert found.term == "뷰"
    assert tolerant_record({"aspect_term": ["뷰"]}, AspectSentiment).aspect_term is None


def test_a_reference_stands_for_a_term_that_is_not_given() -> None:
    assert tolerant_record({"aspect_ref": "뷰"}, AspectSentiment).term == "뷰"
    assert tolerant_record({"aspect_term": None, "aspect_ref": "뷰"}, AspectSentiment).aspect_term is None
    said = {"aspect_ref": "뷰", "polarity": "negative"}
    found = output_of(
        stage1={"atsa": {"aspect_sentiments": [said]}}, final_result={"label": "x", "final_tuples": [said]}
    )
    assert found.stage1.atsa.aspect_sentiments[0].term == "뷰"
    assert found.final_result is not None
    assert found.final_result.final_tuples[0].aspect_term == "뷰"
    target = {"op": "drop_tuple", "target": {"aspect_ref": "뷰"}}
    edit = output_of(debate={"summary": {"final_patch": [target]}}).debate
    assert edit is not None
    assert edit.summary is not None
    assert edit.summary.final_patch[0].target.aspect_term is None


def test_scorecards_whose_sentiments_have_references_are_read_with_them() -> None:
    judged = [{"aspect_ref": "뷰", "attribution_score": 1.0, "opinion_grounded": True}]
    card = {
        "meta": {"text_id": "s1"},
        "atsa": {"sentiment_judgements": judged},
        "inputs": {"aspect_sentiments": judged},
    }
    failures: list[Failure] = []
    [found] = scorecard_reader().records(Chunk("c", 1, msgspec.json.encode(card)), failures)
    assert failures == []
    assert found.atsa is not None
    assert found.atsa.sentiment_judgements[0].aspect_term == "뷰"
    assert found.inputs is not None
    assert found.inputs.aspect_sentiments[0].term == "뷰"


@pytest.mark.parametrize(
    ("given", "expected"),
    [(1, 1.0), ("0.5", 0.5), ("high", None), (math.inf, None), (math.nan, None), (True, None), (1 << 60, None)],
)
def test_a_number_that_is_none_is_missing(given: object, expected: float | None) -> None:
    assert tolerant_record({"term": "a", "confidence": given}, Aspect).confidence == expected


def test_items_that_cannot_be_understood_are_left_out() -> None:
    row = {"structural_risks": [{"type": "NEGATION"}, None, "x", {"type": None}], "consistency_score": []}
    found = tolerant_record(row, StructuralValidation)
    assert [risk.type for risk in found.structural_risks] == ["NEGATION", ""]
    assert tolerant_record({"structural_risks": "none"}, StructuralValidation).structural_risks == ()


def test_flags_are_true_or_false_and_nothing_else() -> None:
    assert tolerant_record({"applied": 1}, Correction).applied is False
    assert tolerant_record({"applied": True}, Correction).applied is True


def test_a_required_number_that_is_not_there_is_no_number() -> None:
    found = tolerant_record({"label": "positive"}, FinalResult)
    assert math.isnan(found.confidence)
    card = make_scorecard(output_of(final_result={"label": "positive"}, moderator={"final_label": "positive"}))
    assert card.final_result is not None
    assert card.final_result.confidence is None
    assert card.moderator is not None
    assert card.moderator.confidence is None


def test_maps_keep_the_entries_that_fit() -> None:
    found = output_of(debate_review_context={"mapping_fail_reasons": {"no_match": 2, 3: "many"}, "aspect_hints": []})
    assert found.debate_review_context is not None
    assert found.debate_review_context.mapping_fail_reasons == {"no_match": 2}


def test_a_row_nested_without_end_is_cut() -> None:
    row: dict[str, Any] = {}
    place = row
    for _ in range(200):
        place["meta"] = place = {}
    assert output_of(**row).text_id == "s1"


def test_records_are_taken_as_they_are() -> None:
    assert output_of(stage1=output().stage1).stage1 == output().stage1


@pytest.mark.parametrize("row", [{"text_id": "a"}, {"input_text": "b"}, {"text_id": None, "input_text": "b"}, {}])
def test_an_output_needs_an_id_and_a_text(row: dict[str, object]) -> None:
    with pytest.raises(RecordError, match=r"no (text_id|input_text); expected an object with text_id, input_text"):
        output_reader().record_of(row)


def test_a_row_that_no_record_can_be_made_of_is_refused() -> None:
    with pytest.raises(RecordError, match="no TextSpan"):
        tolerant_record({"start": "first"}, TextSpan)


@pytest.mark.parametrize(
    "row",
    [
        {"uid": 7, "text": "Good."},
        {"case_id": 7, "meta": {"input_text": "Good."}},
        {"id": 7, "meta": None, "text": "Good."},
    ],
)
def test_id_and_text_may_have_other_names(row: dict[str, object]) -> None:
    found = output_reader().record_of(row)
    assert (found.text_id, found.input_text) == ("7", "Good.")


def as_line(**row: Any) -> PipelineOutput:
    """What a line of a file is read as."""
    line = msgspec.json.encode({"text_id": "s1", "input_text": TEXT, **row})
    failures: list[Failure] = []
    [read] = output_reader().records(Chunk("o.jsonl", 1, line), failures)
    return read


@pytest.mark.parametrize(
    ("word", "polarity", "counts"),
    [
        ("positive", "positive", (0, 0)),
        ("POS", "positive", (0, 0)),
        ("긍정", "positive", (0, 0)),
        ("positve", "positive", (1, 0)),
        ("postivve", "positive", (1, 0)),
        ("nesitive", None, (0, 1)),
        ("great", None, (0, 1)),
        ("mixed", None, (0, 1)),
        (3, None, (0, 1)),
        ("", None, (0, 0)),
        (None, None, (0, 0)),
    ],
)
def test_polarities_are_repaired_or_missing_and_counted(
    word: object, polarity: str | None, counts: tuple[int, int]
) -> None:
    felt = [{"aspect_term": {"term": "뷰"}, "polarity": word}, {"aspect_term": "배터리", "polarity": "positive"}]
    for read in (output_of, as_line):
        for row in (
            {"stage1": {"atsa": {"aspect_sentiments": felt}}},
            {"patched_stage2_atsa": {"aspect_sentiments": felt}},
        ):
            made = read(**row)
            sentiments = (made.patched_stage2_atsa or made.stage1.atsa).aspect_sentiments
            assert [each.polarity for each in sentiments] == [polarity, "positive"]
            runtime = make_scorecard(made).runtime
            assert runtime is not None
            assert (runtime.polarities_repaired, runtime.polarities_invalid) == counts


@pytest.mark.parametrize("name", ["stage1_tuples", "stage2_tuples", "final_tuples", "final_aspects"])
def test_polarities_of_the_result_are_repaired_and_may_be_mixed(name: str) -> None:
    words = ["positve", "Mixed", "great", "neg", None]
    stated = [{"aspect_term": "뷰", "term": "뷰", "span": {"start": 9, "end": 10}, "polarity": word} for word in words]
    row = {"final_result": {"label": "mixed", "confidence": 0.5, name: stated}, "notes": ["ate: as before"]}
    for made in (output_of(**row), as_line(**row)):
        found = [each.polarity for each in getattr(made.final_result, name)]
        assert found == ["positive", "mixed", None, "negative", None]
        assert made.notes == (
            "ate: as before",
            "score: polarity_repaired:positve->positive",
            "score: polarity_invalid:great",
        )


def test_polarities_of_reviews_are_repaired_and_those_of_gold_are_left() -> None:
    review = [{"aspect_term": "뷰", "action": "flip_polarity", "revised_polarity": "negatve"}, "x"]
    gold = [{"aspect_term": "뷰", "polarity": "negatve"}]
    made = output_of(stage2={"atsa": {"sentiment_review": review}}, gold_tuples=gold, notes="none")
    assert made.stage2 is not None
    assert [each.revised_polarity for each in made.stage2.atsa.sentiment_review] == ["negative"]
    assert made.gold_tuples is not None
    assert made.gold_tuples[0].polarity == "negatve"
    assert made.notes == ("score: polarity_repaired:negatve->negative",)


def stages_told(**row: Any) -> list[tuple[str | None, list[str | None]]]:
    """The stages whose validators a scorecard has, with the names of their risks; the same by row and by line."""
    cards = [make_scorecard(each) for each in (output_of(**row), as_line(**row))]
    assert cards[0].validator == cards[1].validator
    return [(each.stage, [risk.type for risk in each.structural_risks]) for each in cards[0].validator or ()]


NO_RISK: dict[str, Any] = {"structural_risks": []}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"stage1": {"validator": NO_RISK}, "stage2": {"validator": NO_RISK}}, [("stage1", []), ("stage2", [])]),
        ({"stage1": {"validator": NO_RISK}, "stage2": None}, [("stage1", [])]),
        ({"stage1": {"validator": NO_RISK}, "stage2": {}}, [("stage1", [])]),
        ({"stage1": {}, "stage2": {"validator": NO_RISK}}, [("stage2", [])]),
        ({"stage1": {"validator": None}, "stage2": {"validator": None}}, []),
        ({"stage1": {"validator": {}}, "stage2": {"validator": {"consistency_score": 1}}}, []),
        ({"stage1": {"validator": {"structural_risks": None}}}, []),
        ({"stage1": None}, []),
        ({}, []),
    ],
)
def test_a_validator_that_tells_no_risks_has_not_found_none(row: dict[str, Any], expected: object) -> None:
    assert stages_told(**row) == expected


def test_risks_that_a_review_only_names_count_as_left() -> None:
    before = {"validator": {"structural_risks": [{"type": "NEGATION"}, {"type": "IRONY"}]}}
    after = {"validator": {"final_validation": {"resolved_risks": ["IRONY"], "remaining_risks": ["NEGATION"]}}}
    assert stages_told(stage1=before, stage2=after) == [("stage1", ["NEGATION", "IRONY"]), ("stage2", ["NEGATION"])]
    card = make_scorecard(output_of(stage1=before, stage2=after))
    assert card.validator is not None
    [risk] = card.validator[1].structural_risks
    assert (risk.risk_id, risk.severity, risk.span) == ("NEGATION_SCOPE", "mid", None)
    counts = count_scorecard(card)
    assert (counts.risks_before, counts.risks_after) == (2, 1)


def test_risks_that_a_review_lists_go_before_those_that_it_names() -> None:
    after = {"validator": {"structural_risks": [], "final_validation": {"remaining_risks": ["NEGATION"]}}}
    assert stages_told(stage2=after) == [("stage2", [])]
    assert stages_told(stage2={"validator": {"final_validation": {"remaining_risks": []}}}) == [("stage2", [])]
    assert stages_told(stage2={"validator": {"final_validation": {"resolved_risks": ["NEGATION"]}}}) == []


def test_drops_without_a_class_get_one_from_the_text() -> None:
    filtered = [
        {"term": "배터리", "span": [1, 4], "action": "drop", "drop_reason": "other_not_target"},
        {"term": "화면", "span": None, "action": "drop"},
        {"term": "가", "span": {"start": 10, "end": 11}, "action": "drop"},
        {"term": "뷰", "span": [9, 10], "action": "keep"},
    ]
    card = scorecard_of({"meta": {"input_text": TEXT}, "inputs": {"ate_debug": {"filtered": filtered}}})
    assert [each.drop_class for each in card.filtered] == ["H2", "H1", "filter", None]
    counts = count_scorecard(card)
    assert (counts.classified, counts.offset_errors, counts.placed, counts.code_points) == (1, 1, 3, 2)


def test_without_a_text_classes_stay_unknown() -> None:
    card = scorecard_of({"inputs": {"ate_debug": {"filtered": [{"term": "화면", "action": "drop"}]}}})
    assert card.filtered[0].drop_class is None
    assert card.is_flagged


def test_risks_and_severities_get_whole_names() -> None:
    risks = [{"risk_id": "NEGATION", "severity": "medium"}, {"type": "E", "severity": None}, {"risk_id": "IRONY"}]
    card = scorecard_of({"validator": [{"stage": "stage1", "structural_risks": risks}]})
    assert card.validator is not None
    assert [(risk.risk_id, risk.severity) for risk in card.validator[0].structural_risks] == [
        ("NEGATION_SCOPE", "mid"), ("OTHER", "mid"), ("OTHER", "mid"),
    ]  # fmt: skip


def test_tuples_of_the_result_may_be_its_aspects() -> None:
    aspects = [
        {"aspect_term": {"term": "뷰"}, "polarity": "negative"},
        {"aspect_term": "화면", "polarity": "neg"},
        {"term": "배터리"},
    ]
    row = {
        "meta": {"input_text": TEXT},
        "inputs": {},
        "runtime": {"parsed_output": {"final_result": {"label": "mixed", "final_aspects": aspects}}},
    }
    card = scorecard_of(row)
    assert card.final_result is not None
    assert [each.aspect_term for each in card.final_result.final_tuples or ()] == ["뷰", "화면", "배터리"]
    assert card.inputs is not None
    assert (card.inputs.final_out_of_text, card.inputs.final_aspects) == (1, 3)


@pytest.mark.parametrize("given", [{}, {"final_tuples": None}, {"final_tuples": []}])
def test_a_result_whose_tuples_are_empty_has_those_of_its_aspects(given: dict[str, Any]) -> None:
    result = {**given, "final_aspects": [{"aspect_term": "뷰", "polarity": "negative"}]}
    judgement = {"aspect_term": "뷰", "opinion_grounded": True, "issues": []}
    row = {"atsa": {"sentiment_judgements": [judgement]}, "runtime": {"parsed_output": {"final_result": result}}}
    card = scorecard_of(row)
    assert card.final_result is not None
    assert [each.aspect_term for each in card.final_result.final_tuples or ()] == ["뷰"]
    assert grounding_bucket(card) == "explicit"


def test_tuples_of_a_result_go_before_its_aspects() -> None:
    result = {"final_tuples": [{"aspect_term": "뷰", "polarity": "negative"}], "final_aspects": [{"term": "화면"}]}
    card = scorecard_of({"runtime": {"parsed_output": {"final_result": result}}})
    assert card.final_result is not None
    assert [each.aspect_term for each in card.final_result.final_tuples or ()] == ["뷰"]
    empty = scorecard_of({"runtime": {"parsed_output": {"final_result": {"final_tuples": [], "final_aspects": []}}}})
    assert empty.final_result is not None
    assert empty.final_result.final_tuples == ()


@pytest.mark.parametrize(
    ("latency", "profile", "expected"),
    [
        ({"total_ms": 20_000}, None, "PASS"),
        ({"total_ms": 31_000}, None, "WARN"),
        ({"total_ms": 31_000}, "smoke", "PASS"),
        ({"total_ms": 31_000, "profile": "smoke"}, None, "PASS"),
        ({"total_ms": 20_000, "gate_threshold_ms": 10_000}, "smoke", "WARN"),
        ({"total_ms": 20_000, "gate_status": "WARN"}, "smoke", "WARN"),
        ({"gate_threshold_ms": 10_000}, "smoke", None),
    ],
)
def test_whether_a_sentence_was_in_time_is_derived_where_it_is_not_told(
    latency: dict[str, Any], profile: str | None, expected: str | None
) -> None:
    card = scorecard_of({"latency": latency, "profile": profile})
    assert card.latency is not None
    assert card.latency.gate_status == expected
    counts = count_scorecard(card)
    assert (counts.gated, counts.latency_warned) == (expected is not None, expected == "WARN")


def test_what_became_of_proposals_is_not_known_without_a_log() -> None:
    proposal = {"target_aspect": "뷰", "proposal_type": "FLIP_POLARITY"}
    stage1 = {"validator": {"structural_risks": [], "correction_proposals": [proposal]}}
    delta = make_scorecard(output_of(stage1=stage1)).stage_delta
    assert delta is not None
    assert (delta.proposals, delta.proposals_applied, delta.ignored_reasons) == (None, None, None)
    log = [{"proposal_type": "FLIP_POLARITY", "target_aspect": "뷰", "applied": True}]
    told = make_scorecard(output_of(stage1=stage1, correction_applied_log=log)).stage_delta
    assert told is not None
    assert (told.proposals, told.proposals_applied, told.ignored_reasons) == (1, 1, {})


def test_a_result_without_tuples_or_aspects_has_none() -> None:
    card = scorecard_of({"runtime": {"parsed_output": {"final_result": {"label": "mixed"}}}})
    assert card.final_result is not None
    assert card.final_result.final_tuples is None


def test_our_own_scorecards_are_complete() -> None:
    card = make_scorecard(output())
    assert completed(card) is card


@pytest.mark.parametrize("row", [{}, {"ate": None, "inputs": None, "validator": None, "runtime": None, "meta": None}])
def test_a_scorecard_of_nothing_is_read(row: dict[str, object]) -> None:
    assert not scorecard_of(row).is_flagged


@pytest.mark.parametrize("row", [{"validator": "none", "inputs": [], "meta": 3, "ate": "x", "aux_signals": {"hf": 1}}])
def test_blocks_of_another_kind_are_missing(row: dict[str, object]) -> None:
    card = scorecard_of(row)
    assert [card.validator, card.inputs, card.meta, card.ate] == [None] * 4
    assert isinstance(card, Scorecard)


@pytest.mark.parametrize("stage1", [None, {}, {"ate": "oops", "atsa": None}, {"ate": {"aspects": None}}])
def test_a_stage_that_is_not_told_is_not_a_clean_one(stage1: object) -> None:
    card = make_scorecard(output_of(stage1=stage1))
    assert (card.ate, card.atsa, card.summary, card.stage1_ate) == (None, None, None, None)
    counts = count_scorecard(card)
    assert (counts.classified, counts.groundable, counts.quality_judged, counts.validated) == (0, 0, 0, 0)
    assert (counts.final_known, counts.tuples_s1, counts.tuples_final, counts.bucketed) == (0, 0, 0, 0)


def test_aspects_alone_tell_of_aspects_alone() -> None:
    aspects = [{"term": "배터리", "span": [0, 3]}, {"term": "화면", "span": [9, 11]}]
    card = make_scorecard(output_of(stage1={"ate": {"aspects": aspects}}))
    counts = count_scorecard(card)
    assert (counts.classified, counts.h1_samples, counts.aspects) == (1, 1, 2)
    assert (card.atsa, card.summary, counts.tuples_final) == (None, None, 0)


def test_empty_lists_are_told() -> None:
    line = msgspec.json.encode(
        {"text_id": "s", "input_text": TEXT, "stage1": {"ate": {"aspects": []}, "atsa": {"aspect_sentiments": []}}}
    )
    [found] = output_reader().records(Chunk("outputs.jsonl", 1, line), [])
    assert found.meta.untold == ("stage1.validator",)
    assert count_scorecard(make_scorecard(found)).classified == 1


@pytest.mark.parametrize("extra", [{}, {"process_trace": []}, {"moderator": {}, "debate": None}])
def test_an_output_is_not_taken_for_a_scorecard_of_nothing(extra: dict[str, Any]) -> None:
    row = {"meta": {"text_id": "s1"}, "final_result": {"label": "positive"}, **extra}
    failures: list[Failure] = []
    lines = msgspec.json.encode(row) + b"\n"
    assert list(scorecard_reader().records(Chunk("outputs.jsonl", 1, lines), failures)) == []
    assert "hallumeter aspects score" in failures[0].message


def test_a_scorecard_is_not_taken_for_an_output_without_aspects() -> None:
    with pytest.raises(RecordError, match="hallumeter aspects aggregate"):
        output_reader().record_of({"meta": {"text_id": "s1", "input_text": TEXT}, "ate": None, "stage_delta": {}})
