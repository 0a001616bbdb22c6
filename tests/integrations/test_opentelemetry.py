"""Traces written by the SDK of OpenTelemetry are audited, and what was found goes back as events."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from answer_cases import EVIDENCE, QUESTION
from test_services import Service, service

import hallumeter
from hallumeter.claims.settings import AuditSettings
from hallumeter.errors import InputError, SettingsError

__all__ = ["service"]
BAD, REFUSED = "The tower is 999 m high. It stands in Paris.", "I cannot answer that question."


def traced(path: Path) -> Path:
    """What an application with instrumentation sends, in protobuf."""
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    memory = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("application")
    for number, answer in enumerate((BAD, REFUSED)):
        with tracer.start_as_current_span("answer") as root:
            root.set_attributes({"openinference.span.kind": "CHAIN", "input.value": QUESTION})
            with tracer.start_as_current_span("retrieve") as found:
                found.set_attribute("openinference.span.kind", "RETRIEVER")
                for place, text in enumerate(EVIDENCE):
                    found.set_attribute(f"retrieval.documents.{place}.document.content", text)
            said = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": answer}]}])
            with tracer.start_as_current_span("chat") as chat:
                chat.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.output.messages": said})
                chat.set_attribute("gen_ai.response.id", f"resp-{number}")
    path.write_bytes(encode_spans(memory.get_finished_spans()).SerializeToString())
    return path


@pytest.fixture
def run(tmp_path: Path) -> hallumeter.Run:
    path = traced(tmp_path / "traces.pb")
    return hallumeter.audit(path, settings=AuditSettings(judges=("rules",)), out=tmp_path / "run")


def test_traces_in_protobuf_are_audited(run: hallumeter.Run) -> None:
    assert (run.summary["mihr"].count, run.summary["mihr"].total) == (1, 2)
    assert {row["question"] for row in run.scores()} == {QUESTION}


def test_events_are_written_to_a_file_and_belong_to_their_spans(run: hallumeter.Run, tmp_path: Path) -> None:
    from hallumeter.integrations.opentelemetry import write_evaluations

    events = tmp_path / "events.jsonl"
    assert write_evaluations(run, file=events) == 2
    lines = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    records = [line["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0] for line in lines]
    found = {}
    for record in records:
        assert record["eventName"] == "gen_ai.evaluation.result"
        values = {each["key"]: next(iter(each["value"].values())) for each in record["attributes"]}
        found[values["gen_ai.response.id"]] = values
        assert values["hallumeter.record_id"] == f"{record['traceId']}:{record['spanId']}"
    assert found["resp-0"]["gen_ai.evaluation.score.value"] == 0.5
    assert found["resp-0"]["gen_ai.evaluation.score.label"] == "unsupported"
    assert "999 m" in found["resp-0"]["gen_ai.evaluation.explanation"]
    assert found["resp-1"]["gen_ai.evaluation.score.label"] == "unmeasured"
    assert "gen_ai.evaluation.score.value" not in found["resp-1"]
    with pytest.raises(InputError, match="cannot be written"):
        write_evaluations(run, file=events)


def test_an_event_stands_alone_where_the_ids_of_a_record_are_not_those_of_a_span(tmp_path: Path) -> None:
    from hallumeter.integrations.opentelemetry import write_evaluations

    row = {"response": BAD, "evidence": list(EVIDENCE)}
    ids = [("d" * 48, "e" * 40), ("run 7", "a"), ("0", "0"), ("-1", "1")]
    rows = [{**row, "record_id": str(n), "trace_id": trace, "span_id": span} for n, (trace, span) in enumerate(ids)]
    audited = hallumeter.audit(rows, settings=AuditSettings(judges=("rules",)), out=tmp_path / "odd")
    assert write_evaluations(audited, file=tmp_path / "odd.jsonl") == 4
    assert '"traceId"' not in (tmp_path / "odd.jsonl").read_text(encoding="utf-8")


def test_events_are_sent_to_the_endpoint_that_is_named(run: hallumeter.Run, service: Service) -> None:
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    from hallumeter.integrations.opentelemetry import write_evaluations

    assert write_evaluations(run.path, endpoint=f"{service.url}/v1/logs") == 2
    requests = [ExportLogsServiceRequest.FromString(body) for body in service.sent("/v1/logs")]
    [request] = requests
    records = [record for scope in request.resource_logs[0].scope_logs for record in scope.log_records]
    assert [record.event_name for record in records] == ["gen_ai.evaluation.result"] * 2


def test_nothing_is_sent_where_no_endpoint_is_named(run: hallumeter.Run) -> None:
    from hallumeter.integrations.opentelemetry import write_evaluations

    with pytest.raises(SettingsError, match="name a file or an endpoint"):
        write_evaluations(run)


def test_events_that_are_not_taken_are_an_error(run: hallumeter.Run, service: Service) -> None:
    from hallumeter.integrations.opentelemetry import write_evaluations

    service.status = 400
    with pytest.raises(InputError, match="took 0 of the events, then no more; is a collector there"):
        write_evaluations(run, endpoint=f"{service.url}/v1/logs")


def test_events_go_in_batches_and_the_first_that_fails_is_the_last(
    run: hallumeter.Run, service: Service, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from hallumeter.integrations import opentelemetry

    monkeypatch.setattr(opentelemetry, "EVENTS_AT_A_TIME", 1)
    assert opentelemetry.write_evaluations(run, endpoint=f"{service.url}/v1/logs") == 2
    assert len(service.sent("/v1/logs")) == 2
    service.status = 400
    with pytest.raises(InputError, match="took 0 of the events"):
        opentelemetry.write_evaluations(run, endpoint=f"{service.url}/v1/logs")
    assert len(service.sent("/v1/logs")) == 3
    assert capfd.readouterr().err == ""
