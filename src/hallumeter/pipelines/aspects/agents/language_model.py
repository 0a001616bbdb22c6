"""A language model as an agent: a prompt, a closed form, and a reader that believes nothing unchecked."""

from __future__ import annotations

import time
from typing import TypeVar

import msgspec
from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.providers.language_models import Message, Provider, ProviderFault, Reply, Request, Usage
from hallumeter.records.aspects import CallUsage

from .prompt_files import Prompts, shipped_prompts
from .protocol import AgentFault, AgentReply, AgentTask
from .reply_reading import UnusableReply, read_reply
from .reply_schemas import reply_schema
from .visibility import user_message

UNUSABLE_REPLY = "unusable_reply"
_MOST_OF_A_BAD_REPLY = 4_000
"""Characters of a reply that a model is shown again."""
_MOST_TOKENS_TIMES = 4
"""How far the room of a reply may grow while it is cut off."""
_CUT_OFF = "it ended before it was complete"
_Number = TypeVar("_Number", int, float)


class LanguageModelSettings(Struct, frozen=True, kw_only=True):
    """How a language model is asked."""

    temperature: float | None = 0.0
    """None leaves it to the provider."""
    max_tokens: int = 2_048
    repairs: int = 2
    """How often a model is told what was wrong with its reply."""

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise SettingsError(f"max_tokens is {self.max_tokens}; expected 1 or more")
        if not 0 <= self.repairs <= 2:
            raise SettingsError(f"repairs is {self.repairs}; expected 0, 1 or 2")


class LanguageModelAgent:
    """Asks a language model in any role.

    It may be called from several threads at once if its provider may.
    """

    def __init__(
        self, provider: Provider, prompts: Prompts | None = None, settings: LanguageModelSettings | None = None
    ) -> None:
        self._provider = provider
        self._prompts = prompts or shipped_prompts()
        self._settings = settings or LanguageModelSettings()

    @property
    def spec(self) -> str:
        """The model, with everything that could change an answer."""
        settings, provider = self._settings, self._provider.spec
        described = {
            "prompts": self._prompts.prompts_digest(),
            "temperature": str(settings.temperature),
            "max_tokens": str(settings.max_tokens),
            "repairs": str(settings.repairs),
            **dict(sorted(provider.settings.items())),
        }
        return ";".join([provider.name, *(f"{name}={value}" for name, value in described.items())])

    def answer(self, task: AgentTask) -> AgentReply:
        """Ask, and ask again with what was wrong while the reply cannot be used.

        Raises:
            AgentFault: There is no usable answer: ``unusable_reply``, or the code of the provider's fault.
            ProviderFault: Every further call would meet the same.
        """
        conversation = _Conversation(self._provider, self._first(task))
        for _ in range(1 + self._settings.repairs):
            text = conversation.said()
            if text is None:
                continue
            try:
                read = read_reply(text, task.role, task.text)
            except UnusableReply as problem:
                conversation.refuse(str(problem), self._prompts, task.language)
                continue
            return AgentReply(
                answer=read.answer, usage=conversation.usage, raw=text, notes=(*conversation.notes, *read.notes)
            )
        raise conversation.fault()

    def _first(self, task: AgentTask) -> Request:
        return Request(
            messages=(
                Message("system", self._prompts.system(task.role, task.language)),
                Message("user", user_message(task)),
            ),
            max_tokens=self._settings.max_tokens,
            temperature=self._settings.temperature,
            seed=task.seed,
            reply_schema=reply_schema(task.role),
        )


class _Conversation:
    """All calls that one answer takes."""

    def __init__(self, provider: Provider, request: Request) -> None:
        self._provider = provider
        self._first = self._request = request
        self._reply: Reply | None = None
        self._fault: ProviderFault | None = None
        self._problem = ""
        self._text = ""
        self._attempts = 0
        self.usage = CallUsage(tokens_in=0, tokens_out=0, cost_usd=0.0, latency_ms=0.0)
        self.notes: list[str] = []

    def said(self) -> str | None:
        """What the model replies; None when it replied with nothing, which more room may mend.

        Raises:
            AgentFault: The provider has no reply.
            ProviderFault: Nor will it ever have one.
        """
        started = time.perf_counter()
        self._fault = None
        try:
            reply = self._provider.complete(self._request)
        except ProviderFault as fault:
            if fault.is_fatal:
                raise
            self._fault = fault
            self._attempts += fault.attempts
            self._count(fault.usage, None, started=started, retries=fault.attempts - 1)
            if fault.code != "empty_reply":
                raise self.fault() from fault
            self._widen()
            return None
        self._attempts += 1
        self._count(reply.usage, _cost_of(self._provider, reply), started=started)
        self._reply = reply
        self._text = reply.completions[0].text if reply.completions else ""
        return self._text

    def refuse(self, problem: str, prompts: Prompts, language: str) -> None:
        """Prepare to ask again, with what was wrong; a reply that was cut off is given more room."""
        assert self._reply is not None
        is_cut_off = bool(self._reply.completions) and self._reply.completions[0].finish == "length"
        self._problem = _CUT_OFF if is_cut_off else problem
        self.notes.append(f"refused_reply:{self._problem}")
        shown = Message("assistant", self._text[:_MOST_OF_A_BAD_REPLY] or "(nothing)")
        told = Message("user", prompts.repair(self._problem, language))
        self._request = msgspec.structs.replace(self._request, messages=(*self._first.messages, shown, told))
        if is_cut_off:
            self._widen()

    def fault(self) -> AgentFault:
        """Why there is no answer."""
        if self._fault is not None:
            code, message = self._fault.code, self._fault.message
        else:
            code, message = UNUSABLE_REPLY, f"no usable reply: {self._problem}"
        return AgentFault(code, message, usage=self.usage, attempts=self._attempts, raw=self._text or None)

    def _widen(self) -> None:
        room = min(2 * self._request.max_tokens, _MOST_TOKENS_TIMES * self._first.max_tokens)
        self._request = msgspec.structs.replace(self._request, max_tokens=room)

    def _count(self, usage: Usage | None, cost_usd: float | None, *, started: float, retries: int = 0) -> None:
        so_far, paid = self.usage, usage or Usage()
        self.usage = CallUsage(
            calls=so_far.calls + 1,
            retries=so_far.retries + retries,
            repairs=so_far.calls,
            tokens_in=_sum(so_far.tokens_in, paid.input_tokens),
            tokens_out=_sum(so_far.tokens_out, paid.output_tokens),
            cost_usd=_sum(so_far.cost_usd, cost_usd),
            latency_ms=_sum(so_far.latency_ms, 1_000 * (time.perf_counter() - started)),
        )


def _sum(known: _Number | None, more: _Number | None) -> _Number | None:
    """Both together; None when one of them is not known."""
    return None if known is None or more is None else known + more


def _cost_of(provider: Provider, reply: Reply) -> float | None:
    cost_of = getattr(provider, "cost_of", None)
    return None if cost_of is None else cost_of(reply)
