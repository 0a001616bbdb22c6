"""Planted faults, and whether blame finds who planted them."""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec.structs import replace
from planted_sentences import QuietReader, marked, sentences

from hallumeter.aspects.agents.offline import OfflineAgent
from hallumeter.aspects.agents.protocol import ANSWERS, AgentTask
from hallumeter.aspects.blame.tables import blame_of
from hallumeter.aspects.readers.by_language import reader_for
from hallumeter.aspects.records.aspect import AspectTuple, TextSpan
from hallumeter.aspects.records.blame import SentenceBlame
from hallumeter.aspects.records.outputs import STEPS, AspectExtraction, PipelineOutput
from hallumeter.aspects.settings import Sentence
from planted_faults import (
    FAULT_ERRORS,
    FAULT_KINDS,
    FAULT_STEPS,
    FaultKind,
    FaultyAgent,
    GoldAgent,
    PlantedCase,
    Recovery,
    outputs_of,
    planted_cases,
    recoveries,
)

READERS = {language: QuietReader(language) for language in ("en", "ko")}


def suite(cases: list[PlantedCase]) -> list[tuple[PlantedCase, PipelineOutput, SentenceBlame]]:
    outputs = outputs_of(cases, readers=READERS)  # type: ignore[arg-type]
    return [(case, output, blame_of(output)) for case, output in zip(cases, outputs, strict=True)]


def recovered(cases: list[PlantedCase]) -> list[Recovery]:
    return [found for case, _, blame in suite(cases) for found in recoveries(case, blame)]


def test_sixty_sentences_with_planted_faults_give_their_authors_away() -> None:
    cases = list(planted_cases(sentences(), seed=1))
    assert len(cases) == 60
    found = recovered(cases)
    assert {each.fault.kind for each in found} == set(FAULT_KINDS)
    assert Counter(each.finding for each in found) == {"found": len(found)}
    assert all(each.is_repair_found for each in found if each.fault.repaired_by is not None)


def test_rates_of_every_step_are_those_that_were_planted() -> None:
    planted: Counter[tuple[str, str]] = Counter()
    repaired: Counter[tuple[str, str]] = Counter()
    told: Counter[tuple[str, str]] = Counter()
    told_repaired: Counter[tuple[str, str]] = Counter()
    for case, _, blame in suite(list(planted_cases(sentences(), seed=2))):
        for fault in case.faults:
            for error in FAULT_ERRORS[fault.kind]:
                planted[fault.step, error] += 1
                repaired[fault.repaired_by or "", error] += fault.repaired_by is not None
        for tally in blame.tallies:
            told[tally.step, tally.error] += tally.introduced
            told_repaired[tally.step, tally.error] += tally.repaired
    assert +told == +planted
    assert +told_repaired == +repaired


@pytest.mark.parametrize("kind", FAULT_KINDS)
def test_each_kind_of_fault_is_found_alone(kind: FaultKind) -> None:
    cases = list(planted_cases(sentences(), kinds=(kind,), are_repaired=False))
    assert cases
    for each in recovered(cases):
        assert (each.finding, each.error) == ("found", each.error)
        assert each.unit is not None
        assert each.unit.introduced_by == FAULT_STEPS[kind]
        assert each.unit.does_stand_at_end


def test_offsets_in_bytes_are_planted_in_korean_alone() -> None:
    cases = list(planted_cases(sentences(), kinds=("other_units",)))
    assert {case.sentence.language for case in cases} == {"ko"}


def test_agents_who_know_gold_make_no_error() -> None:
    clean = [PlantedCase(sentence, ()) for sentence in sentences()]
    assert all(blame.units == () for _, _, blame in suite(clean))


def test_a_fault_that_code_stops_has_no_effect() -> None:
    case = next(planted_cases(sentences(), kinds=("proposed_flip",)))
    [found] = recoveries(case, SentenceBlame(text_id="x"))
    assert (found.finding, found.is_repair_found, found.unit) == ("without_effect", None, None)


def test_an_error_of_another_step_is_told_from_the_planted_one() -> None:
    case = next(planted_cases(sentences(), kinds=("flipped_polarity",), are_repaired=False))
    [(_, _, blame)] = suite([case])
    [fault] = case.faults
    accused = PlantedCase(case.sentence, (replace(fault, step="atsa_review"),))
    assert [each.finding for each in recoveries(accused, blame)] == ["blamed_on_another"]


def test_sentences_without_gold_or_without_a_place_are_left_out() -> None:
    bare = Sentence(text_id="1", text="Fine.", language="en")
    none = Sentence(text_id="2", text="Fine.", language="en", gold_tuples=(AspectTuple("", "positive"),))
    assert list(planted_cases([bare, none], kinds=("missed_aspect",))) == []


@pytest.mark.parametrize("role", ANSWERS)
def test_who_knows_gold_answers_in_every_role(role: str) -> None:
    sentence = marked("The [food|+] was good.", "1", "en")
    gold = (*(sentence.gold_tuples or ()), AspectTuple("", "mixed"))
    task = AgentTask(role=role, text=sentence.text, language="en")  # type: ignore[arg-type]
    agent = GoldAgent({sentence.text: gold})
    assert agent.spec == "gold"
    assert isinstance(agent.answer(task).answer, ANSWERS[task.role])


def test_faults_are_planted_only_in_the_roles_that_are_named() -> None:
    case = next(planted_cases(sentences(), kinds=("invented_aspect",)))
    text = case.sentence.text
    right = GoldAgent({text: case.sentence.gold_tuples or ()})
    faults = {text: case.faults}
    task = AgentTask(role="ate", text=text, language="en")
    quiet, loud = FaultyAgent(right, faults, roles=("atsa",)), FaultyAgent(right, faults, roles=("ate",))
    assert quiet.answer(task) == right.answer(task)
    answer = loud.answer(task).answer
    assert isinstance(answer, AspectExtraction)
    assert case.faults[0].term in {aspect.term for aspect in answer.aspects}
    assert loud.spec == "faulty;faults=1;gold"


def test_a_reviewer_of_ones_own_takes_over_after_stage_one() -> None:
    cases = list(planted_cases(sentences()[:3], kinds=("flipped_polarity",)))
    quiet = GoldAgent({})
    outputs = list(outputs_of(cases, readers=READERS, reviewer=quiet))  # type: ignore[arg-type]
    assert [len(output.correction_applied_log) for output in outputs] == [0, 0, 0]
    assert all(any(unit.error == "polarity" for unit in blame_of(output).units) for output in outputs)


def test_offline_agents_repair_more_than_they_break() -> None:
    kinds: tuple[FaultKind, ...] = ("miscounted_span", "invented_aspect", "spurious_span", "flipped_polarity")
    cases = list(planted_cases(sentences(), kinds=kinds, are_repaired=False))
    readers = {language: reader_for(language) for language in ("en", "ko")}
    outputs = outputs_of(cases, readers=readers, reviewer=OfflineAgent(readers.values()))
    changed: Counter[str] = Counter()
    for case, output in zip(cases, outputs, strict=True):
        blame = blame_of(output)
        assert all(found.finding == "found" for found in recoveries(case, blame))
        planted = Counter((fault.step, error) for fault in case.faults for error in FAULT_ERRORS[fault.kind])
        told = Counter({(tally.step, tally.error): tally.introduced for tally in blame.tallies})
        assert told["ate", "ungrounded"] == planted["ate", "ungrounded"]
        assert told["atsa", "polarity"] == planted["atsa", "polarity"]
        changed["introduced"] += sum(tally.introduced for tally in blame.tallies if tally.step in STEPS[4:])
        changed["repaired"] += sum(tally.repaired for tally in blame.tallies if tally.step in STEPS[4:])
    assert changed["repaired"] > 2 * changed["introduced"]


def test_spans_of_sentences_are_where_their_marks_were() -> None:
    sentence = marked("[Soup|+] and [bread|0]!", "1", "en")
    assert sentence.text == "Soup and bread!"
    assert [each.span for each in sentence.gold_tuples or ()] == [TextSpan(0, 4), TextSpan(9, 14)]
