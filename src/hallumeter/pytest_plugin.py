"""A plugin of pytest: the fixture `hallumeter` checks what an application answers.

    def test_the_answer_is_supported(hallumeter):
        hallumeter.check(answer("How high is the tower?"), evidence="The tower is 330 m high.")

It is loaded whenever pytest starts, so it imports nothing but pytest until the fixture is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from hallumeter.claims.check import ResponseChecker
    from hallumeter.records.claim import Finding
    from hallumeter.records.judging import Judge


POLICY, JUDGE = "hallumeter_policy", "hallumeter_judge"

__all__ = ["Hallumeter", "hallumeter", "pytest_addoption"]


class Hallumeter:
    """What tests get by the name of the fixture."""

    def __init__(self, checker: ResponseChecker) -> None:
        self._checker = checker

    def check(
        self,
        response: str,
        evidence: object,
        question: str | None = None,
        *,
        judge: str | Judge | Callable[..., object] | None = None,
    ) -> tuple[Finding, ...]:
        """Fail the test unless the evidence supports the response, with the unsupported claims in the message.

        Evidence is a text, several, or any JSON object. The bounds are those of the policy that the setting
        `hallumeter_policy` names; without it no claim may be unsupported. What cannot be measured fails as well: a
        response without a claim, or a claim on which the judge cannot tell. Returns the claims with their verdicts.
        """
        __tracebackhide__ = True
        checked = self._checker.check(response, evidence, question=question, judge=judge)
        if checked.problems:
            raise AssertionError(f"hallumeter ({checked.judge}): {checked.message}")
        return checked.findings


def pytest_addoption(parser: pytest.Parser) -> None:
    """The settings in pyproject.toml or pytest.ini."""
    parser.addini(POLICY, "TOML policy whose bounds every checked response is held to", default="")
    parser.addini(JUDGE, "who judges: embedded, embedded:fast or rules", default="embedded")


@pytest.fixture(scope="session")
def hallumeter(pytestconfig: pytest.Config) -> Hallumeter:
    """Checks responses against their evidence, offline."""
    from hallumeter.catalog import METRICS_BY_ID
    from hallumeter.claims.check import ResponseChecker
    from hallumeter.claims.measure.commands import read_policy
    from hallumeter.errors import HallumeterError

    named = str(pytestconfig.getini(POLICY))
    try:
        policy = read_policy(pytestconfig.rootpath / named, METRICS_BY_ID) if named else None
        return Hallumeter(ResponseChecker(policy, judge=str(pytestconfig.getini(JUDGE))))
    except HallumeterError as error:
        raise pytest.UsageError(f"{POLICY}: {error}") from None
