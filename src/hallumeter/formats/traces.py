"""Traces of OpenTelemetry as rows: what a model answered, with the documents that were retrieved before it.

A file holds OTLP as JSON (one document, or one for each line, as collectors write it) or as protobuf. Spans are read by
the conventions of OpenInference (`openinference.span.kind`, `retrieval.documents`) and of OpenTelemetry itself
(`gen_ai.operation.name`, `gen_ai.output.messages`).
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import InputError, MissingExtraError

from .batch import TOO_DEEP, Batch
from .jsonl import batch_of, read_whole
from .shapes import AS_NAMED, RowShape, chat_of, structured, text_in

ROWS_AT_A_TIME = 4096
_MODEL_OPERATIONS = {"chat", "generate_content", "text_completion"}
_RETRIEVALS = {"retrieval", "retrieve"}
WITHOUT_DOCUMENTS = "answers of models were left out, since no documents were retrieved before them"
_MARK = b"\xef\xbb\xbf"


class Span(Struct, frozen=True):
    """A step of a trace, with what of its attributes is of use here."""

    trace_id: str
    span_id: str
    parent_id: str | None
    start: int
    attributes: dict[str, Any]

    @property
    def kind(self) -> str:
        """``llm``, ``retriever``, or something else."""
        operation = str(self.attributes.get("gen_ai.operation.name", "")).lower()
        if operation in _MODEL_OPERATIONS:
            return "llm"
        if operation in _RETRIEVALS or "gen_ai.retrieval.documents" in self.attributes:
            return "retriever"
        return str(self.attributes.get("openinference.span.kind", "")).lower()


def read_traces(path: Path, fields: Collection[str] | None = (), *, shape: RowShape = AS_NAMED) -> Iterator[Batch]:
    """Read a file of traces; rows are numbered from 1 in the order of the answers.

    A file that collectors write may hold metrics and logs beside the spans; they are passed over.

    Raises:
        InputError: The file holds no traces, or no answer with retrieved documents.
        MissingExtraError: It is protobuf, and the package for that is not installed.
    """
    spans = list(_spans(path))
    if not spans:
        raise InputError(f"{path.name}: holds no spans; expected OTLP with resourceSpans")
    rows, left_out = rows_of_spans(spans)
    if not rows:
        found = f"{left_out} answers of models, and no documents retrieved before them" if left_out else "no answer"
        raise InputError(
            f"{path.name}: {len(spans)} spans with {found}; "
            "expected spans of kind LLM and RETRIEVER (OpenInference), or gen_ai.operation.name chat and retrieval"
        )
    for first in range(0, len(rows), ROWS_AT_A_TIME):
        batch = batch_of(rows[first : first + ROWS_AT_A_TIME], first + 1, fields=fields, shape=shape)
        notices = {WITHOUT_DOCUMENTS: left_out} if left_out and first == 0 else {}
        yield structs.replace(batch, notices=batch.notices | notices)


def rows_of_spans(spans: Collection[Span]) -> tuple[list[dict[str, object]], int]:
    """A row for every answer of a model that had documents before it, and how many answers had none.

    In a trace without spans of models the root span has the answer.
    """
    traces: dict[str, list[Span]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    rows: list[dict[str, object]] = []
    left_out = 0
    for trace in traces.values():
        trace.sort(key=lambda span: span.start)
        answers = [span for span in trace if span.kind == "llm"]
        answers = answers or [span for span in trace if span.parent_id is None and span.kind != "retriever"]
        for answer in answers:
            response = _response(answer)
            # A root span begins before its retrievers.
            before = [
                span for span in trace if span.kind != "llm" and (span.start <= answer.start or answer.kind != "llm")
            ]
            documents = [each for span in before for each in documents_of(span.attributes)]
            if response is None:
                continue
            if not documents:
                left_out += 1
                continue
            rows.append(_row(answer, response, documents, root=_root(trace)))
    return rows, left_out


def _root(trace: list[Span]) -> Span | None:
    return next((span for span in trace if span.parent_id is None), None)


def _row(answer: Span, response: str, documents: list[object], *, root: Span | None) -> dict[str, object]:
    given = answer.attributes
    outer = {} if root is None else root.attributes
    asked = _question(outer) if root is not answer else None
    names = {
        "model": given.get("gen_ai.response.model") or given.get("gen_ai.request.model") or given.get("llm.model_name"),
        "response_id": given.get("gen_ai.response.id"),
        "conversation_id": given.get("gen_ai.conversation.id") or given.get("session.id") or outer.get("session.id"),
    }
    return {
        "record_id": f"{answer.trace_id}:{answer.span_id}",
        "question": asked or _question(given),
        "response": response,
        "evidence": documents,
        **{name: str(value) for name, value in names.items() if value},
        "trace_id": answer.trace_id,
        "span_id": answer.span_id,
    }


def _response(span: Span) -> str | None:
    given = span.attributes
    messages = _messages(given, "llm.output_messages") or _gen_ai_messages(given.get("gen_ai.output.messages"))
    chat = chat_of(messages)
    if chat is not None and chat.response is not None:
        return chat.response
    said = given.get("gen_ai.completion") or given.get("output.value")
    return None if said is None else text_in("response", structured(said))


def _question(given: Mapping[str, Any]) -> str | None:
    messages = _messages(given, "llm.input_messages") or _gen_ai_messages(given.get("gen_ai.input.messages"))
    chat = chat_of(messages)
    asked = chat.last("user") if chat is not None else None
    if asked is None and given.get("input.value") is not None:
        asked = text_in("question", structured(given["input.value"]))
    return asked


def documents_of(given: Mapping[str, Any]) -> Iterator[object]:
    """What the attributes of a retriever say that it found: numbered in their names, as a list, or as JSON."""
    found = structured(given.get("gen_ai.retrieval.documents") or given.get("retrieval.documents") or [])
    numbered = _numbered(given, "retrieval.documents")
    for item in [*(found if isinstance(found, list) else []), *numbered]:
        content = item.get("document.content", item.get("content")) if isinstance(item, dict) else item
        if content is None and isinstance(item, dict) and isinstance(item.get("document"), dict):
            content = item["document"].get("content")
        identity = item.get("document.id", item.get("id")) if isinstance(item, dict) else None
        if isinstance(content, str) and content.strip():
            yield {"evidence_id": str(identity), "text": content} if identity else content


def _messages(given: Mapping[str, Any], name: str) -> list[object]:
    """Messages of OpenInference: ``llm.output_messages.0.message.content``."""
    found = [(each.get("message.role"), _content(each)) for each in _numbered(given, name)]
    return [{"role": str(role), "content": text} for role, text in found if role and text]


def _content(message: Mapping[str, Any]) -> str:
    """The text of a message, which may stand in parts."""
    parts = [value for key, value in message.items() if key.endswith("message_content.text")]
    return str(message.get("message.content") or "\n".join(map(str, parts)))


def _gen_ai_messages(value: object) -> list[object]:
    """Messages of OpenTelemetry: a role, and parts of which those of type text have the words."""
    found = structured(value)
    messages: list[object] = []
    for item in found if isinstance(found, list) else []:
        parts = item.get("parts") if isinstance(item, dict) else None
        if isinstance(parts, list):
            texts = [
                str(part.get("content", "")) for part in parts if isinstance(part, dict) and part.get("type") == "text"
            ]
            messages.append({"role": str(item.get("role", "")), "content": "\n".join(texts)})
    return messages


def _numbered(given: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Attributes such as ``name.0.key`` as a list of objects."""
    items: dict[int, dict[str, Any]] = {}
    for key, value in given.items():
        number, _, rest = key.removeprefix(f"{name}.").partition(".")
        if key.startswith(f"{name}.") and number.isdecimal() and rest:
            items.setdefault(int(number), {})[rest] = value
    return [items[number] for number in sorted(items)]


# Spans out of a file.


def _spans(path: Path) -> Iterator[Span]:
    content = read_whole(path).removeprefix(_MARK)
    is_json = content.lstrip()[:1] in (b"{", b"[")
    documents = _of_json(content, path.name) if is_json else [_of_protobuf(content, path.name)]
    for document in documents:
        for resource in _listed(document, "resourceSpans", "resource_spans"):
            for scope in _listed(resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
                yield from (_span(each) for each in _listed(scope, "spans"))


def _of_json(content: bytes, name: str) -> list[object]:
    try:
        found: object = msgspec.json.decode(content)
        return found if isinstance(found, list) else [found]
    except RecursionError as error:
        raise InputError(f"{name}: {TOO_DEEP}") from error
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    documents = []
    for number, line in enumerate(content.splitlines(), 1):
        try:
            documents += [msgspec.json.decode(line)] if line.strip() else []
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"{name}, line {number}: not valid JSON ({error}); expected OTLP") from error
    return documents


def _of_protobuf(content: bytes, name: str) -> object:
    try:
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
    except ImportError as error:
        raise MissingExtraError("otel", f"{name}: a file of traces in protobuf") from error
    traces = TracesData()
    try:
        traces.ParseFromString(content)
    except DecodeError as error:
        raise InputError(f"{name}: not OTLP in protobuf ({error})") from error
    return MessageToDict(traces)


def _listed(value: object, *names: str) -> list[dict[str, Any]]:
    found = next((value[name] for name in names if name in value), None) if isinstance(value, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _span(given: dict[str, Any]) -> Span:
    started = given.get("startTimeUnixNano", given.get("start_time_unix_nano", 0))
    parent = given.get("parentSpanId", given.get("parent_span_id"))
    attributes = {str(each.get("key")): _value(each.get("value")) for each in _listed(given, "attributes")}
    for event in _listed(given, "events"):  # the words of older instrumentations stand in events
        for each in _listed(event, "attributes"):
            attributes.setdefault(str(each.get("key")), _value(each.get("value")))
    return Span(
        trace_id=_identity(given.get("traceId", given.get("trace_id"))),
        span_id=_identity(given.get("spanId", given.get("span_id"))),
        parent_id=_identity(parent) or None,
        start=int(started) if str(started).isdecimal() else 0,
        attributes=attributes,
    )


def _identity(value: object) -> str:
    """An id in hexadecimal; protobuf's own JSON has it in base 64."""
    text = str(value or "")
    if len(text) in (12, 24):
        try:
            return base64.b64decode(text, validate=True).hex()
        except ValueError:
            return text
    return text


def _value(given: object) -> Any:
    """The value of an attribute as a plain one."""
    if not isinstance(given, dict) or not given:
        return None
    kind, value = next(iter(given.items()))
    if kind in ("arrayValue", "array_value"):
        return [_value(each) for each in _listed(value, "values")]
    if kind in ("kvlistValue", "kvlist_value"):
        return {str(each.get("key")): _value(each.get("value")) for each in _listed(value, "values")}
    return value
