"""What all annotators have said of a run up to now."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from hallumeter.pipelines.labelled.reading import mean_said
from hallumeter.pipelines.labelled.sources import stored_label
from hallumeter.records.decisions.labels import GivenLabel, LabelCensus
from hallumeter.store import LabelStore

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from hallumeter.pipelines.labelled import LabelledRun

    from .shelf import ClaimShelf

    FloatArray = NDArray[np.float64]
    BoolArray = NDArray[np.bool_]


class AnnotationBook:
    """The labels in a run folder by claim and annotator, read again whenever somebody may have added one."""

    def __init__(self, folder: Path, shelf: ClaimShelf) -> None:
        self._store, self._shelf = LabelStore(folder), shelf
        self.said: dict[int, dict[str, GivenLabel]] = {}
        """By the number of the claim, what each annotator says."""
        self.unsupported: FloatArray = np.empty(0)
        self.refuted: FloatArray = np.empty(0)
        self.refresh()

    def refresh(self) -> None:
        """Read what is on disk: other annotators may sit at the same run."""
        self.said = {}
        for label in self._store.latest():
            number = self._shelf.number_of(label.record_id, label.claim_id, fingerprint=label.fingerprint)
            if number is not None:
                self.said.setdefault(number, {})[label.annotator] = stored_label(label)
        claims = len(self._shelf.columns.claim_ids)
        self.unsupported, self.refuted = np.full(claims, np.nan), np.full(claims, np.nan)
        for number, labels in self.said.items():
            self.unsupported[number] = mean_said(labels.values(), "is_unsupported")
            self.refuted[number] = mean_said(labels.values(), "is_refuted")

    @property
    def is_answered(self) -> BoolArray:
        """Which claims somebody has answered, sure or not."""
        return self._marked(self.said)

    def is_answered_by(self, annotator: str) -> BoolArray:
        """The same for one annotator."""
        return self._marked(number for number, labels in self.said.items() if annotator in labels)

    def _marked(self, numbers: Iterable[int]) -> BoolArray:
        found = np.zeros(len(self.unsupported), dtype=bool)
        found[list(numbers)] = True
        return found

    def columns(self) -> LabelledRun:
        """The run beside these labels."""
        names = Counter(
            name for labels in self.said.values() for name, label in labels.items() if label.is_unsupported is not None
        )
        is_known, columns = ~np.isnan(self.unsupported), self._shelf.columns
        census = LabelCensus(
            labels=names.total(),
            claims=int(is_known.sum()),
            responses=len(np.unique(columns.owners[is_known])),
            annotators=dict(sorted(names.items())),
        )
        nobody = np.full(len(columns.record_ids), np.nan)
        return structs.replace(
            columns, response_truth=nobody, unsupported=self.unsupported, refuted=self.refuted, census=census
        )
