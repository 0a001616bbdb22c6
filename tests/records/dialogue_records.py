"""Records of clinical dialogues, with and without what is not known."""

from msgspec import Struct

from hallumeter.dialogue.records import (
    Consistency,
    Element,
    Event,
    EventQuestion,
    EventUsage,
    Mention,
    Occurrence,
    PatientSlots,
    RuleOutcome,
    Script,
    ScriptTurn,
    SlotFinding,
    SlotUse,
    TurnFindings,
)
from hallumeter.records.claim import Label
from hallumeter.records.measurement import Counts, Summary
from hallumeter.records.summaries import DialogueSummary, Fairness, ModeDifference, ScoreBins

SLOTS = PatientSlots(
    age=67,
    sex="남성",
    sex_code="M",
    primary_condition="Type 2 diabetes mellitus",
    comorbidities=(),
    key_meds=("Metformin",),
    key_vitals={"bp_systolic": "131mmHg"},
    key_labs={"hba1c": "6.24%"},
)
PLACE = Occurrence(3, 9, "negated", 0, 2)
MENTION = Mention("lab", "hba1c", (PLACE, Occurrence(12, 20, "asserted")), 7.2, "%", 7.2)
FINDING = SlotFinding(MENTION, Label.REFUTED, 2.0, "lab_mismatch", "the answer says 7.2 %, the record 6.24%")
RULE = RuleOutcome("CSP_EX_001", "호흡곤란", "rule", 2.0, True, "question flag", "unsafe", 3, 9, "interval")
USE = SlotUse("labs", 2.0, "hba1c 6.24%", 0.5, 3, 9)
SAID = Consistency("age", "age", 3, 9, True, "question 1", "67세", "the answer says 76")
ELEMENT = Element("frequency", True, 3, 9)
QUESTION = EventQuestion("p1:1", "운동은 어떻게 하나요?", "exercise")
USAGE = EventUsage(10, 20, 0.001)
DIFFERENCE = ModeDifference(
    metric="sfs",
    first="llm",
    second="agent",
    pairs=4,
    patients=2,
    first_mean=0.5,
    second_mean=1.0,
    difference=0.5,
    interval=(0.1, 0.9),
    effect_size=1.0,
    p_value=0.5,
    adjusted_p_value=1.0,
    direction="higher",
)
FAIRNESS = Fairness(("llm", "agent"), 2, 4, ("patient p1: only llm was asked",), 1)
BINS = ScoreBins("sfs", "llm", (0, 1, 3), 2)
DIALOGUE = DialogueSummary((DIFFERENCE,), FAIRNESS, (BINS,))

DIALOGUE_RECORDS: tuple[Struct, ...] = (
    PatientSlots(),
    SLOTS,
    ScriptTurn(1, "question"),
    Script("p1", SLOTS, (ScriptTurn(1, "question"),), "ko"),
    PLACE,
    MENTION,
    Mention("sex", "sex", (PLACE,), "male"),
    FINDING,
    RULE,
    RuleOutcome("R", "name", "requirement", 0.5, False, "turn 3"),
    USE,
    SlotUse("age", 1.0, 67, 0.0),
    SAID,
    ELEMENT,
    Element("duration", False),
    TurnFindings(),
    TurnFindings((FINDING,), (RULE,), (USE,), (SAID,), (ELEMENT,), ("sex",), ("key_labs.hba1c: high",)),
    QUESTION,
    USAGE,
    EventUsage(),
    Event(run_id="r", mode="llm", patient_id="p1", turn_id=1, question=QUESTION, answer=None),
    Event(
        run_id="r",
        mode="agent",
        patient_id="p1",
        turn_id=1,
        question=QUESTION,
        answer="답",
        usage=USAGE,
        timing_ms={"total": 12.5, "first": None},
        timestamps={"finished": "2026-01-01T00:00:00Z"},
        metadata={"language": "ko"},
        metrics={"SFS": 1.0, "CSP": None},
        slots_truth=SLOTS,
    ),
    Summary(1, "dialogue", Counts(records=2), (), dialogue=DIALOGUE),
    DIALOGUE,
    DIFFERENCE,
    FAIRNESS,
    BINS,
)
