"""Stages of a sentence whose line keeps them as the steps of a trace, or in its meta."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

Row = dict[str, object]
Step = tuple[str, str, Mapping[str, object]]
"""A stage, an agent, and what it said."""
_AGENTS = ("ate", "atsa", "validator")
_STAGES = ("stage1", "stage2")
_SAID = ("output", "result", "response", "parsed_output")
_WHO = ("agent", "name", "role")
_LISTS = {
    "aspects": "term",
    "aspect_sentiments": "aspect_term",
    "aspect_review": "term",
    "sentiment_review": "aspect_term",
}
"""What agents list, and under which name its items keep their term."""
_KEPT_LISTS = (*_LISTS, "structural_risks", "correction_proposals", "final_validation")
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
        if not any(name in known for name in _KEPT_LISTS):
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
    if where in _STAGES and who in _AGENTS and any(name in said for name in _KEPT_LISTS):
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
    for name, wanted in _LISTS.items():
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
