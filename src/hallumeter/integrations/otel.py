"""The outcome of a run as OpenTelemetry events, beside the spans of the answers.

Each measured answer becomes a ``gen_ai.evaluation.result`` event with the attributes of the semantic conventions. It
goes to a file, or to the collector whose address the user typed; nothing is sent anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from google.protobuf.json_format import MessageToJson
from opentelemetry._logs import LogRecord
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider, ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult, SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.trace import NonRecordingSpan, SpanContext, set_span_in_context

from hallumeter.errors import InputError
from hallumeter.records.claim import Finding
from hallumeter.records.response import Response
from hallumeter.report.segmentation import settled_label
from hallumeter.run.finished import Run
from hallumeter.run.run_folder import RunFolder
from hallumeter.text.normalize import one_line

EVENT = "gen_ai.evaluation.result"
NAME = "hallumeter.unsupported_claims"
"""The share of an answer's decided claims that its evidence does not support; lower is better."""
MOST_EXPLAINED = 3
_UNSUPPORTED = ("REFUTED", "NOT_ENOUGH_INFO")


def export_events(run: Run, *, file: Path | None = None, endpoint: str | None = None) -> int:
    """Write one event for each answer of a run, and say how many; give a file or the address of a collector.

    Raises:
        InputError: The collector did not take them.
    """
    if (file is None) == (endpoint is None):
        raise InputError("events: give a file, or the address of a collector")
    exporter = _FileExporter(file) if file is not None else _Checked(OTLPLogExporter(endpoint=endpoint))
    provider = LoggerProvider(Resource({"service.name": "hallumeter"}), shutdown_on_exit=False)
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    logger = provider.get_logger("hallumeter")
    written = 0
    for event in events_of(run):
        logger.emit(event)
        written += 1
    provider.shutdown()
    if exporter.failed:
        raise InputError(f"events: {exporter.failed:,} of {written:,} were not taken by {file or endpoint}")
    return written


def events_of(run: Run) -> Iterator[LogRecord]:
    """The events; an answer on which nothing was measured has a label and no score."""
    ended = run.manifest.finished
    moment = None if not ended else int(datetime.fromisoformat(ended).timestamp() * 1e9)
    for response, findings in RunFolder(run.path).findings():
        yield _event(response, findings, moment)


def _event(response: Response, findings: Sequence[Finding], moment: int | None) -> LogRecord:
    labels = [(finding, settled_label(finding, None)) for finding in findings]
    wrong = [finding for finding, label in labels if label is not None and label.value in _UNSUPPORTED]
    decided = sum(label is not None and label.value != "UNDECIDED" for _, label in labels)
    attributes: dict[str, str | float] = {"gen_ai.evaluation.name": NAME}
    if decided:
        attributes["gen_ai.evaluation.score.value"] = len(wrong) / decided
        attributes["gen_ai.evaluation.score.label"] = "unsupported" if wrong else "supported"
    else:
        attributes["gen_ai.evaluation.score.label"] = "unmeasured"
    attributes["gen_ai.evaluation.explanation"] = _explanation(wrong, decided, len(findings))
    given = response.fields.get("response_id")
    if given is not None:
        attributes["gen_ai.response.id"] = str(given)
    return LogRecord(
        timestamp=moment,
        context=_beside(response),
        event_name=EVENT,
        attributes={**attributes, "hallumeter.record_id": response.record_id},
    )


def _explanation(wrong: Sequence[Finding], decided: int, claims: int) -> str:
    if not decided:
        return f"none of {claims} claims could be decided" if claims else "there is no claim to check"
    reasons = [
        one_line(f"{finding.claim.text or finding.claim.claim_id}: {note}")
        for finding in wrong[:MOST_EXPLAINED]
        if (note := next((verdict.note or verdict.reason for verdict in finding.verdicts if verdict.note), None))
    ]
    return "; ".join([f"{len(wrong)} of {decided} decided claims are not supported", *reasons])


def _beside(response: Response) -> Context:
    """The span of an answer; none for a record that came from no trace."""
    ids = [str(response.fields.get(name, "")) for name in ("trace_id", "span_id")]
    try:
        trace, span = (int(each, 16) for each in ids)
    except ValueError:
        return Context()
    return set_span_in_context(NonRecordingSpan(SpanContext(trace, span, is_remote=True)), Context())


class _FileExporter(LogRecordExporter):
    """OTLP as JSON lines, as the collector's file exporter writes them."""

    def __init__(self, path: Path) -> None:
        self.failed = 0
        self._stream = path.open("x", encoding="utf-8", newline="\n")

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        """Write a line."""
        self._stream.write(MessageToJson(encode_logs(batch), indent=None) + "\n")
        return LogRecordExportResult.SUCCESS

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 (the SDK calls it so)
        """Let others read what was written."""
        self._stream.flush()
        return True

    def shutdown(self) -> None:
        """Close the file."""
        self._stream.close()


class _Checked(LogRecordExporter):
    """An exporter whose failures are counted; the SDK only logs them."""

    def __init__(self, exporter: LogRecordExporter) -> None:
        self.failed = 0
        self._exporter = exporter

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        """Send, and count what was not taken."""
        result = self._exporter.export(batch)
        if result is not LogRecordExportResult.SUCCESS:
            self.failed += len(batch)
        return result

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Wait until everything is sent."""
        return self._exporter.force_flush(timeout_millis)

    def shutdown(self) -> None:
        """Close the connection."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]
