"""The JSON Schema of a line of `events.jsonl`, made from the record itself."""

from __future__ import annotations

from importlib import resources
from typing import Any

import msgspec

from .records import EVENT_VERSION, Event

SCHEMA_FILE = "events_record.schema.json"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"

_FIELDS = {
    "schema_version": "The form of this record.",
    "run_id": "The run that the event belongs to; the name of its folder.",
    "mode": "How the system answered: llm is a plain conversation, agent is reminded of the patient's facts before "
    "each answer; the name of the system where several of a run share a mode.",
    "patient_id": "Who asked.",
    "turn_id": "Which question of the conversation it is, from 1.",
    "question": "What was asked.",
    "answer": "What the system answered; null when it failed, or was not asked.",
    "usage": "Tokens and dollars of the answer; null where they are not known.",
    "timing_ms": "Milliseconds: total from the question to the answer, retries and waits included; recall for looking "
    "up what an agent is reminded of.",
    "timestamps": "When the question was asked (started) and the answer was there (finished), in UTC.",
    "metadata": "The system's name and mode, the model, the language, and failure where there is no answer.",
    "metrics": "Metrics of the answer: a number, or null where it is undefined or was not measured.",
    "slots_truth": "What is true of the patient; null when nobody knows.",
}
_METRICS = {
    "SFS": "Slot factuality: 1 minus the weight of invented facts of the patient over the weight of all facts "
    "mentioned, from 0 to 1, higher is better. Null without slots_truth, without an answer, and when no fact is "
    "mentioned.",
    "CSP": "Contraindication and safety penalty: the weight of violated rules over the weight of all rules that apply, "
    "from 0 to 1, lower is better. Null without slots_truth, without an answer, and when no rule applies.",
    "CUS_improved": "Context utilisation: over the facts that the turn asks to be used and the patient has, the weight "
    "of those used (1 when named, 0.5 when hinted at) over the weight of all, from 0 to 1, higher is better. Null "
    "without slots_truth, without an answer, and when no such fact is known.",
    "CUS": "Context utilisation without weights: the share of the facts that the turn asks to be used which the answer "
    "uses. Null as CUS_improved is.",
    "MCS": "Multi-turn consistency: the share of checkable statements that contradict neither what the patient stated "
    "nor what the system answered before. Null without a contradiction and with fewer than two comparable statements.",
    "ASS": "Actionability and specificity: the share of the elements that the turn's answer must include. Null for a "
    "turn that has none.",
    "faithfulness": "The share of the answer's sentences that the patient's record supports, by the embedded judge or "
    "as the system gave it. Null when it was not measured.",
    "answer_relevance": "The cosine between the vectors of question and answer, or as the system gave it. Null when it "
    "was not measured.",
    "perplexity": "The exponential of the mean negative log-probability of the answer's tokens, or as the system gave "
    "it. Null when there are none.",
}


def event_schema() -> dict[str, Any]:
    """The schema of an event.

    >>> event_schema()["properties"]["metrics"]["properties"]["SFS"]["type"]
    ['number', 'null']
    """
    [made], parts = msgspec.json.schema_components([Event], ref_template="#/$defs/{name}")
    event = parts.pop(made["$ref"].rpartition("/")[2])
    properties = {
        name: {**_without_default(event["properties"][name]), "description": text} for name, text in _FIELDS.items()
    }
    properties["schema_version"]["const"] = EVENT_VERSION
    properties["turn_id"]["minimum"] = 1
    properties["metrics"]["properties"] = {
        name: {"type": ["number", "null"], "description": text} for name, text in _METRICS.items()
    }
    return {
        "$schema": _DIALECT,
        "$id": SCHEMA_FILE,
        "title": "A line of events.jsonl: one answer of one system to one turn",
        "type": "object",
        "properties": properties,
        "required": list(_FIELDS),
        "$defs": parts,
    }


def schema_text() -> str:
    """The schema as the package ships it."""
    return msgspec.json.format(msgspec.json.encode(event_schema()), indent=2).decode() + "\n"


def shipped_schema() -> str:
    """The file that is in the package."""
    return resources.files(__package__).joinpath(SCHEMA_FILE).read_text(encoding="utf-8")


def _without_default(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "default"}
