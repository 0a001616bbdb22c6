"""Traces made by the OpenTelemetry SDK, written as the collector and the exporters write them, and read as answers."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict, MessageToJson
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from hallumeter import audit, read
from hallumeter.errors import InputError
from hallumeter.records.response import Response
from hallumeter.run.run_folder import RunFolder

EVIDENCE = "The tower is 330 m high."


def traced(work: Callable[[Any], None]) -> TracesData:
    """What an exporter sends for the spans of some work."""
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    work(provider.get_tracer("tests"))
    found: TracesData = TracesData.FromString(encode_spans(kept.get_finished_spans()).SerializeToString())
    return found


def openinference(tracer: Any) -> None:
    """A chain of OpenInference: the question is rewritten, documents are retrieved, then the answer is written."""
    with tracer.start_as_current_span("chain", attributes={"openinference.span.kind": "CHAIN"}):
        with tracer.start_as_current_span("rewrite") as span:
            span.set_attribute("openinference.span.kind", "LLM")
            span.set_attribute("output.value", "height of the tower")
        with tracer.start_as_current_span("retrieve") as span:
            span.set_attribute("openinference.span.kind", "RETRIEVER")
            span.set_attribute("retrieval.documents.0.document.content", EVIDENCE)
            span.set_attribute("retrieval.documents.0.document.id", "doc-7")
            span.set_attribute("retrieval.documents.1.document.content", "It stands in Paris.")
        with tracer.start_as_current_span("answer") as span:
            span.set_attribute("openinference.span.kind", "LLM")
            span.set_attribute("llm.model_name", "m1")
            span.set_attribute("session.id", "s1")
            span.set_attribute("llm.input_messages.0.message.role", "system")
            span.set_attribute("llm.input_messages.0.message.content", "Be brief.")
            span.set_attribute("llm.input_messages.1.message.role", "user")
            span.set_attribute("llm.input_messages.1.message.content", "How high is it?")
            span.set_attribute("llm.output_messages.0.message.role", "assistant")
            span.set_attribute("llm.output_messages.0.message.content", "It is 999 m high.")


def gen_ai(tracer: Any) -> None:
    """The conventions of OpenTelemetry: messages as JSON in attributes, a call of a tool first."""
    said = [{"role": "user", "parts": [{"type": "text", "content": "How high is it?"}]}]
    tool = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": None, "content": EVIDENCE}]}
    with tracer.start_as_current_span("chat m2") as span:
        span.set_attribute("gen_ai.operation.name", "chat")
        span.set_attribute("gen_ai.input.messages", json.dumps(said))
        call = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "search"}]}]
        span.set_attribute("gen_ai.output.messages", json.dumps(call))
    with tracer.start_as_current_span("chat m2") as span:
        span.set_attribute("gen_ai.operation.name", "chat")
        span.set_attribute("gen_ai.response.model", "m2-2026")
        span.set_attribute("gen_ai.response.id", "resp-1")
        span.set_attribute("gen_ai.input.messages", json.dumps([*said, tool]))
        answer = [{"role": "assistant", "parts": [{"type": "text", "content": "It is 330 m high."}]}]
        span.set_attribute("gen_ai.output.messages", json.dumps(answer))


def otlp_json(traces: TracesData) -> str:
    """OTLP's own JSON: ids in hexadecimal digits."""
    document = MessageToDict(traces)
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for name in ("traceId", "spanId", "parentSpanId"):
                    if name in span:
                        span[name] = base64.b64decode(span[name]).hex()
    return json.dumps(document)


def records(path: Path) -> list[Response]:
    return list(read(path))


def written(folder: Path, form: str, traces: TracesData) -> Path:
    path = (
        folder
        / {"json": "t.json", "lines": "t.jsonl", "base64": "b.json", "protobuf": "t.binpb", "gzip": "t.pb.gz"}[form]
    )
    if form == "protobuf":
        path.write_bytes(traces.SerializeToString())
    elif form == "gzip":
        path.write_bytes(gzip.compress(traces.SerializeToString()))
    elif form == "base64":
        path.write_text(MessageToJson(traces), encoding="utf-8")
    elif form == "lines":
        path.write_text(f"{otlp_json(traces)}\n{json.dumps({'resourceSpans': []})}\n", encoding="utf-8")
    else:
        path.write_text(otlp_json(traces), encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["json", "lines", "base64", "protobuf", "gzip"])
def test_the_answer_of_a_chain_has_the_documents_that_were_retrieved_before_it(tmp_path: Path, form: str) -> None:
    [found] = records(written(tmp_path, form, traced(openinference)))
    assert (found.question, found.response, found.model) == ("How high is it?", "It is 999 m high.", "m1")
    assert (found.evidence[0].evidence_id, found.evidence[0].text) == ("doc-7", EVIDENCE)
    assert len(found.evidence) == 2
    assert found.fields["session_id"] == "s1"
    assert found.record_id == found.fields["span_id"]
    assert len(str(found.fields["trace_id"])) == 32


def test_messages_of_the_other_convention_are_read_and_calls_of_tools_are_no_answers(tmp_path: Path) -> None:
    [found] = records(written(tmp_path, "json", traced(gen_ai)))
    assert (found.question, found.response, found.model) == ("How high is it?", "It is 330 m high.", "m2-2026")
    assert [item.text for item in found.evidence] == [EVIDENCE]
    assert found.fields["response_id"] == "resp-1"


def test_messages_in_an_event_are_read(tmp_path: Path) -> None:
    def work(tracer: Any) -> None:
        with tracer.start_as_current_span("chat") as span:
            span.set_attribute("gen_ai.operation.name", "chat")
            answer = [{"role": "assistant", "parts": [{"type": "text", "content": "It is tall."}]}]
            span.add_event("gen_ai.client.inference.operation.details", {"gen_ai.output.messages": json.dumps(answer)})

    [found] = records(written(tmp_path, "json", traced(work)))
    assert found.response == "It is tall."
    assert found.evidence == ()


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    def work(tracer: Any) -> None:
        openinference(tracer)
        gen_ai(tracer)

    run = audit(written(tmp_path, "json", traced(work)), judge="rules")
    assert run.summary.counts.records == 2
    notices = " ".join(run.summary.notices)
    assert "come before the documents of their trace" in notices
    assert "have no text of an answer" in notices
    labels = {verdict.label.value for verdict in RunFolder(run.path).verdicts()}
    assert labels & {"REFUTED", "NOT_ENOUGH_INFO"}
    assert "SUPPORTED" in labels


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.json", b'{"resourceSpans": []}', "0 spans and no answer of a language model"),
        ("t.jsonl", b'{"resourceSpans": []}\n{"resour', "is the file whole"),
        ("t.pb", b"\xff\xfe\xff", "not OTLP traces"),
        ("t.json", b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "x"}, 3]}]}]}', "0 spans"),
    ],
)
def test_a_file_without_answers_is_refused_in_one_line(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said):
        records(tmp_path / name)
