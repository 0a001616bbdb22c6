"""Rows that were made elsewhere, as the records that they mean.

Decoding takes only what fits. Here a field that does not fit is left out instead, a span may be a pair, a name may be a
number, a term may stand alone: what can be understood is kept, and the rest is missing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import inspect

from hallumeter.errors import RecordError
from hallumeter.records.aspects import AspectTerm, TextSpan
from hallumeter.text.polarity_words import repaired_polarity

_Kind = TypeVar("_Kind", bound=msgspec.Struct)

UNFIT: Final = object()
"""What a value becomes that cannot be understood."""


def tolerant_record(row: Mapping[str, object], kind: type[_Kind], required: tuple[str, ...] = ()) -> _Kind:
    """The record that a row means.

    >>> from hallumeter.records.aspects import Aspect
    >>> aspect = tolerant_record({"term": 7, "span": [0, 1], "confidence": "high"}, Aspect)
    >>> aspect.term, aspect.span, aspect.confidence
    ('7', TextSpan(start=0, end=1), None)

    Raises:
        RecordError: A field that must be there is not.
    """
    for name in required:
        if not isinstance(row.get(name), str | int | float):
            raise RecordError(f"no {name}; expected an object with {', '.join(required)}")
    found = _converted(row, _type_of(kind))
    if found is UNFIT:
        raise RecordError(f"no {kind.__name__}; expected an object")
    return cast("_Kind", found)


@cache
def _type_of(kind: type[msgspec.Struct]) -> inspect.Type:
    return inspect.type_info(kind)


def _converted(value: object, kind: inspect.Type) -> object:
    """A value as a type has it, or `UNFIT`. Types nest as deep as records do, however deep values nest."""
    if isinstance(value, msgspec.Struct):
        value = msgspec.to_builtins(value)
    if isinstance(kind, inspect.UnionType):
        return _of_union(value, kind)
    if isinstance(kind, inspect.StructType):
        return _of_struct(value, kind)
    if isinstance(kind, inspect.VarTupleType | inspect.ListType):
        return _of_list(value, kind.item_type)
    if isinstance(kind, inspect.DictType):
        return _of_dict(value, kind)
    return _of_scalar(value, kind)


def _of_union(value: object, kind: inspect.UnionType) -> object:
    """The first of several types that fits; None where it may be."""
    if value is None:
        return None if any(isinstance(each, inspect.NoneType) for each in kind.types) else UNFIT
    for each in sorted(kind.types, key=lambda each: isinstance(each, inspect.StrType)):
        found = _converted(value, each)
        if found is not UNFIT:
            return found
    return UNFIT


def _of_struct(value: object, kind: inspect.StructType) -> object:
    row = _row_of(value, kind.cls)
    if row is None:
        return UNFIT
    given: dict[str, Any] = {}
    for field in kind.fields:
        found = UNFIT
        if field.encode_name in row:
            found = _converted(row[field.encode_name], field.type)
        if found is UNFIT and field.required:
            found = _missing(field.type)
            if found is UNFIT:
                return UNFIT
        if found is not UNFIT:
            given[field.name] = found
    return kind.cls(**given)


def _row_of(value: object, kind: type) -> Mapping[str, object] | None:
    """A value as an object; a span may be a pair, and the term of an aspect may stand alone."""
    if kind is TextSpan and isinstance(value, list | tuple):
        return dict(zip(("start", "end"), value, strict=True)) if len(value) == 2 else None
    if kind is AspectTerm and isinstance(value, str):
        return {"term": value}
    return value if isinstance(value, Mapping) else None


def _missing(kind: inspect.Type) -> object:
    """What stands for a required field that is not there: nothing, an empty text, or no number."""
    if isinstance(kind, inspect.UnionType) and any(isinstance(each, inspect.NoneType) for each in kind.types):
        return None
    if isinstance(kind, inspect.StrType):
        return ""
    return math.nan if isinstance(kind, inspect.FloatType) else UNFIT


def _of_list(value: object, kind: inspect.Type) -> object:
    if not isinstance(value, list | tuple):
        return UNFIT
    found = [_converted(each, kind) for each in value]
    return tuple(each for each in found if each is not UNFIT)


def _of_dict(value: object, kind: inspect.DictType) -> object:
    if not isinstance(value, Mapping):
        return UNFIT
    found = {str(key): _converted(each, kind.value_type) for key, each in value.items()}
    return {key: each for key, each in found.items() if each is not UNFIT}


def _of_scalar(value: object, kind: inspect.Type) -> object:
    if isinstance(kind, inspect.LiteralType):
        meant = (value.strip().lower(), repaired_polarity(value).value) if isinstance(value, str) else ()
        return next((each for each in (value, *meant) if each in kind.values), UNFIT)
    if isinstance(kind, inspect.BoolType):
        return value if isinstance(value, bool) else UNFIT
    if isinstance(kind, inspect.StrType):
        return _text(value)
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        return _number(value, is_whole=isinstance(kind, inspect.IntType))
    return UNFIT


def _text(value: object) -> object:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else UNFIT


def _number(value: object, *, is_whole: bool) -> object:
    """A number, given as one or as text; an infinite one is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return UNFIT
    if isinstance(value, int):
        return value if is_whole or abs(value) < 1 << 53 else UNFIT
    try:
        number = float(value)
    except ValueError:
        return UNFIT
    if not math.isfinite(number) or (is_whole and not number.is_integer()):
        return UNFIT
    return int(number) if is_whole else number
