"""Rows that are already mappings, in Python or out of a decoder, as batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from .aliases import named_batch
from .batch import Batch, Fault
from .plain_words import plain_message
from .row_schema import RowSchema

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


def batch_of(rows: Sequence[Mapping[str, object]], first: int = 1, *, fields: Collection[str] | None = ()) -> Batch:
    """Mappings as one batch, numbered from `first`; a row that does not fit becomes a fault.

    >>> batch_of([{"id": "r1", "label": "REFUTED"}, {"id": 0.5}]).faults[0].message
    'id: expected a whole number or text, found a number'
    """
    named = [{str(key): value for key, value in row.items()} for row in rows]
    schema = RowSchema(dict.fromkeys(key for row in named for key in row))
    typed = typed_rows(named, range(first, first + len(rows)), schema)
    columns = schema.raw_columns(typed.rows, typed.mappings)
    return named_batch(columns, typed.numbers, faults=typed.faults, fields=fields)


class TypedRows(msgspec.Struct, frozen=True):
    """Rows of a record type, where they stand, and which rows did not fit."""

    rows: list[msgspec.Struct]
    numbers: Sequence[int]
    mappings: Sequence[Mapping[str, object]] = ()
    """The same rows as they were given; only needed when the schema is wide."""
    faults: Sequence[Fault] = ()


def typed_rows(rows: Sequence[Mapping[str, object]], numbers: Sequence[int], schema: RowSchema) -> TypedRows:
    """Mappings as rows of the schema's record type; those that do not fit become faults."""
    try:
        return TypedRows(schema.typed(rows), numbers, rows)
    except (msgspec.ValidationError, RecursionError):
        pass
    sound: list[Mapping[str, object]] = []
    typed: list[msgspec.Struct] = []
    lines: list[int] = []
    faults: list[Fault] = []
    for number, row in zip(numbers, rows, strict=True):
        try:
            typed.append(msgspec.convert(row, schema.row_type))
        except (msgspec.ValidationError, RecursionError) as error:
            faults.append(Fault(number, "wrong_type", plain_message(error)))
        else:
            sound.append(row)
            lines.append(number)
    return TypedRows(typed, lines, sound, faults)
