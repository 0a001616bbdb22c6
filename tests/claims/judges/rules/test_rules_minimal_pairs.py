"""Claims that differ from their evidence in one mark, number, name or small word; every verdict was worked by hand."""

from __future__ import annotations

import pytest

from hallumeter.claims.judges.rules.judge import LIKELY, UNLIKELY, RulesJudge
from hallumeter.claims.judges.rules.statement import CONTRADICTIONS, without_marks
from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.judging import JudgeTask
from hallumeter.records.response import Passage, Response
from hallumeter.report.reasons import reason_words
from hallumeter.text.quantities import find_quantities


def judged(claim: str, evidence: str) -> Verdict:
    response = Response("r", None, claim, (Passage("e", evidence),))
    (verdict,) = RulesJudge().judge(JudgeTask(response, (Claim("r", "r#0", start=0, end=len(claim), text=claim),)))
    assert isinstance(verdict, Verdict)
    return verdict


def probability_of(verdict: Verdict) -> float:
    assert verdict.unsupported_probability is not None
    return verdict.unsupported_probability


PARIS = "Paris is the capital of France."
MARKED = [
    ("Paris is the capital of France [1].", PARIS),
    ("Paris is the capital of France [2, 3] [^4].", PARIS),
    ("Paris is the capital of France 【4†source】.", PARIS),
    ("Paris is the capital of France [doc_4, p. 12].", PARIS),
    ("Paris is the capital of France¹.", PARIS),
    ("Paris is the capital of France.¹²", PARIS),
    ("Paris is the capital of France<sup>12</sup>.", PARIS),
    ("Paris is the capital of France (https://example.org/page?x=1).", PARIS),
    ("Paris is the capital of [France](https://example.org/a_2?x=17).", PARIS),
    ('Paris is the <b>capital</b> of <span class="x9">France</span>.', PARIS),
    ("서울은 대한민국의 수도이다[1].", "서울은 대한민국의 수도이다."),
    (r"The area of a circle is $\pi r^2$ in the plane.", "The area of a circle is pi times r squared in the plane."),
]


@pytest.mark.parametrize(("claim", "evidence"), MARKED)
def test_citation_marks_addresses_tags_and_formulas_claim_nothing(claim: str, evidence: str) -> None:
    verdict = judged(claim, evidence)
    assert (verdict.label, verdict.reason) == (Label.SUPPORTED, None), verdict
    assert len(without_marks(claim)) == len(claim)


@pytest.mark.parametrize(
    "text",
    ["The area is 12 m² and 5 km².", "It costs $5 to $10.", "2 < x and y > 3", "Scores lie in [0, 1].", "[sic] or (2)"],
)
def test_what_is_no_mark_stays(text: str) -> None:
    assert without_marks(text) == text


def test_a_number_in_a_formula_still_claims_something() -> None:
    verdict = judged(r"The tower is $300\,\text{m}$ tall.", "The tower is 330 m tall.")
    assert verdict.label is not Label.SUPPORTED


def test_places_are_those_of_the_marked_text() -> None:
    claim = "The town [1] of Rome [2] has 1,300 residents [3]."
    verdict = judged(claim, "The town of Rome has 1,187 residents.")
    assert verdict.reason == "number_mismatch"
    assert claim[verdict.start : verdict.end] == "1,300"


REFUTED = [
    ("number_mismatch", "The archive holds 54,000 old maps.", "Room 54 is closed. The archive holds 45,000 old maps."),
    ("number_mismatch", "The tower is 300 metres tall.", "The tower is 330 metres tall. It has 300 steps."),
    ("comparison_mismatch", "Sales of cars rose in Spain in May.", "Sales of cars fell in Spain in May."),
    ("number_mismatch", "La salle compte quatre-vingts places assises.", "La salle compte 90 places assises."),
    (
        "number_mismatch",
        "He did not sleep, but the company sold 5,400 cars in Rome.",
        "The company sold 4,500 cars in Rome.",
    ),
]


@pytest.mark.parametrize(("reason", "claim", "evidence"), REFUTED)
def test_a_contradiction_is_refuted_though_the_number_stands_elsewhere(reason: str, claim: str, evidence: str) -> None:
    verdict = judged(claim, evidence)
    label = Label.REFUTED if reason in CONTRADICTIONS else Label.NOT_ENOUGH_INFO
    assert (verdict.label, verdict.reason) == (label, reason), verdict
    assert verdict.unsupported_probability is not None
    assert verdict.unsupported_probability >= LIKELY


UNCLEAR = [
    ("The service is free.", "The service is not free."),
    ("The service is not free.", "The service is free."),
    ("The plan includes support.", "The plan does not include support."),
    ("The policy covers flood damage.", "The policy no longer covers flood damage."),
    ("Smoking is allowed.", "Smoking is not allowed."),
    ("The vaccine causes autism.", "There is no evidence that the vaccine causes autism."),
    ("Le service est gratuit.", "Le service n'est pas gratuit."),
    ("L'assurance couvre les inondations.", "L'assurance ne couvre pas les inondations."),
    ("Le pont a été rénové.", "Le pont n'a jamais été rénové."),
    ("Un patient est décédé pendant l'essai.", "Aucun patient n'est décédé pendant l'essai."),
    ("그는 의사이다.", "그는 의사가 아니다."),
    ("이 약은 임산부가 복용해도 된다.", "이 약은 임산부가 복용하면 안 된다."),
    ("주차장이 건물에 있다.", "주차장이 건물에 있지 않다."),
]


@pytest.mark.parametrize(("claim", "evidence"), UNCLEAR)
def test_a_denial_on_one_side_only_raises_the_probability_and_never_refutes(claim: str, evidence: str) -> None:
    verdict = judged(claim, evidence)
    assert verdict.label is not Label.REFUTED, verdict
    assert (verdict.label is Label.NOT_ENOUGH_INFO) == (verdict.reason in {"negation_mismatch", "words_not_found"})
    assert probability_of(verdict) > 1.5 * probability_of(judged(evidence, evidence))
    assert (verdict.evidence[0].quote or "-") in evidence


def test_the_reason_has_words() -> None:
    assert reason_words("negation_unclear") is not None


NOT_SUPPORTED = [
    # the number stands elsewhere
    ("He was born in 1985.", "He was born in 1958. He married in 1985."),
    ("그는 1985년에 태어났다.", "그는 1958년에 태어났다. 그는 1985년에 결혼했다."),
    ("Marie Curie was born in Warsaw in 1903.", "Marie Curie was born in Warsaw in 1867. She won a prize in 1903."),
    ("The club has 12 teams in Rome.", "The club has 15 teams in Rome. The new club has 12 members."),
    # a denial that is understood or not
    ("Guests may smoke on the balcony.", "Guests may not smoke on the balcony."),
    ("Le musée est ouvert le lundi.", "Le musée n'est plus ouvert le lundi."),
    ("환불이 가능하다.", "환불이 불가하다."),
    ("구매 후 환불이 가능합니다.", "구매 후 환불이 불가능합니다."),
    ("사고로 인한 부상자가 있었다.", "사고로 인한 부상자가 없었다."),
    # opposites and weaker words
    ("Sales rose in 2020.", "Sales fell in 2020."),
    ("Revenue increased last year.", "Revenue decreased last year."),
    ("Le chiffre d'affaires a augmenté.", "Le chiffre d'affaires a diminué."),
    ("매출이 증가했다.", "매출이 감소했다."),
    ("지구는 달보다 작다.", "지구는 달보다 크다."),
    ("이 서비스는 유료이다.", "이 서비스는 무료이다."),
    ("All patients recovered.", "Some patients recovered."),
    ("Applicants must submit a form.", "Applicants may submit a form."),
    ("A quarter of users left the platform.", "One third of users left the platform."),
    ("Un quart des élèves a échoué.", "Un tiers des élèves a échoué."),
    ("Prices went up.", "Prices went down."),
    # names
    ("Alice sued Bob.", "Bob sued Alice."),
    ("Lyon is the capital.", "Paris is the capital. Lyon is large."),
    ("이 회사의 본사는 부산에 있다.", "이 회사의 본사는 대전에 있다."),
    ("The patient takes metformin daily.", "The patient takes insulin daily."),
    ("대한민국의 수도는 부산이다.", "대한민국의 수도는 서울이다."),
    ("대한민국의 수도는 부산이다.", "대한민국의 수도는 서울이다. 부산은 항구 도시이다."),
    ("John Smith founded the company.", "Jane Smith founded the company."),
    ("Jean Dupont a fondé l'entreprise.", "Jean Durand a fondé l'entreprise."),
    ("The firm was founded by Jane Smith in Boston.", "The firm was founded by John Smith in Boston. Jane left."),
    ("The capital of Australia is Sydney.", "The capital of Australia is Canberra. Sydney is larger."),
]


@pytest.mark.parametrize(("claim", "evidence"), NOT_SUPPORTED)
def test_a_claim_that_differs_in_what_matters_is_less_sure_than_the_same_words(claim: str, evidence: str) -> None:
    verdict = judged(claim, evidence)
    assert probability_of(verdict) > 1.5 * probability_of(judged(evidence, evidence))
    assert (verdict.label is Label.SUPPORTED) == (probability_of(verdict) <= UNLIKELY)
    assert (verdict.confidence is None) == (verdict.label is Label.UNDECIDED)


SUPPORTED = [
    ("He married in 1985.", "He was born in 1958. He married in 1985.", "He married in 1985."),
    ("The tower has 300 steps.", "The tower is 330 metres tall. It has 300 steps.", "It has 300 steps."),
    ("The service is free.", "The service is not free on Sundays. The service is free.", "The service is free."),
    ("The archive holds 54,000 maps.", "Room 54 is closed. The archive holds 54000 maps.", None),
    ("Le service n'est pas gratuit.", "Le service n'est pas gratuit.", None),
    ("그는 의사가 아니다.", "그는 의사가 아니다.", None),
    ("Alice and Bob sued Carol.", "Bob and Alice sued Carol.", None),
    ("Marie Curie discovered radium in Paris.", "In Paris, Marie Curie discovered radium.", None),
    ("Avoid brushing wet hair.", "Do not brush wet hair.", None),
    ("The organisation sells shoes.", "The organization sells shoes.", None),
    ("La salle compte quatre-vingts places.", "La salle compte 80 places.", None),
    ("La salle compte soixante-dix-sept places.", "La salle compte 77 places.", None),
    ("La France compte 67,5 millions d'habitants.", "La France compte 67 500 000 habitants.", None),
    ("La salle compte deux mille cinq cents places.", "La salle compte 2 500 places.", None),
    ("입장료는 3만 5천 원이다.", "입장료는 35,000원이다.", None),
    ("서울의 인구는 약 940만 명이다.", "서울의 인구는 약 9,400,000명이다.", None),
]


@pytest.mark.parametrize(("claim", "evidence", "quote"), SUPPORTED)
def test_the_same_is_supported_and_the_sentence_that_says_so_is_quoted(
    claim: str, evidence: str, quote: str | None
) -> None:
    verdict = judged(claim, evidence)
    assert (verdict.label, verdict.reason) == (Label.SUPPORTED, None), verdict
    if quote is not None:
        assert verdict.evidence[0].quote == quote


def test_a_value_that_the_claim_has_elsewhere_is_not_held_against_another() -> None:
    verdict = judged("The war in Europe lasted from 1914 to 1919.", "The war in Europe lasted from 1914 to 1918.")
    assert verdict.label is Label.REFUTED
    assert verdict.note == "response says 1919, evidence says 1918"


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("The company has 4,000 people in Italy.", "number_not_found"),
        ("The company in Italy makes shoes in 1911.", "date_not_found"),
        ("The company makes shoes in Italy for Luigi Bianchi.", "name_not_found"),
    ],
)
def test_a_finding_raises_the_probability(claim: str, reason: str) -> None:
    verdict = judged(claim, "The company makes shoes in Italy for people.")
    assert verdict.reason == reason
    assert verdict.unsupported_probability is not None
    assert verdict.unsupported_probability >= LIKELY


@pytest.mark.parametrize(
    ("text", "language", "values"),
    [
        ("54,000", "en", (54000.0,)),
        ("54,000", "ko", (54000.0,)),
        ("54,000", "fr", (54000.0,)),
        ("54,000 et non 0,5", "fr", (54000.0, 54.0)),
    ],
)
def test_a_comma_before_three_digits_is_decimal_only_beside_decimal_commas(
    text: str, language: str, values: tuple[float, ...]
) -> None:
    assert find_quantities(text, language=language)[0].values == values
