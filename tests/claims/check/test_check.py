"""`hallumeter.check` on one answer: what it says, when it is true, and what it never passes over in silence."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import msgspec
import pytest

import hallumeter
from hallumeter.claims.judges.language_model import LanguageModelJudge
from hallumeter.errors import InputError, RecordError, SettingsError
from hallumeter.models.protocol import ProviderFault
from hallumeter.models.scripted import ScriptedProvider
from hallumeter.records.decisions import AcceptanceThreshold, Calibration, LabelCensus, Promise
from hallumeter.testing import judge_that_says

EVIDENCE = "The tower is 330 m high and stands in Paris."
RIGHT, WRONG = "The tower is 330 m high.", "The tower is 999 m high. It stands in Paris."


def test_a_supported_answer_is_true_and_has_nothing_unsupported() -> None:
    found = hallumeter.check(RIGHT, EVIDENCE, judge="rules")
    assert found
    assert (found.status, found.why, found.unsupported) == ("supported", None, ())
    assert [(each.text, each.label, each.start, each.end) for each in found.findings] == [(RIGHT, "SUPPORTED", 0, 24)]


def test_a_wrong_number_is_marked_with_why_and_what_the_evidence_says() -> None:
    found = hallumeter.check(WRONG, [EVIDENCE], "How high?", judge="rules")
    assert not found
    assert found.status == "unsupported"
    assert len(found.findings) == 2
    [wrong] = found.unsupported
    assert (wrong.text, wrong.label, wrong.reason) == ("The tower is 999 m high.", "REFUTED", "number_mismatch")
    assert WRONG[wrong.wrong_start : wrong.wrong_end] == wrong.wrong == "999 m"
    assert wrong.quote == "330 m"
    assert wrong.evidence_id == "e1"
    assert wrong.note == "response says 999 m, evidence says 330 m"
    assert wrong.probability is not None
    assert wrong.probability > 0.5
    assert found.question == "How high?"


def test_the_repr_is_the_marked_sentence() -> None:
    text = repr(hallumeter.check(WRONG, EVIDENCE, judge="rules"))
    assert text.splitlines() == [
        "Check: unsupported, 1 of 2 claims (rules@2)",
        "  The tower is »999 m« high. It stands in Paris.",
        "    REFUTED: response says 999 m, evidence says 330 m",
        "    evidence e1: 330 m",
    ]


def test_a_check_is_plain_values_for_json_without_nan() -> None:
    found = hallumeter.check(WRONG, EVIDENCE, judge="rules").to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found["status"], found["passed"], found["judge"]) == ("unsupported", False, "rules@2")
    assert found["findings"][0]["wrong"] == "999 m"


@pytest.mark.parametrize(
    ("response", "evidence", "why"),
    [
        ("", EVIDENCE, "the response is empty"),
        (" \n ", EVIDENCE, "the response is empty"),
        ("Hello!", EVIDENCE, "no claim was found in the response"),
        (RIGHT, "", "there is no evidence to check against"),
        (RIGHT, [], "there is no evidence to check against"),
        (RIGHT, None, "there is no evidence to check against"),
    ],
)
def test_what_cannot_be_measured_is_false_and_says_why(response: str, evidence: object, why: str) -> None:
    found = hallumeter.check(response, evidence, judge="rules")
    assert not found
    assert (found.status, found.why) == ("unmeasured", why)
    assert why in repr(found)


def test_an_undecided_or_failed_claim_is_no_support() -> None:
    judge = judge_that_says({"It rains.": "SUPPORTED"})
    assert hallumeter.check("It rains.", EVIDENCE, judge=judge)
    found = hallumeter.check("It rains. It snows.", EVIDENCE, judge=judge)
    assert (found.status, bool(found)) == ("unmeasured", False)
    assert found.why == "1 of 2 claims is undecided or failed"
    assert [each.label for each in found.findings] == ["SUPPORTED", "UNDECIDED"]


def test_a_judge_that_breaks_is_named_and_an_unsupported_claim_counts_all_the_same() -> None:
    def broken(claim: str, evidence: list[str]) -> object:
        if "rains" in claim:
            return False
        raise RuntimeError("no luck")

    failed = hallumeter.check("It snows.", EVIDENCE, judge=broken)
    assert failed.status == "unmeasured"
    assert failed.why == "1 of 1 claim is undecided or failed: RuntimeError: no luck"
    assert (failed.findings[0].label, failed.findings[0].failure) == ("FAILED", "RuntimeError: no luck")
    both = hallumeter.check("It snows. It rains.", EVIDENCE, judge=broken)
    assert (both.status, len(both.unsupported)) == ("unsupported", 1)


REFUSAL = "I'm sorry, but I could not find that in the documents."


@pytest.mark.parametrize(("on_refusal", "passed"), [("unmeasured", False), ("pass", True), ("fail", False)])
def test_a_refusal_is_treated_as_configured_and_never_judged(on_refusal: str, passed: bool) -> None:
    def never(claim: str, evidence: list[str]) -> object:
        raise AssertionError("a refusal has no claim to judge")

    found = hallumeter.check(REFUSAL, EVIDENCE, judge=never, on_refusal=on_refusal)  # type: ignore[arg-type]
    assert (found.status, bool(found), found.findings) == ("refused", passed, ())
    assert found.why == "the response refuses to answer: “I could not find”"


def test_an_answer_with_a_refused_detail_is_checked() -> None:
    response = "The tower is 999 m high. I could not find when it was built."
    assert hallumeter.check(response, EVIDENCE, judge="rules", on_refusal="pass").status == "unsupported"


def test_what_is_no_option_is_refused() -> None:
    with pytest.raises(SettingsError, match="on_refusal is 'maybe'; expected unmeasured, pass or fail"):
        hallumeter.check(RIGHT, EVIDENCE, on_refusal="maybe")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="preset and threshold were both given"):
        hallumeter.check(RIGHT, EVIDENCE, preset="precise", threshold=0.5)
    with pytest.raises(SettingsError, match=r"for the embedded judge; rules cannot use them"):
        hallumeter.check(RIGHT, EVIDENCE, judge="rules", threshold=0.5)
    with pytest.raises(SettingsError, match="no judge is called 'nobody'"):
        hallumeter.check(RIGHT, EVIDENCE, judge="nobody")
    with pytest.raises(SettingsError, match="judge: expected a name, a judge or a function, found int"):
        hallumeter.check(RIGHT, EVIDENCE, judge=7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="presett"):
        hallumeter.check(RIGHT, EVIDENCE, presett="precise")  # type: ignore[call-arg]
    with pytest.raises(RecordError, match="response: expected the text of the answer, found NoneType"):
        hallumeter.check(None, EVIDENCE)  # type: ignore[arg-type]


def test_a_threshold_moves_the_line_of_the_embedded_judge() -> None:
    strict = hallumeter.check(RIGHT, EVIDENCE, judge="embedded:fast", threshold=0.0)
    lax = hallumeter.check(WRONG, EVIDENCE, judge="embedded:fast", threshold=1.0)
    assert strict.status == "unsupported"
    assert lax.status == "supported"
    assert "threshold=0" in strict.signature
    assert hallumeter.check(WRONG, EVIDENCE, judge="embedded:fast", preset="precise").status == "unsupported"


def calibration(judge: str = "embedded:fast@3", unit: str = "claim", **row: object) -> Calibration:
    given = {"by": {}, "units": 9, "labelled": 9, "labelled_clusters": 9, "threshold": 0.25, **row}
    return Calibration(
        version=1,
        run="run",
        judge=judge,
        unit=unit,  # type: ignore[arg-type]
        cluster="response",
        confidence=0.95,
        promise=Promise("among_accepted", 0.05, "at most 5 %", 0.95),
        labels=LabelCensus(9, 9, 9, {"kim": 9}),
        unscored=0,
        thresholds=(AcceptanceThreshold(**given),),  # type: ignore[arg-type]
        reliability=None,
    )


def test_a_calibration_accepts_up_to_its_threshold(tmp_path: Path) -> None:
    judge = hallumeter.check(RIGHT, EVIDENCE, judge="embedded:fast").judge
    probability = hallumeter.check(RIGHT, EVIDENCE, judge="embedded:fast").findings[0].probability
    exact = calibration(judge, threshold=probability)
    assert hallumeter.check(RIGHT, EVIDENCE, judge="embedded:fast", calibration=exact).status == "supported"
    assert probability is not None
    below = tmp_path / "calibration.json"
    below.write_bytes(msgspec.json.encode(calibration(judge, threshold=probability / 2)))
    assert hallumeter.check(RIGHT, EVIDENCE, judge="embedded:fast", calibration=below).status == "unsupported"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (calibration("other@1"), "is about other@1, not about embedded:fast"),
        (calibration(unit="response"), "is about responses; calibrate claims"),
        (calibration(threshold=None), "no threshold could promise"),
        (calibration(by={"task": "QA"}), "has thresholds for slices only"),
    ],
)
def test_a_calibration_that_does_not_fit_is_refused(given: Calibration, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        hallumeter.check(RIGHT, EVIDENCE, judge="embedded:fast", calibration=given)


def test_a_calibration_cannot_be_joined_with_a_threshold_or_read_from_anything(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="calibration and threshold were both given"):
        hallumeter.check(RIGHT, EVIDENCE, threshold=0.5, calibration=calibration())
    with pytest.raises(InputError, match="No such file or directory"):
        hallumeter.check(RIGHT, EVIDENCE, calibration=tmp_path / "nowhere.json")
    with pytest.raises(SettingsError, match="preset and threshold are for the embedded judge"):
        hallumeter.check(RIGHT, EVIDENCE, judge="rules", calibration=calibration())


def test_a_language_model_judges_and_its_quotation_is_what_the_evidence_says() -> None:
    entry = {"evidence_id": 1, "quote": "The tower is 330 m high", "label": "REFUTED", "note": "another height"}
    judge = LanguageModelJudge(ScriptedProvider(lambda _request: json.dumps({"1": entry})))
    [wrong] = hallumeter.check("The tower is 999 m high.", EVIDENCE, judge=judge).unsupported
    assert (wrong.label, wrong.quote, wrong.note) == ("REFUTED", "The tower is 330 m high", "another height")


def test_a_language_model_that_nobody_answers_for_leaves_its_claims_failed() -> None:
    found = hallumeter.check(RIGHT, EVIDENCE, judge=LanguageModelJudge(ScriptedProvider(lambda _request: "nothing")))
    assert (found.status, found.findings[0].label, bool(found)) == ("unmeasured", "FAILED", False)


def test_a_key_that_is_not_accepted_is_the_users_fault() -> None:
    def refused(_request: object) -> str:
        raise ProviderFault("bad_key", "the key was not accepted", is_fatal=True)

    with pytest.raises(SettingsError, match="the key was not accepted"):
        hallumeter.check(RIGHT, EVIDENCE, judge=LanguageModelJudge(ScriptedProvider(refused)))


def test_a_language_model_judges_in_parts_as_in_an_audit() -> None:
    seen: list[int] = []

    class Counting(LanguageModelJudge):
        def judge(self, task):  # type: ignore[no-untyped-def]
            seen.append(len(task.claims))
            return super().judge(task)

    settings = hallumeter.LanguageModelSettings(claims_per_call=2)
    judge = Counting(ScriptedProvider(lambda _request: "{}"), settings)
    found = hallumeter.check("It rains. It snows. It hails.", EVIDENCE, judge=judge)
    assert seen == [2, 1]
    assert found.status == "unmeasured"


def test_the_async_call_says_the_same_and_keeps_the_loop_free() -> None:
    here = threading.get_ident()
    threads: set[int] = set()

    def judge(claim: str, evidence: list[str]) -> bool:
        threads.add(threading.get_ident())
        return "999" not in claim

    async def both() -> tuple[object, object]:
        first = hallumeter.acheck(WRONG, EVIDENCE, judge=judge)
        second = hallumeter.acheck(RIGHT, EVIDENCE, judge="rules")
        return await asyncio.gather(first, second)

    wrong, right = asyncio.run(both())
    assert not wrong
    assert right == hallumeter.check(RIGHT, EVIDENCE, judge="rules")
    assert here not in threads


def test_a_coroutine_function_judges_on_the_loop_of_the_async_call_alone() -> None:
    async def judge(claim: str, evidence: list[str], question: str | None) -> bool:
        await asyncio.sleep(0)
        return question == "How high?"

    assert asyncio.run(hallumeter.acheck(RIGHT, EVIDENCE, "How high?", judge=judge))
    with pytest.raises(SettingsError, match=r"is a coroutine function; await hallumeter\.acheck"):
        hallumeter.check(RIGHT, EVIDENCE, judge=judge)


PAYLOAD = "<script>alert(1)</script> & <img src=x onerror=alert(2)>"


def test_the_page_of_a_notebook_shows_hostile_text_as_text() -> None:
    def judge(claim: str, evidence: list[str]) -> dict[str, object]:
        quotes = [{"evidence_id": "<b>e</b>", "quote": "</mark><script>alert(3)</script>"}]
        return {"label": "REFUTED", "note": f"because {PAYLOAD}", "quotes": quotes}

    html = hallumeter.check(f"The tower is {PAYLOAD} high.", EVIDENCE, PAYLOAD, judge=judge)._repr_html_()
    assert "<mark" in html
    assert "<script" not in html
    assert "<img" not in html
    assert "<b>e</b>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;img src=x" in html


def test_a_repr_obeys_no_escape_sequence_of_the_answer() -> None:
    text = repr(hallumeter.check("The tower is 999\x1b[31m m high.", EVIDENCE, judge=lambda claim, evidence: False))
    assert "\x1b" not in text
