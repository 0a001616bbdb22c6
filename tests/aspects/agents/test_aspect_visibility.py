"""What each role is shown, and that no text can leave its field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.aspects.agents.protocol import (
    ANSWERS,
    DEBATE_ROLES,
    STAGE_ONE_ROLES,
    AgentTask,
    Demonstration,
    Role,
    user_message,
    visible,
)
from hallumeter.aspects.records.aspect import (
    Aspect,
    AspectSentiment,
    AspectTerm,
    AspectTuple,
    StructuralRisk,
    TextSpan,
)
from hallumeter.aspects.records.outputs import (
    AspectExtraction,
    AspectSentiments,
    DebateTurn,
    ReviewContext,
    StageOne,
    StructuralValidation,
)

STAGE_ONE = StageOne(
    AspectExtraction((Aspect("ASPECT", TextSpan(0, 6)),)),
    AspectSentiments((AspectSentiment(AspectTerm("SENTIMENT"), "negative"),)),
    StructuralValidation((StructuralRisk("RISK"),)),
)
DEMO = Demonstration("d1", "DEMO", (AspectTuple("x", "negative", span=TextSpan(0, 1)), AspectTuple("", "positive")))
STAGES: dict[Role, set[str]] = {
    **{role: {"DEMO"} for role in STAGE_ONE_ROLES},
    **{role: {"ASPECT", "SENTIMENT", "RISK", "HISTORY"} for role in DEBATE_ROLES},
    "ate_review": {"ASPECT", "RISK", "CONTEXT"},
    "atsa_review": {"SENTIMENT", "RISK", "CONTEXT"},
    "validator_review": {"RISK", "CONTEXT"},
}


def task(role: Role, text: str = "Nice.") -> AgentTask:
    return AgentTask(
        role=role,
        text=text,
        language="en",
        domain="DOMAIN",
        demos=(DEMO,),
        stage1=STAGE_ONE,
        history=(DebateTurn("epm", message="HISTORY"),),
        context=ReviewContext(guidance=("CONTEXT",)),
    )


def shown(role: Role, text: str = "Nice.") -> dict[str, Any]:
    message: dict[str, Any] = json.loads(user_message(task(role, text)))
    return message


@pytest.mark.parametrize("role", ANSWERS)
def test_each_role_sees_its_part_and_no_more(role: Role) -> None:
    message = user_message(task(role))
    marks = {"DEMO", "ASPECT", "SENTIMENT", "RISK", "HISTORY", "CONTEXT"}
    assert {mark for mark in marks if mark in message} == STAGES[role]
    assert "DOMAIN" in message
    seen = visible(task(role))
    assert (seen.text, seen.role, seen.language) == ("Nice.", role, "en")
    assert visible(seen) == seen


def test_a_demonstration_is_shown_in_the_form_of_its_role() -> None:
    assert shown("ate")["demos"] == [{"text": "DEMO", "aspects": [{"term": "x", "span": {"start": 0, "end": 1}}]}]
    [demo] = shown("atsa")["demos"]
    assert [each["polarity"] for each in demo["aspect_sentiments"]] == ["negative", "positive"]
    assert demo["aspect_sentiments"][1]["aspect_term"] is None


@pytest.mark.parametrize("role", ["epm", "ate_review", "atsa_review", "validator_review"])
def test_a_role_is_shown_something_where_nothing_was_said_before(role: Role) -> None:
    message = json.loads(user_message(AgentTask(role=role, text="Nice.", language="ko")))
    assert message["language_code"] == "ko"


@given(st.text(st.characters()))
def test_any_text_stays_inside_its_field(text: str) -> None:
    roles: tuple[Role, ...] = ("ate", "epm", "atsa_review")
    for role in roles:
        message = shown(role, text)
        place = "topic" if role == "epm" else "text"
        assert message[place] == text.encode("utf-8", "replace").decode()
        assert len(message[place]) == len(text)
        assert list(message)[-1] == place
        assert message["task"] == role
