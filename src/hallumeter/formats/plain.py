"""What people hold in Python, as plain rows: tables of every library, documents, test cases, and odd values in them.

Everything is recognised by what it can do. No library is imported that the caller has not imported already, but for
pyarrow, which reads tables that only speak Arrow.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import msgspec

from hallumeter.errors import RecordError
from hallumeter.records.claim import Verdict
from hallumeter.records.response import Response

from .batch import TOO_DEEP, Fault
from .fields import ALIASES, KNOWN_FIELDS, STRUCTURED_FIELDS
from .parquet import rows_of_arrow

_DEEPEST = 100
_MISSING = frozenset({"NAType", "NaTType"})
"""Types of pandas whose only value is missing."""
_IDS = frozenset({"record_id", "claim_id", "question_id"})
_NUMBERS = frozenset(name for name, kind in KNOWN_FIELDS.items() if kind is float)
"""Where NaN is a wrong number and not a missing one, but for tables, which have no other word for missing."""
PlainRow = dict[str, object]


def plain(value: object, depth: int = 0) -> object:
    """A value as JSON has it: text, a number, true or false, a list, an object, or None for what is missing.

    NaN, NaT and NA are missing; times are texts; arrays are lists; a document of LangChain or a node of LlamaIndex is
    an object with its text; any other object is its fields.

    >>> import numpy as np
    >>> plain({"a": np.array([1.5, float("nan")]), "b": (np.int64(3), dt.date(2020, 1, 2))})
    {'a': [1.5, None], 'b': [3, '2020-01-02']}

    Raises:
        TypeError: There is nothing in it that could be read.
    """
    kind = type(value)
    if value is None or kind in (str, int, bool):
        return value
    if kind is float:
        return None if value != value else value  # noqa: PLR0124 (NaN alone differs from itself)
    if depth > _DEEPEST:
        raise TypeError(TOO_DEEP)
    if kind in (list, tuple) and not hasattr(value, "_fields"):
        return [plain(item, depth + 1) for item in value]  # type: ignore[attr-defined]
    if isinstance(value, Mapping):
        return {str(name): plain(item, depth + 1) for name, item in value.items()}
    return _plain_scalar(value) if _is_scalar(value) else _plain_object(value, depth)


def _is_scalar(value: object) -> bool:
    scalars = (str, bytes, int, float, Decimal, enum.Enum, dt.date, dt.time, dt.timedelta)
    return isinstance(value, scalars) or type(value).__name__ in (*_MISSING, "UUID") or hasattr(value, "__fspath__")


def _plain_scalar(value: Any) -> object:
    if type(value).__name__ in _MISSING:
        return None
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float | int | Decimal):
        return int(value) if isinstance(value, int) else plain(float(value))
    return value.isoformat() if isinstance(value, dt.date | dt.time) else str(value)


def _plain_object(value: Any, depth: int) -> object:
    """An array, a document, or an object with fields."""
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        if getattr(value.dtype, "kind", "") in ("m", "M"):
            # numpy gives times of nanoseconds as numbers; as texts they say what they are.
            texts = value.astype(str).tolist()
            known = [None if text == "NaT" else text for text in (texts if isinstance(texts, list) else [texts])]
            return known if isinstance(texts, list) else known[0]
        return plain(value.tolist(), depth + 1)
    for method in ("to_pylist", "to_list", "as_py"):
        if callable(getattr(value, method, None)):
            return plain(getattr(value, method)(), depth + 1)
    text = document_text(value)
    if text is not None:
        return {"text": text}
    members = fields_of(value)
    if members is not None:
        return {name: plain(item, depth + 1) for name, item in members.items()}
    if isinstance(value, Iterable):
        return [plain(item, depth + 1) for item in value]
    raise TypeError(f"expected text, a number, a list or an object, found {_named(value)}")


def document_text(value: object) -> str | None:
    """The text of a document or node: `page_content`, what `get_content()` gives, or that of its `node`."""
    text = getattr(value, "page_content", None)
    if isinstance(text, str):
        return text
    if callable(getattr(value, "get_content", None)):
        content = value.get_content()  # type: ignore[attr-defined]
        return content if isinstance(content, str) else None
    node = getattr(value, "node", None)
    return None if node is None else document_text(node)


def fields_of(value: object) -> dict[str, object] | None:
    """The public fields of an object by name: of a dataclass, a pydantic model, a named tuple, or any other.

    >>> from types import SimpleNamespace
    >>> fields_of(SimpleNamespace(input="Who?", _cost=3)), fields_of(5)
    ({'input': 'Who?'}, None)
    """
    kind: Any = type(value)
    if isinstance(value, type | str | bytes | int | float) or kind.__module__ == "builtins":
        return None
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
    else:
        declared = [getattr(kind, name, None) for name in ("model_fields", "_fields", "__struct_fields__")]
        names = list(next(filter(None, declared), getattr(value, "__dict__", ())))
    found = {name: getattr(value, name, None) for name in names if not name.startswith("_")}
    return {name: item for name, item in found.items() if not callable(item)} or None


def plain_rows(given: object) -> Iterator[PlainRow | Fault]:
    """Rows out of whatever holds them, in their order; one that cannot be used is a fault with its number.

    Lists, generators, a single row, columns by name, tables of pandas, polars, pyarrow and of everything that speaks
    Arrow, datasets, and collections of test cases.
    """
    items, is_table = _items(given)
    for number, item in enumerate(items, 1):
        yield plain_row(item, number, is_table=is_table)


def plain_row(item: object, number: int, *, is_table: bool = False) -> PlainRow | Fault:
    """One row: a mapping, a response, a verdict, or an object with fields such as a test case."""
    members = _members(item)
    if members is None:
        message = f"expected a mapping, a response or an object with fields, found {_named(item)}"
        return Fault(number, "wrong_type", message)
    row: PlainRow = {}
    for name, value in members.items():
        try:
            row[str(name)] = _cell(str(name), value, is_table=is_table)
        except (TypeError, RecursionError) as error:
            if ALIASES.get(str(name), str(name)) in KNOWN_FIELDS:
                reason = TOO_DEEP if isinstance(error, RecursionError) else str(error)
                return Fault(number, "wrong_type", f"{name}: {reason}")
            row[str(name)] = f"({_named(value)})"  # nothing of ours: what it was is all that can be kept
    try:
        msgspec.json.encode(row)
    except UnicodeEncodeError:
        return Fault(number, "bad_encoding", "a text holds half of a character (a lone surrogate); repair it")
    except (TypeError, OverflowError, RecursionError) as error:
        return Fault(number, "wrong_type", str(error))
    return row


def _cell(name: str, value: object, *, is_table: bool) -> object:
    own = ALIASES.get(name, name)
    if own in _NUMBERS and not is_table and type(value) is float:
        return value
    found = plain(value)
    if own in _IDS and isinstance(found, float) and found.is_integer():
        return int(found)  # a column of whole numbers with gaps is one of floating point
    return found


def _members(item: object) -> Mapping[str, object] | None:
    if isinstance(item, Response):
        built = msgspec.to_builtins(item)
        return {**built.pop("fields"), **{name: value for name, value in built.items() if value is not None}}
    if isinstance(item, Verdict):
        built = msgspec.to_builtins(item)
        return {name: value for name, value in built.items() if name != "evidence" and value not in (None, [], ())}
    if isinstance(item, Mapping):
        return item
    if hasattr(item, "to_dict") and hasattr(item, "index"):  # a row of pandas
        return dict(item.to_dict())
    return fields_of(item)


def _items(given: Any) -> tuple[Iterable[object], bool]:
    """What is gone through, row by row, and whether it is a table."""
    if isinstance(given, Mapping):
        return _rows_of_mapping(given)
    if hasattr(given, "collect") and hasattr(given, "collect_schema"):  # polars, not computed yet
        given = given.collect()
    rows = next((rows(given) for attributes, rows in _TABLES if all(hasattr(given, name) for name in attributes)), None)
    if rows is not None:
        return rows, True
    # A model of pydantic is gone through by its fields; it is one row all the same.
    if isinstance(given, Iterable) and not isinstance(given, str | bytes) and not hasattr(type(given), "model_fields"):
        return given, False
    cases = next((found for name in ("test_cases", "samples") if (found := getattr(given, name, None))), None)
    return (cases, False) if isinstance(cases, list) and not isinstance(given, Response) else ([given], False)


def _rows_of_mapping(given: Mapping[object, object]) -> tuple[Iterable[object], bool]:
    """One row; or several, where every field is a list of the same length and one of them holds texts."""
    if given and all(hasattr(value, "column_names") for value in given.values()):
        splits = ", ".join(map(str, given))
        raise RecordError(f"expected one table, found several by name ({splits}); choose one of them")
    columns = {str(name): value for name, value in given.items() if isinstance(value, list | tuple)}
    texts = [value for name, value in columns.items() if ALIASES.get(name, name) not in STRUCTURED_FIELDS]
    has_text = any(value and all(isinstance(item, str) for item in value) for value in texts)
    if len(columns) < len(given) or len(set(map(len, columns.values()))) > 1 or not has_text:
        return [given], False
    return (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)), True


def _rows_of_pandas(frame: Any) -> Iterator[dict[str, object]]:
    names = [str(name) for name in frame.columns]
    columns = [frame.iloc[:, place].tolist() for place in range(len(names))]
    if frame.index.name is not None and str(frame.index.name) not in names:
        names, columns = [str(frame.index.name), *names], [frame.index.tolist(), *columns]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise RecordError(f"column {repeated[0]!r} stands twice; name each column once")
    for values in zip(*columns, strict=True):
        yield dict(zip(names, values, strict=True))


_TABLES: tuple[tuple[tuple[str, ...], Callable[[Any], Iterable[object]]], ...] = (
    (("iloc", "columns"), _rows_of_pandas),
    (("iter_rows", "columns"), lambda frame: frame.iter_rows(named=True)),  # polars
    (("column_names", "features"), iter),  # datasets
    (("__arrow_c_stream__",), rows_of_arrow),
    (("__arrow_c_array__",), rows_of_arrow),
)
"""What tables of different libraries can do, and how their rows are had."""


def _named(value: object) -> str:
    """The type of a value with its article.

    >>> _named(5), _named(iter([]))
    ('int', 'list_iterator')
    """
    return type(value).__name__
