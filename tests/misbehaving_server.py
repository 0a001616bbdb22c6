"""A server of language models on this machine that misbehaves on purpose, in OpenAI's and in Anthropic's dialect.

    python tests/misbehaving_server.py --port 0 --latency-ms 100

prints its address and serves until its input is closed. What it does with each call is told by a script, which tests
replace while it runs; it keeps a log that outlives its clients.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import importlib
import re
import socket
import struct
import subprocess
import sys
import threading
import urllib.request
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from msgspec import Struct

Content = Callable[[dict[str, Any]], str]
"""From the body of a request to the text of the reply."""

ERRORS: dict[str, tuple[int, dict[str, object]]] = {
    "rate_limited": (429, {"message": "slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded"}),
    "rate_limited_with_wait": (429, {"message": "slow down", "type": "rate_limit_error"}),
    "no_quota": (429, {"message": "you have no credit", "type": "insufficient_quota", "code": "insufficient_quota"}),
    "server_error": (500, {"message": "something broke", "type": "server_error"}),
    "overloaded": (529, {"message": "overloaded", "type": "overloaded_error"}),
    "request_timeout": (408, {"message": "too slow", "type": "timeout_error"}),
    "conflict": (409, {"message": "in use", "type": "conflict"}),
    "unknown_model": (404, {"message": "no such model", "type": "not_found_error", "code": "model_not_found"}),
    "bad_request": (400, {"message": "the messages are empty", "type": "invalid_request_error"}),
    "filtered_request": (400, {"message": "flagged", "code": "content_filter"}),
    "error_body": (200, {"message": "something odd", "type": "odd"}),
    "overloaded_body": (200, {"message": "overloaded", "type": "overloaded_error"}),
    "limited_body": (200, {"message": "slow down", "code": 429}),
}
"""Behaviours that are an answer with a status and an error."""
BEHAVIOURS = (
    *("ok", "prose", "wrong_schema", "empty", "content_filter", "no_choices", "length"),  # whole replies
    *("stall", "reset", "reset_midway", "truncated", "cut_off", "drip", "html", "bad_key", *ERRORS),
)


class Script(Struct, frozen=True, kw_only=True):
    """What the server does with the calls that come."""

    latency_ms: float = 0.0
    first: tuple[str, ...] = ()
    """Behaviours of the first calls, in the order in which they come."""
    shares: dict[str, float] = {}
    """Which share of all other calls meets a behaviour; drawn by the body and by how often the same body came."""
    otherwise: str = "ok"
    stall_seconds: float = 30.0
    retry_after: str = "1"
    refuses: tuple[str, ...] = ()
    """Fields that a body may not hold; ``response_format.json_schema`` is that kind of it alone."""
    headers: dict[str, str] = {}
    """Of replies that are ok."""
    most_at_once: int | None = None
    """More calls than these at the same time are answered 429."""
    most_samples: int = 100

    def behaviour(self, number: int, digest: str, repetition: int) -> str:
        """What happens to a call: its number, the hash of its body, and how often that came before."""
        if number <= len(self.first):
            return self.first[number - 1]
        draw = int.from_bytes(hashlib.blake2b(f"{digest} {repetition}".encode(), digest_size=8).digest()) / 2**64
        for name, share in self.shares.items():
            if draw < share:
                return name
            draw -= share
        return self.otherwise


class Call(Struct, frozen=True):
    """One line of the log."""

    number: int
    digest: str
    """Hash of the body."""
    behaviour: str
    is_answered: bool
    """A whole and good reply was sent."""


class Seen(Struct, frozen=True):
    """A call in full; only the last ones are kept."""

    path: str
    headers: dict[str, str]
    body: Any


def judge_by_rule(body: dict[str, Any]) -> str:
    """Verdicts that a test can foresee: a claim is supported when it stands in the evidence word for word.

    It is refuted when the evidence has it with ``not`` after the first word, and undecided in no case.
    """
    asked = next(filter(None, (claims_in(message["content"]) for message in body["messages"])))
    verdicts = {}
    for claim in asked["claims"]:
        number, text = str(claim["number"]), claim["text"]
        denied = text.replace(" ", " not ", 1)
        label, quote, place = "NOT_ENOUGH_INFO", "", 0
        for evidence in asked["evidence"]:
            if text in evidence["text"]:
                label, quote, place = "SUPPORTED", text, evidence["id"]
            elif denied in evidence["text"]:
                label, quote, place = "REFUTED", denied, evidence["id"]
        verdicts[number] = {"evidence_id": place, "quote": quote, "label": label, "note": ""}
    return msgspec.json.encode(verdicts).decode()


def claims_in(text: str) -> dict[str, Any] | None:
    """The question of a judge: evidence and claims; None for any other text."""
    try:
        asked = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
    return asked if isinstance(asked, dict) and {"claims", "evidence"} <= set(asked) else None


def echo(body: dict[str, Any]) -> str:
    """The last message, in JSON."""
    return msgspec.json.encode({"echo": body["messages"][-1]["content"]}).decode()


def rule_or_echo(body: dict[str, Any]) -> str:
    """A judge's verdicts where claims are asked about, and an echo of anything else."""
    try:
        return judge_by_rule(body)
    except StopIteration:
        return echo(body)


class Order(NamedTuple):
    """One call, on its way through the server."""

    path: str
    body: dict[str, Any]
    digest: str
    number: int
    behaviour: str

    @property
    def is_openai(self) -> bool:
        return self.path.endswith("/chat/completions")


_TOKENS = re.compile(rb'\\*"evidence_(?:begins|ends)\\*": ?\\*"[0-9a-f]{24}\\*"')


class Tally:
    """What happened since the script was last replaced; calls from before count nowhere."""

    def __init__(self) -> None:
        self.log: list[Call] = []
        self.came = 0
        self.repetitions: Counter[str] = Counter()
        self.seen: deque[Seen] = deque(maxlen=20)
        self.under_way = 0
        self.most_under_way = 0


class State:
    """What all connections share."""

    def __init__(self, script: Script, content: Content) -> None:
        self.script = script
        self.content = content
        self.tally = Tally()
        self.connections: set[Connection] = set()

    def order(self, path: str, headers: dict[str, str], raw: bytes) -> Order:
        body = msgspec.json.decode(raw)
        # The tokens around evidence are new in each process; two calls that differ in them alone ask the same.
        digest = hashlib.blake2b(_TOKENS.sub(b"", raw), digest_size=8).hexdigest()
        tally = self.tally
        tally.came += 1
        behaviour = self.script.behaviour(tally.came, digest, tally.repetitions[digest])
        tally.repetitions[digest] += 1
        tally.seen.append(Seen(path, headers, body))
        return Order(path, body, digest, tally.came, behaviour)


class Connection(asyncio.Protocol):
    """One client; calls on it are answered one after the other."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.buffer = bytearray()
        self.transport: asyncio.Transport
        self.task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.state.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.state.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        first, *lines = bytes(self.buffer[:end]).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        whole = end + 4 + int(headers.get("content-length", 0))
        if len(self.buffer) < whole:
            return
        raw = bytes(self.buffer[end + 4 : whole])
        del self.buffer[:whole]
        path = first.split(" ")[1]
        if path.startswith("/control/"):
            self.control(path, raw)
        else:
            order = self.state.order(path, headers, raw)
            self.task = asyncio.get_running_loop().create_task(self.serve(order, headers))

    def control(self, path: str, raw: bytes) -> None:
        if path == "/control/script":
            self.state.script = msgspec.json.decode(raw, type=Script)
            self.state.tally = Tally()
        tally = self.state.tally
        answers = {"/control/log": tally.log, "/control/seen": list(tally.seen)}
        self.send(200, msgspec.json.encode(answers.get(path, tally.most_under_way)))

    async def serve(self, order: Order, headers: dict[str, str]) -> None:
        state, tally = self.state, self.state.tally
        tally.under_way += 1
        tally.most_under_way = max(tally.most_under_way, tally.under_way)
        is_crowded = state.script.most_at_once is not None and tally.under_way > state.script.most_at_once
        behaviour = "rate_limited" if is_crowded else order.behaviour
        try:
            if state.script.latency_ms:
                await asyncio.sleep(state.script.latency_ms / 1000)
            refused = next((field for field in state.script.refuses if holds(order.body, field)), None)
            is_answered = False
            if refused is not None:
                self.send(400, refusal(order, refused))
            else:
                is_answered = await self.behave(order, behaviour, headers)
            tally.log.append(Call(order.number, order.digest, behaviour, is_answered))
        finally:
            tally.under_way -= 1

    async def behave(self, order: Order, behaviour: str, headers: dict[str, str]) -> bool:
        """Whether the call got a whole and good reply."""
        if behaviour in ERRORS:
            status, error = ERRORS[behaviour]
            more = {"retry-after": self.state.script.retry_after} if behaviour == "rate_limited_with_wait" else {}
            self.send(status, msgspec.json.encode({"type": "error", "error": error}), more)
        elif behaviour == "bad_key":  # and repeats the key, as careless servers do
            said = f"no such key: {headers.get('authorization', headers.get('x-api-key'))}"
            self.send(401, msgspec.json.encode({"error": {"message": said, "code": "invalid_api_key"}}))
        elif behaviour == "html":
            self.send(200, b"<html>welcome</html>")
        elif behaviour == "stall":
            await asyncio.sleep(self.state.script.stall_seconds)
            self.transport.close()
        elif behaviour in {"reset", "reset_midway", "truncated", "cut_off", "drip"}:
            await self.break_off(behaviour, reply_to(order, self.state))
        else:
            more = self.state.script.headers if behaviour == "ok" else {}
            self.send(200, reply_to(order._replace(behaviour=behaviour), self.state), more)
            return behaviour == "ok" and not self.transport.is_closing()
        return False

    async def break_off(self, behaviour: str, body: bytes) -> None:
        half = body[: len(body) // 2]
        if behaviour == "truncated":
            self.send(200, half)
        elif behaviour == "drip":
            self.transport.write(head(200, len(body), {}))
            for place in range(len(body)):
                if self.transport.is_closing():
                    return
                self.transport.write(body[place : place + 1])
                await asyncio.sleep(0.05)
        else:
            if behaviour != "reset":
                self.transport.write(head(200, len(body), {}) + half)
                await asyncio.sleep(0.02)
            if behaviour == "cut_off":
                self.transport.close()
                return
            connection = self.transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()

    def send(self, status: int, body: bytes, more: dict[str, str] | None = None) -> None:
        self.transport.write(head(status, len(body), more or {}) + body)


def head(status: int, length: int, more: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} X", "content-type: application/json", f"content-length: {length}"]
    return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in more.items()), "", ""]).encode()


def holds(body: dict[str, Any], field: str) -> bool:
    name, _, kind = field.partition(".")
    return name in body and (not kind or body[name].get("type") == kind)


def refusal(order: Order, field: str) -> bytes:
    name = field.partition(".")[0]
    if order.is_openai:
        message = f"Unsupported parameter: '{name}' is not supported with this model."
        return msgspec.json.encode({"error": {"message": message, "param": name, "code": "unsupported_parameter"}})
    error = {"type": "invalid_request_error", "message": f"{name}: Extra inputs are not permitted"}
    return msgspec.json.encode({"type": "error", "error": error})


def reply_to(order: Order, state: State) -> bytes:
    texts = {"wrong_schema": '{"unexpected": true}', "empty": "", "length": "", "content_filter": ""}
    text = texts[order.behaviour] if order.behaviour in texts else state.content(order.body)
    if order.behaviour == "prose":
        text = f"Sure! Here it is:\n```json\n{text}\n```\nI hope this helps."
    tokens = len(str(order.body["messages"])) // 4, len(text) // 4 + 1
    reply = (openai_reply if order.is_openai else anthropic_reply)(order, text, state.script)
    names = ("prompt_tokens", "completion_tokens") if order.is_openai else ("input_tokens", "output_tokens")
    return msgspec.json.encode(
        {**reply, "usage": {**dict(zip(names, tokens, strict=True)), "total_tokens": sum(tokens)}}
    )


def openai_reply(order: Order, text: str, script: Script) -> dict[str, object]:
    finish = order.behaviour if order.behaviour in {"length", "content_filter"} else "stop"
    choice: dict[str, object] = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
    if order.body.get("logprobs"):
        others = [{"token": text, "logprob": -0.25}, {"token": "?", "logprob": -2.0}]
        choice["logprobs"] = {"content": [{"token": text, "logprob": -0.25, "top_logprobs": others}]}
    count = 0 if order.behaviour == "no_choices" else min(order.body.get("n", 1), script.most_samples)
    return {
        "id": f"call-{order.number}",
        "object": "chat.completion",
        "created": 0,
        "model": f"{order.body['model']}-2026",
        "choices": [{"index": index, **choice} for index in range(count)],
    }


def anthropic_reply(order: Order, text: str, script: Script) -> dict[str, object]:
    finish = {"length": "max_tokens", "content_filter": "refusal"}.get(order.behaviour, "end_turn")
    blocks: list[dict[str, object]] = [{"type": "text", "text": text}]
    if order.body.get("tools") and text and order.behaviour != "prose":
        tool = {"id": "t", "name": order.body["tools"][0]["name"], "input": msgspec.Raw(text.encode())}
        blocks, finish = [{"type": "tool_use", **tool}], "tool_use"
    return {
        "id": f"call-{order.number}",
        "type": "message",
        "role": "assistant",
        "model": f"{order.body['model']}-2026",
        "content": [] if order.behaviour == "no_choices" else blocks,
        "stop_reason": finish,
    }


class MisbehavingServer:
    """A running server, as tests see it."""

    def __init__(self, root: str) -> None:
        self.root = root
        """Where Anthropic's dialect starts."""
        self.openai = f"{root}/v1"

    def play(self, script: Script | None = None, /, **settings: Any) -> None:
        """Follow this script from now on, with an empty log."""
        body = msgspec.json.encode(script or Script(**settings))
        self._call("/control/script", body)

    def log(self) -> list[Call]:
        return msgspec.json.decode(self._call("/control/log"), type=list[Call])

    def seen(self) -> list[Seen]:
        return msgspec.json.decode(self._call("/control/seen"), type=list[Seen])

    def most_under_way(self) -> int:
        return msgspec.json.decode(self._call("/control/most"), type=int)

    def _call(self, path: str, body: bytes | None = None) -> bytes:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(urllib.request.Request(self.root + path, data=body), timeout=10) as reply:
            return bytes(reply.read())


async def serve(state: State, *, port: int, ready: Callable[[int, asyncio.Event], None]) -> None:
    """Serve until the event that `ready` is given is set."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(state), "127.0.0.1", port, backlog=1024)
    is_over = asyncio.Event()
    ready(server.sockets[0].getsockname()[1], is_over)
    await is_over.wait()
    server.close()
    for connection in list(state.connections):
        connection.transport.abort()
    await asyncio.sleep(0)


@contextmanager
def server_in_thread(content: Content = rule_or_echo) -> Iterator[MisbehavingServer]:
    """A server inside this process, which may be given any function."""
    started: list[tuple[int, asyncio.Event, asyncio.AbstractEventLoop]] = []
    is_ready = threading.Event()

    def ready(port: int, is_over: asyncio.Event) -> None:
        started.append((port, is_over, asyncio.get_running_loop()))
        is_ready.set()

    thread = threading.Thread(target=lambda: asyncio.run(serve(State(Script(), content), port=0, ready=ready)))
    thread.start()
    assert is_ready.wait(10), "the server did not start"
    port, is_over, loop = started[0]
    try:
        yield MisbehavingServer(f"http://127.0.0.1:{port}")
    finally:
        loop.call_soon_threadsafe(is_over.set)
        thread.join(10)


@contextmanager
def server_in_process(content: str = "misbehaving_server:rule_or_echo", **settings: Any) -> Iterator[MisbehavingServer]:
    """A server in a process of its own, which outlives clients that are killed and shares no lock with them.

    The content is named by module and function; the module must lie beside this one or be installed.
    """
    command = [
        sys.executable,
        __file__,
        "--content",
        content,
        "--script",
        msgspec.json.encode(Script(**settings)).decode(),
    ]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield MisbehavingServer(process.stdout.readline().strip())
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


@pytest.fixture(scope="session")
def _misbehaving_process() -> Iterator[MisbehavingServer]:
    with server_in_process() as server:
        yield server


@pytest.fixture
def misbehaving_server(_misbehaving_process: MisbehavingServer) -> MisbehavingServer:
    """A server with an empty log and good manners, until a test gives it a script."""
    _misbehaving_process.play()
    return _misbehaving_process


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float)
    parser.add_argument("--script", default="{}", help="fields of Script, as JSON")
    parser.add_argument("--content", default="misbehaving_server:rule_or_echo", help="MODULE:FUNCTION")
    options = parser.parse_args()
    script = msgspec.json.decode(options.script, type=Script)
    if options.latency_ms is not None:
        script = msgspec.structs.replace(script, latency_ms=options.latency_ms)
    sys.path.insert(0, str(Path(__file__).parent))
    module, _, function = options.content.partition(":")
    content: Content = getattr(importlib.import_module(module), function)

    def ready(port: int, is_over: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()

        def wait_for_the_end_of_input() -> None:
            sys.stdin.read()
            loop.call_soon_threadsafe(is_over.set)

        threading.Thread(target=wait_for_the_end_of_input, daemon=True).start()
        sys.stdout.write(f"http://127.0.0.1:{port}\n")
        sys.stdout.flush()

    asyncio.run(serve(State(script, content), port=options.port, ready=ready))


if __name__ == "__main__":
    main()
