"""The fields that hallumeter knows, under its own names and under other tools' names."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from .batch import Batch, Column, Fault, expanded, plain_message

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
    "retrieval_context": "evidence",
    "retrieved_context": "evidence",
    "source_documents": "evidence",
    "source_nodes": "evidence",
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


# Columns under the names of a file, put under hallumeter's own names.


def named_batch(
    raw: dict[str, Column],
    lines: Sequence[int],
    *,
    faults: Iterable[Fault] = (),
    fields: Collection[str] | None = (),
    strict: bool = True,
    held: Collection[str] = (),
) -> Batch:
    """A batch of columns under hallumeter's own names.

    An alias that is the only name of its field is renamed. Where a file has several names for one field, a row's own
    name counts first and then the aliases in their order; an alias keeps what it did not stand for. An alias among the
    `fields` stays under its own name as well, so that rows can be grouped by it; one that is `held` stands for itself.
    """
    asked = fields or ()
    columns: dict[str, Column] = {}
    aliases: dict[str, str] = {}
    shared: dict[str, None] = {}
    named = {key: column for key, column in raw.items() if key not in held} if held else raw
    for key, column in raw.items():
        if key not in ALIASES or key in held:
            columns[key] = column
        elif rivals(key, named):
            shared[ALIASES[key]] = None
        else:
            columns[ALIASES[key]] = column
            aliases[key] = ALIASES[key]
    found = list(faults)
    for own in shared:
        joining = _Joining(own, named, strict=strict)
        columns |= joining.columns
        aliases |= joining.aliases
        found.extend(Fault(lines[row], "wrong_type", message) for row, message in joining.faults.items())
    columns |= {key: raw[key] for key in asked if key in ALIASES and key in raw}
    faulty = {fault.line for fault in found}
    batch = Batch(columns, lines, tuple(sorted(found, key=lambda fault: fault.line)), aliases)
    return batch.without(faulty) if shared and faulty else batch


class _Joining:
    """One field out of several columns: its own and those of its aliases."""

    def __init__(self, own: str, raw: dict[str, Column], *, strict: bool) -> None:
        self._kind = KNOWN_FIELDS[own]
        self._strict = strict
        self.columns: dict[str, Column] = {}
        self.aliases: dict[str, str] = {}
        self.faults: dict[int, str] = {}
        """What does not fit, by the position of its row."""
        size = len(next(iter(raw.values())))
        values: list[object] = list(expanded(raw[own])) if own in raw else [None] * size
        for key in [name for name in ALIASES if ALIASES[name] == own and name in raw]:
            self._take(key, expanded(raw[key]), values)
        self.columns[own] = values

    def _take(self, key: str, given: list[object], values: list[object]) -> None:
        """Fill the gaps of a field with what one alias says; the rest stays under the alias."""
        left = list(given)
        for row in [row for row, value in enumerate(values) if value is None and given[row] is not None]:
            try:
                values[row] = msgspec.convert(given[row], self._kind, strict=self._strict)
            except msgspec.ValidationError as error:
                self.faults[row] = key + plain_message(error).removeprefix("row")
            else:
                self.aliases[key] = ALIASES[key]
            left[row] = None
        if any(value is not None for value in left):
            self.columns[key] = left
