"""Values of a YAML file with their places, and the checks that their readers need; every fault is kept."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Collection
from typing import TypeAlias

from msgspec import Struct

from hallumeter.errors import SettingsError

Scalar: TypeAlias = str | int | float | bool | None
Plain: TypeAlias = "Scalar | list[Plain] | dict[str, Plain]"
Keys: TypeAlias = tuple[str | int, ...]
"""Where a value stands: the keys and positions that lead to it from the top."""
_MOST_SHOWN = 40


class Place(Struct, frozen=True, order=True):
    """Where something stands in a file; both count from 1."""

    line: int
    column: int


class YamlFault(Struct, frozen=True):
    """Something in a file that cannot be used."""

    file: str
    place: Place
    keys: Keys
    message: str
    is_syntax: bool = False
    """Whether it keeps the file from being read at all."""

    def __str__(self) -> str:
        where = f"{self.file}:{self.place.line}:{self.place.column}"
        return ": ".join(filter(None, [where, ".".join(map(str, self.keys)), self.message]))


class YamlNode(Struct, frozen=True):
    """A value and its place."""

    keys: Keys
    place: Place
    value: Scalar | tuple[YamlNode, ...] | dict[str, YamlNode]
    key_places: dict[str, Place] = {}
    """Of a mapping: where its keys stand."""

    @property
    def plain(self) -> Plain:
        """The value without its places."""
        if isinstance(self.value, dict):
            return {key: node.plain for key, node in self.value.items()}
        return [node.plain for node in self.value] if isinstance(self.value, tuple) else self.value


class YamlFile:
    """A file, its values, and what is wrong with them: readers of the values add what they find."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.root: YamlNode | None = None
        """None when the file cannot be read as YAML."""
        self.faults: list[YamlFault] = []

    def refuse(self, node: YamlNode, message: str) -> None:
        """Keep a fault of a value."""
        self.faults.append(YamlFault(self.name, node.place, node.keys, message))

    def place_of(self, keys: Keys) -> str | None:
        """The place of a value as ``file:line:column``; of what is missing, that of the mapping or list around it."""
        node = self.root
        for key in keys:
            inside = None
            if node is not None and isinstance(node.value, dict):
                inside = node.value.get(str(key))
            elif node is not None and isinstance(node.value, tuple) and isinstance(key, int):
                inside = node.value[key] if 0 <= key < len(node.value) else None
            if inside is None:
                break
            node = inside
        return None if node is None else f"{self.name}:{node.place.line}:{node.place.column}"

    def raise_faults(self) -> None:
        """Stop when something is wrong, naming all of it.

        Raises:
            SettingsError: There are faults.
        """
        if self.faults:
            in_order = sorted(self.faults, key=lambda fault: fault.place)
            raise SettingsError(";\n".join(map(str, in_order)))

    def entries(
        self, node: YamlNode | None, *, known: Collection[str], needed: Collection[str] = ()
    ) -> dict[str, YamlNode]:
        """The entries of a mapping that has certain keys and no others."""
        if node is None:
            return {}
        if not isinstance(node.value, dict):
            self._expected("a mapping", node)
            return {}
        for key in node.value:
            if key not in known:
                unknown = YamlNode((*node.keys, key), node.key_places[key], None)
                self.refuse(unknown, f"unknown key; {nearest(key, known)}")
        for key in needed:
            if key not in node.value:
                self.refuse(node, f"lacks {key!r}; give it")
        return {key: entry for key, entry in node.value.items() if key in known}

    def named(self, node: YamlNode | None) -> dict[str, YamlNode]:
        """The entries of a mapping whose keys are names of the user's own."""
        if node is None:
            return {}
        if isinstance(node.value, dict):
            return node.value
        self._expected("a mapping", node)
        return {}

    def items(self, node: YamlNode | None) -> tuple[YamlNode, ...]:
        """The entries of a list; a missing one is empty."""
        if node is None:
            return ()
        if isinstance(node.value, tuple):
            return node.value
        self._expected("a list", node)
        return ()

    def text(self, node: YamlNode | None) -> str | None:
        """Text; a number or a boolean counts as what was written only in quotes."""
        if node is None:
            return None
        if isinstance(node.value, str) and node.value.strip():
            return node.value.strip()
        self._expected("text", node)
        return None

    def number(
        self,
        node: YamlNode | None,
        expected: str = "a number",
        *,
        accepts: Callable[[float], bool] = math.isfinite,
    ) -> float | None:
        """A finite number that is accepted; `expected` says in words which numbers are."""
        if node is None:
            return None
        is_number = isinstance(node.value, int | float) and not isinstance(node.value, bool)
        if is_number and math.isfinite(node.value) and accepts(node.value):  # type: ignore[arg-type]
            return float(node.value)  # type: ignore[arg-type]
        self._expected(expected, node)
        return None

    def choice(self, node: YamlNode | None, among: Collection[Scalar]) -> Scalar:
        """One of some values."""
        if node is None:
            return None
        # In Python 1 is True, and both are numbers; in a file they are not the same.
        if isinstance(node.value, Scalar) and any(node.value is one or repr(node.value) == repr(one) for one in among):
            return node.value
        self._expected(f"one of {', '.join(_shown(value) for value in among)}", node)
        return None

    def _expected(self, what: str, node: YamlNode) -> None:
        self.refuse(node, f"expected {what}, found {_shown(node.value)}")


def nearest(word: str, known: Collection[str]) -> str:
    """What may have been meant by a word that is not known.

    >>> nearest("penalties", ["penalty", "name"])
    "did you mean 'penalty'?"
    """
    near = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}"


def _shown(value: object) -> str:
    """What stands there, in few words."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return repr(value if len(value) <= _MOST_SHOWN else f"{value[:_MOST_SHOWN]}…")
    if isinstance(value, bool):
        return str(value).lower()
    return "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, tuple) else str(value)
