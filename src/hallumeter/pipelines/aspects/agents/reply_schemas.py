"""The form in which each role is asked to reply, closed and with every field required.

The strictest providers take nothing else: no further fields, none that may be absent, no open maps. What may be missing
is null.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from hallumeter.providers.language_models import ReplySchema
from hallumeter.records.aspects import POLARITIES

if TYPE_CHECKING:
    from .protocol import Role

Schema = dict[str, object]
EDITS = ("set_polarity", "set_aspect_ref", "merge_tuples", "drop_tuple", "confirm_tuple")
PROPOSALS = ("FLIP_POLARITY", "DROP_ASPECT", "REVISE_SPAN")
RISKS = ("NEGATION", "CONTRAST", "IRONY")
ASPECT_ACTIONS = ("keep", "revise_span", "drop", "add")
SENTIMENT_ACTIONS = ("maintain", "flip_polarity", "drop", "add")


def _object(**fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _one_of(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


def _perhaps(schema: Schema) -> Schema:
    """The same, or null."""
    if schema["type"] == "object":
        return {"anyOf": [schema, {"type": "null"}]}
    closed: Schema = {**schema, "type": [schema["type"], "null"]}
    if isinstance(words := schema.get("enum"), list):
        closed["enum"] = [*words, None]
    return closed


_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_WHETHER: Schema = {"type": "boolean"}
_SPAN = _object(start={"type": "integer"}, end={"type": "integer"})
_POLARITY = _one_of(*POLARITIES)
_ASPECT = _object(
    term=_TEXT,
    span=_SPAN,
    confidence=_NUMBER,
    rationale=_TEXT,
    normalized=_perhaps(_TEXT),
    syntactic_head=_perhaps(_TEXT),
)
_SENTIMENT = _object(
    aspect_term=_perhaps(_object(term=_TEXT, span=_SPAN)),
    polarity=_perhaps(_POLARITY),
    confidence=_NUMBER,
    evidence=_perhaps(_TEXT),
    polarity_distribution=_object(positive=_NUMBER, negative=_NUMBER, neutral=_NUMBER),
    is_implicit=_WHETHER,
)
_RISK = _object(type=_one_of(*RISKS), scope=_SPAN, severity=_one_of("high", "medium", "low"), description=_TEXT)
_PROPOSAL = _object(
    target_aspect=_TEXT,
    proposal_type=_one_of(*PROPOSALS),
    rationale=_TEXT,
    revised_span=_perhaps(_SPAN),
    confidence=_NUMBER,
)
_EDIT = _object(
    op=_one_of(*EDITS),
    target=_object(aspect_ref=_perhaps(_TEXT), aspect_term=_perhaps(_TEXT), polarity=_perhaps(_POLARITY)),
    value=_perhaps(_TEXT),
    evidence=_perhaps(_TEXT),
    confidence=_NUMBER,
)
_TUPLE = _object(aspect_term=_TEXT, aspect_ref=_perhaps(_TEXT), polarity=_perhaps(_POLARITY))
_VALIDATION = {
    "structural_risks": _list(_RISK),
    "correction_proposals": _list(_PROPOSAL),
    "consistency_score": _NUMBER,
}
_SUMMARY = _object(
    final_patch=_list(_EDIT),
    final_tuples=_list(_TUPLE),
    sentence_polarity=_one_of(*POLARITIES, "mixed"),
    sentence_evidence_spans=_list(_TEXT),
    aspect_evidence=_list(_object(aspect_term=_TEXT, evidence=_TEXT)),
    unresolved_conflicts=_list(_TEXT),
    rationale=_TEXT,
)
_ASPECT_REVIEW = _object(
    aspect_review=_list(
        _object(term=_TEXT, action=_one_of(*ASPECT_ACTIONS), revised_span=_perhaps(_SPAN), reason=_TEXT)
    )
)
_SENTIMENT_REVIEW = _object(
    sentiment_review=_list(
        _object(
            aspect_term=_TEXT,
            action=_one_of(*SENTIMENT_ACTIONS),
            revised_polarity=_perhaps(_POLARITY),
            reason=_TEXT,
        )
    )
)
_STRUCTURAL_REVIEW = _object(
    **_VALIDATION,
    final_validation=_object(
        resolved_risks=_list(_TEXT), remaining_risks=_list(_TEXT), final_consistency_score=_perhaps(_NUMBER)
    ),
)
_TURN = _object(proposed_edits=_list(_EDIT))
_SCHEMAS: dict[Role, Schema] = {
    "ate": _object(aspects=_list(_ASPECT)),
    "atsa": _object(aspect_sentiments=_list(_SENTIMENT)),
    "validator": _object(**_VALIDATION),
    "epm": _TURN,
    "tan": _TURN,
    "cj": _TURN,
    "debate_summary": _SUMMARY,
    "ate_review": _ASPECT_REVIEW,
    "atsa_review": _SENTIMENT_REVIEW,
    "validator_review": _STRUCTURAL_REVIEW,
}


@cache
def reply_schema(role: Role) -> ReplySchema:
    """The form of a role's reply, as a JSON Schema of an object.

    >>> reply_schema("ate_review").schema["required"]
    ['aspect_review']
    """
    return ReplySchema(f"{role}_reply", _SCHEMAS[role])
