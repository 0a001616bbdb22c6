"""The plugin of pytest, run by pytest."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from hallumeter.claims.check import ResponseChecker
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

def test_unsupported(hallumeter):
    hallumeter.check("The tower is 999 m high. It stands in Paris.", ["{EVIDENCE}"], "How high?", judge="rules")

def test_nothing_to_measure(hallumeter):
    hallumeter.check("", "{EVIDENCE}", judge="rules")
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_a_response_fails_with_its_unsupported_claims_and_their_evidence(
    pytester: pytest.Pytester, workers: list[str]
) -> None:
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess(*NAMED, "-p", "no:cacheprovider", *workers)
    result.assert_outcomes(passed=1, failed=2)
    text = result.stdout.str()
    assert "REFUTED: The tower is 999 m high." in text
    assert "evidence e1: " in text
    assert "mihr is 0.500, the rule is at most 0" in text
    assert "not measured: no claim was found in the response" in text
    assert "pytest_plugin.py" not in text, "the trace ends in the user's own test"


def test_the_bounds_are_those_of_the_policy(pytester: pytest.Pytester) -> None:
    pytester.makefile(".toml", policy='name = "p"\n[[bounds]]\nmetric = "mihr"\nat_most = 0.5\n')
    pytester.makeini("[pytest]\nhallumeter_policy = policy.toml\nhallumeter_judge = rules\n")
    pytester.makepyfile(TESTS)
    pytester.runpytest_subprocess(*NAMED).assert_outcomes(passed=2, failed=1)


def test_a_policy_that_cannot_be_used_is_said_in_one_line(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nhallumeter_policy = nowhere.toml\n")
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess(*NAMED)
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(["*hallumeter_policy: *nowhere.toml: the policy cannot be read*"])


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
    assert set(done.stdout.splitlines()[-1].split()) == {"hallumeter", "hallumeter.pytest_plugin"}


def test_a_judge_may_be_a_function_and_what_it_cannot_tell_is_no_pass() -> None:
    checker = ResponseChecker(judge="rules")
    judge = judge_that_says({"It rains.": "SUPPORTED"})
    assert checker.check("It rains.", EVIDENCE, judge=judge).problems == ()
    found = checker.check("It rains. It snows.", EVIDENCE, judge=judge)
    assert found.problems == ("not measured: 1 of 2 claims are undecided or failed",)
    assert "UNDECIDED: It snows." in found.message
    assert checker.check("It rains.", EVIDENCE, judge=lambda claim, evidence: False).problems


def test_the_worst_case_and_the_share_of_unmeasured_follow_the_policy() -> None:
    judge = judge_that_says({"It rains.": "SUPPORTED"})
    worst = Policy("p", bounds=(Bound("mihr", at_most=0.4, looks_at="worst_case"),), max_unmeasured=0.5)
    assert ResponseChecker(worst).check("It rains. It snows.", EVIDENCE, judge=judge).problems == (
        "mihr is 0.500, the rule is worst case at most 0.4",
    )


def test_a_failed_verdict_is_named_and_a_long_list_is_cut() -> None:
    def broken(claim: str, evidence: list[str]) -> object:
        raise RuntimeError("no luck")

    response = " ".join(f"Number {place} is large." for place in range(15))
    found = ResponseChecker().check(response, EVIDENCE, judge=broken)
    assert "no luck" in found.problems[0]
    assert found.message.endswith("  ... and 5 more")
    assert "NO VERDICT" in found.message


def test_judges_that_need_a_network_and_policies_without_claims_are_refused() -> None:
    with pytest.raises(SettingsError, match="needs the network"):
        ResponseChecker().check("It rains.", EVIDENCE, judge="openai:gpt-4o-mini")
    with pytest.raises(SettingsError, match="no bound on claims"):
        ResponseChecker(Policy("p", bounds=(Bound("cer", at_most=0.1), Bound("ragas:faithfulness", at_least=0.9))))
