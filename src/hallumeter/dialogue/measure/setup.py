"""Everything that answers are judged with, made once and used for all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path

import numpy as np
from msgspec import structs

from hallumeter.dialogue.judges.consistency import Sorted, answer_statements, question_statements, sorted_statements
from hallumeter.dialogue.judges.opinions import MentionReader, Opinions
from hallumeter.dialogue.judges.settings import Settings, load_settings
from hallumeter.dialogue.judges.slots import PatientTruth, truth_of
from hallumeter.dialogue.reading.reader import ClinicalReader, ClinicalText, condition_named, drug_named
from hallumeter.dialogue.records import Mention, MentionKind, Occurrence, PatientSlots, SlotUse
from hallumeter.errors import SettingsError
from hallumeter.models.vectors import encode, encoder_name
from hallumeter.plugins import function_named
from hallumeter.records.judging import Judge

from .settings import DialogueSettings

# What can stand beside the lexicon: a model of named entities for mentions, a sentence encoder for indirect use.

Entity = tuple[MentionKind, int, int]
"""Kind (``medication`` or ``condition``), first and last place of what a model found."""
_NAMED: dict[str, Callable[[str], str | None]] = {"medication": drug_named, "condition": condition_named}
NEAR = 0.4
"""Cosine from which a sentence is about a fact: above what unrelated advice reaches, not calibrated beyond that."""
INDIRECT = 0.5
_SENTENCES = {
    "age": "The patient is {value} years old.",
    "sex": "The patient is {value}.",
    "primary_condition": "The patient has {value}.",
    "comorbidities": "The patient has {value}.",
    "active_meds": "The patient takes {value}.",
    "labs": "The laboratory results are {value}.",
    "vitals": "The vital signs are {value}.",
    "major_procedures": "The patient had {value}.",
    "chief_symptom": "The patient complains of {value}.",
}


class EntityReader:
    """Reads texts by lexicon, and adds drugs and conditions that a model of named entities finds.

    Scopes are those of the lexicon's cues, so that a negated entity stays negated.

    >>> reader = EntityReader(lambda text: [("medication", 15, 24)], name="my-model")
    >>> [mention.name for mention in reader.read("You are taking newdrugol.").mentions]
    ['newdrugol']
    """

    def __init__(self, find: Callable[[str], Iterable[Entity]], *, name: str) -> None:
        self._find = find
        self._reader = ClinicalReader()
        self.name = name

    def read(self, text: str) -> ClinicalText:
        """The mentions of both."""
        found = self._reader.read(text)
        taken = [(place.start, place.end) for mention in found.mentions for place in mention.occurrences]
        added: dict[tuple[MentionKind, str], list[Occurrence]] = {}
        for kind, start, end in self._find(text):
            if kind in _NAMED and not any(first < end and start < last for first, last in taken):
                name = _NAMED[kind](text[start:end]) or text[start:end].casefold()
                added.setdefault((kind, name), []).append(found.scope_at(start, end))
        more = tuple(Mention(kind, name, tuple(places)) for (kind, name), places in added.items())
        return ClinicalText(text, mentions=(*found.mentions, *more), hints=found.hints, standing=found._standing)


class VectorUse:
    """Tells indirect use by the vectors of a sentence encoder."""

    def __init__(self) -> None:
        self._name = f"{encoder_name()}-{NEAR:g}"

    @property
    def name(self) -> str:
        """The encoder and the threshold."""
        return self._name

    def uses(self, answer: ClinicalText, uses: Sequence[SlotUse]) -> tuple[SlotUse, ...]:
        """Facts that no word of the lexicon shows in use, where a sentence is near to them."""
        spans = [(start, end) for start, end in answer.sentences if answer.text[start:end].strip()]
        unused = [place for place, use in enumerate(uses) if not use.confidence]
        if not spans or not unused:
            return tuple(uses)
        facts = encode([_sentence(uses[place]) for place in unused])
        sentences = encode([answer.text[start:end] for start, end in spans])
        cosines = facts @ sentences.T
        found = list(uses)
        for row, place in enumerate(unused):
            best = int(np.argmax(cosines[row]))
            if cosines[row, best] >= NEAR:
                start, end = spans[best]
                found[place] = structs.replace(uses[place], confidence=INDIRECT, start=start, end=end)
        return tuple(found)


def _sentence(use: SlotUse) -> str:
    return _SENTENCES.get(use.slot, "{value}").format(value=use.value)


_TEXTS_KEPT = 64
"""The texts of a conversation are read once, and compared with each later one."""
_PATIENTS_KEPT = 64
_DATA = (("hallumeter.dialogue", ("lexicons",)), ("hallumeter.dialogue.judges", ("words",)))


class DialogueSetup:
    """Reader, rules and requirements; shared by all answers of a process, not by threads that change it.

    >>> setup = DialogueSetup.of(None)
    >>> [mention.name for mention in setup.read("You are taking metformin.").mentions]
    ['metformin']
    """

    def __init__(
        self, settings: Settings, *, reader: MentionReader | None = None, opinions: Opinions | None = None
    ) -> None:
        self.requirements = settings.requirements
        self.rules = settings.rules
        self.opinions = opinions
        self._reader: MentionReader = ClinicalReader() if reader is None else reader
        self.reader_name = getattr(self._reader, "name", "lexicon")
        self.read = lru_cache(maxsize=_TEXTS_KEPT)(self._read)
        self.stated_in_answer = lru_cache(maxsize=_TEXTS_KEPT)(self._stated_in_answer)
        self.stated_in_question = lru_cache(maxsize=_TEXTS_KEPT)(self._stated_in_question)
        self._truths: dict[int, PatientTruth] = {}

    @classmethod
    def of(cls, folder: Path | None) -> DialogueSetup:
        """With the settings in a folder, or with those that ship."""
        return cls(load_settings(folder))

    def truth(self, slots: PatientSlots) -> PatientTruth:
        """The facts of a patient; those of the last few are kept, since turns come one after the other."""
        known = self._truths.get(id(slots))
        if known is None or known.slots is not slots:
            if len(self._truths) >= _PATIENTS_KEPT:
                self._truths = {}
            # The facts stay alive as long as they are kept, so that no others can take their place in memory.
            known = self._truths[id(slots)] = truth_of(slots)
        return known

    @property
    def signature(self) -> tuple[tuple[str, str], ...]:
        """What every number depends on beside the answers."""
        judge = self.opinions.judge_name if self.opinions is not None else None
        indirect = self.opinions.indirect_name if self.opinions is not None else None
        return (
            ("reader", f"{self.reader_name}-{lexicon_digest()}"),
            ("slots", self.requirements.digest),
            ("rules", self.rules.digest),
            *((("judge", judge),) if judge else ()),
            *((("indirect", indirect),) if indirect else ()),
        )

    def _read(self, text: str) -> ClinicalText:
        return self._reader.read(text)

    def _stated_in_answer(self, text: str) -> Sorted:
        return sorted_statements(answer_statements(self.read(text)))

    def _stated_in_question(self, text: str) -> Sorted:
        return sorted_statements(question_statements(self.read(text)))


@cache
def lexicon_digest() -> str:
    """Differs whenever the words by which mentions and elements are found do."""
    digest = hashlib.blake2b(digest_size=4)
    for package, parts in _DATA:
        folder = resources.files(package).joinpath(*parts)
        for file in sorted(folder.iterdir(), key=lambda each: each.name):
            if file.is_file():
                digest.update(file.read_bytes())
    return digest.hexdigest()


# The equipment that settings ask for: the lexicon and the rules, and whatever is put in their place.

CONCURRENCY = 8
"""Patients that are measured at once when a language model is asked about them."""


def equipment_for(settings: DialogueSettings, judge: Judge | None = None) -> DialogueSetup:
    """Make everything that the settings name; the judge is made by whoever calls.

    Raises:
        SettingsError: The settings name a judge, and none was given.
    """
    if settings.judge is not None and judge is None:
        raise SettingsError(f"judge {settings.judge!r} was named, and none was given to measure with")
    indirect = VectorUse() if settings.is_indirect_by_vectors else None
    opinions = Opinions(judge, indirect) if judge is not None or indirect is not None else None
    return DialogueSetup(load_settings(settings.config), reader=_reader(settings.reader), opinions=opinions)


def _reader(name: str | None) -> MentionReader | None:
    """A reader of another kind, made by a function that the user names."""
    if name is None:
        return None
    make = function_named(name)
    try:
        made: object = make()
    except TypeError as error:
        raise SettingsError(f"{name} makes no reader of mentions without arguments ({error})") from error
    if not hasattr(made, "read"):
        raise SettingsError(f"{name} made no reader of mentions; it needs a method read(text)")
    return made
