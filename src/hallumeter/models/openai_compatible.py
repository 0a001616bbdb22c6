"""Models behind a server that speaks as OpenAI's chat completions do; needs the extra ``llm``."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from .dialect import AskedModel, Asker, Form, Forms, completions_or_fault, decoded, limits_in
from .http import HttpClient, HttpReply, ReplyBody
from .protocol import Completion, ProviderSpec, Reply, Request, TokenLogprob, Usage

_ALTERNATIVES = 5
"""Other tokens that are asked for at each place."""
_LIMIT_HEADERS = (
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
)


class OpenAICompatibleProvider(AskedModel):
    """A model behind ``POST {address}/chat/completions``."""

    def __init__(
        self, spec: ProviderSpec, address: str, *, key: str = "", timeout_seconds: float = 60, connections: int = 16
    ) -> None:
        """Connect only when first asked; without a key none is sent.

        Raises:
            MissingExtraError: The package for it is not installed.
        """
        client = HttpClient(
            address,
            headers={"authorization": f"Bearer {key}"} if key else {},
            secret=key,
            timeout_seconds=timeout_seconds,
            connections=connections,
        )
        super().__init__(spec, Asker(client, _ChatCompletions(spec.model)))


class _ChatCompletions:
    """The dialect."""

    path = "/chat/completions"
    weaker: Mapping[str, int] = {"reply_schema": 1}  # any JSON is not the form that was asked for

    def __init__(self, model: str) -> None:
        self._model = model

    def fields(self, request: Request) -> dict[str, object]:
        return {"model": self._model, "messages": request.messages}

    def forms(self, request: Request, samples: int) -> Forms:
        forms: dict[str, list[Form]] = {
            "max_tokens": [{"max_tokens": request.max_tokens}, {"max_completion_tokens": request.max_tokens}]
        }
        if request.temperature is not None:
            forms["temperature"] = [{"temperature": request.temperature}]
        if request.seed is not None:
            forms["seed"] = [{"seed": request.seed}]
        if samples > 1:
            forms["samples"] = [{"n": samples}]
        if request.wants_logprobs:
            forms["logprobs"] = [{"logprobs": True, "top_logprobs": _ALTERNATIVES}, {"logprobs": True}]
        if request.reply_schema is not None:
            schema = {"name": request.reply_schema.name, "strict": True, "schema": request.reply_schema.schema}
            forms["reply_schema"] = [
                {"response_format": {"type": "json_schema", "json_schema": schema}},
                {"response_format": {"type": "json_object"}},
            ]
        return forms

    def read(self, reply: HttpReply) -> Reply:
        body = decoded(reply, _DECODER)
        usage = Usage() if body.usage is None else body.usage.counted()
        return Reply(
            completions_or_fault([choice.completion() for choice in body.choices or ()], usage=usage),
            usage=usage,
            model=body.model,
            limits=limits_in(reply.headers, _LIMIT_HEADERS),
        )


class _Piece(Struct, frozen=True):
    text: str = ""


class _Message(Struct, frozen=True):
    content: str | list[_Piece] | None = None
    refusal: str | None = None


class _OtherToken(Struct, frozen=True):
    token: str
    logprob: float


class _Token(Struct, frozen=True):
    token: str
    logprob: float
    top_logprobs: list[_OtherToken] | None = None


class _Logprobs(Struct, frozen=True):
    content: list[_Token] | None = None


class _Choice(Struct, frozen=True):
    message: _Message = _Message()
    finish_reason: str | None = None
    logprobs: msgspec.Raw = msgspec.Raw(b"null")

    def completion(self) -> Completion:
        content = self.message.content
        text = "".join(piece.text for piece in content) if isinstance(content, list) else content or ""
        finish = "content_filter" if self.message.refusal else self.finish_reason
        return Completion(text, finish, _logprobs(self.logprobs))


class _CachedTokens(Struct, frozen=True):
    cached_tokens: int | None = None


class _Usage(Struct, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _CachedTokens | None = None

    def counted(self) -> Usage:
        details = self.prompt_tokens_details
        return Usage(self.prompt_tokens, self.completion_tokens, None if details is None else details.cached_tokens)


class _Body(ReplyBody, frozen=True):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    model: str | None = None


_DECODER = msgspec.json.Decoder(_Body)
_LOGPROBS_DECODER = msgspec.json.Decoder(_Logprobs | None)


def _logprobs(raw: msgspec.Raw) -> tuple[TokenLogprob, ...] | None:
    """Log-probabilities of a completion; None when there are none, or in a form of the server's own."""
    try:
        found = _LOGPROBS_DECODER.decode(raw)
    except msgspec.DecodeError:
        return None
    if found is None or found.content is None:
        return None
    return tuple(
        TokenLogprob(item.token, item.logprob, tuple((other.token, other.logprob) for other in item.top_logprobs or ()))
        for item in found.content
    )
