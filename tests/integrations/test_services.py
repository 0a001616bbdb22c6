"""Adapters that talk to a service: the SDKs of the tools send everything to a server on loopback, nothing elsewhere."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
from answer_cases import EVIDENCE, QUESTION

BAD, REFUSED = "The tower is 999 m high. It stands in Paris.", "I cannot answer that question."
DOCUMENTS = [{"document.content": text} for text in EVIDENCE]


class Service(ThreadingHTTPServer):
    """Answers as it is told, and keeps what it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.answers: dict[tuple[str, str], Any] = {}
        """What is answered by command and path; of a list, one after the other."""
        self.received: list[tuple[str, str, Any]] = []
        self.queries: list[dict[str, list[str]]] = []
        self.status = 200

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def sent(self, path: str) -> list[Any]:
        return [body for _, asked, body in self.received if asked.endswith(path)]


class _Requests(BaseHTTPRequestHandler):
    server: Service

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        path = urlsplit(self.path).path
        is_json = "json" in self.headers.get("Content-Type", "")
        self.server.received.append((self.command, path, json.loads(body) if is_json and body else body))
        self.server.queries.append(parse_qs(urlsplit(self.path).query))
        given = self.server.answers.get((self.command, path), {})
        answer = json.dumps(given.pop(0) if isinstance(given, list) else given).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = _answer  # noqa: N815  # the names of http.server

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> set[object]:
    """The addresses that this process connects to; SDKs swallow what the guard of all tests raises."""
    addresses: set[object] = set()
    connect = socket.socket.connect

    def noted(self: socket.socket, address: Any) -> None:
        addresses.add(address[0] if isinstance(address, tuple) else address)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", noted)
    return addresses


def spans_of(trace: str, answer: str, *, flat: bool) -> list[dict[str, Any]]:
    documents: dict[str, Any] = {"retrieval.documents": DOCUMENTS}
    if flat:
        documents = {
            f"retrieval.documents.{n}.{key}": text for n, each in enumerate(DOCUMENTS) for key, text in each.items()
        }
    root, found = f"root-{trace}", f"found-{trace}"
    return [
        {
            "name": "answer",
            "span_kind": "CHAIN",
            "context": {"trace_id": trace, "span_id": root},
            "attributes": {"input.value": QUESTION, "output.value": answer},
        },
        {
            "name": "retrieve",
            "span_kind": "RETRIEVER",
            "parent_id": root,
            "context": {"trace_id": trace, "span_id": found},
            "attributes": documents,
        },
    ]


def test_phoenix_spans_are_annotated(service: Service, connected: set[object]) -> None:
    from phoenix.client import Client

    from hallumeter.integrations.phoenix import annotate_spans

    spans = [*spans_of("a", BAD, flat=False), *spans_of("b", REFUSED, flat=True), *spans_of("c", BAD, flat=True)]
    service.answers["GET", "/v1/projects/answers/spans"] = {"data": spans, "next_cursor": None}
    service.answers["POST", "/v1/span_annotations"] = {"data": [{"id": "1"}, {"id": "2"}, {"id": "3"}]}
    client = Client(base_url=service.url)
    stored = client.spans.get_spans(project_identifier="answers")
    assert annotate_spans(client, stored, judge="rules") == 3
    (body,) = service.sent("/v1/span_annotations")
    found = {each["span_id"]: each["result"] for each in body["data"]}
    assert (found["root-a"]["score"], found["root-a"]["label"]) == (0.5, "unsupported")
    assert found["root-c"]["score"] == 0.5
    assert found["root-b"]["label"] == "unmeasured"
    assert found["root-b"].get("score") is None
    assert annotate_spans(client, [], judge="rules") == 0
    assert connected == {"127.0.0.1"}


@pytest.fixture
def langfuse(service: Service) -> Iterator[Any]:
    from langfuse import Langfuse

    client = Langfuse(public_key=f"pk-{uuid4()}", secret_key="sk", base_url=service.url)
    yield client
    client.shutdown()


def scores_in(service: Service) -> list[dict[str, Any]]:
    return [score for batch in service.sent("/api/public/scores") for score in batch]


def test_langfuse_scores_an_experiment(service: Service, connected: set[object], langfuse: Any) -> None:
    from hallumeter.integrations.langfuse import unsupported_claims

    given = {"question": QUESTION, "context": list(EVIDENCE)}
    data = [{"input": {**given, "say": text}} for text in (BAD, REFUSED)]
    result = langfuse.run_experiment(
        name="answers",
        data=data,
        task=lambda *, item, **_: item["input"]["say"],
        evaluators=[unsupported_claims(judge="rules")],
    )
    langfuse.flush()
    values = {each.evaluations[0].name: each.evaluations[0].value for each in result.item_results}
    assert values == {"unsupported_rate": 0.5, "unsupported_rate_problem": "refused"}
    sent = {each["name"]: each for each in scores_in(service)}
    assert sent["unsupported_rate"]["value"] == 0.5
    assert (sent["unsupported_rate_problem"]["value"], sent["unsupported_rate_problem"]["dataType"]) == (
        "refused",
        "CATEGORICAL",
    )
    assert connected == {"127.0.0.1"}


def observation(kind: str, **fields: Any) -> dict[str, Any]:
    return {"id": uuid4().hex, "projectId": "p", "type": kind, "startTime": "2026-01-01T00:00:00Z", **fields}


def test_langfuse_scores_stored_traces(service: Service, connected: set[object], langfuse: Any) -> None:
    from hallumeter.integrations.langfuse import score_traces

    root = observation("SPAN", traceId="t1", input=json.dumps({"question": QUESTION}), output=json.dumps(BAD))
    found = observation("RETRIEVER", traceId="t1", parentObservationId=root["id"], output=json.dumps(list(EVIDENCE)))
    service.answers["GET", "/api/public/v2/observations"] = {"data": [found, root], "meta": {}}
    assert score_traces(langfuse, ["t1"], judge="rules") == 1
    (score,) = scores_in(service)
    assert (score["id"], score["traceId"], score["name"], score["value"]) == (
        "t1-unsupported_rate",
        "t1",
        "unsupported_rate",
        0.5,
    )
    assert "999 m" in score["comment"]
    plain = observation("SPAN", traceId="t2", input=QUESTION, output=REFUSED)
    service.answers["GET", "/api/public/v2/observations"] = {"data": [plain], "meta": {}}
    assert score_traces(langfuse, ["t2"], judge="rules") == 1
    assert scores_in(service)[-1]["value"] == "refused"
    service.answers["GET", "/api/public/v2/observations"] = {"data": [], "meta": {}}
    assert score_traces(langfuse, ["t3"], judge="rules") == 0
    assert connected == {"127.0.0.1"}


def test_langfuse_gives_all_pages_of_a_trace_and_evidence_in_metadata_whole(service: Service, langfuse: Any) -> None:
    from hallumeter.integrations.langfuse import score_traces

    root = observation("SPAN", traceId="t1", input=QUESTION, output=BAD)
    found = observation("RETRIEVER", traceId="t1", parentObservationId=root["id"], output=json.dumps(list(EVIDENCE)))
    service.answers["GET", "/api/public/v2/observations"] = [
        {"data": [found], "meta": {"cursor": "next"}},
        {"data": [root], "meta": {}},
    ]
    assert score_traces(langfuse, ["t1"], judge="rules") == 1
    asked = [query for query in service.queries if "traceId" in query]
    assert [query.get("cursor") for query in asked] == [None, ["next"]]
    assert all({"context", "question"} <= set(query["expandMetadata"][0].split(",")) for query in asked)
    assert scores_in(service)[-1]["value"] == 0.5


@pytest.fixture
def langsmith(service: Service, monkeypatch: pytest.MonkeyPatch) -> Any:
    from langsmith import Client

    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    return Client(api_url=service.url, api_key="none", auto_batch_tracing=False, info={})


def test_langsmith_evaluates_examples(service: Service, connected: set[object], langsmith: Any) -> None:
    from langsmith import evaluate
    from langsmith.schemas import Example

    from hallumeter.integrations.langsmith import unsupported_claims

    examples = [
        Example(
            id=uuid4(),
            dataset_id=uuid4(),
            created_at=datetime.now(UTC),
            inputs={"question": QUESTION, "say": text},
            outputs={"context": list(EVIDENCE)},
        )
        for text in (BAD, REFUSED)
    ]
    results = evaluate(
        lambda inputs: {"answer": inputs["say"]},
        data=examples,
        evaluators=[unsupported_claims(judge="rules")],
        client=langsmith,
        upload_results=False,
    )
    found = {row["run"].outputs["answer"]: row["evaluation_results"]["results"][0] for row in results}
    assert (found[BAD].score, found[BAD].value) == (0.5, None)
    assert (found[REFUSED].score, found[REFUSED].value) == (None, "refused")
    assert connected <= {"127.0.0.1"}


def test_langsmith_gives_feedback_on_stored_runs(service: Service, connected: set[object], langsmith: Any) -> None:
    from langsmith.schemas import Run

    from hallumeter.integrations.langsmith import give_feedback

    def run(kind: str, outputs: dict[str, Any], children: list[Run] | None = None) -> Run:
        return Run(
            id=uuid4(),
            trace_id=uuid4(),
            session_id=uuid4(),
            name=kind,
            run_type=kind,
            start_time=datetime.now(UTC),
            inputs={"question": QUESTION},
            outputs=outputs,
            child_runs=children,
            dotted_order="",
        )

    documents = [{"page_content": text} for text in EVIDENCE]
    retriever = run("chain", {}, [run("retriever", {"documents": documents})])
    stored = [run("chain", {"output": BAD}, [retriever]), run("chain", {"output": REFUSED})]
    assert give_feedback(langsmith, stored, judge="rules") == 2
    first, second = service.sent("/feedback")
    assert (first["key"], first["score"], first["run_id"]) == ("unsupported_rate", 0.5, str(stored[0].id))
    assert first["session_id"] == str(stored[0].session_id)
    assert (second.get("score"), second["value"]) == (None, "refused")
    assert connected == {"127.0.0.1"}


def test_weave_evaluates_a_dataset_without_a_service(connected: set[object]) -> None:
    import weave

    from hallumeter.integrations.weave import UnsupportedClaims

    @weave.op
    def answer(say: str) -> str:
        return say

    rows = [{"question": QUESTION, "context": list(EVIDENCE), "say": text} for text in (BAD, REFUSED)]
    evaluation = weave.Evaluation(dataset=rows, scorers=[UnsupportedClaims(judge="rules")])
    found = asyncio.run(evaluation.evaluate(answer))["UnsupportedClaims"]
    assert (found["unsupported_rate"], found["measured"], found["unmeasured"]) == (0.5, 1, 1)
    assert connected == set()
