"""120 short answers, 60 in each language, with the mentions and scopes that an annotator expects by the definitions."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from mentions_in_words import reader, scope_of

from hallumeter.dialogue.reading.reader import condition_named, drug_named
from hallumeter.dialogue.records import Mention

FOLDER = Path(__file__).parent
EXPECTED_DIFFERENCES: dict[str, str] = {
    "en-A05": "the lexicon tells high cholesterol (hypercholesterolemia) from its wider hyperlipidemia",
}
"""Answers of which the reader says something else than the annotator, and why."""


@cache
def answers() -> dict[str, dict[str, Any]]:
    lines = [
        line for name in ("en", "ko") for line in (FOLDER / f"answers_{name}.jsonl").read_text("utf-8").splitlines()
    ]
    return {answer["id"]: answer for answer in map(json.loads, lines)}


def expected_of(answer: dict[str, Any]) -> dict[tuple[str, str, object], str]:
    return {
        (each["kind"], named(each["kind"], each["name"]), each.get("value")): each["scope"]
        for each in answer["expected"]["mentions"]
    }


def named(kind: str, name: str) -> str:
    """The lexicon's name: annotators write one of the usual ones."""
    if kind == "medication":
        return drug_named(name) or name
    return condition_named(name) or name if kind == "condition" else name


def found_in(answer: dict[str, Any]) -> dict[tuple[str, str, object], Mention]:
    return {(each.kind, each.name, each.value): each for each in reader().read(answer["answer"]).mentions}


@pytest.mark.parametrize("identity", sorted(answers()))
def test_all_mentions_and_scopes_of_an_answer_are_those_that_a_reader_expects(identity: str) -> None:
    answer = answers()[identity]
    found = {key: scope_of(mention) for key, mention in found_in(answer).items()}
    assert (found == expected_of(answer)) is (identity not in EXPECTED_DIFFERENCES)


@pytest.mark.parametrize("identity", sorted(set(answers()) - set(EXPECTED_DIFFERENCES)))
def test_every_occurrence_is_found_where_it_stands(identity: str) -> None:
    answer = answers()[identity]
    text = answer["answer"]
    found = found_in(answer)
    for each in answer["expected"]["mentions"]:
        mention = found[each["kind"], named(each["kind"], each["name"]), each.get("value")]
        places = [text[place.start : place.end] for place in mention.occurrences]
        assert len(places) == len(each["quotes"])
        assert all(quote in place or place in quote for quote, place in zip(each["quotes"], places, strict=True))


@pytest.mark.parametrize("identity", sorted(answers()))
def test_a_stated_unit_is_kept_as_it_was_stated(identity: str) -> None:
    answer = answers()[identity]
    for mention in reader().read(answer["answer"]).mentions:
        if mention.unit is not None and mention.unit not in {"/min", "in"}:
            assert mention.unit in answer["answer"]


@pytest.mark.parametrize("identity", sorted(answers()))
def test_a_place_that_is_asked_for_has_the_scope_of_the_drug_that_stands_there(identity: str) -> None:
    read = reader().read(answers()[identity]["answer"])
    for mention in read.mentions:
        if mention.kind == "medication":
            for place in mention.occurrences:
                assert read.scope_at(place.start, place.end).scope == place.scope
