"""Where other tools put an answer, its question and its evidence; and paths of the user's own to them.

Names that can only mean one thing are in `fields.ALIASES`. What follows may mean several things, or is nested: it
counts only in rows that have no better name for the field, and only where it holds what the field needs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import SettingsError

from .batch import Batch, Column, Fault, expanded, plain_message
from .fields import ALIASES, KNOWN_FIELDS, named_batch
from .literals import literal_of

TEXTS = ("response", "question", "reference")
"""Fields that are one text; an object in their place is looked into."""
FILLED = (*TEXTS, "evidence", "record_id", "model")

LOOSE = {
    **dict.fromkeys(
        (
            *("actual_output", "result", "completion", "prediction", "generated_text", "generated_answer"),
            *("generation", "model_output", "model_response", "model_answer", "output_text", "main_output"),
            *("llm_response", "llm_output", "outputs"),
        ),
        "response",
    ),
    **dict.fromkeys(("query", "input", "inputs", "vars", "request", "prompt", "main_input"), "question"),
    **dict.fromkeys(
        (
            *("expected_output", "expected_response", "expected_answer", "expected", "reference_answer"),
            *("gold_answer", "correct_answer", "expectations", "reference_outputs"),
        ),
        "reference",
    ),
}
"""Names that stand for a field where nothing else does and their value fits, the most telling first."""

_HOLDERS = ("outputs", "output", "result", "response", "prediction", "inputs", "input", "vars", "request")
"""Fields whose objects may hold evidence, that of the answer before that of the question."""
_REFERENCE_HOLDERS = ("vars", "inputs")
_CHATS = ("messages", "conversation", "conversations", "dialogue", "chat", "user_input", "outputs", "trace")
_ASKED_CHATS = (*_CHATS, "inputs", "input", "request", "prompt")
"""Those of a request end before the answer: whatever the assistant says in them was said before."""
_INSIDE = {
    "response": ("output_text", "text", "content", "message", "choices", "messages"),
    "question": ("content", "messages"),
    "reference": (),
}
"""Where an object has its text when it has none of a field's own names."""
_DEEPEST = 6
SYSTEM_NOTICE = "evidence was taken from a system message, since there was no other"

_ROLES = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "gpt", "model", "bot", "chatbot"), "assistant"),
    **dict.fromkeys(("tool", "function", "observation"), "tool"),
    **dict.fromkeys(("system", "developer"), "system"),
}


@lru_cache(maxsize=4096)
def own_name(name: str) -> str | None:
    """The field that a name may stand for, in whatever way it is spelt; None when it stands for itself alone.

    >>> own_name("actualOutput"), own_name("Retrieved Contexts"), own_name("task")
    ('response', 'evidence', None)
    """
    spelt = re.sub(r"[^0-9a-z]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()).strip("_")
    own = ALIASES.get(spelt) or LOOSE.get(spelt) or spelt
    return own if own in FILLED else None


# Paths into a row.

_PATH = re.compile(r"[^.\[\]=]+(?:\[(?:-?\d+)?\])*(?:\.[^.\[\]=]+(?:\[(?:-?\d+)?\])*)*")
_STEP = re.compile(r"[^.\[\]]+|\[-?\d*\]")


class FieldPath(NamedTuple):
    """Where a value stands in a row."""

    text: str
    steps: tuple[str | int | None, ...]
    """Names, places in a list, and None for every item of one."""

    @classmethod
    def parse(cls, text: str) -> FieldPath:
        """Read a path such as ``docs[].content``.

        >>> FieldPath.parse("docs[].parts[0]").steps
        ('docs', None, 'parts', 0)
        """
        if not _PATH.fullmatch(text):
            raise SettingsError(f"map: {text!r}: expected a path such as output.text or docs[].content")
        found = [step.strip("[]") if step.startswith("[") else step for step in _STEP.findall(text)]
        is_place = [step.startswith("[") for step in _STEP.findall(text)]
        steps = [(int(step) if step else None) if place else step for step, place in zip(found, is_place, strict=True)]
        return cls(text, tuple(steps))

    def column(self, raw: Mapping[str, Column], rows: int) -> list[object]:
        """The values of all rows; a column that has the whole path as its name is that column."""
        if self.text in raw:
            return list(expanded(raw[self.text]))
        root = raw.get(str(self.steps[0]))
        return [None] * rows if root is None else [_led(value, self.steps[1:]) for value in expanded(root)]


def _led(value: object, steps: Sequence[str | int | None]) -> object:
    """What a path leads to; None where it leads nowhere. A text that holds JSON is gone into."""
    for place, step in enumerate(steps):
        value = structured(value)
        if step is None:
            if not isinstance(value, list):
                return None
            rest = steps[place + 1 :]
            found = [_led(item, rest) for item in value]
            return [part for item in found for part in (item if None in rest and isinstance(item, list) else [item])]
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and -len(value) <= step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def structured(value: object) -> object:
    """A text that spells an object or a list as JSON or as Python does is that; anything else is itself."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        found = literal_of(value)
        return value if found is None else found


class RowShape(Struct, frozen=True):
    """How rows are read: whether other tools' shapes are recognised in them, and by which paths of the user's own."""

    is_open: bool = False
    paths: dict[str, FieldPath] = {}
    is_text: bool = False
    """Whether all values are written as text, also numbers."""
    is_traces: bool = False
    """Whether files hold traces of OpenTelemetry, whatever they are called and however they begin."""

    @classmethod
    def of(cls, paths: Mapping[str, str]) -> RowShape:
        """Any shape, and these paths, which count before everything else."""
        return cls(True, {own: FieldPath.parse(text) for own, text in paths.items()})

    def is_untyped(self, key: str) -> bool:
        """Whether a column may hold anything, because a path begins there or another takes its place."""
        if not self.paths:
            return False
        begins = any(key in (path.steps[0], path.text) for path in self.paths.values())
        return begins or ALIASES.get(key, key) in self.paths

    def is_loose(self, key: str, value: object) -> bool:
        """Whether a value of a text field is an object that must be looked into."""
        return self.is_open and type(value) in (dict, list) and ALIASES.get(key, key) in TEXTS

    def is_wanted(self, key: str) -> bool:
        """Whether a column could be needed."""
        is_source = self.is_open and (own_name(key) is not None or key in _CHATS)
        return is_source or self.is_untyped(key)


AS_NAMED = RowShape()
"""Rows by hallumeter's own names and their aliases alone."""
ANY_SHAPE = RowShape.of({})


def parse_map(texts: Iterable[str]) -> dict[str, str]:
    """What was given as ``FIELD=PATH``.

    >>> parse_map(["response=output.text", "evidence=docs[].content"])
    {'response': 'output.text', 'evidence': 'docs[].content'}
    """
    found: dict[str, str] = {}
    for text in texts:
        own, is_given, path = text.partition("=")
        if not is_given or not own:
            raise SettingsError(f"map: {text!r}: expected FIELD=PATH, such as response=output.text")
        if own in found:
            raise SettingsError(f"map: {own!r} was given twice; give each field one path")
        found[own] = FieldPath.parse(path).text
    return found


def shaped_batch(
    raw: dict[str, Column],
    lines: Sequence[int],
    *,
    faults: Iterable[Fault] = (),
    fields: Collection[str] | None = (),
    shape: RowShape = AS_NAMED,
    loose: Collection[str] | None = None,
) -> Batch:
    """A batch under hallumeter's own names, with what a shape finds in columns of other names.

    Objects in place of a text are looked for in the `loose` columns alone; None for all.
    """
    strict = not shape.is_text
    if not shape.is_open:
        return named_batch(raw, lines, faults=faults, fields=fields, strict=strict)
    found = _Filling(dict(raw), len(lines), fields or (), strict=strict)
    found.take_paths(shape.paths)
    found.resolve_texts(raw if loose is None else loose)
    found.fill()
    held = [key for key in found.columns if ALIASES.get(key) in shape.paths]
    batch = named_batch(found.columns, lines, faults=faults, fields=fields, strict=strict, held=held)
    if found.faults:
        added = [Fault(lines[row], "wrong_type", message) for row, message in found.faults.items()]
        batch = batch.without({fault.line for fault in added})
        every = tuple(sorted((*batch.faults, *added), key=lambda fault: fault.line))
        batch = structs.replace(batch, faults=every)
    if found.aliases or found.notices:
        aliases = {key: " and ".join(owns) for key, owns in found.aliases.items()}
        batch = structs.replace(batch, aliases=batch.aliases | aliases, notices=found.notices)
    return batch


class _Filling:
    """Columns of a file on their way to hallumeter's own: what is missing in some rows is looked for in others."""

    def __init__(self, columns: dict[str, Column], rows: int, asked: Collection[str], *, strict: bool) -> None:
        self.columns = columns
        self.faults: dict[int, str] = {}
        """What does not fit, by the position of its row."""
        self.aliases: dict[str, list[str]] = {}
        self.notices: dict[str, int] = {}
        self._given = dict(columns)
        self._rows = rows
        self._asked = asked
        self._strict = strict
        self._from_chat: dict[int, str] = {}
        """Rows whose response is a message of a conversation, and in which column."""
        self._mapped: Collection[str] = ()

    def take_paths(self, paths: Mapping[str, FieldPath]) -> None:
        """Put what the user's paths lead to under the names it was asked for."""
        self._mapped = paths
        for own, path in paths.items():
            values = path.column(self._given, self._rows)
            for row, value in enumerate(values):
                values[row] = self._checked(own, path, value, row=row)
            self.columns.pop(own, None)
            if any(value is not None for value in values):
                self.columns[own] = values

    def _checked(self, own: str, path: FieldPath, value: object, *, row: int) -> object:
        kind = KNOWN_FIELDS.get(own, object)
        if value is None or kind is object:
            return value
        if own in TEXTS and isinstance(value, dict | list):
            value = text_in(own, value) or value
        try:
            return msgspec.convert(value, kind, strict=self._strict)
        except msgspec.ValidationError as error:
            self.faults[row] = f"{own} ({path.text})" + plain_message(error).removeprefix("row")
            return None

    def resolve_texts(self, keys: Iterable[str]) -> None:
        """Look into objects that stand where a text should."""
        for key in keys:
            own, column = ALIASES.get(key, key), self._given.get(key)
            if own in TEXTS and own not in self._mapped and isinstance(column, list):
                self.columns[key] = [self._resolved(key, value, own=own, row=row) for row, value in enumerate(column)]

    def _resolved(self, key: str, value: object, *, own: str, row: int) -> object:
        if not isinstance(value, dict | list):
            return value
        found = text_in(own, value)
        if found is None and chat_of(value) is None:
            self.faults.setdefault(
                row, f"{key}: expected text, found {'an object' if isinstance(value, dict) else 'a list'}"
            )
        return found

    def fill(self) -> None:
        """Look for every field in the rows that have none."""
        for own in FILLED:
            sources = [] if own in self._mapped else list(self._sources(own))
            if not sources:
                continue
            gaps = self._gaps(own)
            if not gaps:
                continue
            nothing: list[object] = [None] * self._rows
            column = list(expanded(self.columns[own])) if own in self.columns else nothing
            for key, find in sources:
                gaps = self._filled(own, column, gaps, key=key, find=find)
            if any(value is not None for value in column):
                self.columns[own] = column

    def _gaps(self, own: str) -> list[int]:
        """The rows that have the field under none of its names."""
        names = [key for key in self.columns if ALIASES.get(key, key) == own]
        known = [expanded(self.columns[key]) for key in names]
        return [row for row in range(self._rows) if all(column[row] is None for column in known)]

    def _filled(
        self, own: str, column: list[object], gaps: Sequence[int], *, key: str, find: Callable[[int, object], object]
    ) -> list[int]:
        """Take what one column has; the rows that are left."""
        values = expanded(self._given[key])
        left, taken = [], []
        for row in gaps:
            found = None if values[row] is None else find(row, values[row])
            if found is None:
                left.append(row)
                continue
            column[row] = found
            if found is values[row]:
                taken.append(row)
        if len(left) < len(gaps):
            owns = self.aliases.setdefault(key, [])
            owns.extend([own] if own not in owns else [])
        if taken and key not in self._asked:
            self._take_out(key, set(taken))
        return left

    def _take_out(self, key: str, rows: set[int]) -> None:
        kept = [None if row in rows else value for row, value in enumerate(expanded(self.columns[key]))]
        if any(value is not None for value in kept):
            self.columns[key] = kept
        else:
            del self.columns[key]

    def _sources(self, own: str) -> Iterator[tuple[str, Callable[[int, object], object]]]:
        """Columns in which a field may be found, and how, the most telling first."""
        for key in self._loose_names(own):
            yield key, lambda _, value, own=own: _fitting(own, value)  # type: ignore[misc]
        if own == "evidence":
            yield from ((key, lambda _, value: evidence_in(value)) for key in _HOLDERS if key in self._given)
        if own == "reference":
            holders = [key for key in _REFERENCE_HOLDERS if key in self._given]
            yield from ((key, lambda _, value: text_in("reference", structured(value))) for key in holders)
        if own in ("response", "question", "evidence"):
            chats = _CHATS if own == "response" else _ASKED_CHATS
            for key in chats:
                if key in self._given:
                    yield key, lambda row, value, key=key, own=own: self._said(own, value, row=row, key=key)  # type: ignore[misc]

    def _loose_names(self, own: str) -> list[str]:
        order = list(LOOSE)
        names = [
            key
            for key in self._given
            if own_name(key) == own and key not in KNOWN_FIELDS and key not in ALIASES and key not in self._mapped
        ]
        return sorted(names, key=lambda key: order.index(key) if key in LOOSE else len(order))

    def _said(self, own: str, value: object, *, row: int, key: str) -> object:
        """What a conversation has of a field."""
        chat = chat_of(structured(value))
        if chat is None:
            return None
        if own == "response":
            found = chat.response
            if found is not None:
                self._from_chat[row] = key
            return found
        before = self._from_chat.get(row) == key
        if own == "question":
            return chat.last("user", before_answer=before)
        tools = chat.all("tool", before_answer=before)
        system = [] if tools else chat.all("system", before_answer=before)
        if system:
            self.notices[SYSTEM_NOTICE] = self.notices.get(SYSTEM_NOTICE, 0) + 1
        return tools or system or None


def _fitting(own: str, value: object) -> object:
    """A value under a loose name, if it can be what the field holds."""
    if own in TEXTS:
        found = structured(value) if isinstance(value, str) and own != "response" else value
        text = text_in(own, found) if isinstance(found, dict | list) else None
        return text if text is not None else value if isinstance(value, str) else None
    if own == "record_id":
        return value if isinstance(value, str | int) and not isinstance(value, bool) else None
    if own == "model":
        return value if isinstance(value, str) else None
    return value


# Texts in objects and conversations.


def text_in(own: str, value: object, depth: int = 0) -> str | None:
    """The text of a field in an object of another tool; None when it has none.

    >>> text_in("response", {"choices": [{"message": {"role": "assistant", "content": "Yes."}}]})
    'Yes.'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list) and depth <= _DEEPEST:
        chat = chat_of(value)
        if chat is not None:
            return chat.response if own == "response" else chat.last("user") if own == "question" else None
        return text_in(own, value[0], depth + 1) if len(value) == 1 else _joined(value)
    if isinstance(value, dict) and depth <= _DEEPEST:
        names = (*names_of(own), *_INSIDE[own])
        return next((text for name in names if (text := text_in(own, value.get(name), depth + 1)) is not None), None)
    return None


@lru_cache(maxsize=8)
def names_of(own: str) -> tuple[str, ...]:
    """The names under which an object may hold a field, its own first."""
    aliases = [alias for alias, name in (ALIASES | LOOSE).items() if name == own]
    others = ["answer"] if own == "reference" else []
    return own, *aliases, *others


def evidence_in(value: object) -> object:
    """The evidence that an object of another tool holds; None when it holds none."""
    value = structured(value)
    if not isinstance(value, dict):
        return None
    return next((value[name] for name in names_of("evidence") if value.get(name) not in (None, "", [])), None)


class Chat(NamedTuple):
    """A conversation: who said what, in order."""

    messages: tuple[tuple[str, str], ...]

    @property
    def _answer(self) -> int | None:
        places = [place for place, (role, text) in enumerate(self.messages) if role == "assistant" and text]
        return places[-1] if places else None

    @property
    def response(self) -> str | None:
        """What the assistant said last."""
        return None if self._answer is None else self.messages[self._answer][1]

    def all(self, role: str, *, before_answer: bool = False) -> list[str]:
        """Everything that somebody said, up to the answer if that is asked for."""
        end = self._answer if before_answer else None
        return [text for said_by, text in self.messages[:end] if said_by == role and text]

    def last(self, role: str, *, before_answer: bool = False) -> str | None:
        """What somebody said last."""
        said = self.all(role, before_answer=before_answer)
        return said[-1] if said else None


def chat_of(value: object) -> Chat | None:
    """A conversation, as a list of messages or an object with one; None when it is none."""
    if isinstance(value, dict):
        value = value.get("messages")
    if not isinstance(value, list) or not value:
        return None
    messages = [_message(item) for item in value]
    return Chat(tuple(message for message in messages if message is not None)) if all(messages) else None


def _message(item: object) -> tuple[str, str] | None:
    if not isinstance(item, dict):
        return None
    role = _ROLES.get(str(item.get("role") or item.get("from") or item.get("type")).lower())
    if role is None or not item.keys() & {"content", "value"}:
        return None
    content = item.get("content", item.get("value"))
    return role, content if isinstance(content, str) else _joined(content) or ""


def _joined(parts: object) -> str | None:
    """The text of a message that comes in parts."""
    if not isinstance(parts, list):
        return None
    texts = [
        part.get("text") for part in parts if isinstance(part, dict) and part.get("type") in ("text", "output_text")
    ]
    return "\n".join(text for text in texts if isinstance(text, str)) or None


# What would do, where nothing was found.


def fields_seen(own: str, seen: Iterable[str]) -> str:
    """The fields that were found, those that come nearest to one that was not, and how to name it.

    >>> fields_seen("response", ["docs", "reply_text"])
    'fields found: docs, reply_text; nearest: reply_text; type --map response=reply_text (in Python: map=...)'
    """
    names = sorted(seen)
    near = nearest_fields(own, names)
    nearest = f"; nearest: {', '.join(near)}" if near else ""
    path = near[0] if near else "FIELD"
    return f"fields found: {', '.join(names)}{nearest}; type --map {own}={path} (in Python: map=...)"


def check_map(paths: Mapping[str, str], seen: Collection[str]) -> None:
    """Refuse a path that leads to nothing in any row."""
    for own, path in paths.items():
        if own not in seen:
            root = FieldPath.parse(path).steps[0]
            where = f"nothing stands there under {root!r}" if root in seen else f"no row has {root!r}"
            raise SettingsError(f"map: {own}={path}: {where}; fields found: {', '.join(sorted(seen))}")


_HINTS = {
    "response": ("reply", "generated", "generation", "summary", "hypothesis", "completion", "said"),
    "evidence": (
        "doc",
        "docs",
        "document",
        "passage",
        "chunk",
        "article",
        "knowledge",
        "facts",
        "retrieved",
        "grounding",
    ),
    "question": ("ask", "asked"),
}
_NEAR = 0.7


def nearest_fields(own: str, seen: Iterable[str]) -> list[str]:
    """Fields whose names come nearest to those that a field is known by, the nearest first.

    >>> nearest_fields("evidence", ["retrieved_text", "model"])
    ['retrieved_text']
    """
    known = {*names_of(own), *_HINTS.get(own, ())}
    words = {word for name in known for word in name.split("_") if len(word) > 2} - {
        "model",
        "main",
        "user",
        "text",
        "input",
    }

    def nearness(name: str) -> float:
        parts = set(re.split(r"[^0-9a-z]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()))
        likeness = max(SequenceMatcher(None, name.lower(), other).ratio() for other in known)
        return max(likeness, 0.9 if parts & words else 0.0)

    others = [name for name in seen if name not in KNOWN_FIELDS]
    near = [name for name in others if nearness(name) >= _NEAR]
    return sorted(near, key=lambda name: (-nearness(name), name))[:3]
