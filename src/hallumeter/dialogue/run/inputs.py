"""Who asks what: scripts of patients, or questions alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from hallumeter.dialogue.records import PatientSlots, Script, ScriptTurn
from hallumeter.errors import InputError, RecordError
from hallumeter.formats.batch import plain_message
from hallumeter.formats.files import check_readable
from hallumeter.records.claim import Failure
from hallumeter.records.manifest import InputFile
from hallumeter.run.inputs import DAMAGE, lines_of, sha256_of

from .experiment import Experiment
from .recall import Fact, facts_by_patient

Language = Literal["ko", "en"]
_HANGUL = re.compile("[가-힣ㄱ-ㆎᄀ-ᇿ]")


class Conversation(Struct, frozen=True):
    """The questions of one patient, in order."""

    patient_id: str
    language: Language
    turns: tuple[ScriptTurn, ...]
    slots: PatientSlots | None = None
    """What is true of the patient; None when nobody knows."""
    facts: tuple[Fact, ...] = ()
    """What the patient's FHIR record says besides."""

    @property
    def script(self) -> Script | None:
        """The script it comes from; None for questions alone."""
        if self.slots is None:
            return None
        return Script(self.patient_id, self.slots, self.turns, self.language)


class Inputs(Struct, frozen=True):
    """What a run reads."""

    conversations: tuple[Conversation, ...]
    file: InputFile
    failures: tuple[Failure, ...] = ()
    """Lines that could not be used."""

    @property
    def turns(self) -> int:
        """Questions in all."""
        return sum(len(conversation.turns) for conversation in self.conversations)


class _ScriptRow(Struct, frozen=True):
    """A line of a file of scripts."""

    patient_id: str
    turns: tuple[ScriptTurn, ...]
    slots: PatientSlots | None = None
    language: str | None = None


class _QuestionRow(Struct, frozen=True):
    """A line of a JSONL file of questions."""

    question: str
    patient_id: str | None = None
    turn_id: int | None = None
    language: str | None = None


_SCRIPTS = msgspec.json.Decoder(_ScriptRow)
_QUESTIONS = msgspec.json.Decoder(_QuestionRow)


def read_inputs(experiment: Experiment, *, is_strict: bool = False) -> Inputs:
    """The conversations of an experiment; lines that cannot be used are failures, or with `is_strict` errors.

    Raises:
        InputError: The file cannot be read, or has nothing to ask.
    """
    path = experiment.scripts or experiment.questions
    assert path is not None  # the reader of the settings has seen to it
    check_readable(path)
    if experiment.scripts is not None:
        found, failures = _scripts(path)
    elif path.name.removesuffix(".gz").endswith((".jsonl", ".ndjson")):
        found, failures = _question_rows(path)
    else:
        found, failures = _plain_questions(path)
    if failures and is_strict:
        raise RecordError(failures[0].message)
    conversations = [_cut(each, experiment) for each in found[: experiment.max_patients]]
    if not conversations:
        first = f"; the first fault: {failures[0].message}" if failures else ""
        raise InputError(f"{path}: nothing to ask{first}")
    if experiment.fhir_dir is not None:
        facts = facts_by_patient(experiment.fhir_dir, {conversation.patient_id for conversation in conversations})
        conversations = [msgspec.structs.replace(each, facts=facts.get(each.patient_id, ())) for each in conversations]
    file = InputFile(path.name, sha256_of(path), len(conversations))
    return Inputs(tuple(conversations), file, tuple(failures))


def _cut(conversation: Conversation, experiment: Experiment) -> Conversation:
    language = experiment.language or conversation.language
    return msgspec.structs.replace(conversation, language=language, turns=conversation.turns[: experiment.max_turns])


def _scripts(path: Path) -> tuple[list[Conversation], list[Failure]]:
    found: dict[str, Conversation] = {}
    failures: list[Failure] = []
    for number, line in lines_of(path):
        try:
            conversation = _conversation(_SCRIPTS.decode(line))
            if conversation.patient_id in found:
                raise RecordError(f"patient {conversation.patient_id!r} has a script on an earlier line; kept is that")
        except (*DAMAGE, RecordError) as error:
            failures.append(_failure(path, number, error))
        else:
            found[conversation.patient_id] = conversation
    return list(found.values()), failures


def _conversation(row: _ScriptRow) -> Conversation:
    """A script whose turns can be asked."""
    if not row.patient_id.strip():
        raise RecordError("patient_id is empty; every patient needs a name")
    numbers = [turn.turn_id for turn in row.turns]
    if not numbers:
        raise RecordError(f"patient {row.patient_id!r} has no turns; expected turn_id and question of each")
    if min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise RecordError(f"patient {row.patient_id!r} has turns {numbers}; expected different numbers from 1")
    empty = next((turn.turn_id for turn in row.turns if not turn.question.strip()), None)
    if empty is not None:
        raise RecordError(f"patient {row.patient_id!r} asks nothing in turn {empty}; expected a question")
    turns = tuple(sorted(row.turns, key=lambda turn: turn.turn_id))
    return Conversation(row.patient_id, _language(row.language, turns), turns, row.slots)


def _question_rows(path: Path) -> tuple[list[Conversation], list[Failure]]:
    """Rows of one patient are one conversation; a row without a patient is a conversation of its own."""
    rows: dict[str, list[_QuestionRow]] = {}
    failures: list[Failure] = []
    for number, line in lines_of(path):
        try:
            row = _QUESTIONS.decode(line)
        except DAMAGE as error:
            failures.append(_failure(path, number, error))
        else:
            rows.setdefault(row.patient_id or f"question-{number}", []).append(row)
    found: list[Conversation] = []
    for patient_id, own in rows.items():
        turns = tuple(ScriptTurn(row.turn_id or place, row.question) for place, row in enumerate(own, 1))
        try:
            found.append(_conversation(_ScriptRow(patient_id, turns, language=own[0].language)))
        except RecordError as error:
            failures.append(_failure(path, None, error))
    return found, failures


def _plain_questions(path: Path) -> tuple[list[Conversation], list[Failure]]:
    """A question on every line; an empty line begins another conversation."""
    blocks: list[list[str]] = [[]]
    for _, line in lines_of(path, with_empty=True):
        try:
            text = line.decode("utf-8").strip()
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: not UTF-8 text ({error.reason}); save it as UTF-8") from error
        if text:
            blocks[-1].append(text)
        elif blocks[-1]:
            blocks.append([])
    found = []
    for place, block in enumerate(filter(None, blocks), 1):
        turns = tuple(ScriptTurn(number, text) for number, text in enumerate(block, 1))
        found.append(Conversation(f"conversation-{place}", _language(None, turns), turns))
    return found, []


def _language(given: str | None, turns: tuple[ScriptTurn, ...]) -> Language:
    if given is not None and given.lower().startswith(("ko", "en")):
        return "ko" if given.lower().startswith("ko") else "en"
    return "ko" if any(_HANGUL.search(turn.question) for turn in turns) else "en"


def _failure(path: Path, number: int | None, error: Exception) -> Failure:
    where = path.name if number is None else f"{path.name}:{number}"
    message = str(error) if isinstance(error, RecordError) else plain_message(error)
    return Failure(None, None, "read", None, "bad_line", f"{where}: {message}")
