"""The facts of a patient as the five questions of a script."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from hallumeter.records import ScriptTurn

from .particles import with_particle
from .slots import symptom_of
from .tables import Questions, conditions, korean_drugs, measurement_labels, questions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .facts import PatientFacts
    from .naming import Named

MOST_LABS = 4
MOST_VITALS = 4
TOLD_VITALS = ("bp", "heart_rate", "respiratory_rate", "spo2", "bmi", "weight", "height", "temperature")
"""The vitals that a patient tells, the weightiest first."""
_PLACE = re.compile(r"\{(\w+)(?::([^}]+))?\}")


def turns_of(facts: PatientFacts, language: str, seed: int) -> tuple[ScriptTurn, ...]:
    """The questions of all turns, in phrasings chosen by the seed and the patient's id."""
    table = questions(language)
    values = {name: value for name, value in _values(facts, language, table).items() if value}
    turns = sorted(table.turns.items(), key=lambda item: int(item[0]))
    return tuple(
        ScriptTurn(int(turn), filled(_chosen(phrasings, f"{seed}\n{facts.patient_id}\n{turn}"), values))
        for turn, phrasings in turns
    )


def _chosen(phrasings: Sequence[tuple[tuple[str, ...], ...]], key: str) -> tuple[tuple[str, ...], ...]:
    digest = hashlib.sha256(key.encode()).digest()
    return phrasings[int.from_bytes(digest[:8]) % len(phrasings)]


def filled(phrasing: Iterable[Iterable[str]], values: Mapping[str, str]) -> str:
    """The sentences of a phrasing, each in the first alternative whose places can all be filled.

    >>> filled([["{drug:을/를} 먹습니다.", "약이 없습니다."], ["{lab}입니다."]], {"drug": "메트포르민"})
    '메트포르민을 먹습니다.'
    """
    sentences = []
    for alternatives in phrasing:
        for text in alternatives:
            if all(place[1] in values for place in _PLACE.finditer(text)):
                sentences.append(_PLACE.sub(lambda place: _put(place, values), text))
                break
    return " ".join(sentences)


def _put(place: re.Match[str], values: Mapping[str, str]) -> str:
    value = values[place[1]]
    return with_particle(value, place[2]) if place[2] else value


def _values(facts: PatientFacts, language: str, table: Questions) -> dict[str, str]:
    drugs = [_spoken(each, language, table) for each in facts.drugs.drugs] if facts.drugs else []
    taken = _listed(drugs, table)
    is_current = facts.drugs is not None and facts.drugs.are_current
    procedures = facts.procedures or ()
    return {
        "age": "" if facts.age is None else str(facts.age),
        "sex": table.sex[facts.sex_code] if facts.sex_code else "",
        "condition": _spoken(facts.primary, language, table) if facts.primary else "",
        "symptom": symptom_of(facts, language),
        "drugs": taken if is_current else "",
        "past_drugs": "" if is_current else taken,
        "labs": _listed(_measured(facts.labs, language, table)[:MOST_LABS], table),
        "vitals": _listed(_measured(_told_vitals(facts.vitals), language, table)[:MOST_VITALS], table),
        "procedure": _spoken(procedures[0], language, table) if procedures else "",
    }


def _spoken(named: Named, language: str, table: Questions) -> str:
    """What something is called in the middle of a sentence."""
    if language == "ko":
        condition = conditions().get(named.lexicon or "")
        known = condition.korean if condition else korean_drugs().get(named.lexicon or "")
        return known or named.korean or named.words
    return " ".join(word if _is_name(word, table) else word.lower() for word in named.words.split(" "))


def _is_name(word: str, table: Questions) -> bool:
    """Whether a word keeps its capitals: an acronym, a letter, or a person's name."""
    return word.isupper() or word[1:] != word[1:].lower() or word.startswith(table.proper_names)


def _told_vitals(vitals: Mapping[str, str]) -> dict[str, str]:
    """Vitals in the order of telling, with the blood pressure as one."""
    told = dict(vitals)
    systolic, diastolic = (re.match(r"[\d.]+", vitals.get(f"bp_{which}", "")) for which in ("systolic", "diastolic"))
    if systolic and diastolic:
        told["bp"] = f"{systolic[0]}/{vitals['bp_diastolic']}"
    return {name: told[name] for name in TOLD_VITALS if name in told}


def _measured(values: Mapping[str, str], language: str, table: Questions) -> list[str]:
    return [f"{table.labels.get(name) or measurement_labels(language)[name]} {value}" for name, value in values.items()]


def _listed(words: Sequence[str], table: Questions) -> str:
    if len(words) < 2:
        return "".join(words)
    return table.join.join(words[:-1]) + table.last_join + words[-1]
