"""Tables of labels that people gave: from the viewer, from `hallumeter label`, or from a spreadsheet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from hallumeter.errors import InputError
from hallumeter.records import Label
from hallumeter.records.decisions.labels import GivenLabel

from .by_suffix import read_rows
from .labels import LABEL_SYNONYMS, label_of
from .record_rows import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_COLUMNS = ("record_id", "claim_id", "label", "judged", "is_right", "annotator", "fingerprint")
_TRUE, _FALSE = {"true", "1", "yes", "y"}, {"false", "0", "no", "n"}
_HALLUCINATED = {
    **dict.fromkeys(("hallucinated", "unfaithful", *_TRUE), Label.NOT_ENOUGH_INFO),
    **dict.fromkeys(("faithful", "not hallucinated", *_FALSE), Label.SUPPORTED),
}
"""What a label of a whole response may be called beside the labels of claims."""


def read_given_labels(path: Path) -> Iterator[tuple[int, GivenLabel]]:
    """The labels of a CSV, TSV, JSONL or Parquet file, with their lines.

    A row has a `record_id`, mostly a `claim_id` (without one it speaks of the whole response), and a `label`, or a
    verdict `judged` and whether it `is_right`; an `annotator` where there are several.

    Raises:
        InputError: A row cannot be read; it is named by its line.
    """
    for batch in read_rows(path, _COLUMNS):
        for fault in batch.faults:
            raise InputError(f"{path}:{fault.line}: {fault.message}")
        for line, row in rows_of(batch):
            yield line, _given(row, f"{path}:{line}")


def truth_of(text: str) -> Label | None:
    """The label that a word for a whole response stands for: yes and true are hallucinated.

    >>> truth_of("Yes"), truth_of("faithful")
    (<Label.NOT_ENOUGH_INFO: 'NOT_ENOUGH_INFO'>, <Label.SUPPORTED: 'SUPPORTED'>)
    """
    return _HALLUCINATED.get(text.strip().lower()) or label_of(text)


def _given(row: Mapping[str, object], place: str) -> GivenLabel:
    record_id, claim_id = row.get("record_id"), row.get("claim_id")
    if record_id in (None, ""):
        raise InputError(f"{place}: record_id is missing")
    claim = None if claim_id in (None, "") else str(claim_id)
    annotator = str(row.get("annotator") or "labels")
    said = row.get("label")
    if said in (None, ""):
        given = _from_verdict(row, place, ids=(str(record_id), claim), annotator=annotator)
    else:
        label = label_of(str(said)) if claim is not None else truth_of(str(said))
        if label is None:
            raise InputError(f"{place}: label: expected one of {_known_labels()}, found {str(said)!r}")
        given = GivenLabel.saying(label, str(record_id), claim, annotator=annotator)
    fingerprint = row.get("fingerprint")
    return given if fingerprint in (None, "") else structs.replace(given, fingerprint=str(fingerprint))


def _from_verdict(row: Mapping[str, object], place: str, *, ids: tuple[str, str | None], annotator: str) -> GivenLabel:
    given = row.get("is_right")
    judged, is_right = label_of(str(row.get("judged") or "")), "" if given is None else str(given).strip().lower()
    if judged is None or is_right not in _TRUE | _FALSE:
        raise InputError(f"{place}: expected a label, or judged and is_right (true or false)")
    return GivenLabel.of_verdict(judged, *ids, is_right=is_right in _TRUE, annotator=annotator)


def _known_labels() -> str:
    return ", ".join(dict.fromkeys(label.value for label in LABEL_SYNONYMS.values()))
