"""YAML with places: every value knows its line and column, and all faults of a file are gathered.

A careful part of YAML is read: one document; `true` and `false` are the only booleans, so that `no`, `on` and `y` stay
words; keys are text, so that `1` and `"1"` are the same key; a key stands once; values of no other kind than text,
numbers, booleans, nothing, lists and mappings. Nothing in a file can run, and anchors cannot make it grow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from hallumeter.errors import InputError

from .yaml_nodes import Keys, Place, Scalar, YamlFault, YamlFile, YamlNode

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
