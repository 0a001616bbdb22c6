"""Agents that know the truth, and agents that err at known places: with both, blame can be compared with the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hallumeter.mutations.aspect_planting import planted
from hallumeter.pipelines.aspects.agents.protocol import AgentReply
from hallumeter.records.aspects import (
    POLARITIES,
    Aspect,
    AspectExtraction,
    AspectReview,
    AspectReviewItem,
    AspectSentiment,
    AspectSentiments,
    AspectTerm,
    DebateSummary,
    DebateTurn,
    EditTarget,
    ProposedEdit,
    SentimentReview,
    SentimentReviewItem,
    StageOne,
    StructuralReview,
    StructuralValidation,
)

if TYPE_CHECKING:
    from hallumeter.mutations.aspect_faults import PlantedFault
    from hallumeter.pipelines.aspects.agents.protocol import Agent, AgentAnswer, AgentTask, Role
    from hallumeter.records.aspects import AspectTuple

_CONFIDENCE = 0.9


class GoldAgent:
    """Says what gold says of a sentence in stage 1, and later keeps everything as it finds it.

    Sentences that it has no gold of have no aspect.
    """

    def __init__(self, gold: Mapping[str, Sequence[AspectTuple]]) -> None:
        """Take the gold by text."""
        self._gold = gold

    @property
    def spec(self) -> str:
        """That it knows gold."""
        return "gold"

    def answer(self, task: AgentTask) -> AgentReply:
        """The right answer, or one that changes nothing."""
        return AgentReply(answer=_answer(task, self._gold.get(task.text, ())))


class FaultyAgent:
    """Another agent, with faults planted in what it says."""

    def __init__(
        self, agent: Agent, faults: Mapping[str, Sequence[PlantedFault]], *, roles: Sequence[Role] | None = None
    ) -> None:
        """Take the faults by text; they are planted in all roles unless some are named."""
        self._agent = agent
        self._faults = faults
        self._roles = roles

    @property
    def spec(self) -> str:
        """The other agent, and how many faults there are."""
        return f"faulty;faults={sum(map(len, self._faults.values()))};{self._agent.spec}"

    def answer(self, task: AgentTask) -> AgentReply:
        """What the other agent says, with the faults of its role."""
        reply = self._agent.answer(task)
        if self._roles is not None and task.role not in self._roles:
            return reply
        return replace(reply, answer=planted(reply.answer, self._faults.get(task.text, ())))


def _answer(task: AgentTask, gold: Sequence[AspectTuple]) -> AgentAnswer:
    stage1 = task.stage1 or StageOne()
    if task.role in ("ate", "atsa", "validator"):
        return _read(task, gold)
    if task.role in ("ate_review", "atsa_review", "validator_review"):
        return _kept(task, stage1)
    return _debated(task, stage1)


def _read(task: AgentTask, gold: Sequence[AspectTuple]) -> AgentAnswer:
    if task.role == "ate":
        return AspectExtraction(tuple(Aspect(each.aspect_term, each.span, _CONFIDENCE) for each in _named(gold)))
    if task.role == "atsa":
        return AspectSentiments(tuple(map(_sentiment, gold)))
    return StructuralValidation(consistency_score=1.0)


def _kept(task: AgentTask, stage1: StageOne) -> AgentAnswer:
    if task.role == "ate_review":
        return AspectReview(tuple(AspectReviewItem(aspect.term, "keep") for aspect in stage1.ate.aspects))
    if task.role == "atsa_review":
        terms = [each.term for each in stage1.atsa.aspect_sentiments if each.term]
        return SentimentReview(tuple(SentimentReviewItem(term, "maintain") for term in terms))
    return StructuralReview(consistency_score=1.0)


def _debated(task: AgentTask, stage1: StageOne) -> DebateTurn | DebateSummary:
    edits = tuple(
        ProposedEdit("confirm_tuple", EditTarget(aspect_term=each.term, polarity=each.polarity))
        for each in stage1.atsa.aspect_sentiments
        if each.term
    )
    if task.role == "debate_summary":
        return DebateSummary(sentence_evidence_spans=(task.text,))
    return DebateTurn(task.role, edits)


def _named(gold: Sequence[AspectTuple]) -> list[AspectTuple]:
    """Each term once at each place."""
    return list({(each.aspect_term, each.span): each for each in gold if each.aspect_term}.values())


def _sentiment(each: AspectTuple) -> AspectSentiment:
    polarity = next((known for known in POLARITIES if known == each.polarity), None)
    term = AspectTerm(each.aspect_term, each.span) if each.aspect_term else None
    return AspectSentiment(term, polarity, _CONFIDENCE, is_implicit=term is None)
