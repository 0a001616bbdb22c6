"""Traces of OpenTelemetry become rows: an answer of a model with the documents that were retrieved before it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import hallumeter
from hallumeter.claims.settings import AuditSettings
from hallumeter.cli.main import main
from hallumeter.errors import InputError, MissingExtraError
from hallumeter.formats.files import is_trace_file, read_rows
from hallumeter.formats.records import rows_of
from hallumeter.formats.traces import WITHOUT_DOCUMENTS

QUESTION = "How high is the tower?"
EVIDENCE = ["The Eiffel Tower is 330 m high.", "It stands in Paris."]
BAD = "The tower is 999 m high. It stands in Paris."


def attribute(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": typed(value)}


def typed(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(each) for each in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [attribute(key, each) for key, each in value.items()]}}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def span(number: int, attributes: dict[str, Any], *, trace: int = 1, parent: int | None = None) -> dict[str, Any]:
    return {
        "traceId": f"{trace:032x}",
        "spanId": f"{number:016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "startTimeUnixNano": str(1_000 + number),
        "attributes": [attribute(key, value) for key, value in attributes.items()],
    }


def document(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def openinference(trace: int = 1) -> list[dict[str, Any]]:
    """A chain that rewrites the question with a model, retrieves, and answers with another."""
    found = {f"retrieval.documents.{n}.document.content": text for n, text in enumerate(EVIDENCE)}
    rewrite = {
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "tower height",
    }
    answer = {
        "llm.model_name": "small",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Context: ... How high?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": BAD,
    }
    return [
        span(1, {"openinference.span.kind": "CHAIN", "input.value": QUESTION, "session.id": "s1"}, trace=trace),
        span(2, {"openinference.span.kind": "LLM", **rewrite}, trace=trace, parent=1),
        span(3, {"openinference.span.kind": "RETRIEVER", **found}, trace=trace, parent=1),
        span(4, {"openinference.span.kind": "LLM", **answer}, trace=trace, parent=1),
    ]


def genai() -> list[dict[str, Any]]:
    """The conventions of OpenTelemetry, with messages as JSON and documents as a list of objects."""
    asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": QUESTION}]}])
    said = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": BAD}], "finish_reason": "stop"}])
    documents = [{"id": f"page-{number}", "content": text} for number, text in enumerate(EVIDENCE, 1)]
    answer = {"gen_ai.input.messages": asked, "gen_ai.output.messages": said, "gen_ai.response.model": "large"}
    return [
        span(5, {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": documents}, trace=2),
        span(6, {"gen_ai.operation.name": "chat", "gen_ai.response.id": "resp-1", **answer}, trace=2),
    ]


def rows_in(path: Path) -> list[dict[str, Any]]:
    return [dict(row) for batch in read_rows(path, fields=None) for _, row in rows_of(batch)]


def written(path: Path, *documents: dict[str, Any]) -> Path:
    path.write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    return path


def test_openinference_spans_become_a_row_with_the_question_of_the_root(tmp_path: Path) -> None:
    (row,) = rows_in(written(tmp_path / "traces.json", document(*openinference())))
    assert (row["question"], row["response"], row["model"]) == (QUESTION, BAD, "small")
    assert row["evidence"] == EVIDENCE
    assert (row["record_id"], row["conversation_id"]) == (f"{1:032x}:{4:016x}", "s1")


def test_an_answer_before_any_document_is_left_out_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "traces.json", document(*openinference()))
    (batch,) = read_rows(path)
    assert batch.notices == {WITHOUT_DOCUMENTS: 1}


def test_spans_of_the_genai_conventions_become_a_row(tmp_path: Path) -> None:
    (row,) = rows_in(written(tmp_path / "traces.json", document(*genai())))
    assert (row["question"], row["response"], row["model"]) == (QUESTION, BAD, "large")
    assert row["response_id"] == "resp-1"
    assert [each["evidence_id"] for each in row["evidence"]] == ["page-1", "page-2"]


def test_lines_of_a_collector_are_read_and_compressed_ones_as_well(tmp_path: Path) -> None:
    path = written(tmp_path / "traces.jsonl", document(*openinference()), document(*genai()))
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert len(rows_in(path)) == 2
    assert rows_in(packed) == rows_in(path)


def test_the_root_has_the_answer_where_no_span_of_a_model_is_there(tmp_path: Path) -> None:
    found = {"openinference.span.kind": "RETRIEVER", "retrieval.documents": [{"document.content": EVIDENCE[0]}]}
    root = {"openinference.span.kind": "CHAIN", "input.value": json.dumps({"question": QUESTION}), "output.value": BAD}
    (row,) = rows_in(written(tmp_path / "traces.json", document(span(1, root), span(2, found, parent=1))))
    assert (row["question"], row["response"], row["evidence"]) == (QUESTION, BAD, EVIDENCE[:1])


def test_words_in_parts_and_in_events_are_found(tmp_path: Path) -> None:
    parts = {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.contents.0.message_content.text": BAD,
    }
    found = {
        "openinference.span.kind": "RETRIEVER",
        "retrieval.documents": json.dumps([{"document": {"content": "x"}}]),
    }
    event = {"name": "gen_ai.content.completion", "attributes": [attribute("gen_ai.completion", BAD)]}
    older = {**span(3, {"gen_ai.operation.name": "chat"}), "events": [event]}
    path = written(tmp_path / "traces.json", document(span(1, found), span(2, parts), older))
    assert [row["response"] for row in rows_in(path)] == [BAD, BAD]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"resourceSpans": []}, "holds no spans"),
        (document(span(1, {"http.method": "GET"})), "1 spans with no answer"),
        (document(*openinference()[:2]), "2 spans with 1 answers of models, and no documents retrieved before them"),
    ],
)
def test_traces_without_an_answer_are_refused_with_what_was_expected(
    tmp_path: Path, content: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        rows_in(written(tmp_path / "traces.json", content))


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "traces.jsonl", document(*openinference()))
    path.write_text(path.read_text(encoding="utf-8") + '\n{"resourceSpans": [', encoding="utf-8")
    with pytest.raises(InputError, match=r"traces\.jsonl, line 2: not valid JSON"):
        rows_in(path)


def test_other_json_is_not_taken_for_traces(tmp_path: Path) -> None:
    assert not is_trace_file(written(tmp_path / "answers.jsonl", {"response": BAD, "resourceSpans": []}))
    assert not is_trace_file(tmp_path / "answers.csv")
    assert not is_trace_file(tmp_path / "absent.json")


def test_protobuf_needs_its_package_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "traces.pb"
    path.write_bytes(b"\x0a\x00")
    for name in ("opentelemetry", "google.protobuf.json_format"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'hallumeter\[otel\]'"):
        rows_in(path)


def test_traces_are_audited(tmp_path: Path) -> None:
    path = written(tmp_path / "traces.json", document(*openinference(), *genai()))
    run = hallumeter.audit(path, settings=AuditSettings(judges=("rules",)), out=tmp_path / "run")
    assert (run.summary["mihr"].count, run.summary["mihr"].total) == (2, 4)


NAMED_OTHERWISE: dict[str, Callable[[object], str]] = {
    "spans.txt": json.dumps,
    "export.json": lambda traces: json.dumps([traces]),
    "collected.jsonl": lambda traces: json.dumps({"resourceLogs": []}) + "\n" + json.dumps(traces),
    "padded.json": lambda traces: json.dumps({"comment": "of a tool of our own"})[:-1] + ", " + json.dumps(traces)[1:],
}


@pytest.mark.parametrize("name", NAMED_OTHERWISE)
@pytest.mark.parametrize("is_piped", [False, True], ids=["named", "piped"])
def test_from_reads_traces_that_nothing_else_tells(
    name: str, is_piped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    content = NAMED_OTHERWISE[name](document(*openinference()))
    Path(name).write_text(content, encoding="utf-8")
    words = ["audit", "-" if is_piped else name, "--judge", "rules", "--workers", "1", "--out", "run"]
    runner, given = CliRunner(), content if is_piped else None
    is_recognised = is_piped and name == "spans.txt"  # by how it begins
    assert runner.invoke(main, [*words, "--dry-run"], input=given).exit_code == (0 if is_recognised else 2)
    done = runner.invoke(main, [*words, "--from", "otel"], input=given)
    assert done.exit_code == 0, done.output
    assert "1 of 2" in done.output
    assert json.loads(Path("run/manifest.json").read_text(encoding="utf-8"))["settings"]["source_format"] == "otel"


def test_the_command_takes_traces_and_refuses_what_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "traces.json", document(*openinference()))
    written(tmp_path / "answers.jsonl", {"response": BAD, "evidence": EVIDENCE})
    arguments = ["audit", "traces.json", "--from", "otel", "--judge", "rules", "--workers", "1"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert "1 of 2" in done.output
    refused = CliRunner().invoke(main, ["audit", "answers.jsonl", "--from", "otel"])
    assert refused.exit_code == 2
    assert "answers.jsonl: holds no spans; expected OTLP with resourceSpans" in " ".join(refused.output.split())
    assert not Path("answers-audit").exists()
