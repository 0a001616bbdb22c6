"""The fields that hallumeter knows, under its own names and under other tools' names.

The decoder is built for exactly the keys that a file has and is widened when a new key turns up, so that typed decoding
stays as fast as a hand-written record type and yet no field is lost.
"""

from __future__ import annotations

import re
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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
    "start": int,
    "end": int,
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

ALIASES = {
    "id": "record_id",
    "answer": "response",
    "output": "response",
    "claim": "text",
    "context": "evidence",
    "contexts": "evidence",
    "retrieved_contexts": "evidence",
    "source": "evidence",
    "ground_truth": "reference",
    "user_input": "question",
}
"""What other tools call these fields."""

_UNKNOWN_FIELD = re.compile(r"unknown field `(?P<name>.*?)`(?: - at `\$(?:\[\d+\])?`)?$", re.DOTALL)
_WRONG_TYPE = re.compile(
    r"Expected `(?P<expected>.+?)`, got `(?P<found>.+?)`(?: - at `\$(?:\[\d+\])?\.?(?P<path>.*)`)?$"
)


class RowSchema:
    """A record type that grows with the keys seen in a file."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._keys: dict[str, None] = {}
        self.widen(keys)

    def widen(self, keys: Iterable[str]) -> None:
        """Add keys and rebuild the record type."""
        self._keys.update(dict.fromkeys(keys))
        attributes = {key: f"field_{number}" for number, key in enumerate(self._keys)}
        fields = [(attributes[key], _type_of(key), None) for key in self._keys]
        self.row_type = msgspec.defstruct(
            "Row",
            fields,
            rename={attribute: key for key, attribute in attributes.items()},
            forbid_unknown_fields=True,
            gc=False,
        )
        self.decoder = msgspec.json.Decoder(self.row_type)
        self._attributes = attributes

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    @property
    def aliases(self) -> dict[str, str]:
        """The other tools' names among the keys, and what they stand for."""
        return {key: ALIASES[key] for key in self._keys if key in ALIASES and ALIASES[key] not in self._keys}

    @property
    def getters(self) -> dict[str, Callable[[msgspec.Struct], object]]:
        """How to get the value of each field out of a row, by hallumeter's own names."""
        aliases = self.aliases
        return {aliases.get(key, key): attrgetter(attribute) for key, attribute in self._attributes.items()}

    def columns(self, rows: Sequence[msgspec.Struct]) -> dict[str, list[object]]:
        """Turn rows of the record type into columns under hallumeter's own names."""
        return {name: list(map(getter, rows)) for name, getter in self.getters.items()}

    def __len__(self) -> int:
        return len(self._keys)


def unknown_key(error: msgspec.ValidationError) -> str | None:
    """The key that made a record type too narrow, if that is what the error says."""
    found = _UNKNOWN_FIELD.search(str(error))
    return found["name"] if found else None


def plain_message(error: Exception) -> str:
    """What a decoder's error means for the person who wrote the file.

    >>> plain_message(msgspec.ValidationError("Expected `str | null`, got `int` - at `$.label`"))
    'label: expected text, found a whole number'
    """
    text = str(error)
    found = _WRONG_TYPE.match(text)
    if found:
        expected, actual = _in_words(found["expected"]), _in_words(found["found"])
        return f"{found['path'] or 'row'}: expected {expected}, found {actual}"
    if "malformed" in text or "truncated" in text or "trailing" in text:
        reason = text.removeprefix("JSON is malformed: ").removesuffix(".")
        return f"not valid JSON ({reason}); write one object per line, and null for a value that is not known"
    return text


def _type_of(key: str) -> object:
    known = KNOWN_FIELDS.get(ALIASES.get(key, key))
    return object if known is None or known is object else known | None  # type: ignore[operator]


def _in_words(types: str) -> str:
    words: Mapping[str, str] = {
        "str": "text",
        "int": "a whole number",
        "float": "a number",
        "bool": "true or false",
        "array": "a list",
        "object": "an object",
        "null": "null",
    }
    names = [name for name in types.split(" | ") if name != "null" or types == "null"]
    return " or ".join(words.get(name, name) for name in names)
