"""Outputs of the pipeline, ours and others'."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from hallumeter.aspects.records.aspect import AspectTuple
from hallumeter.aspects.records.outputs import FinalAspect, FinalResult, PipelineOutput
from hallumeter.aspects.records.scorecard import SENTENCE_LABELS
from hallumeter.aspects.sentiment_words import sentence_label
from hallumeter.aspects.stages.terms import noted_polarity

from .reading import LineReader
from .traced_steps import as_mapping, with_traced_steps

_IDS = ("text_id", "uid", "case_id", "id")
_TEXTS = ("input_text", "text")
_STAGES = ("stage1", "stage2")
_LISTS = {"ate": "aspects", "atsa": "aspect_sentiments"}
"""What the agents of stage 1 list."""
_SEVERITY = "mid"
"""Of a risk that was only named."""
_POLARITIES = (
    ("stage1", "atsa", "aspect_sentiments", "polarity"),
    ("stage2", "atsa", "sentiment_review", "revised_polarity"),
    ("patched_stage2_atsa", "aspect_sentiments", "polarity"),
    *(("final_result", name, "polarity") for name in ("stage1_tuples", "stage2_tuples", "final_tuples")),
    ("final_result", "final_aspects", "polarity"),
)
"""Where polarities stand; those of gold are left as they are."""
_SPELT = (None, *SENTENCE_LABELS)
Row = dict[str, object]


def output_reader() -> LineReader[PipelineOutput]:
    """Reads lines of `outputs.jsonl`; a sentence must have an id and a text."""
    return LineReader(
        PipelineOutput, required=("text_id", "input_text"), renamed=renamed_output, is_complete=_is_complete
    )


def renamed_output(row: Row) -> Row:
    """A row under our names, and with what it does not tell.

    Id and text may have other names, or stand in its meta; its stages may be the steps of a trace.

    >>> renamed_output({"uid": "s1", "meta": {"input_text": "Good."}})["text_id"]
    's1'
    """
    beside = as_mapping(row.get("meta"))
    found = with_traced_steps(row)
    for wanted, names in (("text_id", _IDS), ("input_text", _TEXTS)):
        known = [place[name] for name in names for place in (row, beside) if place.get(name) is not None]
        if known:
            found[wanted] = known[0]
    there = [stage for stage in _STAGES if stage == "stage1" or found.get(stage) is not None]
    untold = [f"stage1.{name}" for name, field in _LISTS.items() if not _tells_list(found, name, field)]
    untold += [f"{stage}.validator" for stage in there if not _tells_risks(found, stage)]
    if untold:
        found["meta"] = {**beside, "untold": untold}
    return _with_polarities(found)


def _tells_list(row: Row, name: str, field: str) -> bool:
    """Whether stage 1 has the list of an agent, be it empty."""
    return isinstance(as_mapping(as_mapping(row.get("stage1")).get(name)).get(field), list | tuple)


def _tells_risks(row: Row, stage: str) -> bool:
    """Whether a stage tells its risks; where a review only names those that are left, the row gets them as risks."""
    given = as_mapping(row.get(stage))
    block = as_mapping(given.get("validator"))
    if isinstance(block.get("structural_risks"), list | tuple):
        return True
    left = as_mapping(block.get("final_validation")).get("remaining_risks")
    if not isinstance(left, list | tuple):
        return False
    risks = [each if isinstance(each, Mapping) else {"type": each, "severity": _SEVERITY} for each in left]
    row[stage] = {**given, "validator": {**block, "structural_risks": risks}}
    return True


def _with_polarities(row: Row) -> Row:
    """A row whose polarities are spelt as ours, or missing; notes tell of those that were not."""
    notes: list[str] = []

    def mended(value: object, *, is_final: bool) -> str | None:
        if is_final and isinstance(value, str) and sentence_label(value) == "mixed":
            return "mixed"
        return noted_polarity(value, notes)

    for path in _POLARITIES:
        row = _with_items(row, path, partial(mended, is_final=path[0] == "final_result"))
    text = row.get("notes")
    before = list(text) if isinstance(text, list | tuple) else []
    return row | {"notes": [*before, *(f"score: {note}" for note in notes)]} if notes else row


def _with_items(row: Row, path: Sequence[str], mended: Callable[[object], object]) -> Row:
    """A row in which a field of the items of a list is mended; the path ends with the list and the field."""
    name, *rest = path
    given = row.get(name)
    if len(rest) > 1:
        inner = dict(as_mapping(given))
        return row | {name: _with_items(inner, rest, mended)} if inner else row
    if not isinstance(given, list | tuple):
        return row
    field = rest[0]
    items: list[object] = []
    for each in given:
        item = as_mapping(each)
        items.append(each if item.get(field) is None else {**item, field: mended(item[field])})
    return row | {name: items}


class _Aspects(Struct, frozen=True):
    aspects: Raw | UnsetType = UNSET


class _Sentiments(Struct, frozen=True):
    aspect_sentiments: Raw | UnsetType = UNSET


class _Validator(Struct, frozen=True):
    structural_risks: Raw | UnsetType = UNSET


class _Stage(Struct, frozen=True):
    ate: _Aspects = _Aspects()
    atsa: _Sentiments = _Sentiments()
    validator: _Validator = _Validator()

    @property
    def has_lists(self) -> bool:
        return self.ate.aspects is not UNSET and self.atsa.aspect_sentiments is not UNSET


class _Review(Struct, frozen=True):
    validator: _Validator = _Validator()


class _Stages(Struct, frozen=True):
    """The parts of a line in which a list that is empty has to be told from one that is missing."""

    stage1: _Stage = _Stage()
    stage2: _Review | None = None


_STAGES_OF_LINE = msgspec.json.Decoder(_Stages)


def _is_complete(output: PipelineOutput, line: bytes) -> bool:
    """Whether a line that fits tells what every agent said, and spells its polarities, as ours do."""
    stage1, stage2, result = output.stage1, output.stage2, output.final_result
    if result is not None and any(each.polarity not in _SPELT for part in _parts(result) for each in part):
        return False
    has_lists = bool(stage1.ate.aspects and stage1.atsa.aspect_sentiments)
    if has_lists and stage1.validator.structural_risks and (stage2 is None or stage2.validator.structural_risks):
        return True
    found = _STAGES_OF_LINE.decode(line)
    validators = [found.stage1.validator, *([] if found.stage2 is None else [found.stage2.validator])]
    return found.stage1.has_lists and all(each.structural_risks is not UNSET for each in validators)


def _parts(result: FinalResult) -> tuple[tuple[AspectTuple, ...] | tuple[FinalAspect, ...], ...]:
    return result.stage1_tuples, result.stage2_tuples, result.final_tuples, result.final_aspects
