"""Parquet files, read by columns; needs the extra ``parquet``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hallumeter.errors import InputError, MissingExtraError

from .batch import Batch, Coded, Column, Numbers
from .row_schema import ALIASES, KNOWN_FIELDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

ROWS_AT_A_TIME = 1 << 17
_REPEATING = ("record_id", "id", "judge", "model", "label", "question", "question_id", "reason")
"""Columns whose texts repeat, so that they are read as codes into a dictionary."""


def read_parquet(path: Path, fields: Collection[str] | None = ()) -> Iterator[Batch]:
    """Read the known columns of a Parquet file, and the further fields that are asked for; None asks for all."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError("parquet", f"{path.name}: reading Parquet") from error
    try:
        present = parquet.read_schema(path)
        repeating = [
            name for name in _REPEATING if name in present.names and pa.types.is_string(present.field(name).type)
        ]
        file = parquet.ParquetFile(path, read_dictionary=repeating)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path.name}: not a readable Parquet file ({_first_line(error)})") from error
    with file:
        names = [name for name in file.schema_arrow.names if fields is None or _is_wanted(name, fields)]
        aliases = {name: ALIASES[name] for name in names if name in ALIASES and ALIASES[name] not in names}
        _check_types(path, file.schema_arrow, aliases)
        row = 1
        for batch in file.iter_batches(batch_size=ROWS_AT_A_TIME, columns=names):
            columns = {aliases.get(name, name): _column(batch.column(name)) for name in names}
            yield Batch(columns, range(row, row + batch.num_rows), aliases=aliases)
            row += batch.num_rows


def _is_wanted(name: str, fields: Collection[str]) -> bool:
    return name in KNOWN_FIELDS or name in ALIASES or name in fields


def _check_types(path: Path, schema: Any, aliases: dict[str, str]) -> None:
    import pyarrow.types as kinds

    texts = {name for name, kind in KNOWN_FIELDS.items() if kind is str}
    numbers = {name for name, kind in KNOWN_FIELDS.items() if kind in (int, float)}
    for column in schema:
        name = aliases.get(column.name, column.name)
        kind = column.type.value_type if kinds.is_dictionary(column.type) else column.type
        is_text = kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_null(kind)
        is_number = kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_null(kind)
        if (name in texts and not is_text) or (name in numbers and not is_number):
            expected = "text" if name in texts else "a number"
            raise InputError(f"{path.name}: column {column.name!r}: expected {expected}, found {column.type}")


def _column(values: Any) -> Column:
    """Repeating texts as codes into their distinct values, numbers as numbers, all else as a list."""
    import pyarrow.types as kinds

    if kinds.is_floating(values.type):
        missing = _as_array(values.is_null().cast("int8")).astype(bool)
        return Numbers(_as_array(values.fill_null(0).cast("float64")), missing)
    if not kinds.is_dictionary(values.type):
        listed: list[object] = values.to_pylist()
        return listed
    codes = _as_array(values.indices.fill_null(len(values.dictionary)).cast("int64"))
    return Coded([*values.dictionary.to_pylist(), None], codes)


def _as_array(values: Any) -> NDArray[Any]:
    """Numbers without gaps as numpy sees them; to_numpy would import pandas where it is installed."""
    return np.from_dlpack(values)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
