"""Verdicts of a run as columns."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, TypeAlias

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.errors import RecordError
from hallumeter.formats.batch import Batch, Coded, Column, Fault, Numbers, expanded
from hallumeter.formats.records import distribution_of, label_of, spelled
from hallumeter.records.claim import Failure, check_distribution
from hallumeter.records.columns import FAILED_CODE, LABEL_CODES, stable_hash, stable_hashes
from hallumeter.records.response import check_span
from hallumeter.text.abstention import detect_abstention
from hallumeter.text.normalize import claim_key

# Names as numbers, so that a million rows can be counted without touching a million texts again.

Codes: TypeAlias = "NDArray[np.signedinteger[Any]]"
"""Whole numbers that stand for names, kept as small as they fit: files of a hundred million rows go through here."""
LARGEST_DENSE = 1 << 26
"""Keys up to this number are counted by a table of flags rather than by sorting."""
MISSING = -1
"""Code of a value that is not known."""


class NameIndex(dict[object, int]):
    """Numbers names in order of first appearance; a missing or empty name is -1."""

    def __init__(self) -> None:
        super().__init__({None: MISSING, "": MISSING})
        self.names: list[str] = []

    def __missing__(self, name: object) -> int:
        if isinstance(name, str):
            code = len(self.names)
            self.names.append(name)
        else:
            code = self[_as_text(name)]
        self[name] = code
        return code

    def encode(self, column: Column) -> Codes:
        """Codes of a whole column."""
        if isinstance(column, Coded):
            return self.encode(column.values)[column.codes]
        if isinstance(column, Numbers):
            return self.encode(column.expanded())
        if column and isinstance(column[0], str) and column[0] == column[-1] and column.count(column[0]) == len(column):
            return np.full(len(column), self[column[0]], dtype=np.int32)  # comparing is cheaper than looking up
        return np.fromiter(map(self.__getitem__, column), np.int32, len(column))


class FieldIndex(NameIndex):
    """Numbers the values of a field of any type by their texts, so that true and 1 are two values."""

    def encode(self, column: Column) -> Codes:
        """Codes of a whole column."""
        if isinstance(column, Coded):
            return self.encode(column.values)[column.codes]
        values = expanded(column)
        if not set(map(type, values)) <= {str, type(None)}:
            values = [value if value is None or isinstance(value, str) else _as_text(value) for value in values]
        return super().encode(list(values))


class LabelIndex(dict[object, int]):
    """Codes of labels as users spell them; -1 when missing, the code of a failure when unknown."""

    def __init__(self) -> None:
        super().__init__({label.value: code for label, code in LABEL_CODES.items()})
        self[None] = self[""] = MISSING
        self.aliases: dict[str, str] = {}

    def __missing__(self, name: object) -> int:
        label = label_of(str(name))
        code = FAILED_CODE if label is None else LABEL_CODES[label]
        if label is not None and spelled(str(name)) != label.value:
            self.aliases[str(name)] = label.value
        self[name] = code
        return code

    def encode(self, column: Column) -> Codes:
        """Codes of a whole column."""
        if isinstance(column, Coded):
            return self.encode(column.values)[column.codes]
        values = expanded(column)
        return np.fromiter(map(self.__getitem__, values), np.int8, len(values))


NO_HASH = stable_hash("")
"""What stands for a missing id among hashes."""


def hashes(column: Column) -> NDArray[np.int64]:
    """A 64-bit hash per value, equal for equal texts in every process; NO_HASH for a missing or empty value.

    Ids of claims are only ever compared, so their hashes stand in for them: a hundred million texts need not stay in
    memory. The chance that two of a million differing ids collide is one in forty million.
    """
    if isinstance(column, Coded):
        return hashes(column.values)[column.codes]
    values = expanded(column)
    return stable_hashes(v if isinstance(v, str) else "" if v is None else _as_text(v) for v in values)


def numbers_of(column: Column) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """A column as numbers, and which rows have none."""
    if isinstance(column, Numbers):
        return column.values, column.missing
    values = expanded(column)
    numbers = np.array(values, dtype=np.float64)  # None becomes NaN
    is_nan = np.isnan(numbers)
    if not is_nan.any():
        return numbers, is_nan
    return numbers, np.fromiter((value is None for value in values), bool, len(values))


def dense_codes(keys: Codes) -> tuple[Codes, Codes]:
    """The distinct keys in order, and which of them each row has; without sorting when the keys are small numbers."""
    largest = int(keys.max(initial=0))
    if largest > LARGEST_DENSE or (len(keys) and keys.min() < 0):
        distinct, inverse = np.unique(keys, return_inverse=True)
        return distinct, inverse.astype(np.int64)
    is_used = np.zeros(largest + 1, dtype=bool)
    is_used[keys] = True
    rank = np.cumsum(is_used, dtype=np.int64) - 1
    return np.flatnonzero(is_used), rank[keys]


def first_appearance_order(keys: Codes) -> tuple[Codes, Codes]:
    """Number keys in order of first appearance: the row of each first appearance, and the number of every row."""
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        in_order = np.arange(len(keys), dtype=np.int64)
        return in_order, in_order
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order].astype(np.int64), rank[inverse].astype(np.int64)


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def value_at(column: Column, row: int) -> object:
    """One value of a column."""
    if isinstance(column, list):
        return column[row]
    if isinstance(column, Coded):
        return column.values[column.codes[row]]
    return None if column.missing[row] else float(column.values[row])


class Distributions(Struct, frozen=True):
    """What one verdict row says about probabilities."""

    row: int
    probabilities: tuple[float, ...]
    drawn: tuple[tuple[float, ...], ...]
    """The samples to decompose; the distribution itself when there were fewer than two."""


class Table(Struct, frozen=True, eq=False):
    """All rows of a run; a row is a verdict on a claim, or a response on which there is none."""

    records: Codes
    models: Codes
    judges: Codes
    labels: Codes
    """Label codes; -1 for a response without a verdict."""
    claims: Codes
    """Hashes of the claim ids."""
    claim_keys: Codes
    """What the claims say, as hashes or as codes; 0 where the text or the model is not known."""
    questions: Codes
    answerable: NDArray[np.int8]
    """1 answerable, 0 not, -1 not known; known only on rows that carry a response."""
    abstained: NDArray[np.bool_]
    fields: dict[str, Codes]
    """Codes of the further fields that were asked for."""
    distributions: tuple[Distributions, ...]
    record_names: tuple[str, ...]
    model_names: tuple[str, ...]
    question_names: tuple[str, ...]
    judge_names: tuple[str, ...]
    field_names: dict[str, tuple[str, ...]]
    claim_texts: tuple[str, ...]
    """What the claims say, by their key less one; empty unless it was asked for."""
    places: tuple[tuple[str, int], ...]
    """Where each batch came from: the file's name and how many rows."""
    lines: Codes
    probabilities: NDArray[np.float64] | None = None
    """How probable it is that each claim is unsupported, NaN where that is not known; None where it is nowhere."""
    kinds: Codes | None = None
    """The kind of text by which each probability was calibrated; None when that is not known."""
    kind_names: tuple[str, ...] = ()
    refits: dict[tuple[str, str], tuple[tuple[float, float], ...]] = {}
    """By judge and kind of text: shift and slope of the logit in refits of the judge's calibration."""
    stated: dict[str, tuple[tuple[str, str], ...]] = {}
    """By judge: what signatures state of its verdicts, such as the threshold of its labels."""
    response_names: dict[tuple[int, int], str] = {}
    """What responses are called in the run, by the codes of record and model; empty when it is not settled yet."""


class GrowingColumns:
    """Columns that arrive in parts; a column that a part lacks costs nothing and is filled at the end."""

    def __init__(self) -> None:
        self._parts: dict[str, list[tuple[int, NDArray[Any]]]] = {}
        self.rows = 0

    def append(self, size: int, columns: Mapping[str, NDArray[Any]]) -> None:
        """Add rows."""
        for name, column in columns.items():
            self._parts.setdefault(name, []).append((self.rows, column))
        self.rows += size

    def take(self, name: str, fill: int = MISSING) -> Codes:
        """Hand over a whole column, with `fill` where it was not given; its parts are forgotten."""
        parts = self._parts.pop(name, [])
        kind = parts[0][1].dtype if parts else np.dtype(np.int8)
        whole = np.full(self.rows, fill, dtype=kind)
        for start, part in parts:
            whole[start : start + len(part)] = part
        return whole

    def take_numbers(self, name: str) -> NDArray[np.float64] | None:
        """Hand over a whole column of numbers, NaN where there is none; None when no part has a number."""
        parts = self._parts.pop(name, [])
        if all(np.isnan(part).all() for _, part in parts):
            return None
        whole = np.full(self.rows, np.nan)
        for start, part in parts:
            whole[start : start + len(part)] = part
        return whole


# Rows of files on their way into a table: coded, checked, and every fault named by its place.

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
        self.is_usable = False
        """Whether something of some row counts: a row without a fault, or an answer beside a verdict that has one."""

    def expect_judges(self, names: Iterable[str]) -> None:
        """Number judges before any row of theirs is met."""
        for name in names:
            self._judges[name]

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
            before = len(self.refused)
            usable = self._usable(rows)
            self._append(rows if usable.all() else rows.only(usable))
            self.is_usable |= len(self.refused) - before < rows.size

    def build(self) -> Table:
        """Everything that was taken in."""
        columns = self._columns
        records, models = columns.take("records"), columns.take("models")
        judges, judge_names = _sorted_codes(columns.take("judges"), self._judges.names)
        models = _models_of_records(records, models, len(self._records.names))
        return Table(
            records=records,
            models=models,
            judges=judges,
            labels=columns.take("labels"),
            claims=columns.take("claims"),
            claim_keys=columns.take("claim_keys", fill=0),
            questions=columns.take("questions"),
            lines=columns.take("lines"),
            answerable=columns.take("answerable"),
            abstained=columns.take("abstained", fill=0).astype(bool),
            fields={field: columns.take(f"field {field}") for field in self._field_index},
            distributions=tuple(self._distributions),
            probabilities=columns.take_numbers("probabilities"),
            record_names=tuple(self._records.names),
            model_names=tuple(self._models.names),
            question_names=tuple(self._questions.names),
            judge_names=judge_names,
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
        columns: dict[str, NDArray[Any]] = {"labels": labels.astype(np.int8), "claims": rows.claims}
        is_numbered = len(rows.records) == rows.size
        columns["records"] = rows.records if is_numbered else self._encoded(rows, "record_id", self._records)
        columns["lines"] = rows.line_numbers()
        columns["judges"] = self._judge_codes(rows, is_verdict)
        for name, index in self._indexes(rows):
            column = rows.get(name.removeprefix("field "))
            if column is not None:
                columns[_COLUMN_NAMES.get(name, name)] = index.encode(column)
        answers = self._answers(rows)
        self.is_usable |= bool(answers) and bool((answers["answerable"] != MISSING).any())
        columns |= self._claim_keys(rows) | answers | self._probabilities(rows)
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
        return {"claim_keys": np.fromiter((stable_hash(key) if key else 0 for key in keys), np.int64, rows.size)}

    def _probabilities(self, rows: _Rows) -> dict[str, NDArray[np.float64]]:
        """How probable it is that each claim is unsupported, where that is given."""
        column = rows.get("unsupported_probability")
        if column is None:
            return {}
        values, missing = numbers_of(column)
        return {"probabilities": np.where(missing, np.nan, values)}

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
            return np.arange(self.lines.start, self.lines.stop, dtype=np.int64)
        return np.array(self.lines, dtype=np.int64)

    def only(self, keep: NDArray[np.bool_]) -> _Rows:
        kept = np.flatnonzero(keep).tolist()
        columns: dict[str, Column] = {}
        for name, column in self.columns.items():
            values = expanded(column)
            columns[name] = [values[row] for row in kept]
        rows = _Rows(columns, [self.lines[row] for row in kept], self.source)
        rows.labels, rows.claims = self.labels[keep], self.claims[keep]
        return rows


def _sorted_codes(codes: Codes, names: Sequence[str]) -> tuple[Codes, tuple[str, ...]]:
    """Codes of names in alphabetical order: which name a file has first then makes no difference."""
    order = sorted(range(len(names)), key=names.__getitem__)
    if order == list(range(len(names))):
        return codes, tuple(names)
    rank = np.full(len(names) + 1, MISSING, dtype=codes.dtype)
    rank[order] = np.arange(len(names))
    return rank[codes], tuple(names[place] for place in order)


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


# Files too large for memory: their rows are sorted by response into parts on disk, which are measured one by one.

PART_BYTES = 96 << 20
"""Input that is measured at a time: about 650,000 verdicts of 150 bytes, which take some 100 MB of memory."""
_WHOLE = 2
"""Input of up to so many parts is measured at once."""
_COMPRESSED = 8
"""How many times larger a compressed file is once it is read."""
_PLAIN = (".jsonl", ".json", ".csv", ".tsv", ".ndjson")


def parts_for(paths: Iterable[Path]) -> int:
    """In how many parts files are measured; 1 where they fit, or cannot be read twice."""
    found = list(paths)
    if not all(path.is_file() for path in found):
        return 1  # standard input, or a pipe, which is read once
    size = sum(path.stat().st_size * (1 if path.suffix in _PLAIN else _COMPRESSED) for path in found)
    return -(-size // PART_BYTES) if size > _WHOLE * PART_BYTES else 1


class _PartRows(msgspec.Struct, array_like=True):
    """Some rows of a source."""

    source: int
    columns: dict[str, list[Any]]
    lines: list[int]
    faults: tuple[Fault, ...] = ()
    aliases: dict[str, str] = {}
    notices: dict[str, int] = {}


class Partitions:
    """Rows on disk, all rows of a record in one part, in the order of the input."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._files = ExitStack()
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(_PartRows)
        self._names: list[str] = []

    def __enter__(self) -> Partitions:
        folder = Path(self._files.enter_context(tempfile.TemporaryDirectory(prefix="hallumeter-")))
        self._paths = [folder / f"part-{number}" for number in range(self._count)]
        self._streams: list[IO[bytes]] = [self._files.enter_context(path.open("wb")) for path in self._paths]
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def fill(self, sources: Iterable[tuple[str, Iterator[Batch]]]) -> None:
        """Sort all rows into the parts; what could not be read is in the first."""
        for source, (name, batches) in enumerate(sources):
            self._names.append(name)
            for batch in batches:
                self._add(batch, source)
        for stream in self._streams:
            stream.close()

    def _add(self, batch: Batch, source: int) -> None:
        records = batch.columns.get("record_id")
        places = np.zeros(len(batch.lines), dtype=np.int64)
        if records is not None:
            places = hashes(records) % self._count
        for part, stream in enumerate(self._streams):
            rows = np.flatnonzero(places == part)
            if not len(rows) and part:
                continue
            some = batch.only(rows)
            columns = {name: expanded(column) for name, column in some.columns.items()}
            rest = (batch.faults, batch.aliases, batch.notices) if part == 0 else ()
            body = self._encoder.encode(_PartRows(source, columns, list(some.lines), *rest))
            stream.write(len(body).to_bytes(4, "little") + body)

    def parts(self) -> Iterator[list[tuple[str, Iterator[Batch]]]]:
        """Each part, as named sources of batches."""
        for path in self._paths:
            yield [(name, self._read(path, source)) for source, name in enumerate(self._names)]
            path.unlink()

    def _read(self, path: Path, wanted: int) -> Iterator[Batch]:
        with path.open("rb") as stream:
            while size := stream.read(4):
                body = stream.read(int.from_bytes(size, "little"))
                rows = self._decoder.decode(body)
                if rows.source == wanted:
                    yield Batch({**rows.columns}, rows.lines, rows.faults, rows.aliases, rows.notices)
