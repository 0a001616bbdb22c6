"""A plugin of pytest: the fixture `hallumeter_check` checks what an application answers.

    def test_the_answer_is_supported(hallumeter_check):
        hallumeter_check(answer("How high is the tower?"), evidence="The tower is 330 m high.")

It is loaded whenever pytest starts, so it imports nothing but pytest until a fixture is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from hallumeter.claims.check_bounds import ResponseBounds
    from hallumeter.claims.checked import Check, OnRefusal
    from hallumeter.records.claim import Finding
    from hallumeter.records.judging import Judge


POLICY, JUDGE, ON_REFUSAL, NETWORK = (
    f"hallumeter_{name}" for name in ("policy", "judge", "on_refusal", "language_models")
)
MARKER = "hallumeter_llm"

__all__ = ["AnswerCheck", "Hallumeter", "hallumeter", "hallumeter_check", "pytest_addoption", "pytest_configure"]


class CallOptions(TypedDict, total=False):
    """What a single call can say otherwise than the settings of pytest."""

    judge: str | Judge | Callable[..., object] | None
    preset: str | None
    threshold: float | None
    on_refusal: OnRefusal | None


class AnswerCheck:
    """What tests get by the name `hallumeter_check`."""

    def __init__(self, settings: dict[str, Any], bounds: ResponseBounds | None, *, may_use_network: bool) -> None:
        self._settings, self._bounds = settings, bounds
        self._may_use_network = may_use_network

    def __call__(
        self, response: str, evidence: object, question: str | None = None, **options: Unpack[CallOptions]
    ) -> Check:
        """Fail the test unless the evidence supports the response, with the unsupported words marked in the message.

        Evidence is a text, several, or any JSON object. `judge`, `preset`, `threshold` and `on_refusal` are those of
        `hallumeter.check`. The bounds are those of the policy that the setting `hallumeter_policy` names; without it no
        claim may be unsupported. What cannot be measured fails as well: a response without a claim, or a claim on which
        the judge cannot tell; and a refusal, unless `on_refusal` is ``pass``.
        """
        __tracebackhide__ = True
        from hallumeter.claims.check import CheckSettings, checked, needs_network

        given = {name: value for name, value in options.items() if value is not None}
        settings = CheckSettings(**{**self._settings, **given})
        if needs_network(settings.judge) and not self._may_use_network:
            raise pytest.UsageError(
                f"{settings.judge} needs the network: mark the test with @pytest.mark.{MARKER}, "
                f"or set {NETWORK} = true, and use the fixture hallumeter_check"
            )
        found = checked(response, evidence, question, settings=settings)
        problems = self._problems(found)
        if problems:
            raise AssertionError("\n".join([f"hallumeter: {problems[0]}", *problems[1:], *repr(found).split("\n")[1:]]))
        return found

    def _problems(self, found: Check) -> list[str]:
        if self._bounds is None:
            return [] if found.passed else [found.headline]
        return list(self._bounds.problems(found))


class Hallumeter:
    """What tests get by the name `hallumeter`, which hides the module in a test that takes it."""

    def __init__(self, check_answer: AnswerCheck) -> None:
        self._check = check_answer

    def check(
        self, response: str, evidence: object, question: str | None = None, **options: Unpack[CallOptions]
    ) -> tuple[Finding, ...]:
        """Fail the test as `hallumeter_check` does; returns the claims with their verdicts."""
        __tracebackhide__ = True
        return _findings(self._check(response, evidence, question, **options))


def _findings(found: Check) -> tuple[Finding, ...]:
    from hallumeter.claims.checked import FAILED
    from hallumeter.records.claim import Claim, Finding, Label, Verdict
    from hallumeter.records.response import Quote

    findings = []
    for number, each in enumerate(found.findings):
        claim = Claim("response", f"response#{number}", start=each.start, end=each.end, text=each.text)
        verdict = None
        if each.label != FAILED:
            verdict = Verdict(
                record_id="response",
                claim_id=claim.claim_id,
                judge=found.judge,
                label=Label(each.label),
                unsupported_probability=each.probability,
                reason=each.reason,
                start=each.wrong_start if each.wrong_start is not None else each.start,
                end=each.wrong_end if each.wrong_end is not None else each.end,
                evidence=() if each.evidence_id is None else (Quote(each.evidence_id, quote=each.quote),),
                note=each.note,
            )
        findings.append(Finding(claim, () if verdict is None else (verdict,)))
    return tuple(findings)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The settings in pyproject.toml or pytest.ini."""
    parser.addini(POLICY, "TOML policy whose bounds every checked response is held to", default="")
    parser.addini(JUDGE, "who judges: embedded, embedded:fast, rules, or a language model", default="embedded")
    parser.addini(ON_REFUSAL, "what becomes of a refusal: unmeasured and fail fail, pass passes", default="unmeasured")
    parser.addini(NETWORK, "whether language models may judge in every test", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", f"{MARKER}: hallumeter_check may ask a language model, over the network")


@pytest.fixture(scope="session")
def _hallumeter_settings(pytestconfig: pytest.Config) -> tuple[dict[str, Any], ResponseBounds | None, bool]:
    """What the settings of pytest say, read once."""
    from hallumeter.claims.check import CheckSettings
    from hallumeter.errors import HallumeterError

    named = str(pytestconfig.getini(POLICY))
    settings: dict[str, Any] = {
        "judge": str(pytestconfig.getini(JUDGE)),
        "on_refusal": str(pytestconfig.getini(ON_REFUSAL)),
    }
    try:
        CheckSettings(**settings)
        bounds = None
        if named:
            from hallumeter.catalog import METRICS_BY_ID
            from hallumeter.claims.check_bounds import bounds_of
            from hallumeter.claims.measure.commands import read_policy

            bounds = bounds_of(read_policy(pytestconfig.rootpath / named, METRICS_BY_ID))
    except HallumeterError as error:
        raise pytest.UsageError(f"{POLICY if named else ON_REFUSAL}: {error}") from None
    return settings, bounds, bool(pytestconfig.getini(NETWORK))


@pytest.fixture
def hallumeter_check(
    request: pytest.FixtureRequest, _hallumeter_settings: tuple[dict[str, Any], ResponseBounds | None, bool]
) -> AnswerCheck:
    """Checks an answer against its evidence, and fails the test if it is not supported."""
    settings, bounds, is_allowed = _hallumeter_settings
    is_marked = request.node.get_closest_marker(MARKER) is not None
    return AnswerCheck(settings, bounds, may_use_network=is_allowed or is_marked)


@pytest.fixture(scope="session")
def hallumeter(_hallumeter_settings: tuple[dict[str, Any], ResponseBounds | None, bool]) -> Hallumeter:
    """The same as a method, `hallumeter.check`; prefer `hallumeter_check`, which does not hide the module."""
    settings, bounds, is_allowed = _hallumeter_settings
    return Hallumeter(AnswerCheck(settings, bounds, may_use_network=is_allowed))
