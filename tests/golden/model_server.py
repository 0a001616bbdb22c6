"""A server of language models on this machine whose answers follow from the questions, reached as a proxy.

Because commands reach it through a proxy, the address that they are given, and write down, is always the same.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ADDRESS = "http://model.test/v1"
"""What commands are told; the proxy answers in its place."""


class Replies(BaseHTTPRequestHandler):
    """OpenAI's dialect, one call after the other on a connection."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status, reply = (200, _reply(body)) if body["model"] != "broken" else (400, _REFUSAL)
        raw = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


_REFUSAL = {"error": {"message": "the model is broken", "type": "invalid_request_error"}}


def _reply(body: dict[str, Any]) -> dict[str, Any]:
    text = _content(body)
    tokens = {"prompt_tokens": len(str(body["messages"])) // 4, "completion_tokens": len(text) // 4 + 1}
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {
        "id": "call",
        "object": "chat.completion",
        "created": 0,
        "model": f"{body['model']}-2026",
        "choices": [{**choice, "index": number} for number in range(body.get("n") or 1)],
        "usage": {**tokens, "total_tokens": sum(tokens.values())},
    }


def _content(body: dict[str, Any]) -> str:
    asked = [found for message in body["messages"] if (found := _claims_in(message["content"]))]
    if asked:
        return json.dumps(_verdicts(asked[0]))
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    if schema:
        return json.dumps(_filled(schema, schema, _word_of_the_review(body)), ensure_ascii=False)
    return f"You asked about {len(body['messages'])} messages. Take 10 mg of aspirin and walk 30 minutes a day."


def _claims_in(text: str) -> dict[str, Any] | None:
    """The question of a judge: evidence and claims; None for any other text."""
    try:
        asked = json.loads(text)
    except ValueError:
        return None
    return asked if isinstance(asked, dict) and {"claims", "evidence"} <= set(asked) else None


def _verdicts(asked: dict[str, Any]) -> dict[str, Any]:
    """Supported is what shares its last word with the evidence; every fifth claim else is refuted."""
    found = {}
    for claim in asked["claims"]:
        last = claim["text"].rstrip(".!? ").split()[-1]
        place = next((each for each in asked["evidence"] if last in each["text"]), None)
        label = "SUPPORTED" if place else "REFUTED" if len(claim["text"]) % 5 == 0 else "NOT_ENOUGH_INFO"
        quote = last if place else ""
        found[str(claim["number"])] = {
            "evidence_id": place["id"] if place else 0,
            "quote": quote,
            "label": label,
            "note": "",
        }
    return found


def _word_of_the_review(body: dict[str, Any]) -> str:
    """The first word of what is read, which quotes may be made of."""
    for message in reversed(body["messages"]):
        found = re.search(r'"(?:text|review|response|sentence)": ?"(\w+)', message["content"])
        if found:
            return found.group(1)
    return "staff"


def _filled(schema: dict[str, Any], whole: dict[str, Any], word: str) -> Any:
    """A value that a schema allows: its first choices, lists of one thing, and one word everywhere."""
    if "$ref" in schema:
        return _filled(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole, word)
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return _filled(schema[choice][0], whole, word)
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: _filled(each, whole, word) for name, each in schema.get("properties", {}).items()}
    if kind == "array":
        return [_filled(schema["items"], whole, word)]
    return {"string": word, "integer": 0, "number": 0.5, "boolean": False}.get(str(kind))


@contextmanager
def model_server() -> Iterator[str]:
    """The address of the proxy, until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Replies)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
