"""Why metrics have no value: one entry for each reason, because a missing judge leaves dozens of figures undefined."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from .languages.speaking import say
from .verdicts.codes import NOT_GIVEN
from .wording import ALL_JUDGES

if TYPE_CHECKING:
    from hallumeter.records import MetricSummary


class UndefinedGroup(Struct, frozen=True):
    """The figures that are undefined for the same reason."""

    reason: str
    figures: tuple[tuple[str, MetricSummary], ...]
    """Each with the name that readers know its metric by."""

    @property
    def names(self) -> list[str]:
        """The metrics, each once."""
        return list(dict.fromkeys(name for name, _ in self.figures))


def undefined_groups(figures: Iterable[tuple[str, MetricSummary]]) -> list[UndefinedGroup]:
    """What has no value, by reason in order of appearance; figures that have one are passed over."""
    found: dict[str, list[tuple[str, MetricSummary]]] = {}
    for name, summary in figures:
        if summary.value is None:
            found.setdefault(summary.undefined or say(NOT_GIVEN), []).append((name, summary))
    return [UndefinedGroup(reason, tuple(group)) for reason, group in found.items()]


def place_words(summary: MetricSummary) -> str:
    """Which group and which judge a figure speaks of; empty for one of the whole run that needs no judge."""
    groups = [f"{field} {group}" for field, group in summary.by.items()]
    return ", ".join([*groups, *([_judge_words(summary.judge)] if summary.judge else [])])


def _judge_words(judge: str) -> str:
    return say(ALL_JUDGES) if judge == ALL_JUDGES else judge
