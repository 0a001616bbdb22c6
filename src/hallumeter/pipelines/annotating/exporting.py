"""The labels of a run as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.store import HumanLabel, LabelStore, labels_csv

from .shelf import ClaimShelf

if TYPE_CHECKING:
    from hallumeter.pipelines.run import Run


def labels_table(run: Run, judge: str | None = None) -> str:
    """Every label that counts as CSV, and whether the run still holds what it speaks of."""
    shelf = ClaimShelf(run, judge)
    return labels_csv((label, _is_held(label, shelf)) for label in LabelStore(run.path).latest())


def _is_held(label: HumanLabel, shelf: ClaimShelf) -> bool:
    number = shelf.number_of(label.record_id, label.claim_id, fingerprint=label.fingerprint)
    judged = None if number is None else shelf.judged(number)
    return judged is not None and judged.value == label.judged
