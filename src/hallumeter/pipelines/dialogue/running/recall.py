"""What an agent is reminded of: facts that the patient has stated, and lines of the patient's record."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hallumeter.errors import MissingExtraError
from hallumeter.extractors.clinical import ClinicalReader
from hallumeter.judges.clinical.consistency import Statement, question_statements
from hallumeter.records import Mention, PatientSlots
from hallumeter.retrieval import encode, encoder_name
from hallumeter.retrieval.tokens import tokens_of

from .fhir_facts import Fact
from .patient_words import Words, filled, readings

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

    >>> from .patient_words import words_in
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
