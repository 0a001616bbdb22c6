"""What a language model says of claims: the form that it is asked for, and how to read what it sends instead."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.formats import label_of
from hallumeter.formats.json_in_text import LONGEST_TEXT, json_values
from hallumeter.providers.language_models.protocol import ReplySchema
from hallumeter.records import Label

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

_LABEL_KEYS = ("label", "verdict", "answer", "judgement", "judgment")
_NUMBER_KEYS = ("number", "claim_number", "claim", "id", "claim_id")
_LINE = re.compile(r"^[^\w\n]*(?:claim\s*)?#?(\d{1,4})\W+([A-Za-z][A-Za-z_ -]*)", re.MULTILINE | re.IGNORECASE)


class ClaimReply(Struct, frozen=True):
    """What a model says of one claim."""

    label: Label
    evidence_id: int | None = None
    """The number under which the evidence was shown."""
    quote: str | None = None
    note: str | None = None


class ReadReply(Struct, frozen=True):
    """What could be read of a reply, and what was wrong with the rest."""

    claims: dict[int, ClaimReply]
    """By the number of the claim."""
    problems: dict[int, str]
    """What was wrong with the entries of the others, by the number of the claim."""
    order: tuple[int, ...] = ()
    """The numbers of all entries as they stand in the reply; empty when an entry has none of those asked for."""


def reply_schema(numbers: Collection[int], *, wants_quotes: bool) -> ReplySchema:
    """The form of a reply: an object with one field for each claim, named by its number.

    So that no claim can be left out or judged twice. The quotation stands before the label, so that a model looks
    before it decides. Every field is required and no other allowed: the strictest providers take nothing else.
    """
    text: dict[str, object] = {"type": "string"}
    label: dict[str, object] = {"type": "string", "enum": [label.value for label in Label]}
    entry = label
    if wants_quotes:
        entry = _closed({"evidence_id": {"type": "integer"}, "quote": text, "label": label, "note": text})
    return ReplySchema("verdicts", _closed({str(number): entry for number in sorted(numbers)}))


def _closed(fields: Mapping[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}


def read_reply(text: str, numbers: Collection[int]) -> ReadReply:
    """Read the verdicts on the claims of these numbers out of a reply.

    Taken are: JSON alone, in a code fence, in prose or cut off in the middle; labels or objects by number; a list of
    objects with or without a wrapping; lines such as ``2. REFUTED``. A number that two entries give different labels
    has no verdict, nor has one whose label is none.

    >>> read = read_reply('Sure! [{"number": 1, "label": "supports"}, {"number": 2, "label": "maybe"}]', [1, 2])
    >>> read.claims[1].label.value, read.problems
    ('SUPPORTED', {2: "'maybe' is not a label"})
    """
    entries = list(_entries(text))
    given: Sequence[int | None] = [_number_in(entry) for entry in entries]
    if len(entries) == len(numbers) and not any(given):
        given = sorted(numbers)
    claims: dict[int, ClaimReply] = {}
    problems: dict[int, str] = {}
    for number, entry in zip(given, entries, strict=True):
        if number not in numbers or number is None:
            continue
        label = label_of(_text_in(entry, _LABEL_KEYS) or "")
        if label is None:
            problems[number] = f"{_text_in(entry, _LABEL_KEYS)!r} is not a label"
        elif claims.setdefault(number, _claim_reply(entry, label)).label is not label:
            problems[number] = "it has two different labels"
    missing = "there is no entry for it" if entries else "the reply is not the JSON that was asked for"
    problems |= {number: missing for number in numbers if number not in problems.keys() | claims}
    return ReadReply(
        claims={number: reply for number, reply in claims.items() if number not in problems},
        problems=problems,
        order=tuple(number for number in given if number in claims) if claims.keys() >= set(given) else (),
    )


def repair_message(problems: Mapping[int, str], *, is_cut_off: bool) -> str:
    """What a model is told when its reply could not be used.

    >>> repair_message({2: "'maybe' is not a label"}, is_cut_off=False)[:67]
    "Your reply cannot be used: claim 2: 'maybe' is not a label. Reply w"
    """
    numbers = sorted(problems)
    said = "; ".join(f"claim {number}: {problems[number]}" for number in numbers)
    if is_cut_off:
        said = "it ended before it was complete"
    return (
        f"Your reply cannot be used: {said}. Reply with the JSON object only, in the form described, "
        f"with one entry for each of these claims and no others: {', '.join(map(str, numbers))}."
    )


def _claim_reply(entry: dict[str, object], label: Label) -> ClaimReply:
    place = entry.get("evidence_id")
    if isinstance(place, str):
        place = next(map(int, re.findall(r"\d{1,6}", place)), None)
    is_number = isinstance(place, int) and not isinstance(place, bool)
    return ClaimReply(
        label=label,
        evidence_id=place if is_number else None,  # type: ignore[arg-type]
        quote=_text_in(entry, ("quote", "evidence")),
        note=_text_in(entry, ("note", "reason")),
    )


def _entries(text: str) -> Iterator[dict[str, object]]:
    """Everything in a text that looks like what a model says of a claim."""
    found = [entry for value in json_values(text) for entry in _flattened(value)]
    if found:
        yield from found
        return
    for number, words in _LINE.findall(text[:LONGEST_TEXT]):
        if (label := label_of(words) or label_of(words.split()[0])) is not None:
            yield {"number": int(number), "label": label.value}


def _flattened(value: object, number: object = None) -> Iterator[dict[str, object]]:
    """The entries inside a value: objects with a label, or labels by number."""
    if isinstance(value, list):
        for item in value:
            yield from _flattened(item)
    elif isinstance(value, dict):
        if any(key in value for key in _LABEL_KEYS):
            yield {"number": number, **value}
            return
        for key, item in value.items():
            yield from _flattened(item, key)
    elif isinstance(value, str) and number is not None and _as_number(number) is not None:
        yield {"number": number, "label": value}


def _number_in(entry: dict[str, object]) -> int | None:
    return next((number for key in _NUMBER_KEYS if (number := _as_number(entry.get(key))) is not None), None)


def _as_number(value: object) -> int | None:
    """A number that was meant as one: 2, 2.0, "2", "claim 2"."""
    if isinstance(value, int):
        return None if isinstance(value, bool) else value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    match = re.fullmatch(r"(?:claim)?[\s_#]*(\d{1,6})\W*", value, re.IGNORECASE) if isinstance(value, str) else None
    return int(match[1]) if match else None


def _text_in(entry: dict[str, object], keys: tuple[str, ...]) -> str | None:
    value = next((entry[key] for key in keys if entry.get(key) not in (None, "")), None)
    return value if isinstance(value, str) else None if value is None else str(value)
