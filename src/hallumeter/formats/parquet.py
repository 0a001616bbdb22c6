"""Parquet files, read by columns, and tables in memory that speak Arrow; needs the extra ``parquet``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from hallumeter.errors import InputError, MissingExtraError

from .batch import Batch, Coded, Column, Fault, Numbers, expanded, plain_message
from .fields import ALIASES, KNOWN_FIELDS, Position, rivals
from .shapes import AS_NAMED, TEXTS, RowShape, shaped_batch

ROWS_AT_A_TIME = 1 << 17
_REPEATING = ("record_id", "id", "judge", "model", "label", "question", "question_id", "reason")
"""Columns whose texts repeat, so that they are read as codes into a dictionary."""
_CHECKED_BY_ROW = ("probabilities", "inference_samples", "samples", "token_logprobs")
"""Lists and objects: their type alone does not say whether a number is missing inside."""
_EXPECTED = {
    str: "text",
    Position: "a number",
    float: "a number",
    bool: "true or false",
    str | int: "text or whole numbers",
}


def read_parquet(path: Path, fields: Collection[str] | None = (), *, shape: RowShape = AS_NAMED) -> Iterator[Batch]:
    """Read the known columns of a Parquet file, and the further fields that are asked for; None asks for all."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError("parquet", f"{path.name}: reading Parquet") from error
    try:
        present = parquet.read_schema(path)
        _check_names(path, present.names)
        repeating = [
            name for name in _REPEATING if name in present.names and pa.types.is_string(present.field(name).type)
        ]
        with parquet.ParquetFile(path, read_dictionary=repeating) as file:
            names = [name for name in present.names if fields is None or _is_wanted(name, fields, shape)]
            _check_types(path, present, names, shape=shape)
            yield from _batches(file, names, fields, shape=shape)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path.name}: not a readable Parquet file ({_first_line(error)})") from error


def _batches(file: Any, names: list[str], fields: Collection[str] | None, *, shape: RowShape) -> Iterator[Batch]:
    row = 1
    for batch in file.iter_batches(batch_size=ROWS_AT_A_TIME, columns=names):
        lines = range(row, row + batch.num_rows)
        columns = {name: _column(batch.column(name)) for name in names}
        faults = [fault for name in _CHECKED_BY_ROW if name in columns for fault in _check_rows(name, columns, lines)]
        named = shaped_batch(columns, lines, faults=faults, fields=fields, shape=shape)
        yield named.without({fault.line for fault in faults}) if faults else named
        row += batch.num_rows


def rows_of_arrow(given: Any) -> Iterator[dict[str, object]]:
    """The rows of a table in memory that speaks Arrow."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError("parquet", "reading an Arrow table") from error
    is_stream = hasattr(given, "__arrow_c_stream__")
    batches = pa.RecordBatchReader.from_stream(given) if is_stream else [pa.record_batch(given)]
    for batch in batches:
        names = batch.schema.names
        columns = [expanded(_column(batch.column(place))) for place in range(len(names))]
        for values in zip(*columns, strict=True):
            yield dict(zip(names, values, strict=True))


def _is_wanted(name: str, fields: Collection[str], shape: RowShape) -> bool:
    return name in KNOWN_FIELDS or name in ALIASES or name in fields or shape.is_wanted(name)


def _check_names(path: Path, names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(f"{path.name}: column {repeated[0]!r} stands twice; name each column once")


def _check_types(path: Path, schema: Any, names: list[str], *, shape: RowShape) -> None:
    """Refuse columns that cannot hold what their field needs; an alias beside its field may hold anything."""
    for name in names:
        if (name in ALIASES and rivals(name, names)) or shape.is_untyped(name):
            continue
        kind = KNOWN_FIELDS.get(ALIASES.get(name, name))
        found = schema.field(name).type
        if not _fits(found, kind) and not (_is_nested(found) and shape.is_open and ALIASES.get(name, name) in TEXTS):
            raise InputError(f"{path.name}: column {name!r}: expected {_EXPECTED[kind]}, found {found}")  # type: ignore[index]


def _fits(found: Any, kind: object) -> bool:
    import pyarrow.types as kinds

    held = found.value_type if kinds.is_dictionary(found) else found
    is_text = kinds.is_string(held) or kinds.is_large_string(held) or kinds.is_string_view(held)
    is_whole = kinds.is_integer(held)
    by_kind = {
        str: is_text,
        Position: is_whole or kinds.is_floating(held),
        float: is_whole or kinds.is_floating(held),
        bool: kinds.is_boolean(held),
        str | int: is_text or is_whole,
    }
    return kinds.is_null(held) or by_kind.get(kind, True)  # type: ignore[call-overload, no-any-return]


def _is_nested(found: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_nested(found))


def _check_rows(name: str, columns: dict[str, Column], lines: Sequence[int]) -> Iterator[Fault]:
    """Values of a column that are not what their field holds."""
    values = expanded(columns[name])
    kind: Any = KNOWN_FIELDS[name]
    if name in ("probabilities", "inference_samples"):
        columns[name] = values = list(map(_without_gaps, values))
    for line, value in zip(lines, values, strict=True):
        try:
            msgspec.convert(value, kind | None)
        except msgspec.ValidationError as error:
            yield Fault(line, "wrong_type", name + plain_message(error).removeprefix("row"))
            continue
        if name == "token_logprobs" and value is not None and not np.isfinite(value).all():  # type: ignore[call-overload]
            yield Fault(line, "wrong_type", f"{name}: expected finite numbers, found NaN or infinity")


def _without_gaps(value: object) -> object:
    """A distribution by name: every row of a table has all the names, and null where another row would have none."""
    if isinstance(value, list):
        return list(map(_without_gaps, value))
    return {name: number for name, number in value.items() if number is not None} if isinstance(value, dict) else value


def _column(values: Any) -> Column:
    """Repeating texts as codes into their distinct values, numbers as numbers, all else as a list."""
    import pyarrow.types as kinds

    kind = values.type
    if kinds.is_floating(kind):
        missing = _as_array(values.is_null().cast("int8")).astype(bool)
        return Numbers(_as_array(values.cast("float64").fill_null(0)), missing)
    if kinds.is_dictionary(kind):
        values.validate(full=True)  # a damaged file may have codes that its dictionary lacks
        codes = _as_array(values.indices.fill_null(len(values.dictionary)).cast("int64"))
        return Coded([*_listed(values.dictionary), None], codes)
    return _listed(values)


def _listed(values: Any) -> list[object]:
    """Values as Python has them; times and dates as their text, which loses no nanosecond."""
    import pyarrow.types as kinds

    if kinds.is_temporal(values.type) and not kinds.is_duration(values.type):
        values = values.cast("string")
    elif kinds.is_duration(values.type):
        values = values.cast("int64")
    listed: list[object] = values.to_pylist()
    if kinds.is_map(values.type) and (kinds.is_string(values.type.key_type) or kinds.is_integer(values.type.key_type)):
        return [None if pairs is None else dict(pairs) for pairs in listed]  # type: ignore[call-overload]
    return listed


def _as_array(values: Any) -> NDArray[Any]:
    """Numbers without gaps as numpy sees them; to_numpy would import pandas where it is installed."""
    return np.from_dlpack(values)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
