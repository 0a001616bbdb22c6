"""What every language model does: take messages, and reply."""

from __future__ import annotations

from typing import Literal, Protocol

from msgspec import Struct, field


class Message(Struct, frozen=True):
    """One turn of what a model is told."""

    role: Literal["system", "user", "assistant"]
    content: str


class ReplySchema(Struct, frozen=True):
    """The form that a reply must have."""

    name: str
    schema: dict[str, object]
    """A JSON Schema of an object."""


class Request(Struct, frozen=True, kw_only=True):
    """What is asked of a model."""

    messages: tuple[Message, ...]
    max_tokens: int = 1024
    temperature: float | None = 0.0
    """None leaves it to the provider."""
    seed: int | None = 0
    samples: int = 1
    """How many replies to the same messages."""
    wants_logprobs: bool = False
    reply_schema: ReplySchema | None = None
    """None for free text."""


class TokenLogprob(Struct, frozen=True):
    """One token of a reply, and what else could have stood there."""

    token: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


class Completion(Struct, frozen=True):
    """One of the replies to a request."""

    text: str
    finish: str | None = None
    """Why it ended: ``stop``, ``length``, ``content_filter``."""
    logprobs: tuple[TokenLogprob, ...] | None = None


class Usage(Struct, frozen=True):
    """Tokens that a request cost; None where the provider does not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None


class RateLimits(Struct, frozen=True):
    """What the provider says is left before it refuses, and when it will be filled again; None where it is silent."""

    requests_left: int | None = None
    requests_reset_seconds: float | None = None
    tokens_left: int | None = None
    tokens_reset_seconds: float | None = None


class Reply(Struct, frozen=True):
    """What a model replied."""

    completions: tuple[Completion, ...]
    usage: Usage = Usage()
    model: str | None = None
    """As the provider names it, often with a date."""
    limits: RateLimits = RateLimits()
    left_out: tuple[str, ...] = ()
    """Settings of the request that the model does not take, such as ``temperature``."""
    raw: str = ""
    """The reply as it came over the wire."""


class ProviderSpec(Struct, frozen=True):
    """Which model this is."""

    name: str
    """As the user typed it, without any secret: ``openai:gpt-4o-mini``."""
    model: str
    price_key: tuple[str, str] | None = None
    """Vendor and model in the table of prices; None when there is no such vendor."""
    settings: dict[str, str] = field(default_factory=dict)
    """What else changes its replies, such as the address of the server."""


class Provider(Protocol):
    """A language model. It may be called from several threads at once."""

    @property
    def spec(self) -> ProviderSpec:
        """Which model this is."""
        ...

    def complete(self, request: Request) -> Reply:
        """Ask once, without trying again.

        Raises:
            ProviderFault: There is no usable reply; the fault says whether asking again may help.
        """
        ...


# Why a language model gave no usable reply.

RETRYABLE_CODES = frozenset({"timeout", "connection", "rate_limited", "server_error", "conflict", "truncated_reply"})
"""Codes of faults that may pass when asked again."""


class ProviderFault(Exception):  # noqa: N818 (an outcome that is expected, caught and counted)
    """A call to a language model failed.

    Codes that may pass when asked again: ``timeout``, ``connection``, ``rate_limited``, ``server_error``,
    ``conflict``, ``truncated_reply``. Codes of this request alone: ``refused_request``, ``content_filter``,
    ``empty_reply``, ``malformed_reply``, ``error_reply``. Codes that every further call would meet: ``bad_key``,
    ``unknown_model``, ``no_quota``.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        is_retryable: bool = False,
        is_fatal: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.is_retryable = is_retryable
        self.is_fatal = is_fatal
        """Every further call to this provider would meet the same."""
        self.retry_after = retry_after
        """Seconds, as the provider asked."""
        self.attempts = 1
        """How often it was asked in all."""
        self.usage: Usage | None = None
        """What was paid all the same; None when nothing is known of it."""

    def __reduce__(self) -> tuple[type, tuple[str, str], dict[str, object]]:
        return type(self), (self.code, self.message), self.__dict__  # copies keep whether it may be asked again
