"""A comparison as its page shows it: rows with their words, and claims with what changed in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from msgspec import Struct

from hallumeter.metrics.catalog import METRICS_BY_ID
from hallumeter.records import Label
from hallumeter.records.decisions.comparison import State
from hallumeter.report.languages.speaking import message, say
from hallumeter.report.wording import DIRECTION_WORDS, LABEL_WORDS

from .marking import Marked, marked_wordings
from .telling import EFFECTS, SHOWS, TESTS, alias_of
from .wording import slice_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hallumeter.records.decisions.comparison import ClaimChange, Comparison, MetricComparison, Transition

STATES: tuple[State, ...] = get_args(State)
ROWS_SHOWN = 300
"""Slices in the table; all are in the JSON."""
BYTES_OF_CLAIMS = 400_000
"""Room of a page for claims; with the drawing library and the rest it stays below two megabytes."""
LONGEST_NAME = 160
"""Characters of a record's name, or of a slice's."""
_UNSUPPORTED = ("REFUTED", "NOT_ENOUGH_INFO")


class RowView(Struct, frozen=True):
    """One metric, with the words of the catalog."""

    row: MetricComparison
    alias: str
    name: str
    question: str
    arrow: str
    direction: str
    where: str
    """The slice; empty for all records."""
    shows: str
    test: str
    effect: str


class ChangeView(Struct, frozen=True):
    """A claim in both runs."""

    record_id: str
    first: tuple[Marked, ...] | None
    """None where it is absent."""
    second: tuple[Marked, ...] | None


class CellView(Struct, frozen=True):
    """Claims with one label in the first run and one in the second."""

    cell: Transition
    anchor: str
    kind: str
    """``broken``, ``mended``, ``same`` or ``other``."""
    changes: tuple[ChangeView, ...]

    @property
    def first(self) -> str:
        """The label in the first run."""
        return state_words(self.cell.first)

    @property
    def second(self) -> str:
        """The label in the second run."""
        return state_words(self.cell.second)


def state_words(state: State) -> str:
    """A label as it is called elsewhere on the page."""
    if state == "ABSENT":
        return say(message("Absent"))
    return say(LABEL_WORDS[None if state == "FAILED" else Label(state)])


def row_views(rows: Iterable[MetricComparison]) -> list[RowView]:
    """Rows with their words."""
    return [_row_view(row) for row in rows]


def _row_view(row: MetricComparison) -> RowView:
    known = METRICS_BY_ID.get(row.metric)
    arrow, direction = DIRECTION_WORDS[row.direction]
    test = next((words for name, words in TESTS.items() if row.test and row.test.startswith(name)), "")
    return RowView(
        row=row,
        alias=alias_of(row.metric),
        name=say(known.name) if known else "",
        question=say(known.question) if known else "",
        arrow=arrow,
        direction=say(direction),
        where=shortened(slice_words(row)),
        shows=say(SHOWS[row.outcome]),
        test=say(test) if test else "",
        effect=say(EFFECTS[row.effect]) if row.effect else "",
    )


def shortened(text: str) -> str:
    """A name of the data that may be any length."""
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


class Matrix(Struct, frozen=True):
    """The claims by their labels in both runs."""

    firsts: tuple[State, ...]
    seconds: tuple[State, ...]
    cells: dict[tuple[State, State], CellView]
    changed: tuple[CellView, ...]
    """Those whose claims can be read, the worst first."""


def matrix_of(comparison: Comparison) -> Matrix | None:
    """The table of transitions with the claims that fit on a page; None without claims."""
    transitions = comparison.transitions.cells
    if not transitions:
        return None
    shown = _fitting([cell.examples for cell in transitions if cell.first != cell.second])
    views = {(cell.first, cell.second): _cell_view(cell, shown) for cell in transitions}
    changed = sorted((view for view in views.values() if view.changes), key=_gravity)
    return Matrix(
        firsts=tuple(state for state in STATES if any(cell.first == state for cell in transitions)),
        seconds=tuple(state for state in STATES if any(cell.second == state for cell in transitions)),
        cells=views,
        changed=tuple(changed),
    )


def _gravity(view: CellView) -> tuple[int, int]:
    """What was supported and is not any more first, then what appeared without support, then the largest."""
    is_new = view.cell.first == "ABSENT" and view.cell.second in _UNSUPPORTED
    return (0 if view.kind == "broken" else 1 if is_new else 2 if view.kind == "mended" else 3), -view.cell.claims


def _cell_view(cell: Transition, shown: int) -> CellView:
    return CellView(
        cell=cell,
        anchor=f"claims-{STATES.index(cell.first)}-{STATES.index(cell.second)}",
        kind=_kind(cell),
        changes=tuple(_change_view(change) for change in cell.examples[:shown]) if cell.first != cell.second else (),
    )


def _kind(cell: Transition) -> str:
    if cell.first == cell.second:
        return "same"
    if cell.first == "SUPPORTED" and cell.second in _UNSUPPORTED:
        return "broken"
    return "mended" if cell.second == "SUPPORTED" and cell.first in _UNSUPPORTED else "other"


def _change_view(change: ClaimChange) -> ChangeView:
    name = shortened(change.record_id)
    if change.first is None or change.second is None:
        first, second = (None if text is None else (Marked(text, False),) for text in (change.first, change.second))
        return ChangeView(name, first, second)
    return ChangeView(name, *marked_wordings(change.first, change.second))


def _fitting(groups: Sequence[Sequence[ClaimChange]]) -> int:
    """How many claims of each cell a page has room for."""
    most = max((len(group) for group in groups), default=0)
    while most > 1 and sum(_size(change) for group in groups for change in group[:most]) > BYTES_OF_CLAIMS:
        most = most * 3 // 4
    return most


def _size(change: ClaimChange) -> int:
    """Bytes of a claim with its marks, about."""
    texts = (change.record_id[:LONGEST_NAME], change.first or "", change.second or "")
    return 200 + 2 * sum(len(text.encode(errors="replace")) for text in texts)
