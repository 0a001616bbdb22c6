"""Clinical dialogues: what is true of a patient, what was asked and answered, and what was found in an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from hallumeter.records.claim import Label
from hallumeter.records.rate import Rate, Rates
from hallumeter.records.response import FieldValue

EVENTS, SCRIPTS = "events.jsonl", "scripts.jsonl"
"""Of a run: answers with their metrics, and the scripts that they answer."""

# Turns of dialogues as columns: what the arithmetic of the clinical metrics works on.


class TurnRates(Struct, frozen=True):
    """What one answer reaches, each as two sums; a total of 0 is undefined."""

    factuality: Rate
    """Weight of the mentions that are no inventions, of all mentions."""
    penalty: Rate
    """Weight of the safety rules that are violated, of all that apply."""
    utilisation: Rate
    """Weight of the required facts that are used, by how plainly, of all that are required and known."""
    slots_used: Rate
    """Required facts that are used at all, of all that are required and known."""
    consistency: Rate
    """Statements that contradict nothing earlier, of all that can be compared; undefined below two."""
    actionability: Rate
    """Elements found, of all that the turn must include."""
    overall: Rate
    """Weighted sum of the parts of the overall score that are there, of their weights."""


class TurnColumns(Struct, frozen=True, eq=False):
    """The rates of many answers, one row each.

    >>> one = TurnRates(Rate(6, 7), Rate(0, 0), Rate(2, 4), Rate(2, 3), Rate(0, 0), Rate(0, 0), Rate(0, 0))
    >>> TurnColumns.of([one]).column("factuality").value
    0.8571428571428571
    """

    table: NDArray[np.float64]
    """For each rate of an answer a column of counts and one of totals."""

    @classmethod
    def of(cls, turns: Iterable[TurnRates]) -> TurnColumns:
        """Columns from answers."""
        names = TurnRates.__struct_fields__
        rows = [[number for name in names for number in _pair(getattr(turn, name))] for turn in turns]
        return cls(np.array(rows, dtype=np.float64).reshape(-1, 2 * len(names)))

    def column(self, name: str) -> Rates:
        """One rate of all answers."""
        place = 2 * TurnRates.__struct_fields__.index(name)
        return Rates(self.table[:, place], self.table[:, place + 1])

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, rows: slice | NDArray[np.intp] | NDArray[np.bool_]) -> TurnColumns:
        return TurnColumns(self.table[rows])


def _pair(rate: Rate) -> tuple[float, float]:
    return rate.count, rate.total


EVENT_VERSION = "events_record.v1"
MentionKind = Literal["medication", "condition", "lab", "vital", "age", "sex"]
MentionScope = Literal[
    "asserted", "advised", "mentioned", "general", "hypothetical", "example", "family", "avoided", "negated", "past"
]
"""How something stands in an answer; only what is asserted is said of this patient."""
Mode = Literal["llm", "agent"]


class PatientSlots(Struct, frozen=True, omit_defaults=True):
    """What is true of a patient. None is not known; an empty list is known to be none."""

    age: int | None = None
    sex: str | None = None
    sex_code: Literal["M", "F"] | None = None
    primary_condition: str | None = None
    comorbidities: tuple[str, ...] | None = None
    key_meds: tuple[str, ...] | None = None
    key_vitals: dict[str, str] | None = None
    """Name to value with unit, as in ``bp_systolic: 131mmHg``."""
    key_labs: dict[str, str] | None = None
    """Name to value with unit, as in ``hba1c: 6.24%``."""
    major_procedures: tuple[str, ...] | None = None
    chief_symptom: str | None = None
    other_conditions: tuple[str, ...] | None = None
    """Further conditions of the record: no question is about them, and an answer that names one invents nothing."""
    other_meds: tuple[str, ...] | None = None
    """Further drugs that the patient takes, likewise."""


class ScriptTurn(Struct, frozen=True):
    """One question of a script."""

    turn_id: int
    question: str


class Script(Struct, frozen=True):
    """A patient and the questions that are asked about them: a line of `scripts_5turn.jsonl`."""

    patient_id: str
    slots: PatientSlots
    turns: tuple[ScriptTurn, ...]
    language: str | None = None


class Occurrence(Struct, frozen=True):
    """One place where something is mentioned."""

    start: int
    end: int
    scope: MentionScope
    cue_start: int | None = None
    """The words that decided the scope; None when nothing did."""
    cue_end: int | None = None


class Mention(Struct, frozen=True):
    """One thing that an answer mentions, however often and by whatever synonyms."""

    kind: MentionKind
    name: str
    """The lexicon's name: ``metformin``, ``type 2 diabetes mellitus``, ``hba1c``; ``age`` or ``sex``."""
    occurrences: tuple[Occurrence, ...]
    value: float | str | None = None
    """As it was stated; ``male`` or ``female`` for sex."""
    unit: str | None = None
    """As it was stated; None when it went without saying."""
    slot_value: float | None = None
    """The value in the unit of the lexicon; None when it cannot be converted."""

    @property
    def asserted(self) -> Occurrence | None:
        """The first place where it is said of this patient."""
        for each in self.occurrences:
            if each.scope == "asserted":
                return each
        return None


class SlotFinding(Struct, frozen=True):
    """A mention held against what is true of the patient."""

    mention: Mention
    label: Label
    """REFUTED is an invention; NOT_ENOUGH_INFO when the truth is silent or nothing is asserted of the patient."""
    weight: float
    reason: str | None = None
    note: str | None = None


class RuleOutcome(Struct, frozen=True):
    """A safety rule that applies to a turn, and whether the answer respects it."""

    rule_id: str
    name: str
    kind: Literal["rule", "requirement"]
    weight: float
    is_violated: bool
    why: str
    """Why it applies: the flags, cues or conditions that called for it."""
    rationale: str | None = None
    start: int | None = None
    """The words that violate it, or that meet a requirement; None when something is missing."""
    end: int | None = None
    pattern: str | None = None
    """Which pattern of the rules those words match."""
    judged: str | None = None
    """Where a judge was asked beside the words: who of them found the violation, or what a requirement asks for."""


class SlotUse(Struct, frozen=True):
    """A fact that the turn asks to be used, and whether the answer does."""

    slot: str
    weight: float
    value: FieldValue
    confidence: float
    """1 explicit, 0.5 indirect, 0 unused."""
    start: int | None = None
    end: int | None = None


class Consistency(Struct, frozen=True):
    """A checkable statement of an answer that something earlier can be compared with."""

    kind: MentionKind
    name: str
    start: int
    end: int
    is_contradiction: bool
    against: str
    """What was said before: ``question 1`` or ``answer 2``."""
    quote: str
    note: str | None = None


class Element(Struct, frozen=True):
    """Something that the turn's answer must include."""

    name: str
    is_found: bool
    start: int | None = None
    end: int | None = None


class TurnFindings(Struct, frozen=True):
    """All that was found in one answer."""

    slots: tuple[SlotFinding, ...] = ()
    rules: tuple[RuleOutcome, ...] = ()
    uses: tuple[SlotUse, ...] = ()
    consistency: tuple[Consistency, ...] = ()
    elements: tuple[Element, ...] = ()
    missing_in_truth: tuple[str, ...] = ()
    """Required slots that the patient's facts lack."""
    unparsable: tuple[str, ...] = ()
    """Facts that should be numbers with units and are not."""


class EventQuestion(Struct, frozen=True):
    """What was asked."""

    question_id: str
    text: str
    template: str | None = None


class EventUsage(Struct, frozen=True):
    """What an answer took; None where it is not known."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    estimated_cost_usd: float | None = None


class Event(Struct, frozen=True, kw_only=True):
    """One answer of one system to one turn: a line of `events.jsonl`."""

    schema_version: str = EVENT_VERSION
    run_id: str
    mode: str
    """``llm``, ``agent``, or another name of a way to answer."""
    patient_id: str
    turn_id: int
    question: EventQuestion
    answer: str | None
    """None when the system failed."""
    usage: EventUsage = EventUsage()
    timing_ms: dict[str, float | None] = field(default_factory=dict)
    timestamps: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, FieldValue] = field(default_factory=dict)
    metrics: dict[str, float | None] = field(default_factory=dict)
    """SFS, CSP, CUS_improved, CUS, MCS, ASS, faithfulness, answer_relevance, perplexity: a number or null."""
    slots_truth: PatientSlots | None = None
