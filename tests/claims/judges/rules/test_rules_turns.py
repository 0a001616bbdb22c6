"""Dialogues are read by their turns: who speaks, and which question an answer answers."""

from __future__ import annotations

from hallumeter.claims.judges.embedded.units import in_third_person, units_of
from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.claims.judges.rules.turns import is_dialogue, turns_of, utterances_of
from hallumeter.records.response import Passage

_TALK = "Hannah: Do you have Betty's number?\nAmanda: No, sorry. I lost my phone.\nHannah: Oh.\nAmanda: Ask Larry."


def test_speakers_may_stand_in_brackets() -> None:
    turns = turns_of("[Speaker 1] Can we ship?\n[Speaker 2] No.\n[Speaker 1] Monday?\n[Speaker 2] Yes.")
    assert [turn.speaker for turn in turns] == ["Speaker 1", "Speaker 2", "Speaker 1", "Speaker 2"]


def test_records_prose_and_one_speaker_are_no_dialogue() -> None:
    assert not is_dialogue("Name: Corner\nRooms: 36\nPool: no")
    assert not is_dialogue("A: One.\nA: Two.\nA: Three.")
    assert not is_dialogue("He said: no.\nAnd then he left.\nNobody knew why.\nIt rained.\nIt was late.")


def test_a_question_and_its_answer_are_one() -> None:
    said = [_TALK[each.start : each.end].strip() for each in utterances_of(_TALK)]
    assert said[0].startswith("Hannah: Do you have Betty's number?\nAmanda: No, sorry.")
    assert utterances_of(_TALK)[0].speaker == "Amanda"


def test_what_somebody_says_is_found_by_their_name() -> None:
    evidence = Evidence((Passage("e", _TALK),))
    lost = next(number for number, each in enumerate(evidence.sentences) if "lost" in each.block.terms.text)
    assert evidence.sentences[lost].speaker == "Amanda"
    assert lost in evidence.postings["amanda"]


def test_a_unit_names_who_is_meant_by_i_and_my() -> None:
    units = units_of((Passage("e", _TALK),)).units
    assert any("Amanda lost Amanda's phone" in unit.text for unit in units)


def test_you_is_named_in_a_question_alone() -> None:
    assert in_third_person("You’re late, and I know you.", "Ann") == "You're late, and Ann know you."
