"""The pages that went wrong most, and why, in words."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from hallumeter.report.languages.speaking import message, say, say_count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hallumeter.records import PageRow

STATUS_WORDS = {
    "ok": message("compared"),
    "empty_output": message("empty output"),
    "empty_reference": message("text on a page with empty ground truth"),
    "both_empty": message("both empty"),
    "undecided": message("the witness could not tell"),
}
_READ = ("ok", "empty_reference")
"""Text written for a blank page is invented as well."""


def unfaithful_words(row: PageRow) -> float:
    """Words invented, plus words left out.

    >>> from hallumeter.records import PageRow
    >>> row = PageRow(page="p", engine="e", status="ok", is_hallucinating=True, picarones_badge=True,
    ...     net_insertion_rate=0.5, anchor_score=0.5, length_ratio=1.0, length_ratio_capped=1.0,
    ...     reference_words=10, response_words=20, invented_rate=0.25, omission_rate=0.1)
    >>> unfaithful_words(row)
    6.0
    """
    return (row.invented_rate or 0.0) * row.response_words + (row.omission_rate or 0.0) * row.reference_words


def worst_pages(rows: Iterable[PageRow], most: int) -> list[PageRow]:
    """Readings with most words invented or left out; empty outputs are no readings, and are counted elsewhere."""
    candidates = ((unfaithful_words(row), -place, row) for place, row in enumerate(rows) if row.status in _READ)
    chosen = heapq.nlargest(most, (entry for entry in candidates if entry[0] > 0), key=lambda entry: entry[:2])
    return [row for *_, row in chosen]


def reason_words(row: PageRow, *, has_witness: bool = False) -> str:
    """What is wrong with a reading, most telling first; a witness does not prove that a passage is invented."""
    found = []
    if row.loops:
        found.append(say_count(row.loops, "{count} loop", "{count} loops"))
    if row.blocks and has_witness:
        found.append(say_count(row.blocks, "{count} unconfirmed passage", "{count} unconfirmed passages"))
    elif row.blocks:
        found.append(say_count(row.blocks, "{count} invented block", "{count} invented blocks"))
    if row.omissions:
        found.append(say_count(row.omissions, "{count} omission", "{count} omissions"))
    return ", ".join(found) if row.status == "ok" and found else say(STATUS_WORDS[row.status])
