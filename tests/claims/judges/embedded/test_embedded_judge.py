"""The embedded judge as others use it: its names, what it does not weigh, and the places that it names."""

from __future__ import annotations

import math
import unicodedata

import pytest
from embedded_tasks import TIERS, only, passages_of, suspicious, task_of, verdicts_of
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from hallumeter.claims.judges.by_name import judge_named
from hallumeter.claims.judges.embedded.features import measured_of
from hallumeter.claims.judges.embedded.judge import (
    EmbeddedJudge,
    can_be_weighed,
    languages_differ,
    unchecked_language,
)
from hallumeter.claims.judges.rules.judge import RulesJudge
from hallumeter.errors import SettingsError
from hallumeter.models.scripted import ScriptedProvider
from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.judging import CalibratedJudge, Judge, JudgeTask
from hallumeter.records.response import Response

both_tiers = pytest.mark.parametrize("tier", TIERS)
TOWER = "The old tower of Paris was built in 1889 by Gustave Eiffel. It is 330 metres high and open to the public."
KOREAN = (
    "파리의 오래된 탑은 1889년에 구스타브 에펠이 세웠다. "
    "높이는 330미터이고 누구나 들어갈 수 있으며 해마다 많은 사람이 찾아온다."
)
FRENCH = "La vieille tour de Paris fut construite en 1889 par Gustave Eiffel. Elle est haute de 330 mètres."
WRONG = "The purple elephants of Norway dance wildly under seven frozen moons with their enormous golden trumpets."
DECIDED = (Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_INFO)


def named(text: str) -> Judge:
    return judge_named(text, provider_of=lambda name: ScriptedProvider([], name=name))


def checked(verdict: Verdict, response: Response, claim: Claim) -> None:
    """A verdict's places lie in the claim and in the response, and its quotes stand in the evidence."""
    assert (verdict.start is None) == (claim.start is None)
    if verdict.start is not None and verdict.end is not None:
        assert claim.start is not None
        assert claim.end is not None
        assert 0 <= claim.start <= verdict.start <= verdict.end <= claim.end <= len(response.response or "")
    texts = {passage.evidence_id: passage.text for passage in response.evidence}
    for quote in verdict.evidence:
        assert quote.quote
        assert texts[quote.evidence_id][quote.start : quote.end] == quote.quote


def weighed(verdict: Verdict) -> None:
    """A verdict of the model: its numbers agree with each other, and with its label."""
    assert verdict.label in DECIDED
    probability = verdict.unsupported_probability
    assert probability is not None
    assert 0.0 < probability < 1.0
    is_supported = verdict.label is Label.SUPPORTED
    assert verdict.confidence == (1.0 - probability if is_supported else probability)
    assert (verdict.reason is None) == is_supported


@pytest.mark.parametrize(
    ("text", "name"),
    [("embedded", "embedded:full@3"), ("embedded:full", "embedded:full@3"), ("embedded:fast", "embedded:fast@3")],
)
def test_a_tier_is_chosen_by_its_name(text: str, name: str) -> None:
    judge = named(text)
    assert isinstance(judge, EmbeddedJudge)
    assert judge.spec.name == name
    assert judge.spec.is_parallel
    assert not judge.spec.is_remote
    (verdict,) = judge.judge(task_of((TOWER,), TOWER))
    assert isinstance(verdict, Verdict)
    assert verdict.judge == name


@pytest.mark.parametrize("text", ["embedded:quick", "embedded:FAST", "embedded:fast:1", "embedded: fast"])
def test_a_tier_that_does_not_exist_is_refused_with_those_that_do(text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        named(text)
    assert repr(text.partition(":")[2]) in str(caught.value)
    assert "embedded or embedded:fast" in str(caught.value)


def test_the_tiers_have_different_digests() -> None:
    assert EmbeddedJudge("full").spec.digest != EmbeddedJudge("fast").spec.digest


@both_tiers
@pytest.mark.parametrize("evidence", [(), ("",), (" …\n", "{}")], ids=["none", "empty", "no word"])
def test_without_evidence_there_is_not_enough_information(tier: str, evidence: tuple[str, ...]) -> None:
    verdict = only(tier, "The tower is high.", *evidence)
    assert (verdict.label, verdict.reason, verdict.evidence) == (Label.NOT_ENOUGH_INFO, "no_evidence", ())
    assert (verdict.start, verdict.end) == (0, 18)
    assert verdict.unsupported_probability is None


@both_tiers
@pytest.mark.parametrize("text", ["", "…!", " \n", "😀🎉", "---", "It is not so.", "[1]", "\x00\x07"])
def test_a_claim_that_says_nothing_is_undecided(tier: str, text: str) -> None:
    verdict = only(tier, text, TOWER)
    assert (verdict.label, verdict.reason) == (Label.UNDECIDED, "too_short")
    assert verdict.unsupported_probability is None


ODD = {
    "one word": "Tower",
    "one letter": "x",
    "a number": "1889",
    "code": "```python\nheight = 330\nprint(f'{height} metres')\n```",
    "table row": "| Tower | 330 m | Paris |",
    "heading": "## The tower of Paris",
    "link": "See [the tower](https://example.org/tower?x=1) and <b>Paris</b>.",
    "formula": r"The height is $h^2 = 330_{m}$ metres.",
    "emoji": "The tower 🗼 is 330 m high 🎉.",
    "control characters": "\x00The tower\x07 is\x1b[31m 330\x7f metres high.\u200b\ufeff",
    "decomposed": unicodedata.normalize("NFD", "The café in the tower is naïve, déjà vu, and 330 metres high."),
    "right to left": "The tower برج is 330 metres high.",
    "wide digits": "The tower is 330 metres high.",
    "one long word": "tower" * 4000,
    "no space": "the.tower,is/high-" * 60,
    "unknown letters": "𞤀𞤁𞤂𞤃 tower",
    "line breaks": "The tower\r\n\r\nis\n\n\n330 metres\u2028high.",
}


@both_tiers
@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_odd_claims_are_weighed_and_placed_like_others(tier: str, text: str) -> None:
    for evidence in (TOWER, text, '{"tower": {"height": "330 m", "isOpen": true}}'):
        task = task_of(("The tower is old.", text, WRONG), evidence)
        for judge in (EmbeddedJudge(tier), suspicious(tier)):
            verdicts = verdicts_of(tier, task, judge=judge)
            for verdict, claim in zip(verdicts, task.claims, strict=True):
                checked(verdict, task.response, claim)
            weighed(verdicts[1])


@both_tiers
@pytest.mark.parametrize("word", ["tower", "“high”", "Paris…", "330"])
def test_the_unsupported_part_has_words_in_it(tier: str, word: str) -> None:
    text = f"  {word} \n"
    (verdict,) = verdicts_of(tier, task_of((text,), TOWER), judge=suspicious(tier))
    assert any(map(str.isalnum, text[verdict.start : verdict.end]))


@both_tiers
def test_a_claim_of_20000_characters_is_weighed_whole(tier: str) -> None:
    text = ("The old tower of Paris is high, and the public likes it very much. " * 300)[:20_000]
    task = task_of((text, WRONG), TOWER)
    for verdict, claim in zip(verdicts_of(tier, task), task.claims, strict=True):
        checked(verdict, task.response, claim)
        weighed(verdict)


@both_tiers
def test_a_megabyte_of_evidence_is_searched_to_its_end(tier: str) -> None:
    filling = "The grey stone wall of the harbour has a gate by the river and a garden behind it. "
    evidence = filling * (1_000_000 // len(filling)) + "Gustave painted seventeen zebras."
    verdict = only(tier, "Gustave painted seventeen zebras.", evidence)
    weighed(verdict)
    assert [quote.quote for quote in verdict.evidence] == ["Gustave painted seventeen zebras."]


@both_tiers
def test_evidence_in_another_language_leaves_every_claim_undecided(tier: str) -> None:
    task = task_of(tuple(f"{part}." for part in TOWER.rstrip(".").split(". ")), KOREAN)
    for verdict, claim in zip(verdicts_of(tier, task), task.claims, strict=True):
        assert (verdict.label, verdict.reason) == (Label.UNDECIDED, "languages_differ")
        assert (verdict.start, verdict.end) == (claim.start, claim.end)
        assert verdict.unsupported_probability is None


@pytest.mark.parametrize(
    ("response", "evidence", "expected"),
    [
        (TOWER, KOREAN, True),
        (KOREAN, TOWER, True),
        (TOWER, TOWER, False),
        (KOREAN, KOREAN, False),
        ("탑.", TOWER, False),
    ],
)
def test_languages_differ_only_when_there_is_enough_to_tell(response: str, evidence: str, expected: bool) -> None:
    assert languages_differ(response, passages_of(evidence)) is expected


@both_tiers
@pytest.mark.parametrize(("text", "language"), [(KOREAN, "Korean"), (FRENCH, "French")])
def test_records_in_other_languages_have_the_verdicts_of_the_rules_and_say_so(
    tier: str, text: str, language: str
) -> None:
    first, second = text[: text.index(". ") + 1], text[text.index(". ") + 2 :]
    task = task_of((first, second.replace("330", "999")), text)
    by_rules = RulesJudge().judge(task)
    for verdict, rule in zip(verdicts_of(tier, task), by_rules, strict=True):
        assert isinstance(rule, Verdict)
        said = f"judged by rules: the model was trained and checked on English, not on {language}"
        assert verdict.note == (f"{rule.note}; {said}" if rule.note else said)
        assert verdict.judge == f"embedded:{tier}@3"
        fields = ("label", "reason", "start", "end", "evidence", "unsupported_probability", "confidence")
        assert [getattr(verdict, field) for field in fields] == [getattr(rule, field) for field in fields]
    assert "999" in (verdicts_of(tier, task)[1].note or "")


def test_a_long_text_without_small_words_of_english_is_in_another_language() -> None:
    german = "Der alte Turm wurde von vielen Leuten besucht und gilt seither überall als schönstes Bauwerk dieser Stadt"
    assert unchecked_language(german) == "de"
    assert unchecked_language(TOWER) is None
    assert unchecked_language("") is None
    assert "not on German" in (only("fast", german, german).note or "")
    welsh = "Mae'r tŵr wedi sefyll yng nghanol dinas Paris ers canrif a mwy heb unrhyw newid"
    assert unchecked_language(welsh) == "another"
    assert "not in this language" in (only("fast", welsh, welsh).note or "")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("La torre se encuentra en el centro de la ciudad y tiene una altura de 330 metros.", "Spanish"),
        ("La torre si trova nel centro della città e ha una altezza di 330 metri, più di ogni altra.", "Italian"),
        ("A torre está no centro da cidade e não tem mais de 330 metros de altura, para quem a vê.", "Portuguese"),
        ("De toren staat in het centrum van de stad en is niet hoger dan een berg met veel bomen.", "Dutch"),
        ("Der Turm steht in der Mitte der Stadt und ist mit 330 Metern nicht zu übersehen.", "German"),
        ("La tour se trouve dans le centre de la ville et elle est très haute avec 330 mètres.", "French"),
    ],
)
def test_a_note_names_the_language_that_was_found_and_no_other(text: str, language: str) -> None:
    assert (only("fast", text, text).note or "").endswith(f"checked on English, not on {language}")


@both_tiers
def test_a_claim_worded_otherwise_than_the_response_keeps_its_own_place(tier: str) -> None:
    response = Response("r", None, f"It was so. {TOWER}", passages_of(TOWER))
    task = JudgeTask(response, (Claim("r", "c", start=3, end=9, text=WRONG),))
    (verdict,) = verdicts_of(tier, task, judge=suspicious(tier))
    assert verdict.label is not Label.SUPPORTED
    assert (verdict.start, verdict.end) == (3, 9)


@both_tiers
def test_a_claim_without_a_place_gets_none(tier: str) -> None:
    response = Response("r", None, TOWER, passages_of(TOWER))
    claims = tuple(Claim("r", f"c{number}", text=text) for number, text in enumerate([WRONG, TOWER, "…"]))
    for verdict in verdicts_of(tier, JudgeTask(response, claims), judge=suspicious(tier)):
        assert (verdict.start, verdict.end) == (None, None)


@both_tiers
def test_a_claim_without_text_is_read_from_the_response(tier: str) -> None:
    response = Response("r", None, f"{TOWER} {WRONG}", passages_of(TOWER))
    place = (len(TOWER) + 1, len(TOWER) + 1 + len(WRONG))
    (bare,) = verdicts_of(tier, JudgeTask(response, (Claim("r", "c", start=place[0], end=place[1]),)))
    (worded,) = verdicts_of(tier, JudgeTask(response, (Claim("r", "c", start=place[0], end=place[1], text=WRONG),)))
    assert bare == worded
    (nothing,) = verdicts_of(tier, JudgeTask(response, (Claim("r", "c"),)))
    assert nothing.reason == "too_short"


@both_tiers
def test_a_response_that_is_not_known_is_judged_by_its_claims(tier: str) -> None:
    response = Response("r", evidence=passages_of(TOWER))
    (verdict,) = verdicts_of(tier, JudgeTask(response, (Claim("r", "c", text=WRONG),)))
    weighed(verdict)


@both_tiers
def test_verdicts_come_in_the_order_of_the_claims_those_not_weighed_too(tier: str) -> None:
    task = task_of(("…", TOWER, "", WRONG, "!"), TOWER)
    verdicts = verdicts_of(tier, task)
    assert [verdict.claim_id for verdict in verdicts] == ["c0", "c1", "c2", "c3", "c4"]
    assert [verdict.reason == "too_short" for verdict in verdicts] == [True, False, True, False, True]
    assert verdicts_of(tier, JudgeTask(task.response, ())) == []


PARTS = (
    *("The", "tower", "is", "not", "330", "999", "metres", "high", "in", "Paris", "Rome", "by", "1889", "May 3, 2020"),
    *("Gustave", "Eiffel", "costs", "$5", "12%", "and", "été", "cafe\u0301", "탑은", "높다", "🗼", "“said so”", "[1]"),
    *("…", ".", "!", "\n", "| a |", "\x00", "`x`", "9:0-17:0", "https://x.org/y", "**tower**", "never", "Monday"),
    *("closed", "WiFi", "no"),
)
TEXTS = st.lists(st.sampled_from(PARTS), max_size=25).map(" ".join)
EVIDENCE = TEXTS | st.dictionaries(
    st.sampled_from(["hours", "WiFi", "tower", "이름"]), st.sampled_from(PARTS) | st.booleans() | st.none(), max_size=4
).map(str)


@both_tiers
@settings(max_examples=60)
@given(st.lists(TEXTS, min_size=1, max_size=4), st.lists(EVIDENCE, max_size=3), TEXTS)
def test_places_lie_in_the_claim_and_quotes_in_the_evidence(
    tier: str, texts: list[str], evidence: list[str], question: str
) -> None:
    task = task_of(tuple(texts), *evidence, question=question)
    for verdict, claim in zip(verdicts_of(tier, task, judge=suspicious(tier)), task.claims, strict=True):
        checked(verdict, task.response, claim)
        assert verdict.claim_id == claim.claim_id
        if verdict.unsupported_probability is not None and "judged by rules" not in (verdict.note or ""):
            weighed(verdict)
            assert verdict.label is not Label.SUPPORTED


BRIDGE = task_of(
    ("The bridge over the Tamar is 535 metres long.", "The bridge over the Tamar is long."),
    "The bridge over the Tamar is 335 metres long.",
)


@both_tiers
def test_a_mismatch_that_a_rule_sees_does_not_raise_the_probability_by_itself(tier: str) -> None:
    judge = EmbeddedJudge(tier)
    judge._decision = structs.replace(judge._decision, constant=-1000.0)
    wrong, right = verdicts_of(tier, BRIDGE, judge=judge)
    assert wrong.label is right.label is Label.SUPPORTED
    assert wrong.unsupported_probability == right.unsupported_probability


@both_tiers
def test_what_the_rules_find_weighs_as_much_as_the_model_says(tier: str) -> None:
    judge = EmbeddedJudge(tier)
    judge._decision = structs.replace(judge._decision, curves={})
    unweighed = verdicts_of(tier, BRIDGE, judge=judge)
    before = judge._decision.weights.get("finding:number_mismatch", 0.0)
    weights = judge._decision.weights | {"finding:number_mismatch": before + 2.0}
    judge._decision = structs.replace(judge._decision, weights=weights)
    weighted = verdicts_of(tier, BRIDGE, judge=judge)
    assert _logit(weighted[0]) == pytest.approx(_logit(unweighed[0]) + 2.0)
    assert _logit(weighted[1]) == pytest.approx(_logit(unweighed[1]))


def _logit(verdict: Verdict) -> float:
    probability = verdict.unsupported_probability
    assert probability is not None
    return math.log(probability / (1.0 - probability))


@both_tiers
def test_a_refuted_claim_has_a_reason_with_both_sides(tier: str) -> None:
    wrong, right = verdicts_of(tier, BRIDGE, judge=suspicious(tier))
    assert (wrong.label, wrong.reason) == (Label.REFUTED, "number_mismatch")
    assert "335" in (wrong.evidence[0].quote or "")
    assert (right.label, right.reason) == (Label.NOT_ENOUGH_INFO, "baseless")


@both_tiers
@pytest.mark.parametrize("preset", ["precise", "balanced", "sensitive"])
def test_the_label_is_a_threshold_on_the_probability(tier: str, preset: str) -> None:
    judge = EmbeddedJudge(tier, preset)
    task = task_of(("The bridge over the Tamar is 535 metres long.", TOWER, WRONG, "Tom likes it."), TOWER)
    for verdict in verdicts_of(tier, task, judge=judge):
        assert verdict.unsupported_probability is not None
        is_unsupported = verdict.unsupported_probability >= judge.threshold("summary")
        assert is_unsupported == (verdict.label is not Label.SUPPORTED)


@both_tiers
def test_a_threshold_of_the_users_takes_the_place_of_the_presets(tier: str) -> None:
    (said,) = verdicts_of(tier, task_of((WRONG,), TOWER))
    probability = said.unsupported_probability
    assert probability is not None
    above = EmbeddedJudge(tier, threshold=math.nextafter(probability, 1.0))
    assert verdicts_of(tier, task_of((WRONG,), TOWER), judge=above)[0].label is Label.SUPPORTED
    at = EmbeddedJudge(tier, threshold=probability)
    assert verdicts_of(tier, task_of((WRONG,), TOWER), judge=at)[0].label is not Label.SUPPORTED


def test_the_operating_point_is_a_part_of_who_judges() -> None:
    judges = [EmbeddedJudge("fast", preset) for preset in ("precise", "balanced", "sensitive")]
    judges += [EmbeddedJudge("fast", threshold=threshold) for threshold in (0.3, 0.4)]
    assert len({judge.spec.digest for judge in judges}) == len(judges)
    assert str(judges[0].spec).startswith("embedded:fast@3 preset=precise threshold=")
    assert str(judges[-1].spec).startswith("embedded:fast@3 threshold=0.4 calibration=")
    assert EmbeddedJudge("fast").spec == judges[1].spec


def test_thresholds_by_kind_of_text_stand_after_the_usual_one() -> None:
    judge = EmbeddedJudge("fast", "precise")
    by_kind = {"default": 0.5, "qa": 0.25, "record": 0.5}
    judge._decision = structs.replace(judge._decision, presets={"precise": by_kind}, calibration="x")
    assert str(judge.spec) == "embedded:fast@3 preset=precise threshold=0.5,qa:0.25 calibration=x"
    assert judge.threshold("summary") == 0.5
    assert judge.threshold("qa") == 0.25


@pytest.mark.parametrize("preset", ["", "Precise", "exact"])
def test_a_preset_that_does_not_exist_is_refused_with_those_that_do(preset: str) -> None:
    with pytest.raises(SettingsError, match=f"no preset {preset!r}; expected one of precise, balanced, sensitive"):
        EmbeddedJudge("fast", preset)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.nan])
def test_a_threshold_that_is_no_probability_is_refused(threshold: float) -> None:
    with pytest.raises(SettingsError, match=r"threshold is .*; expected a probability from 0 to 1"):
        EmbeddedJudge("fast", threshold=threshold)


KIND_TASKS = {
    "summary": task_of((TOWER, WRONG), TOWER * 3),
    "single": task_of((TOWER, "…"), TOWER * 3),
    "qa": task_of((TOWER,), TOWER, question="How high is it?"),
    "record": task_of((TOWER,), '{"tower": "330 m"}'),
    None: task_of((FRENCH,), FRENCH),
}


@both_tiers
@pytest.mark.parametrize("kind", KIND_TASKS)
def test_the_kind_of_a_text_is_told_as_it_is_weighed(tier: str, kind: str | None) -> None:
    judge, task = EmbeddedJudge(tier), KIND_TASKS[kind]
    assert judge.kind_of(task) == kind
    if kind is not None:
        texts = [str(claim.text) for claim in task.claims]
        measured = [each for each in measured_of(task.response, texts) if can_be_weighed(each)]
        assert {each.kind for each in judge.weighed(task.response, measured)} == {kind}


def test_evidence_in_another_language_is_of_no_kind() -> None:
    assert EmbeddedJudge("fast").kind_of(task_of((TOWER,), KOREAN)) is None


def test_refits_are_those_of_each_kind_or_the_usual_ones() -> None:
    judge = EmbeddedJudge("fast")
    judge._decision = structs.replace(judge._decision, alternatives={"qa": ((0.1, 1.0),)})
    assert judge.refits == {"qa": ((0.1, 1.0),)}
    usual = ((0.2, 1.0),)
    judge._decision = structs.replace(judge._decision, alternatives={"qa": ((0.1, 1.0),), "default": usual})
    assert judge.refits == {"qa": ((0.1, 1.0),)} | dict.fromkeys(("record", "dialogue", "single", "summary"), usual)
    assert isinstance(judge, CalibratedJudge)
