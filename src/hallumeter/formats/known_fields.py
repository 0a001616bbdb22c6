"""The fields that hallumeter knows, under its own names and under other tools' names."""

from __future__ import annotations

from collections.abc import Container
from typing import Annotated

from msgspec import Meta

Position = Annotated[int, Meta(ge=-(2**53), le=2**53)]
"""A place in a text; what is farther away could not be written down again."""
Distribution = list[float] | dict[str, float]

KNOWN_FIELDS: dict[str, object] = {
    "record_id": str | int,
    "claim_id": str | int,
    "label": str,
    "judge": str,
    "model": str,
    "question": str,
    "question_id": str | int,
    "response": str,
    "reference": str,
    "text": str,
    "kind": str,
    "reason": str,
    "note": str,
    "start": Position,
    "end": Position,
    "weight": float,
    "cost_usd": float,
    "unsupported_probability": float,
    "confidence": float,
    "probabilities": Distribution,
    "inference_samples": list[Distribution],
    "answerable": bool,
    "is_nonexistent": bool,
    "evidence": object,
    "samples": list[str],
    "token_logprobs": list[float],
}
"""Names of the fields and the types their values must have; every value may also be null."""

STRUCTURED_FIELDS = frozenset({"probabilities", "inference_samples", "evidence", "samples", "token_logprobs"})
"""Fields whose values are lists or objects; every other one is a text, a number, or true or false."""

ALIASES = {
    "id": "record_id",
    "answer": "response",
    "output": "response",
    "claim": "text",
    "context": "evidence",
    "contexts": "evidence",
    "retrieved_contexts": "evidence",
    "retrieved_documents": "evidence",
    "documents": "evidence",
    "passages": "evidence",
    "chunks": "evidence",
    "source": "evidence",
    "ground_truth": "reference",
    "user_input": "question",
}
"""What other tools call these fields."""


def rivals(key: str, keys: Container[str]) -> list[str]:
    """The other names among `keys` that speak of the same field as an alias does.

    >>> rivals("answer", {"answer", "output", "label"})
    ['output']
    """
    own = ALIASES[key]
    return [name for name in (own, *ALIASES) if name != key and name in keys and ALIASES.get(name, name) == own]


def type_of(key: str, keys: Container[str]) -> object:
    """The type that values under a key must have, when it stands beside the other `keys`.

    An alias beside another name of its field may hold anything: only where the others say nothing it stands for them.
    """
    if key in ALIASES and rivals(key, keys):
        return object
    known = KNOWN_FIELDS.get(ALIASES.get(key, key))
    return object if known is None or known is object else known | None  # type: ignore[operator]
