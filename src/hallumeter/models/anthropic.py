"""Models behind Anthropic's Messages API; needs the extra ``llm``."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from .dialect import AskedModel, Asker, Form, Forms, completions_or_fault, decoded, limits_in
from .http import HttpClient, HttpReply, ReplyBody
from .protocol import Completion, ProviderSpec, Reply, Request, Usage

API_VERSION = "2026-10-21"
"""That of the vendor's own client; no model takes a temperature in it."""
_FINISHES = {
    "end_turn": "stop",
    "tool_use": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
_LIMIT_HEADERS = (
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-requests-reset",
    "anthropic-ratelimit-tokens-remaining",
    "anthropic-ratelimit-tokens-reset",
)


class AnthropicProvider(AskedModel):
    """A model behind ``POST {address}/v1/messages``; gives one sample per call.

    It takes no temperature, no seed and gives no log-probabilities.
    """

    def __init__(
        self, spec: ProviderSpec, address: str, *, key: str, timeout_seconds: float = 60, connections: int = 16
    ) -> None:
        """Connect only when first asked.

        Raises:
            MissingExtraError: The package for it is not installed.
        """
        client = HttpClient(
            address,
            headers={"authorization": f"Bearer {key}", "anthropic-version": API_VERSION},
            secret=key,
            timeout_seconds=timeout_seconds,
            connections=connections,
        )
        super().__init__(spec, Asker(client, _Messages(spec.model)))


class _Messages:
    """The dialect."""

    path = "/v1/messages"
    weaker: Mapping[str, int] = {}

    def __init__(self, model: str) -> None:
        self._model = model

    def fields(self, request: Request) -> dict[str, object]:
        system = "\n\n".join(message.content for message in request.messages if message.role == "system")
        fields: dict[str, object] = {
            "model": self._model,
            "max_tokens": request.max_tokens,
            "messages": [message for message in request.messages if message.role != "system"],
        }
        return {**fields, "system": system} if system else fields

    def forms(self, request: Request, samples: int) -> Forms:  # noqa: ARG002 (one sample per call, whatever is asked)
        asked = {
            "temperature": request.temperature is not None,
            "seed": request.seed is not None,
            "logprobs": request.wants_logprobs,
        }
        forms: dict[str, list[Form]] = {name: [] for name, is_asked in asked.items() if is_asked}
        if request.reply_schema is not None:
            name, schema = request.reply_schema.name, request.reply_schema.schema
            tool = {"name": name, "description": "Give the reply in this form.", "input_schema": schema}
            choice = {"type": "tool", "name": name, "disable_parallel_tool_use": True}
            forms["reply_schema"] = [
                {"output_config": {"format": {"type": "json_schema", "schema": schema}}},
                # Older models, and servers of others, know no form of the output; what a tool is called with has one.
                {"tools": [tool], "tool_choice": choice},
            ]
        return forms

    def read(self, reply: HttpReply) -> Reply:
        body = decoded(reply, _DECODER)
        usage = Usage() if body.usage is None else body.usage.counted()
        completion = Completion(_text(body.content or []), _FINISHES.get(body.stop_reason or "", body.stop_reason))
        return Reply(
            completions_or_fault([completion], usage=usage),
            usage=usage,
            model=body.model,
            limits=limits_in(reply.headers, _LIMIT_HEADERS),
        )


class _Block(Struct, frozen=True):
    type: str = ""
    text: str = ""
    input: msgspec.Raw = msgspec.Raw(b"")


class _Usage(Struct, frozen=True):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None

    def counted(self) -> Usage:
        """Tokens read from a cache or put there stand apart here, and are input all the same."""
        cached, stored = self.cache_read_input_tokens, self.cache_creation_input_tokens
        whole = None if self.input_tokens is None else self.input_tokens + (cached or 0) + (stored or 0)
        return Usage(whole, self.output_tokens, cached)


class _Body(ReplyBody, frozen=True):
    content: list[_Block] | None = None
    stop_reason: str | None = None
    usage: _Usage | None = None
    model: str | None = None


_DECODER = msgspec.json.Decoder(_Body)


def _text(blocks: list[_Block]) -> str:
    """What a tool was called with, where one was; else the text."""
    calls = [bytes(block.input).decode() for block in blocks if block.type == "tool_use" and bytes(block.input)]
    return calls[0] if calls else "".join(block.text for block in blocks if block.type == "text")
