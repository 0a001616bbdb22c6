"""Realistic responses in three languages, with the verdict that a reader gives to each."""

from __future__ import annotations

import unicodedata

import pytest

from hallumeter.text.abstention import detect_abstention

ENGLISH_REFUSALS = [
    # the families of the judge auditor, each with its wordings
    ("I don't know about Y.", "I don't know"),
    ("I do not know who Zorbo Flint is.", "I do not know"),
    ("I'm not sure who that is.", "I'm not sure"),
    ("I’m not sure who that is.", "I’m not sure"),
    ("Not sure, sorry.", "Not sure"),
    ("I am not certain which person you mean.", "I am not certain"),
    ("I cannot find anything under that title.", "I cannot find"),
    ("I'm sorry, but I couldn't find any notable person with that name.", "I couldn't find"),
    ("I can't confirm that this battle took place.", "I can't confirm"),
    ("I could not provide a biography of this person.", "I could not provide"),
    ("Unable to answer based on given passages.", "Unable to answer"),
    ("I am unable to verify this.", "I am unable to verify"),
    ("Unfortunately, I was not able to locate a treaty of that name.", "I was not able to locate"),
    ("I'm sorry, I don't have any information about Velor Quint.", "I don't have any information"),
    ("There is no information available on this drug.", "There is no information"),
    ("I have no data on that company.", "I have no data"),
    ("There is no record of a Treaty of Zandar.", "There is no record"),
    ("I found no evidence of such a species.", "I found no evidence"),
    ("There is no evidence that a city of Brenn exists.", "There is no evidence that a city of Brenn exists"),
    ("There is no such person.", "There is no such"),
    ("There is no Nobel Prize in astrology.", "There is no"),
    ("There is no known author named Petra Volling.", "There is no known author named"),
    ("No results found.", "No results"),
    ("The book was not found in my database.", "not found in my"),
    ("The Zandar Bridge does not exist.", "does not exist"),
    ("That mountain does not appear to exist.", "does not appear to exist"),
    ("This name is unknown to me.", "unknown to me"),
    ("Unknown.", "Unknown"),
    ("I am unfamiliar with a painter called Oren Basq.", "I am unfamiliar with"),
    ("I'm not aware of any film with this title.", "I'm not aware of"),
    ("I have never heard of the Blue Quill Society.", "I have never heard of"),
    ("That is outside my knowledge.", "outside my knowledge"),
    ("This is beyond my training data.", "beyond my training data"),
    ("Zorbo Flint appears to be a fictional character.", "appears to be a fictional"),
    ("This disease seems to be made up.", "seems to be made up"),
    ("The study may be fabricated.", "may be fabricated"),
    ("Glimmerfoot is not a real animal.", "is not a real animal"),
    ("That word is invented.", "is invented"),
    # shape of the response
    ("You asked about Lena Morvath. I could not find any record of Lena Morvath.", "I could not find"),
    ("Who is Tam Okuld? I have no idea.", "I have no idea"),
    ("I don't know. Could you tell me more about her?", "I don't know"),
    ("I'm sorry, but I can't.", "I can't"),
    ("I'M NOT SURE WHO THAT IS.", "I'M NOT SURE"),
    ("I  do\u00a0not know.", "I  do\u00a0not know"),
    ("I do\u200bn't kn\u200bow him.", "I do\u200bn't kn\u200bow"),
    ("As an AI language model, I cannot browse the web. However, you can check the official site.", "I cannot browse"),
    (
        "Unable to answer based on given passages. Passage 1 discusses paint, but does not mention glue.",
        "Unable to answer",
    ),
    ("“I don't know.”", "I don't know"),
    ("Answer: I don't know.", "I don't know"),
    ("1. I do not have enough information to answer this question.", "I do not have enough information"),
    (
        "There is no city called Brenn in Peru. The largest cities of Peru are Lima and Arequipa.",
        "There is no city called",
    ),
    ("Could you please provide more details about the person you mean?", "Could you please provide more details"),
]

ENGLISH_ANSWERS = [
    "X was a French painter born in Lyon in 1890.",
    "There is no doubt that X was the greatest painter of his age.",
    "The unknown hero X was buried in Lyon.",
    "X, unknown to many, wrote three symphonies.",
    "He was not aware of the danger.",
    "She did not know that the bridge had fallen.",
    "The police were unable to find the painting.",
    "No evidence of fraud was found by the auditors.",
    "No information was lost in the transfer.",
    "The treasure could not exist without its map, wrote Holm in 1912.",
    "There is no evidence that vaccines cause autism.",
    "There is no single answer to this question, as fees vary by state.",
    "Marie Curie was a physicist born in 1867. She won two Nobel Prizes. I am not sure about her shoe size.",
    "Marie Curie was a physicist born in 1867, but I am not sure about her shoe size.",
    "Marie Curie was a physicist born in 1867, and I don't know her shoe size.",
    "I'm not sure, but I think X was born in 1950 and taught in Rome.",
    "I don't know him personally. However, X is a painter who lives in Lyon.",
    "I am not certain. X was a Danish composer who died in 1907.",
    "While I don't have access to live data, Lyon has about 520,000 inhabitants.",
    "As an AI language model, I don't have opinions, but here are three reasons:\n1. Cost\n2. Speed\n3. Safety",
    "Holm wrote “I don't know” in the margin of every page.",
    "Sherlock Holmes is a fictional detective created by Arthur Conan Doyle.",
    "The film takes place in the fictional country of Tecala.",
    "The telephone was invented in 1876.",
    "All living things are made up of cells.",
    "I can't say enough good things about this museum.",
    "I cannot help but admire the nave, which was finished in 1260.",
    "Leopardfoot died of unknown causes.",
    "Before 1918 women did not have the right to vote.",
    "Paris.",
    "42",
]

FRENCH_REFUSALS = [
    ("Je ne sais pas.", "Je ne sais pas"),
    ("Je ne sais pas qui est cette personne.", "Je ne sais pas"),
    ("Je n’ai trouvé aucune information sur Jules Verdier.", "Je n’ai trouvé aucune information"),
    ("Il n'existe pas de traité portant ce nom.", "Il n'existe pas de traité portant ce nom"),
    ("Il n'existe pas de telle ville.", "Il n'existe pas"),
    ("Je ne dispose pas d'informations sur cet auteur.", "Je ne dispose pas d'informations"),
    ("Je suis désolé, mais je ne peux pas répondre à cette question.", "je ne peux pas répondre"),
    ("Malheureusement, je ne suis pas en mesure de confirmer cela.", "je ne suis pas en mesure"),
    ("Je n'ai aucune donnée à ce sujet.", "Je n'ai aucune donnée"),
    ("Cette ville n'existe pas.", "n'existe pas"),
    ("Ce personnage ne semble pas exister.", "ne semble pas exister"),
    ("Ce nom m'est inconnu.", "m'est inconnu"),
    ("Je ne connais pas ce film.", "Je ne connais pas"),
    ("Cela dépasse mes connaissances.", "dépasse mes connaissances"),
    ("Cette maladie semble être inventée.", "semble être inventée"),
    ("Vous m'avez demandé qui était Paul Sarnel. Je n'ai trouvé aucune trace de lui.", "Je n'ai trouvé aucune trace"),
    ("Je ne suis pas sûre de qui il s'agit. Pourriez-vous préciser ?", "Je ne suis pas sûre"),
    ("Le texte fourni ne mentionne pas son âge.", "texte fourni ne mentionne pas"),
    ("JE NE SAIS PAS.", "JE NE SAIS PAS"),
    ("Il n'y a aucune personne connue de ce nom.", "Il n'y a aucune personne connue de ce nom"),
    ("Je n'ai jamais entendu parler de cet artiste.", "Je n'ai jamais entendu parler"),
]

FRENCH_ANSWERS = [
    "Il ne savait pas que la guerre était finie.",
    "Marie Curie est née à Varsovie en 1867. Je ne sais pas où elle a appris le français.",
    "Je ne suis pas sûr, mais je crois qu'il est né en 1950 à Lyon.",
    "Il n'existe pas de consensus sur l'origine du nom.",
    "Il n'y a aucun doute que Hugo a écrit ce poème.",
    "Le soldat inconnu repose sous l'Arc de triomphe depuis 1921.",
    "Bien que je ne connaisse pas tous les détails, le pont a été construit en 1889.",
    "Bovary est un personnage fictif de Gustave Flaubert.",
    "Aucune information n'a été perdue pendant le transfert.",
    "M. Dupont était un peintre lyonnais.",
]

KOREAN_REFUSALS = [
    ("해당 인물에 대한 정보를 찾을 수 없습니다.", "찾을 수 없습니다"),
    ("잘 모르겠습니다.", "잘 모르"),
    ("죄송하지만 알 수 없습니다.", "알 수 없"),
    ("존재하지 않는 것으로 보입니다.", "존재하지 않는 것"),
    ("죄송합니다. 그 질문에는 답변드릴 수 없습니다.", "답변드릴 수 없"),
    ("저는 그 사람을 모릅니다.", "모릅니다"),
    ("그 책에 대한 정보가 없습니다.", "정보가 없습니다"),
    ("안타깝게도 제공된 문서에는 해당 내용이 나와 있지 않습니다.", "내용이 나와 있지 않"),
    ("그런 이름의 도시는 없습니다.", "그런 이름의 도시는 없습니다"),
    ("김도윤이라는 화가는 실존하지 않는 인물입니다.", "실존하지 않"),
    ("그 인물은 가상의 인물로 보입니다.", "가상의 인물로 보"),
    ("들어본 적이 없는 이름입니다.", "들어본 적"),
    ("제 지식 범위를 벗어난 질문입니다.", "제 지식 범위"),
    ("확실하지 않습니다.", "확실하지 않"),
    ("이서준에 대해 물어보셨군요. 관련 기록을 찾지 못했습니다.", "찾지 못했습니다"),
    ("죄송합니다만, 확인할 수 없습니다.", "확인할 수 없"),
    ("모르겠어요", "모르겠"),
    (
        "해당 조약에 관한 자료를 찾을 수 없었습니다. 철자를 다시 확인해 주시겠어요?",
        "찾을 수 없었습니다",
    ),
    ("정확한 정보를 제공해 드리기 어렵습니다.", "제공해 드리기 어렵"),
    ("알려진 바가 없습니다.", "알려진 바가 없"),
]

KOREAN_ANSWERS = [
    "마리 퀴리는 1867년 바르샤바에서 태어난 물리학자입니다.",
    "그는 위험을 알지 못했다.",
    "그는 알 수 없는 이유로 사망했다.",
    "잘 모르겠지만 그는 1950년에 태어난 것으로 알고 있습니다.",
    "마리 퀴리는 물리학자였습니다. 신발 크기는 잘 모르겠습니다.",
    "세종대왕이 한글을 창제했다는 것은 의심할 여지가 없습니다.",
    "그는 결국 보물을 찾지 못했다.",
    "무명용사의 묘는 1921년에 세워졌습니다.",
    "해리 포터는 조앤 롤링이 쓴 소설의 주인공입니다.",
    "서울은 대한민국의 수도입니다. 인구는 약 940만 명입니다.",
]

REFUSALS = [
    (language, response, cue)
    for language, table in (("en", ENGLISH_REFUSALS), ("fr", FRENCH_REFUSALS), ("ko", KOREAN_REFUSALS))
    for response, cue in table
]


@pytest.mark.parametrize(("language", "response", "cue"), REFUSALS, ids=[response for _, response, _ in REFUSALS])
def test_a_refusal_is_found_with_its_words_and_language(language: str, response: str, cue: str) -> None:
    found = detect_abstention(response)
    assert (found.did_abstain, found.cue, found.language, found.reason) == (True, cue, language, "cue")
    assert response[found.start : found.end] == cue


@pytest.mark.parametrize("response", ENGLISH_ANSWERS + FRENCH_ANSWERS + KOREAN_ANSWERS)
def test_an_answer_is_no_refusal(response: str) -> None:
    found = detect_abstention(response)
    assert (found.did_abstain, found.cue, found.start, found.reason) == (False, None, None, "none")


@pytest.mark.parametrize("response", [response for _, response, _ in REFUSALS])
def test_a_refusal_is_found_in_capitals(response: str) -> None:
    assert detect_abstention(response.upper()).did_abstain


@pytest.mark.parametrize("response", [response for _, response, _ in REFUSALS])
def test_a_refusal_is_found_in_decomposed_unicode(response: str) -> None:
    decomposed = unicodedata.normalize("NFD", response)
    found = detect_abstention(decomposed)
    assert found.did_abstain
    assert found.cue == decomposed[found.start : found.end]


@pytest.mark.parametrize(
    ("response", "is_partial"),
    [
        # what a comma, a figure or another source adds is an answer
        ("I don't know the exact number, somewhere between 200 and 250.", True),
        ("The documents don't mention digital goods. For physical goods you have 30 days.", True),
        ("There's no mention of breakfast, yet several guests had free coffee.", True),
        ("Je n'ai pas trouvé sa date de naissance. Elle a publié son premier article en 1891.", True),
        ("Il n'existe pas de trace du second voyage, bien que le premier soit parti en 1497.", True),
        ("기사에서 이름은 밝히지 않았고, 34세 남성이 체포되었다고만 합니다.", True),
        # what others said, or said of others
        ("The clerk said he had no information about the raid.", False),
        ("Le président a dit n'avoir aucune information sur le raid.", False),
        ("권한이 없다는 뜻입니다.", False),
        ("I can't tell you how happy I was.", False),
        ("Je ne peux pas vous dire à quel point j'étais heureuse.", False),
        ("The search came up empty in 1987.", False),
        # what reviews say
        ("저는 주저 없이 추천합니다.", False),
        ("다시 한번 감사드립니다!", False),
        ("I would not recommend this course to a beginner.", False),
    ],
)
def test_what_is_added_reported_or_advised_is_no_whole_refusal(response: str, *, is_partial: bool) -> None:
    found = detect_abstention(response)
    assert (found.did_abstain, found.is_partial) == (False, is_partial)


@pytest.mark.parametrize(
    "response",
    [
        "The passages only discuss the weather; the price isn't there.",
        "L'extrait s'arrête avant le verdict ; on ne peut pas en déduire l'issue.",
        "지식 베이스를 검색했으나 결과가 없습니다.",
        "의사록에는 기록되어 있지 않으며, 이름을 대는 것은 추측에 불과합니다.",
        "My knowledge ends in 2023. I cannot say who won in 2025.",
    ],
)
def test_a_reason_in_the_sentence_of_a_refusal_is_no_answer(response: str) -> None:
    assert detect_abstention(response).did_abstain


@pytest.mark.parametrize(
    ("response", "does_abstain"),
    [
        ("The passages discuss the weather: rain, snow and hail.", False),
        ("The passages discuss the weather. The price isn't there.", True),
        ("The price isn't there; the text gives the weather.", True),
    ],
)
def test_what_a_source_holds_instead_is_no_answer_beside_a_refusal(response: str, *, does_abstain: bool) -> None:
    assert detect_abstention(response).did_abstain is does_abstain
