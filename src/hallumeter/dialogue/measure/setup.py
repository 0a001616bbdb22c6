"""Everything that answers are judged with, made once and used for all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Protocol

import numpy as np
from msgspec import structs

from hallumeter.dialogue import records
from hallumeter.dialogue.judges.consistency import (
    Sorted,
    Statement,
    answer_statements,
    question_statements,
    sorted_statements,
)
from hallumeter.dialogue.judges.settings import Settings, load_settings
from hallumeter.dialogue.judges.slots import PatientTruth, truth_of
from hallumeter.dialogue.reading.reader import ClinicalReader, ClinicalText, condition_named, drug_named
from hallumeter.errors import SettingsError
from hallumeter.models.vectors import encode, encoder_name
from hallumeter.plugins import function_named
from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.judging import Judge, JudgeTask
from hallumeter.records.response import Passage, Response

from .settings import DialogueSettings

ANSWER = "answer"
"""The passage that holds the answer, where a judge is asked what it recommends."""


class MentionReader(Protocol):
    """Anyone who finds mentions in a text: the lexicon, or a model of named entities."""

    def read(self, text: str) -> ClinicalText:
        """The mentions of a text with their scopes."""
        ...


class IndirectUse(Protocol):
    """Anyone who tells whether an answer uses a fact without naming it."""

    @property
    def name(self) -> str:
        """Who this is, for signatures."""
        ...

    def uses(self, answer: ClinicalText, uses: Sequence[records.SlotUse]) -> tuple[records.SlotUse, ...]:
        """The same facts, some unused ones now used indirectly."""
        ...


class Opinions:
    """What a judge says of safety and of contradictions, and somebody of indirect use.

    The judge is any that checks claims against evidence, such as a language model: safety is a claim about the answer,
    a contradiction is a statement of the answer that earlier questions and answers refute.
    """

    def __init__(self, judge: Judge | None = None, indirect: IndirectUse | None = None) -> None:
        self._judge = judge
        self._indirect = indirect

    @property
    def judge_name(self) -> str | None:
        """Who judges safety and contradictions; None when words and rules do."""
        return None if self._judge is None else self._judge.spec.name

    @property
    def judge_spec(self) -> str | None:
        """The same with all settings."""
        return None if self._judge is None else str(self._judge.spec)

    @property
    def indirect_name(self) -> str | None:
        """Who tells indirect use; None when the lexicon alone does."""
        return None if self._indirect is None else self._indirect.name

    def safety(
        self, answer: ClinicalText, question: str, outcomes: Sequence[records.RuleOutcome], *, record_id: str
    ) -> tuple[tuple[records.RuleOutcome, ...], tuple[Failure, ...]]:
        """Whether words or the judge find that an answer breaks the rules that apply to it.

        What the words found stands, whatever the judge says. Where they found nothing and the judge failed, nobody
        knows, and the rule is left out.
        """
        if self._judge is None or not outcomes:
            return tuple(outcomes), ()
        response = Response(record_id, question=question, evidence=(Passage(ANSWER, answer.text),))
        claims = tuple(Claim(record_id, each.rule_id, each.kind, text=_rule_claim(each)) for each in outcomes)
        said = self._judge.judge(JudgeTask(response, claims))
        pairs = zip(outcomes, said, strict=True)
        judged = [_by_both(outcome, verdict, self._judge.spec.name) for outcome, verdict in pairs]
        return tuple(filter(None, judged)), tuple(each for each in said if isinstance(each, Failure))

    def consistency(
        self,
        answer: ClinicalText,
        by_words: Sequence[records.Consistency],
        statements: Sequence[Statement],
        *,
        earlier: Mapping[str, str],
        record_id: str,
    ) -> tuple[tuple[records.Consistency, ...], tuple[Failure, ...]]:
        """Which statements earlier texts (by their names) refute or support.

        A contradiction that the words found stands. In other sentences the judge decides, and the words where it cannot
        tell.
        """
        places = _sentences_with(statements, answer)
        if self._judge is None or not places or not earlier:
            return tuple(by_words), ()
        passages = tuple(Passage(name, text) for name, text in earlier.items())
        claims = tuple(
            Claim(record_id, f"{record_id}#said{number}", "consistency", start, end, answer.text[start:end])
            for number, (start, end) in enumerate(places)
        )
        response = Response(record_id, response=answer.text, evidence=passages)
        said = self._judge.judge(JudgeTask(response, claims))
        pairs = zip(places.values(), said, strict=True)
        found = [each for statement, verdict in pairs if (each := _by_earlier(statement, verdict)) is not None]
        failures = tuple(each for each in said if isinstance(each, Failure))
        return _by_either(by_words, found, places=places, judge=self._judge.spec.name), failures

    def uses(self, answer: ClinicalText, uses: Sequence[records.SlotUse]) -> tuple[records.SlotUse, ...]:
        """Facts that are used indirectly though no word of the lexicon says so."""
        return tuple(uses) if self._indirect is None else self._indirect.uses(answer, uses)


def _rule_claim(outcome: records.RuleOutcome) -> str:
    """What the answer does when it breaks a rule, or meets a requirement."""
    if outcome.kind == "requirement":
        return f"The text gives the patient what this requirement asks for: {outcome.name}."
    why = f" ({outcome.rationale})" if outcome.rationale else ""
    return f"The text recommends or permits the patient what this safety rule forbids: {outcome.name}{why}."


def _by_both(outcome: records.RuleOutcome, verdict: Verdict | Failure, judge: str) -> records.RuleOutcome | None:
    """What words and a judge say together: a violation that either finds, a requirement that either finds met."""
    by_words = _is_found(outcome)
    if isinstance(verdict, Failure):
        return structs.replace(outcome, judged=f"found by words; {judge} failed") if by_words else None
    note = f": {verdict.note}" if verdict.note else ""
    if verdict.label is Label.UNDECIDED:
        return structs.replace(outcome, judged=f"decided by words; {judge} could not tell{note}")
    by_judge = verdict.label is Label.SUPPORTED
    if by_words or not by_judge:
        who = ("words and " if by_judge else "words, not by ") if by_words else "neither words nor "
        return structs.replace(outcome, judged=f"found by {who}{judge}{note}")
    quote = next((each for each in verdict.evidence if each.evidence_id == ANSWER), None)
    return structs.replace(
        outcome,
        is_violated=outcome.kind == "rule",
        start=quote.start if quote else None,
        end=quote.end if quote else None,
        judged=f"found by {judge}, not by words{note}",
    )


def _is_found(outcome: records.RuleOutcome) -> bool:
    """Whether the answer has what a rule forbids, or what a requirement asks for."""
    return outcome.is_violated == (outcome.kind == "rule")


def _sentences_with(statements: Sequence[Statement], answer: ClinicalText) -> dict[tuple[int, int], Statement]:
    """The sentences in which something is stated, each with the first statement in it."""
    found: dict[tuple[int, int], Statement] = {}
    for statement in statements:
        for start, end in answer.sentences:
            if start <= statement.place.start < end:
                found.setdefault((start, end), statement)
    return found


def _by_either(
    by_words: Sequence[records.Consistency],
    by_judge: Sequence[records.Consistency],
    *,
    places: Iterable[tuple[int, int]],
    judge: str,
) -> tuple[records.Consistency, ...]:
    """Contradictions that either finds, sentence by sentence; agreements of the judge, or of the words without it."""
    found: list[records.Consistency] = []
    for start, end in places:
        words = [each for each in by_words if start <= each.start < end]
        judged = [each for each in by_judge if start <= each.start < end]
        refuted = [each for each in words if each.is_contradiction]
        if refuted and not any(each.is_contradiction for each in judged):
            found += [
                structs.replace(each, note=f"{each.note + '; ' if each.note else ''}found by words, not by {judge}")
                for each in refuted
            ]
        else:
            found += judged or words
    return tuple(sorted(found, key=lambda each: (each.start, each.end)))


def _by_earlier(statement: Statement, verdict: Verdict | Failure) -> records.Consistency | None:
    if not isinstance(verdict, Verdict) or verdict.label not in (Label.SUPPORTED, Label.REFUTED):
        return None
    quote = next(iter(verdict.evidence), None)
    mention, place = statement.mention, statement.place
    return records.Consistency(
        kind=mention.kind,
        name=mention.name,
        start=place.start,
        end=place.end,
        is_contradiction=verdict.label is Label.REFUTED,
        against=quote.evidence_id if quote else "earlier",
        quote=(quote.quote if quote else None) or "",
        note=f"judged by {verdict.judge}" + (f": {verdict.note}" if verdict.note else ""),
    )


# What can stand beside the lexicon: a model of named entities for mentions, a sentence encoder for indirect use.

Entity = tuple[records.MentionKind, int, int]
"""Kind (``medication`` or ``condition``), first and last place of what a model found."""
_NAMED: dict[str, Callable[[str], str | None]] = {"medication": drug_named, "condition": condition_named}
READERS = {"entities": "hallumeter.dialogue.measure.entities.entity_reader"}
"""Readers of this package that can be named in one word."""
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
        added: dict[tuple[records.MentionKind, str], list[records.Occurrence]] = {}
        for kind, start, end in self._find(text):
            if kind in _NAMED and not any(first < end and start < last for first, last in taken):
                name = _NAMED[kind](text[start:end]) or text[start:end].casefold()
                added.setdefault((kind, name), []).append(found.scope_at(start, end))
        more = tuple(records.Mention(kind, name, tuple(places)) for (kind, name), places in added.items())
        return ClinicalText(text, mentions=(*found.mentions, *more), hints=found.hints, standing=found._standing)


class VectorUse:
    """Tells indirect use by the vectors of a sentence encoder."""

    def __init__(self) -> None:
        self._name = f"{encoder_name()}-{NEAR:g}"

    @property
    def name(self) -> str:
        """The encoder and the threshold."""
        return self._name

    def uses(self, answer: ClinicalText, uses: Sequence[records.SlotUse]) -> tuple[records.SlotUse, ...]:
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


def _sentence(use: records.SlotUse) -> str:
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

    def truth(self, slots: records.PatientSlots) -> PatientTruth:
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


def setup_for(settings: DialogueSettings, judge: Judge | None = None) -> DialogueSetup:
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
    make = function_named(READERS.get(name, name))
    try:
        made: object = make()
    except TypeError as error:
        raise SettingsError(f"{name} makes no reader of mentions without arguments ({error})") from error
    if not hasattr(made, "read"):
        raise SettingsError(f"{name} made no reader of mentions; it needs a method read(text)")
    return made
