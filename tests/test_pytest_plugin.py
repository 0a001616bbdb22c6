"""The plugin of pytest, run by pytest."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from hallumeter.claims.check import CheckSettings, checked
from hallumeter.claims.check_bounds import ResponseBounds, bounds_of
from hallumeter.claims.profiles import Policy
from hallumeter.errors import SettingsError
from hallumeter.records.bounds import Bound
from hallumeter.testing import judge_that_says

pytest_plugins = ["pytester"]

EVIDENCE = "The tower is 330 m high and stands in Paris."
# Where the package is not installed with its entry points, the plugin is named.
IS_INSTALLED = bool([each for each in entry_points(group="pytest11") if each.name == "hallumeter"])
NAMED = [] if IS_INSTALLED else ["-p", "hallumeter.pytest_plugin"]

TESTS = f"""
def test_supported(hallumeter):
    findings = hallumeter.check("The tower is 330 m high.", "{EVIDENCE}", judge="rules")
    assert [finding.verdicts[0].label.value for finding in findings] == ["SUPPORTED"]

def test_unsupported(hallumeter_check):
    hallumeter_check("The tower is 999 m high. It stands in Paris.", ["{EVIDENCE}"], "How high?", judge="rules")

def test_nothing_to_measure(hallumeter_check):
    hallumeter_check("", "{EVIDENCE}", judge="rules")
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_a_response_fails_with_its_unsupported_words_and_their_evidence(
    pytester: pytest.Pytester, workers: list[str]
) -> None:
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess(*NAMED, "-p", "no:cacheprovider", *workers)
    result.assert_outcomes(passed=1, failed=2)
    text = result.stdout.str()
    assert "hallumeter: unsupported, 1 of 2 claims (rules@2)" in text
    assert "The tower is »999 m« high. It stands in Paris." in text
    assert "REFUTED: response says 999 m, evidence says 330 m" in text
    assert "evidence e1: 330 m" in text
    assert "unmeasured, the response is empty" in text
    assert "pytest_plugin.py" not in text, "the trace ends in the user's own test"


def test_the_module_and_the_fixture_live_in_one_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(f"""
import hallumeter

def test_both(hallumeter_check):
    found = hallumeter_check("The tower is 330 m high.", "{EVIDENCE}", judge="rules")
    assert isinstance(found, hallumeter.Check)
    assert found == hallumeter.check("The tower is 330 m high.", "{EVIDENCE}", judge="rules")
""")
    pytester.runpytest_subprocess(*NAMED).assert_outcomes(passed=1)


def test_a_judge_and_a_threshold_are_said_per_call(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(f"""
def test_lax(hallumeter_check):
    found = hallumeter_check("The tower is 999 m high.", "{EVIDENCE}", judge="embedded:fast", threshold=1.0)
    assert "threshold=1" in found.signature

def test_strict(hallumeter_check):
    hallumeter_check("The tower is 330 m high.", "{EVIDENCE}", judge="embedded:fast", threshold=0.0)

def test_preset(hallumeter):
    hallumeter.check("The tower is 330 m high.", "{EVIDENCE}", judge="embedded:fast", preset="precise")

def test_function(hallumeter_check):
    hallumeter_check("It snows.", "{EVIDENCE}", judge=lambda claim, evidence: True)
""")
    pytester.runpytest_subprocess(*NAMED).assert_outcomes(passed=3, failed=1)


REFUSALS = f"""
REFUSAL = "I'm sorry, but I could not find that in the documents."

def test_as_set(hallumeter_check):
    hallumeter_check(REFUSAL, "{EVIDENCE}", judge="rules")

def test_passed(hallumeter_check):
    assert hallumeter_check(REFUSAL, "{EVIDENCE}", judge="rules", on_refusal="pass").status == "refused"

def test_failed(hallumeter_check):
    hallumeter_check(REFUSAL, "{EVIDENCE}", judge="rules", on_refusal="fail")
"""


@pytest.mark.parametrize(("setting", "passed"), [("", 1), ("hallumeter_on_refusal = pass", 2)])
def test_a_refusal_is_treated_as_configured(pytester: pytest.Pytester, setting: str, passed: int) -> None:
    pytester.makeini(f"[pytest]\n{setting}\n")
    pytester.makepyfile(REFUSALS)
    result = pytester.runpytest_subprocess(*NAMED)
    result.assert_outcomes(passed=passed, failed=3 - passed)
    assert "refused, the response refuses to answer: “I could not find”" in result.stdout.str()


# The judge is named as a user names a server; nothing listens there, so that a call that is made ends in a failure.
MODELS = f"""
import pytest

def test_by_accident(hallumeter_check):
    hallumeter_check("The tower is 330 m high.", "{EVIDENCE}", judge="http://127.0.0.1:9/v1#none")

@pytest.mark.hallumeter_llm
def test_on_purpose(hallumeter_check):
    hallumeter_check("The tower is 330 m high.", "{EVIDENCE}", judge=MODEL)
"""


def test_a_language_model_is_asked_only_where_a_test_is_marked_so(pytester: pytest.Pytester) -> None:
    judge = """
import json
from hallumeter import LanguageModelJudge, ScriptedProvider

REPLY = {"verdicts": [{"claim": 1, "label": "SUPPORTED", "quote": "The tower is 330 m high"}]}
MODEL = LanguageModelJudge(ScriptedProvider(lambda request: json.dumps(REPLY)))
"""
    pytester.makepyfile(judge + MODELS)
    result = pytester.runpytest_subprocess(*NAMED, "--strict-markers")
    text = result.stdout.str()
    assert "http://127.0.0.1:9/v1#none needs the network: mark the test with @pytest.mark.hallumeter_llm" in text
    assert "test_on_purpose needs" not in text
    result.assert_outcomes(passed=1, failed=1)


def test_a_setting_lets_language_models_judge_everywhere(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nhallumeter_language_models = true\nhallumeter_judge = http://127.0.0.1:9/v1\n")
    pytester.makepyfile(f"""
def test_it(hallumeter):
    hallumeter.check("The tower is 330 m high.", "{EVIDENCE}")
""")
    result = pytester.runpytest_subprocess(*NAMED)
    result.assert_outcomes(failed=1)
    assert "needs the network" not in result.stdout.str()


def test_the_bounds_are_those_of_the_policy(pytester: pytest.Pytester) -> None:
    pytester.makefile(".toml", policy='name = "p"\n[[bounds]]\nmetric = "mihr"\nat_most = 0.5\n')
    pytester.makeini("[pytest]\nhallumeter_policy = policy.toml\nhallumeter_judge = rules\n")
    pytester.makepyfile(TESTS)
    pytester.runpytest_subprocess(*NAMED).assert_outcomes(passed=2, failed=1)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("hallumeter_policy = nowhere.toml", "*hallumeter_policy: *nowhere.toml: the policy cannot be read*"),
        ("hallumeter_on_refusal = maybe", "*hallumeter_on_refusal: on_refusal is 'maybe'*"),
    ],
)
def test_a_setting_that_cannot_be_used_is_said_in_one_line(pytester: pytest.Pytester, setting: str, said: str) -> None:
    pytester.makeini(f"[pytest]\n{setting}\n")
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess(*NAMED)
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines([said])


def test_pytest_starts_without_loading_anything_of_ours_but_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text("def test_nothing(): pass\n", encoding="utf-8")
    program = f"""
import sys, pytest
assert pytest.main([*{NAMED}, "-q", "-p", "no:cacheprovider"]) == 0
print(*(name for name in sys.modules if name.startswith("hallumeter")))
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    loaded = set(done.stdout.splitlines()[-1].split())
    assert loaded == {"hallumeter", "hallumeter.public_names", "hallumeter.pytest_plugin"}


def problems(bounds: ResponseBounds, response: str, judge: object) -> list[str]:
    settings = CheckSettings(judge=judge)  # type: ignore[arg-type]
    return list(bounds.problems(checked(response, EVIDENCE, None, settings=settings)))


def test_the_worst_case_and_the_share_of_unmeasured_follow_the_policy() -> None:
    judge = judge_that_says({"It rains.": "SUPPORTED"})
    worst = Policy("p", bounds=(Bound("mihr", at_most=0.4, looks_at="worst_case"),), max_unmeasured=0.5)
    assert problems(bounds_of(worst), "It rains. It snows.", judge) == [
        "mihr is 0.500, the rule is worst case at most 0.4"
    ]
    lenient = Policy("p", bounds=(Bound("mihr", at_most=0.4),))
    assert problems(bounds_of(lenient), "It rains. It snows.", judge) == [
        "unmeasured, 1 of 2 claims is undecided or failed (scripted)"
    ]
    assert problems(bounds_of(lenient), "It rains. It snows. Hello!", lambda claim, evidence: "rains" in claim) == [
        "mihr is 0.500, the rule is at most 0.4"
    ]
    assert problems(bounds_of(lenient), "Hello!", judge) == [
        "unmeasured, no claim was found in the response (scripted)"
    ]


def test_an_unsupported_claim_does_not_hide_that_others_were_not_measured() -> None:
    policy = Policy("p", bounds=(Bound("mihr", at_most=1.0),))
    judge = judge_that_says({"It rains.": "REFUTED"})
    assert problems(bounds_of(policy), "It rains. It snows.", judge) == ["not measured: 1 of 2 claims"]


def test_policies_without_claims_are_refused() -> None:
    with pytest.raises(SettingsError, match="no bound on claims"):
        bounds_of(Policy("p", bounds=(Bound("cer", at_most=0.1), Bound("ragas:faithfulness", at_least=0.9))))
