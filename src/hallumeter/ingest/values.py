"""Values of other tools' files: of any type, from JSON or from the cells of a table."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hallumeter.formats.records import passages_of
from hallumeter.formats.shapes import evidence_in, text_in
from hallumeter.records.response import FieldValue, Passage

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
LONGEST_LITERAL = 1 << 20
"""Longer cells are kept as text: a list of passages fits, and reading a literal takes many times its length."""


def text_of(value: object) -> str | None:
    """A text, or None for nothing; other values as JSON, half characters replaced."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def number_of(value: object) -> float | None:
    """A number, NaN where the file says so; None for what is no number.

    >>> number_of("0.5"), number_of(True), number_of("good"), number_of(None)
    (0.5, 1.0, None, None)
    """
    if isinstance(value, bool | int | float):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    if isinstance(value, str):
        try:
            return float(value.strip())
        except ValueError:
            return None
    return None


def is_nothing(value: object) -> bool:
    """Whether a cell is empty: null, NaN, or no text at all."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def list_of(value: object) -> list[object]:
    """A list; a cell of a table that holds one as JSON or as Python writes it is read, code in it is not run.

    >>> list_of("['a', 'b']"), list_of('["a"]'), list_of(None), list_of("a")
    (['a', 'b'], ['a'], [], ['a'])
    """
    if is_nothing(value):
        return []
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, str) and value.lstrip().startswith("["):
        found = literal_of(value)
        if isinstance(found, list):
            return found
    return [value]


def whole_characters(value: object, written: str) -> object:
    r"""A value that was written so, with a question mark for each half of a surrogate pair: none can be stored.

    >>> whole_characters(["a\ud800"], '["a\\ud800"]')
    ['a?']
    """
    return value if _SURROGATE.search(written) is None else _whole(value)


def _whole(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list | tuple):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value


def literal_of(text: str) -> object:
    """What a text says in JSON or as a Python literal; the text itself when it says nothing."""
    if len(text) > LONGEST_LITERAL:
        return text
    for read in (json.loads, ast.literal_eval):
        try:
            return whole_characters(read(text), text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return text


def mapping_of(value: object) -> Mapping[str, object]:
    """An object of a file; an empty one for what is none."""
    return value if isinstance(value, dict) else {}


def mappings_of(value: object) -> list[Mapping[str, object]]:
    """The objects of a list."""
    return [item for item in list_of(value) if isinstance(item, dict)]


def evidence_of(value: object) -> tuple[Passage, ...]:
    """Passages, given as one text, as a list of texts or as objects."""
    items = [item if isinstance(item, dict) else text_of(item) for item in list_of(value)]
    return passages_of([item for item in items if not is_nothing(item)])


def fields_of(values: Mapping[str, object]) -> dict[str, FieldValue]:
    """What can be grouped by: plain values of an object, others as JSON."""
    return {
        str(name): value if isinstance(value, str | int | bool) else _field(value)
        for name, value in values.items()
        if not is_nothing(value)
    }


def _field(value: object) -> FieldValue:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return text_of(value)


def first_of(row: Mapping[str, object], *names: str) -> object:
    """The first of some fields that holds something."""
    return next((row[name] for name in names if not is_nothing(row.get(name))), None)


def in_one_line(value: object, longest: int = 200) -> str:
    """A message of another tool, short enough to stand in ours."""
    text = " ".join((text_of(value) or "").split())
    return text if len(text) <= longest else text[: longest - 3] + "..."


def text_within(own: str, value: object) -> str | None:
    """The text of a field in what a program took or gave, found as `hallumeter audit` finds it; else all of it as JSON.

    >>> text_within("response", {"answer": "a"}), text_within("response", {"b": 1}), text_within("response", None)
    ('a', '{"b": 1}', None)
    """
    found = text_in(own, value)
    return (None if is_nothing(value) else text_of(value)) if found is None else text_of(found)


class Exchange(NamedTuple):
    """What went into a traced program, what came out, and what it had to go by."""

    question: str | None
    response: str
    evidence: tuple[Passage, ...]

    @classmethod
    def of(cls, asked: object, said: object, *others: object, retrieved: Sequence[object] = ()) -> Exchange:
        """Read inputs and outputs; evidence is what was `retrieved`, else what the outputs, inputs or `others` hold."""
        held = (found for holder in (said, asked, *others) if (found := evidence_in(holder)) is not None)
        return cls(
            text_within("question", asked),
            text_within("response", said) or "",
            evidence_of(list(retrieved) or next(held, None)),
        )
