"""What is sent and what is read in the dialects of OpenAI and Anthropic, against the vendors' own clients."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hallumeter.claims.judges.replies import reply_schema
from hallumeter.models.anthropic import AnthropicProvider
from hallumeter.models.dialect import refused_setting
from hallumeter.models.http import ErrorBody
from hallumeter.models.openai_compatible import OpenAICompatibleProvider
from hallumeter.models.protocol import Message, ProviderSpec, RateLimits, ReplySchema, Request, TokenLogprob, Usage
from misbehaving_server import MisbehavingServer, Seen, _misbehaving_process, misbehaving_server

__all__ = ["_misbehaving_process", "misbehaving_server"]

KEY = "sk-a-secret-that-no-one-may-see"
SCHEMA: dict[str, object] = {"type": "object", "properties": {"echo": {"type": "string"}}, "required": ["echo"]}
REQUEST = Request(messages=(Message("system", "Sois bref."), Message("user", "안녕")), max_tokens=64)
FORMED = Request(messages=REQUEST.messages, max_tokens=64, reply_schema=ReplySchema("verdicts", SCHEMA))


def openai(server: MisbehavingServer) -> OpenAICompatibleProvider:
    return OpenAICompatibleProvider(ProviderSpec(name="openai:m", model="m"), server.openai, key=KEY, timeout_seconds=5)


def anthropic(server: MisbehavingServer) -> AnthropicProvider:
    return AnthropicProvider(ProviderSpec(name="anthropic:m", model="m"), server.root, key=KEY, timeout_seconds=5)


def last_two(server: MisbehavingServer) -> tuple[Seen, Seen]:
    ours, theirs = server.seen()[-2:]
    return ours, theirs


def test_requests_are_those_of_openais_own_client(misbehaving_server: MisbehavingServer) -> None:
    vendor = pytest.importorskip("openai", reason="openai is not installed")
    request = Request(
        messages=REQUEST.messages, max_tokens=64, samples=3, wants_logprobs=True, reply_schema=FORMED.reply_schema
    )
    openai(misbehaving_server).complete(request)
    with vendor.OpenAI(api_key=KEY, base_url=misbehaving_server.openai, max_retries=0) as client:
        client.chat.completions.create(
            model="m",
            messages=[{"role": "system", "content": "Sois bref."}, {"role": "user", "content": "안녕"}],
            max_tokens=64,
            temperature=0.0,
            seed=0,
            n=3,
            logprobs=True,
            top_logprobs=5,
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "verdicts", "strict": True, "schema": SCHEMA},
            },
        )
    ours, theirs = last_two(misbehaving_server)
    assert (ours.path, ours.body) == (theirs.path, theirs.body)
    for name in ("authorization", "content-type", "accept"):
        assert ours.headers[name] == theirs.headers[name]


OUTPUT_CONFIG = {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}
FORCED_TOOL = {
    "tools": [{"name": "verdicts", "description": "Give the reply in this form.", "input_schema": SCHEMA}],
    "tool_choice": {"type": "tool", "name": "verdicts", "disable_parallel_tool_use": True},
}


@pytest.mark.parametrize(
    ("request_", "refuses", "settings"),
    [
        (REQUEST, (), {}),
        (FORMED, (), OUTPUT_CONFIG),
        (FORMED, ("output_config",), FORCED_TOOL),
    ],
    ids=["free text", "schema", "schema by a forced tool"],
)
def test_requests_are_those_of_anthropics_own_client(
    misbehaving_server: MisbehavingServer, request_: Request, refuses: tuple[str, ...], settings: dict[str, Any]
) -> None:
    vendor = pytest.importorskip("anthropic", reason="anthropic is not installed")
    misbehaving_server.play(refuses=refuses)
    anthropic(misbehaving_server).complete(request_)
    with vendor.Anthropic(api_key=KEY, base_url=misbehaving_server.root, max_retries=0) as client:
        client.messages.create(
            model="m",
            max_tokens=64,
            system="Sois bref.",
            messages=[{"role": "user", "content": "안녕"}],
            **settings,
        )
    ours, theirs = last_two(misbehaving_server)
    assert (ours.path, ours.body) == (theirs.path, theirs.body)
    for name in ("authorization", "x-api-key", "anthropic-version", "anthropic-beta", "content-type", "accept"):
        assert ours.headers.get(name) == theirs.headers.get(name), name


def test_the_forms_of_our_own_replies_are_those_that_anthropics_client_would_make() -> None:
    parsing = pytest.importorskip("anthropic.lib._parse._transform", reason="anthropic is not installed")
    for wants_quotes in (True, False):
        schema = reply_schema([1, 2], wants_quotes=wants_quotes).schema
        # Its own form of an enumeration leaves the type out; the API takes both.
        assert parsing.transform_schema(schema) == without_types_of_enumerations(schema)


def without_types_of_enumerations(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    return {
        name: without_types_of_enumerations(value)
        for name, value in schema.items()
        if not (name == "type" and "enum" in schema)
    }


def test_a_reply_of_openai_is_read_whole(misbehaving_server: MisbehavingServer) -> None:
    limits = {
        "x-ratelimit-remaining-requests": "59",
        "x-ratelimit-reset-requests": "6m0s",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-tokens": "12ms",
    }
    misbehaving_server.play(headers=limits)
    request = Request(messages=REQUEST.messages, samples=2, wants_logprobs=True)
    reply = openai(misbehaving_server).complete(request)
    text = '{"echo":"안녕"}'
    assert [completion.text for completion in reply.completions] == [text, text]
    assert reply.completions[0].finish == "stop"
    assert reply.completions[0].logprobs == (TokenLogprob(text, -0.25, ((text, -0.25), ("?", -2.0))),)
    assert reply.limits == RateLimits(59, 360.0, 149984, 0.012)
    assert reply.usage.output_tokens == len(text) // 4 + 1
    assert (reply.model, reply.left_out) == ("m-2026", ())
    assert '"choices"' in reply.raw


def test_a_reply_of_anthropic_is_read_whole(misbehaving_server: MisbehavingServer) -> None:
    limits = {
        "date": "Mon, 16 Nov 2026 05:00:00 GMT",
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2026-11-16T05:00:20Z",
    }
    misbehaving_server.play(headers=limits)
    reply = anthropic(misbehaving_server).complete(FORMED)
    assert [completion.text for completion in reply.completions] == ['{"echo":"안녕"}']
    assert reply.limits == RateLimits(0, 20.0, None, None)
    assert reply.completions[0].finish == "stop"
    assert (reply.model, reply.left_out) == ("m-2026", ("temperature", "seed"))


def test_anthropic_is_asked_once_for_each_sample_and_the_tokens_are_added_up(
    misbehaving_server: MisbehavingServer,
) -> None:
    one = anthropic(misbehaving_server).complete(REQUEST).usage
    misbehaving_server.play()
    reply = anthropic(misbehaving_server).complete(Request(messages=REQUEST.messages, max_tokens=64, samples=3))
    assert len(reply.completions) == len(misbehaving_server.log()) == 3
    assert one.input_tokens is not None
    assert one.output_tokens is not None
    assert reply.usage == Usage(3 * one.input_tokens, 3 * one.output_tokens)


def test_a_server_that_gives_fewer_samples_is_asked_again_with_other_seeds(
    misbehaving_server: MisbehavingServer,
) -> None:
    misbehaving_server.play(most_samples=2)
    reply = openai(misbehaving_server).complete(Request(messages=REQUEST.messages, samples=5, seed=7))
    assert len(reply.completions) == 5
    assert [(seen.body["seed"], seen.body.get("n")) for seen in misbehaving_server.seen()] == [
        (7, 5),
        (9, 3),
        (11, None),
    ]


@pytest.mark.parametrize(
    ("refused", "left_out", "sent"),
    [
        (("max_tokens",), (), {"max_completion_tokens": 64}),
        (("max_tokens", "max_completion_tokens"), ("max_tokens",), {}),
        (("temperature", "seed"), ("temperature", "seed"), {"max_tokens": 64}),
        (("response_format.json_schema",), ("reply_schema",), {"response_format": {"type": "json_object"}}),
        (("response_format",), ("reply_schema",), {}),
    ],
)
def test_a_setting_that_is_refused_is_sent_otherwise_or_left_out_and_that_is_remembered(
    misbehaving_server: MisbehavingServer, refused: tuple[str, ...], left_out: tuple[str, ...], sent: dict[str, Any]
) -> None:
    misbehaving_server.play(refuses=refused)
    provider = openai(misbehaving_server)
    assert provider.complete(FORMED).left_out == left_out
    calls = len(misbehaving_server.log())
    assert provider.complete(FORMED).left_out == left_out
    assert len(misbehaving_server.log()) == calls + 1, "it was refused before and is not tried again"
    body = misbehaving_server.seen()[-1].body
    assert {name: body[name] for name in sent} == sent
    assert not set(body) & {field for field in refused if "." not in field}


def test_samples_that_cannot_be_asked_for_together_are_asked_for_one_by_one(
    misbehaving_server: MisbehavingServer,
) -> None:
    misbehaving_server.play(refuses=["n"])
    reply = openai(misbehaving_server).complete(Request(messages=REQUEST.messages, samples=3))
    assert (len(reply.completions), reply.left_out) == (3, ())


def test_log_probabilities_that_are_refused_are_named(misbehaving_server: MisbehavingServer) -> None:
    misbehaving_server.play(refuses=["top_logprobs", "logprobs"])
    reply = openai(misbehaving_server).complete(Request(messages=REQUEST.messages, wants_logprobs=True))
    assert (reply.completions[0].logprobs, reply.left_out) == (None, ("logprobs",))


def test_anthropic_is_never_sent_what_its_api_does_not_take(misbehaving_server: MisbehavingServer) -> None:
    request = Request(messages=REQUEST.messages, temperature=0.7, seed=7, wants_logprobs=True)
    reply = anthropic(misbehaving_server).complete(request)
    assert reply.left_out == ("temperature", "seed", "logprobs")
    [seen] = misbehaving_server.seen()
    assert seen.body.keys() == {"model", "max_tokens", "messages", "system"}
    plain = Request(messages=REQUEST.messages, temperature=None, seed=None)
    assert anthropic(misbehaving_server).complete(plain).left_out == ()


def test_what_a_forced_tool_is_called_with_is_the_reply_where_a_model_of_anthropic_knows_no_output_form(
    misbehaving_server: MisbehavingServer,
) -> None:
    misbehaving_server.play(refuses=["output_config"])
    provider = anthropic(misbehaving_server)
    for calls in (2, 3):
        reply = provider.complete(FORMED)
        assert [completion.text for completion in reply.completions] == ['{"echo":"안녕"}']
        assert reply.left_out == ("temperature", "seed")
        assert len(misbehaving_server.log()) == calls, "a refused form is tried once"
    assert FORCED_TOOL.items() <= misbehaving_server.seen()[-1].body.items()


def test_a_model_of_anthropic_that_takes_neither_form_is_asked_without(misbehaving_server: MisbehavingServer) -> None:
    misbehaving_server.play(refuses=["output_config", "tool_choice"])
    reply = anthropic(misbehaving_server).complete(FORMED)
    assert reply.left_out == ("temperature", "seed", "reply_schema")
    assert not {"tools", "tool_choice", "output_config"} & misbehaving_server.seen()[-1].body.keys()


@pytest.mark.parametrize(
    "message",
    [
        "output_config.format: Extra inputs are not permitted",
        "'claude-3-haiku-20240307' does not support output format.",
        "Structured outputs are not supported by this model.",
    ],
)
def test_a_form_of_the_output_is_refused_in_several_words(message: str) -> None:
    assert refused_setting(ErrorBody(message=message), {"reply_schema": [OUTPUT_CONFIG]}, {}) == "reply_schema"


def test_threads_share_a_provider_and_each_gets_its_own_reply(misbehaving_server: MisbehavingServer) -> None:
    misbehaving_server.play(refuses=["max_tokens"], latency_ms=5)
    provider = openai(misbehaving_server)

    def ask(number: int) -> str:
        return provider.complete(Request(messages=(Message("user", str(number)),))).completions[0].text

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(ask, range(200))) == [f'{{"echo":"{number}"}}' for number in range(200)]


def test_without_a_key_none_is_sent(misbehaving_server: MisbehavingServer) -> None:
    spec = ProviderSpec(name="local", model="m")
    OpenAICompatibleProvider(spec, misbehaving_server.openai).complete(REQUEST)
    assert "authorization" not in misbehaving_server.seen()[-1].headers


REFUSALS = [
    ("Unsupported value: 'temperature' does not support 0 with this model.", "temperature", "unsupported_value"),
    ("`temperature` is deprecated for this model.", None, None),
    ("`temperature` may only be set to 1 when thinking is enabled.", None, None),
    ("temperature: Extra inputs are not permitted", None, None),
]
OTHER_ERRORS = [
    ("max_tokens is too large: 99999. This model gives at most 16384.", "max_tokens", "invalid_value"),
    ("The number n of messages is not supported.", None, None),  # names no setting: n must be quoted
    ("prompt is too long: 210000 tokens > 200000 maximum", None, None),
]


@pytest.mark.parametrize(("message", "param", "code"), REFUSALS)
def test_refusals_of_a_setting_are_told_by_their_words(message: str, param: str | None, code: str | None) -> None:
    forms = {"max_tokens": [{"max_tokens": 9}], "temperature": [{"temperature": 0}], "samples": [{"n": 2}]}
    assert refused_setting(ErrorBody(message=message, param=param, code=code), forms, {}) == "temperature"


@pytest.mark.parametrize(("message", "param", "code"), OTHER_ERRORS)
def test_other_errors_leave_the_settings_as_they_are(message: str, param: str | None, code: str | None) -> None:
    forms = {"max_tokens": [{"max_tokens": 9}], "temperature": [{"temperature": 0}], "samples": [{"n": 2}]}
    assert refused_setting(ErrorBody(message=message, param=param, code=code), forms, {}) is None
