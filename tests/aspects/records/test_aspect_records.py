"""The nouns of aspects: what they derive, and that what agents say survives being written and read."""

from __future__ import annotations

import msgspec
import pytest

from hallumeter.aspects.records.aspect import Aspect, AspectSentiment, AspectTerm, TextSpan
from hallumeter.aspects.records.outputs import DebateTurn, MappingStats, OverrideDecision, PipelineOutput, StageOne


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 1), (0, 4), (4, 4)])
def test_offsets_outside_a_text_are_known_before_anything_is_sliced(start: int, end: int) -> None:
    assert not TextSpan(start, end).is_within("뷰가요")


def test_an_aspect_that_is_not_named_has_no_term() -> None:
    assert AspectSentiment(None, "positive").term == ""
    assert AspectSentiment(AspectTerm("뷰"), "positive").term == "뷰"


def test_a_speaker_is_known_by_either_name() -> None:
    assert DebateTurn(agent="epm").name == "epm"
    assert DebateTurn(speaker="A").name == "A"
    assert DebateTurn().name == ""


def test_no_turns_have_no_coverage() -> None:
    assert MappingStats().coverage is None
    assert MappingStats(1, 0, 3).coverage == 0.25


def test_weights_of_a_debate_add_up() -> None:
    decision = OverrideDecision("뷰", 0.5, 2.0, "applied", "debate_override_flip")
    assert (decision.total, decision.margin) == (2.5, 1.5)


def test_a_missing_polarity_and_a_missing_span_survive_being_written_and_read() -> None:
    output = PipelineOutput("1", "뷰가 별로", StageOne(), notes=("x",))
    assert msgspec.json.decode(msgspec.json.encode(output), type=PipelineOutput) == output
    sentiment = AspectSentiment(AspectTerm("뷰", TextSpan(0, 1)), None)
    written = msgspec.json.encode([Aspect("뷰"), sentiment])
    assert b'"polarity":null' in written
    assert msgspec.json.decode(msgspec.json.encode(sentiment), type=AspectSentiment).polarity is None
