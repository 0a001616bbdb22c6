"""Rows of files on their way into a table: coded, checked, and every fault named by its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hallumeter.errors import RecordError
from hallumeter.extractors import detect_abstention
from hallumeter.formats import Batch, Column, distribution_of, expanded
from hallumeter.records import Failure, check_distribution, check_span
from hallumeter.records.columns import FAILED_CODE
from hallumeter.text import claim_key

from .coding import MISSING, NO_HASH, FieldIndex, LabelIndex, NameIndex, hashes, numbers_of, value_at
from .table import Distributions, GrowingColumns, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from .coding import Codes

LARGEST = np.finfo(np.float64).max
NAMELESS_JUDGE = "judge"
"""What a judge is called whose name is not given."""


class TableBuilder:
    """Takes in batches of rows and keeps what measuring needs, in memory that grows by a few bytes a row."""

    def __init__(
        self, fields: Sequence[str], on_failure: Callable[[Failure], None], *, keeps_claim_texts: bool = False
    ) -> None:
        self._on_failure = on_failure
        self._claim_texts = NameIndex() if keeps_claim_texts else None
        self._records, self._models, self._judges = NameIndex(), NameIndex(), NameIndex()
        self._questions = NameIndex()
        self._field_index = {field: FieldIndex() for field in fields}
        self._labels = LabelIndex()
        self._columns = GrowingColumns()
        self._distributions: list[Distributions] = []
        self._places: list[tuple[str, int]] = []
        self.fields: set[str] = set()
        """Every field that some row had."""
        self.aliases: dict[str, str] = {}
        self.refused: set[tuple[str, int]] = set()
        """Places of the rows whose verdict does not count: source and line."""

    @property
    def label_aliases(self) -> dict[str, str]:
        """Other tools' labels that were met, and what they stand for."""
        return self._labels.aliases

    @property
    def rows(self) -> int:
        """How many rows were taken in."""
        return self._columns.rows

    def add(self, batch: Batch, source: str) -> None:
        """Take in a batch; every row that cannot be used becomes a failure."""
        for fault in batch.faults:
            self._on_failure(Failure(None, None, "read", None, fault.code, f"{source}:{fault.line}: {fault.message}"))
        self.fields |= batch.columns.keys()
        self.aliases |= batch.aliases
        rows = _Rows(batch.columns, batch.lines, source)
        if rows.size:
            usable = self._usable(rows)
            self._append(rows if usable.all() else rows.only(usable))

    def build(self) -> Table:
        """Everything that was taken in."""
        columns = self._columns
        records, models = columns.take("records"), columns.take("models")
        models = _models_of_records(records, models, len(self._records.names))
        return Table(
            records=records,
            models=models,
            judges=columns.take("judges"),
            labels=columns.take("labels"),
            claims=columns.take("claims"),
            claim_keys=columns.take("claim_keys", fill=0),
            questions=columns.take("questions"),
            lines=columns.take("lines"),
            answerable=columns.take("answerable"),
            abstained=columns.take("abstained", fill=0).astype(bool),
            fields={field: columns.take(f"field {field}") for field in self._field_index},
            distributions=tuple(self._distributions),
            record_names=tuple(self._records.names),
            model_names=tuple(self._models.names),
            judge_names=tuple(self._judges.names),
            field_names={field: tuple(index.names) for field, index in self._field_index.items()},
            claim_texts=tuple(self._claim_texts.names) if self._claim_texts is not None else (),
            places=tuple(self._places),
        )

    def _usable(self, rows: _Rows) -> NDArray[np.bool_]:
        """Rows with the ids that they need; the others are failures."""
        rows.labels = self._encoded(rows, "label", self._labels)
        claim_ids = rows.get("claim_id")
        rows.claims = np.full(rows.size, NO_HASH) if claim_ids is None else hashes(claim_ids)
        nameless = (rows.labels != MISSING) & (rows.claims == NO_HASH)
        # A row that is left out must not leave its record behind, so its id is not numbered.
        record_ids = rows.get("record_id")
        if record_ids is not None and nameless.any():
            no_record = hashes(record_ids) == NO_HASH
        else:
            rows.records = self._encoded(rows, "record_id", self._records)
            no_record = rows.records == MISSING
        nameless &= ~no_record
        for row in np.flatnonzero(no_record).tolist():
            self._fail(
                rows, row, code="missing_field", message="record_id: expected the id of the response, found none"
            )
        for row in np.flatnonzero(nameless).tolist():
            self._fail(rows, row, code="missing_field", message="claim_id: expected the id of the claim, found none")
        return np.asarray(~(no_record | nameless))

    def _append(self, rows: _Rows) -> None:
        """Keep rows that have the ids they need."""
        is_verdict = rows.claims != NO_HASH
        labels = np.where(is_verdict, self._checked_labels(rows, is_verdict), MISSING)
        self._check_numbers(rows, labels)
        self._check_spans(rows, labels)
        self._take_distributions(rows, labels)
        columns: dict[str, Codes] = {"labels": labels.astype(np.int8), "claims": rows.claims}
        is_numbered = len(rows.records) == rows.size
        columns["records"] = rows.records if is_numbered else self._encoded(rows, "record_id", self._records)
        columns["lines"] = rows.line_numbers()
        columns["judges"] = self._judge_codes(rows, is_verdict)
        for name, index in self._indexes(rows):
            column = rows.get(name.removeprefix("field "))
            if column is not None:
                columns[_COLUMN_NAMES.get(name, name)] = index.encode(column)
        columns |= self._claim_keys(rows) | self._answers(rows)
        self._columns.append(rows.size, columns)
        self._places.append((rows.source, rows.size))

    def _indexes(self, rows: _Rows) -> Iterable[tuple[str, NameIndex]]:
        yield "model", self._models
        yield ("question_id" if rows.get("question_id") is not None else "question"), self._questions
        for field, index in self._field_index.items():
            yield f"field {field}", index

    def _encoded(self, rows: _Rows, field: str, index: NameIndex | LabelIndex) -> Codes:
        column = rows.get(field)
        return np.full(rows.size, MISSING, dtype=np.int32) if column is None else index.encode(column)

    def _judge_codes(self, rows: _Rows, is_verdict: NDArray[np.bool_]) -> Codes:
        codes = self._encoded(rows, "judge", self._judges)
        nameless = is_verdict & (codes == MISSING)
        return np.where(nameless, np.int32(self._judges[NAMELESS_JUDGE]), codes) if nameless.any() else codes

    def _checked_labels(self, rows: _Rows, is_verdict: NDArray[np.bool_]) -> Codes:
        codes = rows.labels
        for row in np.flatnonzero(is_verdict & ((codes == FAILED_CODE) | (codes == MISSING))).tolist():
            if codes[row] == MISSING:
                self._fail(rows, row, code="missing_label", message="label: no verdict was given")
            else:
                expected = "SUPPORTED, REFUTED, NOT_ENOUGH_INFO or UNDECIDED"
                message = f"label: expected {expected}, found {rows.value('label', row)!r}"
                self._fail(rows, row, code="unknown_label", message=message)
        return np.where(codes == MISSING, FAILED_CODE, codes)

    def _check_numbers(self, rows: _Rows, labels: Codes) -> None:
        """An impossible number makes the whole verdict a failure: who knows what else is wrong with it."""
        for field, largest in _NUMBERS.items():
            column = rows.get(field)
            if column is None:
                continue
            values, missing = numbers_of(column)
            is_possible = ((values >= 0) & (values <= largest)) | missing
            for row in np.flatnonzero(~is_possible).tolist():
                is_share = largest == 1
                message = f"{field}: expected a number {'from 0 to 1' if is_share else '>= 0'}, found {values[row]:g}"
                code = "impossible_probability" if is_share else "impossible_number"
                self._refuse(rows, row, labels, code=code, message=message)

    def _check_spans(self, rows: _Rows, labels: Codes) -> None:
        for row, (start, end) in enumerate(rows.together("start", "end")):
            try:
                check_span(start, end, "start, end:")  # type: ignore[arg-type]
            except RecordError as error:
                self._refuse(rows, row, labels, code="impossible_span", message=str(error))

    def _take_distributions(self, rows: _Rows, labels: Codes) -> None:
        for row, (probabilities, samples) in enumerate(rows.together("probabilities", "inference_samples")):
            if probabilities is None and not samples:
                continue
            try:
                self._distributions.append(distributions_on(self.rows + row, probabilities, samples))
            except (RecordError, TypeError, ValueError) as error:
                self._refuse(rows, row, labels, code="impossible_probability", message=str(error))

    def _refuse(self, rows: _Rows, row: int, labels: Codes, *, code: str, message: str) -> None:
        """Count a verdict as failed; a row without a verdict has nothing to lose."""
        if labels[row] != MISSING:
            labels[row] = FAILED_CODE
        self._fail(rows, row, code=code, message=message)

    def _claim_keys(self, rows: _Rows) -> dict[str, Codes]:
        """What the claims say, where several models may say the same."""
        column = rows.get("text")
        if column is None or rows.get("model") is None:
            return {}
        keys = [claim_key(text) if isinstance(text, str) else None for text in expanded(column)]
        if self._claim_texts is not None:
            return {"claim_keys": self._claim_texts.encode(list(keys)) + 1}
        return {"claim_keys": np.fromiter((hash(key) if key else 0 for key in keys), np.int64, rows.size)}

    def _answers(self, rows: _Rows) -> dict[str, Codes]:
        """Whether each response could be given, and whether it abstained."""
        answerable, abstained = np.full(rows.size, MISSING, dtype=np.int8), np.zeros(rows.size, dtype=np.int8)
        if rows.get("answerable") is None and rows.get("is_nonexistent") is None:
            return {}
        answers = rows.together("answerable", "is_nonexistent", "response")
        for row, (flag, is_nonexistent, response) in enumerate(answers):
            if flag is None and is_nonexistent is None:
                continue
            if response is None:
                message = "response: expected the text of the answer beside answerable, found none"
                self._fail(rows, row, code="missing_field", message=message)
                continue
            answerable[row] = bool(flag) if flag is not None else not is_nonexistent
            abstained[row] = detect_abstention(str(response)).did_abstain
        return {"answerable": answerable, "abstained": abstained}

    def _fail(self, rows: _Rows, row: int, *, code: str, message: str) -> None:
        self.refused.add((rows.source, rows.lines[row]))
        record, claim, judge = (rows.value(field, row) for field in ("record_id", "claim_id", "judge"))
        place = f"{rows.source}:{rows.lines[row]}: {message}"
        self._on_failure(Failure(record, claim, "read", judge, code, place))


_NUMBERS = {"unsupported_probability": 1.0, "confidence": 1.0, "weight": LARGEST, "cost_usd": LARGEST}
"""Fields that hold a number from 0, and the largest that is possible."""
_COLUMN_NAMES = {"model": "models", "question": "questions", "question_id": "questions"}


class _Rows:
    """The rows of one batch, and the codes of their ids."""

    def __init__(self, columns: dict[str, Column], lines: Sequence[int], source: str) -> None:
        self.columns = columns
        self.lines = lines
        self.source = source
        self.size = len(lines)
        self.records: Codes = np.zeros(0, dtype=np.int32)
        self.labels: Codes = self.records
        self.claims: Codes = self.records

    def get(self, field: str) -> Column | None:
        return self.columns.get(field)

    def value(self, field: str, row: int) -> str | None:
        column = self.columns.get(field)
        value = None if column is None else value_at(column, row)
        return None if value is None else str(value)

    def together(self, *fields: str) -> Iterable[tuple[object, ...]]:
        """Row by row the values of some fields; nothing at all when no row has any of them."""
        if all(self.columns.get(field) is None for field in fields):
            return ()
        nothing: list[object] = [None] * self.size
        return zip(*(expanded(self.columns.get(field, nothing)) for field in fields), strict=True)

    def line_numbers(self) -> Codes:
        if isinstance(self.lines, range):
            return np.arange(self.lines.start, self.lines.stop, dtype=np.int32)
        return np.array(self.lines, dtype=np.int32)

    def only(self, keep: NDArray[np.bool_]) -> _Rows:
        kept = np.flatnonzero(keep).tolist()
        columns: dict[str, Column] = {}
        for name, column in self.columns.items():
            values = expanded(column)
            columns[name] = [values[row] for row in kept]
        rows = _Rows(columns, [self.lines[row] for row in kept], self.source)
        rows.labels, rows.claims = self.labels[keep], self.claims[keep]
        return rows


def _models_of_records(records: Codes, models: Codes, count: int) -> Codes:
    """A model named on one row of a record holds for its other rows, unless the record has several models."""
    missing = models == MISSING
    if missing.all() or not missing.any():
        return models
    known = np.flatnonzero(~missing)
    first = np.full(count, MISSING, dtype=models.dtype)
    first[records[known[::-1]]] = models[known[::-1]]
    is_shared = np.zeros(count, dtype=bool)
    is_shared[records[known[models[known] != first[records[known]]]]] = True
    return np.where(missing & ~is_shared[records], first[records], models)


def distributions_on(row: int, probabilities: object, samples: object) -> Distributions:
    """What a row says about probabilities, checked."""
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
