"""Claims that the input labels as supported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

from hallumeter.formats import rows_of
from hallumeter.formats.labels import label_of
from hallumeter.records import Label

if TYPE_CHECKING:
    from hallumeter.pipelines.audit.inputs import Inputs

Answer = tuple[str, str | None]
"""A record of the input and the model whose answer it is."""
Given = dict[Answer, dict[str, str]]
"""Texts of supported claims by their ids, for every answer."""


def labelled_claims(inputs: Inputs) -> Given:
    """Claims that stand in rows of their own, or in the list `claims` of a record, with the label SUPPORTED.

    A claim on which several rows speak must be supported by all of them.
    """
    supported: Given = {}
    doubted: set[tuple[Answer, str]] = set()
    for answer, row in _answers(inputs):
        for claim_id, text, label in _labels(row):
            if label is Label.SUPPORTED:
                supported.setdefault(answer, {}).setdefault(claim_id, text)
            else:
                doubted.add((answer, claim_id))
    for answer, claim_id in doubted:
        supported.get(answer, {}).pop(claim_id, None)
    return {answer: claims for answer, claims in supported.items() if claims}


def _answers(inputs: Inputs) -> Iterator[tuple[Answer, Mapping[str, object]]]:
    """Rows by the answer they speak of, named as an audit names it: a record without an id after its place."""
    for source, batches in inputs.sources():
        for line, row in chain.from_iterable(map(rows_of, batches)):
            given, model = row.get("record_id"), row.get("model")
            name = f"{source}:{line}" if given in (None, "") else str(given)
            yield (name, None if model in (None, "") else str(model)), row


def _labels(row: Mapping[str, object]) -> Iterable[tuple[str, str, Label]]:
    """Id, text and label of every claim that a row labels."""
    claims = row.get("claims")
    several = claims if isinstance(claims, list | tuple) else ()
    for number, entry in enumerate([row, *several]):
        if not isinstance(entry, Mapping):
            continue
        text = entry.get("text", entry.get("claim"))
        label = _label(entry.get("label"))
        if isinstance(text, str) and text.strip() and label is not None:
            claim_id = entry.get("claim_id")
            yield f"#{number}" if claim_id in (None, "") else str(claim_id), text.strip(), label


def _label(value: object) -> Label | None:
    if isinstance(value, Label):
        return value
    return label_of(value) if isinstance(value, str) else None
