"""Values that somebody printed: lists, objects and documents as Python writes them; nothing in them is ever run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

LONGEST_LITERAL = 1 << 20
"""Longer texts are left alone: a list of passages fits."""
_DEEPEST = 50
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
      | (?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
      | (?P<name>-?[A-Za-z_][\w.]*)
      | (?P<opaque><[^<>]{0,500}>)
      | (?P<mark>[\[\](){},:=])
    )""",
    re.VERBOSE | re.DOTALL,
)
_NAMED: dict[str, object] = {
    **dict.fromkeys(("None", "null", "nan", "NaN", "NaT", "inf", "-inf", "-nan")),
    **dict.fromkeys(("True", "true"), True),
    **dict.fromkeys(("False", "false"), False),
}
_SEQUENCES = frozenset({"array", "np.array", "list", "tuple", "Series", "deque"})
"""Calls that stand for their first argument."""
_CLOSING = {"[": "]", "(": ")", "{": "}"}


def literal_of(text: str) -> list[object] | dict[str, object] | None:
    """The list or object that a text spells as Python prints it; None when it is anything else.

    An object such as ``Document(page_content='a')`` is the mapping of its arguments. Texts that stand side by side
    without a comma are items of their own, as numpy prints them.

    >>> literal_of("['a', {'b': None}]"), literal_of("[1] A note.")
    (['a', {'b': None}], None)
    """
    if len(text) > LONGEST_LITERAL:
        return None
    try:
        parser = _Parser(_tokens(text))
        value = parser.value(0)
        parser.expect("end")
    except _NotALiteralError:
        return None
    return value if isinstance(value, list | dict) else None


class _NotALiteralError(Exception):
    """The text is something else."""


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place, end = 0, len(text.rstrip())
    while place < end:
        found = _TOKEN.match(text, place)
        if found is None or found.lastgroup is None:
            raise _NotALiteralError
        yield found.lastgroup, found[found.lastgroup]
        place = found.end()
    yield "mark", "end"


class _Parser:
    """Reads one value from tokens, one token ahead."""

    def __init__(self, tokens: Iterator[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._kind, self._token = next(tokens)

    def _next(self) -> str:
        token = self._token
        self._kind, self._token = next(self._tokens, ("mark", "end"))
        return token

    def _is(self, mark: str) -> bool:
        return self._kind == "mark" and self._token == mark

    def expect(self, mark: str) -> None:
        """Go past a mark that must stand here."""
        if not self._is(mark):
            raise _NotALiteralError
        self._next()

    def value(self, depth: int) -> object:
        if depth > _DEEPEST:
            raise _NotALiteralError
        kind, token = self._kind, self._next()
        if kind == "text":
            return _unquoted(token)
        if kind == "number":
            return float(token) if set(token) & set(".eE") else int(token[:4000])
        if kind == "opaque":
            return None
        if kind == "name":
            return self._after_name(token, depth)
        if token not in _CLOSING:
            raise _NotALiteralError
        closing = _CLOSING[token]
        return self._members(depth) if closing == "}" else self._items(closing, depth)

    def _after_name(self, name: str, depth: int) -> object:
        if not self._is("("):
            return _named(name)
        if depth > _DEEPEST:
            raise _NotALiteralError
        return self._call(name, depth)

    def _items(self, closing: str, depth: int) -> list[object]:
        items: list[object] = []
        while not self._is(closing):
            items.append(self.value(depth + 1))
            if self._is(","):
                self._next()
            elif not self._is(closing) and not (self._kind == "text" and isinstance(items[-1], str)):
                raise _NotALiteralError
        self._next()
        return items

    def _members(self, depth: int) -> dict[str, object]:
        members: dict[str, object] = {}
        while not self._is("}"):
            key = self.value(depth + 1)
            self.expect(":")
            members[str(key)] = self.value(depth + 1)
            self._comma_before("}")
        self._next()
        return members

    def _call(self, name: str, depth: int) -> object:
        """The arguments of what was printed as a call: those with a name, or the only one of a sequence."""
        self._next()
        named: dict[str, object] = {}
        others: list[object] = []
        while not self._is(")"):
            is_name, token = self._kind == "name", self._token
            if is_name and token not in _NAMED:
                self._next()
                if self._is("="):
                    self._next()
                    # A type, as in dtype=object, is nothing that could be read.
                    named[token] = self._type_or_value(depth + 1)
                else:
                    others.append(self._after_name(token, depth + 1))
            else:
                others.append(self.value(depth + 1))
            self._comma_before(")")
        self._next()
        return others[0] if name in _SEQUENCES and others else named

    def _type_or_value(self, depth: int) -> object:
        if self._kind != "name" or self._token in _NAMED:
            return self.value(depth)
        name = self._next()
        return self._after_name(name, depth) if self._is("(") else None

    def _comma_before(self, closing: str) -> None:
        if self._is(","):
            self._next()
        elif not self._is(closing):
            raise _NotALiteralError


def _named(token: str) -> object:
    if token not in _NAMED:
        raise _NotALiteralError
    return _NAMED[token]


def _unquoted(token: str) -> str:
    try:
        return str(ast.literal_eval(token))
    except (ValueError, SyntaxError) as error:
        raise _NotALiteralError from error
