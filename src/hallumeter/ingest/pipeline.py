"""From records of another tool to the files of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, structs

from hallumeter.claims.audit.entries import Prepared
from hallumeter.claims.audit.finishing import AuditFiles, VerdictTable
from hallumeter.claims.extractors.protocol import Aligner
from hallumeter.claims.extractors.statements import SentenceExtractor
from hallumeter.claims.measure.commands import counts_of
from hallumeter.claims.measure.counts import Measured, count, record_measurements
from hallumeter.claims.partial import ClaimsPartial
from hallumeter.claims.settings import MeasureSettings
from hallumeter.errors import InputError, RecordError, SettingsError
from hallumeter.formats.jsonl import write_jsonl
from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.manifest import InputFile, JudgeEntry
from hallumeter.records.measurement import Summary
from hallumeter.records.response import Response
from hallumeter.run.finished import Run, finish_folder, written_run
from hallumeter.run.identity import manifest_of
from hallumeter.run.inputs import named_files, sha256_of
from hallumeter.run.run_folder import MEASUREMENTS, SUMMARY, new_run_folder, write_json

from .record import ForeignRecord, Reading, ScoreKind, Span, Spans
from .scores import RANGES, ScoreTable, range_lines
from .tools import ForeignFiles, read_foreign

# Claims and verdicts of another tool, given a place in the response where they have none.

_SENTENCES = SentenceExtractor()


class Findings(NamedTuple):
    """The claims of a record, and what was said of them."""

    claims: tuple[Claim, ...]
    said: tuple[Verdict | Failure, ...]
    claimless: Failure | None = None
    """Why there is no claim."""


def findings_of(record: ForeignRecord) -> Findings:
    """The claims that a tool judged; where it marked spans, the sentences that they do and do not touch."""
    if record.spans is not None:
        return _of_spans(record.response, record.spans)
    claims = tuple(_placed(record.claims, record.response.response or ""))
    places = {claim.claim_id: claim for claim in claims}
    said = tuple(
        structs.replace(item, start=places[item.claim_id].start, end=places[item.claim_id].end)
        if isinstance(item, Verdict)
        else item
        for item in record.said
    )
    return Findings(claims, said, record.claimless)


def _placed(claims: Sequence[Claim], text: str) -> Iterator[Claim]:
    """Claims where their words stand; a tool that puts them in words of its own leaves many without a place."""
    aligner = Aligner(text)
    after = 0
    for claim in claims:
        place = aligner.place_of(claim.text, after) if claim.text else None
        if place is None:
            yield claim
        else:
            after = place[1]
            yield structs.replace(claim, start=place[0], end=place[1])


def _of_spans(response: Response, spans: Spans) -> Findings:
    claims = _SENTENCES.extract(response)
    loose = [
        span
        for span in spans.marked
        if not any(_touches(span, claim) for claim in claims)  # such as a span within a heading or a question
    ]
    claims += [
        Claim(
            response.record_id,
            f"{response.record_id}#{len(claims) + number}",
            start=span.start,
            end=span.end,
            text=(response.response or "")[span.start : span.end],
        )
        for number, span in enumerate(loose)
    ]
    claims.sort(key=lambda claim: claim.start or 0)
    said = tuple(_said(claim, [span for span in spans.marked if _touches(span, claim)], spans) for claim in claims)
    return Findings(tuple(claims), said, None if claims else _claimless(response, spans.judge))


def _claimless(response: Response, judge: str) -> Failure:
    is_empty = not (response.response or "").strip()
    why = "is empty" if is_empty else "states nothing"
    message = f"{response.record_id}: the response {why}, so that the absence of marks tells nothing"
    code = "empty_response" if is_empty else "no_claims"
    return Failure(response.record_id, None, "extract", judge, code, message)


def _touches(span: Span, claim: Claim) -> bool:
    assert claim.start is not None
    assert claim.end is not None
    return span.start < claim.end and claim.start < span.end


def _said(claim: Claim, marked: Sequence[Span], spans: Spans) -> Verdict | Failure:
    """What the marks say of a sentence: refuted if one of them does, and where the first of that kind stands."""
    judge = spans.judge
    if not marked and spans.unplaced:
        message = f"{claim.record_id}: {spans.unplaced} marks do not fit into the response and may mean this sentence"
        return Failure(claim.record_id, claim.claim_id, "judge", judge, "unplaced_span", message)
    if not marked:
        return Verdict(claim.record_id, claim.claim_id, judge, Label.SUPPORTED, start=claim.start, end=claim.end)
    assert claim.start is not None
    assert claim.end is not None
    label = Label.REFUTED if any(span.label is Label.REFUTED for span in marked) else Label.NOT_ENOUGH_INFO
    first = next(span for span in marked if span.label is label)
    probabilities = [span.probability for span in marked if span.probability is not None]
    notes = [span.note for span in marked if span.note]
    return Verdict(
        claim.record_id,
        claim.claim_id,
        judge,
        label,
        max(probabilities, default=None),
        reason=first.reason,
        start=max(first.start, claim.start),
        end=min(first.end, claim.end),
        note="\n".join(notes) or None,
    )


INSTRUMENT = "ingest"


class IngestedRun(Struct, frozen=True):
    """What was taken in."""

    tool: str
    """As it calls itself."""
    summary: Summary
    failures: tuple[Failure, ...]
    """The first of them."""
    judges: dict[str, str]
    """Who judged claims, and what is known of their settings."""
    scores: dict[str, ScoreKind]
    """How each of the tool's scores is read."""


class _Taken:
    """Records on their way into a run: written as they come, counted at the end."""

    def __init__(self, files: ForeignFiles, settings: MeasureSettings) -> None:
        self.reading = Reading()
        self._files, self._settings = files, settings
        self._table, self._scores = VerdictTable(settings, ()), ScoreTable(settings.by)
        self._fields: set[str] = set()
        self.is_empty = True

    def write(self, folder: Path) -> AuditFiles:
        """Write records, claims, verdicts and failures."""
        with AuditFiles(folder, ()) as written:
            for record in self._records():
                findings = findings_of(record)
                prepared = Prepared(record.response, findings.claims, record.response.record_id, findings.claimless)
                written.write(prepared, findings.said)
                self._table.add(prepared, findings.said)
                self._fail(written, self._scores.add(record, self.reading.kinds))
                self._fields |= record.response.fields.keys() | {"model"}
                self.is_empty = False
            self._fail(written, [*self.reading.faults, *self._scores.finish()])
        self._check()
        return written

    def _fail(self, written: AuditFiles, failures: list[Failure]) -> None:
        for failure in failures:
            if self._settings.is_strict:
                raise RecordError(failure.message)
            written.fail(failure)

    def _records(self) -> Iterator[ForeignRecord]:
        """The records, each under a name of its own."""
        for document in self._files.documents:
            for fault in document.faults:
                self.reading.fault(f"{document.name}:{fault.line}", fault.code, fault.message)
        seen: dict[str, int] = {}
        for record in self._files.tool.read(self._files.documents, self.reading):
            name = record.response.record_id
            seen[name] = seen.get(name, 0) + 1
            yield record if seen[name] == 1 else _renamed(record, f"{name} ({seen[name]})")
        again = sum(number - 1 for number in seen.values())
        if again:
            self.reading.notice(f"{again} records have the id of an earlier one and were numbered")

    def _check(self) -> None:
        if self.is_empty:
            names = ", ".join(document.name for document in self._files.documents)
            faults = self.reading.faults
            first = f"the first fault: {faults[0].message}" if faults else "is it of another tool?"
            raise InputError(f"{names}: no usable record of {self._files.tool.title} found; {first}")
        for field in self._settings.fields:
            if field not in self._fields:
                found = ", ".join(sorted(self._fields))
                raise SettingsError(f"no record has the field {field!r}; fields found: {found}")

    def summary(self, written: AuditFiles, hallumeter: str) -> tuple[Summary, Measured]:
        """What the records add up to."""
        numbers = self._settings.numbers(hallumeter, (("tool", self._files.name),))
        measured = count(self._table.build(), self._settings)
        counts = counts_of(measured, failures=written.failure_codes.total())
        is_judged = bool(self.reading.judges)
        counts = structs.replace(
            counts,
            verdicts=written.verdicts.total(),
            records_without_claims=counts.records_without_claims if is_judged else 0,
        )
        summary = ClaimsPartial.of(measured, self._settings, numbers, instrument=INSTRUMENT, counts=counts).summary()
        rows = (*(summary.metrics if is_judged else ()), *self._scores.rows(self.reading.kinds, numbers))
        return structs.replace(summary, metrics=rows, notices=tuple(self._notices(written))), measured

    def _notices(self, written: AuditFiles) -> Iterator[str]:
        yield f"read as results of {self._files.tool.title}"
        yield from self.reading.notices
        if not self.reading.judges:
            yield f"{self._files.tool.title} kept no verdicts on claims here: claim metrics are left out"
        if written.unaligned:
            share = f"{written.unaligned} of {written.claims} claims"
            yield f"{share} in the tool's own words, so without a place in the response"
        for code, number in sorted(written.failure_codes.items()):
            yield f"{number} {'failure' if number == 1 else 'failures'}: {code}"

    def write_measurements(self, folder: Path, measured: Measured) -> None:
        """Write what was measured on every record."""
        write_jsonl(folder / MEASUREMENTS, chain(record_measurements(measured), self._scores.measurements()))


def write_files(folder: Path, files: ForeignFiles, settings: MeasureSettings, *, hallumeter: str) -> IngestedRun:
    """Write everything but the manifest and the report."""
    taken = _Taken(files, settings)
    written = taken.write(folder)
    summary, measured = taken.summary(written, hallumeter)
    taken.write_measurements(folder, measured)
    write_json(folder / SUMMARY, summary)
    return IngestedRun(
        files.tool.title, summary, tuple(written.first_failures), taken.reading.judges, taken.reading.kinds
    )


def _renamed(record: ForeignRecord, name: str) -> ForeignRecord:
    return structs.replace(
        record,
        response=structs.replace(record.response, record_id=name),
        claims=tuple(structs.replace(claim, record_id=name) for claim in record.claims),
        said=tuple(structs.replace(item, record_id=name) for item in record.said),
        claimless=structs.replace(record.claimless, record_id=name) if record.claimless else None,
        error=structs.replace(record.error, record_id=name) if record.error else None,
    )


# Take in files of another tool, from the command line or in Python.


def ingest(
    paths: str | Path | Iterable[str | Path],
    *,
    tool: str | None = None,
    by: str | Iterable[str] = (),
    out: str | Path | None = None,
    settings: MeasureSettings | None = None,
) -> Run:
    """Take in results of Ragas, DeepEval, TruLens, promptfoo, Inspect, LettuceDetect, RAGTruth, RefChecker or HELM.

    The tool is told by what the files hold, unless it is named. Its verdicts on claims are kept as verdicts, its
    scores as measurements; a number that stands where nothing was measured is unmeasured in the run.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    chosen = settings or MeasureSettings()
    fields = (by,) if isinstance(by, str) else tuple(by)
    if any(fields):
        chosen = structs.replace(chosen, by=fields)
    files = [Path(path) for path in given]
    return written_run(out, lambda place: ingest_to_folder(files, place, tool=tool, settings=chosen))


def ingest_to_folder(
    paths: Sequence[Path], out: Path, *, settings: MeasureSettings, tool: str | None = None
) -> IngestedRun:
    """Take in some files of one tool, and keep everything in a run folder with its report."""
    started = datetime.now(UTC)
    files = read_foreign(paths, tool)
    with new_run_folder(out) as folder:
        run = write_files(folder, files, settings, hallumeter=version("hallumeter"))
        records = run.summary.counts.records
        inputs = tuple(InputFile(name, sha256_of(path), records) for name, path in named_files(paths))
        chosen = {"tool": files.name, "by": list(settings.by), "resamples": settings.resamples}
        chosen |= {"confidence": settings.confidence, "cluster": settings.cluster, RANGES: range_lines(run.scores)}
        judges = tuple(JudgeEntry(name, f"recorded: {spec}") for name, spec in run.judges.items())
        manifest = manifest_of(None, INSTRUMENT, chosen, inputs=inputs, seed=settings.seed, judges=judges)
        finish_folder(folder, manifest, started)
    return run
