"""What responses are called in a run, and which model gave them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain, count

import numpy as np
from msgspec import Struct, structs

from hallumeter.records.response import Response

from .table import MISSING, Codes, Table, dense_codes


def run_record_id(record_id: str, model: str | None, *, is_shared: bool) -> str:
    """The id of a response in a run: that of its record, with the model's name where several models share it.

    >>> run_record_id("q", "m", is_shared=True), run_record_id("q", None, is_shared=True)
    ('q@m', 'q')
    """
    return f"{record_id}@{model}" if is_shared and model else record_id


class ResponseNames(Struct, frozen=True):
    """What the responses of a run are called."""

    shared: frozenset[str] = frozenset()
    """Ids of records that more than one model answered."""
    renamed: dict[str, dict[str, str]] = {}
    """By record and model: responses whose usual name is that of another."""

    def named(self, response: Response) -> Response:
        """The response under its name in the run."""
        record, model = response.record_id, response.model
        if record not in self.shared:
            return response
        name = self.renamed.get(record, {}).get(model or "") or run_record_id(record, model, is_shared=True)
        return structs.replace(response, record_id=name, fields={"question_id": record, **response.fields})


def names_of(answers: Collection[tuple[str, str | None]], shared: Iterable[str]) -> ResponseNames:
    """Names for answers, given by record and model, of which no two are the same.

    >>> names_of([("q", "a"), ("q", "b"), ("q@a", None)], ["q"]).renamed
    {'q': {'a': 'q@a~2'}}
    """
    several = frozenset(shared)
    records = {record for record, _ in answers}
    taken: set[str] = set()
    renamed: dict[str, dict[str, str]] = {}
    for record, model in answers:
        if record in several:
            usual = run_record_id(record, model, is_shared=True)
            names = chain([usual], (f"{usual}~{number}" for number in count(2)))
            name = next(name for name in names if name not in taken and (name == record or name not in records))
            taken.add(name)
            if name != usual:
                renamed.setdefault(record, {})[model or ""] = name
    return ResponseNames(several, renamed)


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
