"""The leaves of a response that is JSON: every field that holds a value."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from msgspec import Struct

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_MANY_WORDS = 5
"""From so many words on, an item of a list is a statement of its own."""


class Leaf(Struct, frozen=True):
    """A value with its key, or an item of a list."""

    start: int
    end: int
    value_start: int
    """First character of the value, inside the quotes of a string."""
    value_end: int


def json_leaves(text: str) -> list[Leaf] | None:
    """The leaves of a response that is a JSON object or list as a whole, or None when it is not.

    A list of short values stays with its key. Null and empty values state nothing and are left out.

    >>> text = '{"city": "Paris", "rivers": ["Seine"], "mayor": null}'
    >>> [text[leaf.start : leaf.end] for leaf in json_leaves(text)]
    ['"city": "Paris"', '"rivers": ["Seine"]']
    """
    start, end = _without_fence(text)
    body = text[start:end].strip()
    if body[:1] not in {"{", "["} or body[-1:] not in {"}", "]"} or not _is_json(body):
        return None
    return list(_leaves(text, start, end))


def _without_fence(text: str) -> tuple[int, int]:
    """Where the body of a response stands that is one fenced block as a whole, else all of it."""
    whole = text.strip()
    first_line_end = text.find("\n", text.find("```"))
    if not whole.startswith("```") or not whole.endswith("```") or len(whole) < 6 or first_line_end < 0:
        return 0, len(text)
    return first_line_end, text.rindex("```")


def _is_json(body: str) -> bool:
    try:
        msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False
    return True


def _leaves(text: str, start: int, end: int) -> Iterator[Leaf]:
    tokens = [(match.start(), match.end()) for match in _TOKEN.finditer(text, start, end)]
    key: int | None = None
    in_list: list[bool] = []
    number = 0
    while number < len(tokens):
        first, last = tokens[number]
        piece = text[first:last]
        size = _short_list(text, tokens, number) if piece == "[" and key is not None else 0
        if size:
            yield Leaf(_given(key, first), tokens[number + size][1], first, tokens[number + size][1])
            number += size
        elif piece in {"{", "["}:
            in_list.append(piece == "[")
        elif piece in {"}", "]"}:
            in_list.pop()
        elif piece == ",":
            key = None
        elif not in_list[-1] and key is None:
            key = first
        elif piece != ":" and piece not in {"null", '""'}:
            yield _leaf(text, _given(key, first), first, last=last)
        # A list or object inside of a key's value does not carry the key on.
        key = None if piece in {"{", "["} else key
        number += 1


def _given(key: int | None, first: int) -> int:
    return first if key is None else key


def _leaf(text: str, start: int, first: int, *, last: int) -> Leaf:
    is_string = text[first] == '"'
    return Leaf(start, last, first + is_string, last - is_string)


def _short_list(text: str, tokens: list[tuple[int, int]], number: int) -> int:
    """How many tokens after its bracket a list of short values takes; 0 when it is empty or none of that kind."""
    size = 1
    while (piece := text[slice(*tokens[number + size])]) != "]":
        if piece in {"{", "["} or len(piece.split()) >= _MANY_WORDS:
            return 0
        size += 1
    return size if size > 1 else 0
