"""Pages and readings in the short form that the page's own scripts read.

Tables go column by column and names are written once, because a run has many rows and few names.
"""

from __future__ import annotations

from collections.abc import Sequence

from hallumeter.records.claim import Label
from hallumeter.records.page import KINDS, PageRow
from hallumeter.records.response import FieldValue
from hallumeter.report.drawing import ENGINE_COLOURS, Json
from hallumeter.report.languages.speaking import message, say
from hallumeter.report.sections import PageSection, RankingSection, ReadingSection, ReadingView, StretchView

from .ranking import STATUS_WORDS

NUMBERS = (
    *("cer", "wer", "mer", "wil", "anchor_score", "length_ratio", "net_insertion_rate", "true_insertion_rate"),
    *("invented_rate", "omission_rate", "reference_words", "response_words"),
)
"""The columns of numbers, as they are called in ``pages.csv``."""
KIND_WORDS = {
    "block": message("invented"),
    "loop": message("loop"),
    "omission": message("left out"),
    "insertion": message("inserted"),
    "run": message("read"),
}
_MOVED, _NOT_ENOUGH_INFO, _UNDECIDED = 1, 2, 4


def pairs_payload(section: RankingSection) -> dict[str, Json]:
    """Every pair of engines that the document holds."""
    engines: list[Json] = [engine.engine for engine in section.engines]
    places = {name: place for place, name in enumerate(engines)}
    pairs = section.ranking.pairs if section.ranking else ()
    return {
        "engines": engines,
        "pairs": [
            [places[pair.first], places[pair.second], pair.pages, pair.difference, pair.p_value, pair.adjusted_p_value]
            for pair in pairs
            if pair.first in places and pair.second in places
        ],
    }


def pages_payload(section: PageSection, engines: Sequence[str], readings: ReadingSection | None) -> dict[str, Json]:
    """The table of pages, engines in the order given, and which rows can be opened."""
    rows = section.rows
    names = [*engines, *(name for name in dict.fromkeys(row.engine for row in rows) if name not in set(engines))]
    places = {name: place for place, name in enumerate(names)}
    pages = list(dict.fromkeys(row.page for row in rows))
    page_places = {name: place for place, name in enumerate(pages)}
    shown = {(view.page, view.engine): place for place, view in enumerate(readings.readings)} if readings else {}
    statuses = list(STATUS_WORDS)
    numbers: dict[str, Json] = {name: [getattr(row, name) for row in rows] for name in NUMBERS}
    return {
        "engines": [*names],
        "pages": [*pages],
        "statuses": [[name, words] for name, words in STATUS_WORDS.items()],
        "page": [page_places[row.page] for row in rows],
        "engine": [places[row.engine] for row in rows],
        "status": [statuses.index(row.status) for row in rows],
        "badge": [row.is_hallucinating for row in rows],
        "picarones": [row.picarones_badge for row in rows],
        "reading": [shown.get((row.page, row.engine)) for row in rows],
        "numbers": numbers,
        "colours": [[*pair] for pair in ENGINE_COLOURS],
    }


def readings_payload(section: ReadingSection) -> dict[str, Json]:
    """Everything that the browser of pages needs where the pages stand inside the file."""
    return {**readings_block(section.readings), "total": section.total}


def readings_block(views: Sequence[ReadingView]) -> dict[str, Json]:
    """Pages to read; a ground truth that several engines share is written once."""
    references: dict[str, int] = {}
    readings: list[Json] = []
    for view in views:
        number = references.setdefault(view.reference, len(references))
        readings.append(_reading(view, number))
    return {**_frame(), "references": [*references], "readings": readings}


def remote_readings_payload(*, total: int) -> dict[str, Json]:
    """What the browser of pages needs to know before it asks a server for them."""
    return {**_frame(), "source": "records", "total": total}


def reading_entry_payload(view: ReadingView, position: int) -> dict[str, Json]:
    """A page as a line of the list: how many words of each kind, and what the orders and badges need."""
    sizes: list[Json] = [
        sum(stretch.words for stretch in view.stretches if _kind(stretch) == code) for code in range(len(KINDS))
    ]
    is_misread = any(_kind(stretch) == KINDS.index("run") and stretch.note for stretch in view.stretches)
    entries: dict[str, Json] = {
        "n": position,
        "id": view.record_id,
        "p": view.page,
        "e": view.engine,
        "z": sizes,
        "a": 1 if view.stretches or not (view.response or view.reference) else None,
        "k": 1 if is_misread else None,
        "h": 1 if view.response else None,
        "m": _row(view.row) if view.row else None,
    }
    return {name: value for name, value in entries.items() if value is not None}


def _frame() -> dict[str, Json]:
    return {
        "kinds": [[name, say(KIND_WORDS[name])] for name in KINDS],
        "statuses": {name: say(words) for name, words in STATUS_WORDS.items()},
    }


def _reading(view: ReadingView, reference: int) -> dict[str, Json]:
    entries: dict[str, Json] = {
        "id": view.record_id,
        "p": view.page,
        "e": view.engine,
        "t": view.response,
        "c": view.response_characters if view.response_characters > len(view.response) else None,
        "r": reference,
        "rc": view.reference_characters if view.reference_characters > len(view.reference) else None,
        "w": view.witness,
        "s": [_stretch(stretch) for stretch in view.stretches],
        "m": _row(view.row) if view.row else None,
        "x": {name: _text(value) for name, value in view.fields.items() if value is not None},
        "d": 1 if view.picked == "random" else None,
        "b": [*view.failures],
    }
    return {name: value for name, value in entries.items() if value not in (None, [], {})}


def _text(value: FieldValue) -> str:
    """A value as groups are named."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _row(row: PageRow) -> dict[str, Json]:
    numbers: dict[str, Json] = {name: getattr(row, name) for name in NUMBERS}
    facts: dict[str, Json] = {
        "status": row.status,
        "badge": row.is_hallucinating,
        "picarones": row.picarones_badge,
        "exact": row.is_exact,
    }
    return {**facts, **{name: value for name, value in numbers.items() if value is not None}}


def _kind(stretch: StretchView) -> int:
    return KINDS.index(stretch.kind) if stretch.kind in KINDS else KINDS.index("run")


def _stretch(stretch: StretchView) -> Json:
    flags = _MOVED * stretch.is_moved
    flags += _NOT_ENOUGH_INFO * (stretch.label is Label.NOT_ENOUGH_INFO)
    flags += _UNDECIDED * (stretch.label in {None, Label.UNDECIDED})
    place: list[Json] = [stretch.start, stretch.end, stretch.reference_start, stretch.reference_end]
    return [_kind(stretch), stretch.words, *place, flags, *([stretch.note] if stretch.note else [])]
