"""Scorecards: what they tell, under every name."""

from __future__ import annotations

import msgspec
import pytest

from aspect_outputs import output
from hallumeter.aspects.records.aspect import TextSpan
from hallumeter.aspects.records.scorecard import Scorecard, SentimentInput
from hallumeter.aspects.score.scorecard import make_scorecard


def card(line: str) -> Scorecard:
    return msgspec.json.decode(line, type=Scorecard)


@pytest.mark.parametrize(
    ("line", "is_flagged"),
    [
        ("{}", False),
        ('{"ate": null}', False),
        ('{"ate": {"hallucination_flag": true}}', True),
        ('{"ate": {"hallucination_flag": false}}', False),
        ('{"ate": null, "ate_score": {"hallucination_flag": true}}', True),
        ('{"ate_score": null}', False),
        ('{"inputs": {"ate_debug": {"filtered": [{"action": "drop"}]}}}', True),
        ('{"ate": {"hallucination_flag": false}, "inputs": {"ate_debug": {"filtered": [{"action": "drop"}]}}}', True),
        ('{"inputs": {"ate_debug": {"filtered": [{"action": "keep"}]}}}', False),
        ('{"inputs": {"ate_debug": null}}', False),
    ],
)
def test_a_sentence_is_flagged_by_its_flag_or_by_a_drop(line: str, is_flagged: bool) -> None:
    assert card(line).is_flagged is is_flagged


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("{}", None),
        ('{"meta": {"text_id": "a", "case_id": "b"}}', "a"),
        ('{"meta": {"case_id": "b"}}', "b"),
        ('{"meta": {"uid": "c"}}', "c"),
        ('{"meta": {}, "runtime": {"uid": "d"}}', "d"),
        ('{"runtime": {"uid": "d"}}', "d"),
    ],
)
def test_a_sentence_may_be_named_in_several_ways(line: str, name: str | None) -> None:
    assert card(line).case_id == name


def test_run_and_profile_may_stand_in_the_meta() -> None:
    found = card('{"meta": {"run_id": "r", "profile": "smoke"}, "runtime": {"seed": 3}}')
    assert found.run_key == ("r", 3)
    assert found.chosen_profile == "smoke"
    assert card('{"run_id": "r"}').run_key == ("r", None)
    assert card("{}").run_key == ("", None)
    assert card("{}").chosen_profile is card("{}").text is None


def test_sentiments_are_read_under_both_names() -> None:
    found = card('{"atsa_score": {"sentiment_judgements": [{"aspect_term": "a"}]}}').sentiment_score
    assert found is not None
    assert found.sentiment_judgements[0].aspect_term == "a"
    assert card("{}").sentiment_score is None


def test_spans_are_read_in_both_forms() -> None:
    line = (
        '{"inputs": {"ate_debug": {"filtered": [{"span": [0, 3]}, {"span": {"start": 0, "end": 3}}, {"span": null}]}}}'
    )
    assert [aspect.span for aspect in card(line).filtered] == [(0, 3), TextSpan(0, 3), None]


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("{}", None),
        ('{"moderator": {"final_label": "mixed"}}', "mixed"),
        ('{"moderator": {}, "runtime": {"parsed_output": {"final_result": {"label": "neutral"}}}}', "neutral"),
        ('{"runtime": {"parsed_output": {"final_result": {}}}}', None),
        ('{"inputs": {"sentence_sentiment": "positive"}}', "positive"),
        ('{"inputs": {"sentence_sentiment": {"label": "negative"}}}', "negative"),
        ('{"inputs": {"sentence_sentiment": ""}}', None),
    ],
)
def test_the_label_is_found_wherever_it_stands(line: str, label: str | None) -> None:
    assert card(line).final_label == label


def test_a_validator_is_found_by_its_stage() -> None:
    found = card('{"validator": [{"stage": "stage1"}, {"stage": "stage2", "structural_risks": [{}]}]}')
    second = found.validator_of("stage2")
    assert second is not None
    assert len(second.structural_risks) == 1
    assert card("{}").validator_of("stage1") is None


@pytest.mark.parametrize(
    ("flags", "is_failed"),
    [("null", False), ("{}", False), ('{"parse_failed": true}', True), ('{"generate_failed": true}', True)],
)
def test_a_sentence_failed_when_a_reply_did_not_come_or_could_not_be_read(flags: str, is_failed: bool) -> None:
    assert card(f'{{"flags": {flags}}}').is_failed is is_failed


def test_a_scorecard_comes_back_from_json_as_it_was() -> None:
    made = make_scorecard(output())
    line = msgspec.json.encode(made)
    assert msgspec.json.decode(line, type=Scorecard) == made
    assert b"ate_score" not in line


def test_fields_that_nobody_knows_are_passed_over() -> None:
    assert card('{"novelty": {"a": 1}, "meta": {"text_id": "a", "more": 2}}').case_id == "a"


def test_a_sentiment_names_its_aspect_in_three_ways() -> None:
    given = '[{"aspect_term": "a"}, {"aspect_term": {"term": "b"}}, {"aspect_term": {"term": null}}, {}]'
    assert [each.term for each in msgspec.json.decode(given, type=list[SentimentInput])] == ["a", "b", "", ""]
