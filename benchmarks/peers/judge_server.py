"""A judge on this machine that speaks as OpenAI's API does and says what is written here; it counts its calls.

It knows the questions of each tool by the form they ask for. A height is wrong when it is not a hundred more than the
tower's number; which answers the judge fails on, and how, stands in `answers.py`.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from peers.answers import kind_of

_NAMED = re.compile(r"Tower (\d{3})")
_SENTENCE = re.compile(r"Tower \d{3} (?:is \d+ m high|stands in Paris)\.")
_IN_WORDS = {
    '"title": "StatementGeneratorOutput"': "StatementGeneratorOutput",
    '"title": "NLIStatementOutput"': "NLIStatementOutput",
    "Split the following statement": "sentences",
    "Consider the following list of statements": "important statements",
    "INFORMATION OVERLAP classifier": "score of one statement",
    "Convert the following text into a strict JSON object": "score once more",
    "Given a question and answer, create one or more statements": "plain statements",
    "Prompt: Natural language inference": "plain verdicts",
}
"""What the questions say that name no form in the request: those of Ragas, TruLens and promptfoo."""


class JudgeServer(ThreadingHTTPServer):
    """The server, with the number of calls it got and the questions it did not know."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        """Take a free port on loopback."""
        self.calls = 0
        self.unknown: list[str] = []
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def address(self) -> str:
        """Where a client of OpenAI's API finds it."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, *_: object) -> None:
        """Say nothing of connections that end in the middle: a run that is killed leaves some."""
        if not isinstance(sys.exception(), (ConnectionError, json.JSONDecodeError)):
            traceback.print_exc()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: JudgeServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        is_chat = self.path.endswith("/chat/completions")
        asked, form = _asked(body), _form(body)
        named = _NAMED.findall(asked)
        trouble = kind_of(int(named[-1])) if named else "greeting"
        with self.server.lock:
            self.server.calls += 1
            if form not in _REPLIES:
                self.server.unknown.append(json.dumps(body))
        if form not in _REPLIES:
            return self._send(400, {"error": {"message": "this judge was never asked that", "type": "invalid"}})
        if trouble == "server_error" and form not in _PREPARING:
            return self._send(500, {"error": {"message": "the model is overloaded", "type": "server_error"}})
        is_refused = trouble == "unparsable" and form not in _PREPARING
        said = "I would rather not say." if is_refused else _REPLIES[form](asked, trouble == "cut_short")
        return self._send(200, (_completion if is_chat else _response)(body["model"], said))

    def _send(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def _messages(body: dict[str, Any]) -> list[dict[str, Any]]:
    return list(body.get("messages") or body["input"])


def _asked(body: dict[str, Any]) -> str:
    """What the user says first: what comes later is a repair, which does not repeat the question."""
    content = next(message["content"] for message in _messages(body) if message["role"] == "user")
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content)


def _form(body: dict[str, Any]) -> str:
    """The name of the form that a tool asks for, whether it says so in the request or in words."""
    schema = (body.get("response_format") or {}).get("json_schema") or {}
    said = str(_messages(body)[0]["content"])
    return str(schema.get("name") or next((form for words, form in _IN_WORDS.items() if words in said), ""))


def _is_true(claim: str) -> bool:
    height = re.search(r"Tower (\d{3}) is (\d+) m", claim)
    return height is None or int(height[2]) == 100 + int(height[1])


def _for_hallumeter(asked: str, is_cut: bool) -> str:
    question, verdicts = json.loads(asked), {}
    first = question["evidence"][0]
    for claim in question["claims"][: 1 if is_cut else None]:
        is_true = _is_true(claim["text"])
        verdicts[str(claim["number"])] = {
            "evidence_id": first["id"],
            "quote": claim["text"] if is_true else first["text"].partition(". ")[0] + ".",
            "label": "SUPPORTED" if is_true else "REFUTED",
            "note": "",
        }
    return json.dumps(verdicts)


def _truths(asked: str, _is_cut: bool) -> str:
    return json.dumps({"truths": _SENTENCE.findall(asked)})


def _claims(asked: str, _is_cut: bool) -> str:
    return json.dumps({"claims": _SENTENCE.findall(asked)})


def _verdicts(asked: str, is_cut: bool) -> str:
    claims = _SENTENCE.findall(asked.rpartition("Claims:")[2])
    said = [{"verdict": "yes" if _is_true(claim) else "no", "reason": "so it is"} for claim in claims]
    return json.dumps({"verdicts": said[: 1 if is_cut else None]})


def _statements(asked: str, _is_cut: bool) -> str:
    return json.dumps({"statements": _SENTENCE.findall(asked.rpartition('"answer"')[2])})


def _judged_statements(asked: str, is_cut: bool) -> str:
    claims = _SENTENCE.findall(asked.rpartition('"statements"')[2])
    said = [{"statement": claim, "reason": "so it is", "verdict": int(_is_true(claim))} for claim in claims]
    return json.dumps({"statements": said[: 1 if is_cut else None]})


def _sentences(asked: str, _is_cut: bool) -> str:
    return "\n".join(_SENTENCE.findall(asked)) or asked


def _important(asked: str, _is_cut: bool) -> str:
    return repr(_SENTENCE.findall(asked))


def _score(asked: str, is_cut: bool) -> str:
    claim = _SENTENCE.findall(asked)[-1]
    if is_cut and "Paris" in claim:
        return ""
    return json.dumps({"criteria": claim, "supporting_evidence": "so it is", "score": 3 if _is_true(claim) else 0})


def _no_score(asked: str, _is_cut: bool) -> str:
    return asked


def _plain_statements(asked: str, _is_cut: bool) -> str:
    return "\n".join(_SENTENCE.findall(asked.rpartition("answer:")[2]))


def _plain_verdicts(asked: str, is_cut: bool) -> str:
    claims = _SENTENCE.findall(asked.rpartition("statements:")[2])[: 1 if is_cut else None]
    said = " ".join("Yes." if _is_true(claim) else "No." for claim in claims)
    return f"Final verdict for each statement in order: {said}"


_REPLIES = {
    "verdicts": _for_hallumeter,
    "Truths": _truths,
    "Claims": _claims,
    "Verdicts": _verdicts,
    "StatementGeneratorOutput": _statements,
    "NLIStatementOutput": _judged_statements,
    "sentences": _sentences,
    "important statements": _important,
    "score of one statement": _score,
    "score once more": _no_score,
    "plain statements": _plain_statements,
    "plain verdicts": _plain_verdicts,
}
_PREPARING = {
    "Truths",
    "Claims",
    "StatementGeneratorOutput",
    "sentences",
    "important statements",
    "plain statements",
}
"""Forms that only divide a text; the judge never fails on them, so that all tools come to ask for verdicts."""


def _completion(model: str, content: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def _response(model: str, text: str) -> dict[str, Any]:
    """The same by the newer of OpenAI's two ways, which TruLens takes."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "model": model,
        "status": "completed",
        "output": [message],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }
