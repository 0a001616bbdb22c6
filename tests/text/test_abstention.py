"""What the detector of refusals promises beyond the table of responses: options, scope, positions, time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.errors import SettingsError
from hallumeter.text import abstention
from hallumeter.text.abstention import Abstention, AbstentionDetector, detect_abstention

PIECES = st.sampled_from(
    [
        *(
            "I don't know",
            "I’m not sure",
            "there is no such person",
            "Je ne sais pas",
            "알 수 없습니다",
            "as an AI",
            "I cannot",
        ),
        *(
            "but",
            "However,",
            "X was born in 1950",
            "Paris",
            "죄송하지만",
            "mais",
            "while",
            "You asked about X",
            "I think",
        ),
        *(
            ".",
            ",",
            "?",
            ":",
            "\n",
            '"',
            "“",
            "»",
            "- ",
            "1. ",
            "\u00a0",
            "\u200b",
            "e\u0301",
            "\u1112\u1161\u11ab",
            "\ud800",
            "İ",
        ),
    ]
)
RESPONSES = st.text() | st.lists(PIECES, max_size=12).map(" ".join) | st.lists(PIECES, max_size=12).map("".join)


@pytest.mark.parametrize("blank", ["", " ", "\n\t ", "\u00a0\u3000", "\u200b", "\ufeff \n"])
def test_an_empty_or_blank_response_abstains(blank: str) -> None:
    assert detect_abstention(blank) == Abstention(True, None, None, None, None, "empty")


@pytest.mark.parametrize("marks", ["...", "-", "?", "😀"])
def test_marks_without_words_are_no_refusal(marks: str) -> None:
    assert detect_abstention(marks).reason == "none"


@given(RESPONSES)
def test_positions_always_point_to_the_words_in_the_response(response: str) -> None:
    found = detect_abstention(response)
    if found.reason == "cue":
        assert found.did_abstain
        assert found.start is not None
        assert found.end is not None
        assert 0 <= found.start < found.end <= len(response)
        assert response[found.start : found.end] == found.cue
        assert not found.is_partial
    else:
        assert (found.cue, found.start, found.end, found.language) == (None, None, None, None)
        assert found.did_abstain == (found.reason == "empty")
    assert found.is_partial == (found.partial_cue is not None)
    assert found.partial_cue is None or found.partial_cue in response


def test_a_language_that_was_not_asked_for_is_not_understood() -> None:
    detector = AbstentionDetector(languages=["fr"])
    assert not detector.detect("I don't know.").did_abstain
    assert detector.detect("Je ne sais pas.").language == "fr"


def test_in_a_language_that_the_weights_do_not_know_cues_decide_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abstention, "WEIGHED_LANGUAGES", ("en",))
    assert detect_abstention("Je ne sais pas.").did_abstain
    assert detect_abstention("Je ne sais pas. Zut, flûte.").is_partial


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(SettingsError, match="no lexicon for the language 'xx'"):
        AbstentionDetector(languages=["xx"])


def test_an_extra_cue_refuses_literally_and_has_no_language() -> None:
    detector = AbstentionDetector(extra_cues=["(see. the lawyers)*", "ask|my lawyer"])
    found = detector.detect("Please ASK|MY  lawyer.")
    assert (found.cue, found.start, found.language, found.reason) == ("ASK|MY  lawyer", 7, None, "cue")
    assert not detector.detect("Please ask my lawyer.").did_abstain


def test_an_extra_cue_has_the_scope_of_every_other() -> None:
    detector = AbstentionDetector(extra_cues=["ask my lawyer"])
    assert not detector.detect("X was born in 1950. For the rest ask my lawyer.").did_abstain


@pytest.mark.parametrize("cue", ["", "  ", "?!"])
def test_an_extra_cue_without_words_is_refused(cue: str) -> None:
    with pytest.raises(SettingsError, match="has no letter or digit"):
        AbstentionDetector(extra_cues=[cue])


def test_a_removed_cue_refuses_no_longer_and_its_neighbours_do() -> None:
    detector = AbstentionDetector(removed_cues=["I’m not sure"])
    assert not detector.detect("I'm not sure who that is.").did_abstain
    assert detector.detect("I am not sure who that is.").did_abstain


def test_the_cue_of_a_detection_can_be_removed() -> None:
    found = detect_abstention("I do not have any reliable information about it.")
    assert found.cue is not None
    detector = AbstentionDetector(removed_cues=[found.cue])
    assert not detector.detect("I do not have any reliable information about it.").did_abstain


def test_a_removed_cue_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SettingsError, match="'I adore it': there is no such cue"):
        AbstentionDetector(removed_cues=["I adore it"])


def test_case_can_be_made_to_count() -> None:
    detector = AbstentionDetector(case_sensitive=True, extra_cues=["NO ANSWER"])
    assert detector.detect("I don't know.").did_abstain
    assert detector.detect("Unable to answer.").did_abstain
    assert detector.detect("NO ANSWER").did_abstain
    assert not detector.detect("I DON'T KNOW.").did_abstain
    assert not detector.detect("no answer was given by Holm in 1912.").did_abstain


@pytest.mark.parametrize(
    ("response", "did_abstain"),
    [
        # A statement of its own before the cue answers; a frame does not.
        ("Holm painted the nave, there is no information about the tower.", False),
        ("Based on the given passages, there is no information about the tower.", True),
        ("No, based on the given passages, it is not clear whether the tower stands.", True),
        ("제공된 문서에 따르면, 그에 대한 정보가 없습니다.", True),
        # What is announced may be the refusal; what is announced after "but" is an answer.
        ("Here is what I found:\nI don't know.", True),
        ("I don't know him. However, I can describe his house:\n- a door\n- a wall", False),
        # Denials of existence stand, whatever is told about something else, until they are taken back.
        ("There is no such treaty. The war ended in 1763.", True),
        ("There is no such treaty. However, the war ended in 1763.", False),
        ("Gremlins do not exist. The legend spread in 1943.", False),
        # A conceded clause is weighed with what follows.
        ("Although the name sounds plausible, I could not find any record of it.", True),
        ("Although I could not find any record, the tower was built in 1260.", False),
        # Quoted words are someone else's.
        ('The sign reads "I don\'t know" in red letters.', False),
        ('I have no information about "The Blue Quill".', True),
        # A clause of courtesies alone says nothing.
        ("Sorry! Well, unfortunately. I have no idea.", True),
        ("There is no “Order of the Quill”.", True),
        ("There is no way around it.", False),
    ],
)
def test_a_refusal_counts_only_when_nothing_is_answered(response: str, *, did_abstain: bool) -> None:
    assert detect_abstention(response).did_abstain is did_abstain


def test_a_hedge_with_content_is_no_abstention() -> None:
    # It generated content about the thing asked for, and that content can be a false acceptance.
    found = detect_abstention("I'm not sure, but I think she was a Danish chemist.")
    assert (found.reason, found.is_partial, found.partial_cue) == ("none", True, "I'm not sure")


PARTIAL = [
    # A clause ends at a semicolon, at a colon, and at a comma before "and he".
    ("I couldn't find her birth date; she studied in Graz.", "I couldn't find"),
    ("I'm not sure about the year: it was 1911 or 1912.", "I'm not sure"),
    ("There is no record of his childhood, and he first appears in 1402 as a notary.", "There is no record"),
    ("Je n'ai pas trouvé sa date de naissance ; elle a étudié à Graz.", "Je n'ai pas trouvé"),
    ("Je ne suis pas sûr de l'année : ce fut 1911 ou 1912.", "Je ne suis pas sûr"),
    ("생년월일은 찾지 못했습니다. 그는 그라츠에서 공부했습니다.", "찾지 못했습니다"),
    ("어린 시절에 대한 기록은 없으나 1402년에 공증인으로 처음 등장합니다.", "기록은 없"),
    # The answer may stand before the refusal.
    ("He was born in Turin in 1901. I could not find out when he died.", "I could not find"),
    ("탑의 높이는 81미터인데, 누가 비용을 댔는지는 모르겠습니다.", "모르겠"),
    # What a source says is content; so is what was promised.
    ("The text does not give the price. According to passage 2, it was sold for ten pounds.", "text does not give"),
    (
        "As an AI, I do not have feelings, but I can give an example. My example is a lost dog.",
        "I do not have feelings",
    ),
    ("I can't draw the chart, so here are the values instead: 12, 15, 19.", "I can't"),
]


@pytest.mark.parametrize(("response", "cue"), PARTIAL)
def test_a_refusal_beside_an_answer_is_partial_and_no_abstention(response: str, cue: str) -> None:
    found = detect_abstention(response)
    assert (found.did_abstain, found.cue, found.is_partial, found.partial_cue) == (False, None, True, cue)


@pytest.mark.parametrize(
    "response",
    [
        # What stands before "so I can't" is why.
        "No human has walked on Mars, so I can't name the first one.",
        "That is private, I'd rather not say.",
        # Marks cut a sentence, and its parts refuse or explain.
        "I cannot answer; the source gives only the name of the author and the year.",
        "That's unknowable: nobody can say how many people will read this sentence.",
        "La question repose sur une prémisse erronée : aucun humain n'a marché sur Mars.",
        "The premise of this question is incorrect: Einstein never received a Grammy.",
        # What stands between a refusal and its conclusion explains it.
        "It is not clear whether it is open. Some say so, others do not. Therefore, the answer cannot be determined.",
        # Asking back instead of answering.
        "Could you clarify which Mercury you're asking about: the planet, the element or the god?",
        "De quel Dupont parlez-vous ? Il me faudrait son prénom.",
        "번역할 문장을 입력해 주세요.",
        # Machines about themselves.
        "As an artificial intelligence, I'm not able to fall in love.",
        "Je suis une IA, je n'ai donc pas de souvenirs d'enfance.",
        "저는 AI 모델이므로 좋아하는 음식이 없습니다.",
        # Casual and polite.
        "nope, never heard of it",
        "J'sais pas trop, désolée.",
        "나도 몰라 ㅠㅠ",
        "고객님의 개인정보는 제공해 드릴 수 없는 점 양해 부탁드립니다.",
        # What a model writes around its answer is nothing.
        "</s>\nI'm sorry, I cannot provide an answer without more context.",
        "'I don't know.'",
    ],
)
def test_a_refusal_with_its_reasons_is_a_whole_one(response: str) -> None:
    found = detect_abstention(response)
    assert (found.did_abstain, found.is_partial) == (True, False)


@pytest.mark.parametrize(
    "response",
    [
        # Single marks are quotation marks; an apostrophe is none.
        "The sailors said 'I don't know' to every question, and the captain let them go.",
        "She answered, 'I cannot help you', and closed the door; the scene ends the first act.",
        "선원들은 모든 질문에 '모르겠습니다'라고 답했고 선장은 그들을 보내 주었다.",
        "The players' 'I don't know' became famous.\nIt was printed 'on every wall.",
        # An offer beside an answer refuses nothing.
        "Marie Curie was born in Warsaw. Could you tell me which of her papers you mean?",
        "홍길동은 허균의 소설에 나오는 가상의 인물입니다.",
        "I can't recommend this restaurant enough: the fish was superb.",
        "On ne peut pas trouver mieux : le poisson était excellent.",
    ],
)
def test_words_of_others_idioms_and_offers_are_no_refusal(response: str) -> None:
    found = detect_abstention(response)
    assert (found.did_abstain, found.is_partial) == (False, False)


@pytest.mark.parametrize(
    "unit",
    [
        *("I don't know. ", "I don't know, ", "\"I don't know ", "sorry, ", "sorry unknown ", "but ", "no no "),
        *(
            "there is no evidence ",
            "e\u0301 ",
            "\u200b\u200b",
            "  \t",
            "a, ",
            "while ",
            "죄송하지만 알 수 없습니다. ",
            "!",
            "'a ",
            "'a\n",
            "; ",
            "so so ",
            ", and he ",
            "</s>",
        ),
    ],
)
def test_a_long_response_of_one_repeated_pattern_is_read_to_its_end(unit: str) -> None:
    # A rule that looks back over the whole text at every step would not come to its end here.
    response = unit * (200_000 // len(unit))
    found = detect_abstention(response)
    assert found.cue is None or response[found.start : found.end] == found.cue


@pytest.mark.parametrize(
    "text",
    [
        "If the record does not exist, the server answers with status 404.",
        "The function raises an error when no match was found.",
        "Répondez 404 si le document n'existe pas.",
        "The firm has no record of wrongdoing and has held its licence since 1990.",
        "The policy does not cover flood damage.",
        "I cannot come to London before the tenth.",
        "I was not able to write sooner, for we marched all night.",
        "I don't know anyone who bakes better bread.",
    ],
)
def test_a_condition_a_shared_subject_and_a_letter_are_no_refusal(text: str) -> None:
    assert not detect_abstention(text).did_abstain


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("If you mean the film, I could not find it.", "en"),
        ("I don't think I can help you with that one.", "en"),
        ("None of the five passages touches on her salary.", "en"),
        ("There is no legible text in this image.", "en"),
        ("Das weiß ich leider nicht.", "de"),
        ("Es tut mir leid, dabei kann ich Ihnen nicht helfen.", "de"),
        ("Der Text enthält keine Angaben dazu.", "de"),
    ],
)
def test_a_refusal_after_a_condition_and_in_german_is_found(text: str, language: str) -> None:
    found = detect_abstention(text)
    assert (found.did_abstain, found.language) == (True, language)


def test_every_clause_that_refuses_is_placed_in_a_text_that_says_other_things_too() -> None:
    text = "Dear Sir, we met in May. I cannot read the rest. It rained; je ne sais pas pourquoi."
    places = [(text[start:end], language) for start, end, language in AbstentionDetector().refusals(text)]
    assert places == [("I cannot", "en"), ("je ne sais pas", "fr")]
    assert AbstentionDetector().refusals("Dear Sir, we met in May.") == []


def test_a_refusal_stands_before_a_request_that_came_first() -> None:
    found = detect_abstention("It is 330 m high. Could you clarify which tower you mean? I don't know who built it.")
    assert (found.is_partial, found.partial_cue) == (True, "I don't know")


@pytest.mark.parametrize(
    "response",
    [
        "That's a blind spot in my knowledge.",
        "I lack insight into that question.",
        "My programming does not include that information.",
        "The brochure in your mail never once tells the price.",
        "Your question falls outside the scope of the supplied material.",
        "J'ai beau chercher, ce point ne m'est pas connu.",
        "Le règlement n'en dit rien.",
        "저한테는 그 파일을 열어 볼 수 있는 기능이 없어요.",
    ],
)
def test_writers_may_admit_in_any_words_that_they_lack_an_answer(response: str) -> None:
    assert detect_abstention(response).did_abstain


@pytest.mark.parametrize(
    "response",
    [
        "My phone doesn't support wireless charging.",
        "I am sure that the museum does not provide wheelchairs.",
        "I told her because nobody else would say no.",
        '"I have no data on that query", said the clerk, and closed the window.',
        '"I have no insight into that matter."',
        "I walked along the river for hours and through the fields behind the mill, then I found the bridge, and none.",
        "Without a word from them, the contract is renewed.",
        "용의자는 사건에 대해 아는 바가 없다고 진술했다.",
        "열쇠를 찾지 못하면 관리실로 전화하세요.",
    ],
)
def test_the_same_words_in_another_relation_are_no_admission(response: str) -> None:
    assert not detect_abstention(response).did_abstain


def test_an_admission_can_be_removed_like_a_cue_and_is_none_where_case_counts() -> None:
    assert not AbstentionDetector(removed_cues=["I'm not sure"]).detect("I'm not sure about that answer.").did_abstain
    assert not AbstentionDetector(case_sensitive=True).detect("I lack insight into that question.").did_abstain


@pytest.mark.parametrize(
    ("response", "does_abstain"),
    [
        ("Sure! How big is your jar? And how many coins do you think are in it?", True),
        ("어느 지점을 말씀하시는 건가요?", True),
        ("What has keys and opens no door?", False),
        ("Do you like it hot? Then add two chillies.", False),
        ("1. Can you describe your work?\n2. Why do you want to leave?", False),
        ("How should a bakery greet its guests?", False),
    ],
)
def test_a_response_of_nothing_but_questions_to_the_reader_asks_back(response: str, does_abstain: bool) -> None:
    assert detect_abstention(response).did_abstain is does_abstain


def test_a_page_that_speaks_in_the_first_person_does_not_refuse() -> None:
    assert AbstentionDetector().refusals("I lack the insight, dear Sir, into that question.") == []


@pytest.mark.parametrize(
    "response",
    [
        # What sends the reader elsewhere, and what goes on about it.
        "Je n'ai pas accès à votre dossier. Nos conseillers vous répondront du lundi au samedi. Ils sont au guichet 4.",
        "Je ne suis pas habilité à conseiller. Je vous invite à voir un point-justice. Ces permanences sont gratuites.",
        "Aucun résultat ne correspond. Vous pouvez également :\n- retirer les filtres\n- parcourir les rubriques",
        "지금 교통 상황은 제가 알 수 없어요. 지도 앱을 켜 보시면 바로 나올 거예요!",
        # "It is" says nothing in a remark on the question, nor where the reader is told to decide.
        "C'est une question très personnelle et je n'ai pas d'avis à donner.",
        "저는 그 논쟁에 의견이 없어요. 대신 다른 이야기를 나누고 싶으시면 말씀해 주세요!",
        # A Korean ending that goes together with the next word closes no clause.
        "해당 정보는 제공하지 않고 있습니다.",
        # Where the thing was looked for may stand last, and the reader's words beside the source.
        "Ce point n'est abordé dans aucun des documents.",
        "Le rapport que vous avez joint n'aborde pas la question du financement.",
        # One stem of a verb in other endings and degrees of politeness.
        "진단은 내려 드릴 수가 없네요.",
        "그건 저희가 알려 드리지는 못합니다.",
        "제가 뭐라고 답하기가 참 곤란합니다.",
        "저로서는 확인해 드릴 방법이 없어요.",
        "의사만 판단할 수 있는 문제예요.",
    ],
)
def test_pointers_remarks_and_other_endings_leave_a_refusal_whole(response: str) -> None:
    found = detect_abstention(response)
    assert (found.did_abstain, found.is_partial) == (True, False)


@pytest.mark.parametrize(
    "response",
    [
        # What is known to nobody may be the answer; reasons after it are content.
        "Personne ne sait pourquoi la cité fut abandonnée : les sources parlent de guerres.",
        "무덤의 위치는 알려져 있지 않습니다. 기록에 따르면 말 떼가 그 자리를 밟고 지나갔습니다.",
        # A guess put as a question; advice after a refusal.
        "글쎄, 나도 확실히는 모르겠는데 한 300km쯤 되지 않을까?",
        "Je ne peux pas le dire à distance. En attendant, retirez la nourriture et surveillez s'il vomit.",
        "Je n'ai pas les horaires exacts. D'habitude, le magasin ouvre à 9 h.",
    ],
)
def test_content_beside_a_refusal_makes_it_partial(response: str) -> None:
    found = detect_abstention(response)
    assert (found.did_abstain, found.is_partial) == (False, True)


@pytest.mark.parametrize(
    "response",
    [
        # The same verbs of products, laws and other people.
        "Ce fauteuil n'est pas conçu pour l'extérieur.",
        "Seul un médecin peut prescrire cet antibiotique.",
        "La commande ne renvoie rien lorsque la liste est vide.",
        "L'erreur 404 indique que la page demandée n'existe pas.",
        "Je vous recommande de ne pas partager vos codes.",
        "항생제는 의사만 처방할 수 있습니다.",
        "18세 미만은 헌혈을 할 수 없습니다.",
        "북한은 그 회담에 응하지 않았습니다.",
        "'모르쇠'는 계속 모른다고 잡아떼는 태도를 뜻합니다.",
        "소설의 주인공은 자기 이름을 기억하지 못한다.",
    ],
)
def test_negations_of_products_laws_and_others_are_no_refusal(response: str) -> None:
    assert not detect_abstention(response).did_abstain
