"""Write a measured file as a run folder: the rows are read once more and put in the order of their responses."""

from __future__ import annotations

from itertools import chain
from typing import IO, TYPE_CHECKING

import msgspec
import numpy as np

from hallumeter.errors import RecordError
from hallumeter.extractors import detect_abstention
from hallumeter.formats import claim_of, response_of, rows_of, verdict_of, write_jsonl
from hallumeter.records.columns import LABEL_CODES
from hallumeter.store import CLAIMS, FAILURES, MEASUREMENTS, RECORDS, SUMMARY, VERDICTS, write_json

from .builder import NAMELESS_JUDGE
from .coding import LabelIndex
from .measuring import record_measurements
from .response_names import models_by_record, run_record_id, shared_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from hallumeter.formats import Batch
    from hallumeter.records import Claim

    from .pipeline import MeasuredRun
    from .table import Table

_LABELS = {code: label for label, code in LABEL_CODES.items()}
_VERDICT_FIELDS = frozenset(
    {"claim_id", "label", "judge", "text", "kind", "reason", "note", "start", "end", "weight", "cost_usd"}
    | {"unsupported_probability", "confidence", "probabilities", "inference_samples", "quotes"}
)
"""Fields that speak of a claim, not of its response."""


def write_run(folder: Path, run: MeasuredRun, sources: Iterable[tuple[str, Iterator[Batch]]]) -> None:
    """Write everything but the manifest and the report."""
    writer = _RowWriter(folder, run.measured.table)
    with writer:
        for name, batches in sources:
            for line, row in chain.from_iterable(map(rows_of, batches)):
                writer.add(row, is_counted=(name, line) not in run.refused)
    write_jsonl(folder / FAILURES, run.failures)
    write_jsonl(folder / MEASUREMENTS, record_measurements(run.measured))
    write_json(folder / SUMMARY, run.summary)


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
        if self._is_new(name, claim):
            response = self._merged[name].get("response")
            self._claims.add(position, _claim_without_fault(row, name, str(response) if response else None))
        code = self._labels[row.get("label")]
        if is_counted:
            self._verdicts.add(position, verdict_of(row, name, label=_LABELS[code], judge=judge))

    def _is_new(self, *key: str) -> bool:
        number = hash(key)
        if number in self._seen:
            return False
        self._seen.add(number)
        return True


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
