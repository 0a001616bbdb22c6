"""A document as JSON, for other programs; and made fit for UTF-8."""

from __future__ import annotations

import re
from typing import TypeVar

from msgspec import Struct, json

from .document import Document

_ENCODER = json.Encoder()
_SURROGATE = re.compile("[\ud800-\udfff]")
_Value = TypeVar("_Value")


def document_json(document: Document) -> str:
    """A document as indented JSON; `msgspec.json.decode(…, type=Document)` reads it back."""
    return json.format(_ENCODER.encode(document), indent=2).decode() + "\n"


def document_schema() -> str:
    """The JSON Schema of documents."""
    return json.format(_ENCODER.encode(json.schema(Document)), indent=2).decode() + "\n"


def encodable(value: _Value) -> _Value:
    r"""The same value with every lone surrogate replaced, since UTF-8 cannot carry one; positions stay.

    >>> encodable(("a\ud800b", 1))
    ('a�b', 1)
    """
    try:
        _ENCODER.encode(value)
    except UnicodeEncodeError:
        # The union of containers is walked by shape; each branch gives back the type that it was given.
        return _encodable(value)  # type: ignore[return-value]
    return value


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, tuple | list):
        return type(value)(_encodable(item) for item in value)
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, Struct):
        return type(value)(**{name: _encodable(getattr(value, name)) for name in value.__struct_fields__})
    return value
