"""The thresholds that a user of judge-auditor may set, as a hallumeter policy."""

import math
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from hallumeter.errors import SettingsError
from hallumeter.metrics.uncertainty import UncertaintyMethod
from hallumeter.policy import JUDGE_AUDITOR, Policy, Rule


class HallucinationMetricsConfig(Struct, frozen=True):
    """When a profile is high-risk, and how uncertainty is split."""

    mihr_high_risk_threshold: float = 0.3
    """High risk above this MiHR."""
    kappa_low_threshold: float = 0.4
    """High risk below this kappa."""
    uncertainty_high_threshold: float = 0.8
    """High risk above this total uncertainty; in nats for the method `information`."""
    uncertainty_method: UncertaintyMethod = "information"
    """`literal` is judge-auditor's formula word by word: it never exceeds 0.5, and is highest for a certain judge."""

    def __post_init__(self) -> None:
        _check_range("mihr_high_risk_threshold", self.mihr_high_risk_threshold, 0, 1)
        _check_range("kappa_low_threshold", self.kappa_low_threshold, -1, 1)
        _check_range("uncertainty_high_threshold", self.uncertainty_high_threshold, 0, math.inf)
        methods = get_args(UncertaintyMethod)
        if self.uncertainty_method not in methods:
            raise SettingsError(
                f"uncertainty_method is {self.uncertainty_method!r}; expected one of {', '.join(methods)}"
            )

    @property
    def policy(self) -> Policy:
        """Judge-auditor's reliability table with these thresholds."""
        thresholds = {
            "mihr": self.mihr_high_risk_threshold,
            "fleiss_kappa": self.kappa_low_threshold,
            "uncertainty_total": self.uncertainty_high_threshold,
        }
        return Policy(
            JUDGE_AUDITOR.name, tuple(_with_threshold(rule, thresholds[rule.metric]) for rule in JUDGE_AUDITOR.rules)
        )


def _check_range(name: str, value: float, lowest: float, highest: float) -> None:
    if not lowest <= value <= highest:
        upper = f" to {highest:g}" if highest < math.inf else " up"
        raise SettingsError(f"{name} is {value:g}; expected a number from {lowest:g}{upper}")


def _with_threshold(rule: Rule, threshold: float) -> Rule:
    """The rule with another bad bound.

    A threshold stricter than the good bound takes that bound along: what is not bad is then good, with nothing between.
    """
    if rule.is_lower_better:
        good = min(rule.good, math.nextafter(threshold, -math.inf))
    else:
        good = max(rule.good, math.nextafter(threshold, math.inf))
    return replace(rule, good=good, bad=threshold)
