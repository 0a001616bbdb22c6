"""A folder of FHIR files in, a file of scripts out, with the questions worded in the language of the script."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from hallumeter.dialogue.fhir.patients import PatientRecord, Trouble, fhir_files, read_patients, validator
from hallumeter.dialogue.fhir.resources import day_of
from hallumeter.dialogue.records import PatientSlots, Script, ScriptTurn
from hallumeter.errors import InputError
from hallumeter.records.claim import Failure
from hallumeter.run.progress import NoProgress, ProgressListener

from .facts import Note, Notes, PatientFacts, ScriptSettings, age_at, facts_of, rank_of
from .tables import Named, Questions, conditions, korean_drugs, measurement_labels, questions

# The facts of a patient as the slots of a script.


def slots_of(facts: PatientFacts, language: str) -> PatientSlots:
    """Slots in English, but for the sex and the symptom, which are in the language of the script."""
    return PatientSlots(
        age=facts.age,
        sex=questions(language).sex[facts.sex_code] if facts.sex_code else None,
        sex_code=facts.sex_code,
        primary_condition=facts.primary.words if facts.primary else None,
        comorbidities=_words(facts.comorbidities),
        key_meds=_words(facts.drugs.drugs) if facts.drugs else None,
        key_vitals=facts.vitals or None,
        key_labs=facts.labs or None,
        major_procedures=_words(facts.procedures),
        chief_symptom=symptom_of(facts, language),
        other_conditions=_words(facts.other_conditions) or None,
        other_meds=_words(facts.drugs.others) or None if facts.drugs else None,
    )


def symptom_of(facts: PatientFacts, language: str) -> str:
    """The usual symptom of the main condition, or a word for any."""
    rank = rank_of(facts.primary.lexicon) if facts.primary else None
    return rank.symptom[language] if rank else questions(language).symptom


def _words(found: tuple[Named, ...] | None) -> tuple[str, ...] | None:
    return None if found is None else tuple(each.words for each in found)


# Korean particles chosen by the last sound of the word before them, whatever it is written in.

_SYLLABLES = range(0xAC00, 0xD7A4)
_RIEUL = 8
_BRACKETS = re.compile(r"\s*\([^()]*\)\s*$")
_UNIT = re.compile(r"\d\s?(?P<unit>[^\d\s,가-힣][^\s,가-힣]*)$")
_GRAMS = re.compile(r"[kmµu]?c?g")
"""Of the units after a number only grams are read as a word that ends in a consonant."""
_CLOSED_DIGITS = {"0": False, "1": True, "3": False, "6": False, "7": True, "8": True}
"""Digits whose names end in a consonant, and whether that is ㄹ."""
_CLOSED_LETTERS = {"L": True, "M": False, "N": False, "R": True}
"""The same of letters that are read by their names."""
_CLOSED_ENDINGS = (("l", True), ("m", False), ("n", False), ("ng", False), ("ic", False), ("ck", False))
"""Ends of English words that become the end of a Korean syllable."""


def with_particle(word: str, forms: str) -> str:
    """A word and the form of a particle that fits it: the first after a consonant, the second after a vowel.

    >>> with_particle("고혈압", "으로/로"), with_particle("Metformin", "을/를"), with_particle("당뇨병(2형)", "이/가")
    ('고혈압으로', 'Metformin을', '당뇨병(2형)이')
    """
    closed, _, open_ = forms.partition("/")
    is_closed, is_rieul = last_sound(word)
    if is_rieul and (closed, open_) == ("으로", "로"):
        return word + open_
    return word + (closed if is_closed else open_)


def last_sound(word: str) -> tuple[bool, bool]:
    """Whether a word ends in a consonant when it is read out in Korean, and whether that consonant is ㄹ.

    What stands in brackets at the end is not read.

    >>> last_sound("물"), last_sound("aspirin"), last_sound("HDL"), last_sound("B12"), last_sound("98mg/dL")
    ((True, True), (True, False), (True, True), (False, False), (False, False))
    """
    spoken = _BRACKETS.sub("", word).rstrip(" .,;:!?'\"")
    last = spoken[-1:]
    if measured := _UNIT.search(spoken):
        return _GRAMS.fullmatch(measured["unit"]) is not None, False
    if not last:
        return False, False
    if ord(last) in _SYLLABLES:
        final = (ord(last) - _SYLLABLES.start) % 28
        return final != 0, final == _RIEUL
    if last in _CLOSED_DIGITS:
        return True, _CLOSED_DIGITS[last]
    if last.isupper():
        return last in _CLOSED_LETTERS, _CLOSED_LETTERS.get(last, False)
    heard = spoken.lower().removesuffix("e")
    return next(((True, is_rieul) for ending, is_rieul in _CLOSED_ENDINGS if heard.endswith(ending)), (False, False))


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
    text = dict(vitals)
    systolic, diastolic = (re.match(r"[\d.]+", vitals.get(f"bp_{which}", "")) for which in ("systolic", "diastolic"))
    if systolic and diastolic:
        text["bp"] = f"{systolic[0]}/{vitals['bp_diastolic']}"
    return {name: text[name] for name in TOLD_VITALS if name in text}


def _measured(values: Mapping[str, str], language: str, table: Questions) -> list[str]:
    return [f"{table.labels.get(name) or measurement_labels(language)[name]} {value}" for name, value in values.items()]


def _listed(words: Sequence[str], table: Questions) -> str:
    if len(words) < 2:
        return "".join(words)
    return table.join.join(words[:-1]) + table.last_join + words[-1]


_DEFAULT = ScriptSettings()


class ScriptOutcome(Struct, frozen=True):
    """What became of a folder."""

    scripts: int
    files: int
    failures: tuple[Failure, ...]
    """What could not be used."""
    notes: tuple[Note, ...]
    """What was missing or odd in records that were used; patients who were passed over."""
    unknown: dict[str, dict[str, int]]
    """Codes that no table knows, by kind, with how often each stood in a record."""


class Scripting:
    """Makes scripts of records, and remembers what was to be said about them."""

    def __init__(self, folder: Path, settings: ScriptSettings = _DEFAULT) -> None:
        self._folder = folder
        self._settings = settings
        self._notes = Notes()
        self._failures: list[Failure] = []
        self._scripts = 0
        self._files = 0

    def scripts(self, *, without: Path | None = None, progress: ProgressListener | None = None) -> Iterator[Script]:
        """The scripts of all patients, or as many as are wanted; files are read as they are needed."""
        settings = self._settings
        shown = progress or NoProgress()
        files = fhir_files(self._folder, without=[without] if without else ())
        check = validator() if settings.is_validated else None
        shown.begin("reading FHIR", total=len(files))

        def when_read() -> None:
            self._files += 1
            shown.done(1)

        for found in read_patients(files, self._folder, check=check, when_read=when_read):
            if isinstance(found, Trouble):
                self._remember(found)
            elif self._is_wanted(found):
                self._scripts += 1
                yield self._script(found)
            if settings.max_patients is not None and self._scripts >= settings.max_patients:
                return

    def outcome(self) -> ScriptOutcome:
        """What has become of the folder so far."""
        unknown = {kind: dict(counts.most_common()) for kind, counts in self._notes.unknown.items() if counts}
        return ScriptOutcome(self._scripts, self._files, tuple(self._failures), tuple(self._notes.notes), unknown)

    def _remember(self, trouble: Trouble) -> None:
        message = f"{trouble.place}: {trouble.message}"
        if not trouble.is_fault:
            self._notes.notes.append(Note("", trouble.code, message))
            return
        if self._settings.is_strict:
            raise InputError(message)
        self._failures.append(Failure(None, None, "read", None, trouble.code, message))

    def _is_wanted(self, record: PatientRecord) -> bool:
        """Whether a patient lives, and was born, on the day that counts."""
        self._notes.patient_id = record.patient_id
        patient, day = record.patient, self._settings.as_of
        if (
            day is not None
            and patient.birth_date
            and day_of(patient.birth_date)
            and age_at(patient.birth_date, day) is None
        ):
            born = Trouble(record.source, "unborn", f"patient {record.patient_id} was born after {day}; left out")
            self._remember(born)
            return False
        died = day_of(patient.deceased_date_time)
        is_deceased = bool(patient.deceased_boolean or died) and not (died and day and died > day)
        if is_deceased and not self._settings.with_deceased:
            self._notes.say("deceased", "deceased, passed over; --include-deceased keeps such patients")
        return not is_deceased or self._settings.with_deceased

    def _script(self, record: PatientRecord) -> Script:
        settings = self._settings
        facts = facts_of(record, settings.as_of, self._notes)
        return Script(
            patient_id=record.patient_id,
            slots=slots_of(facts, settings.language),
            turns=turns_of(facts, settings.language, settings.seed),
            language=settings.language,
        )


def write_scripts(
    folder: Path, out: Path, *, settings: ScriptSettings = _DEFAULT, progress: ProgressListener | None = None
) -> ScriptOutcome:
    """Write one script per line; a file that is there already is replaced when all went well."""
    scripting = Scripting(folder, settings)
    encoder = msgspec.json.Encoder()
    with _replaced(out) as stream:
        for script in scripting.scripts(without=out, progress=progress):
            stream.write(encoder.encode(script) + b"\n")
        outcome = scripting.outcome()
        if not outcome.scripts:
            raise InputError(f"{folder}: no patient could be used ({_why_none(outcome)})")
    return outcome


def _why_none(outcome: ScriptOutcome) -> str:
    deceased = sum(note.code == "deceased" for note in outcome.notes)
    reasons = [f"{deceased} deceased, --include-deceased keeps them"] if deceased else []
    if outcome.failures:
        more = f", and {len(outcome.failures) - 1} more" if len(outcome.failures) > 1 else ""
        reasons.append(outcome.failures[0].message + more)
    return "; ".join(reasons) or "there is none"


@contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of another when it is complete, and leaves no trace when it is not."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file such as {path / 'scripts_5turn.jsonl'}")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with part.open("wb") as stream:
            yield stream
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
