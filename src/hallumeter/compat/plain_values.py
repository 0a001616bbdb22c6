"""What other programs hand in, as plain mappings, lists and values: their objects are read by their attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from msgspec import Struct

from hallumeter.errors import RecordError


def plain_value(value: object) -> Any:
    """A value in which every object, however deep, is a mapping of its attributes; what has none stays as it is.

    >>> from types import SimpleNamespace
    >>> plain_value([SimpleNamespace(term="battery", span=SimpleNamespace(start=0, end=7))])
    [{'term': 'battery', 'span': {'start': 0, 'end': 7}}]
    """
    if isinstance(value, Enum):
        return plain_value(value.value)
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {key: plain_value(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain_value(each) for each in value]
    names = _names_of(value)
    if names is not None:
        return {name: plain_value(getattr(value, name)) for name in names if hasattr(value, name)}
    return tuple(plain_value(each) for each in value) if isinstance(value, tuple) else value


def plain_mapping(value: object, where: str) -> dict[str, Any]:
    """A mapping or an object as a plain mapping.

    Raises:
        RecordError: It is neither.
    """
    try:
        found = plain_value(value)
    except RecursionError:
        raise RecordError(f"{where}: nested too deeply, or within itself") from None
    if not isinstance(found, dict):
        told = "nothing" if value is None else f"{type(value).__name__} {value!r}"[:80]
        raise RecordError(f"{where}: expected a mapping or an object with attributes, found {told}")
    return found


def listed(values: object, where: str) -> list[object]:
    """The items of anything that holds several.

    Raises:
        RecordError: It holds none; a text and a mapping are one thing, not several.
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise RecordError(f"{where}: expected a list, found {'nothing' if values is None else type(values).__name__}")
    return list(values)


def _names_of(value: object) -> list[str] | None:
    """The attributes by which an object is read; None for what is no object of somebody's own class.

    Properties are read only where nothing else is to be seen: some classes warn when theirs are.
    """
    kind = type(value)
    if isinstance(value, type) or callable(value):
        return None
    if isinstance(value, Struct):
        return list(value.__struct_fields__)
    if is_dataclass(value):
        return [field.name for field in fields(value)]
    if isinstance(value, tuple):
        return list(getattr(kind, "_fields", ())) or None
    slots = [getattr(each, "__slots__", ()) for each in kind.__mro__]
    if not hasattr(value, "__dict__") and not any(slots):
        return None
    stored = [*getattr(value, "__dict__", ()), *(name for each in slots for name in _several(each))]
    seen = [name for name in stored if not name.startswith("_")]
    return seen or [name for each in kind.__mro__ for name, what in vars(each).items() if isinstance(what, property)]


def _several(slots: str | Iterable[str]) -> Iterable[str]:
    return (slots,) if isinstance(slots, str) else slots
