"""A responder that needs no model: sentences put together from a patient's facts, the same for the same seed.

It plays two characters. As `llm` it answers what was just told it, forgets all of it in turns 3 and 4, gives advice
that may not suit the patient, and now and then invents a drug, a diagnosis or a value. As `agent` it uses the facts it
is reminded of. It shows how the instrument works; it says nothing about any model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from hallumeter.records import EventUsage, PatientSlots

from .experiment import OFFLINE
from .patient_words import Words, filled, quantity_in, readings, words_in
from .systems import Answer, Turn

_NOBODY = PatientSlots()
_LAST_TURN = 5


class OfflineResponder:
    """Answers from a script; costs nothing and waits for nobody."""

    def respond(self, turn: Turn) -> Answer:
        """The answer of one of the two characters."""
        words = words_in(turn.language)
        ways = words.offline[turn.mode][str(min(turn.turn_id, _LAST_TURN))]
        draw = drawn(turn)
        facts = facts_of(turn.slots or _NOBODY, words, draw=draw)
        # A way that has nothing to say of this patient gives way to the next.
        texts = (_said(ways[(draw + step) % len(ways)], facts) for step in range(len(ways)))
        text = next(filter(None, texts))
        return Answer(text=text, usage=EventUsage(0, 0, 0.0), metadata={"model": OFFLINE})

    def close(self) -> None:
        """Nothing is held."""


def drawn(turn: Turn) -> int:
    """A number that depends on patient, turn, mode and seed alone."""
    told = "\x1f".join((turn.patient_id, str(turn.turn_id), turn.mode, str(turn.seed)))
    return int.from_bytes(hashlib.sha256(told.encode()).digest()[:8])


def facts_of(slots: PatientSlots, words: Words, *, draw: int) -> dict[str, str | None]:
    """What the sentences may be filled with; None where nothing is known."""
    labs, vitals = readings(slots.key_labs, words), readings(slots.key_vitals, words)
    drugs, others = slots.key_meds or (), slots.comorbidities or ()
    procedures = slots.major_procedures or ()
    comma = words.join["list"]
    return {
        "age": None if slots.age is None else str(slots.age),
        "sex": words.sex(slots),
        "condition": slots.primary_condition,
        "other": others[0] if others else None,
        "symptom": slots.chief_symptom,
        "drug": drugs[0] if drugs else None,
        "drugs": comma.join(drugs) or None,
        "procedure": procedures[0] if procedures else None,
        "lab": _reading(*labs[0], words) if labs else None,
        "labs": comma.join(_reading(*each, words) for each in labs) or None,
        "lab_name": labs[0][0] if labs else None,
        "vital": _reading(*vitals[0], words) if vitals else None,
        "vitals": comma.join(_reading(*each, words) for each in vitals) or None,
        "invented_drug": _invented(words.inventions.drugs, drugs, draw),
        "invented_condition": _invented(words.inventions.conditions, (slots.primary_condition or "", *others), draw),
        "invented_lab": _invented_reading(labs, words),
    }


def _said(sentences: list[str], facts: Mapping[str, str | None]) -> str:
    """The sentences for which there are facts, each in the first form that can be filled."""
    forms = (next(filter(None, (filled(form, facts) for form in each.split(" || "))), None) for each in sentences)
    return " ".join(filter(None, forms))


def _reading(name: str, value: str, words: Words) -> str:
    return filled(words.join["reading"], {"name": name, "value": value}) or value


def _invented(names: Mapping[str, str], known: tuple[str, ...], draw: int) -> str | None:
    """Something that the patient does not have."""
    others = [said for name, said in names.items() if not any(name in each.lower() for each in known)]
    return others[draw // 7 % len(others)] if others else None


def _invented_reading(labs: list[tuple[str, str]], words: Words) -> str | None:
    """The first lab that is a number, with another number."""
    for name, value in labs:
        quantity = quantity_in(value)
        if quantity is not None and float(quantity[0]) > 0:
            number, unit = quantity
            decimals = len(number.partition(".")[2])
            return _reading(name, f"{float(number) * words.inventions.factor:.{decimals}f}{unit}", words)
    return None
