"""Sixty answers of doctors that forbid, permit, recommend, warn, repeat a question or list, with how their words stand.

They were written before they were first read by the reader, of which 33 came out right then. Every line is a text and
some of its words with their standing.
"""

from __future__ import annotations

import pytest
from standing_in_words import check_standing

ENGLISH = [
    ("You should not eat bananas or potatoes with your kidneys.", "bananas: against; potatoes: against"),
    ("With your heart, you must not do interval training.", "interval training: against"),
    ("You shouldn't use naproxen while your ankles are swollen.", "naproxen: against"),
    ("Never take ibuprofen and warfarin together.", "ibuprofen: against; warfarin: against"),
    ("I'd strongly advise you not to take diclofenac.", "diclofenac: against"),
    ("Under no circumstances should you lift heavy weights.", "heavy weights: against"),
    ("Alcohol is something you're better off without.", "Alcohol: against"),
    ("Please hold off on running until we know more.", "running: against"),
    ("It is best to steer clear of protein shakes.", "protein shakes: against"),
    ("Try to cut down on orange juice and reduce salt.", "orange juice: against; salt: against"),
    ("Let's postpone the sprints until your pressure is down.", "sprints: against"),
    ("Heavy lifting is a definite no for you right now.", "Heavy lifting: against"),
    (
        "Foods to avoid:\n- bananas\n- avocado\n- dried fruit\n\nGood choices:\n- apples\n- cabbage",
        "bananas: against; avocado: against; dried fruit: against; apples: allowed; cabbage: allowed",
    ),
    (
        "**Don't:**\n1. Drink alcohol on an empty stomach\n2. Take ibuprofen\n\n**Do:**\n1. Walk\n2. Take metformin",
        "alcohol: against; ibuprofen: against; Walk: allowed; metformin: allowed",
    ),
    (
        "## Avoid\n- sprints\n- deadlifts\n## Recommended\n- swimming\n- yoga",
        "sprints: against; deadlifts: against; swimming: allowed; yoga: allowed",
    ),
    ("There is no need to avoid bananas.", "bananas: allowed"),
    ("Metformin is not contraindicated in your case.", "Metformin: allowed"),
    ("You don't have to give up coffee completely.", "coffee: allowed"),
    ("There's no harm in taking acetaminophen now and then.", "acetaminophen: allowed"),
    ("Nothing speaks against a glass of wine at the weekend.", "wine: allowed"),
    ("You asked whether you can take ibuprofen.", "ibuprofen: open"),
    ('Regarding "can I do interval training?": let us wait for the echo first.', "interval training: open"),
    ("Feel free to eat apples and berries.", "apples: allowed; berries: allowed"),
    ("I'd go with acetaminophen rather than ibuprofen.", "acetaminophen: for; ibuprofen: against"),
    ("Swap white rice for barley.", "white rice: against; barley: allowed"),
    ("Ibuprofen can damage your kidneys further, so please don't.", "Ibuprofen: against"),
    ("High-protein diets are too risky for your kidneys.", "High-protein diets: against"),
    ("You're welcome to try swimming, but no diving.", "swimming: allowed; diving: against"),
    ("Skip the beer tonight and drink water instead.", "beer: against; water: allowed"),
    ("Insulin isn't necessary yet, though semaglutide could be started.", "Insulin: against; semaglutide: open"),
]
KOREAN = [
    ("신장이 약하시니 바나나와 감자는 드시지 않는 것이 좋습니다.", "바나나: against; 감자: against"),
    ("지금은 인터벌 운동을 하셔서는 안 됩니다.", "인터벌 운동: against"),
    ("이부프로펜은 절대 복용하지 마십시오.", "이부프로펜: against"),
    ("나프록센은 가급적 쓰지 않으시길 권합니다.", "나프록센: against"),
    ("혈압이 잡힐 때까지 무거운 역기 들기는 미루세요.", "무거운 역기 들기: against"),
    ("당분간 달리기는 보류하는 편이 낫습니다.", "달리기: against"),
    ("식단에서 바나나를 제외하세요.", "바나나: against"),
    ("술은 끊으셔야 합니다.", "술: against"),
    ("국물은 적게 드세요.", "국물: against"),
    ("음주량을 조절하시고 과일 섭취량도 조절해 주세요.", "음주: against; 과일: against"),
    ("디클로페낙은 심부전 환자분께 적합하지 않습니다.", "디클로페낙: against"),
    ("고단백 식단은 신장에 무리가 갈 수 있어 권하지 않습니다.", "고단백 식단: against"),
    (
        "피해야 할 음식:\n- 바나나\n- 토마토\n- 견과류\n\n권장 음식:\n- 사과\n- 양배추",
        "바나나: against; 토마토: against; 견과류: against; 사과: allowed; 양배추: allowed",
    ),
    (
        "**하지 말아야 할 운동**\n1. 전력 질주\n2. 역도\n\n**추천 운동**\n1. 걷기\n2. 수영",
        "전력 질주: against; 역도: against; 걷기: allowed; 수영: allowed",
    ),
    (
        "## 금지\n- 이부프로펜\n- 나프록센\n## 복용 가능\n- 아세트아미노펜",
        "이부프로펜: against; 나프록센: against; 아세트아미노펜: allowed",
    ),
    ("바나나는 드셔도 문제되지 않습니다.", "바나나: allowed"),
    ("메트포르민을 중단하실 필요는 없습니다.", "메트포르민: allowed"),
    ("커피를 꼭 끊어야 하는 것은 아닙니다.", "커피: allowed"),
    ("타이레놀은 드셔도 괜찮습니다.", "타이레놀: for"),
    ("와인 한 잔 정도는 해롭지 않습니다.", "와인: allowed"),
    ("인터벌 운동을 해도 되는지 물어보셨는데, 우선 심장 초음파부터 보겠습니다.", "인터벌 운동: open"),
    ("이부프로펜을 먹어도 되나요라고 하셨지요.", "이부프로펜: open"),
    ("걷기는 체중을 줄이는 데 좋습니다.", "걷기: allowed"),
    ("이부프로펜 대신 아세트아미노펜을 쓰세요.", "이부프로펜: against; 아세트아미노펜: for"),
    ("흰쌀밥을 보리밥으로 바꾸세요.", "보리밥: allowed"),
    ("이부프로펜은 신장 기능을 떨어뜨리므로 드시면 위험합니다.", "이부프로펜: against"),
    ("수영은 좋지만 다이빙은 안 됩니다.", "수영: allowed; 다이빙: against"),
    ("오늘 맥주는 거르시고 물을 드세요.", "맥주: against; 물: allowed"),
    ("인슐린은 아직 필요하지 않지만 세마글루타이드는 고려해 볼 만합니다.", "인슐린: against; 세마글루타이드: for"),
    ("규칙적인 걷기는 스트레스와 혈압을 줄여 주므로 꾸준히 하세요.", "걷기: allowed"),
]


@pytest.mark.parametrize(("text", "expected"), ENGLISH + KOREAN)
def test_words_of_an_answer_stand_as_its_reader_understands_them(text: str, expected: str) -> None:
    check_standing(text, expected)
