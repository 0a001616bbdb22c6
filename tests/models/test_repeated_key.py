"""A server that repeats the key it was sent, wherever it can: nothing that we keep may hold it, nor a piece of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import msgspec
import pytest

from hallumeter.claims.judges.language_model import LanguageModelJudge
from hallumeter.models.anthropic import AnthropicProvider
from hallumeter.models.openai_compatible import OpenAICompatibleProvider
from hallumeter.models.protocol import Message, Provider, ProviderFault, ProviderSpec, Request
from hallumeter.records.claim import Claim
from hallumeter.records.judging import JudgeTask
from hallumeter.records.response import Passage, Response

KEY = "sk-a/secret+that-no-one-may-see"
REQUEST = Request(messages=(Message("user", "hello"),))

Make = Callable[[str], Provider]
Wrap = Callable[[str], object]


def openai(root: str) -> Provider:
    return OpenAICompatibleProvider(ProviderSpec(name="openai:m", model="m"), root + "/v1", key=KEY, timeout_seconds=30)


def anthropic(root: str) -> Provider:
    return AnthropicProvider(ProviderSpec(name="anthropic:m", model="m"), root, key=KEY, timeout_seconds=30)


def openai_body(text: str) -> object:
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}


def anthropic_body(text: str) -> object:
    return {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}


both_dialects = pytest.mark.parametrize(("make", "wrap"), [(openai, openai_body), (anthropic, anthropic_body)])


@contextmanager
def server_that_says(body: bytes, *, status: int = 200) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            assert self.headers["authorization"] == f"Bearer {KEY}"
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def as_plain_json(body: object) -> bytes:
    return json.dumps(body).encode()


def with_escaped_slashes(body: object) -> bytes:
    return json.dumps(body).replace("/", "\\/").encode()


def with_escaped_letters(body: object) -> bytes:
    return json.dumps(body).replace("sk-a", "\\u0073\\u006B-a").replace("+", "\\u002B").encode()


ways_to_write = pytest.mark.parametrize("written", [as_plain_json, with_escaped_slashes, with_escaped_letters])


@both_dialects
@ways_to_write
def test_a_text_with_the_key_is_read_without_it(make: Make, wrap: Wrap, written: Callable[[object], bytes]) -> None:
    with server_that_says(written(wrap(f'You sent "Bearer {KEY}", did you not?'))) as root:
        reply = make(root).complete(REQUEST)
    assert reply.completions[0].text == 'You sent "Bearer ***", did you not?'
    assert "secret" not in reply.raw


@pytest.mark.parametrize("make", [openai, anthropic])
@ways_to_write
def test_an_error_that_is_cut_inside_of_the_key_holds_no_piece_of_it(
    make: Make, written: Callable[[object], bytes]
) -> None:
    body = written({"error": {"message": "x" * 450 + f" Bearer {KEY}"}})  # 500 characters are kept
    for status in (200, 400):
        with server_that_says(body, status=status) as root, pytest.raises(ProviderFault) as caught:
            make(root).complete(REQUEST)
        assert caught.value.message.endswith("x Bearer ***")
        assert "sk-" not in repr(caught.value)


@both_dialects
@pytest.mark.parametrize("field", ["label", "note", "quote"])
def test_neither_a_verdict_nor_a_failure_holds_the_key(make: Make, wrap: Wrap, field: str) -> None:
    said = {"evidence_id": 1, "quote": "330 m", "label": "REFUTED", "note": "", field: f"Bearer {KEY}"}
    task = JudgeTask(
        Response("r1", response="It is 999 m high.", evidence=(Passage("e1", "It is 330 m high."),)),
        (Claim("r1", "c1", text="It is 999 m high."),),
    )
    with server_that_says(as_plain_json(wrap(json.dumps({"1": said})))) as root:
        outcome = LanguageModelJudge(make(root)).judge(task)
    kept = msgspec.json.encode(outcome)
    assert len(outcome) == 1
    assert b"sk-" not in kept
    assert b"secret" not in kept


def test_a_long_row_of_backslashes_is_read_in_no_time() -> None:
    with server_that_says(as_plain_json(openai_body("\\" * 200_000 + KEY))) as root:
        assert openai(root).complete(REQUEST).completions[0].text.strip("\\") == "***"
