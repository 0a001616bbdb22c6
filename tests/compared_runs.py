"""Small runs to compare, made from rows of verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from hallumeter.claims.measure.commands import measure_to_folder
from hallumeter.claims.settings import MeasureSettings
from hallumeter.run.finished import Run, load


def run_of(folder: Path, rows: Iterable[Mapping[str, object]], **settings: object) -> Run:
    """A measured run in a new folder."""
    given = folder.with_suffix(".jsonl")
    given.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    measure_to_folder([given], folder, settings=MeasureSettings(**settings))  # type: ignore[arg-type]
    return load(folder)


def verdict_rows(labels: Mapping[str, str], **fields: object) -> list[dict[str, object]]:
    """Rows from one letter per claim: s for supported, r for refuted, n for not enough info, u for undecided."""
    names = {"s": "SUPPORTED", "r": "REFUTED", "n": "NOT_ENOUGH_INFO", "u": "UNDECIDED"}
    return [
        {
            "record_id": record,
            "claim_id": f"{record}-{place}",
            "label": names[letter],
            "text": f"claim {place} of {record}",
            "judge": "j",
            **fields,
        }
        for record, letters in labels.items()
        for place, letter in enumerate(letters)
    ]
