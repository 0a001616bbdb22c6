"""Which parts of a Korean response are claims; every expected list was made by hand."""

from __future__ import annotations

import unicodedata

import pytest
from extracted_claims import clauses, sentences


@pytest.mark.parametrize(
    "text",
    [
        "세종대왕은 1397. 5. 15. 서울에서 태어났습니다.",
        "1950년에 태어났을 가능성이 있습니다.",
        "확실하지 않지만 1950년에 태어났습니다.",
        "네덜란드는 유럽에 있습니다.",
        "그는 “어디 가니?”라고 물었습니다.",
        "참고로 서울의 인구는 약 940만 명입니다.",
        "서울",
    ],
)
def test_a_statement_is_one_claim_as_it_stands(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "안녕하세요!",
        "네, 알겠습니다.",
        "물론입니다! 설명해 드리겠습니다.",
        "좋은 질문입니다.",
        "도움이 되었으면 좋겠습니다!",
        "더 궁금한 점이 있으시면 언제든지 말씀해 주세요.",
        "다른 것도 알고 싶으신가요?",
        "저는 인공지능 언어 모델입니다.",
        "잘 모르겠습니다.",
        "죄송하지만 답변을 드릴 수 없습니다.",
        "관련 정보를 찾을 수 없습니다.",
        "주요 업적은 다음과 같습니다:",
        "주요 업적은 다음과 같습니다.",
        "요약하면:",
        "주요 특징:",
        "출처: https://example.kr/page",
        "# 서울의 역사",
    ],
)
def test_what_asserts_nothing_is_no_claim(text: str) -> None:
    assert sentences(text) == []
    assert clauses(text) == []


def test_a_whole_answer() -> None:
    text = (
        "안녕하세요! 세종대왕은 조선의 왕입니다. 업적은 다음과 같습니다:\n1. 훈민정음을 창제했습니다.\n"
        "② 측우기를 만들었습니다.\n- **장영실**: 과학자\n도움이 되었으면 좋겠습니다!"
    )
    assert sentences(text) == [
        "세종대왕은 조선의 왕입니다.",
        "훈민정음을 창제했습니다.",
        "측우기를 만들었습니다.",
        "**장영실**: 과학자",
    ]


def test_decomposed_letters_are_understood() -> None:
    assert sentences(unicodedata.normalize("NFD", "안녕하세요! 도움이 되었으면 좋겠습니다!")) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("그는 1397년에 태어났고, 1450년에 죽었습니다.", ["그는 1397년에 태어났고", "1450년에 죽었습니다."]),
        ("서울은 수도이며 인구가 많습니다.", ["서울은 수도이며", "인구가 많습니다."]),
        ("그는 책을 좋아했지만 건강이 나빴습니다.", ["그는 책을 좋아했지만", "건강이 나빴습니다."]),
        ("비가 왔는데 경기는 열렸습니다.", ["비가 왔는데", "경기는 열렸습니다."]),
        ("산은 높으나 길이 좋습니다.", ["산은 높으나", "길이 좋습니다."]),
        ("그는 책을 읽고 있었습니다.", ["그는 책을 읽고 있었습니다."]),
        ("그는 서울에 살고 싶다고 말했습니다.", ["그는 서울에 살고 싶다고 말했습니다."]),
        ("그 사고 이후 최고 기록이 나왔습니다.", ["그 사고 이후 최고 기록이 나왔습니다."]),
        ("그는 왕이라고 불렸습니다.", ["그는 왕이라고 불렸습니다."]),
        ("방은 2명까지만 머물 수 있습니다.", ["방은 2명까지만 머물 수 있습니다."]),
        ("비에도 불구하고 경기는 열렸습니다.", ["비에도 불구하고 경기는 열렸습니다."]),
        ("그는 “나는 늙었지만 강하다”라고 했습니다.", ["그는 “나는 늙었지만 강하다”라고 했습니다."]),
    ],
)
def test_sentences_are_cut_into_clauses(text: str, expected: list[str]) -> None:
    assert clauses(text) == expected
