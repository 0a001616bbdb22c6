"""The values of a JSON text, or of the same as Python prints it, with their keys and their places in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

import msgspec
from msgspec import Struct

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_PYTHON_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"']+""")
_PYTHON_BEGIN = re.compile(r"""\s*[\[{]+\s*(?:'|"[^"]*"\s*:|\d)""")
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|.)")
LABELS = frozenset({"name", "label", "title", "category", "key", "property"})
"""Keys whose values name what stands beside them."""
_PLAIN = frozenset({"value", "val", "text", "amount"})
_LONGEST_LABEL = 6
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_|-")


Value = str | int | float | bool | None


class Leaf(Struct, frozen=True):
    """One value that is neither an object nor an array."""

    path: tuple[str, ...]
    """Keys from the outside in, in words: "BusinessParking" is "Business Parking"."""
    start: int
    """Where the value begins in the passage, inside its quotation marks."""
    end: int
    text: str
    """The value as text."""
    value: Value
    places: tuple[int, ...] = ()
    """Where each character of the text stands in the passage, when escapes make that uneven; with the end."""


def json_leaves(text: str) -> list[Leaf] | None:
    """All values of a JSON object or array in the order of the text; None when the text is nothing of the kind.

    What Python prints of a dictionary or a list is read as well: people often have their records in that form.
    A short value of a key such as "name" also names the values that follow it in the same object.

    >>> [(leaf.path, leaf.text, leaf.start) for leaf in json_leaves('{"goodFor": {"kids": true}, "stars": [4.5]}')]
    [(('good For', 'kids'), 'true', 21), (('stars',), '4.5', 38)]
    >>> [leaf.path for leaf in json_leaves('[{"name": "Weight", "value": "221 g"}]')]
    [('name',), ('Weight',)]
    >>> [(leaf.path, leaf.value) for leaf in json_leaves("{'open': True, 'WiFi': None}")]
    [(('open',), True), (('Wi Fi',), None)]
    """
    if not text.lstrip().startswith(("{", "[")):
        return None
    notation = _notation(text)
    if notation is None:
        return None
    leaves: list[Leaf] = []
    levels: list[_Level] = []
    tokens = list(notation.token.finditer(text))
    for place, token in enumerate(tokens):
        written = token.group()
        if written in "{[":
            levels.append(_Level())
        elif written in "}]":
            levels.pop()
        elif written not in ":,":
            if place + 1 < len(tokens) and tokens[place + 1].group() == ":":
                levels[-1].key = _CAMEL.sub(" ", str(notation.value(written)))
            else:
                leaves.append(_leaf(_path(levels), token, notation.value(written)))
                _keep_label(levels[-1], leaves[-1])
    return leaves


class _Notation(Struct, frozen=True):
    """A way in which records are written."""

    token: re.Pattern[str]
    value: Callable[[str], Value]


def _notation(text: str) -> _Notation | None:
    """How a text is written: JSON, or a dictionary or list as Python prints it; None when it is neither."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):  # the last: nested too deeply
        return _Notation(_PYTHON_TOKEN, _python_value) if _is_python(text) else None
    return _Notation(_TOKEN, msgspec.json.decode)


def _is_python(text: str) -> bool:
    if _PYTHON_BEGIN.match(text) is None:
        return False
    try:
        return isinstance(ast.literal_eval(text.strip()), dict | list)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return False


def _python_value(written: str) -> Value:
    try:
        value: Value = ast.literal_eval(written)
    except (SyntaxError, ValueError):  # a part of a tuple, or of a number with a sign apart
        return written
    return value if isinstance(value, Value) else written


class _Level(Struct):
    """An object or array that is open: its current key, and what names it."""

    key: str = ""
    label: str = ""


def _keep_label(level: _Level, leaf: Leaf) -> None:
    is_label = level.key.lower() in LABELS and isinstance(leaf.value, str)
    if is_label and 0 < len(leaf.text.split()) <= _LONGEST_LABEL:
        level.label = leaf.text


def _path(levels: list[_Level]) -> tuple[str, ...]:
    path: list[str] = []
    for depth, level in enumerate(levels):
        is_plain = bool(level.label) and level.key.lower() in _PLAIN
        label = level.label if depth or is_plain else ""  # the name of the whole names no part of it
        path += [part for part in (label, "" if is_plain else level.key) if part]
    return tuple(path)


def _leaf(path: tuple[str, ...], token: re.Match[str], value: Value) -> Leaf:
    written = token.group()
    start, end = token.span()
    if not isinstance(value, str) or written[0] not in "'\"":
        return Leaf(path, start, end, written, value)
    if "\\" not in written:
        return Leaf(path, start + 1, end - 1, value, value)
    return Leaf(path, start + 1, end - 1, value, value, _places(written, start))


def _places(written: str, start: int) -> tuple[int, ...]:
    """Where each decoded character of a string with escapes stands, and where the string ends."""
    places: list[int] = []
    place = 1
    while place < len(written) - 1:
        escape = _ESCAPE.match(written, place)
        places.append(start + place)
        end = escape.end() if escape is not None else place + 1
        is_pair = escape is not None and escape.group()[2:4].lower() in {"d8", "d9", "da", "db"}
        place = end + 6 if is_pair else end
    return (*places, start + len(written) - 1)
