"""Outputs of the pipeline, ours and others'."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from hallumeter.records.aspects import PipelineOutput

from .reading import LineReader

_IDS = ("text_id", "uid", "case_id", "id")
_TEXTS = ("input_text", "text")
_STAGES = ("stage1", "stage2")
_SEVERITY = "mid"
"""Of a risk that was only named."""
Row = dict[str, object]


def output_reader() -> LineReader[PipelineOutput]:
    """Reads lines of `outputs.jsonl`; a sentence must have an id and a text."""
    return LineReader(
        PipelineOutput, required=("text_id", "input_text"), renamed=renamed_output, is_complete=_is_complete
    )


def renamed_output(row: Row) -> Row:
    """A row under our names: id and text may have others, or stand in its meta; and with what it does not tell.

    >>> renamed_output({"uid": "s1", "meta": {"input_text": "Good."}})["text_id"]
    's1'
    """
    beside = _mapping(row.get("meta"))
    found = dict(row)
    for wanted, names in (("text_id", _IDS), ("input_text", _TEXTS)):
        known = [place[name] for name in names for place in (row, beside) if place.get(name) is not None]
        if known:
            found[wanted] = known[0]
    there = [stage for stage in _STAGES if stage == "stage1" or row.get(stage) is not None]
    untold = [stage for stage in there if not _tells_risks(found, stage)]
    return found | {"meta": {**beside, "untold_validators": untold}} if untold else found


def _tells_risks(row: Row, stage: str) -> bool:
    """Whether a stage tells its risks; where a review only names those that are left, the row gets them as risks."""
    given = _mapping(row.get(stage))
    block = _mapping(given.get("validator"))
    if isinstance(block.get("structural_risks"), list | tuple):
        return True
    left = _mapping(block.get("final_validation")).get("remaining_risks")
    if not isinstance(left, list | tuple):
        return False
    risks = [each if isinstance(each, Mapping) else {"type": each, "severity": _SEVERITY} for each in left]
    row[stage] = {**given, "validator": {**block, "structural_risks": risks}}
    return True


def _mapping(value: object) -> Mapping[str, object]:
    """A block of a row; empty where it is missing."""
    if isinstance(value, Struct):
        value = msgspec.to_builtins(value)
    return value if isinstance(value, Mapping) else {}


class _Validator(Struct, frozen=True):
    structural_risks: Raw | UnsetType = UNSET


class _Stage(Struct, frozen=True):
    validator: _Validator = _Validator()


class _Stages(Struct, frozen=True):
    """The parts of a line in which a list that is empty has to be told from one that is missing."""

    stage1: _Stage = _Stage()
    stage2: _Stage | None = None


_STAGES_OF_LINE = msgspec.json.Decoder(_Stages)


def _is_complete(output: PipelineOutput, line: bytes) -> bool:
    """Whether a line that fits tells the risks of its validators, as ours do."""
    stage1, stage2 = output.stage1, output.stage2
    if stage1.validator.structural_risks and (stage2 is None or stage2.validator.structural_risks):
        return True
    found = _STAGES_OF_LINE.decode(line)
    return all(stage is None or stage.validator.structural_risks is not UNSET for stage in (found.stage1, found.stage2))
