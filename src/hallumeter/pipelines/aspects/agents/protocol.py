"""What an agent is asked, and what it answers."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from hallumeter.records.aspects import (
    AspectExtraction,
    AspectReview,
    AspectSentiments,
    AspectTuple,
    CallUsage,
    DebateSummary,
    DebateTurn,
    ReviewContext,
    SentimentReview,
    StageOne,
    StructuralReview,
    StructuralValidation,
)

Role = Literal[
    "ate", "atsa", "validator", "epm", "tan", "cj", "debate_summary", "ate_review", "atsa_review", "validator_review"
]
AgentAnswer: TypeAlias = (
    AspectExtraction
    | AspectSentiments
    | StructuralValidation
    | DebateTurn
    | DebateSummary
    | AspectReview
    | SentimentReview
    | StructuralReview
)
ANSWERS: dict[Role, type[AgentAnswer]] = {
    "ate": AspectExtraction,
    "atsa": AspectSentiments,
    "validator": StructuralValidation,
    "epm": DebateTurn,
    "tan": DebateTurn,
    "cj": DebateTurn,
    "debate_summary": DebateSummary,
    "ate_review": AspectReview,
    "atsa_review": SentimentReview,
    "validator_review": StructuralReview,
}
"""What each role answers, in the order in which they are asked."""


class Demonstration(Struct, frozen=True):
    """An example that agents are shown; it comes from the training pool alone."""

    demo_id: str
    text: str
    tuples: tuple[AspectTuple, ...]


class AgentTask(Struct, frozen=True, kw_only=True):
    """One question to one agent. Each role sees no more than its part of this: see `visible`."""

    role: Role
    text: str
    """The sentence: data, whatever it says."""
    language: str
    """``ko``, ``en``, or another code."""
    domain: str | None = None
    demos: tuple[Demonstration, ...] = ()
    seed: int = 0
    stage1: StageOne | None = None
    """Of debates and reviews; with an empty validator when it is switched off."""
    history: tuple[DebateTurn, ...] = ()
    """What was said in the debate before."""
    context: ReviewContext | None = None
    """Of reviews; None without a debate."""


class AgentReply(Struct, frozen=True, kw_only=True):
    """What an agent answered."""

    answer: AgentAnswer
    usage: CallUsage = CallUsage()
    raw: str | None = None
    """The words of a language model; None for code."""
    notes: tuple[str, ...] = ()
    """What was repaired in its answer, one line each."""


class AgentFault(Exception):  # noqa: N818 (it is a fault of the agent, as ProviderFault is one of the provider)
    """An agent has no usable answer: the sentence fails."""

    def __init__(
        self, code: str, message: str, *, usage: CallUsage | None = None, attempts: int = 1, raw: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.usage = CallUsage() if usage is None else usage
        self.attempts = attempts
        self.raw = raw
        """The last words of a language model that could not be used; None without any."""


class Agent(Protocol):
    """Anyone who answers in one or more roles. It may be called from several threads at once."""

    @property
    def spec(self) -> str:
        """Who it is and all that changes its answers, in one line."""
        ...

    def answer(self, task: AgentTask) -> AgentReply:
        """Answer one question.

        Raises:
            AgentFault: There is no usable answer.
        """
        ...
