"""What came of one question to one agent: an entry of the journal, and a line of `traces.jsonl`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct

from hallumeter.aspects.agents import protocol
from hallumeter.aspects.records.outputs import CallUsage

ROLES: tuple[protocol.Role, ...] = tuple(protocol.ANSWERS)
"""In the order in which they are asked."""
Stage = Literal["stage1", "debate", "stage2"]
Status = Literal["ok", "failed", "forgotten"]
_Number = TypeVar("_Number", int, float)
_NOTHING = msgspec.Raw(b"null")
_ENCODER = msgspec.json.Encoder()
_ANSWERS = {role: msgspec.json.Decoder(kind) for role, kind in protocol.ANSWERS.items()}


class TraceFault(Struct, frozen=True):
    """Why an agent had no answer."""

    code: str
    message: str
    attempts: int = 1


class TraceLine(Struct, frozen=True, kw_only=True):
    """One call to an agent."""

    text_id: str
    seed: int
    stage: Stage
    role: protocol.Role
    agent: str
    """Who was asked, with all that changes its answers."""
    input_hash: str
    """SHA-256 of what the role saw: two calls with the same were asked the same."""
    prompt_hash: str | None = None
    """SHA-256 of what a language model is told before it sees anything of the user's; None for others."""
    stage_status: Status = "ok"
    """``forgotten`` is only in journals: the question is to be asked again."""
    answer: msgspec.Raw = _NOTHING
    """In the form of the role; null when the agent failed."""
    raw: str | None = None
    """The words of a language model."""
    usage: CallUsage = CallUsage()
    notes: tuple[str, ...] = ()
    fault: TraceFault | None = None

    @classmethod
    def of_reply(cls, asked: TraceLine, reply: protocol.AgentReply) -> TraceLine:
        """A question with its answer."""
        return msgspec.structs.replace(
            asked,
            answer=msgspec.Raw(_ENCODER.encode(reply.answer)),
            raw=reply.raw,
            usage=reply.usage,
            notes=reply.notes,
        )

    @classmethod
    def of_fault(cls, asked: TraceLine, fault: protocol.AgentFault) -> TraceLine:
        """A question that has no answer."""
        return msgspec.structs.replace(
            asked,
            stage_status="failed",
            raw=fault.raw,
            usage=fault.usage,
            fault=TraceFault(fault.code, fault.message, fault.attempts),
        )

    def reply(self) -> protocol.AgentReply:
        """What the agent answered.

        Raises:
            AgentFault: It had no answer.
        """
        if self.fault is not None:
            fault = self.fault
            raise protocol.AgentFault(
                fault.code, fault.message, usage=self.usage, attempts=fault.attempts, raw=self.raw
            )
        answer = _ANSWERS[self.role].decode(self.answer)
        return protocol.AgentReply(answer=answer, usage=self.usage, raw=self.raw, notes=self.notes)


def stage_of(role: protocol.Role) -> Stage:
    """Where a role speaks.

    >>> stage_of("cj"), stage_of("ate_review")
    ('debate', 'stage2')
    """
    return "debate" if role in protocol.DEBATE_ROLES else "stage2" if role in protocol.REVIEW_ROLES else "stage1"


def input_hash_of(task: protocol.AgentTask) -> str:
    """The hash of what a role sees of a task."""
    return hashlib.sha256(_ENCODER.encode(protocol.visible(task))).hexdigest()


def usage_of(lines: Iterable[TraceLine]) -> CallUsage:
    """What several calls took together; a part that one of them does not know is not known.

    >>> usage_of([])
    CallUsage(calls=0, retries=0, repairs=0, tokens_in=None, tokens_out=None, cost_usd=None, latency_ms=None)
    """
    own = [line.usage for line in lines]
    if not own:
        return CallUsage()
    return CallUsage(
        calls=sum(each.calls for each in own),
        retries=sum(each.retries for each in own),
        repairs=sum(each.repairs for each in own),
        tokens_in=_sum_of([each.tokens_in for each in own]),
        tokens_out=_sum_of([each.tokens_out for each in own]),
        cost_usd=_sum_of([each.cost_usd for each in own]),
        latency_ms=_sum_of([each.latency_ms for each in own]),
    )


def _sum_of(values: list[_Number | None]) -> _Number | None:
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if len(known) == len(values) else None
