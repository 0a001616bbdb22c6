"""Whether an answer contradicts what the patient said, or what the system said before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib import resources

from msgspec import Struct

from hallumeter.dialogue.reading.lexicon import load_tables
from hallumeter.dialogue.reading.reader import ClinicalText, is_same_condition, measurement_named
from hallumeter.dialogue.records import Consistency, Mention, MentionKind, Occurrence

from .slots import (
    AGE_TOLERANCE,
    LAB_TOLERANCE,
    VITAL_TOLERANCE,
    TrueValue,
    agrees,
    is_same_drug,
    stated,
    stated_value,
)
from .wording import plain, question_finder

_EXCLUSIVE = resources.files("hallumeter.dialogue").joinpath("lexicons", "exclusive_conditions.tsv")
_NEED_WORDS = frozenset({"medication", "condition"})
"""Kinds that a patient also asks about; a value is asked about without naming it."""
_OPEN_WHEN_DENIED = frozenset({"lab", "vital", "age"})
"""A value that is denied leaves open what it is."""


class Statement(Struct, frozen=True):
    """A fact about the patient that is asserted or denied."""

    mention: Mention
    place: Occurrence
    is_denied: bool
    text: str
    """The whole text in which it stands."""

    @property
    def quote(self) -> str:
        """Its words."""
        return self.text[self.place.start : self.place.end]


Sorted = dict[str, list[Statement]]
"""Statements by what they can be compared with."""


class Said(Struct, frozen=True):
    """Everything that was stated in one question or answer."""

    source: str
    """``question 1`` or ``answer 2``."""
    statements: Sorted


def sorted_statements(statements: Iterable[Statement]) -> Sorted:
    """Statements by what they can be compared with, so that each is held only against those."""
    found: Sorted = {}
    for statement in statements:
        found.setdefault(_key(statement.mention), []).append(statement)
    return found


def judge_consistency(stated: ClinicalText | Sorted, said: Sequence[Said]) -> tuple[Consistency, ...]:
    """Every statement of an answer that can be compared with something said before, and whether it contradicts it.

    `said` is what the patient stated in this and earlier questions, and what the system stated in earlier answers. A
    statement that agrees with one of them and contradicts another is a contradiction.
    """
    own = stated if isinstance(stated, dict) else sorted_statements(answer_statements(stated))
    found = []
    for key, statements in own.items():
        sources = [(source.source, earlier) for source in said if (earlier := source.statements.get(key))]
        if sources:
            found += [each for statement in statements if (each := _compared(statement, sources)) is not None]
    return tuple(sorted(found, key=_place))


def _place(found: Consistency) -> tuple[int, int]:
    return found.start, found.end


def _compared(statement: Statement, sources: Sequence[tuple[str, list[Statement]]]) -> Consistency | None:
    """Held against everything said before; the first contradiction counts, else the first agreement."""
    agreed: tuple[str, Statement] | None = None
    for source, statements in sources:
        agreeing = contradicting = None
        for earlier in statements:
            is_alike = compared(statement, earlier)
            if is_alike:
                agreeing = earlier
                break
            if is_alike is False:
                contradicting = contradicting or earlier
        if agreeing is not None:
            agreed = agreed or (source, agreeing)
        elif contradicting is not None:
            return _consistency(statement, contradicting, source, is_contradiction=True)
    return None if agreed is None else _consistency(statement, agreed[1], agreed[0], is_contradiction=False)


def _key(mention: Mention) -> str:
    """What two mentions have in common that can be compared: of a drug the first word, of a condition only that."""
    if mention.kind == "condition":
        return mention.kind
    return f"{mention.kind} {mention.name.partition(' ')[0] if mention.kind == 'medication' else mention.name}"


def compared(statement: Statement, earlier: Statement) -> bool | None:
    """Whether two statements agree (True) or contradict each other (False); None for different things."""
    one, other = statement.mention, earlier.mention
    if one.kind != other.kind:
        return None
    if one.name == other.name and one.value == other.value and one.unit == other.unit:
        return statement.is_denied == earlier.is_denied
    compare = _COMPARISONS[one.kind]
    return compare(statement, earlier)


def _drugs(statement: Statement, earlier: Statement) -> bool | None:
    is_same = is_same_drug(statement.mention.name, earlier.mention.name)
    return statement.is_denied == earlier.is_denied if is_same else None


def _sexes(statement: Statement, earlier: Statement) -> bool | None:
    """Two different ones: to deny the one is to say the other."""
    return statement.is_denied != earlier.is_denied


def _conditions(statement: Statement, earlier: Statement) -> bool | None:
    """To deny a condition denies its narrower forms; to deny a narrower form leaves the wider one open."""
    one, other = statement.mention.name, earlier.mention.name
    if statement.is_denied and earlier.is_denied:
        return True if one == other else None
    if statement.is_denied or earlier.is_denied:
        denied, asserted = (one, other) if statement.is_denied else (other, one)
        return False if denied == asserted or denied in _wider_forms(asserted) else None
    if _are_alike(one, other):
        return True
    return False if frozenset((one, other)) in _exclusive() else None


def _ages(statement: Statement, earlier: Statement) -> bool | None:
    one, other = statement.mention.value, earlier.mention.value
    if not isinstance(one, float | int) or not isinstance(other, float | int):
        return None
    return abs(one - other) <= AGE_TOLERANCE


def _values(statement: Statement, earlier: Statement) -> bool | None:
    """The same value, one perhaps rounded."""
    if statement.mention.name != earlier.mention.name:
        return None
    first, second = _as_truth(statement), _as_truth(earlier)
    if first is None or second is None:
        return None
    return bool(
        agrees(statement.mention, statement.place, text=statement.text, truth=second)
        or agrees(earlier.mention, earlier.place, text=earlier.text, truth=first)
    )


_COMPARISONS: dict[MentionKind, Callable[[Statement, Statement], bool | None]] = {
    "medication": _drugs,
    "condition": _conditions,
    "lab": _values,
    "vital": _values,
    "age": _ages,
    "sex": _sexes,
}


def _as_truth(statement: Statement) -> TrueValue | None:
    mention = statement.mention
    value, measurement = stated_value(mention), measurement_named(mention.name)
    if value is None or measurement is None:
        return None
    tolerance = LAB_TOLERANCE if measurement.kind == "lab" else VITAL_TOLERANCE
    return TrueValue(mention.name, "", statement.quote, value, value - tolerance, value + tolerance)


def _consistency(statement: Statement, earlier: Statement, source: str, *, is_contradiction: bool) -> Consistency:
    mention = statement.mention
    note = f"the answer {_verb(statement)} {_named(mention)}, {source} {_verb(earlier)} {_named(earlier.mention)}"
    place = statement.place
    return Consistency(
        mention.kind, mention.name, place.start, place.end, is_contradiction, source, earlier.quote, note
    )


def _verb(statement: Statement) -> str:
    return "denies" if statement.is_denied else "states"


def _named(mention: Mention) -> str:
    return mention.name if mention.value is None else f"{mention.name} {stated(mention)}"


@lru_cache(maxsize=1 << 14)
def _are_alike(one: str, other: str) -> bool:
    return is_same_condition(one, other)


@cache
def _wider_forms(condition: str) -> frozenset[str]:
    """Every condition of which one is a form, at any remove."""
    wider = _wider_by_name().get(condition, ())
    return frozenset(wider).union(*(_wider_forms(each) for each in wider if each != condition))


@cache
def _wider_by_name() -> dict[str, tuple[str, ...]]:
    return {each.name: each.wider for each in load_tables().conditions}


@cache
def _exclusive() -> frozenset[frozenset[str]]:
    """Pairs of conditions of which a patient has at most one."""
    lines = _EXCLUSIVE.read_text(encoding="utf-8").splitlines()[1:]
    return frozenset(frozenset(line.split("\t")) for line in lines)


def answer_statements(answer: ClinicalText) -> tuple[Statement, ...]:
    """What an answer asserts or denies; of something said twice in the same way the first place."""
    found = []
    for mention in answer.mentions:
        asserted = denied = None
        for place in mention.occurrences:
            if place.scope == "asserted":
                asserted = asserted or place
            elif place.scope == "negated" and mention.kind not in _OPEN_WHEN_DENIED:
                denied = denied or place
        if asserted is not None:
            found.append(Statement(mention, asserted, False, answer.text))
        if denied is not None:
            found.append(Statement(mention, denied, True, answer.text))
    return tuple(found)


def question_statements(question: ClinicalText) -> tuple[Statement, ...]:
    """What a patient states in a question: not what is only asked about.

    A drug or condition counts where the patient speaks of themselves; in a sentence that asks, only before the part
    that asks.
    """
    stretches = list(_stated_stretches(question))
    found = []
    for mention in question.mentions:
        for is_denied in (False, True):
            place = next(
                (
                    each
                    for each in mention.occurrences
                    if _is_stated(mention, each, is_denied=is_denied, stretches=stretches)
                ),
                None,
            )
            if place is not None:
                found.append(Statement(mention, place, is_denied, question.text))
    return tuple(found)


def _is_stated(mention: Mention, place: Occurrence, *, is_denied: bool, stretches: list[tuple[int, int]]) -> bool:
    if mention.kind not in _NEED_WORDS:
        return place.scope == "asserted" and not is_denied
    scopes = ("negated",) if is_denied else ("asserted", "mentioned")
    return place.scope in scopes and any(start <= place.start and place.end <= end for start, end in stretches)


def _stated_stretches(question: ClinicalText) -> Iterator[tuple[int, int]]:
    """The parts of a question in which the patient says something of themselves."""
    for start, end in question.sentences:
        sentence = question.text[start:end]
        border = _end_of_statement(sentence)
        said = plain(sentence[:border])
        if question_finder("stated").first(said) and not question_finder("unsure").first(said):
            yield start, start + border


def _end_of_statement(sentence: str) -> int:
    """How much of a sentence states: all of it, what stands before the part that asks, or nothing."""
    prepared = plain(sentence)
    is_asking = sentence.rstrip().endswith("?") or question_finder("endings").first(prepared) is not None
    if not is_asking:
        return len(sentence)
    if question_finder("openings").first(prepared) is not None:
        return 0
    borders = question_finder("borders").spans(prepared)
    return borders[-1][1] if borders else 0
