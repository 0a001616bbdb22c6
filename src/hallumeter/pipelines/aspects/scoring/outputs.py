"""Outputs of the pipeline, ours and others'."""

from __future__ import annotations

from hallumeter.records.aspects import PipelineOutput

from .reading import LineReader

_IDS = ("text_id", "uid", "case_id", "id")
_TEXTS = ("input_text", "text")


def output_reader() -> LineReader[PipelineOutput]:
    """Reads lines of `outputs.jsonl`; a sentence must have an id and a text."""
    return LineReader(PipelineOutput, required=("text_id", "input_text"), renamed=renamed_output)


def renamed_output(row: dict[str, object]) -> dict[str, object]:
    """A row under our names: id and text may have others, or stand in its meta.

    >>> renamed_output({"uid": "s1", "meta": {"input_text": "Good."}})["text_id"]
    's1'
    """
    meta = row.get("meta")
    beside = meta if isinstance(meta, dict) else {}
    found = dict(row)
    for wanted, names in (("text_id", _IDS), ("input_text", _TEXTS)):
        known = [place[name] for name in names for place in (row, beside) if place.get(name) is not None]
        if known:
            found[wanted] = known[0]
    return found
