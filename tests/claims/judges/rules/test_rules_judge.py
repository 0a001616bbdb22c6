"""What the rules judge does with odd claims and odd evidence, and that nothing but its input matters."""

from __future__ import annotations

import random

import pytest

from hallumeter.claims.judges.rules.judge import (
    COEFFICIENTS,
    LIKELY,
    UNLIKELY,
    RulesJudge,
    Signals,
    unsupported_probability,
)
from hallumeter.claims.judges.rules.statement import (
    CONTRADICTIONS,
    MISMATCHES,
    PRECISION,
    Finding,
    denies,
    on_whole_words,
)
from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.judging import JudgeTask
from hallumeter.records.response import Passage, Quote, Response

EVIDENCE = (
    Passage("a", "Marie Curie won two prizes in 1903 and 1911. She did not live in Rome."),
    Passage("b", "The city has 35,000 inhabitants and a 12 km wall. Sales rose by 5% in June."),
)
TEXTS = (
    "Marie Curie won three prizes in 1903.",
    "The city has 53,000 inhabitants.",
    "She lived in Rome.",
    "Sales rose by 7% in June.",
    "The wall is 12 km long.",
    "",
    "…!",
)


def task_of(texts: tuple[str, ...], evidence: tuple[Passage, ...] = EVIDENCE) -> JudgeTask:
    response = " ".join(texts)
    claims, place = [], 0
    for number, text in enumerate(texts):
        claims.append(Claim("r", f"r#{number}", start=place, end=place + len(text), text=text))
        place += len(text) + 1
    return JudgeTask(Response("r", None, response, evidence), tuple(claims))


def only(task: JudgeTask) -> Verdict:
    (verdict,) = RulesJudge().judge(task)
    assert isinstance(verdict, Verdict)
    return verdict


def test_the_spec_names_the_judge_and_its_thresholds() -> None:
    spec = RulesJudge().spec
    assert str(spec) == f"rules@2 likely={LIKELY:g} unlikely={UNLIKELY:g}"
    assert not spec.is_remote
    assert spec.claims_per_task is None


def test_every_claim_gets_a_verdict_in_order_with_exact_quotes() -> None:
    task = task_of(TEXTS)
    verdicts = RulesJudge().judge(task)
    assert [verdict.claim_id for verdict in verdicts] == [claim.claim_id for claim in task.claims]
    passages = {passage.evidence_id: passage.text for passage in EVIDENCE}
    for verdict in verdicts:
        assert isinstance(verdict, Verdict)
        assert verdict.cost_usd is None
        for quote in verdict.evidence:
            assert passages[quote.evidence_id][quote.start : quote.end] == quote.quote


def test_neither_order_nor_company_changes_a_verdict() -> None:
    judge, task = RulesJudge(), task_of(TEXTS)
    together = {verdict.claim_id: verdict for verdict in judge.judge(task)}
    claims = list(task.claims)
    random.Random(1).shuffle(claims)
    for claim in claims:
        assert judge.judge(JudgeTask(task.response, (claim,))) == [together[claim.claim_id]]


@pytest.mark.parametrize("text", ["", "…!", "   ", "It is not so."])
def test_a_claim_without_words_is_undecided(text: str) -> None:
    verdict = only(task_of((text,)))
    assert (verdict.label, verdict.reason) == (Label.UNDECIDED, "too_short")
    assert verdict.unsupported_probability is None


@pytest.mark.parametrize("evidence", [(), (Passage("a", ""),), (Passage("a", " …\n"),), (Passage("a", "{}"),)])
def test_without_evidence_there_is_not_enough_information(evidence: tuple[Passage, ...]) -> None:
    verdict = only(task_of(("The wall is long.",), evidence))
    assert (verdict.label, verdict.reason, verdict.evidence) == (Label.NOT_ENOUGH_INFO, "no_evidence", ())


def test_a_claim_without_a_place_gets_none() -> None:
    claim = Claim("r", "r#0", text="The city has 53,000 inhabitants.")
    verdict = only(JudgeTask(Response("r", None, "Something else.", EVIDENCE), (claim,)))
    assert (verdict.reason, verdict.start, verdict.end) == ("number_mismatch", None, None)


def test_a_claim_in_other_words_than_the_response_keeps_its_own_place() -> None:
    claim = Claim("r", "r#0", start=0, end=9, text="The city has 53,000 inhabitants.")
    verdict = only(JudgeTask(Response("r", None, "It has 53k inhabitants.", EVIDENCE), (claim,)))
    assert (verdict.reason, verdict.start, verdict.end) == ("number_mismatch", 0, 9)


def test_a_claim_without_text_is_read_from_the_response() -> None:
    text = "The city has 53,000 inhabitants."
    verdict = only(JudgeTask(Response("r", None, text, EVIDENCE), (Claim("r", "r#0", start=0, end=len(text)),)))
    assert verdict.reason == "number_mismatch"
    assert text[verdict.start : verdict.end] == "53,000"
    nothing = only(JudgeTask(Response("r", None, text, EVIDENCE), (Claim("r", "r#0"),)))
    assert nothing.reason == "too_short"


def test_a_claim_of_which_no_word_is_known_quotes_nothing() -> None:
    verdict = only(task_of(("Purple elephants dance wildly.",)))
    assert verdict.label is Label.NOT_ENOUGH_INFO
    assert verdict.evidence == ()


def test_a_claim_between_the_thresholds_is_undecided_and_has_no_confidence() -> None:
    verdict = only(task_of(("The city has cheese and songs.",)))
    assert verdict.unsupported_probability is not None
    assert UNLIKELY < verdict.unsupported_probability < LIKELY
    assert (verdict.label, verdict.reason, verdict.confidence) == (Label.UNDECIDED, "uncertain", None)


def test_a_claim_of_which_half_is_missing_is_not_supported() -> None:
    verdict = only(task_of(("The city is famous for cheese.",)))
    assert verdict.unsupported_probability is not None
    assert (verdict.label, verdict.reason) == (Label.UNDECIDED, "uncertain")


def test_long_evidence_is_read_to_its_end() -> None:
    filler = "The weather was mild and nothing much happened that day. " * 4000
    verdict = only(task_of(("The city has 53,000 inhabitants.",), (Passage("a", filler + EVIDENCE[1].text),)))
    assert verdict.reason == "number_mismatch"
    assert verdict.evidence[0].quote == "35,000"


def test_null_bytes_and_broken_halves_of_characters_do_no_harm() -> None:
    verdict = only(
        task_of(("The city\x00 has \ud800 53,000 inhabitants.",), (Passage("a", "x\x00\ud800 y"), *EVIDENCE))
    )
    assert verdict.reason == "number_mismatch"


def test_the_probability_is_the_logistic_of_the_table() -> None:
    # Worked by hand: with all signals 0 only the constant is left; a contradiction adds its coefficient.
    nothing = Signals(0.0, 0.0, 0.0, 0.0)
    base = 1 / (1 + 2.718281828459045 ** -COEFFICIENTS["constant"])
    assert unsupported_probability(nothing) == pytest.approx(base)
    denied = Signals(0.0, 0.0, 0.0, 0.0, contradiction=1.0)
    logit = COEFFICIENTS["constant"] + COEFFICIENTS["contradiction"]
    assert unsupported_probability(denied) == pytest.approx(1 / (1 + 2.718281828459045**-logit))
    assert set(Signals.__struct_fields__) | {"constant"} == set(COEFFICIENTS)


CLAIMS = (
    *TEXTS,
    "Marie Curie won two prizes.",
    "She lives in Rome now.",
    "Sales fell by 5% in June.",
    "Curie wrote letters and songs.",
    "The city has 35,000 inhabitants and a harbour.",
    "Purple elephants dance wildly.",
)


@pytest.mark.parametrize("text", CLAIMS)
def test_the_label_is_a_threshold_on_the_probability(text: str) -> None:
    verdict = only(task_of((text,)))
    probability = verdict.unsupported_probability
    if probability is None:
        assert verdict.reason == "too_short"
        return
    if probability >= LIKELY:
        assert verdict.label in {Label.REFUTED, Label.NOT_ENOUGH_INFO}
    else:
        assert verdict.label is (Label.SUPPORTED if probability <= UNLIKELY else Label.UNDECIDED)
    if verdict.label is Label.REFUTED:
        assert verdict.reason in CONTRADICTIONS
        assert verdict.evidence


def test_only_a_reason_that_is_known_to_be_right_refutes() -> None:
    quote = (Quote("a", 0, 1, "M"),)
    assert set(PRECISION) == set(MISMATCHES)
    assert {reason for reason, (right, found) in PRECISION.items() if found and right >= 0.75 * found} == CONTRADICTIONS
    assert denies(Finding("number_mismatch", 0, 2, "", quote))
    assert not denies(Finding("number_mismatch", 0, 2, ""))
    assert not denies(Finding("number_mismatch", 2, 2, "", quote))
    assert not denies(Finding("quotation_mismatch", 0, 2, "", quote))


@pytest.mark.parametrize(
    ("span", "expected"),
    [((4, 9), "steak"), ((5, 7), "steak"), ((13, 27), "overcooked"), ((14, 16), "(overcooked"), ((0, 3), "The")],
)
def test_a_finding_stands_on_whole_words(span: tuple[int, int], expected: str) -> None:
    text = "The steak was (overcooked)."
    found = on_whole_words(text, Finding("uncertain", *span, ""))
    assert text[found.start : found.end] == expected.lstrip("(")


def test_a_finding_of_marks_alone_stays_where_it_is() -> None:
    finding = Finding("uncertain", 0, 2, "")
    assert on_whole_words("(,", finding) == finding
