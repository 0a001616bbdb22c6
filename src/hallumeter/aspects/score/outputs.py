"""Outputs of the pipeline, ours and others'."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from hallumeter.aspects.records.aspect import AspectTuple
from hallumeter.aspects.records.outputs import FinalAspect, FinalResult, PipelineOutput
from hallumeter.aspects.records.scorecard import SENTENCE_LABELS
from hallumeter.aspects.sentiment_words import sentence_label
from hallumeter.aspects.stages.terms import noted_polarity
from hallumeter.errors import RecordError

from .reading import LineReader

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
_OF_OUTPUTS = ("process_trace", "final_result", *_STAGES)
"""What no scorecard has."""
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
    if "stage_delta" in row and row.keys().isdisjoint(_OF_OUTPUTS):
        raise RecordError("a scorecard, and no output of agents; get rates from it with `hallumeter aspects aggregate`")
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


# Stages of a sentence whose line keeps them as the steps of a trace, or in its meta.

Step = tuple[str, str, Mapping[str, object]]
"""A stage, an agent, and what it said."""
_AGENTS = ("ate", "atsa", "validator")
_SAID = ("output", "result", "response", "parsed_output")
_WHO = ("agent", "name", "role")
_TRACED_LISTS = {
    "aspects": "term",
    "aspect_sentiments": "aspect_term",
    "aspect_review": "term",
    "sentiment_review": "aspect_term",
}
"""What agents list, and under which name its items keep their term."""
_KEPT_TRACED_LISTS = (*_TRACED_LISTS, "structural_risks", "correction_proposals", "final_validation")
_NAMES = ("aspect_term", "aspect_ref", "term")
"""What older and newer files call the term of an aspect."""
_FROM_META = ("correction_applied_log", "debate_review_context")


def with_traced_steps(row: Row) -> Row:
    """A row whose stages are filled from `process_trace` and `meta` where the row itself does not have them.

    >>> steps = [{"stage": "stage1", "agent": "ATE", "output": {"aspects": [{"term": "battery"}]}}]
    >>> with_traced_steps({"process_trace": steps})["stage1"]
    {'ate': {'aspects': [{'term': 'battery'}]}}
    """
    found = dict(row)
    beside = as_mapping(row.get("meta"))
    for stage, agent, said in _steps(row, beside):
        block = as_mapping(found.get(stage))
        known = as_mapping(block.get(agent))
        if not any(name in known for name in _KEPT_TRACED_LISTS):
            found[stage] = {**block, agent: {**known, **_with_terms(said)}}
    if "patched_stage2_ate" not in row and isinstance(beside.get("stage2_aspects"), list):
        found["patched_stage2_ate"] = _with_terms({"aspects": beside["stage2_aspects"]})
    for name in _FROM_META:
        if found.get(name) is None and beside.get(name) is not None:
            found[name] = beside[name]
    return _with_final_tuples(found)


def as_mapping(value: object) -> Mapping[str, object]:
    """A block of a row; empty where it is missing."""
    if isinstance(value, msgspec.Struct):
        value = msgspec.to_builtins(value)
    return value if isinstance(value, Mapping) else {}


def _steps(row: Row, beside: Mapping[str, object]) -> Iterator[Step]:
    """What the agents said, wherever it stands: of one agent's words the first that are found count."""
    for stage in _STAGES:
        for agent in _AGENTS:
            yield from _step(stage, agent, row.get(f"{stage}_{agent}"))
    trace = row.get("process_trace")
    if isinstance(trace, Mapping):
        yield from _named_steps(trace)
    elif isinstance(trace, list | tuple):
        yield from _listed_steps(trace)
    if isinstance(beside.get("stage1_aspects"), list):
        yield "stage1", "ate", {"aspects": beside["stage1_aspects"]}


def _listed_steps(steps: list[object] | tuple[object, ...], stage: str = "") -> Iterator[Step]:
    for each in steps:
        step = as_mapping(each)
        who = next((step[name] for name in _WHO if isinstance(step.get(name), str)), "")
        yield from _step(stage or step.get("stage"), who, step)


def _named_steps(trace: Mapping[str, object]) -> Iterator[Step]:
    """The steps of a trace that has a block for each stage, or for each agent of a stage."""
    for key, block in trace.items():
        stage, _, agent = str(key).partition("_")
        if agent:
            yield from _step(stage, agent, block)
        elif isinstance(block, list | tuple):
            yield from _listed_steps(block, stage)
        else:
            for name, said in as_mapping(block).items():
                yield from _step(stage, str(name), said)


def _step(stage: object, agent: object, block: object) -> Iterator[Step]:
    """A step, if it is one of a stage and its agent said something that is known."""
    where = str(stage).lower().replace(" ", "").replace("_", "")
    who = str(agent).lower()
    said = as_mapping(block)
    said = next((as_mapping(_decoded(said[name])) for name in _SAID if name in said), said)
    if where in _STAGES and who in _AGENTS and any(name in said for name in _KEPT_TRACED_LISTS):
        yield where, who, said


def _decoded(value: object) -> object:
    """A value that may be written as JSON."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return None


def _with_terms(said: Mapping[str, object]) -> Row:
    """What an agent said, with the terms of its items under the names that ours have."""
    found = dict(said)
    for name, wanted in _TRACED_LISTS.items():
        items = found.get(name)
        if isinstance(items, list | tuple):
            found[name] = [_named(each, wanted) if isinstance(each, Mapping) else each for each in items]
    return found


def _named(item: Mapping[str, object], wanted: str) -> Mapping[str, object]:
    if wanted in item:
        return item
    name = next((name for name in _NAMES if name in item), None)
    if name is None:
        return item
    held = as_mapping(item[name])
    if wanted == "term" and held:
        return {"span": held.get("span"), **item, wanted: held.get("term")}
    return {**item, wanted: item[name]}


def _with_final_tuples(row: Row) -> Row:
    """A row whose final aspects are tuples where they are told as sentiments, with no place of their own."""
    result = as_mapping(row.get("final_result"))
    aspects = result.get("final_aspects")
    if not isinstance(aspects, list | tuple) or result.get("final_tuples"):
        return row
    items = [as_mapping(each) for each in aspects]
    if not items or any("term" in each for each in items):
        return row
    tuples = [_tuple(_named(each, "aspect_term")) for each in items]
    return row | {"final_result": {**result, "final_aspects": [], "final_tuples": tuples}}


def _tuple(item: Mapping[str, object]) -> Row:
    named = item.get("aspect_term")
    held = as_mapping(named)
    term = held.get("term") if held else named
    return {"aspect_term": term or "", "polarity": item.get("polarity"), "span": held.get("span")}
