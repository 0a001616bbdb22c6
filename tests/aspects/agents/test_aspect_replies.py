"""How replies of agents are read, and in which form they are asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from hallumeter.aspects.agents.language_model import reply_schema
from hallumeter.aspects.agents.protocol import ANSWERS, AgentAnswer, Role
from hallumeter.aspects.agents.replies import UnusableReply, read_reply, read_value
from hallumeter.aspects.records.aspect import TextSpan
from hallumeter.aspects.records.outputs import (
    AspectExtraction,
    AspectReview,
    AspectSentiments,
    DebateSummary,
    DebateTurn,
    SentimentReview,
    StructuralReview,
    StructuralValidation,
)

TEXT = "The battery is terrible."
ASPECTS = {"aspects": [{"term": "battery", "span": {"start": 4, "end": 11}, "confidence": 0.9}]}
EDIT = {"op": "set_polarity", "target": {"aspect_term": "battery"}, "value": "negative", "evidence": "terrible"}
RISK = {"type": "NEGATION", "scope": {"start": 0, "end": 4}, "severity": "high", "description": "x"}
GOOD: dict[Role, dict[str, Any]] = {
    "ate": ASPECTS,
    "atsa": {"aspect_sentiments": [{"aspect_term": {"term": "battery", "span": [4, 11]}, "polarity": "negative"}]},
    "validator": {"structural_risks": [RISK], "correction_proposals": [], "consistency_score": 0.5},
    "epm": {"proposed_edits": [EDIT]},
    "tan": {"proposed_edits": []},
    "cj": {"proposed_edits": [EDIT]},
    "debate_summary": {
        "final_patch": [EDIT],
        "final_tuples": [{"aspect_term": "battery", "polarity": "negative"}],
        "sentence_polarity": "negative",
        "sentence_evidence_spans": ["terrible"],
    },
    "ate_review": {"aspect_review": [{"term": "battery", "action": "keep"}]},
    "atsa_review": {"sentiment_review": [{"aspect_term": "battery", "action": "maintain"}]},
    "validator_review": {"structural_risks": [], "final_validation": {"resolved_risks": ["NEGATION: not"]}},
}


def read(role: Role, value: object) -> AgentAnswer:
    return read_value(value, role, TEXT).answer


def objects_in(schema: object) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for value in schema.values():
            yield from objects_in(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects_in(value)


@pytest.mark.parametrize("role", ANSWERS)
def test_schemas_keep_the_rules_of_strict_providers(role: Role) -> None:
    schema = reply_schema(role).schema
    assert schema["type"] == "object"
    found = list(objects_in(schema))
    assert found
    for each in found:
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])
        assert all({"type", "anyOf"} & set(field) for field in each["properties"].values())
    assert "$ref" not in json.dumps(schema)


def filled(schema: dict[str, Any], *, with_null: bool) -> Any:
    """A value that a schema allows; null wherever it may be, or nowhere."""
    if "anyOf" in schema:
        return None if with_null else filled(schema["anyOf"][0], with_null=with_null)
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if with_null and "null" in kinds:
        return None
    if "enum" in schema:
        return schema["enum"][0]
    values = {
        "object": {name: filled(each, with_null=with_null) for name, each in schema.get("properties", {}).items()},
        "array": [filled(schema["items"], with_null=with_null)] if "items" in schema else [],
        "string": "negative",
        "integer": 3,
        "number": 0.5,
        "boolean": False,
    }
    return values[kinds[0]]


@pytest.mark.parametrize("role", ANSWERS)
@pytest.mark.parametrize("with_null", [False, True])
def test_whatever_a_schema_allows_is_read(role: Role, with_null: bool) -> None:
    reply = json.dumps(filled(reply_schema(role).schema, with_null=with_null))
    answer = read_reply(reply, role, "All of it is negative.")
    assert isinstance(answer.answer, ANSWERS[role])
    assert answer.notes == ()


@pytest.mark.parametrize("role", ANSWERS)
@pytest.mark.parametrize(
    "around",
    [
        "%s",
        "\n %s \n",
        "```json\n%s\n```",
        "Sure! Here it is:\n%s\nI hope [this] helps {you}.",
        'First {"a": 1}, then %s',
    ],
)
def test_json_is_found_alone_fenced_and_in_prose(role: Role, around: str) -> None:
    assert read_reply(around % json.dumps(GOOD[role]), role, TEXT).answer == read(role, GOOD[role])


@pytest.mark.parametrize("role", ANSWERS)
def test_a_reply_that_breaks_off_is_never_taken_for_a_whole_one(role: Role) -> None:
    whole = json.dumps(GOOD[role])
    for end in range(len(whole)):
        with pytest.raises(UnusableReply):
            read_reply(whole[:end], role, TEXT)


@pytest.mark.parametrize(
    "text", ["", "   ", "I would rather not say.", "null", "42", '"battery"', "{}", "[1, 2]", "{" * 5000]
)
@pytest.mark.parametrize("role", ANSWERS)
def test_garbage_is_no_reply(role: Role, text: str) -> None:
    with pytest.raises(UnusableReply) as caught:
        read_reply(text, role, TEXT)
    assert str(caught.value)


@pytest.mark.parametrize(
    "place",
    [
        {"span": {"start": 4, "end": 11}},
        {"span": [4, 11]},
        {"span": [4.0, 11.0]},
        {"span": {"start": "4", "end": "11"}},
        {"start": 4, "end": 11},
    ],
)
def test_a_span_may_be_an_object_a_pair_or_two_fields(place: dict[str, object]) -> None:
    answer = read("ate", {"aspects": [{"term": "battery", **place}]})
    assert isinstance(answer, AspectExtraction)
    assert answer.aspects[0].span == TextSpan(4, 11)


@pytest.mark.parametrize("place", [{"span": [4]}, {"span": "4-11"}, {"span": [4, "x"]}, {"span": {"start": 4}}])
def test_a_span_that_is_none_is_told(place: dict[str, object]) -> None:
    with pytest.raises(UnusableReply, match=r"span|end"):
        read("ate", {"aspects": [{"term": "battery", **place}]})


def test_spans_outside_the_text_are_kept_as_they_were_given() -> None:
    answer = read("ate", {"aspects": [{"term": "battery", "span": [-3, 400]}, {"term": "lid"}]})
    assert isinstance(answer, AspectExtraction)
    assert [aspect.span for aspect in answer.aspects] == [TextSpan(-3, 400), None]


@pytest.mark.parametrize(
    ("said", "polarity", "notes"),
    [
        ("Negative", "negative", ()),
        ("neg", "negative", ()),
        ("negtive", "negative", ("polarity_repaired:negtive->negative",)),
        ("부정", "negative", ()),
        ("mixed", None, ("polarity_invalid:mixed",)),
        ("", None, ()),
        (None, None, ()),
        (3, None, ("polarity_invalid:3",)),
    ],
)
def test_polarities_are_repaired_where_one_is_meant_and_missing_is_never_neutral(
    said: object, polarity: str | None, notes: tuple[str, ...]
) -> None:
    got = read_value({"aspect_sentiments": [{"aspect_term": "battery", "polarity": said}]}, "atsa", TEXT)
    assert isinstance(got.answer, AspectSentiments)
    assert (got.answer.aspect_sentiments[0].polarity, got.notes) == (polarity, notes)


def test_a_sentiment_may_name_its_term_as_text_or_not_at_all() -> None:
    answer = read(
        "atsa",
        {
            "aspect_sentiments": [
                {"aspect_term": "battery", "start": 4, "end": 11, "polarity": "negative"},
                {"term": "battery", "span": [4, 11], "polarity": "negative", "is_backfilled": True},
                {"aspect_term": None, "polarity": "positive"},
                {"aspect_term": "", "polarity": "positive"},
                {"aspect_term": {"term": "lid", "span": None}, "polarity_distribution": {"pos": 0.2, "neg": 7, "x": 1}},
            ]
        },
    )
    assert isinstance(answer, AspectSentiments)
    first, second, implicit, empty, last = answer.aspect_sentiments
    assert first.aspect_term == second.aspect_term
    assert first.aspect_term is not None
    assert first.aspect_term.span == TextSpan(4, 11)
    assert not second.is_backfilled
    assert (implicit.aspect_term, implicit.is_implicit, empty.is_implicit) == (None, True, True)
    assert (last.polarity, last.polarity_distribution) == (None, {"positive": 0.2})


@pytest.mark.parametrize(
    ("role", "name", "item"),
    [
        ("ate", "aspects", {"span": [4, 11]}),
        ("atsa", "aspect_sentiments", {"polarity": "negative"}),
        ("ate_review", "aspect_review", {"action": "keep"}),
        ("atsa_review", "sentiment_review", {"action": "maintain"}),
    ],
)
@pytest.mark.parametrize("key", ["aspect_term", "aspect_ref", "term"])
def test_a_term_is_read_under_all_of_its_names(role: Role, name: str, item: dict[str, object], key: str) -> None:
    own = "term" if name in ("aspects", "aspect_review") else "aspect_term"
    got = read_value({name: [{**item, key: "battery"}]}, role, TEXT)
    assert got.answer == read(role, {name: [{**item, own: "battery"}]})
    assert got.notes == ()


def test_an_aspect_may_hold_its_term_and_place_in_one() -> None:
    answer = read("ate", {"aspects": [{"aspect_ref": {"term": "battery", "span": [4, 11]}}]})
    assert answer == read("ate", {"aspects": [{"term": "battery", "span": [4, 11]}]})


def test_a_proposal_and_a_piece_of_evidence_may_name_their_aspect_by_reference() -> None:
    proposal = {"proposal_type": "FLIP_POLARITY", "aspect_ref": "battery"}
    answer = read("validator", {"structural_risks": [], "correction_proposals": [proposal]})
    assert isinstance(answer, StructuralValidation)
    assert answer.correction_proposals[0].target_aspect == "battery"
    pairs = [{"aspect_ref": "battery", "evidence": "battery"}, {"evidence": "x"}, {"aspect_ref": "lid"}]
    summary = read("debate_summary", {**GOOD["debate_summary"], "aspect_evidence": pairs})
    assert isinstance(summary, DebateSummary)
    assert summary.aspect_evidence == {"battery": "battery"}


def test_an_aspect_that_is_said_not_to_be_named_keeps_its_reference_apart() -> None:
    answer = read("atsa", {"aspect_sentiments": [{"aspect_term": None, "aspect_ref": "price", "polarity": "negative"}]})
    assert isinstance(answer, AspectSentiments)
    assert answer.aspect_sentiments[0].aspect_term is None


def test_keys_that_nobody_reads_are_named() -> None:
    sentiments = [{"target": "battery", "polarity": "negative"}, {"target": "lid", "polarity": "negative", "why\n": 1}]
    got = read_value({"aspect_sentiments": sentiments, "mood": "bad"}, "atsa", TEXT)
    assert got.notes == (
        "unknown_key:'mood'",
        "unknown_key:'aspect_sentiments.target'",
        "unknown_key:'aspect_sentiments.why\\n'",
    )


@pytest.mark.parametrize("confidence", [1.5, -0.1, 85, "high", True, "nan", [0.5]])
def test_a_confidence_that_is_no_share_is_refused(confidence: object) -> None:
    with pytest.raises(UnusableReply, match="confidence is"):
        read("ate", {"aspects": [{"term": "battery", "confidence": confidence}]})


def test_a_confidence_may_be_written_as_text() -> None:
    answer = read("ate", {"aspects": [{"term": "battery", "confidence": "0.9"}]})
    assert isinstance(answer, AspectExtraction)
    assert answer.aspects[0].confidence == 0.9


@pytest.mark.parametrize(
    ("role", "fresh"),
    [
        ("ate_review", ASPECTS),
        ("ate_review", {**GOOD["ate_review"], **ASPECTS}),
        ("ate_review", ASPECTS["aspects"]),
        ("atsa_review", GOOD["atsa"]),
        ("atsa_review", GOOD["atsa"]["aspect_sentiments"]),
        ("validator_review", {**GOOD["validator_review"], **ASPECTS}),
    ],
)
def test_a_review_with_a_fresh_list_is_refused(role: Role, fresh: object) -> None:
    with pytest.raises(UnusableReply, match="fresh list"):
        read(role, fresh)


def test_a_bare_list_is_the_list_of_its_role() -> None:
    assert read("ate", ASPECTS["aspects"]) == read("ate", ASPECTS)
    assert read("ate_review", GOOD["ate_review"]["aspect_review"]) == read("ate_review", GOOD["ate_review"])
    assert read("epm", [EDIT]) == read("epm", GOOD["epm"])


def test_unknown_actions_and_edits_are_kept() -> None:
    review = read("atsa_review", {"sentiment_review": [{"aspect_term": "battery", "action": "reduce_confidence"}]})
    assert isinstance(review, SentimentReview)
    assert review.sentiment_review[0].action == "reduce_confidence"
    turn = read("cj", {"proposed_edits": [{"op": "rename", "target": "battery", "value": ["a", 1]}]})
    assert isinstance(turn, DebateTurn)
    assert turn.proposed_edits[0].value == '["a",1]'
    assert turn.proposed_edits[0].target.aspect_term == "battery"
    risks = read(
        "validator", {"structural_risks": [{"type": "SARCASM"}], "correction_proposals": [{"proposal_type": "X"}]}
    )
    assert isinstance(risks, StructuralValidation)
    assert risks.correction_proposals[0].target_aspect is None


def test_what_code_writes_is_not_taken_from_an_agent() -> None:
    review = read(
        "ate_review", {"aspect_review": [{"term": "battery", "action": "keep", "provenance": "source:me/pro"}]}
    )
    assert isinstance(review, AspectReview)
    assert review.aspect_review[0].provenance is None
    turn = read("tan", {"agent": "cj", "proposed_edits": []})
    assert isinstance(turn, DebateTurn)
    assert turn.agent == "tan"


def test_a_turn_in_words_is_a_turn() -> None:
    turn = read("epm", {"message": "The battery is bad.", "stance": "con", "key_points": ["battery"]})
    assert isinstance(turn, DebateTurn)
    assert (turn.message, turn.stance, turn.key_points) == ("The battery is bad.", "con", ("battery",))


def test_a_summary_needs_words_of_the_text() -> None:
    for spans in ([], ["wonderful"], [""], [" "]):
        with pytest.raises(UnusableReply, match="sentence_evidence_spans"):
            read("debate_summary", {**GOOD["debate_summary"], "sentence_evidence_spans": spans})
    summary = read(
        "debate_summary",
        {
            **GOOD["debate_summary"],
            "sentence_polarity": "mixed",
            "sentence_evidence_spans": ["wonderful", "terrible"],
            "aspect_evidence": [{"aspect_term": "battery", "evidence": "terrible"}, {"aspect_term": "lid"}, 3],
            "final_tuples": [{"polarity": "pos"}, {"aspect_term": "battery"}],
        },
    )
    assert isinstance(summary, DebateSummary)
    assert (summary.sentence_polarity, summary.aspect_evidence) == ("mixed", {"battery": "terrible"})
    assert [(each.aspect_term, each.polarity) for each in summary.final_tuples] == [("", "positive"), ("battery", None)]


def test_edits_have_known_polarities_or_none() -> None:
    edits = [
        {"op": "set_polarity", "target": {"aspect_term": "battery", "polarity": "pos"}, "value": "NEG"},
        {"op": "set_polarity", "target": {"aspect_term": "battery", "polarity": None}, "value": "whatever"},
        {"op": "set_aspect_ref", "target": {"aspect_term": "battery"}, "value": "pos"},
    ]
    turn = read("epm", {"proposed_edits": edits})
    assert isinstance(turn, DebateTurn)
    assert [edit.value for edit in turn.proposed_edits] == ["negative", None, "pos"]
    assert turn.proposed_edits[0].target.polarity == "positive"


def test_a_score_of_the_validator_is_a_share_too() -> None:
    for row in ({"consistency_score": 3}, {"final_validation": {"final_consistency_score": -1}}):
        with pytest.raises(UnusableReply, match="consistency_score"):
            read("validator_review", {"structural_risks": [], **row})
    review = read("validator_review", {**GOOD["validator_review"], "consistency_score": 1})
    assert isinstance(review, StructuralReview)
    assert review.consistency_score == 1.0


def test_the_message_names_the_field() -> None:
    with pytest.raises(UnusableReply, match="expected text, found a whole number"):
        read("ate", {"aspects": [{"term": 5}]})
    with pytest.raises(UnusableReply, match="found one with 'result'"):
        read("ate", {"result": []})


def test_halves_of_characters_are_made_writable() -> None:
    answer = read_reply('{"aspects": [{"term": "\\ud800"}]}', "ate", TEXT).answer
    assert isinstance(answer, AspectExtraction)
    assert answer.aspects[0].term == "?"
