"""Verdicts of a file as columns, checked row by row on the way in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from hallumeter.errors import RecordError
from hallumeter.extractors.abstention import detect_abstention
from hallumeter.formats import distribution_of
from hallumeter.records import Failure, check_distribution
from hallumeter.records.columns import FAILED_CODE
from hallumeter.text.normalize import claim_key

from .coding import MISSING, LabelIndex, NameIndex, hashes, is_missing, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from hallumeter.formats import Batch, Column

MOST_FAILURES = 100_000
"""Failures kept with their messages; more are only counted."""


class Distributions(Struct, frozen=True):
    """What one verdict row says about probabilities."""

    row: int
    probabilities: tuple[float, ...]
    drawn: tuple[tuple[float, ...], ...]
    """The samples to decompose; the distribution itself when there were fewer than two."""


class Table(Struct, frozen=True, eq=False):
    """All rows of a run; a row is a verdict on a claim, or a response on which there is none."""

    records: NDArray[np.int64]
    models: NDArray[np.int64]
    judges: NDArray[np.int64]
    labels: NDArray[np.int64]
    """Label codes; -1 for a response without a verdict."""
    claims: NDArray[np.int64]
    """Hashes of the claim ids."""
    claim_keys: NDArray[np.int64]
    """What the claims say, as hashes or as codes; 0 where the text or the model is not known."""
    questions: NDArray[np.int64]
    answerable: NDArray[np.int8]
    """1 answerable, 0 not, -1 not known; known only on rows that carry a response."""
    abstained: NDArray[np.bool_]
    fields: dict[str, NDArray[np.int64]]
    """Codes of the further fields that were asked for."""
    distributions: tuple[Distributions, ...]
    record_names: tuple[str, ...]
    model_names: tuple[str, ...]
    judge_names: tuple[str, ...]
    field_names: dict[str, tuple[str, ...]]
    claim_texts: tuple[str, ...]
    """What the claims say, by their key less one; empty unless it was asked for."""
    places: tuple[tuple[str, int], ...]
    """Where each batch came from: the file's name and how many rows."""
    lines: NDArray[np.int64]


class TableBuilder:
    """Takes in batches of rows and keeps what measuring needs, in memory that grows by a few bytes a row."""

    def __init__(
        self, fields: Sequence[str], on_failure: Callable[[Failure], None], *, keeps_claim_texts: bool = False
    ) -> None:
        self._on_failure = on_failure
        self._claim_texts = NameIndex() if keeps_claim_texts else None
        self._records, self._models, self._judges = NameIndex(), NameIndex(), NameIndex()
        self._questions = NameIndex()
        self._field_index = {field: NameIndex() for field in fields}
        self._labels = LabelIndex()
        self._parts: dict[str, list[NDArray[np.int64]]] = {}
        self._distributions: list[Distributions] = []
        self._places: list[tuple[str, int]] = []
        self._rows = 0
        self.fields: set[str] = set()
        """Every field that some row had."""
        self.aliases: dict[str, str] = {}

    @property
    def label_aliases(self) -> dict[str, str]:
        """Other tools' labels that were met, and what they stand for."""
        return self._labels.aliases

    @property
    def rows(self) -> int:
        """How many rows were taken in."""
        return self._rows

    def add(self, batch: Batch, source: str) -> None:
        """Take in a batch; every row that cannot be used becomes a failure."""
        for fault in batch.faults:
            self._fail(source, fault.line, fault.code, fault.message)
        size = len(batch.lines)
        self.fields |= batch.columns.keys()
        self.aliases |= batch.aliases
        if not size:
            return
        sifted = _Rows(batch.columns, batch.lines, size)
        keep = self._usable(sifted, source)
        if not keep.all():
            sifted = sifted.only(keep)
        if sifted.size:
            self._append(sifted, source)

    def build(self) -> Table:
        """Everything that was taken in."""
        joined = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        empty = np.zeros(0, dtype=np.int64)
        return Table(
            **{
                name: joined.get(name, empty)
                for name in ("records", "models", "judges", "labels", "claims", "claim_keys", "questions", "lines")
            },
            answerable=joined.get("answerable", empty).astype(np.int8),
            abstained=joined.get("abstained", empty).astype(bool),
            fields={field: joined.get(f"field {field}", empty) for field in self._field_index},
            distributions=tuple(self._distributions),
            record_names=tuple(self._records.names),
            model_names=tuple(self._models.names),
            judge_names=tuple(self._judges.names),
            field_names={field: tuple(index.names) for field, index in self._field_index.items()},
            claim_texts=tuple(self._claim_texts.names) if self._claim_texts is not None else (),
            places=tuple(self._places),
        )

    def _usable(self, rows: _Rows, source: str) -> NDArray[np.bool_]:
        """Rows with the fields that they need; the others are failures."""
        no_record = is_missing(rows.get("record_id"), rows.size)
        no_claim = is_missing(rows.get("claim_id"), rows.size)
        has_label = ~is_missing(rows.get("label"), rows.size)
        nameless = has_label & no_claim & ~no_record
        for row in np.flatnonzero(no_record).tolist():
            self._fail(
                source, rows.lines[row], "missing_field", "record_id: expected the id of the response, found none"
            )
        for row in np.flatnonzero(nameless).tolist():
            self._fail(source, rows.lines[row], "missing_field", "claim_id: expected the id of the claim, found none")
        return ~(no_record | nameless)

    def _append(self, rows: _Rows, source: str) -> None:
        size = rows.size
        is_verdict = ~is_missing(rows.get("claim_id"), size)
        labels = np.where(is_verdict, self._checked_labels(rows, is_verdict, source), MISSING)
        self._check_probabilities(rows, labels, source)
        self._take_distributions(rows, labels, source)
        parts = {
            "records": self._records.encode(rows.columns["record_id"]),
            "models": self._encode(rows, "model", self._models),
            "judges": self._judge_codes(rows, is_verdict),
            "labels": labels,
            "claims": hashes(rows.columns["claim_id"]) if "claim_id" in rows.columns else np.zeros(size, np.int64),
            "claim_keys": self._claim_keys(rows),
            "questions": self._encode(
                rows, "question_id" if "question_id" in rows.columns else "question", self._questions
            ),
            "lines": np.fromiter(rows.lines, np.int64, size),
        }
        parts |= self._answers(rows, source)
        parts |= {f"field {field}": self._encode(rows, field, index) for field, index in self._field_index.items()}
        for name, part in parts.items():
            self._parts.setdefault(name, []).append(part)
        self._places.append((source, size))
        self._rows += size

    def _encode(self, rows: _Rows, field: str, index: NameIndex) -> NDArray[np.int64]:
        column = rows.get(field)
        return np.full(rows.size, MISSING) if column is None else index.encode(column)

    def _judge_codes(self, rows: _Rows, is_verdict: NDArray[np.bool_]) -> NDArray[np.int64]:
        codes = self._encode(rows, "judge", self._judges)
        nameless = is_verdict & (codes == MISSING)
        return np.where(nameless, self._judges["judge"], codes) if nameless.any() else codes

    def _checked_labels(self, rows: _Rows, is_verdict: NDArray[np.bool_], source: str) -> NDArray[np.int64]:
        column = rows.get("label")
        codes = np.full(rows.size, MISSING) if column is None else self._labels.encode(column)
        for row in np.flatnonzero(is_verdict & ((codes == FAILED_CODE) | (codes == MISSING))).tolist():
            if codes[row] == MISSING:
                self._fail_row(rows, row, source, "missing_label", "label: no verdict was given")
            else:
                found = texts_of(column)[row] if column is not None else None
                expected = "SUPPORTED, REFUTED, NOT_ENOUGH_INFO or UNDECIDED"
                self._fail_row(rows, row, source, "unknown_label", f"label: expected {expected}, found {found!r}")
        return np.where(codes == MISSING, FAILED_CODE, codes)

    def _check_probabilities(self, rows: _Rows, labels: NDArray[np.int64], source: str) -> None:
        """An impossible probability makes the whole verdict a failure: who knows what else is wrong with it."""
        for field in ("unsupported_probability", "confidence"):
            column = rows.get(field)
            if column is None:
                continue
            values = np.array(texts_of(column), dtype=np.float64)  # None becomes NaN
            is_possible = (values >= 0) & (values <= 1)
            impossible = np.zeros(0) if is_possible.all() else ~is_possible & ~is_missing(column, rows.size)
            for row in np.flatnonzero(impossible).tolist():
                labels[row] = FAILED_CODE if labels[row] != MISSING else MISSING
                message = f"{field}: expected a number from 0 to 1, found {values[row]:g}"
                self._fail_row(rows, row, source, "impossible_probability", message)

    def _take_distributions(self, rows: _Rows, labels: NDArray[np.int64], source: str) -> None:
        given, sampled = rows.get("probabilities"), rows.get("inference_samples")
        if given is None and sampled is None:
            return
        nothing: list[object] = [None] * rows.size
        pairs = zip(texts_of(given or nothing), texts_of(sampled or nothing), strict=True)
        for row, (probabilities, samples) in enumerate(pairs):
            if probabilities is None and not samples:
                continue
            try:
                self._distributions.append(_distributions(self._rows + row, probabilities, samples))
            except RecordError as error:
                labels[row] = FAILED_CODE if labels[row] != MISSING else MISSING
                self._fail_row(rows, row, source, "impossible_probability", str(error))

    def _claim_keys(self, rows: _Rows) -> NDArray[np.int64]:
        column = rows.get("text")
        if column is None or "model" not in rows.columns:
            return np.zeros(rows.size, dtype=np.int64)
        keys = [claim_key(text) if isinstance(text, str) else None for text in texts_of(column)]
        if self._claim_texts is not None:
            return self._claim_texts.encode(list(keys)) + 1
        return np.fromiter((hash(key) if key else 0 for key in keys), np.int64, rows.size)

    def _answers(self, rows: _Rows, source: str) -> dict[str, NDArray[np.int64]]:
        """Whether each response could be given, and whether it abstained."""
        answerable = np.full(rows.size, MISSING)
        abstained = np.zeros(rows.size, dtype=np.int64)
        flags, inverted, texts = rows.get("answerable"), rows.get("is_nonexistent"), rows.get("response")
        if flags is None and inverted is None:
            return {"answerable": answerable, "abstained": abstained}
        nothing: list[object] = [None] * rows.size
        columns = (texts_of(column or nothing) for column in (flags, inverted, texts))
        for row, (flag, is_nonexistent, response) in enumerate(zip(*columns, strict=True)):
            if flag is None and is_nonexistent is None:
                continue
            if response is None:
                message = "response: expected the text of the answer beside answerable, found none"
                self._fail_row(rows, row, source, "missing_field", message)
                continue
            answerable[row] = bool(flag) if flag is not None else not is_nonexistent
            abstained[row] = detect_abstention(str(response)).did_abstain
        return {"answerable": answerable, "abstained": abstained}

    def _fail_row(self, rows: _Rows, row: int, source: str, code: str, message: str) -> None:
        record, claim, judge = (rows.value(field, row) for field in ("record_id", "claim_id", "judge"))
        place = f"{source}:{rows.lines[row]}: {message}"
        self._on_failure(Failure(record, claim, "read", judge, code, place))

    def _fail(self, source: str, line: int, code: str, message: str) -> None:
        self._on_failure(Failure(None, None, "read", None, code, f"{source}:{line}: {message}"))


class _Rows:
    """The rows of one batch, before they are coded."""

    def __init__(self, columns: dict[str, Column], lines: Sequence[int], size: int) -> None:
        self.columns = columns
        self.lines = lines
        self.size = size

    def get(self, field: str) -> Column | None:
        return self.columns.get(field)

    def value(self, field: str, row: int) -> str | None:
        column = self.columns.get(field)
        value = None if column is None else texts_of(column)[row]
        return None if value is None else str(value)

    def only(self, keep: NDArray[np.bool_]) -> _Rows:
        kept = np.flatnonzero(keep).tolist()
        columns: dict[str, Column] = {}
        for name, column in self.columns.items():
            values = texts_of(column)
            columns[name] = [values[row] for row in kept]
        return _Rows(columns, [self.lines[row] for row in kept], len(kept))


def _distributions(row: int, probabilities: object, samples: object) -> Distributions:
    drawn = tuple(_distribution(sample, "inference_samples") for sample in _listed(samples))
    given = None if probabilities is None else _distribution(probabilities, "probabilities")
    if len({len(values) for values in (*drawn, *([given] if given else []))}) > 1:
        raise RecordError("inference_samples: expected distributions over the same outcomes as probabilities")
    if given is None:
        given = tuple(np.mean(drawn, axis=0).tolist())
    return Distributions(row, given, drawn if len(drawn) > 1 else (given,))


def _distribution(values: object, field: str) -> tuple[float, ...]:
    distribution = distribution_of(values)
    check_distribution(distribution, f"{field}:")
    return distribution


def _listed(values: object) -> Iterable[object]:
    return values if isinstance(values, (list, tuple)) else ()
