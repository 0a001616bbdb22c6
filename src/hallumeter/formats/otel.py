"""OpenTelemetry traces as rows: answers of language models, with the documents that were retrieved for them.

OTLP as JSON (one document, or a line for each export, as the collector's file exporter writes it) or as protobuf. Spans
are read by the names of OpenInference (``llm.*``, ``retrieval.documents.*``) and of OpenTelemetry (``gen_ai.*``).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import structs

from hallumeter.errors import InputError, MissingExtraError

from .batch import Batch
from .jsonl import batch_of, read_whole
from .shapes import AS_NAMED, RowShape, chat_of

ROWS_AT_A_TIME = 4096
_LANGUAGE_MODEL = {"LLM"}
_OPERATIONS = {"chat", "text_completion", "generate_content"}
_INDEXED = re.compile(r"(.+?)\.(\d+)\.(.+)")
_UNANSWERED = "spans of language models have no text of an answer, such as calls of tools"
_BEFORE = "spans of language models come before the documents of their trace, such as rewritten questions"
_BROKEN = "spans could not be read"


class Span(NamedTuple):
    """A span, its attributes as plain values."""

    trace_id: str
    span_id: str
    start: int
    end: int
    attributes: dict[str, Any]
    events: tuple[dict[str, Any], ...]


def read_traces(path: Path, fields: Collection[str] | None = (), *, shape: RowShape = AS_NAMED) -> Iterator[Batch]:
    """A row for each answer of a language model; rows are numbered in the order in which their spans ended.

    Raises:
        InputError: It holds no traces, or is damaged.
    """
    spans, broken = spans_of(read_whole(path), path.name)
    rows, left_out = answers_in(spans)
    if broken:
        left_out[_BROKEN] = broken
    if not rows:
        raise InputError(
            f"{path.name}: {len(spans):,} spans and no answer of a language model among them; expected spans with "
            "llm.output_messages (OpenInference) or gen_ai.output.messages (OpenTelemetry)"
        )
    for first in range(0, len(rows), ROWS_AT_A_TIME):
        batch = batch_of(rows[first : first + ROWS_AT_A_TIME], first + 1, fields=fields, shape=shape)
        yield structs.replace(batch, notices=batch.notices | left_out) if first == 0 else batch


def spans_of(content: bytes, name: str) -> tuple[list[Span], int]:
    """All spans of a file, and how many could not be read."""
    if content.lstrip()[:1] in (b"{", b"["):
        exports = _json_exports(content, name)
    else:
        exports = [_protobuf_export(content, name)]
    resources = list(_each(exports, "resourceSpans", "resource_spans"))
    scopes = list(_each(resources, "scopeSpans", "scope_spans", "instrumentationLibrarySpans"))
    spans = [_span(given) for given in _each(scopes, "spans")]
    found = [span for span in spans if span is not None]
    return found, len(spans) - len(found)


def _json_exports(content: bytes, name: str) -> list[object]:
    """One document, or one in each line; a line that is cut short at the end is left out by the collector as well."""
    try:
        document = msgspec.json.decode(content)
        return document if isinstance(document, list) else [document]
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return [msgspec.json.decode(line) for line in content.splitlines() if line.strip()]
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"{name}: not valid JSON ({error}); is the file whole?") from error


def _protobuf_export(content: bytes, name: str) -> object:
    try:
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
    except ModuleNotFoundError as error:
        raise MissingExtraError("otel", "reading traces in protobuf") from error
    traces = TracesData()
    try:
        traces.ParseFromString(content)
        return MessageToDict(traces)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{name}: not OTLP traces in protobuf ({error}); is the file whole?") from error


def _each(holders: Sequence[object], *names: str) -> Iterator[Mapping[str, Any]]:
    for holder in holders:
        for name in names:
            found = holder.get(name) if isinstance(holder, dict) else None
            yield from (item for item in found or () if isinstance(item, dict))


def _span(given: Mapping[str, Any]) -> Span | None:
    """A span; None for what is none."""
    try:
        return _read_span(given)
    except (KeyError, TypeError, ValueError):
        return None


def _read_span(given: Mapping[str, Any]) -> Span:
    events = tuple(
        {"name": str(event.get("name", "")), **_attributes(event.get("attributes"))}
        for event in given.get("events") or ()
        if isinstance(event, dict)
    )
    return Span(
        trace_id=_hex(_either(given, "traceId", "trace_id"), 32),
        span_id=_hex(_either(given, "spanId", "span_id"), 16),
        start=int(_either(given, "startTimeUnixNano", "start_time_unix_nano", default=0)),
        end=int(_either(given, "endTimeUnixNano", "end_time_unix_nano", default=0)),
        attributes=_attributes(given.get("attributes")),
        events=events,
    )


def _either(given: Mapping[str, Any], *names: str, default: Any = None) -> Any:
    for name in names:
        if given.get(name) is not None:
            return given[name]
    if default is None:
        raise KeyError(names[0])
    return default


def _hex(text: str, length: int) -> str:
    """An id in hexadecimal digits; protobuf's own JSON has it in base 64."""
    if re.fullmatch(rf"[0-9a-fA-F]{{{length}}}", text):
        return text.lower()
    try:
        return base64.b64decode(text, validate=True).hex()
    except binascii.Error:
        return text


def _attributes(given: object) -> dict[str, Any]:
    """Attributes by name; exporters other than OTLP's write an object, which is taken as it is."""
    if isinstance(given, dict):
        return dict(given)
    pairs = given if isinstance(given, list) else []
    return {str(pair["key"]): _value(pair.get("value")) for pair in pairs if isinstance(pair, dict) and "key" in pair}


def _value(given: object) -> Any:
    if not isinstance(given, dict):
        return given
    for name, value in given.items():
        kind = name.replace("_", "").lower()
        if kind == "arrayvalue":
            return [_value(item) for item in (value or {}).get("values", ())]
        if kind == "kvlistvalue":
            return _attributes((value or {}).get("values", ()))
        if kind == "intvalue":
            return int(value)
        return value
    return None


# Answers among the spans.


def answers_in(spans: Sequence[Span]) -> tuple[list[dict[str, object]], dict[str, int]]:
    """Rows of the answers, and how many spans were left out, by the reason."""
    traces: dict[str, list[Span]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    rows: list[tuple[int, dict[str, object]]] = []
    left_out: dict[str, int] = {}
    for members in traces.values():
        models = sorted((span for span in members if _is_language_model(span)), key=lambda span: (span.end, span.start))
        retrievals = [(span.end, found) for span in members if (found := _documents(span))]
        answered = [(span, answer) for span in models if (answer := _answer(span))]
        _count(left_out, _UNANSWERED, len(models) - len(answered))
        is_any_after = any(_before(retrievals, span) for span, _ in answered)
        for span, answer in answered:
            documents = _before(retrievals, span)
            if not documents and is_any_after:
                _count(left_out, _BEFORE, 1)
            else:
                rows.append((span.end, _row(span, answer, documents)))
    rows.sort(key=lambda pair: pair[0])
    return [row for _, row in rows], left_out


def _count(counts: dict[str, int], reason: str, added: int) -> None:
    if added:
        counts[reason] = counts.get(reason, 0) + added


def _is_language_model(span: Span) -> bool:
    kind = str(span.attributes.get("openinference.span.kind", "")).upper()
    return kind in _LANGUAGE_MODEL or span.attributes.get("gen_ai.operation.name") in _OPERATIONS


def _before(retrievals: Sequence[tuple[int, list[object]]], span: Span) -> list[object]:
    """What was retrieved in the trace before a model was asked, each document once."""
    found = [item for end, documents in retrievals if end <= span.start for item in documents]
    return [item for place, item in enumerate(found) if item not in found[:place]]


def _documents(span: Span) -> list[object]:
    """The documents that a span retrieved."""
    attributes = span.attributes
    listed = _indexed(attributes, "retrieval.documents")
    documents: list[object] = []
    for item in listed:
        text = item.get("document.content")
        if isinstance(text, str) and text.strip():
            named = item.get("document.id")
            documents.append({"text": text} | ({} if named in (None, "") else {"evidence_id": str(named)}))
    given = _decoded(attributes.get("gen_ai.retrieval.documents"))
    for item in given if isinstance(given, list) else ():
        text = item if isinstance(item, str) else _text_of(item)
        if text:
            documents.append(text)
    return documents


def _text_of(item: object) -> str | None:
    found = item if isinstance(item, dict) else {}
    return next((found[name] for name in ("content", "text", "page_content") if isinstance(found.get(name), str)), None)


def _indexed(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Attributes such as ``llm.input_messages.0.message.role`` as a list of objects."""
    found: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        match = _INDEXED.fullmatch(name)
        if match and match[1] == prefix:
            found.setdefault(int(match[2]), {})[match[3]] = value
    return [found[number] for number in sorted(found)]


def _answer(span: Span) -> str | None:
    """The text that the model wrote."""
    attributes = span.attributes
    for message in reversed(_messages(span, "output")):
        if message["content"]:
            return str(message["content"])
    if "gen_ai.operation.name" in attributes and "output.value" not in attributes:
        return None
    value = attributes.get("output.value")
    chat = chat_of(_decoded(value))
    text = chat.response if chat is not None else value
    return text if isinstance(text, str) and text.strip() else None


def _messages(span: Span, side: str) -> list[dict[str, str]]:
    """The messages that a model got (``input``) or wrote (``output``), by either convention."""
    found = [
        {"role": str(item.get("message.role", "")), "content": _openinference_text(item)}
        for item in _indexed(span.attributes, f"llm.{side}_messages")
    ]
    holders = (span.attributes, *span.events)
    for holder in () if found else holders:
        given = _decoded(holder.get(f"gen_ai.{side}.messages"))
        found += [
            {"role": str(item.get("role", "")), "content": _parts_text(item)}
            for item in (given if isinstance(given, list) else ())
            if isinstance(item, dict)
        ]
    return found


def _openinference_text(item: Mapping[str, Any]) -> str:
    text = item.get("message.content")
    if isinstance(text, str):
        return text
    parts = _indexed(item, "message.contents")
    return "\n".join(str(part["message_content.text"]) for part in parts if part.get("message_content.text"))


def _parts_text(item: Mapping[str, Any]) -> str:
    """The text of a message: of its parts that are text, or as it stands."""
    parts = item.get("parts", item.get("content"))
    if isinstance(parts, str):
        return parts
    texts = (
        part.get("content", part.get("text"))
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, dict) and part.get("type", "text") in ("text", "tool_call_response")
    )
    return "\n".join(str(text) for text in texts if text)


def _decoded(value: object) -> object:
    """A text that holds JSON is what it says; structures stay as they are."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None


def _row(span: Span, answer: str, documents: list[object]) -> dict[str, object]:
    attributes = span.attributes
    messages = _messages(span, "input")
    asked = [message["content"] for message in messages if message["role"] == "user" and message["content"]]
    question = asked[-1] if asked else attributes.get("input.value")
    tools = [message["content"] for message in messages if message["role"] == "tool" and message["content"]]
    names = ("llm.model_name", "gen_ai.response.model", "gen_ai.request.model")
    row: dict[str, object] = {
        "id": span.span_id,
        "question": question if isinstance(question, str) else None,
        "response": answer,
        "evidence": documents or tools or None,
        "model": next((str(attributes[name]) for name in names if attributes.get(name)), None),
        "trace_id": span.trace_id,
        "span_id": span.span_id,
        "response_id": attributes.get("gen_ai.response.id"),
        "session_id": attributes.get("session.id", attributes.get("gen_ai.conversation.id")),
    }
    return {name: value for name, value in row.items() if value is not None}
