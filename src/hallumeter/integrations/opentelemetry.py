"""OpenTelemetry: what was found in answers as `gen_ai.evaluation.result` events, in a file or at a collector."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from hallumeter.errors import InputError, SettingsError
from hallumeter.run.finished import Run, load

from .checked_answer import UNMEASURED, UNSUPPORTED_RATE, missing

try:
    from google.protobuf.json_format import MessageToDict
    from opentelemetry._logs import LogRecord
    from opentelemetry.context import Context
    from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.sdk._logs import LoggerProvider, LogRecordProcessor
    from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context
except ImportError as error:
    raise missing("otel", "OpenTelemetry") from error

__all__ = ["write_evaluations"]

EVENT = "gen_ai.evaluation.result"
MOST_REASONS = 5
EVENTS_AT_A_TIME = 512
IDS = ("traceId", "spanId")


def write_evaluations(
    run: Run | str | Path, *, file: str | Path | None = None, endpoint: str | None = None, metric: str = "mihr"
) -> int:
    """Write an event for every response of a run; returns how many.

    An event has `gen_ai.evaluation.name` (``unsupported_rate``), `.score.value`, `.score.label` (``supported``,
    ``unsupported`` or ``unmeasured``), `.explanation` and, if the record has one, `gen_ai.response.id`. One whose
    record came from a trace belongs to its span. A response that was not measured has no score value.

    Args:
        run: A finished run of `audit`.
        file: Where events are written as OTLP in JSON, a line for each; it must not exist.
        endpoint: Where they are sent by HTTP, such as ``http://localhost:4318/v1/logs``. Nothing is sent without it.
        metric: The metric of a response that is its score.

    Raises:
        SettingsError: Neither a file nor an endpoint is given, or both.
        InputError: The file exists, or the collector took not all events.
    """
    if (file is None) == (endpoint is None):
        raise SettingsError("name a file or an endpoint, one of them; nothing is written or sent otherwise")
    opened = run if isinstance(run, Run) else load(run)
    if endpoint is not None:
        return _emitted(opened, OTLPLogExporter(endpoint=endpoint), metric, place=endpoint)
    target = Path(str(file))
    try:
        stream = target.open("x", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror or error})") from error
    with stream:
        return _emitted(opened, _OtlpFile(stream), metric, place=str(target))


def _emitted(run: Run, exporter: LogRecordExporter, metric: str, *, place: str) -> int:
    batches, given = _Batches(exporter), 0
    # A resource of its own: that of the environment would add what the machine is called.
    provider = LoggerProvider(resource=Resource({"service.name": "hallumeter"}), shutdown_on_exit=False)
    provider.add_log_record_processor(batches)
    logger = provider.get_logger("hallumeter", run.manifest.hallumeter)
    with _quietly():
        for attributes, context in _events(run, metric):
            logger.emit(LogRecord(event_name=EVENT, attributes=attributes, context=context))
            given += 1
            if batches.has_failed:
                break
        provider.shutdown()
    if batches.has_failed:
        raise InputError(f"{place}: took {batches.taken:,} of the events, then no more; is a collector there?")
    return given


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the SDK's own log of attempts: what failed is said once."""
    log = logging.getLogger("opentelemetry.exporter.otlp.proto.http._log_exporter")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def _events(run: Run, metric: str) -> Iterator[tuple[dict[str, Any], Context]]:
    reasons: dict[str, list[str]] = {}
    for claim in run.claims():
        if claim["label"] in ("REFUTED", "NOT_ENOUGH_INFO"):
            why = claim["note"] or claim["reason"] or claim["label"]
            reasons.setdefault(claim["record_id"], []).append(f"{claim['text']}: {why}")
    for row in run.scores():
        value = row.get(metric)
        counted = f"{row['unsupported']} of {row['claims']} claims are not supported"
        left = f", {row['undecided']} undecided, {row['failed']} failed" if row["undecided"] or row["failed"] else ""
        lines = [counted + left, *reasons.get(row["record_id"], [])[:MOST_REASONS]]
        attributes: dict[str, Any] = {
            "gen_ai.evaluation.name": UNSUPPORTED_RATE,
            "gen_ai.evaluation.score.label": _label(row, value),
            "gen_ai.evaluation.explanation": "\n".join(lines),
            "hallumeter.record_id": row["record_id"],
        }
        if value is not None:
            attributes["gen_ai.evaluation.score.value"] = float(value)
        if row.get("response_id"):
            attributes["gen_ai.response.id"] = str(row["response_id"])
        yield attributes, _context(row)


def _label(row: Mapping[str, Any], value: float | None) -> str:
    if row["unsupported"]:
        return "unsupported"
    is_whole = value is not None and not row["undecided"] and not row["failed"]
    return "supported" if is_whole else UNMEASURED


def _context(row: Mapping[str, Any]) -> Context:
    """The span that gave the answer, if the record says which."""
    try:
        trace_id, span_id = int(str(row.get("trace_id")), 16), int(str(row.get("span_id")), 16)
    except ValueError:
        return Context()
    span = SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    # Ids of other tools can be longer than those of a span.
    return set_span_in_context(NonRecordingSpan(span), Context()) if span.is_valid else Context()


class _Batches(LogRecordProcessor):
    """Hands events on many at a time, and counts what was taken; the SDK would only log what was not."""

    def __init__(self, exporter: LogRecordExporter) -> None:
        self._exporter = exporter
        self._waiting: list[Any] = []
        self.taken, self.has_failed = 0, False

    def on_emit(self, log_record: Any) -> None:
        self._waiting.append(log_record)
        if len(self._waiting) == EVENTS_AT_A_TIME:
            self.force_flush()

    def force_flush(self, timeout_millis: int = 10_000) -> bool:
        if self._waiting and not self.has_failed:
            self.has_failed = self._exporter.export(self._waiting) is not LogRecordExportResult.SUCCESS
            self.taken += 0 if self.has_failed else len(self._waiting)
        self._waiting = []
        return bool(timeout_millis)

    def shutdown(self) -> None:
        self.force_flush()
        self._exporter.shutdown()


class _OtlpFile(LogRecordExporter):
    """OTLP in JSON, as collectors read it from files."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def export(self, batch: Sequence[Any]) -> LogRecordExportResult:
        self._stream.writelines(_line(event) for event in batch)
        return LogRecordExportResult.SUCCESS

    def shutdown(self) -> None:
        self._stream.flush()

    def force_flush(self, timeout_millis: int = 10_000) -> bool:
        return bool(timeout_millis)


def _line(event: Any) -> str:
    document = MessageToDict(encode_logs([event]))
    for record in _records(document):
        for name in IDS:  # OTLP has ids in hexadecimal, where protobuf's own JSON has base 64
            if name in record:
                record[name] = base64.b64decode(record[name]).hex()
    return json.dumps(document, ensure_ascii=False) + "\n"


def _records(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in document["resourceLogs"]:
        for scope in resource["scopeLogs"]:
            yield from scope["logRecords"]
