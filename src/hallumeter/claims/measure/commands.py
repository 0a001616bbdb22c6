"""Measure files, or records in Python, with or without a run folder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import IO

import msgspec
import numpy as np
from msgspec import Struct

from hallumeter.claims.partial import MOST_FAILURES, ClaimsPartial, NoticeCounts
from hallumeter.claims.profiles import Policy, parse_policy
from hallumeter.claims.settings import MeasureSettings
from hallumeter.errors import InputError, RecordError, SettingsError
from hallumeter.formats.batch import Batch
from hallumeter.formats.files import read_rows
from hallumeter.formats.jsonl import write_jsonl
from hallumeter.formats.plain import plain_rows
from hallumeter.formats.records import claim_of, response_of, rows_of, verdict_of
from hallumeter.formats.shapes import check_map
from hallumeter.records.claim import Claim, Failure
from hallumeter.records.columns import LABEL_CODES, stable_hash
from hallumeter.records.manifest import InputFile, JudgeEntry, Manifest
from hallumeter.records.measurement import Counts, Summary
from hallumeter.run.finished import finish_folder
from hallumeter.run.identity import manifest_of
from hallumeter.run.inputs import named_files, paths_or_rows, rereadable_files, row_batches, sha256_of
from hallumeter.run.run_folder import (
    CLAIMS,
    FAILURES,
    MEASUREMENTS,
    RECORDS,
    SUMMARY,
    VERDICTS,
    is_part,
    keep_partial,
    new_run_folder,
    write_json,
)
from hallumeter.text.abstention import detect_abstention

from .counts import Measured, count, record_measurements
from .response_names import models_by_record, run_record_id, shared_records
from .table import NAMELESS_JUDGE, LabelIndex, Partitions, Table, TableBuilder, parts_for

# Verdicts in, a summary out: what `hallumeter measure` and `hallumeter.measure` run.


class MeasuredRun(Struct, frozen=True, eq=False, dict=True):
    """A summary, and what it was made from."""

    partial: ClaimsPartial
    measured: Measured | None
    """None where the rows were measured part by part."""
    failures: tuple[Failure, ...]
    fields: frozenset[str]
    """Every field that some row had."""
    is_usable: bool
    """Whether something of some row counts."""
    rows_by_source: dict[str, int]
    refused: frozenset[tuple[str, int]]
    """Places of the rows whose verdict does not count: source and line."""

    @cached_property
    def summary(self) -> Summary:
        """Every metric with its interval."""
        return self.partial.summary()


class FailureLog:
    """Collects failures; keeps the first hundred thousand with their messages and counts the rest."""

    def __init__(self, *, is_strict: bool) -> None:
        self._is_strict = is_strict
        self.kept: list[Failure] = []
        self.by_code: Counter[str] = Counter()

    def __call__(self, failure: Failure) -> None:
        """Take note of a failure, or stop at once when the run is strict."""
        if self._is_strict:
            raise RecordError(failure.message)
        self.by_code[failure.code] += 1
        if len(self.kept) < MOST_FAILURES:
            self.kept.append(failure)


def measure_batches(
    sources: Iterable[tuple[str, Iterator[Batch]]],
    settings: MeasureSettings,
    *,
    version: str,
    judges: Iterable[str] = (),
) -> MeasuredRun:
    """Read rows from named sources and measure everything that they allow.

    `judges` are those of a larger input, of which this is one part.
    """
    run = _measured(sources, settings, version=version, judges=judges)
    if not is_part():  # the whole has what is asked for; a part need not
        _check_found(run, settings)
    return run


def _measured(
    sources: Iterable[tuple[str, Iterator[Batch]]],
    settings: MeasureSettings,
    *,
    version: str,
    judges: Iterable[str] = (),
) -> MeasuredRun:
    failures = FailureLog(is_strict=settings.is_strict)
    builder = TableBuilder(settings.fields, failures, keeps_claim_texts=settings.similarity is not None)
    builder.expect_judges(judges)
    rows_by_source: dict[str, int] = {}
    for name, batches in sources:
        before = builder.rows
        for batch in batches:
            builder.add(batch, name)
        rows_by_source[name] = builder.rows - before
    table = builder.build()
    measured = count(table, settings)
    for row in measured.votes.duplicates.tolist():
        source, failure = _duplicate(measured, row)
        failures(failure)
        builder.refused.add((source, int(table.lines[row])))
    partial = ClaimsPartial.of(
        measured,
        settings,
        settings.numbers(version),
        instrument="measure",
        counts=counts_of(measured, failures=failures.by_code.total()),
        notices=NoticeCounts(builder.aliases | builder.label_aliases, failures=failures.by_code),
    )
    return MeasuredRun(
        partial=partial,
        measured=measured,
        failures=tuple(failures.kept),
        fields=frozenset(builder.fields),
        is_usable=builder.is_usable,
        rows_by_source=rows_by_source,
        refused=frozenset(builder.refused),
    )


def _check_found(run: MeasuredRun, settings: MeasureSettings) -> None:
    check_map(settings.map, run.fields)
    if not run.is_usable:
        names = ", ".join(run.rows_by_source) or "the input"
        first = f"; the first fault: {run.failures[0].message}" if run.failures else ""
        raise InputError(f"{names}: no usable record found{first}")
    absent = [field for field in settings.fields if field not in run.fields]
    if absent:
        found = ", ".join(sorted(run.fields))
        raise SettingsError(f"no row has the field {absent[0]!r}; fields found: {found}")


def counts_of(measured: Measured, *, failures: int) -> Counts:
    """How much there is of everything."""
    table, cells = measured.table, measured.cells
    with_claims = np.unique(cells.responses[cells.of_row[measured.votes.rows]])
    audited = np.unique(cells.responses[measured.is_audited])
    return Counts(
        records=cells.response_count,
        claims=len(measured.votes.claim_rows),
        verdicts=len(measured.votes.rows),
        failures=failures,
        records_without_claims=len(audited) - len(with_claims),
        judges=len(table.judge_names),
        models=len(table.model_names),
    )


def _duplicate(measured: Measured, row: int) -> tuple[str, Failure]:
    """A second verdict of the same judge on the same claim, and the file it stands in."""
    table = measured.table
    starts = np.cumsum([0, *(size for _, size in table.places)])
    source = table.places[int(np.searchsorted(starts, row, side="right")) - 1][0]
    judge = table.judge_names[table.judges[row]]
    record = table.record_names[table.records[row]]
    message = f"{source}:{table.lines[row]}: {judge!r} judged this claim of {record!r} before; the first verdict counts"
    return source, Failure(record, None, "read", judge, "duplicate_verdict", message)


# Write a measured file as a run folder: the rows are read once more and put in the order of their responses.

_LABELS = {code: label for label, code in LABEL_CODES.items()}
_VERDICT_FIELDS = frozenset(
    {"claim_id", "label", "judge", "text", "kind", "reason", "note", "start", "end", "weight", "cost_usd"}
    | {"unsupported_probability", "confidence", "probabilities", "inference_samples", "quotes"}
)
"""Fields that speak of a claim, not of its response."""


def write_run(folder: Path, run: MeasuredRun, sources: Iterable[tuple[str, Iterator[Batch]]]) -> None:
    """Write everything but the manifest and the report."""
    assert run.measured is not None
    writer = _RowWriter(folder, run.measured.table)
    with writer:
        for name, batches in sources:
            for line, row in chain.from_iterable(map(rows_of, batches)):
                writer.add(row, is_counted=(name, line) not in run.refused)
    write_jsonl(folder / FAILURES, run.failures)
    write_jsonl(folder / MEASUREMENTS, record_measurements(run.measured))
    write_json(folder / SUMMARY, run.summary)
    keep_partial(folder, run.partial)


class _RowWriter:
    """Takes rows in the order of a file and writes records, claims and verdicts in the order of the responses."""

    def __init__(self, folder: Path, table: Table) -> None:
        self._shared = shared_records(table)
        self._models = models_by_record(table)
        self._known = set(table.record_names)
        self._labels = LabelIndex()
        self._order: dict[str, int] = {}
        self._merged: dict[str, dict[str, object]] = {}
        self._claims = _OrderedLines(folder / CLAIMS)
        self._verdicts = _OrderedLines(folder / VERDICTS)
        self._records = folder / RECORDS
        self._seen: set[int] = set()

    def __enter__(self) -> _RowWriter:
        return self

    def __exit__(self, *_: object) -> None:
        write_jsonl(self._records, (response_of(row, name) for name, row in self._merged.items()))
        self._claims.close()
        self._verdicts.close()

    def add(self, row: dict[str, object], *, is_counted: bool) -> None:
        """Write one row; a verdict that does not count is left out, as it was when it was measured."""
        record = "" if row.get("record_id") is None else str(row["record_id"])
        if record not in self._known:
            return
        if row.get("model") is None and record in self._models:
            row["model"] = self._models[record]
        model = row.get("model")
        name = run_record_id(record, None if model is None else str(model), is_shared=record in self._shared)
        position = self._order.setdefault(name, len(self._order))
        known = self._merged.setdefault(name, {})
        if record in self._shared:
            known.setdefault("question_id", record)
        known |= {field: value for field, value in row.items() if _is_news(field, value, known)}
        known |= _abstention(row)
        if row.get("claim_id") not in (None, ""):
            self._add_verdict(row, name, position, is_counted=is_counted)

    def _add_verdict(self, row: dict[str, object], name: str, position: int, *, is_counted: bool) -> None:
        judge = str(row.get("judge") or NAMELESS_JUDGE)
        claim = str(row["claim_id"])
        key = stable_hash(f"{name}\0{claim}")
        if key not in self._seen:
            self._seen.add(key)
            response = self._merged[name].get("response")
            self._claims.add(position, _claim_without_fault(row, name, str(response) if response else None))
        code = self._labels[row.get("label")]
        if is_counted:
            self._verdicts.add(position, verdict_of(row, name, label=_LABELS[code], judge=judge))


def _is_news(field: str, value: object, known: dict[str, object]) -> bool:
    """Whether a row adds something about its response; the first row that says it counts."""
    return value is not None and field not in known and field not in _VERDICT_FIELDS


def _abstention(row: dict[str, object]) -> dict[str, object]:
    """Whether the response abstained and by which words, so that a person can check it."""
    is_known = row.get("answerable") is not None or row.get("is_nonexistent") is not None
    if not is_known or row.get("response") is None:
        return {}
    found = detect_abstention(str(row["response"]))
    return {"did_abstain": found.did_abstain, "abstention_cue": found.cue}


def _claim_without_fault(row: dict[str, object], name: str, response: str | None) -> Claim:
    """The claim of a row; with no span when the row's span is impossible."""
    try:
        return claim_of(row, name, response=response)
    except RecordError:
        return claim_of({**row, "start": None, "end": None, "weight": None}, name, response=response)


class _OrderedLines:
    """A file of JSON lines that arrive in any order and are written by position."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._encoder = msgspec.json.Encoder()
        self._stream: IO[bytes] = path.open("w+b")
        self._positions: list[int] = []
        self._sizes: list[int] = []

    def add(self, position: int, record: msgspec.Struct) -> None:
        line = self._encoder.encode(record) + b"\n"
        self._stream.write(line)
        self._positions.append(position)
        self._sizes.append(len(line))

    def close(self) -> None:
        """Put the lines in order, if they are not; equal positions keep the order of arrival."""
        positions = np.array(self._positions, dtype=np.int64)
        if (np.diff(positions) < 0).any():
            self._reorder(np.argsort(positions, kind="stable"))
        self._stream.close()

    def _reorder(self, order: np.ndarray[tuple[int], np.dtype[np.intp]]) -> None:
        starts = np.cumsum([0, *self._sizes]).tolist()
        draft = self._path.with_suffix(".ordered")
        with draft.open("wb") as ordered:
            for line in order.tolist():
                self._stream.seek(starts[line])
                ordered.write(self._stream.read(self._sizes[line]))
        draft.replace(self._path)


def measure(
    verdicts: object,
    *,
    by: str | Sequence[str] = (),
    map: Mapping[str, str] | None = None,  # noqa: A002 (as the command line has it)
    settings: MeasureSettings | None = None,
) -> Summary:
    """Measure verdicts: one file, several files, or rows in Python, as dicts, `Verdict` records or a table.

    The `map` says where fields stand that are not found by their names: ``{"label": "grade.verdict"}``.

    >>> rows = [{"record_id": "r1", "claim_id": "c1", "label": "SUPPORTED"},
    ...         {"record_id": "r1", "claim_id": "c2", "label": "REFUTED"}]
    >>> measure(rows).metrics[0].value
    0.5
    """
    chosen = settings or MeasureSettings()
    if by:
        chosen = msgspec.structs.replace(chosen, by=(by,) if isinstance(by, str) else tuple(by))
    if map:
        chosen = msgspec.structs.replace(chosen, map=dict(map))
    paths, rows = paths_or_rows(verdicts, "rows: paths and rows are mixed; give one kind")
    if paths:
        return measure_files(paths, settings=chosen).summary
    sources = [("rows", row_batches(plain_rows(rows), fields=chosen.fields, shape=chosen.shape))]
    return measure_batches(sources, chosen, version=version("hallumeter")).summary


def measure_files(
    paths: Sequence[Path], *, settings: MeasureSettings, progress: Callable[[int], None] | None = None
) -> MeasuredRun:
    """Measure the verdicts in some files; those too large for memory part by part, with the same result."""
    files = named_files(paths)
    count = 1 if _needs_all_rows(settings) else parts_for(path for _, path in files)
    if count > 1:
        run = _measured_in_parts(_sources(files, settings, progress), settings, count)
        if run is not None:
            _check_found(run, settings)
            return run
        progress = None  # all rows have been told of
    return measure_batches(_sources(files, settings, progress), settings, version=version("hallumeter"))


def _needs_all_rows(settings: MeasureSettings) -> bool:
    """Whether rows cannot be cut by record: they are clustered or joined across records, or the first fault ends it."""
    return settings.cluster != "response" or settings.consensus != "majority" or settings.is_strict


def _measured_in_parts(
    sources: Iterable[tuple[str, Iterator[Batch]]], settings: MeasureSettings, count: int
) -> MeasuredRun | None:
    """Measure rows part by part; None when the answers to one question are in several parts."""
    whole: MeasuredRun | None = None
    with Partitions(count) as partitions:
        partitions.fill(sources)
        for part in partitions.parts():
            run = _measured(part, settings, version=version("hallumeter"))
            whole = run if whole is None else _joined(whole, run)
    assert whole is not None
    consensus = whole.partial.consensus
    return None if consensus.is_split and not consensus.is_by_record else whole


def _joined(first: MeasuredRun, second: MeasuredRun) -> MeasuredRun:
    """Two parts together; the tables behind them are not needed any more."""
    rows = Counter(first.rows_by_source)
    rows.update(second.rows_by_source)
    failures = sorted((*first.failures, *second.failures), key=_place)
    return MeasuredRun(
        partial=first.partial.merge(second.partial),
        measured=None,
        failures=tuple(failures[:MOST_FAILURES]),
        fields=first.fields | second.fields,
        is_usable=first.is_usable or second.is_usable,
        rows_by_source={name: rows[name] for name in first.rows_by_source},
        refused=frozenset(),
    )


_PLACE = re.compile(r"(.*?):(\d+): ")


def _place(failure: Failure) -> tuple[str, int]:
    """File and line of a row that could not be used, as its message begins."""
    found = _PLACE.match(failure.message)
    return (found[1], int(found[2])) if found else ("", 0)


def measure_to_folder(
    paths: Sequence[Path], out: Path, *, settings: MeasureSettings, progress: Callable[[int], None] | None = None
) -> MeasuredRun:
    """Measure the verdicts in some files and keep everything in a run folder with its report."""
    started = datetime.now(UTC)
    with new_run_folder(out) as folder, rereadable_files(paths) as files_read:
        sources = _sources(files_read, settings, progress)
        run = measure_batches(sources, settings, version=version("hallumeter"))
        again = [(name, read_rows(path, fields=None, shape=settings.shape)) for name, path in files_read]
        write_run(folder, run, again)
        inputs = tuple(InputFile(name, sha256_of(path), run.rows_by_source.get(name, 0)) for name, path in files_read)
        finish_folder(folder, manifest_of_measure(run, settings, inputs), started)
    return run


def read_policy(path: Path, known_metrics: Collection[str]) -> Policy:
    """Read a policy file, which may name only these metrics and scores of other tools."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: the policy cannot be read ({error})") from error
    return parse_policy(text, source=str(path), known_metrics=known_metrics)


def _sources(
    files: Iterable[tuple[str, Path]], settings: MeasureSettings, progress: Callable[[int], None] | None
) -> list[tuple[str, Iterator[Batch]]]:
    return [(name, _watched(read_rows(path, settings.fields, shape=settings.shape), progress)) for name, path in files]


def _watched(batches: Iterator[Batch], progress: Callable[[int], None] | None) -> Iterator[Batch]:
    for batch in batches:
        yield batch
        if progress is not None:
            progress(len(batch.lines))


def manifest_of_measure(run: MeasuredRun, settings: MeasureSettings, inputs: tuple[InputFile, ...]) -> Manifest:
    """What a run of verdicts says of itself, but for the times."""
    names = ("consensus", "headline", "uncertainty", "similarity", "cluster", "resamples", "confidence")
    chosen: dict[str, object] = {"by": list(settings.by), **{name: getattr(settings, name) for name in names}}
    chosen["policies"] = [policy.name for policy in settings.policies]
    if settings.map:
        chosen["map"] = settings.stated_map
    judges = tuple(JudgeEntry(name, "recorded") for name in run.partial.judges)
    return manifest_of(None, run.summary.instrument, chosen, inputs=inputs, seed=settings.seed, judges=judges)
