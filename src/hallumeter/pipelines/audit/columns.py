"""Verdicts of an audit as the table that the metrics are computed from."""

from __future__ import annotations

from array import array
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from hallumeter.extractors import detect_abstention
from hallumeter.pipelines.measurement.builder import distributions_on
from hallumeter.pipelines.measurement.coding import MISSING, NO_HASH, FieldIndex, NameIndex
from hallumeter.pipelines.measurement.table import Table
from hallumeter.records import Verdict
from hallumeter.records.columns import FAILED_CODE, LABEL_CODES
from hallumeter.text import claim_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.pipelines.measurement import MeasureSettings
    from hallumeter.pipelines.measurement.table import Distributions
    from hallumeter.records import Failure

    from .entries import Prepared

_EMPTY = {
    "judges": MISSING,
    "labels": MISSING,
    "claims": NO_HASH,
    "claim_keys": 0,
    "answerable": MISSING,
    "abstained": 0,
}
"""What a row has that says nothing."""


class VerdictTable:
    """Takes records with what the judges said of them, and keeps what measuring needs."""

    def __init__(self, settings: MeasureSettings, judges: Sequence[str]) -> None:
        self._keeps_texts = settings.similarity is not None
        self._records, self._models, self._questions, self._texts = (NameIndex() for _ in range(4))
        self._fields = {field: FieldIndex() for field in settings.fields}
        self._judges = NameIndex()
        for name in judges:
            self._judges[name]  # numbered in the order given
        self._response_names: dict[tuple[int, int], str] = {}
        self._distributions: list[Distributions] = []
        self._columns = {name: array("q") for name in (*_EMPTY, "records", "models", "questions")}
        self._field_columns = {name: array("q") for name in settings.fields}

    def add(self, record: Prepared, said: Sequence[Verdict | Failure]) -> None:
        """Take a record with everything that was said of its claims."""
        before = self._rows
        keys = {claim.claim_id: self._claim_key(claim.text, record.response.model) for claim in record.claims}
        for item in said:
            if isinstance(item, Verdict):
                self._take_distributions(item)
            self._append(
                judges=self._judges[item.judge or ""],
                labels=LABEL_CODES[item.label] if isinstance(item, Verdict) else FAILED_CODE,
                claims=hash(item.claim_id),
                claim_keys=keys[item.claim_id or ""],
            )
        if not said:
            self._append()
        response = record.response
        if response.answerable is not None:
            did_abstain = detect_abstention(response.response or "").did_abstain
            self._append(answerable=int(response.answerable), abstained=int(did_abstain))
        self._describe(record, rows=self._rows - before)

    def build(self) -> Table:
        """Everything that was taken in."""
        columns = {name: np.array(values, dtype=np.int64) for name, values in self._columns.items()}
        return Table(
            records=columns["records"],
            models=columns["models"],
            judges=columns["judges"],
            labels=columns["labels"].astype(np.int8),
            claims=columns["claims"],
            claim_keys=columns["claim_keys"],
            questions=columns["questions"],
            answerable=columns["answerable"].astype(np.int8),
            abstained=columns["abstained"].astype(bool),
            fields={name: np.array(values, dtype=np.int64) for name, values in self._field_columns.items()},
            distributions=tuple(self._distributions),
            record_names=tuple(self._records.names),
            model_names=tuple(self._models.names),
            judge_names=tuple(self._judges.names),
            field_names={name: tuple(index.names) for name, index in self._fields.items()},
            claim_texts=tuple(self._texts.names),
            places=(("journal", self._rows),),
            lines=np.arange(self._rows),
            response_names=self._response_names,
        )

    @property
    def _rows(self) -> int:
        return len(self._columns["labels"])

    def _append(self, **values: int) -> None:
        for name, empty in _EMPTY.items():
            self._columns[name].append(values.get(name, empty))

    def _describe(self, record: Prepared, *, rows: int) -> None:
        """What all rows of a record have in common."""
        response = record.response
        question = response.fields.get("question_id") or response.question
        known = response.fields | {"model": response.model, "question": response.question}
        codes = self._records[record.source_id], self._models[response.model]
        if response.record_id != record.source_id:
            self._response_names[codes] = response.record_id
        self._columns["records"].extend(repeat(codes[0], rows))
        self._columns["models"].extend(repeat(codes[1], rows))
        self._columns["questions"].extend(repeat(self._questions[question], rows))
        for name, index in self._fields.items():
            code = int(index.encode([known.get(name)])[0])
            self._field_columns[name].extend(repeat(code, rows))

    def _claim_key(self, text: str | None, model: str | None) -> int:
        """What a claim says, where several models may say the same; 0 where that is not known."""
        key = claim_key(text) if text and model is not None else None
        if not key:
            return 0
        return self._texts[key] + 1 if self._keeps_texts else hash(key)

    def _take_distributions(self, verdict: Verdict) -> None:
        if verdict.probabilities is not None or verdict.inference_samples:
            self._distributions.append(
                distributions_on(self._rows, verdict.probabilities, list(verdict.inference_samples))
            )
