"""Labels from wherever they are kept, checked against the run that they speak of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.errors import InputError
from hallumeter.formats.given_labels import read_given_labels
from hallumeter.records import Label
from hallumeter.records.decisions.labels import GivenLabel
from hallumeter.store import LABELS, LabelStore

if TYPE_CHECKING:
    from pathlib import Path

    from hallumeter.store import HumanLabel

    from .settings import LabelSettings

Target = tuple[str, str | None]
"""A record, and a claim of it or None for the whole response."""


class LabelBook:
    """Every label that was given, by what it speaks of."""

    def __init__(self, run: Path, settings: LabelSettings) -> None:
        self.is_from_run = settings.labels is None
        self.source = run / LABELS if settings.labels is None else settings.labels
        self._by_target: dict[Target, dict[str, GivenLabel]] = {}
        self._lines: dict[Target, int] = {}
        if settings.labels is not None:
            self._read_table(settings.labels, settings.annotator)
        elif settings.reference is None and settings.gold is None:
            for label in LabelStore(run).latest():
                if settings.annotator in (None, label.annotator):
                    self._keep(stored_label(label))

    def take(self, record_id: str, claim_id: str | None) -> list[GivenLabel]:
        """What was said of a claim, or of a response; each is handed out once."""
        return list(self._by_target.pop((record_id, claim_id), {}).values())

    @property
    def records(self) -> set[str]:
        """The records that something was said of."""
        return {record_id for record_id, _ in self._by_target}

    @property
    def left(self) -> int:
        """Labels that nothing in the run has asked for."""
        return sum(map(len, self._by_target.values()))

    def refuse_unknown(self) -> None:
        """Refuse labels from a table that speak of nothing in the run."""
        if self.is_from_run or not self._by_target:
            return
        target, *others = self._by_target
        more = f" (and {len(others):,} more)" if others else ""
        raise InputError(f"{self.source}:{self._lines[target]}: {_named(target)} is not in the run{more}")

    def _read_table(self, path: Path, annotator: str | None) -> None:
        for line, label in read_given_labels(path):
            if annotator not in (None, label.annotator):
                continue
            target = label.record_id, label.claim_id
            self._lines.setdefault(target, line)
            before = self._by_target.get(target, {}).get(label.annotator)
            if before is not None and before != label:
                raise InputError(
                    f"{path}:{line}: {label.annotator!r} gave {_named(target)} another label in line "
                    f"{self._lines[target]}; keep one of them, or name the annotators"
                )
            self._keep(label)

    def _keep(self, label: GivenLabel) -> None:
        self._by_target.setdefault((label.record_id, label.claim_id), {})[label.annotator] = label


def _named(target: Target) -> str:
    record_id, claim_id = target
    return f"record {record_id!r}" if claim_id is None else f"claim {claim_id!r} of record {record_id!r}"


def stored_label(label: HumanLabel) -> GivenLabel:
    """What a label that is kept in a run folder says."""
    ids = label.record_id, label.claim_id
    if label.label is not None:
        given = GivenLabel.saying(Label(label.label), *ids, annotator=label.annotator)
    else:
        judged = Label.UNDECIDED if label.judged is None else Label(label.judged)
        given = GivenLabel.of_verdict(judged, *ids, is_right=bool(label.is_right), annotator=label.annotator)
    return GivenLabel(*ids, label.annotator, given.is_unsupported, given.is_refuted, label.fingerprint)
