"""JSON in what language models write."""

from __future__ import annotations

import json

import pytest

from hallumeter.models.json_replies import LONGEST_TEXT, json_values

VALUE = {"aspects": [{"term": "battery", "span": [4, 11]}, {"term": "lid, {or} so"}]}
WRITTEN = json.dumps(VALUE)


@pytest.mark.parametrize("around", ["%s", " %s\n", "```json\n%s\n```", "Sure [really] {so}: %s. Bye}"])
@pytest.mark.parametrize("is_whole", [False, True])
def test_a_whole_value_is_found_wherever_it_stands(around: str, is_whole: bool) -> None:
    assert list(json_values(around % WRITTEN, is_whole=is_whole)) == [VALUE]


def test_several_values_are_found_in_their_order() -> None:
    assert list(json_values(f'{WRITTEN} and {{"b": 2}}')) == [VALUE, {"b": 2}]


def test_of_a_value_that_breaks_off_what_is_complete_is_found_or_nothing() -> None:
    for end in range(1, len(WRITTEN)):
        assert list(json_values(WRITTEN[:end], is_whole=True)) == []
    assert list(json_values(WRITTEN[:-12])) == [{"aspects": [VALUE["aspects"][0]]}]


@pytest.mark.parametrize("text", ["", "no", "{" * 500, "[}", '{"a" 1}', "\ud800", '{"a": \ud800}'])
def test_what_is_no_json_has_no_values(text: str) -> None:
    assert list(json_values(text)) == []


def test_a_long_text_is_read_to_its_bound() -> None:
    assert list(json_values("x" * LONGEST_TEXT + WRITTEN)) == []
