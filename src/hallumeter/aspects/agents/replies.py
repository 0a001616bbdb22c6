"""Reads what an agent replied: JSON in many forms, as the answer of its role, or why it is none."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import msgspec
from msgspec import Struct

from hallumeter.aspects.records.aspect import (
    Aspect,
    AspectSentiment,
    AspectTuple,
    CorrectionProposal,
    StructuralRisk,
)
from hallumeter.aspects.records.outputs import AspectReviewItem, DebateSummary, ProposedEdit, SentimentReviewItem
from hallumeter.aspects.sentiment_words import repaired_polarity, sentence_label
from hallumeter.aspects.stages.terms import noted_polarity
from hallumeter.formats.batch import plain_message
from hallumeter.models.json_replies import json_values

from .protocol import ANSWERS, DEBATE_ROLES, REVIEW_ROLES, AgentAnswer, Role, encodable

Row = dict[str, object]
_LISTS: dict[Role, str] = {
    "ate": "aspects",
    "atsa": "aspect_sentiments",
    "validator": "structural_risks",
    "epm": "proposed_edits",
    "tan": "proposed_edits",
    "cj": "proposed_edits",
    "debate_summary": "final_patch",
    "ate_review": "aspect_review",
    "atsa_review": "sentiment_review",
    "validator_review": "structural_risks",
}
"""The list that a reply of each role must hold."""
_FRESH_LISTS = ("aspects", "aspect_sentiments")
_PLACES = {
    "aspects": "span",
    "structural_risks": "scope",
    "correction_proposals": "revised_span",
    "aspect_review": "revised_span",
    "sentiment_review": "revised_span",
    "final_tuples": "span",
}
"""Under which name the items of a list keep their offsets."""
_ABSENT: dict[str, Row] = {
    "correction_proposals": {"target_aspect": None},
    "final_tuples": {"aspect_term": "", "polarity": None},
}
"""What items of a list hold where they say nothing."""
_ITEMS: dict[str, type[Struct]] = {
    "aspects": Aspect,
    "structural_risks": StructuralRisk,
    "correction_proposals": CorrectionProposal,
    "aspect_review": AspectReviewItem,
    "sentiment_review": SentimentReviewItem,
    "final_tuples": AspectTuple,
    "aspect_sentiments": AspectSentiment,
    "proposed_edits": ProposedEdit,
    "final_patch": ProposedEdit,
}
"""What the items of each list are."""
_TERMS = {
    "aspects": "term",
    "aspect_review": "term",
    "aspect_sentiments": "aspect_term",
    "sentiment_review": "aspect_term",
    "final_tuples": "aspect_term",
    "correction_proposals": "target_aspect",
}
"""Under which name the items of a list keep their term."""
_TERM_NAMES = ("aspect_term", "aspect_ref", "term")
"""What agents call it."""
_PLACE_NAMES = ("span", "start", "end")
UNKNOWN_KEY = "unknown_key:"
"""How a note begins that names a key which no answer has."""
_LONGEST_KEY = 40
MIXED = "mixed"
"""What a sentence may be, and no aspect."""
_SHARES = ("confidence", "consistency_score", "final_consistency_score")
_OF_CODE = ("provenance", "is_backfilled", "agent")
"""Fields that code writes and no agent does."""

# Known to msgspec before threads ask for it: two that do so for the first time at once crash it.
for _answer in dict.fromkeys(ANSWERS.values()):
    msgspec.json.Decoder(_answer)


class ReadAnswer(Struct, frozen=True):
    """An answer, and what was repaired to get it."""

    answer: AgentAnswer
    notes: tuple[str, ...] = ()


class UnusableReply(Exception):  # noqa: N818 (expected, and told to the model)
    """A reply is no answer of its role; the message says what is wrong with it."""


def read_reply(text: str, role: Role, sentence: str) -> ReadAnswer:
    """Read the answer of a role out of a reply: JSON alone, in a code fence, or in prose.

    Raises:
        UnusableReply: There is no JSON, it has not the form of this role, or it breaks off: nobody knows what the rest
            of a list would have held.
    """
    problem = UnusableReply("the reply holds no whole JSON object")
    for value in json_values(text, is_whole=True):
        try:
            return read_value(value, role, sentence)
        except UnusableReply as found:
            problem = found
    raise problem


def read_value(value: object, role: Role, sentence: str) -> ReadAnswer:
    """Read the answer of a role out of a decoded value.

    A span may be an object, a pair, or two fields of its item. A polarity is repaired where only one word can be
    meant, and is missing otherwise. An action or an edit that nobody knows is kept.

    >>> read = read_value({"aspects": [{"term": "battery", "span": [4, 11]}]}, "ate", "The battery is bad")
    >>> read.answer.aspects[0].span
    TextSpan(start=4, end=11)

    Raises:
        UnusableReply: It is none; a review that holds a fresh list is none.
    """
    row = _row_of(value, role)
    _check_form(row, role)
    notes = _unknown_keys(row, role)
    tidied = _without_gaps(row)
    for name in _ITEMS:
        if isinstance(items := tidied.get(name), list):
            tidied[name] = [_item(item, name, notes) if isinstance(item, dict) else item for item in items]
    _tidy_whole(tidied, notes)
    if role in DEBATE_ROLES and role != "debate_summary":
        tidied["agent"] = role
    try:
        answer = msgspec.convert(encodable(tidied), ANSWERS[role])
    except msgspec.ValidationError as error:
        raise UnusableReply(plain_message(error)) from None
    if isinstance(answer, DebateSummary) and not _has_evidence(answer, sentence):
        raise UnusableReply("none of 'sentence_evidence_spans' stands in the text; copy words of it letter by letter")
    return ReadAnswer(answer, tuple(notes))


def _unknown_keys(row: Row, role: Role) -> list[str]:
    """A note for each key that nobody reads, in the reply and in the items of its lists."""
    unknown = [key for key in row if key not in ANSWERS[role].__struct_fields__ and key not in _OF_CODE]
    for name, kind in _ITEMS.items():
        known = {*kind.__struct_fields__, *_OF_CODE}
        known |= {*_TERM_NAMES} if name in _TERMS else set()
        known |= {*_PLACE_NAMES} if name in _PLACES or name in _TERMS else set()
        items = row.get(name)
        keys = [key for item in items if isinstance(item, dict) for key in item] if isinstance(items, list) else []
        unknown += [f"{name}.{key}" for key in keys if key not in known]
    return [f"{UNKNOWN_KEY}{key[:_LONGEST_KEY]!r}" for key in dict.fromkeys(unknown)]


def _row_of(value: object, role: Role) -> Row:
    """The object of a reply; a bare list is the list of its role."""
    if isinstance(value, list):
        is_review = role in ("ate_review", "atsa_review")
        if is_review and not all(isinstance(item, dict) and "action" in item for item in value):
            raise UnusableReply("the reply is a fresh list; a review may only review, with an 'action' for each entry")
        return {_LISTS[role]: value}
    if not isinstance(value, dict):
        raise UnusableReply(f"expected a JSON object, found {value!r}"[:120])
    return value


def _check_form(row: Row, role: Role) -> None:
    wanted = _LISTS[role]
    fresh = [key for key in _FRESH_LISTS if key in row]
    if role in REVIEW_ROLES and fresh:
        raise UnusableReply(
            f"{fresh[0]!r} is a fresh list; a review may only review: give {wanted!r} with an item for each entry"
        )
    is_in_words = wanted == "proposed_edits" and isinstance(row.get("message"), str)
    if not isinstance(row.get(wanted), list) and not is_in_words:
        found = ", ".join(repr(key) for key in list(row)[:8]) or "nothing"
        raise UnusableReply(f"expected an object with the list {wanted!r}, found one with {found}")


def _has_evidence(summary: DebateSummary, sentence: str) -> bool:
    return any(words.strip() and words in sentence for words in summary.sentence_evidence_spans)


def _tidy_whole(row: Row, notes: list[str]) -> None:
    """Fields beside the lists."""
    for name in _SHARES:
        if name in row:
            row[name] = _share(row[name], name)
    if isinstance(pairs := row.get("aspect_evidence"), list):
        row["aspect_evidence"] = {
            term: pair["evidence"]
            for pair in pairs
            if isinstance(pair, dict) and pair.get("evidence") is not None
            if isinstance(term := pair.get("aspect_term", pair.get("aspect_ref")), str)
        }
    if isinstance(said := row.get("sentence_polarity"), str):
        row["sentence_polarity"] = MIXED if sentence_label(said) == MIXED else noted_polarity(said, notes)
    if isinstance(validation := row.get("final_validation"), dict):
        _tidy_whole(inner := _without_gaps(validation), notes)
        row["final_validation"] = inner


def _item(given: Row, name: str, notes: list[str]) -> Row:
    """An entry of a list, with span, polarity and confidence in the forms that records have."""
    item = _without_gaps(_with_term(given, name))
    if (place := _PLACES.get(name)) is not None:
        _set_place(item, place)
    if "confidence" in item:
        item["confidence"] = _share(item["confidence"], "confidence")
    for key in ("polarity", "revised_polarity"):
        if key in item:
            item[key] = noted_polarity(item[key], notes)
    if name == "aspect_sentiments":
        return _sentiment(item)
    return _edit(item, notes) if name in ("proposed_edits", "final_patch") else {**_ABSENT.get(name, {}), **item}


def _with_term(item: Row, name: str) -> Row:
    """An entry with its term under the name that records have; one that says null has none."""
    wanted = _TERMS.get(name)
    if wanted is None or wanted in item:
        return item
    term = next((item[key] for key in _TERM_NAMES if item.get(key) is not None), None)
    if isinstance(term, dict) and name != "aspect_sentiments":
        return {"span": term.get("span"), **item, wanted: term.get("term")}
    return item if term is None else {**item, wanted: term}


def _sentiment(item: Row) -> Row:
    """A sentiment, whose term may be an object or a text; one without a term is implicit."""
    term = item.get("aspect_term")
    if isinstance(term, str) and term:
        place: Row = {key: item[key] for key in ("span", "start", "end") if key in item}
        term = {"term": term, **place}
    if isinstance(term, dict):
        term = _without_gaps(term)
        _set_place(term, "span")
    else:
        term = None if term in ("", None) else term
    row = {**item, "aspect_term": term, "polarity": item.get("polarity")}
    if term is None:
        row["is_implicit"] = True
    if "polarity_distribution" in row:
        row["polarity_distribution"] = _distribution(row["polarity_distribution"])
    return row


def _edit(item: Row, notes: list[str]) -> Row:
    """An edit; its value is a text, and where it is a polarity a known one."""
    target = item.get("target")
    if isinstance(target, str):
        item["target"] = {"aspect_term": target}
    elif isinstance(target, dict):
        item["target"] = _without_gaps(target)
        if isinstance(said := target.get("polarity"), str):
            item["target"] |= {"polarity": noted_polarity(said, notes)}  # type: ignore[operator]
    if "value" in item and not isinstance(item["value"], str):
        item["value"] = msgspec.json.encode(item["value"]).decode()
    if item.get("op") == "set_polarity" and isinstance(item.get("value"), str):
        item["value"] = noted_polarity(item["value"], notes)
    return item


def _without_gaps(row: Mapping[str, object]) -> Row:
    """The fields that say something and that an agent may fill."""
    return {key: value for key, value in row.items() if value is not None and key not in _OF_CODE}


def _set_place(item: Row, name: str) -> None:
    """Bring offsets under their name: an object, a pair, or two fields of the item itself."""
    given = item.get(name, item.get("span"))
    if given is None and "start" in item and "end" in item:
        given = {"start": item["start"], "end": item["end"]}
    if given is None:
        return
    if isinstance(given, list) and len(given) == 2:
        given = {"start": given[0], "end": given[1]}
    if isinstance(given, dict):
        given = {key: _whole(value) for key, value in given.items()}
    item[name] = given


def _whole(value: object) -> object:
    """A number that was meant as an offset; anything else as it is."""
    is_whole = isinstance(value, float) and value.is_integer()
    is_written = isinstance(value, str) and value.strip().removeprefix("-").isdecimal() and len(value) < 16
    return int(value) if is_whole or is_written else value  # type: ignore[call-overload]


def _share(value: object, name: str) -> float:
    """A number from 0 to 1."""
    number: object = value
    if isinstance(value, str):
        with suppress(ValueError):
            number = float(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 1:
        raise UnusableReply(f"{name} is {value!r}; expected a number from 0 to 1"[:120])
    return float(number)


def _distribution(value: object) -> dict[str, float]:
    """Shares by polarity; those that are none are left out."""
    shares: dict[str, float] = {}
    for key, share in value.items() if isinstance(value, dict) else ():
        polarity = repaired_polarity(key).value if isinstance(key, str) else None
        with suppress(UnusableReply):
            shares |= {polarity: _share(share, "share")} if polarity is not None else {}
    return shares
