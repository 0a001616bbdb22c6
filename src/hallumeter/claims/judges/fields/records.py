"""The fields of a record with their names and places: JSON, lines of "key: value", and Markdown tables."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import groupby

from msgspec import Struct

from hallumeter.claims.judges.rules.evidence import LABELS, Block, Evidence, Leaf, Value, json_leaves
from hallumeter.claims.judges.rules.turns import is_dialogue
from hallumeter.records.response import Passage, Quote

_REMEMBERED = 8
_KEY = re.compile(r'"(?P<key>(?:[^"\\]|\\.)*)"\s*:')
_PYTHON_KEY = re.compile(r"""(?P<quote>["'])(?P<key>(?:(?!(?P=quote))[^\\]|\\.)*)(?P=quote)\s*:""")
_PYTHON_BEGIN = re.compile(r"\s*[\[{]+\s*'")
_LINE = re.compile(
    r"^(?P<indent>[ \t]*)(?:[-*•]\s+)?(?P<key>[^\W_][^:|{}\[\]\n]{0,59}?)\s*:(?:[ \t]+(?P<value>[^\n]*\S))?[ \t]*$",
    re.MULTILINE,
)
_ROW = re.compile(r"^[ \t]*\|(?P<cells>[^\n]*)\|[ \t]*$", re.MULTILINE)
_RULE = re.compile(r"[\s|:-]+")
_CELL = re.compile(r"[^|]+")
_MOST_KEY_WORDS = 6
_LEAST_SHARE = 0.6
"""Share of the lines of a text that must be fields before it is a record; else a colon is a mark of prose."""
_LONG_TEXT = 60
"""Characters from which a value is a text of its own, such as a review."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")


class Field(Struct, frozen=True):
    """One value of a record."""

    path: tuple[str, ...]
    """Names from the outside in."""
    text: str
    value: Value
    quote: Quote
    """The value together with its name, as they stand in the passage."""

    @property
    def shown(self) -> str:
        """The name and the value, as a note shows them."""
        return f"{self.path[-1].strip() if self.path else ''}: {self.text}"


class Record:
    """All fields of the evidence of a response."""

    def __init__(self, fields: list[Field]) -> None:
        self.fields = fields
        self.counts = Counter(field.path for field in fields)

    @cached_property
    def single(self) -> list[Field]:
        """Fields whose path occurs once: only of these is it clear what they speak of."""
        return [field for field in self.fields if field.path and self.counts[field.path] == 1]

    @cached_property
    def texts(self) -> list[str]:
        """Long values, such as reviews."""
        return [field.text for field in self.fields if len(field.text) >= _LONG_TEXT]


@lru_cache(maxsize=_REMEMBERED)
def record_of(evidence: Evidence) -> Record | None:
    """The fields of some evidence; None when no passage is a record."""
    fields: list[Field] = []
    for _, group in groupby(evidence.blocks, key=lambda block: id(block.passage)):
        blocks = list(group)
        fields += _json_fields(blocks) if blocks[0].leaf is not None else _text_fields(blocks[0].passage)
    return Record(fields) if fields else None


def _json_fields(blocks: list[Block]) -> Iterator[Field]:
    """The values of a JSON passage; a string that holds another record is opened."""
    text = blocks[0].passage.text
    keys = [(match.start(), match.group("key")) for match in _key_pattern(text).finditer(text)]
    place, label = -1, -1
    for block in blocks:
        leaf = block.leaf
        assert leaf is not None
        while place + 1 < len(keys) and keys[place + 1][0] < leaf.start:
            place += 1
        is_named = label >= 0 and label == place - 1 and leaf.text and keys[place][1].lower() in _VALUES
        start = keys[label][0] if is_named else keys[place][0] if place >= 0 else leaf.start
        if place >= 0 and keys[place][1].lower() in LABELS:
            label = place
        yield from _opened(block, leaf, start)


def _key_pattern(text: str) -> re.Pattern[str]:
    """How keys are written: an apostrophe in a text of JSON begins none."""
    return _PYTHON_KEY if _PYTHON_BEGIN.match(text) is not None else _KEY


_VALUES = frozenset({"value", "val", "text", "amount"})
"""Keys that say nothing: the field is named by the label before them."""


def _opened(block: Block, leaf: Leaf, start: int) -> Iterator[Field]:
    passage = block.passage
    inner = json_leaves(leaf.text) if leaf.text[:1] in "{[" and not leaf.places else None
    if inner:
        keys = [match.start() for match in _key_pattern(leaf.text).finditer(leaf.text)]
        for each in inner:
            place = bisect_left(keys, each.start) - 1
            first = keys[place] if place >= 0 else each.start
            quote = _quoted(passage, leaf.start + first, leaf.start + each.end)
            yield Field((*leaf.path, *each.path), each.text, each.value, quote)
    else:
        end = leaf.end + (passage.text[leaf.end : leaf.end + 1] in {'"', "'"} and isinstance(leaf.value, str))
        yield Field(leaf.path, leaf.text, leaf.value, _quoted(passage, start, end))


def _quoted(passage: Passage, start: int, end: int) -> Quote:
    return Quote(passage.evidence_id, start, end, passage.text[start:end])


def _text_fields(passage: Passage) -> list[Field]:
    rows = list(_ROW.finditer(passage.text))
    if len(rows) > 2 and _RULE.fullmatch(rows[1].group()):
        return list(_table_fields(passage, rows))
    return list(_line_fields(passage))


def _line_fields(passage: Passage) -> Iterator[Field]:
    """Lines of "key: value", those further in below the key above them."""
    matches = [each for each in _LINE.finditer(passage.text) if len(each.group("key").split()) <= _MOST_KEY_WORDS]
    lines = sum(1 for line in passage.text.splitlines() if line.strip())
    if len(matches) < 2 or len(matches) < _LEAST_SHARE * lines or is_dialogue(passage.text):
        return
    above: list[tuple[int, str]] = []
    for match in matches:
        depth = len(match.group("indent"))
        while above and above[-1][0] >= depth:
            above.pop()
        key = _CAMEL.sub(" ", match.group("key").strip(" *"))
        if match.group("value") is None:
            above.append((depth, key))
            continue
        text = match.group("value").strip("*\"' ")
        path = (*(each for _, each in above), key)
        yield Field(path, text, text, _quoted(passage, match.start("key"), match.end("value")))


def _table_fields(passage: Passage, rows: list[re.Match[str]]) -> Iterator[Field]:
    """Cells of a Markdown table by the name of their row and of their column; of two columns the first names."""
    header = [name.strip() for name in rows[0].group("cells").split("|")]
    for row in rows[2:]:
        cells = list(_CELL.finditer(passage.text, row.start("cells"), row.end("cells")))
        if len(cells) != len(header) or not cells[0].group().strip():
            continue
        label = cells[0].group().strip()
        first = passage.text.index(label, cells[0].start())
        for column, cell in enumerate(cells[1:], start=1):
            text = cell.group().strip()
            path = (label,) if len(header) == 2 else (label, header[column])
            end = cell.start() + len(cell.group().rstrip())
            yield Field(path, text, text, _quoted(passage, first, end))
