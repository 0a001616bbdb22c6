"""What an answer includes that can be acted on."""

from __future__ import annotations

import pytest
from hand_made_answers import hand_made, read

from hallumeter.dialogue.judges.actionability import enumerated_items, judge_actionability, known_elements, lists_in
from hallumeter.dialogue.judges.settings import load_settings

REQUIREMENTS = load_settings(None).requirements
HAND_MADE = {case.id: case for case in hand_made()}

# Which elements of their turn these answers hold, judged by reading them: x found, - missing, in the order of the turn.
READ = {
    "en-A09": "xxxx", "en-B09": "x-xx", "en-C01": "xxxx", "en-C02": "xxxx", "en-C10": "xxx-", "en-D06": "xxxx",
    "en-E02": "xxxx", "en-E03": "xxx-", "en-E10": "xxx-", "ko-A07": "x-xx", "ko-B10": "xxxx", "ko-C01": "--xx",
    "ko-C05": "xxxx", "ko-C07": "-xxx", "ko-C09": "xxx-", "ko-D04": "xxxx", "ko-E02": "xxx-", "ko-F09": "x-xx",
    "en-C03": "--", "en-E06": "--", "ko-A04": "xx", "ko-C02": "-x", "ko-D01": "xx", "ko-D08": "--", "ko-E05": "xx",
    "en-D10": "--xx", "en-F10": "--xx", "ko-A05": "xxxx", "ko-B02": "-xxx", "ko-C10": "x--x", "ko-D07": "x-xx",
    "ko-D10": "xxxx", "ko-E08": "x-xx", "ko-F10": "----",
}  # fmt: skip


def has(element: str, answer: str) -> bool:
    (found,) = judge_actionability(read(answer), [element])
    return found.is_found


def test_every_element_of_the_settings_can_be_found() -> None:
    asked = {element for turn in REQUIREMENTS.turns.values() for element in turn.must_include}
    assert asked == set(known_elements())


@pytest.mark.parametrize("name", READ)
def test_elements_of_hand_made_answers_are_those_that_a_reader_finds(name: str) -> None:
    case = HAND_MADE[name]
    wanted = REQUIREMENTS.turn(case.turn)
    assert wanted is not None
    elements = judge_actionability(read(case.answer), wanted.must_include)
    assert "".join("x" if each.is_found else "-" for each in elements) == READ[name]


def test_a_found_element_tells_its_place() -> None:
    answer = "걷기는 주 5회 30분씩 하세요."
    (found,) = judge_actionability(read(answer), ["frequency"])
    assert answer[found.start : found.end] == "주 5회"


@pytest.mark.parametrize(
    ("element", "answer"),
    [
        ("frequency", "Exercise three to five times a week."),
        ("frequency", "Walk every other day."),
        ("frequency", "일주일에 세 번 걸으세요."),
        ("frequency", "Take a 20-minute walk every day."),
        ("intensity", "Keep to a moderate intensity."),
        ("intensity", "You should still be able to talk while you walk."),
        ("intensity", "숨이 약간 찰 정도로 하세요."),
        ("intensity", "최대 심박수의 60% 정도가 좋습니다."),
        ("duration", "Walk for half an hour."),
        ("duration", "한 시간 동안 걸으세요."),
        ("stop_criteria", "Stop immediately if your chest hurts."),
        ("stop_criteria", "Chest pain or dizziness means that you must stop."),
        ("stop_criteria", "가슴 통증이 생기면 즉시 중단하세요."),
        ("monitoring_metric", "Check your blood pressure every morning."),
        ("monitoring_metric", "Weigh yourself daily."),
        ("monitoring_metric", "혈당을 매일 기록하세요."),
        ("weekly_plan", "Week 1: walk. Week 2: add strength."),
        ("weekly_plan", "1주차에는 걷기, 2주차에는 근력 운동을 하세요."),
        ("retest_timing", "Have your HbA1c checked again in 3 months."),
        ("retest_timing", "4주 뒤 재검사를 받으세요."),
        ("top_three_priorities", "Your top priorities are sleep, salt and steps, in this order, one after the other."),
        ("top_three_priorities", "Priorities:\n1. Salt\n2. Steps\n3. Sleep"),
        ("top_three_priorities", "우선순위는 혈압, 체중, 수면입니다."),
        ("three_to_five_rules", "1. Less salt.\n2. More beans.\n3. No soda."),
        ("three_to_five_rules", "- Less salt\n- More beans\n- No soda\n- Water"),
        ("three_to_five_rules", "첫째, 싱겁게 드세요. 둘째, 채소를 드세요. 셋째, 물을 드세요."),
        ("three_to_five_rules", "First, eat less salt. Second, eat beans. Third, drink water."),
        ("three_to_five_rules", "Three rules: less salt, more beans, no soda."),
        ("three_to_five_rules", "1) 저염 2) 채소 3) 물, 이렇게 지키세요."),
    ],
)
def test_an_element_is_found_in_either_language(element: str, answer: str) -> None:
    assert has(element, answer)


@pytest.mark.parametrize(
    ("element", "answer"),
    [
        ("frequency", "Take the tablet with food."),
        ("frequency", "혈압약은 하루 한 번 복용하세요."),
        ("intensity", "You asked about the intensity of exercise."),
        ("intensity", "어느 강도가 좋을지 물어보셨습니다."),
        ("duration", "Take the pill 30 minutes before exercise."),
        ("duration", "혈압약은 운동 30분 전에 드세요."),
        ("stop_criteria", "Keep going whatever happens."),
        ("stop_criteria", "약을 임의로 중단하지 마세요."),
        ("monitoring_metric", "Your blood glucose was measured after a meal."),
        ("monitoring_metric", "방금 확인한 혈압은 132/84 mmHg였습니다."),
        ("weekly_plan", "Walk five times and rest."),
        ("retest_timing", "Retest when you feel like it."),
        ("top_three_priorities", "Your priority is sleep."),
        ("three_to_five_rules", "1. Less salt.\n2. More beans."),
        ("three_to_five_rules", "\n".join(f"{number}. Rule {number}" for number in range(1, 8))),
        ("three_to_five_rules", "Eat fish, beans and oats."),
    ],
)
def test_what_only_looks_like_an_element_is_none(element: str, answer: str) -> None:
    assert not has(element, answer)


def test_only_the_outermost_items_of_a_nested_list_count() -> None:
    text = "1. Salt\n   - soups\n   - bread\n2. Sugar\n   - soda\n3. Fat"
    assert next(lists_in(text, [])).items == 3


def test_lines_that_are_numbered_anew_are_two_lists() -> None:
    text = "1. Salt\n2. Sugar\n3. Fat\n\n1. Walk\n2. Swim"
    assert [found.items for found in lists_in(text, [])][:2] == [3, 2]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("salt, sugar, fat", 3),
        ("salt, sugar and fat", 3),
        ("salt, sugar, and fat", 3),
        ("저염, 채소, 물", 3),
        ("salt", 1),
    ],
)
def test_things_joined_by_commas_and_words_are_counted(text: str, items: int) -> None:
    assert enumerated_items(text) == items
