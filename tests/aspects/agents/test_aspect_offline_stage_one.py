"""What offline agents answer in stage 1."""

from __future__ import annotations

from threading import Thread

import pytest
from aspect_table_reader import TableReader

from hallumeter.aspects.agents.offline import OfflineAgent
from hallumeter.aspects.agents.protocol import ANSWERS, AgentAnswer, AgentFault, AgentTask, Role
from hallumeter.aspects.agents.sentence_facts import OfflineSettings
from hallumeter.aspects.records.aspect import Aspect, TextSpan
from hallumeter.aspects.records.outputs import AspectExtraction, AspectSentiments, StageOne, StructuralValidation

TEXT = "The battery is terrible but the screen is nice."


def battery_reader() -> TableReader:
    return TableReader(
        {"battery": 0.9, "screen": 0.8, "terrible": 0.1},
        {"battery": ("negative", 0.9, "terrible"), "screen": ("positive", 0.8, "nice")},
        cues={"but": "contrast"},
        words={"terrible": "negative", "nice": "positive"},
    )


def answer(reader: TableReader, role: Role, text: str = TEXT, **more: object) -> AgentAnswer:
    task = AgentTask(role=role, text=text, language=reader.language, **more)  # type: ignore[arg-type]
    return OfflineAgent([reader]).answer(task).answer


def test_terms_are_aspects_when_the_reader_is_sure_enough() -> None:
    found = answer(battery_reader(), "ate")
    assert isinstance(found, AspectExtraction)
    assert [(aspect.term, aspect.span, aspect.confidence) for aspect in found.aspects] == [
        ("battery", TextSpan(4, 11), 0.9),
        ("screen", TextSpan(32, 38), 0.8),
    ]
    assert found.aspects[0].syntactic_head == "battery"


def test_sentiments_have_evidence_that_stands_in_the_text() -> None:
    found = answer(battery_reader(), "atsa")
    assert isinstance(found, AspectSentiments)
    assert [(each.term, each.polarity, each.evidence) for each in found.aspect_sentiments] == [
        ("battery", "negative", "terrible"),
        ("screen", "positive", "nice"),
    ]
    assert not any(each.is_implicit or each.is_backfilled for each in found.aspect_sentiments)


@pytest.mark.parametrize("role", ["ate", "atsa", "validator"])
def test_stage_one_never_sees_what_others_said(role: Role) -> None:
    others = StageOne(AspectExtraction((Aspect("terrible", TextSpan(15, 23), 1.0),)))
    assert answer(battery_reader(), role, stage1=others) == answer(battery_reader(), role)


def test_a_feeling_without_any_term_is_implicit() -> None:
    reader = TableReader({}, words={"terrible": "negative"})
    found = answer(reader, "atsa", "Simply terrible.")
    assert isinstance(found, AspectSentiments)
    [implicit] = found.aspect_sentiments
    assert (implicit.aspect_term, implicit.polarity, implicit.is_implicit) == (None, "negative", True)
    assert implicit.evidence == "terrible"


def test_a_sentence_that_feels_nothing_has_no_sentiment() -> None:
    assert answer(TableReader({}), "atsa", "It arrived on Monday.") == AspectSentiments()


def test_cues_become_risks_with_their_scope() -> None:
    found = answer(battery_reader(), "validator")
    assert isinstance(found, StructuralValidation)
    [risk] = found.structural_risks
    assert (risk.type, risk.scope, risk.severity) == ("CONTRAST", TextSpan(0, len(TEXT)), "high")
    assert "'but'" in risk.description
    assert found.correction_proposals == ()
    assert found.consistency_score == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("feeling", "kind", "severity"),
    [
        (("negative", 0.9, "good"), "negation", "high"),
        (("neutral", 0.9, ""), "negation", "medium"),
        (("positive", 0.9, "good"), "irony", "high"),
    ],
)
def test_severity_tells_whether_a_polarity_depends_on_the_cue(feeling: object, kind: object, severity: str) -> None:
    reader = TableReader({"food": 0.9}, {"food": feeling}, cues={"not": kind})  # type: ignore[dict-item]
    found = answer(reader, "validator", "The food is not good.")
    assert isinstance(found, StructuralValidation)
    assert [risk.severity for risk in found.structural_risks] == [severity]


@pytest.mark.parametrize("kind", ["negation", "irony", "contrast"])
def test_a_cue_that_acts_on_no_aspect_is_a_low_risk(kind: object) -> None:
    found = answer(TableReader({}, cues={"not": kind}), "validator", "I did not.")  # type: ignore[dict-item]
    assert isinstance(found, StructuralValidation)
    assert [risk.severity for risk in found.structural_risks] == ["low"]


def test_a_contrast_between_aspects_that_feel_alike_is_a_medium_risk() -> None:
    reader = TableReader({"food": 0.9}, {"food": ("positive", 0.9, "good")}, cues={"but": "contrast"})
    found = answer(reader, "validator", "Small but good food.")
    assert isinstance(found, StructuralValidation)
    assert [risk.severity for risk in found.structural_risks] == ["medium"]


@pytest.mark.parametrize("before", ["😀", "e\u0301", "\u1112\u1161\u11ab"])
def test_a_place_that_others_miscount_is_proposed(before: str) -> None:
    text = f"{before} The battery is terrible."
    found = answer(battery_reader(), "validator", text)
    assert isinstance(found, StructuralValidation)
    [proposal] = found.correction_proposals
    assert (proposal.proposal_type, proposal.target_aspect) == ("REVISE_SPAN", "battery")
    assert proposal.revised_span is not None
    assert text[proposal.revised_span.start : proposal.revised_span.end] == "battery"


def test_a_term_that_occurs_twice_has_no_one_place_to_propose() -> None:
    found = answer(battery_reader(), "validator", "😀 battery, battery.")
    assert isinstance(found, StructuralValidation)
    assert found.correction_proposals == ()


def test_a_polarity_is_never_turned_without_knowing_what_was_stated() -> None:
    reader = TableReader({"food": 0.9}, {"food": ("negative", 0.9, "good")}, cues={"not": "negation"})
    found = answer(reader, "validator", "The food is not good.")
    assert isinstance(found, StructuralValidation)
    assert not [each for each in found.correction_proposals if each.proposal_type == "FLIP_POLARITY"]


def test_one_sentence_is_read_once_for_all_roles_and_threads() -> None:
    reader = battery_reader()
    agent = OfflineAgent([reader])
    tasks = [AgentTask(role=role, text=TEXT, language="en") for role in ANSWERS]
    agent.answer(tasks[0])
    threads = [Thread(target=agent.answer, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert reader.read_texts == [TEXT]


def test_every_role_answers_in_its_own_form_and_always_the_same() -> None:
    for role, kind in ANSWERS.items():
        first, second = answer(battery_reader(), role), answer(battery_reader(), role)
        assert isinstance(first, kind)
        assert first == second


@pytest.mark.parametrize("text", ["", " ", "?!", "\ud800", "a" * 5000])
def test_any_text_has_an_answer_in_every_role(text: str) -> None:
    for role, kind in ANSWERS.items():
        assert isinstance(answer(battery_reader(), role, text), kind)


def test_a_language_without_a_reader_is_a_fault() -> None:
    with pytest.raises(AgentFault, match="read en; the sentence is in 'fr'") as caught:
        OfflineAgent([battery_reader()]).answer(AgentTask(role="ate", text="Bon.", language="fr"))
    assert caught.value.code == "unknown_language"


def test_the_name_holds_all_that_changes_answers() -> None:
    usual = OfflineAgent([battery_reader()]).spec
    assert "en=table-1" in usual
    assert OfflineAgent([battery_reader()], OfflineSettings(flip_confidence=0.7)).spec != usual
    both = OfflineAgent([TableReader({}, language="ko"), battery_reader()])
    assert "readers=en=table-1,ko=table-1" in both.spec
