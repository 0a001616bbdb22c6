"""The first section of every report."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from hallumeter.records import MetricSummary

ValueKind = Literal[
    "count", "number", "numbers", "signed", "signeds", "share", "shares", "p", "confidence", "name", "names", "words",
    "metrics", "signs",
]  # fmt: skip


class FactValue(Struct, frozen=True, omit_defaults=True):
    """What stands in a place of a sentence: numbers as they are in the summary, or words of the data."""

    kind: ValueKind
    """How it is written: ``share`` in per cent, ``names`` in a row, and so on."""
    numbers: tuple[float, ...] = ()
    words: tuple[str, ...] = ()


class Fact(Struct, frozen=True):
    """A sentence about a run: a message in English, and the values for the places that it names."""

    code: str
    """What it is about, in one word."""
    message: str
    values: dict[str, FactValue] = field(default_factory=dict)


class Figure(Struct, frozen=True):
    """A number that the overview shows in large."""

    alias: str
    name: str
    question: str
    summary: MetricSummary


class OverviewSection(Struct, frozen=True, tag="overview"):
    """What was measured and what came of it."""

    facts: tuple[Fact, ...] = ()
    figures: tuple[Figure, ...] = ()
