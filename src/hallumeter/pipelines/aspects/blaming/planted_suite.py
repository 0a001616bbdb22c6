"""Sentences with planted faults, taken through the pipeline, and whether blame finds who planted them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from hallumeter.metrics.aspects.tuples import tidy_term
from hallumeter.mutations.aspect_faults import FAULT_ERRORS, FAULT_KINDS, planned_faults
from hallumeter.mutations.choosing import Choice
from hallumeter.pipelines.aspects.settings import StageSettings
from hallumeter.pipelines.aspects.stages.sequence import processed

from .faulty_agents import FaultyAgent, GoldAgent

if TYPE_CHECKING:
    from hallumeter.extractors.aspects.protocol import AspectReader
    from hallumeter.mutations.aspect_faults import FaultKind, PlantedFault
    from hallumeter.pipelines.aspects.agents.protocol import Agent, AgentAnswer, AgentTask, Role
    from hallumeter.pipelines.aspects.settings import Sentence
    from hallumeter.records.aspects import PipelineOutput
    from hallumeter.records.aspects.blame import ErrorKind, SentenceBlame, UnitBlame

Finding = Literal["found", "blamed_on_another", "without_effect"]
"""The planted step is blamed; another one is; or code kept the fault from having any effect."""
STAGE_ONE: tuple[Role, ...] = ("ate", "atsa", "validator")
_TAKE_ALL: tuple[FaultKind, ...] = ("miscounted_span",)
"""Planted last, since they leave no aspect for others."""


class PlantedCase(Struct, frozen=True):
    """A sentence and what its agents get wrong."""

    sentence: Sentence
    faults: tuple[PlantedFault, ...]


class Recovery(Struct, frozen=True):
    """What blame says of one planted error."""

    fault: PlantedFault
    error: ErrorKind
    finding: Finding
    is_repair_found: bool | None
    """Whether the step that was to put it right is said to have done so; None where none was, or had no effect."""
    unit: UnitBlame | None


def planted_cases(
    sentences: Iterable[Sentence],
    *,
    seed: int = 0,
    kinds: Sequence[FaultKind] = FAULT_KINDS,
    at_once: int = 2,
    are_repaired: bool = True,
) -> Iterator[PlantedCase]:
    """Plant up to so many kinds of faults in each sentence that has gold; those without any place for one are left out.

    Terms of all sentences serve as invented aspects of others in the same language.
    """
    known = [sentence for sentence in sentences if sentence.gold_tuples]
    donors: dict[str, dict[str, None]] = {}
    for sentence in known:
        terms = (each.aspect_term for each in sentence.gold_tuples or () if each.aspect_term)
        donors.setdefault(sentence.language, {}).update(dict.fromkeys(terms))
    listed = {language: list(terms) for language, terms in donors.items()}
    for sentence in known:
        choice = Choice(seed, sentence.text, "kinds")
        chosen = list(choice.ordered(kinds))[:at_once]
        faults = planned_faults(
            sentence.text,
            sentence.gold_tuples or (),
            seed=seed,
            kinds=sorted(chosen, key=lambda kind: kind in _TAKE_ALL),
            donors=listed[sentence.language],
            are_repaired=are_repaired,
        )
        if faults:
            yield PlantedCase(sentence, faults)


def suite_agents(cases: Iterable[PlantedCase], *, reviewer: Agent | None = None) -> Callable[[AgentTask], AgentAnswer]:
    """Whom to ask: agents who know gold, with the faults planted; another one for debate and reviews, if given."""
    listed = list(cases)
    gold = {case.sentence.text: case.sentence.gold_tuples or () for case in listed}
    faulty = FaultyAgent(GoldAgent(gold), {case.sentence.text: case.faults for case in listed})

    def ask(task: AgentTask) -> AgentAnswer:
        agent: Agent = faulty if reviewer is None or task.role in ("ate", "atsa") else reviewer
        return agent.answer(task).answer

    return ask


def outputs_of(
    cases: Sequence[PlantedCase],
    *,
    readers: dict[str, AspectReader],
    reviewer: Agent | None = None,
    settings: StageSettings | None = None,
) -> Iterator[PipelineOutput]:
    """Every case taken through the whole pipeline."""
    ask = suite_agents(cases, reviewer=reviewer)
    used = StageSettings() if settings is None else settings
    for case in cases:
        yield processed(case.sentence, used, ask, reader=readers[case.sentence.language])


def recoveries(case: PlantedCase, blame: SentenceBlame) -> Iterator[Recovery]:
    """What blame says of every planted error of a sentence."""
    for fault in case.faults:
        for error in FAULT_ERRORS[fault.kind]:
            unit = next((unit for unit in blame.units if unit.error == error and _is_about(unit, fault)), None)
            yield _recovery(fault, error, unit)


def _recovery(fault: PlantedFault, error: ErrorKind, unit: UnitBlame | None) -> Recovery:
    introducers = [] if unit is None else [change.step for change in unit.changes if change.became == "wrong"]
    if not introducers:
        return Recovery(fault, error, "without_effect", None, unit)
    finding: Finding = "found" if fault.step in introducers else "blamed_on_another"
    repaired = None
    if unit is not None and fault.repaired_by is not None:
        repaired = fault.repaired_by in unit.repaired_by
    return Recovery(fault, error, finding, repaired, unit)


def _is_about(unit: UnitBlame, fault: PlantedFault) -> bool:
    """Terms of units may have lost a particle that the planted term has."""
    stated, meant = tidy_term(unit.term), tidy_term(fault.term)
    return bool(stated) and (stated == meant or (fault.true_polarity is None and meant.startswith(stated)))
