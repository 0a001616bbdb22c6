"""What an engine writes about a page instead of from it; texts are made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growing_texts import check_growth
from hallumeter.records.rate import Rate
from hallumeter.transcripts.page_reading import read_page
from hallumeter.transcripts.remarks import find_remarks

PAGE = "Icy commence le prologue de maistre Jehan Froissart, qui conte des guerres de France et d'Angleterre"


def found(text: str) -> list[tuple[str, str]]:
    return [(each.kind, text[each.start : each.end]) for each in find_remarks(text)]


def kinds(text: str) -> list[str]:
    return [kind for kind, _ in found(text)]


@pytest.mark.parametrize(
    "text",
    [
        "I cannot read the handwriting in this image.",
        "I can’t transcribe this page: the print is too small.",
        "The image is too blurry to decipher. Please try another image.",
        "Could you upload a higher-resolution scan of the page?",
        "There is no legible text in this image.",
        "As a text-based assistant, I'm not able to open the file.",
        "Je ne peux pas lire cette image.",
        "L'image est trop floue pour être transcrite.",
        "Ich kann die Schrift auf diesem Bild nicht lesen.",
        "Das Bild ist zu unscharf. Bitte ein besseres Bild hochladen.",
        "이미지가 흐릿해서 글씨를 읽을 수 없습니다.",
        "이 문서는 판독할 수 없습니다. 더 선명한 이미지를 올려 주세요.",
    ],
)
def test_a_refusal_is_found_in_four_languages(text: str) -> None:
    assert set(kinds(text)) == {"refusal"}


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't transcribe this image.",
        "Désolé, je ne peux pas déchiffrer ce document.",
        "Es tut mir leid, ich kann diesen Text nicht lesen.",
        "죄송하지만 이 이미지를 읽을 수 없습니다.",
        "죄송하지만 이 이미지를 전사할 수 없습니다.",
        "죄송합니다만, 사진의 글자를 옮겨 적을 수 없습니다.",
        "I'm sorry, I can't help with that.",
    ],
)
def test_an_apology_stands_before_its_refusal(text: str) -> None:
    assert kinds(text) == ["apology", "refusal"]


@pytest.mark.parametrize(
    "text",
    [
        "Here is the transcription:",
        "Sure! Here's the text of the image:",
        "**Transcription:**",
        "### Transcription of the Image",
        "Let me know if you need anything else!",
        "Voici la transcription :",
        "N'hésitez pas à me demander autre chose.",
        "Hier ist die Transkription:",
        "Lassen Sie mich wissen, wenn Sie mehr brauchen.",
        "다음은 이미지의 텍스트를 전사한 내용입니다:",
        "더 필요하시면 말씀해 주세요.",
        "```markdown",
    ],
)
def test_a_wrapper_is_found_in_four_languages(text: str) -> None:
    assert set(kinds(f"{text}\nDear Sir")) == {"wrapper"}
    assert set(kinds(f"Dear Sir\n{text}")) == {"wrapper"}


@pytest.mark.parametrize(
    "note",
    [
        "[illegible]",
        "[[illegible words]]",
        "[handwritten note]",
        "[signature]",
        "(illegible)",
        "[Image: a portrait of a man in uniform]",
        "![seal](seal.png)",
        "[illisible]",
        "[signature du maire]",
        "[unleserlich]",
        "[Unterschrift]",
        "[판독 불가]",
        "[서명]",
    ],
)
def test_a_note_is_found_in_four_languages(note: str) -> None:
    assert found(f"Dear Sir {note} yours") == [("note", note)]


@pytest.mark.parametrize(
    "text",
    [
        "The image shows a handwritten letter of 1850.",
        "This appears to be a page of a ledger.",
        "L'image montre une lettre manuscrite.",
        "Das Bild zeigt einen Brief.",
        "이미지는 오래된 편지를 보여 줍니다.",
    ],
)
def test_a_description_is_found_in_four_languages(text: str) -> None:
    assert kinds(text) == ["description"]


@pytest.mark.parametrize(
    "text",
    [
        "I am so sorry that I could not see you in town.",
        "I regret that I cannot come to London before the tenth.",
        "If you can't read much of a page, save it and move to another document",
        "Do not guess at heavily damaged or illegible text",
        "to these [heathen] lands [*25*] [X] [?] (who knows)",
        "[Captain Seventh United States Colored Infantry]",
        "I cannot help you, my dear friend, nor read your mind.",
        "The king shows mercy. It is a fair day in a fair land.",
        "Table of Contents",
        "The President's message is a document of considerable length",
        "Note: the train leaves at seven.",
        "Sure of himself, he went on",
        "Notes on the war and on a page of it",
        "The old man who came to us from the far north shows a page of the book",
        "Smith: twelve dollars",
        "Mit freundlichen Grüßen, Ihr Karl",
        "어제 서울에 갔습니다.",
        "** **",
        "",
    ],
)
def test_what_stands_in_letters_and_books_is_no_remark(text: str) -> None:
    assert found(text) == []


def test_the_name_of_a_part_is_a_note_and_what_follows_it_is_read() -> None:
    assert found("[Left page: Dear Sir]") == [("note", "[Left page")]
    assert found("Top right: Dear Sir") == [("note", "Top right")]
    assert found("**Postcard front**\nDear Sir") == [("note", "**Postcard front**")]
    assert found("[Handwritten, top left: Dear Sir]") == [("note", "[Handwritten, top left")]
    assert found("[Handwritten note in the margin: illegible]") == [
        ("note", "[Handwritten note in the margin: illegible]")
    ]
    assert found("[Left column: Dear Sir, I write to you in great haste and hope that this finds you well]") == [
        ("note", "[Left column")
    ]


def test_what_follows_a_refusal_or_a_description_belongs_to_it() -> None:
    text = "This is a page of a ledger. It is old. It has these columns:\n- No.\n- Name\nSmith"
    assert [each[1] for each in found(text)] == [
        "This is a page of a ledger.",
        "It is old.",
        "It has these columns:",
        "- No.",
        "- Name",
    ]
    assert kinds("I cannot read this image. Would you like me to try again?") == ["refusal", "refusal"]
    assert kinds("I cannot read this image.\nFeel free to send another.") == ["refusal", "refusal"]


def test_remarks_on_the_transcription_are_notes() -> None:
    text = "Note: some words of the text are guessed."
    assert found(text) == [("note", text)]
    assert found("**Notes:**\nAbel") == [("note", "**Notes:**")]
    assert found("(Transcription notes: parts of the page are guessed)") == [
        ("note", "(Transcription notes: parts of the page are guessed)")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "**Note:** Some words were hard to read, and I have marked them as best I could.",
        "*Hinweis*: Einige Wörter waren schwer lesbar.",
        "**Note\u202f:** certains mots sont difficiles à lire.",
        "Note\u00a0: certains mots sont difficiles à lire.",
        "**참고:** 일부 글자는 흐려서 정확하지 않을 수 있습니다.",
        "[Note: The bottom of the letter appears to be cut off]",
        "[Anmerkung: Das Siegel fehlt.]",
    ],
)
def test_a_note_is_one_remark_from_its_head_to_its_end(text: str) -> None:
    assert found(f"Dear Sir\n\n{text}") == [("note", text)]


def test_what_follows_a_note_on_its_line_belongs_to_it_and_the_next_line_does_not() -> None:
    text = "**Note:** The page is torn. I did my best.\nDear Sir"
    assert found(text) == [("note", "**Note:** The page is torn."), ("note", "I did my best.")]


def test_an_emphasised_note_that_does_not_speak_of_the_page_is_read() -> None:
    assert found("**Note:** the train leaves at seven.") == [("note", "**Note:**")]


def test_a_long_row_of_tildes_is_a_rule_and_no_fence() -> None:
    assert kinds("Apples\n~~~~~~~~~~~~\nPears") == []
    assert kinds("~~~\nApples\n~~~") == ["wrapper", "wrapper"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("이 문서는 손글씨로 쓰인 편지입니다.", "description"),
        ("이 사진에는 오래된 편지가 담겨 있습니다.", "description"),
        ("전사한 내용은 다음과 같습니다:", "wrapper"),
        ("물론입니다!", "wrapper"),
    ],
)
def test_korean_endings_and_word_order_are_known(text: str, kind: str) -> None:
    assert found(text) == [(kind, text)]


def test_an_assent_alone_wraps_only_at_the_start() -> None:
    assert kinds("Certainly!\nDear Sir") == ["wrapper"]
    assert kinds("Dear Sir\nCertainly!") == []


def test_a_note_inside_a_refusal_is_part_of_it() -> None:
    text = "I can't read this image, so I marked words as [illegible]."
    assert found(text) == [("refusal", text)]


def test_letters_that_grow_in_lower_case_keep_their_places() -> None:
    assert found("İstanbul [illegible]") == [("note", "[illegible]")]


PIECES = [
    "[",
    "]",
    "(",
    ")",
    "*",
    ":",
    ".",
    "\n",
    " ",
    "image",
    "page",
    "I cannot read",
    "illegible",
    "- ",
    "sorry",
    "top",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=30).map("".join))
def test_remarks_lie_in_the_text_in_order_and_apart(text: str) -> None:
    remarks = find_remarks(text)
    places = [place for each in remarks for place in (each.start, each.end)]
    assert places == sorted(places)
    assert all(0 <= each.start < each.end <= len(text) for each in remarks)


@pytest.mark.long
@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "[a",
        "(a ",
        "*a ",
        "image. ",
        "- page:\n",
        "top: ",
        "I can't read ",
        "[illegible] ",
        "```\n",
        "**Note:** a ",
    ],
)
def test_the_time_grows_with_the_text(unit: str) -> None:
    check_growth(find_remarks, unit, size=40_000)


def test_a_refusal_is_a_remark_and_not_invented() -> None:
    reading = read_page(PAGE, "I'm sorry, but I can't transcribe this image. Please upload a clearer one.")
    assert (reading.block_words, reading.loop_words, reading.remark_words) == (0, 0, 13)
    assert reading.remarks == ("refusal", "apology")
    assert reading.is_refused
    assert not reading.is_wholly_inserted


def test_remarks_count_as_invented_when_that_is_asked_for() -> None:
    response = "I'm sorry, but I can't transcribe this image. Please upload a clearer one."
    reading = read_page(PAGE, response, count_notes=True)
    assert (reading.block_words, reading.remark_words, reading.is_refused) == (11, 0, False)
    assert reading.remarks == ("refusal", "apology")
    assert reading.is_wholly_inserted


def test_a_wrapped_page_with_notes_is_a_clean_page() -> None:
    response = f"Here is the transcription:\n```\n{PAGE} [illegible word]\n```\nLet me know if you need more."
    reading = read_page(PAGE, response)
    assert (reading.block_words, reading.remark_words) == (0, 13)
    assert reading.remarks == ("wrapper", "note")
    assert not reading.is_refused


def test_a_fence_alone_is_a_wrapper_without_a_word() -> None:
    reading = read_page(PAGE, f"```\n{PAGE}\n```")
    assert (reading.remarks, reading.remark_words) == (("wrapper",), 0)


def test_what_is_on_the_page_is_no_remark() -> None:
    page = "Here is the transcription: the image shows a letter [illegible] and I cannot read the page"
    reading = read_page(page, page)
    assert (reading.remarks, reading.remark_words, reading.read_words) == ((), 0, reading.response_words)


def test_words_of_a_remark_that_the_page_has_are_read() -> None:
    reading = read_page(f"{PAGE} [page torn]", f"{PAGE} [page torn and illegible]")
    assert (reading.remarks, reading.remark_words) == (("note",), 2)


def test_a_refusal_beside_a_whole_page_leaves_the_page_read() -> None:
    reading = read_page(PAGE, f"{PAGE}\nI cannot read the rest of this image.")
    assert (reading.remarks, reading.is_refused) == (("refusal",), False)


def test_notes_beyond_the_length_of_the_page_are_a_loop() -> None:
    long_page = " ".join(f"mot{number}" for number in range(100))
    assert read_page(long_page, "[illegible] " * 90).loop_words == 0
    reading = read_page(PAGE, "[illegible] " * 90)
    assert (reading.loop_words, reading.remark_words) == (90, 0)


def test_names_and_numbers_in_remarks_are_not_invented() -> None:
    note = "[Image of General Grant in 1865]"
    reading = read_page("le roi Jean vint", f"le roi Jean vint {note}")
    assert (reading.numbers, reading.names) == (Rate(0, 0), Rate(0, 1))
    counted = read_page("le roi Jean vint", f"le roi Jean vint {note}", count_notes=True)
    assert (counted.numbers.count, counted.names.count) == (1, 3)
