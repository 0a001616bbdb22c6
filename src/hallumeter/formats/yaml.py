"""Values of a YAML file with their places, and the checks that their readers need; every fault is kept."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TypeAlias

import yaml
from msgspec import Struct

from hallumeter.errors import InputError, SettingsError

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
        self.notes: list[YamlFault] = []
        """What was understood and is written in another way than usual; of several places the first."""

    def refuse(self, node: YamlNode, message: str) -> None:
        """Keep a fault of a value."""
        self.faults.append(YamlFault(self.name, node.place, node.keys, message))

    def note(self, node: YamlNode, message: str) -> None:
        """Keep how a value was understood, once."""
        if all(note.message != message for note in self.notes):
            self.notes.append(YamlFault(self.name, node.place, node.keys, message))

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


# YAML with places: every value knows its line and column, and all faults of a file are gathered.
#
# A careful part of YAML is read: one document; `true` and `false` are the only booleans, so that `no`, `on` and `y`
# stay words; keys are text, so that `1` and `"1"` are the same key; a key stands once; values of no other kind than
# text, numbers, booleans, nothing, lists and mappings. Nothing in a file can run, and anchors cannot make it grow.

LARGEST_FILE = 4 << 20
MOST_VALUES = 100_000
"""Values of a file after its anchors are followed; a few lines of anchors could ask for billions."""
DEEPEST = 50
"""Lists and mappings within each other; the parser takes a minute for twenty thousand."""

_WHOLE = re.compile(r"[-+]?\d+")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_TEXT_TAGS = {"!", "tag:yaml.org,2002:str"}
_OF_A_TAB = "a tab, where YAML wants spaces; indent with spaces"
_TABS = re.compile(r"^ *(\t)", re.MULTILINE)


def read_yaml(path: Path) -> YamlFile:
    """Read a file; what is wrong with it is in its faults.

    Raises:
        InputError: It cannot be opened.
    """
    return parse_yaml(read_bytes(path), path.name)


def read_bytes(path: Path) -> bytes:
    """The bytes of a settings file.

    Raises:
        InputError: It cannot be opened, or is far too large for one.
    """
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise InputError(f"{path}: larger than {LARGEST_FILE >> 20} MiB, which no settings file should be")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be opened ({error.strerror or error})") from error


def parse_yaml(content: bytes, name: str) -> YamlFile:
    r"""Read the bytes of a file.

    >>> file = parse_yaml(b"turns:\n  1: {slot: age, asked: no}\n", "turns.yaml")
    >>> file.root.plain
    {'turns': {'1': {'slot': 'age', 'asked': 'no'}}}
    >>> file.place_of(("turns", 1, "asked"))
    'turns.yaml:2:25'
    """
    file = YamlFile(name)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse_bytes(file, content, error)
        return file
    try:
        file.root = _Composer(file).composed(text)
    except yaml.YAMLError as error:
        _refuse_text(file, text, error)
    except _UnreadableError as error:
        file.faults.append(YamlFault(name, error.place, (), error.message, is_syntax=True))
    return file


class _UnreadableError(Exception):
    """The file goes beyond what is read."""

    def __init__(self, event: yaml.Event | None, message: str) -> None:
        super().__init__(message)
        self.place = Place(1, 1) if event is None else _place(event)
        self.message = message


class _Composer:
    """Puts the parser's events together; its own composer would follow anchors and nesting without bounds."""

    def __init__(self, file: YamlFile) -> None:
        self._file = file
        self._anchors: dict[str, YamlNode] = {}
        self._values = 0

    def composed(self, text: str) -> YamlNode:
        root: YamlNode | None = None
        events = iter(yaml.parse(text, Loader=yaml.CSafeLoader))
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    raise _UnreadableError(event, "a second document begins here; keep one in a file, without ---")
                root = self._node(next(events), events, ())
        if root is None:
            raise _UnreadableError(None, "the file is empty")
        return root

    def _node(self, event: yaml.Event, events: Iterator[yaml.Event], keys: Keys) -> YamlNode:
        if isinstance(event, yaml.AliasEvent):
            return self._copied(event, keys)
        self._count(event, 1)
        if len(keys) > DEEPEST:
            raise _UnreadableError(event, f"more than {DEEPEST} lists and mappings within each other")
        place = _place(event)
        if isinstance(event, yaml.MappingStartEvent):
            node = self._mapping(events, keys, place)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = YamlNode(keys, place, tuple(self._sequence(events, keys)))
        else:
            assert isinstance(event, yaml.ScalarEvent)
            node = YamlNode(keys, place, _scalar(event))
        self._check_tag(event, node)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _sequence(self, events: Iterator[yaml.Event], keys: Keys) -> Iterator[YamlNode]:
        number = 0
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            yield self._node(event, events, (*keys, number))
            number += 1

    def _mapping(self, events: Iterator[yaml.Event], keys: Keys, place: Place) -> YamlNode:
        entries: dict[str, YamlNode] = {}
        places: dict[str, Place] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise _UnreadableError(event, "a key that is no plain word; write keys as text")
            key = event.value
            node = self._node(next(events), events, (*keys, key))
            if key in entries:
                message = f"the key stands twice, first in line {places[key].line}; keep one"
                self._file.faults.append(YamlFault(self._file.name, _place(event), (*keys, key), message))
                continue
            entries[key], places[key] = node, _place(event)
        return YamlNode(keys, place, entries, places)

    def _copied(self, event: yaml.AliasEvent, keys: Keys) -> YamlNode:
        """What an anchor stands for; an anchor is known only after its value, so none can hold itself."""
        if event.anchor not in self._anchors:
            raise _UnreadableError(event, f"*{event.anchor} stands for nothing; no &{event.anchor} ends before it")
        return self._moved(self._anchors[event.anchor], keys, event)

    def _moved(self, node: YamlNode, keys: Keys, event: yaml.Event) -> YamlNode:
        self._count(event, 1)
        if len(keys) > DEEPEST:
            raise _UnreadableError(event, f"more than {DEEPEST} lists and mappings within each other")
        value = node.value
        if isinstance(value, dict):
            value = {key: self._moved(entry, (*keys, key), event) for key, entry in value.items()}
        elif isinstance(value, tuple):
            value = tuple(self._moved(entry, (*keys, number), event) for number, entry in enumerate(value))
        return YamlNode(keys, node.place, value, node.key_places)

    def _count(self, event: yaml.Event, values: int) -> None:
        self._values += values
        if self._values > MOST_VALUES:
            raise _UnreadableError(event, f"more than {MOST_VALUES:,} values, those that anchors repeat included")

    def _check_tag(self, event: yaml.NodeEvent, node: YamlNode) -> None:
        tag = getattr(event, "tag", None)
        if tag is not None and not (tag in _TEXT_TAGS and isinstance(event, yaml.ScalarEvent)):
            short = tag.replace("tag:yaml.org,2002:", "!!")
            self._file.refuse(node, f"the tag {short} is not understood; write the value without it")


def _place(event: yaml.Event) -> Place:
    mark = event.start_mark
    return Place(1, 1) if mark is None else Place(mark.line + 1, mark.column + 1)


def _scalar(event: yaml.ScalarEvent) -> Scalar:
    """A value by YAML's newer and simpler rules; the older ones read `no` as false and `1:30` as 90."""
    text: str = event.value
    if not event.implicit[0] or event.style:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        # Python refuses whole numbers of thousands of digits, and nobody means them.
        return int(text) if len(text) < 20 else float(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def _refuse_bytes(file: YamlFile, content: bytes, error: UnicodeDecodeError) -> None:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        place, message = Place(1, 1), "the text is encoded as UTF-16; save it as UTF-8"
    else:
        before = content[: error.start].decode("utf-8-sig")
        place = Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
        message = f"not UTF-8 (byte {content[error.start]:#04x}); save the file as UTF-8"
    file.faults.append(YamlFault(file.name, place, (), message, is_syntax=True))


def _refuse_text(file: YamlFile, text: str, error: yaml.YAMLError) -> None:
    """Say in plain words where the parser stopped."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        place = Place(error.problem_mark.line + 1, error.problem_mark.column + 1)
        message = f"not YAML ({' '.join(filter(None, [error.problem, error.context]))})"
        found = "".join(text.split("\n")[place.line - 1 : place.line])[place.column - 1 :]
        if "tab" in str(error.problem) or found.startswith("\t"):
            message = _OF_A_TAB
            file.faults += _faults_of_tabs(file.name, text, but=place)
    elif isinstance(error, yaml.reader.ReaderError):
        before = text[: error.position]
        place = Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
        message = f"the character {error.character:#x} cannot stand in YAML; remove it"
    else:
        place, message = Place(1, 1), f"not YAML ({' '.join(str(error).split())})"
    file.faults.append(YamlFault(file.name, place, (), message, is_syntax=True))


def _faults_of_tabs(name: str, text: str, *, but: Place) -> Iterator[YamlFault]:
    """The parser stops at the first tab; the others are named with it."""
    line, done = 1, 0
    for tab in _TABS.finditer(text):
        line += text.count("\n", done, tab.start())
        done = tab.start()
        place = Place(line, tab.start(1) - tab.start() + 1)
        if place != but:
            yield YamlFault(name, place, (), _OF_A_TAB, is_syntax=True)
