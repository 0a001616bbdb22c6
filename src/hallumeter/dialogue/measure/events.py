"""Events as hallumeter and others write them: one line in, one event out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import TypeVar

import msgspec
from msgspec import Struct, field

from hallumeter.dialogue.records import Event, EventQuestion, EventUsage, PatientSlots, Script
from hallumeter.errors import RecordError
from hallumeter.formats.batch import plain_message
from hallumeter.records.response import FieldValue

_Kind = TypeVar("_Kind")

ONLY_MODE = "system"
"""The mode of answers that name none."""
_ANSWERS = ("answer", "response", "output")
_BROKEN = (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError)
_LISTS = ("comorbidities", "key_meds", "major_procedures", "other_conditions", "other_meds")
_MAPS = ("key_labs", "key_vitals")
_TEXTS = ("sex", "primary_condition", "chief_symptom")
_SLOT_NAMES = {"active_meds": "key_meds", "labs": "key_labs", "vitals": "key_vitals"}
_SEX_CODES = ("M", "F")


class _Place(Struct, frozen=True):
    """What tells an event from others; the rest of its line is skipped."""

    patient_id: str | int | None = None
    turn_id: int | str | None = None
    mode: str | None = None
    model: str | None = None
    question: str | dict[str, object] | None = None
    question_id: str | int | None = None
    timestamps: dict[str, object] | None = None
    timestamp_utc: object = None


class EventKey(Struct, frozen=True):
    """Which patient, mode, turn and question an event is of, and when it was answered."""

    patient_id: str
    mode: str
    turn_id: int
    question: str
    stamp: str


class _Line(_Place, frozen=True, kw_only=True):
    """An event in any of the forms that are read."""

    run_id: str | int | None = None
    answer: str | dict[str, object] | None = None
    response: str | dict[str, object] | None = None
    output: str | dict[str, object] | None = None
    metadata: dict[str, object] | None = None
    metrics: dict[str, object] = field(default_factory=dict)
    slots_truth: msgspec.Raw = msgspec.Raw()
    usage: dict[str, object] = field(default_factory=dict)
    timing_ms: dict[str, object] | float | None = None


_PLACES = msgspec.json.Decoder(_Place)
_LINES = msgspec.json.Decoder(_Line)
_MAPPINGS = msgspec.json.Decoder(dict[str, object])


def event_key(line: bytes) -> EventKey:
    """Which event a line holds.

    Raises:
        RecordError: It is no event; the message says what is wrong, not where.
    """
    place = _decoded(line, _PLACES)
    patient, turn = place.patient_id, _turn(place.turn_id)
    if patient is None or patient == "":
        raise RecordError("no patient_id; expected the patient that the answer is about")
    question = _question(place)
    asked = question.text or question.question_id
    return EventKey(str(patient), _mode(place), turn, _short(asked), _stamp(place))


def event_of(line: bytes, script: Script | None = None) -> Event:
    """The event that a line holds; what it lacks of question and facts comes from the patient's script.

    Raises:
        RecordError: It is no event, or a field of it cannot be read.
    """
    raw = _decoded(line, _LINES)
    turn, question = _turn(raw.turn_id), _question(raw)
    if not question.text and script is not None:
        asked = next((each.question for each in script.turns if each.turn_id == turn), "")
        question = EventQuestion(question.question_id, asked, question.template)
    slots = _slots_written(bytes(raw.slots_truth)) or (script.slots if script else None)
    # What an answer took, as far as it is known.
    tokens = [_number(raw.usage.get(name)) for name in ("input_tokens", "output_tokens")]
    read, written = (None if count is None else int(count) for count in tokens)
    known = {name: str(value) for name, value in (raw.timestamps or {}).items() if value is not None}
    return Event(
        run_id=str(raw.run_id or ""),
        mode=_mode(raw),
        patient_id=str(raw.patient_id),
        turn_id=turn,
        question=question,
        answer=_answer(raw),
        usage=EventUsage(read, written, _number(raw.usage.get("estimated_cost_usd"))),
        timing_ms=_timing(raw.timing_ms),
        timestamps=known if raw.timestamp_utc is None else known | {"utc": str(raw.timestamp_utc)},
        metadata={name: _plain(value) for name, value in (raw.metadata or {}).items()},
        metrics={name: _number(value) for name, value in raw.metrics.items()},
        slots_truth=slots,
    )


def script_of(line: bytes) -> Script:
    """The script that a line holds, with facts in any form that is read.

    Raises:
        RecordError: It is no script.
    """
    raw = _decoded(line, _MAPPINGS)
    facts = raw.get("slots", raw.get("slots_truth"))
    if not isinstance(facts, dict) or raw.get("patient_id") in (None, ""):
        raise RecordError("no script; expected patient_id, slots and turns")
    try:
        turns = msgspec.convert(raw.get("turns") or [], tuple[dict[str, object], ...])
        asked = tuple({"turn_id": _turn(turn.get("turn_id")), "question": turn.get("question")} for turn in turns)
        whole = {"patient_id": str(raw["patient_id"]), "slots": slots_of(facts), "turns": asked}
        return msgspec.convert(whole | {"language": raw.get("language")}, Script)
    except msgspec.ValidationError as error:
        raise RecordError(plain_message(error)) from error


def slots_of(facts: Mapping[str, object]) -> PatientSlots:
    """The facts of a patient, numbers and lists in any form: a lab may be 6.24, a drug an object with a name.

    >>> slots = slots_of({"age": "67", "labs": {"hba1c": 6.24}, "key_meds": [{"name": "Metformin"}]})
    >>> slots.age, slots.key_meds, slots.key_labs
    (67, ('Metformin',), {'hba1c': '6.24'})
    """
    named = {_SLOT_NAMES.get(name, name): value for name, value in facts.items() if value is not None}
    given: dict[str, object] = {name: _text(named[name]) for name in _TEXTS if name in named}
    given |= {name: tuple(_texts(named[name])) for name in _LISTS if name in named}
    given |= {name: _values(named[name], name) for name in _MAPS if name in named}
    code = str(named.get("sex_code", "")).strip().upper()[:1]
    if code in _SEX_CODES:
        given["sex_code"] = code
    if (age := _number(named.get("age"))) is not None:
        given["age"] = int(age)
    return PatientSlots(**given)  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def _slots_written(facts: bytes) -> PatientSlots | None:
    """The facts as a line holds them; those of one patient stand in many lines."""
    if facts in (b"", b"null"):
        return None
    written: dict[str, object] = _decoded(facts, _MAPPINGS)
    return slots_of(written)


def _decoded(line: bytes, decoder: msgspec.json.Decoder[_Kind]) -> _Kind:
    try:
        return decoder.decode(line)
    except _BROKEN as error:
        raise RecordError(plain_message(error)) from error


def _mode(place: _Place) -> str:
    return place.mode or place.model or ONLY_MODE


def _turn(value: object) -> int:
    """The number of a turn; a text that is one will do."""
    text = str(value).strip() if isinstance(value, int | str) and not isinstance(value, bool) else ""
    if not text.isdecimal() or int(text) < 1:
        raise RecordError(f"turn_id is {value!r}; expected a whole number from 1")
    return int(text)


def _question(place: _Place) -> EventQuestion:
    asked = place.question
    if isinstance(asked, dict):
        named = asked.get("question_id", asked.get("id")) or ""
        template = asked.get("template")
        return EventQuestion(str(named), str(asked.get("text") or ""), None if template is None else str(template))
    return EventQuestion("" if place.question_id is None else str(place.question_id), asked or "")


def _answer(raw: _Line) -> str | None:
    """The words of an answer, given as text or as an object that holds it; None when the system failed."""
    for name in _ANSWERS:
        given = getattr(raw, name)
        if isinstance(given, dict):
            text = given.get("text")
            if text is not None and not isinstance(text, str):
                raise RecordError(f"{name}.text: expected text, found {type(text).__name__}")
            return text
        if given is not None:
            return str(given)
    return None


def _timing(given: Mapping[str, object] | float | None) -> dict[str, float | None]:
    if isinstance(given, Mapping):
        return {name: _number(value) for name, value in given.items()}
    return {} if given is None else {"total": float(given)}


def _short(question: str) -> str:
    """What tells a question from others, however long it is."""
    return hashlib.blake2b(question.encode("utf-8", "replace"), digest_size=8).hexdigest() if question else ""


def _stamp(place: _Place) -> str:
    """The latest time that an event names, in a form that sorts."""
    given = [*(place.timestamps or {}).values(), place.timestamp_utc]
    return max((_sortable(str(each)) for each in given if each is not None), default="")


def _sortable(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()


def _values(value: object, name: str) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise RecordError(f"slots_truth.{name}: expected an object of names and values, found {type(value).__name__}")
    return {str(key): _text(entry) for key, entry in value.items() if entry is not None}


def _texts(value: object) -> list[str]:
    items = value if isinstance(value, list | tuple) else [value]
    return [_text(item) for item in items if item not in (None, "")]


def _text(value: object) -> str:
    """A fact as text; of an object its name or value."""
    if isinstance(value, Mapping):
        parts = [value.get("name"), value.get("value"), value.get("unit")]
        return " ".join(str(part) for part in parts if part is not None)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _plain(value: object) -> FieldValue:
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
