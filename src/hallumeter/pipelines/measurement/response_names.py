"""What responses are called in a run, and which model gave them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .coding import MISSING, dense_codes

if TYPE_CHECKING:
    from .coding import Codes
    from .table import Table


def run_record_id(record_id: str, model: str | None, *, is_shared: bool) -> str:
    """The id of a response in a run: that of its record, with the model's name where several models share it."""
    return f"{record_id}@{model}" if is_shared else record_id


def shared_records(table: Table) -> set[str]:
    """Records that more than one model answered."""
    counts = np.bincount(_answered_by(table)[:, 0], minlength=len(table.record_names))
    return {table.record_names[code] for code in np.flatnonzero(counts > 1).tolist()}


def models_by_record(table: Table) -> dict[str, str]:
    """The model of every record that has exactly one."""
    shared = shared_records(table)
    return {
        table.record_names[record]: table.model_names[model]
        for record, model in _answered_by(table).tolist()
        if model != MISSING and table.record_names[record] not in shared
    }


def _answered_by(table: Table) -> Codes:
    """Every pair of a record and a model that answered it, once."""
    width = len(table.model_names) + 1
    pairs = dense_codes(table.records.astype(np.int64) * width + table.models + 1)[0]
    return np.stack([pairs // width, pairs % width - 1], axis=1)
