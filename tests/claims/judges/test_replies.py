"""Reading what a model sends instead of what it was asked for."""

from __future__ import annotations

import json

import pytest

from hallumeter.claims.judges.replies import read_reply, repair_message, reply_schema
from hallumeter.formats.records import label_of
from hallumeter.records.claim import Label

BOTH = {1: Label.SUPPORTED, 2: Label.REFUTED}


def labels_in(text: str, count: int = 2) -> dict[int, Label]:
    return {number: reply.label for number, reply in read_reply(text, range(1, count + 1)).claims.items()}


@pytest.mark.parametrize(
    "text",
    [
        '{"1": "SUPPORTED", "2": "REFUTED"}',
        '{"1": {"label": "SUPPORTED"}, "2": {"label": "REFUTED", "quote": ""}}',
        '{"verdicts": [{"number": 1, "label": "SUPPORTED"}, {"number": 2, "label": "REFUTED"}]}',
        '[{"number": 1, "label": "SUPPORTED"}, {"number": 2, "label": "REFUTED"}]',
        '{"number": 1, "label": "SUPPORTED"}\n{"number": 2, "label": "REFUTED"}',
        '```json\n{"1": "SUPPORTED", "2": "REFUTED"}\n```',
        'Here is what I found [see below]:\n{"1": "supported", "2": "refutes"}\nTell me if you need more.',
        '[{"number": "1", "verdict": "Supported"}, {"claim": "claim 2", "verdict": "contradicted"}]',
        '[{"label": "SUPPORTED"}, {"label": "REFUTED"}]',
        "1. SUPPORTED\n2. REFUTED because the year differs",
        "Claim 1: **Supported**\nClaim 2: **Refuted**",
        '{"1": {"label": "SUPPORTED"}, "2": {"label": "REFUTED"}, "3": {"label": "SUPP',
        '{"verdicts": [{"number": 1.0, "label": "SUPPORTED"}, {"number": 2, "label": "REFUTED"}',
    ],
)
def test_verdicts_are_found_in_whatever_form_they_come(text: str) -> None:
    assert labels_in(text) == BOTH


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot judge this.",
        "null",
        "[1, 2]",
        '{"a": {"b": 1}}',
        "{" * 3000,
        "NaN",
        "9" * 5000,
        '{"1": NaN, "2": true}',
        '[{"number": Infinity, "label": "SUPPORTED"}',
        "1. Well\n2. Hm",
    ],
)
def test_a_reply_without_any_verdict_has_none_and_says_so(text: str) -> None:
    read = read_reply(text, [1, 2])
    assert read.claims == {}
    assert len(read.problems) == 2
    assert read.order == ()


def test_of_a_reply_that_breaks_off_the_whole_entries_keep_their_numbers() -> None:
    text = '{"2": {"quote": "a, \\"b\\" }", "label": "REFUTED"}, "3": {"quote": "c", "label": "SUPP'
    assert labels_in(text, 3) == {2: Label.REFUTED}
    assert labels_in('Well: {"1": "SUPPORTED", "2": "REFUTED", "3": "NOT_EN', 3) == BOTH
    assert labels_in('{"verdicts": [{"number": 2, "label": "REFUTED"}, {"number": 1', 3) == {2: Label.REFUTED}


def test_an_entry_that_is_missing_leaves_the_others_as_they_are() -> None:
    read = read_reply('{"2": "REFUTED"}', [1, 2])
    assert list(read.claims) == [2]
    assert read.problems == {1: "there is no entry for it"}


def test_two_different_labels_for_one_claim_are_no_verdict_and_twice_the_same_is_one() -> None:
    text = json.dumps(
        [{"number": n, "label": label} for n, label in [(1, "SUPPORTED"), (1, "REFUTED"), (2, "NEI")] * 2]
    )
    read = read_reply(text, [1, 2])
    assert {number: reply.label for number, reply in read.claims.items()} == {2: Label.NOT_ENOUGH_INFO}
    assert read.problems == {1: "it has two different labels"}


def test_numbers_that_were_not_asked_for_are_passed_over() -> None:
    read = read_reply(f'{{"0": "REFUTED", "1": "SUPPORTED", "{"7" * 500}": "REFUTED", "true": "REFUTED"}}', [1])
    assert {number: reply.label for number, reply in read.claims.items()} == {1: Label.SUPPORTED}
    assert read.order == (), "what belongs to which entry is not certain"


def test_a_label_that_is_none_is_named_in_the_problem() -> None:
    read = read_reply('{"1": "probably", "2": {"label": 3}}', [1, 2])
    assert read.claims == {}
    assert read.problems == {1: "'probably' is not a label", 2: "'3' is not a label"}


def test_quotation_place_and_note_are_kept_and_odd_types_do_not_matter() -> None:
    entry = {"evidence_id": "e2", "quote": "서울은 수도이다", "label": "SUPPORTED", "note": "as said"}
    reply = read_reply(json.dumps({"1": entry}), [1]).claims[1]
    assert (reply.evidence_id, reply.quote, reply.note) == (2, "서울은 수도이다", "as said")
    odd = read_reply('{"1": {"label": "SUPPORTED", "evidence_id": true, "quote": 12, "note": null}}', [1]).claims[1]
    assert (odd.evidence_id, odd.quote, odd.note) == (None, "12", None)


def test_a_reply_with_broken_characters_is_read_all_the_same() -> None:
    assert labels_in('\ud800 {"1": "SUPPORTED", "2": "REFUTED"}') == BOTH


def test_the_form_has_one_required_field_for_each_claim_with_the_quotation_before_the_label() -> None:
    schema = reply_schema([3, 1], wants_quotes=True).schema
    assert schema["required"] == ["1", "3"]
    assert schema["additionalProperties"] is False
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert properties["3"]["required"] == ["evidence_id", "quote", "label", "note"]
    labels = reply_schema([1], wants_quotes=False).schema["properties"]
    assert labels == {"1": {"type": "string", "enum": [label.value for label in Label]}}


def test_a_repair_asks_only_for_what_is_missing() -> None:
    said = repair_message({3: "there is no entry for it", 2: "'x' is not a label"}, is_cut_off=False)
    assert "claim 2: 'x' is not a label; claim 3: there is no entry for it." in said
    assert said.endswith("2, 3.")
    assert "ended before it was complete" in repair_message({2: "x"}, is_cut_off=True)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("SUPPORTED", Label.SUPPORTED),
        ("**Not enough info**", Label.NOT_ENOUGH_INFO),
        ("not-enough-information", Label.NOT_ENOUGH_INFO),
        ("unsupported", Label.NOT_ENOUGH_INFO),
        ("contradicts", Label.REFUTED),
        ("undecided.", Label.UNDECIDED),
        ("perhaps", None),
        ("", None),
    ],
)
def test_labels_are_known_by_what_models_call_them(text: str, label: Label | None) -> None:
    assert label_of(text) is label
