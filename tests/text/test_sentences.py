"""Where sentences begin and end, in three languages and on hostile text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.text.sentences import sentence_spans

TRICKY = st.text(
    st.sampled_from("aAMdé가다요.!?…。 \n\r\t\u00a0\u202f\u2028\u0085\x1c\"'“”«»()[]-*•1239,:/w\ud800😀\u0301"),
    max_size=60,
)

ENGLISH = [
    "Dr. Smith met Mrs. Jones at 3.14 p.m. on Monday.|They left.",
    "J. K. Rowling wrote it.|W. E. B. Du Bois did not.",
    "Use a blend, e.g. Arabica, i.e. beans.|Then wait.",
    "See Fig. 3 and vol. 2, pp. 3-5.|It is clear.",
    "About approx. 5 km from St. Petersburg.|Go there.",
    "The U.S. Army is large.|He lives in the U.S.|He left.",
    "It was World War I.|He fought.",
    "Really?!|Yes!|No.",
    "Well... he left.|So did she.",
    "He left…|Then he came back.",
    "He said “I don’t know. Sorry.”|Then he left.",
    "“Why?” she asked.|He left.",
    "(He left. She stayed.)|Then it rained.",
    "Visit https://example.com/a.b?x=1.|Then go on.",
    "See Paris at www.example.fr.|Then go on.",
    "Write to a.b@example.com.|Thanks.",
    "Version 1.2.3 is out.|Get it.",
    "The tower is 330 m.|It took 5 h. of work by J. S. Bach.|Yes.",
    "Great!|Thanks 😀.|Bye.",
    "Wait... ???|What?",
    'He said: "We left. They stayed." and sat down.|Then it rained.',
    '"We left.|"They stayed for long. It rained," he said.',  # one mark is never closed: the other sentences are seen
    'He called it "fine".|Then he left.|"Good," she said.',
    'It ended well."|The court rose.',
    'The answer was "by the sea"." was not said.|Then it rained.',
    "'Come in.'|She sat down.|The players' room was full.|'Good.'|It's Tom's.",
    "the team 's best game .|The club ' s fans sang .",
    "Really ?|Yes !|No , not at all ! thanks",
    "The wind reaches 12 m/s.|The pressure is 1,020 hPa.",
    "It was found.[1][2]|It was lost. [3]|It was sold.",
    "It is (see below. There is more) here.|(Not so.)|Really.",
    "It (so they say.) Is fine.|He met Mr . Bloom.|They talked.",
    "Foo Inc. Tom Smith sold apples, pears, etc.|The shop closed.|That was in Jan. Tom left.",
    "I. M. Pei built it.|It is at 5 Main St. Paul lives there.",
    "She has a Ph.D.|Her paper, Smith v. The State, is at p. 7, U.S. May 2018.|In Washington, D.C.|He left.",
    "It (he said “yes. No” and left) ended.|Then.",
    "Call `a.B.` or `c.D` first.|Then `x`.",
    "Yahoo!'s shop.|Did he go?; no.|It is so: the “big.”|One.",
    "Leaders . . . . 25 and more.... 12 pages.|Then.",
]
FRENCH = [
    "M. Dupont est arrivé.|Le Dr. Martin de l'O.M.S. a parlé.",
    "Mme. Curie, p. ex. Marie, vivait à Paris.|Elle y travaillait.",
    "Voir art. 5 du code et env. 300 pages.|C'est long.",
    "En 52 av. J.-C. il régnait.|Il mourut en 44 av. J.-C.|Octave suivit.",
    "J.-P. Sartre écrit.|Il refuse le prix.",
    "« Bonjour. »|Il part.",
    "Il a dit : « Je pars. Tu restes. »|Puis il est parti.",
    "Vraiment\u202f?|Oui\u00a0!|Non…|Peut-être.",
    "Le prix est de 3,14 €.|C'est cher.",
    "Des pommes, des poires, etc.|Elle les vend.|Voir J. Le Goff et la p. ex. Dupont.",
    "La tour mesure 330\u00a0m.|Elle pèse 7000 t.|M. Eiffel l'a bâtie.",
]
KOREAN = [
    "저는 모릅니다.|정말요?|네!",
    "그것은 3.14입니다.|맞습니까?|그래요.",
    '그는 "모른다. 정말이다."라고 말했다.|그리고 갔다.',
    "이 법은 2020. 1. 5. 공포되었다.|곧 시행되었다.",
    "2020. 1. 5. 공포되었다.",
    "저는 갑니다.그리고 옵니다.",
    "그렇다...|아니다!",
    "탑의 높이는 330 m.|파리에 있다.",
    "Dr. Kim은 왔다.|안녕하세요~ 반갑습니다",
]


def sentences(text: str, language: str | None) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, language=language)]


@pytest.mark.parametrize("knows_language", [True, False], ids=["told", "not told"])
@pytest.mark.parametrize(
    ("language", "marked"),
    [(language, text) for language, texts in (("en", ENGLISH), ("fr", FRENCH), ("ko", KOREAN)) for text in texts],
)
def test_sentences_end_where_a_reader_ends_them(language: str, marked: str, *, knows_language: bool) -> None:
    expected = ["저는 갑니다.", "그리고 옵니다."] if "갑니다.그" in marked else marked.split("|")
    text = marked.replace("|", " ")
    assert sentences(text, language if knows_language else None) == expected


def test_lines_and_list_items_are_sentences_of_their_own() -> None:
    text = "Title\n1. First item. It is good.\r\n2. Second\n\n- one\n* two\n\t• three\u2028(a) four"
    assert sentences(text, None) == [
        "Title",
        "1. First item.",
        "It is good.",
        "2. Second",
        "- one",
        "* two",
        "• three",
        "(a) four",
    ]


def test_korean_lines_without_marks_are_sentences() -> None:
    assert sentences("저는 학생입니다\n서울에 삽니다", "ko") == ["저는 학생입니다", "서울에 삽니다"]


def test_marks_of_other_scripts_end_sentences() -> None:
    assert sentences("यह है। वह है।", "hi") == ["यह है।", "वह है।"]
    assert sentences("これは本です。それは猫です。", "ja") == ["これは本です。", "それは猫です。"]


def test_marks_without_words_join_the_sentence_before_them() -> None:
    assert sentences('He left. ")', None) == ['He left. ")']


@pytest.mark.parametrize("empty", ["", " ", "\n \u00a0\u3000\r\n"])
def test_white_space_has_no_sentences(empty: str) -> None:
    assert sentence_spans(empty) == []


@given(st.text() | TRICKY, st.sampled_from(["en", "fr", "ko", "de", None]))
def test_sentences_are_ordered_trimmed_and_leave_out_only_white_space(text: str, language: str | None) -> None:
    done = 0
    for start, end in sentence_spans(text, language=language):
        assert done <= start < end <= len(text)
        assert not text[done:start].strip()
        assert text[start:end] == text[start:end].strip()
        done = end
    assert not text[done:].strip()


@pytest.mark.parametrize(
    "unit", ["It is so. ", "a. ", "! ", "1. ", "(", "\n", '" ', "A.-", "www.", "http://a. B", "가."]
)
def test_a_long_text_of_one_repeated_pattern_is_split_to_its_end(unit: str) -> None:
    # A rule that looks back over the whole text at every step would not come to its end here.
    text = unit * (200_000 // len(unit))
    spans = sentence_spans(text)
    assert all(start < end for start, end in spans)
    assert "".join(text[start:end] for start, end in spans).replace(" ", "") == "".join(text.split())
