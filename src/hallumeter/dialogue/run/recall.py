"""What an agent is reminded of: facts that the patient has stated, and lines of the patient's record."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hallumeter.dialogue.fhir.patients import PatientRecord, fhir_files, read_patients
from hallumeter.dialogue.fhir.resources import Concept, Observation, Quantity, day_of, moment_of
from hallumeter.dialogue.judges.consistency import Statement, question_statements
from hallumeter.dialogue.reading.reader import ClinicalReader
from hallumeter.dialogue.records import Mention, PatientSlots
from hallumeter.errors import InputError, MissingExtraError
from hallumeter.models.vectors import encode, encoder_name
from hallumeter.text.lookup import tokens_of

from .messages import Words, filled, readings

# Facts of a patient's FHIR record that agents can look up, beside those of the script.

Fact = tuple[str, str]
"""The kind of a fact, as the words of each language name it, and what it says."""
_VOID = {"entered-in-error", "refuted", "not-done", "cancelled"}


def facts_by_patient(folder: Path, wanted: Collection[str]) -> dict[str, tuple[Fact, ...]]:
    """What bundles in a folder say of some patients.

    Raises:
        InputError: The folder has none of them.
    """
    found: dict[str, tuple[Fact, ...]] = {}
    for record in read_patients(fhir_files(folder), folder):
        if isinstance(record, PatientRecord) and record.patient_id in wanted:
            found[record.patient_id] = tuple(dict.fromkeys(facts_of(record)))
    if not found:
        raise InputError(f"{folder}: none of the {len(wanted)} patients of the scripts is in there; check fhir_dir")
    return found


def facts_of(record: PatientRecord) -> Iterator[Fact]:
    """Diagnoses, drugs, the latest value of each observation, and procedures; void entries are left out."""
    for condition in record.conditions:
        if _code(condition.verification_status) not in _VOID:
            yield from _fact("fhir_condition", condition.code, condition.date, more=_code(condition.clinical_status))
    for use in record.medications:
        if use.status not in _VOID and not use.do_not_perform:
            yield from _fact("fhir_medication", use.medication_codeable_concept, use.date, more=use.status)
    yield from _latest(record.observations)
    for procedure in record.procedures:
        if procedure.status not in _VOID and not procedure.not_done:
            yield from _fact("fhir_procedure", procedure.code, procedure.date)


def _latest(observations: Iterable[Observation]) -> Iterator[Fact]:
    """The last value of each code, those of components on their own."""
    dated = [(moment_of(each.date), each) for each in observations if each.status not in _VOID]
    latest: dict[str, Fact] = {}
    for _, observation in sorted(
        ((moment, each) for moment, each in dated if moment is not None), key=lambda pair: pair[0]
    ):
        for measured in observation.measured:
            value = _value(measured.value_quantity)
            if value is None or measured.code is None:
                continue
            code = measured.code.first_code or measured.code.words or ""
            for fact in _fact("fhir_observation", measured.code, observation.date, more=value):
                latest[code] = fact
    yield from latest.values()


def _fact(kind: str, concept: Concept | None, date: str | None, *, more: str | None = None) -> Iterator[Fact]:
    words = None if concept is None else concept.words
    if words is not None:
        day = day_of(date)
        yield kind, ", ".join(filter(None, [words, more, None if day is None else day.isoformat()]))


def _value(quantity: Quantity | None) -> str | None:
    if quantity is None or quantity.value is None:
        return None
    return " ".join(filter(None, [f"{quantity.comparator or ''}{quantity.value:f}", quantity.unit or quantity.code]))


def _code(status: Concept | str | None) -> str | None:
    return status.first_code if isinstance(status, Concept) else status


BY_WORDS, BY_VECTORS = "words", "vectors"
_RECORDS_KEPT = 256
"""Records whose vectors are kept; conversations of one patient come close together."""


def stated_facts(questions: Iterable[str], reader: ClinicalReader, words: Words) -> list[str]:
    """What the patient has said to be so, or not to be so, a line each; the last word on a thing counts."""
    facts: dict[tuple[str, str], str] = {}
    for question in questions:
        for statement in question_statements(reader.read(question)):
            line = _line_of(statement, words)
            if line is not None:
                key = statement.mention.kind, statement.mention.name
                facts.pop(key, None)
                facts[key] = line
    return list(facts.values())


def _line_of(statement: Statement, words: Words) -> str | None:
    mention = statement.mention
    values = {"name": _name_of(mention, words), "value": _value_of(mention, words)}
    fact = filled(words.memory[mention.kind], values)
    return filled(words.memory["denied"], {"fact": fact}) if statement.is_denied else fact


def _name_of(mention: Mention, words: Words) -> str:
    return words.measured(mention.name) if mention.kind in ("lab", "vital") else mention.name


def _value_of(mention: Mention, words: Words) -> str | None:
    if mention.value is None:
        return None
    if mention.kind == "sex":
        return words.sexes.get("F" if mention.value == "female" else "M")
    value = f"{mention.value:g}" if isinstance(mention.value, float) else str(mention.value)
    return f"{value} {mention.unit}" if mention.unit else value


def record_lines(slots: PatientSlots | None, words: Words, facts: Iterable[Fact] = ()) -> list[str]:
    """A patient's record as text, a fact on each line, the main ones first.

    >>> from hallumeter.dialogue.run.messages import words_in
    >>> record_lines(PatientSlots(age=67, key_labs={"hba1c": "6.24%"}), words_in("en"))
    ['Age: 67 years', 'Laboratory result: HbA1c 6.24%']
    """
    further = [_record_line(words, kind, value) for kind, value in facts]
    if slots is None:
        return further
    single: Mapping[str, object] = {
        "age": slots.age,
        "sex": words.sex(slots),
        "primary_condition": slots.primary_condition,
    }
    lines = [_record_line(words, key, str(value)) for key, value in single.items() if value is not None]
    for key in ("comorbidities", "key_meds"):
        lines += [_record_line(words, key, value) for value in getattr(slots, key) or ()]
    for key in ("key_labs", "key_vitals"):
        lines += [_record_line(words, key, value, name=name) for name, value in readings(getattr(slots, key), words)]
    lines += [_record_line(words, "major_procedures", value) for value in slots.major_procedures or ()]
    if slots.chief_symptom is not None:
        lines.append(_record_line(words, "chief_symptom", slots.chief_symptom))
    return [*lines, *further]


def _record_line(words: Words, key: str, value: str, *, name: str = "") -> str:
    return filled(words.record[key], {"name": name, "value": value}) or value


def chosen_retrieval(setting: str) -> str:
    """How facts are looked up: by vectors of meaning where the package for it is installed, else by words.

    Raises:
        MissingExtraError: Vectors were asked for, and there is no package for them.
    """
    if setting == BY_WORDS:
        return BY_WORDS
    try:
        return f"{BY_VECTORS}:{encoder_name()}"
    except MissingExtraError:
        if setting == BY_VECTORS:
            raise
        return BY_WORDS


class Lookup:
    """Finds the lines of a record that fit a question; for one thread at a time."""

    def __init__(self, retrieval: str, top: int) -> None:
        self._is_by_vectors = retrieval.startswith(BY_VECTORS)
        self._top = top
        self._vectors: OrderedDict[tuple[str, ...], NDArray[np.float32]] = OrderedDict()

    def found(self, lines: Sequence[str], question: str) -> list[str]:
        """The lines that fit best, in the order of the record; equal ones as they come first there."""
        if len(lines) <= self._top:
            return list(lines)
        scores = self._by_vectors(lines, question) if self._is_by_vectors else _by_words(lines, question)
        best = sorted(range(len(lines)), key=lambda place: (-scores[place], place))[: self._top]
        return [lines[place] for place in sorted(best)]

    def _by_vectors(self, lines: Sequence[str], question: str) -> list[float]:
        key = tuple(lines)
        if key not in self._vectors:
            self._vectors[key] = encode(lines)
            while len(self._vectors) > _RECORDS_KEPT:
                self._vectors.popitem(last=False)
        products: NDArray[np.float32] = self._vectors[key] @ encode([question])[0]
        return [float(product) for product in products]


def _by_words(lines: Sequence[str], question: str) -> list[float]:
    """Of each line, how many words of the question it has."""
    asked = set(tokens_of(question))
    return [float(len(asked & set(tokens_of(line)))) for line in lines]
