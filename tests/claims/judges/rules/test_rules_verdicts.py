"""Verdicts of the rules judge on claims in three languages, each worked out by hand."""

from __future__ import annotations

import pytest

from hallumeter.claims.judges.rules.judge import LIKELY, RulesJudge
from hallumeter.claims.judges.rules.statement import CONTRADICTIONS, MISMATCHES, MISSING, REASONS
from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.judging import JudgeTask
from hallumeter.records.response import Passage, Response


def judged(claim: str, *evidence: str, question: str | None = None) -> Verdict:
    passages = tuple(Passage(f"e{number}", text) for number, text in enumerate(evidence))
    response = Response("r", question, f"→   {claim}", passages)
    task = JudgeTask(response, (Claim("r", "r#0", start=4, end=4 + len(claim), text=claim),))
    (verdict,) = RulesJudge().judge(task)
    assert isinstance(verdict, Verdict)
    return verdict


REFUTED = [
    # English
    (
        "number_mismatch",
        "The firm has 999 million users.",
        "The firm has 1.2 billion users.",
        "999 million",
        "1.2 billion",
    ),
    ("number_mismatch", "The town has 1,300 residents.", "The town has 1,187 residents.", "1,300", "1,187"),
    ("number_mismatch", "The choir has forty members.", "The choir has 60 members.", "forty", "60"),
    ("unit_mismatch", "The trail is 12 km long.", "The trail is 12 miles long.", "12 km", "12 miles"),
    ("unit_mismatch", "Take 500 g of it daily.", "Take 500 mg of it daily.", "500 g", "500 mg"),
    (
        "date_mismatch",
        "It was signed in Rome on 5 March 1998.",
        "It was signed in Rome on 5 May 1998.",
        "5 March 1998",
        "5 May 1998",
    ),
    ("date_mismatch", "The bridge opened in 1937.", "The bridge opened in 1932 to traffic.", "1937", "1932"),
    ("money_mismatch", "The house sold for $450,000.", "The old house sold for $540,000.", "$450,000", "$540,000"),
    ("money_mismatch", "The house sold for €450,000.", "The old house sold for $450,000.", "€450,000", "$450,000"),
    (
        "percent_mismatch",
        "Unemployment fell to 5.4 percent in June.",
        "Unemployment fell to 4.5% in June.",
        "5.4 percent",
        "4.5%",
    ),
    (
        "name_mismatch",
        "The film was directed by Ann Lee.",
        "The film was directed by James Cameron in 1997.",
        "Ann Lee",
        "James Cameron",
    ),
    (
        "negation_mismatch",
        "The drug is not approved for children in Europe.",
        "The drug is approved for children in Europe.",
        "not approved",
        "approved",
    ),
    (
        "negation_mismatch",
        "The drug is approved for children in Europe.",
        "The drug isn't approved for children in Europe.",
        "approved",
        "isn't approved",
    ),
    (
        "comparison_mismatch",
        "Sales were higher in March than in April.",
        "Sales were lower in March than in April.",
        "higher",
        "lower",
    ),
    (
        "quotation_mismatch",
        'She said "the plan will never work at all".',
        'She said: "the plan will surely work for all".',
        "the plan will never work at all",
        "the plan will surely work for all",
    ),
    # French
    (
        "number_mismatch",
        "L'usine emploie 3 500 personnes à Lyon.",
        "L’usine emploie 5 300 personnes à Lyon.",
        "3 500",
        "5 300",
    ),
    (
        "money_mismatch",
        "Le chiffre d'affaires atteint 2 milliards d'euros.",
        "Le chiffre d'affaires atteint 2 millions d'euros.",
        "2 milliards d'euros",
        "2 millions d'euros",
    ),
    (
        "date_mismatch",
        "La loi a été votée le 14 juillet 1998.",
        "La loi a été votée le 4 juin 1998 par le Sénat.",
        "14 juillet 1998",
        "4 juin 1998",
    ),
    (
        "negation_mismatch",
        "Le médicament n'est pas remboursé par la sécurité sociale.",
        "Le médicament est remboursé par la sécurité sociale.",
        "n'est pas remboursé",
        "remboursé",
    ),
    (
        "comparison_mismatch",
        "Les ventes ont augmenté en mars à Paris.",
        "Les ventes ont diminué en mars à Paris.",
        "augmenté",
        "diminué",
    ),
    (
        "name_mismatch",
        "Le roman a été écrit par Victor Hugo.",
        "Le roman a été écrit par Émile Zola en 1885.",
        "Victor Hugo",
        "Émile Zola",
    ),
    # Korean
    ("number_mismatch", "이 도시의 인구는 35만 명이다.", "이 도시의 인구는 53만 명이다.", "35만 명", "53만 명"),
    ("date_mismatch", "회사는 2015년에 설립되었다.", "회사는 2005년에 서울에서 설립되었다.", "2015년", "2005년"),
    ("money_mismatch", "매출은 3억 원을 기록했다.", "매출은 3조 원을 기록했다.", "3억 원", "3조 원"),
    ("percent_mismatch", "실업률은 5퍼센트로 상승했다.", "실업률은 3퍼센트로 상승했다.", "5퍼센트", "3퍼센트"),
    ("name_mismatch", "박지성 감독이 대표팀을 이끌었다.", "홍명보 감독이 대표팀을 이끌었다.", "박지성", "홍명보"),
    ("negation_mismatch", "그는 회의에 참석하지 않았다.", "그는 회의에 참석했다.", "참석하지 않았다", "참석했다"),
    (
        "comparison_mismatch",
        "지난달 수출이 증가했다고 밝혔다.",
        "지난달 수출이 감소했다고 밝혔다.",
        "증가했다고",
        "감소했다고",
    ),
]


@pytest.mark.parametrize(("reason", "claim", "evidence", "said", "written"), REFUTED)
def test_a_contradiction_names_both_values_and_both_places(
    reason: str, claim: str, evidence: str, said: str, written: str
) -> None:
    verdict = judged(claim, "Nothing to see here.", evidence)
    label = Label.REFUTED if reason in CONTRADICTIONS else Label.NOT_ENOUGH_INFO
    assert (verdict.label, verdict.reason) == (label, reason)
    assert verdict.start is not None
    assert f"→   {claim}"[verdict.start : verdict.end] == said
    (quote,) = verdict.evidence
    assert (quote.evidence_id, quote.quote) == ("e1", written)
    assert evidence[quote.start : quote.end] == written
    assert verdict.note is not None
    assert said in verdict.note
    assert written in verdict.note
    assert verdict.unsupported_probability is not None
    assert verdict.unsupported_probability >= LIKELY


SUPPORTED = [
    ("The firm has 1.2 billion users.", "The firm has 1,213,000,000 users."),
    ("The town has about 1,200 residents.", "The town has 1,187 residents."),
    ("The town has more than 1,000 residents.", "The town has 1,187 residents."),
    ("The town has fewer than 1,500 residents.", "The town has 1,187 residents."),
    ("The rate is 45% in June.", "The rate is 45.3 percent in June."),
    ("The trail is 19.3 km long.", "The trail is 12 miles long."),
    ("It takes 12 to 15 minutes to bake.", "It takes 12-15 minutes to bake."),
    ("It takes 14 minutes to bake.", "It takes 12-15 minutes to bake."),
    ("The treaty was signed on 5 March 1998.", "The treaty was signed on 1998-03-05."),
    ("The treaty was signed on March 5.", "The treaty was signed on 5 March 1998."),
    ("She was born in the 1990s in Rome.", "She was born in Rome in 1994."),
    ("The shop opens at 17:30 daily.", "The shop opens at 5:30 pm daily."),
    ("Curie won the prize in Stockholm.", "Marie Curie won the prize in Stockholm."),
    ("The WHO issued the report.", "The World Health Organization issued the report."),
    ('He said "the plan will surely work".', "He said the plan will surely work."),
    ("Le pont mesure douze mètres de long.", "Le pont mesure 12 m de long."),
    ("L'usine emploie 3 500 personnes à Lyon.", "L’usine emploie 3.500 personnes à Lyon depuis 2010."),
    ("이 도시의 인구는 35만 명이다.", "이 도시의 인구는 350,000명이다."),
    ("회사는 2005년에 설립되었다.", "회사는 2005년 3월 서울에서 설립되었다."),
    ("The drug is not approved for children.", "The drug is not approved for children or adults."),
]


@pytest.mark.parametrize(("claim", "evidence"), SUPPORTED)
def test_the_same_said_otherwise_is_supported(claim: str, evidence: str) -> None:
    verdict = judged(claim, evidence)
    assert (verdict.label, verdict.reason) == (Label.SUPPORTED, None), verdict
    (quote,) = verdict.evidence
    assert quote.quote == evidence
    assert (verdict.start, verdict.end) == (4, 4 + len(claim))


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Lyon is the capital.", "Paris is the capital."),
        ("Marie won the prize in 1903.", "Pierre won the prize in 1903."),
        ("Berlin est la capitale.", "Paris est la capitale."),
    ],
)
def test_a_sentence_with_another_first_word_is_not_supported(claim: str, evidence: str) -> None:
    verdict = judged(claim, evidence)
    assert verdict.label in {Label.UNDECIDED, Label.NOT_ENOUGH_INFO}, verdict


SILENT = [
    ("number_not_found", "The company employs 4,000 people.", "The company makes shoes in Italy.", "4,000"),
    (
        "name_not_found",
        "The company was founded by Luigi Bianchi.",
        "The company makes shoes in Italy.",
        "Luigi Bianchi",
    ),
    ("date_not_found", "The company was founded in 1911.", "The company makes shoes in Italy.", "1911"),
    (
        "quotation_not_found",
        'He said "we shall sell every share".',
        "The company makes shoes in Italy.",
        "we shall sell every share",
    ),
    (
        "words_not_found",
        "Purple elephants regularly dance through frozen volcanoes.",
        "The company makes shoes in Italy.",
        "Purple elephants regularly dance through frozen volcanoes",
    ),
]


@pytest.mark.parametrize(("reason", "claim", "evidence", "said"), SILENT)
def test_what_the_evidence_does_not_have_is_not_refuted(reason: str, claim: str, evidence: str, said: str) -> None:
    verdict = judged(claim, evidence)
    assert (verdict.label, verdict.reason) == (Label.NOT_ENOUGH_INFO, reason)
    assert verdict.start is not None
    assert f"→   {claim}"[verdict.start : verdict.end] == said


NOT_REFUTED = [
    # another thing is counted
    ("The farm has 40 cows.", "The farm has 12 horses and a large barn."),
    # the number stands elsewhere in the claim too
    ("Wallabies weigh up to 20 kg, kangaroos weigh up to 90 kg.", "Wallabies weigh up to 20 kg."),
    # a condition, a hidden negation, both said in the evidence
    ("You break the area into squares in your mind.", "If you cannot break the area into squares in your mind, stop."),
    ("Avoid using a brush on wet hair.", "Do not use a brush on wet hair."),
    (
        "You can move photos between albums.",
        "You can't move photos of the cover, but you can move photos between albums.",
    ),
    # passages, list marks, own counts
    ("2. As passages 1 and 3 state, the shop sells shoes.", "The shop sells shoes."),
    ("A summary in 65 words: the shop sells shoes.", "The shop sells shoes."),
    ("There is no mention of Paris or of 1,500 shoes in the shop.", "The shop sells shoes."),
]


@pytest.mark.parametrize(("claim", "evidence"), NOT_REFUTED)
def test_a_difference_without_a_common_context_is_no_contradiction(claim: str, evidence: str) -> None:
    assert judged(claim, evidence).label is not Label.REFUTED


def test_words_and_numbers_of_the_question_may_be_repeated() -> None:
    question = "How do 4,000 Bolognese cobblers work?"
    verdict = judged("The 4,000 Bolognese cobblers work.", "They work by hand.", question=question)
    assert verdict.label is Label.SUPPORTED


def test_reasons_are_listed_once() -> None:
    assert REASONS == MISMATCHES + MISSING
    assert len(set(REASONS)) == len(REASONS)
