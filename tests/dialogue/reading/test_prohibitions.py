"""What forbids and what permits: the wordings of advice in two languages, under headings, in labels and as verdicts."""

from __future__ import annotations

import pytest
from mentions_in_words import check_mentions
from standing_in_words import check_standing

FORBIDDEN_IN_ENGLISH = [
    "For you, bananas are simply not an option.",
    "Bread is fine, while bananas are generally not recommended.",
    "I'd avoid bananas for now.",
    "bananas is best avoided.",
    "Stay away from bananas.",
    "Please stay away from foods like bananas.",
    "It would be better to leave bananas alone.",
    "bananas is not for you.",
    "No bananas, please.",
    "No more bananas for a month.",
    "bananas may not be used.",
    "bananas cannot be recommended.",
    "I can't recommend bananas.",
    "I am not in favor of bananas.",
    "I advise against bananas.",
    "You should refrain from bananas.",
    "You should keep bananas to a minimum.",
    "bananas is contraindicated.",
    "bananas must be avoided at all costs.",
    "bananas could harm your kidneys and should therefore be avoided.",
    "Don't even think about bananas.",
    "Rather than bananas, walk.",
    "Swap bananas for walking.",
    "You should be cutting back on bananas.",
    "The following are not allowed: bananas and beer.",
    "bananas and beer are not allowed.",
    "You have to give up bananas.",
    "Please abstain from bananas.",
    "It's time to quit bananas.",
    "bananas: avoid.",
    "bananas → avoid",
    "- bananas (not allowed)",
    "- No bananas",
    "- Never bananas",
    "You should skip bananas today.",
    "You shouldn't be doing bananas.",
    "You should not be taking bananas.",
    "You must not be given bananas.",
    "You are not to take bananas.",
    "Taking bananas is not advisable.",
    "Taking bananas would be dangerous.",
    "Eating bananas is a bad idea.",
    "Using bananas is not recommended.",
    "Do not use bananas.",
    "You should not use bananas or take bananas.",
    "reduce bananas",
    "Reduce the amount of bananas you eat.",
    "Reduce your bananas intake.",
    "Hold off on bananas.",
    "Say no to bananas.",
]
PERMITTED_IN_ENGLISH = [
    "Please don't worry about eating bananas.",
    "There is no reason to avoid bananas.",
    "You don't need to avoid bananas.",
    "It's not necessary to give up bananas.",
    "It is not necessary to stop bananas.",
    "bananas is not off limits.",
    "bananas isn't forbidden.",
    "bananas will not harm your kidneys.",
    "bananas does not raise your blood sugar.",
    "bananas won't hurt you.",
    "Don't skip your bananas.",
    "Never stop bananas on your own.",
    "Do not miss a dose of bananas.",
    "bananas is safe and does not need to be avoided.",
    "Don't hesitate to use bananas.",
    "Don't forget to take bananas.",
    "Do not stop taking bananas without talking to us.",
    "Not only bananas but also walking helps.",
    "You can have bananas without any problem.",
    "bananas can be eaten without worry.",
    "Walking helps you reduce weight and avoid complications; do bananas daily.",
    "bananas helps you lose weight and reduce stress.",
    "bananas is great for reducing blood pressure.",
    "To reduce your risk, start bananas.",
    "You have no restrictions on bananas.",
    "There is nothing wrong with bananas.",
    "A little bananas is fine.",
    "It's not too late to start bananas.",
    "bananas is not a bad choice.",
    "I see no problem with bananas.",
    "You can do bananas; stop if you feel dizzy.",
    "Continue bananas and avoid alcohol.",
    "Avoid alcohol and eat bananas.",
    "Do not eat salt, but bananas is fine.",
    "Avoid salt; choose bananas.",
    "Instead of beer, drink bananas.",
    "Drink bananas instead of beer.",
    "Do bananas at low intensity, not fast.",
    "Cut out sugar and enjoy bananas.",
    "Start with bananas, avoiding sudden effort.",
    "Limit salt to 5 g a day and do bananas.",
]
FORBIDDEN_IN_KOREAN = [
    "이번 달에는 바나나를 쉬시고 사과를 드세요.",
    "바나나는 피하십시오.",
    "바나나를 드시면 안 됩니다.",
    "바나나는 안 드시는 게 좋습니다.",
    "바나나는 드시지 않으셔야 합니다.",
    "바나나는 금물입니다.",
    "바나나는 삼가 주세요.",
    "바나나는 권장되지 않습니다.",
    "바나나는 추천하지 않습니다.",
    "바나나는 추천드리지 않습니다.",
    "바나나는 자제하시는 것이 좋겠습니다.",
    "바나나를 멀리하세요.",
    "바나나는 다음 진료 때까지 미뤄 두세요.",
    "바나나는 하지 않는 것이 안전합니다.",
    "바나나는 하지 마셔야 합니다.",
    "바나나는 무리입니다.",
    "바나나는 위험합니다.",
    "바나나는 해롭습니다.",
    "바나나를 식단에서 빼세요.",
    "바나나를 줄이세요.",
    "바나나 섭취를 줄이셔야 합니다.",
    "바나나 섭취량을 조절하세요.",
    "바나나의 양을 줄이세요.",
    "바나나의 섭취를 제한하세요.",
    "바나나, 감자, 토마토는 제한하세요.",
    "바나나나 감자는 드시지 마세요.",
    "바나나를 복용하시면 위험합니다.",
    "바나나는 콩팥을 해칠 수 있으니 복용하지 않도록 하세요.",
    "바나나는 신장에 해로우므로 드시지 마세요.",
    "바나나는 절대로 안 됩니다.",
    "바나나는 끊으세요.",
    "바나나는 금지입니다.",
    "바나나: 금지",
    "바나나 - 피하세요",
    "바나나(금지)",
    "- 바나나: 드시지 마세요",
    "주의: 바나나 금지",
    "바나나는 보류하겠습니다.",
    "바나나는 제외합니다.",
    "바나나를 처방해 드릴 수 없습니다.",
    "바나나를 쓸 수 없습니다.",
    "바나나는 적게 드시는 것이 좋습니다.",
    "바나나는 드시지 않도록 주의하세요.",
    "바나나를 먹지 않는 것이 좋습니다.",
    "바나나 복용은 피해 주세요.",
    "바나나 복용을 중단하세요.",
    "바나나 섭취를 삼가고 물을 드세요.",
    "바나나는 심장에 무리가 갈 수 있으므로 하지 마세요.",
]
PERMITTED_IN_KOREAN = [
    "바나나 한두 개는 크게 문제 되지 않습니다.",
    "바나나를 하루 한 개씩 드셔 보시길 바랍니다.",
    "바나나는 피하지 않으셔도 됩니다.",
    "바나나를 피할 이유는 없습니다.",
    "바나나를 굳이 제한할 필요는 없습니다.",
    "바나나는 금기가 아닙니다.",
    "바나나를 드셔도 문제가 없습니다.",
    "바나나는 괜찮습니다.",
    "바나나는 신장에 부담을 주지 않습니다.",
    "바나나는 혈당을 올리지 않습니다.",
    "바나나를 임의로 중단하지 마세요.",
    "바나나를 거르지 마세요.",
    "바나나는 체중을 줄이는 데 도움이 됩니다.",
    "바나나로 뱃살을 줄이세요.",
    "바나나는 위험을 줄여 줍니다.",
    "술을 줄이고 바나나를 드세요.",
    "짠 음식은 피하시고 바나나를 드세요.",
    "맥주 대신 바나나를 드세요.",
    "바나나는 무리하지 않는 선에서 하세요.",
    "무리하지 말고 바나나를 하세요.",
    "바나나는 나쁘지 않습니다.",
    "바나나는 제한 없이 드셔도 됩니다.",
    "바나나를 드시는 데 제한은 없습니다.",
    "바나나를 미루지 말고 시작하세요.",
    "걱정하지 마시고 바나나를 드세요.",
    "바나나 섭취에는 문제가 되지 않습니다.",
    "단순한 혈당 문제가 아니라 다음이 중요합니다:\n- 바나나",
    "약을 거르지 말고 바나나를 하세요.",
    "바나나는 반드시 피해야 하는 것은 아닙니다.",
    "바나나는 금지 음식이 아닙니다.",
]
DENIALS = [
    *("You should not", "You must not", "You shouldn't", "Never", "Do not", "Please don't", "You are not allowed to"),
    *("It is not safe to", "It's not a good idea to", "I don't recommend that you", "We do not want you to"),
    *("It is better not to", "It's dangerous to", "It is too risky for you to", "There is no reason to"),
    *("Nobody with your kidneys should", "At no point should you", "You are forbidden to", "It isn't advisable to"),
]
ACTIONS = [
    *("eat bananas", "take ibuprofen", "use ibuprofen", "do interval training", "go for interval training"),
    *("engage in interval training", "eat foods rich in potassium", "reach for ibuprofen", "start taking ibuprofen"),
]
UNDER_HEADINGS = [
    ("Foods to avoid:\n- bananas\n- potatoes\nGood choices:\n- apples", "potatoes: avoided; apples: mentioned"),
    ("Foods to avoid:\n- bananas\n\nApples are fine.", "bananas: avoided; Apples: advised"),
    ("**Avoid:**\n* bananas\n\n**Choose:**\n* apples", "bananas: avoided; apples: allowed"),
    ("## Foods to avoid\n- **Fruit:** bananas, oranges\n## Snacks\n- nuts", "oranges: avoided; nuts: mentioned"),
    ("1. Avoid:\n   - bananas\n2. Enjoy:\n   - apples", "bananas: avoided; apples: allowed"),
    ("Avoid:\n- Fruit:\n  - bananas\n- Vegetables:\n  - potatoes", "bananas: avoided; potatoes: avoided"),
    ("1. Foods to avoid: bananas\n2. Walk every day.", "bananas: avoided; Walk: mentioned"),
    ("What to avoid\n- bananas\n- beer", "bananas: avoided; beer: avoided"),
    ("Avoid the following: bananas and beer.", "bananas: avoided; beer: avoided"),
    ("Avoid bananas: apples are better.", "bananas: avoided; apples: mentioned"),
    ("Contraindicated: ibuprofen", "ibuprofen: avoided"),
    ("피해야 할 음식:\n- 바나나\n- 감자\n추천 음식:\n- 사과", "감자: avoided; 사과: mentioned"),
    ("피해야 할 음식:\n- 바나나\n\n사과는 괜찮습니다.", "바나나: avoided; 사과: advised"),
    ("**피해야 할 음식**\n* 바나나\n\n**좋은 음식**\n* 사과", "바나나: avoided; 사과: mentioned"),
    ("다음 음식은 피하세요:\n- 바나나\n- 감자", "바나나: avoided; 감자: avoided"),
    ("다음 음식은 피하세요: 바나나, 감자.", "바나나: avoided; 감자: avoided"),
    ("피해야 할 음식: 바나나, 감자 등이 있습니다.", "바나나: avoided; 감자: avoided"),
    ("금지 식품: 바나나", "바나나: avoided"),
    ("무리하지 말고 다음 운동을 하세요:\n- 걷기", "걷기: allowed"),
    ("술은 피하세요: 물을 드세요.", "술: avoided; 물: advised"),
]
VERDICTS = [
    *(("bananas – avoid", "bananas: avoided"), ("bananas: not recommended", "bananas: negated")),
    *(("| bananas | avoid |", "bananas: avoided"), ("- bananas (not allowed)", "bananas: negated")),
    *(
        ("바나나: 피하기", "바나나: avoided"),
        ("바나나(금지)", "바나나: avoided"),
        ("- 바나나: 드시지 마세요", "바나나: avoided"),
    ),
    ("Ibuprofen harms the kidneys and should be avoided.", "Ibuprofen: avoided"),
    ("If you feel dizzy while walking, stop.", "walking: hypothetical"),
]
REDUCED = [
    *(
        ("걷기는 {}을 줄이는 데 좋습니다.", each)
        for each in ("체중", "위험", "지방", "뱃살", "통증", "증상", "혈압", "혈당")
    ),
    *(("Walking is good to reduce {} and to sleep.", each) for each in ("weight", "stress", "pain", "blood pressure")),
    *(("Walking helps you to reduce your {}.", each) for each in ("risk", "weight", "LDL", "symptoms")),
]


def only_word(text: str) -> str:
    return next(word for word in ("bananas", "바나나") if word in text)


@pytest.mark.parametrize("text", FORBIDDEN_IN_ENGLISH + FORBIDDEN_IN_KOREAN)
def test_what_is_forbidden_is_no_advice(text: str) -> None:
    check_standing(text, f"{only_word(text)}: against")


@pytest.mark.parametrize("text", PERMITTED_IN_ENGLISH + PERMITTED_IN_KOREAN)
def test_what_is_permitted_or_only_spoken_of_is_not_forbidden(text: str) -> None:
    check_standing(text, f"{only_word(text)}: allowed")


@pytest.mark.parametrize("denial", DENIALS)
def test_a_denial_holds_for_what_must_not_be_done(denial: str) -> None:
    for action in ACTIONS:
        words = " ".join(action.split()[-2:]) if "training" in action else action.split()[-1]
        check_standing(f"{denial} {action} because you have heart failure.", f"{words}: against")


@pytest.mark.parametrize(("text", "expected"), UNDER_HEADINGS)
def test_a_heading_or_a_label_holds_for_its_own_list_alone(text: str, expected: str) -> None:
    check_standing(text, expected)


@pytest.mark.parametrize(("text", "expected"), VERDICTS)
def test_a_verdict_holds_for_what_stands_before_it(text: str, expected: str) -> None:
    check_standing(text, expected)


@pytest.mark.parametrize(("text", "what"), REDUCED)
def test_to_reduce_a_weight_a_risk_or_a_symptom_is_no_advice_against_anything(text: str, what: str) -> None:
    check_standing(text.format(what), f"{text.split(maxsplit=1)[0].removesuffix('는')}: allowed")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You do not need to avoid metformin.", "metformin: asserted"),
        ("You have asthma and should not be taking propranolol.", "asthma: asserted; propranolol: negated"),
        (
            "Your diabetes is not dangerous, and metformin is not contraindicated.",
            "diabetes mellitus: asserted; metformin: asserted",
        ),
        ("메트포르민 용량을 조절하세요. 현재 메트포르민을 복용 중이십니다.", "metformin: asserted"),
        ("To reduce your HbA1c of 8.1%, continue metformin.", "hba1c:8.1: asserted; metformin: asserted"),
        ("당뇨병이 심하지 않습니다. 현재 당뇨병을 앓고 계십니다.", "diabetes mellitus: asserted"),
        ("메트포르민은 혈당을 올리지 않습니다.", "metformin: mentioned"),
        ("메트포르민은 복용을 하고 있지 않습니다.", "metformin: negated"),
    ],
)
def test_facts_beside_such_words_stay_facts(text: str, expected: str) -> None:
    check_mentions(text, expected)
