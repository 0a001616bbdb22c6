"""The folder of a stress test: every edited claim with what was said of it, and the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.formats import write_jsonl
from hallumeter.records import Failure, Verdict
from hallumeter.store import SUMMARY, write_json

from .cases import Case

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from .result import StressResult

STRESS = "stress.jsonl"


class Opinion(Struct, frozen=True, omit_defaults=True):
    """What one judge said of one claim."""

    label: str | None
    """None when there is no verdict."""
    start: int | None = None
    end: int | None = None
    reason: str | None = None
    note: str | None = None
    failure: str | None = None
    """Why there is no verdict."""


class StressRow(Struct, frozen=True):
    """One claim as the judges read it."""

    record_id: str
    claim_id: str
    kind: str
    is_error: bool
    original: str
    """The claim before it was edited."""
    text: str
    start: int | None
    """Where the wrong part stands in the text; None where nothing is wrong."""
    end: int | None
    replaced: str | None
    """What stood there; None for an unchanged claim."""
    verdicts: dict[str, Opinion]
    """By judge."""


def write_result(
    folder: Path, result: StressResult, cases: Sequence[Case], *, said: Mapping[str, Sequence[Verdict | Failure | None]]
) -> None:
    """Write the rows and the summary."""
    write_jsonl(folder / STRESS, _rows(cases, said))
    write_json(folder / SUMMARY, result)


def _rows(cases: Sequence[Case], said: Mapping[str, Sequence[Verdict | Failure | None]]) -> Iterator[StressRow]:
    for number, case in enumerate(cases):
        mutation = case.mutation
        yield StressRow(
            record_id=case.source.response.record_id,
            claim_id=case.source.claim_id,
            kind=case.kind,
            is_error=case.is_error,
            original=case.source.text,
            text=case.text,
            start=None if mutation is None else mutation.start,
            end=None if mutation is None else mutation.end,
            replaced=None if mutation is None else mutation.original,
            verdicts={judge: _opinion(own[number]) for judge, own in said.items()},
        )


def _opinion(item: Verdict | Failure | None) -> Opinion:
    if isinstance(item, Verdict):
        return Opinion(item.label.value, item.start, item.end, item.reason, item.note)
    return Opinion(None, failure="it was not asked" if item is None else item.message)
