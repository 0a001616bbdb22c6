"""Objects of other programs as plain values."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from enum import Enum
from types import SimpleNamespace
from typing import Any

import pytest

from hallumeter.aspects.records.aspect import Aspect, TextSpan
from hallumeter.compat.absa import listed, plain_mapping, plain_value
from hallumeter.errors import RecordError

PLAIN = {"term": "battery", "span": {"start": 0, "end": 7}}
Pair = namedtuple("Pair", ["start", "end"])


@dataclass(slots=True)
class SpanClass:
    start: int
    end: int


@dataclass
class AspectClass:
    term: str
    span: Any


class Slotted:
    __slots__ = ("_private", "span", "term", "unset")

    def __init__(self, term: str, span: Any) -> None:
        self.term, self.span = term, span


class OneSlot:
    __slots__ = "term"  # noqa: PLC0205 (Python allows it)

    def __init__(self, term: str) -> None:
        self.term = term


class Hidden:
    """Shows by properties what it keeps to itself."""

    def __init__(self, term: str, span: Any) -> None:
        self._term, self._span = term, span

    @property
    def term(self) -> str:
        return self._term

    @property
    def span(self) -> Any:
        return self._span


class Model:
    """Stores its fields as pydantic does; its properties warn."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    @property
    def model_fields(self) -> Any:
        raise DeprecationWarning


class Label(Enum):
    GOOD = "positive"


@pytest.mark.parametrize(
    "given",
    [
        PLAIN,
        SimpleNamespace(term="battery", span=SimpleNamespace(start=0, end=7)),
        AspectClass("battery", SpanClass(0, 7)),
        Slotted("battery", Pair(0, 7)),
        Hidden("battery", TextSpan(0, 7)),
        Model(term="battery", span=Model(start=0, end=7)),
    ],
)
def test_objects_are_read_by_their_attributes_at_every_depth(given: Any) -> None:
    assert plain_value(given) == PLAIN
    assert plain_mapping(given, "it") == PLAIN


def test_records_keep_all_their_fields() -> None:
    found = plain_value(Aspect("battery", TextSpan(0, 7)))
    assert found["span"] == {"start": 0, "end": 7}
    assert found["confidence"] is None


def test_lists_and_pairs_stay_what_they_are() -> None:
    assert plain_value([OneSlot("a"), (1, OneSlot("b"))]) == [{"term": "a"}, (1, {"term": "b"})]
    assert plain_value({"label": Label.GOOD, 3: True}) == {"label": "positive", 3: True}


@pytest.mark.parametrize("given", [None, 3, "text", ["a"], (1, 2), {1}, object(), print, AspectClass])
def test_what_is_no_object_is_refused_in_one_line(given: object) -> None:
    with pytest.raises(RecordError, match=r"^rows\[2\]: expected a mapping or an object with attributes, found \S+"):
        plain_mapping(given, "rows[2]")


def test_what_holds_itself_is_refused() -> None:
    around: dict[str, Any] = {}
    around["self"] = around
    with pytest.raises(RecordError, match="entry: nested too deeply, or within itself"):
        plain_mapping(around, "entry")


@pytest.mark.parametrize("given", [None, 3, "text", b"bytes", {"a": 1}])
def test_what_holds_not_several_things_is_no_list(given: object) -> None:
    with pytest.raises(RecordError, match=r"^aspects: expected a list, found "):
        listed(given, "aspects")
    assert listed(iter((1, 2)), "aspects") == [1, 2]
