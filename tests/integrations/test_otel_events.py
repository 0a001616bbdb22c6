"""Events of a run: in a file, and at a collector on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from hallumeter import Run, audit
from hallumeter.errors import InputError
from hallumeter.integrations.otel import EVENT, NAME, export_events

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
ROWS = [
    {
        "id": "bad",
        "response": "The tower is 999 m high. It is a tower.",
        "evidence": "The tower is 330 m high.",
        "trace_id": TRACE,
        "span_id": SPAN,
        "response_id": "resp-1",
    },
    {"id": "good", "response": "The tower is 330 m high.", "evidence": "The tower is 330 m high."},
    {"id": "empty", "response": "", "evidence": "The tower is 330 m high."},
]


@pytest.fixture(scope="module")
def run() -> Run:
    return audit(ROWS, judge="rules")


class Collector(HTTPServer):
    """Keeps what it is sent."""

    status = 200

    def __init__(self) -> None:
        self.taken: list[ExportLogsServiceRequest] = []
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        assert isinstance(self.server, Collector)
        if self.headers.get("Content-Encoding") == "gzip":
            import gzip

            content = gzip.decompress(content)
        self.server.taken.append(ExportLogsServiceRequest.FromString(content))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_file_holds_an_event_for_each_answer_and_a_score_only_where_something_was_measured(
    run: Run, tmp_path: Path
) -> None:
    assert export_events(run, file=tmp_path / "events.jsonl") == 3
    events = {}
    for line in (tmp_path / "events.jsonl").read_text(encoding="utf-8").splitlines():
        [record] = json.loads(line)["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
        assert record["eventName"] == EVENT
        values = {pair["key"]: next(iter(pair["value"].values())) for pair in record["attributes"]}
        events[values["hallumeter.record_id"]] = values | {"trace": "traceId" in record}
    assert events["good"]["gen_ai.evaluation.score.value"] == 0
    assert events["good"]["gen_ai.evaluation.score.label"] == "supported"
    assert 0 < events["bad"]["gen_ai.evaluation.score.value"] <= 1
    assert events["bad"]["gen_ai.response.id"] == "resp-1"
    assert "999 m" in events["bad"]["gen_ai.evaluation.explanation"]
    assert "gen_ai.evaluation.score.value" not in events["empty"]
    assert events["empty"]["gen_ai.evaluation.score.label"] == "unmeasured"
    assert all(values["gen_ai.evaluation.name"] == NAME for values in events.values())


def test_a_collector_gets_the_events_beside_their_spans(run: Run, collector: Collector) -> None:
    assert export_events(run, endpoint=f"http://127.0.0.1:{collector.server_port}/v1/logs") == 3
    records = [
        record
        for request in collector.taken
        for resource in request.resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    ]
    assert len(records) == 3
    assert (records[0].trace_id.hex(), records[0].span_id.hex()) == (TRACE, SPAN)


def test_events_that_a_collector_does_not_take_are_counted(run: Run, collector: Collector) -> None:
    collector.status = 400
    with pytest.raises(InputError, match="3 of 3 were not taken"):
        export_events(run, endpoint=f"http://127.0.0.1:{collector.server_port}/v1/logs")


def test_a_place_must_be_named_and_nothing_is_written_over(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give a file, or the address"):
        export_events(run)
    (tmp_path / "there").write_text("", encoding="utf-8")
    with pytest.raises(FileExistsError):
        export_events(run, file=tmp_path / "there")
