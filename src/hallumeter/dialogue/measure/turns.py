"""One answer measured: everything found in it, and its metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from msgspec import Struct

from hallumeter.dialogue.judges.actionability import judge_actionability
from hallumeter.dialogue.judges.consistency import Said, answer_statements, judge_consistency
from hallumeter.dialogue.judges.context import judge_context
from hallumeter.dialogue.judges.safety import judge_safety
from hallumeter.dialogue.judges.slots import PatientTruth, judge_slots
from hallumeter.dialogue.metrics import turn_rates
from hallumeter.dialogue.reading.reader import ClinicalText
from hallumeter.dialogue.records import Consistency, Element, Event, RuleOutcome, SlotUse, TurnFindings, TurnRates
from hallumeter.records.claim import Failure
from hallumeter.text.lexicon import everyday_words, load_lexicon

from .setup import DialogueSetup

# Whether an answer is in a language whose words can be read.

_ENOUGH = 400
"""Characters that tell a language."""
_HANGUL = re.compile("[\u1100-\u11ff가-힣]")
_LETTER = re.compile(r"[^\W\d_]")
_LATIN_WORD = re.compile("[a-zß-öø-ɏḁ-ỿ]+(?:['’]t)?")
_ACCENTED = re.compile("[ß-öø-ɏḁ-ỿ]")
_LEAST_HANGUL = 0.1
"""Of all letters: Korean answers name drugs and units in Latin ones."""
_A_GLANCE, _LEAST_SYLLABLES = 100, 20
"""So many syllables among so many first characters are Korean without a closer look."""
_LEAST_LETTERS = 4
"""Of another script: fewer may be a name or a unit."""
_LEAST_SIGNS, _LEAST_ACCENTED = 2, 4
"""Words of another language, one of them a small one; words with accents alone may be names of syndromes."""
_LEAST_SHARE, _PLAIN_SHARE = 0.1, 0.2
"""Of all words: of those of another language, and of small words of English; running English has twice as many."""


@lru_cache(maxsize=64)
def is_unread_language(text: str) -> bool:
    """Whether a text is plainly neither in English nor in Korean; False when it is too short to tell.

    Latin letters are taken for English unless words of another language outnumber its small words: a list of drugs or
    of meals has none of either.

    >>> is_unread_language("걷기를 주 3회 하세요."), is_unread_language("Walk for 20 minutes, three times a week.")
    (False, False)
    >>> is_unread_language("Marchez trois fois par semaine pendant vingt minutes, sans forcer.")
    True
    """
    beginning = text[:_ENOUGH].lower()
    if len(_HANGUL.findall(beginning[:_A_GLANCE])) >= _LEAST_SYLLABLES or _is_plain_english(beginning.split()):
        return False
    words = _LATIN_WORD.findall(beginning)
    letters = sum(map(len, words)) if beginning.isascii() else len(_LETTER.findall(beginning))
    if sum(map(len, words)) >= letters / 2:
        return _is_foreign(words)
    return letters >= _LEAST_LETTERS and len(_HANGUL.findall(beginning)) < _LEAST_HANGUL * letters


def _is_plain_english(words: list[str]) -> bool:
    """Whether so many words are small ones of English that no closer look is needed."""
    return bool(words) and sum(map(_small_words()[0].__contains__, words)) >= _PLAIN_SHARE * len(words)


def _is_foreign(words: list[str]) -> bool:
    """Whether words in Latin letters are more of another language than of English."""
    english, others = _small_words()
    small = sum(map(others.__contains__, words))
    accented = sum(word not in others and _ACCENTED.search(word) is not None for word in words if not word.isascii())
    signs = small + accented
    if signs < _LEAST_SIGNS or signs < _LEAST_SHARE * len(words) or not (small or accented >= _LEAST_ACCENTED):
        return False
    return signs > sum(map(english.__contains__, words))


@cache
def _small_words() -> tuple[frozenset[str], frozenset[str]]:
    """Words of English that say nothing on their own, and words of other languages, without those that both have."""
    english = frozenset(load_lexicon("en").matching.stop_words)
    others = frozenset(word for words in everyday_words().values() for word in words)
    return english - others, others - english


QUESTION, ANSWER = "question", "answer"
NO_ANSWER, EMPTY_ANSWER, UNREAD_LANGUAGE = "no_answer", "empty_answer", "unread_language"
UNUSABLE = {
    NO_ANSWER: "there is no answer",
    EMPTY_ANSWER: "the answer is empty",
    UNREAD_LANGUAGE: "the answer is neither in English nor in Korean",
}
"""Why an answer is not measured at all, as the reason of every metric."""
METRIC_NAMES = {
    "SFS": "factuality",
    "CSP": "penalty",
    "CUS_improved": "utilisation",
    "CUS": "slots_used",
    "MCS": "consistency",
    "ASS": "actionability",
}
"""What the metrics of an event are called in files, and the rates that they are."""


class MeasuredTurn(Struct, frozen=True):
    """What was found in an answer, and what a judge could not tell of it."""

    findings: TurnFindings
    failures: tuple[Failure, ...] = ()


def measure_event(event: Event, earlier: Sequence[Event], dialogue_setup: DialogueSetup) -> TurnFindings:
    """Everything that is found in an answer.

    `earlier` are the events of the same patient and mode before this one. Without facts of the patient nothing is held
    against them, and an answer that is missing, empty or in another language gives no findings at all: every metric is
    then undefined, and none perfect.
    """
    return measure_turn(event, earlier, dialogue_setup).findings


def measure_turn(event: Event, earlier: Sequence[Event], dialogue_setup: DialogueSetup) -> MeasuredTurn:
    """The same, with the failures of judges that were asked for."""
    return measure_turns([AskedTurn(event, earlier)], dialogue_setup)[0]


class AskedTurn(NamedTuple):
    """An answer, and what came before it in its conversation."""

    event: Event
    earlier: Sequence[Event]


class _ReadTurn(NamedTuple):
    """A turn whose answer has been read."""

    event: Event
    earlier: Sequence[Event]
    answer: ClinicalText


def measure_turns(turns: Sequence[AskedTurn], dialogue_setup: DialogueSetup) -> list[MeasuredTurn]:
    """Some answers measured together, step by step: what each step needs stays in the processor's cache."""
    read = {
        place: _ReadTurn(event, earlier, dialogue_setup.read(event.answer))
        for place, (event, earlier) in enumerate(turns)
        if event.answer is not None and unusable(event) is None
    }
    consistency = {place: _consistency(turn, dialogue_setup) for place, turn in read.items()}
    elements = {place: _elements(turn, dialogue_setup) for place, turn in read.items()}
    known = {place: turn for place, turn in read.items() if turn.event.slots_truth is not None}
    slots = {place: judge_slots(turn.answer, _truth(turn, dialogue_setup)) for place, turn in known.items()}
    uses = {place: _uses(turn, dialogue_setup) for place, turn in known.items()}
    rules = {place: _rules(turn, dialogue_setup) for place, turn in known.items()}
    found = []
    for place, turn in enumerate(turns):
        said, failures = consistency.get(place, ((), ()))
        used, missing = uses.get(place, ((), ()))
        kept, more = rules.get(place, ((), ()))
        findings = TurnFindings(
            slots=slots.get(place, ()),
            rules=kept,
            uses=used,
            consistency=said,
            elements=elements.get(place, ()),
            missing_in_truth=missing,
            unparsable=_truth(turn, dialogue_setup).unparsable if place in known else (),
        )
        found.append(MeasuredTurn(findings, failures + more))
    return found


def _truth(turn: AskedTurn | _ReadTurn, dialogue_setup: DialogueSetup) -> PatientTruth:
    slots = turn.event.slots_truth
    assert slots is not None, "only turns whose patient is known are held against facts"
    return dialogue_setup.truth(slots)


def _elements(turn: _ReadTurn, dialogue_setup: DialogueSetup) -> tuple[Element, ...]:
    wanted = dialogue_setup.requirements.turn(turn.event.turn_id)
    return judge_actionability(turn.answer, wanted.must_include) if wanted else ()


def _uses(turn: _ReadTurn, dialogue_setup: DialogueSetup) -> tuple[tuple[SlotUse, ...], tuple[str, ...]]:
    truth, requirements = _truth(turn, dialogue_setup), dialogue_setup.requirements
    uses, missing = judge_context(turn.answer, truth, turn.event.turn_id, requirements=requirements)
    return (uses if dialogue_setup.opinions is None else dialogue_setup.opinions.uses(turn.answer, uses)), missing


def _rules(turn: _ReadTurn, dialogue_setup: DialogueSetup) -> tuple[tuple[RuleOutcome, ...], tuple[Failure, ...]]:
    event, truth = turn.event, _truth(turn, dialogue_setup)
    rules = judge_safety(turn.answer, event.question.text, truth, turn_id=event.turn_id, rules=dialogue_setup.rules)
    if dialogue_setup.opinions is None:
        return rules, ()
    return dialogue_setup.opinions.safety(turn.answer, event.question.text, rules, record_id=record_name(event))


def event_metrics(findings: TurnFindings) -> dict[str, float | None]:
    """The metrics of an answer, under the names that events have for them; None where one is undefined."""
    return named_metrics(turn_rates(findings))


def named_metrics(rates: TurnRates) -> dict[str, float | None]:
    """Rates as metrics of an event."""
    return {name: getattr(rates, rate).value for name, rate in METRIC_NAMES.items()}


def unusable(event: Event) -> str | None:
    """Why an answer cannot be measured, as a code; None when it can."""
    if event.answer is None:
        return NO_ANSWER
    if not event.answer.strip():
        return EMPTY_ANSWER
    return UNREAD_LANGUAGE if is_unread_language(event.answer) else None


def record_name(event: Event, question: int = 0) -> str:
    """What an answer is called where answers are listed; a further question of the same turn adds its number."""
    name = f"{event.mode}:{event.patient_id}:{event.turn_id}"
    return f"{name}:{question}" if question else name


def _consistency(turn: _ReadTurn, dialogue_setup: DialogueSetup) -> tuple[tuple[Consistency, ...], tuple[Failure, ...]]:
    event, earlier, answer = turn
    opinions = dialogue_setup.opinions
    by_words = judge_consistency(
        dialogue_setup.stated_in_answer(answer.text), list(_said(event, earlier, dialogue_setup))
    )
    if opinions is None or opinions.judge_name is None:
        return by_words, ()
    texts = dict(_texts_before(event, earlier))
    statements = answer_statements(answer)
    return opinions.consistency(answer, by_words, statements, earlier=texts, record_id=record_name(event))


def _said(event: Event, earlier: Sequence[Event], dialogue_setup: DialogueSetup) -> Iterator[Said]:
    """What was stated before this answer, in the order in which it was said."""
    for source, text in _texts_before(event, earlier):
        stated = dialogue_setup.stated_in_answer if source.startswith(ANSWER) else dialogue_setup.stated_in_question
        yield Said(source, stated(text))


def _texts_before(event: Event, earlier: Sequence[Event]) -> Iterator[tuple[str, str]]:
    for before in earlier:
        if before.turn_id < event.turn_id:
            yield f"{QUESTION} {before.turn_id}", before.question.text
            if before.answer is not None and unusable(before) is None:
                yield f"{ANSWER} {before.turn_id}", before.answer
    yield f"{QUESTION} {event.turn_id}", event.question.text
