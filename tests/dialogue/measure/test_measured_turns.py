"""One answer measured."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest
from dialogue_events import FACTS, QUESTIONS, RIGHT, WRONG, event
from msgspec.json import encode

from hallumeter.dialogue.judges.settings import load_settings
from hallumeter.dialogue.measure.events import event_of, slots_of
from hallumeter.dialogue.measure.setup import DialogueSetup, EntityReader, Opinions
from hallumeter.dialogue.measure.turns import event_metrics, is_unread_language, measure_event, measure_turn, unusable
from hallumeter.dialogue.records import Event

EQUIPMENT = DialogueSetup.of(None)
METRICS = ("SFS", "CSP", "CUS_improved", "CUS", "MCS", "ASS")


def made(turn: int, answer: str | None, **others: object) -> Event:
    return event_of(encode(event("p1", turn, "llm", answer, **others)))


def metrics(turn: int, answer: str | None, *earlier: Event, **others: object) -> dict[str, float | None]:
    return event_metrics(measure_event(made(turn, answer, **others), earlier, EQUIPMENT))


def test_a_right_answer_to_the_first_turn() -> None:
    # Mentions: age 1, sex 1, condition 1, none invented. Required: age 1, sex 1, condition 2, all explicit.
    # The diabetes rule applies and is kept. Three statements agree with the question. Turn 1 must include nothing.
    assert metrics(1, RIGHT[1]) == {
        "SFS": 1.0, "CSP": 0.0, "CUS_improved": 1.0, "CUS": 1.0, "MCS": 1.0, "ASS": None,
    }  # fmt: skip


def test_a_wrong_answer_to_the_second_turn() -> None:
    # Mentions: warfarin 2 and HbA1c 2, both invented. Required: drugs 2 unused, labs 2 indirect, vitals 1 unused:
    # 1 / 5. Only the HbA1c can be compared with what was said, and it contradicts.
    found = metrics(2, WRONG[2])
    assert (found["SFS"], found["CUS_improved"], found["MCS"]) == (0.0, 0.2, 0.0)
    assert found["CUS"] == pytest.approx(1 / 3)


def test_earlier_turns_are_remembered() -> None:
    earlier = [made(1, RIGHT[1]), made(2, RIGHT[2])]
    answer = "You are not taking metformin. You are 76 years old. Your HbA1c is 7.2%."
    findings = measure_event(made(3, answer), earlier, EQUIPMENT)
    told = {each.name: (each.is_contradiction, each.against) for each in findings.consistency}
    assert told == {"metformin": (True, "question 2"), "age": (True, "question 1"), "hba1c": (False, "question 2")}
    assert event_metrics(findings)["MCS"] == pytest.approx(1 / 3)


def test_what_is_called_earlier_and_is_not_is_left_out() -> None:
    later = [made(3, "You are 76 years old and a woman.")]
    assert metrics(1, RIGHT[1], *later)["MCS"] == 1.0


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (None, "no_answer"),
        ("", "empty_answer"),
        (" \n\t", "empty_answer"),
        ("Sie sollten dreimal pro Woche ungefähr dreißig Minuten lang zügig spazieren gehen.", "unread_language"),
        ("您应该每周步行三次，每次三十分钟，如果感到头晕请停止。", "unread_language"),
        ("Marchez trente minutes par jour, cinq jours par semaine, et ne buvez pas de vin.", "unread_language"),
    ],
)
def test_an_answer_that_cannot_be_read_is_measured_as_nothing_and_never_as_perfect(
    answer: str | None, code: str
) -> None:
    assert unusable(made(3, answer)) == code
    assert metrics(3, answer) == dict.fromkeys(METRICS)


SHORT_ANSWERS = (
    *(
        "OK",
        "Yes.",
        "네, 괜찮습니다.",
        "걷기를 하세요.",
        "메트포르민 (Metformin)",
        "120/80",
        "7.2%",
        "👍",
        "Eat less salt",
    ),
    "Walk 30 minutes daily.",
    "Metformin 500 mg",
    "Levothyroxine 50 µg, 75 µg, 100 µg, 125 µg",
    "HbA1c 7.2%, LDL 96 mg/dL, BP 131/79 mmHg",
    "Ménière disease, Sjögren syndrome, Hashimoto thyroiditis",
    "Metformin, lisinopril, simvastatin, aspirin, warfarin, ezetimibe, empagliflozin, insulin glargine",
    "Continue metformin 500 mg twice daily; recheck HbA1c 3 months; avoid NSAIDs; low-salt diet.",
    "Breakfast: oatmeal, berries, nuts. Lunch: grilled chicken salad. Dinner: salmon, quinoa, broccoli.",
    "Week 1: walk 15 minutes per day. Week 2: walk 20 minutes per day. Week 3: walk 25 minutes per day.",
)


@pytest.mark.parametrize("answer", [*RIGHT.values(), *WRONG.values(), *SHORT_ANSWERS])
def test_english_korean_and_what_is_too_short_to_tell_are_read(answer: str) -> None:
    assert not is_unread_language(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Vous prenez de la metformine.",
        "Évitez l'ibuprofène et buvez beaucoup d'eau.",
        "Sie nehmen Metformin und Lisinopril ein.",
        "Ihr Blutdruck beträgt 131/79 mmHg.",
        "Camine treinta minutos al día, cinco días a la semana.",
        "Cammini trenta minuti al giorno per cinque giorni alla settimana.",
        "您正在服用二甲双胍。",
        "避免使用布洛芬。",
        "血圧は131/79 mmHgで、目標に近いです。",
        "イブプロフェンは避けてください。",
        "Ходите пешком тридцать минут в день.",
    ],
)
def test_a_sentence_in_another_language_is_told(answer: str) -> None:
    assert is_unread_language(answer)


def test_without_facts_the_metrics_that_need_them_are_undefined_and_the_others_are_not() -> None:
    found = metrics(3, "You are 76 years old and a woman. " + RIGHT[3], made(1, RIGHT[1]), slots_truth=None)
    assert [found[name] for name in ("SFS", "CSP", "CUS_improved", "CUS")] == [None] * 4
    # Age and sex contradict the question of turn 1, the diabetes agrees with it.
    assert found["MCS"] == pytest.approx(1 / 3)
    assert found["ASS"] == 1.0


KOREAN = "당뇨병이 있고 당화혈색소가 7.2%이시니 중등도 강도로 하루 30분, 주 5회 걸으세요. 어지러우면 중단하세요."


@pytest.mark.parametrize(("answer", "times"), [(RIGHT[3], 9_000), (KOREAN, 18_000)], ids=["English", "Korean"])
def test_a_megabyte_of_answer_is_measured_in_a_few_times_what_a_quarter_takes(answer: str, times: int) -> None:
    started = process_time()
    metrics(3, (answer + " ") * (times // 4))
    quarter = process_time() - started
    found = metrics(3, (answer + " ") * times)
    assert (found["SFS"], found["ASS"]) == (1.0, 1.0)
    # Four times as much text; time that grows with the square would be sixteen times as much.
    assert process_time() - started < 11 * quarter + 1


def test_settings_of_a_folder_are_used(tmp_path: Path) -> None:
    text = "schema_version: 1\nturns:\n  '1':\n    required_slots:\n      - {slot: sex, weight: 1}\n"
    (tmp_path / "required_slots_by_turn.yaml").write_text(text, encoding="utf-8")
    dialogue_setup = DialogueSetup.of(tmp_path)
    findings = measure_event(made(1, "You are 67 years old."), (), dialogue_setup)
    assert [use.slot for use in findings.uses] == ["sex"]
    assert dialogue_setup.signature != EQUIPMENT.signature


def test_a_model_of_named_entities_adds_what_the_lexicon_does_not_know() -> None:
    def find(text: str) -> list[tuple[str, int, int]]:
        return [("medication", start, start + 9) for start in (text.find("newdrugol"),) if start >= 0]

    dialogue_setup = DialogueSetup(load_settings(None), reader=EntityReader(find, name="my-model"))  # type: ignore[arg-type]
    findings = measure_event(made(2, "You are taking newdrugol and metformin."), (), dialogue_setup)
    assert {each.mention.name: each.label.value for each in findings.slots} == {
        "metformin": "SUPPORTED",
        "newdrugol": "REFUTED",
    }
    assert "my-model" in dict(dialogue_setup.signature)["reader"]


def test_equipment_without_other_judges_names_none() -> None:
    assert [name for name, _ in EQUIPMENT.signature] == ["reader", "slots", "rules"]
    assert DialogueSetup(load_settings(None), opinions=Opinions()).signature == EQUIPMENT.signature


def test_failures_of_words_and_rules_do_not_exist() -> None:
    assert measure_turn(made(1, RIGHT[1]), (), EQUIPMENT).failures == ()


def test_facts_may_come_in_other_forms() -> None:
    slots = slots_of({**FACTS, "age": "67", "key_labs": {"hba1c": 7.2}, "active_meds": [{"name": "Metformin"}]})
    assert (slots.age, slots.key_labs, slots.key_meds) == (67, {"hba1c": "7.2"}, ("Metformin",))


def test_questions_of_the_example_state_what_they_say() -> None:
    stated = {key for text in QUESTIONS.values() for key in EQUIPMENT.stated_in_question(text)}
    assert {"age age", "sex sex", "condition", "medication metformin", "lab hba1c", "vital bp_systolic"} <= stated
