"""Thresholds to opinions: the only place where a number becomes good or bad.

A policy is a list of rules, one per metric, each with two bounds: on the good side of the first the metric speaks for
high reliability, beyond the second for low. Which end of the number is looked at (`looks_at`) is part of the rule: the
point, the far end of its interval, or the worst case that the unmeasured claims allow.
"""

from __future__ import annotations

import math
import tomllib
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.records import MetricSummary, Profile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

LooksAt = Literal["point", "interval", "worst_case"]
_TOLERANCE = 1e-12


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """What one metric has to say about reliability."""

    metric: str
    good: float
    """At this value or better the metric speaks for high reliability."""
    bad: float
    """Beyond this value it speaks for low reliability and high risk."""
    looks_at: LooksAt = "point"
    is_required: bool = False
    """Whether high reliability is out of reach while this metric is not measured."""

    def __post_init__(self) -> None:
        if math.isnan(self.good) or math.isnan(self.bad) or self.good == self.bad:
            found = f"good = {self.good:g} and bad = {self.bad:g}"
            raise SettingsError(f"rule for {self.metric!r}: expected two different numbers, found {found}")

    @property
    def is_lower_better(self) -> bool:
        """A lower bound for good than for bad says that less is better."""
        return self.good < self.bad

    def examined(self, row: MetricSummary) -> float | None:
        """The number that this rule looks at; None when it was not measured."""
        if row.value is None:
            return None
        ends = {"point": None, "interval": row.interval, "worst_case": row.bounds}[self.looks_at]
        if ends is None:
            return row.value
        return ends[1] if self.is_lower_better else ends[0]

    def is_good(self, value: float) -> bool:
        """Whether a value speaks for high reliability; the bound itself does."""
        return value <= self.good + _TOLERANCE if self.is_lower_better else value >= self.good - _TOLERANCE

    def is_bad(self, value: float) -> bool:
        """Whether a value speaks for low reliability; the bound itself does not."""
        return value > self.bad + _TOLERANCE if self.is_lower_better else value < self.bad - _TOLERANCE


class Policy(Struct, frozen=True, forbid_unknown_fields=True):
    """Rules that turn a summary into a profile."""

    name: str
    rules: tuple[Rule, ...]


JUDGE_AUDITOR = Policy(
    name="judge-auditor",
    rules=(
        Rule("mihr", good=0.15, bad=0.3, is_required=True),
        Rule("fleiss_kappa", good=0.6, bad=0.4),
        Rule("uncertainty_total", good=0.5, bad=0.8),
    ),
)
"""The reliability table and the high-risk rule of judge-auditor, on points."""

HALLUMETER = Policy(
    name="hallumeter",
    rules=(
        Rule("mihr", good=0.15, bad=0.3, looks_at="worst_case", is_required=True),
        Rule("mahr", good=0.5, bad=0.9, looks_at="worst_case"),
        Rule("gwet_ac1", good=0.6, bad=0.4, looks_at="interval"),
        Rule("uncertainty_total", good=0.5, bad=0.8, looks_at="interval"),
        Rule("far", good=0.1, bad=0.3, looks_at="interval"),
    ),
)
"""The product's own: it looks at worst cases and interval ends, and at AC1, because kappa misleads on skewed labels."""


class PagePolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """When a page counts as hallucinated: so many invented words, and so large a share of what the engine wrote."""

    fewest_words: int = 5
    """Words in invented blocks and loops; fewer are a stray line, such as a stamp that the ground truth omits."""
    smallest_share: float = 0.05

    def __post_init__(self) -> None:
        _check_share("smallest_share", self.smallest_share)

    def is_hallucinated(self, *, invented_words: int, words: int) -> bool:
        """Whether a page with so many invented words among so many is badged; both bounds themselves are.

        >>> PagePolicy().is_hallucinated(invented_words=6, words=80)
        True
        """
        is_large_share = invented_words >= self.smallest_share * words - _TOLERANCE * words
        return invented_words >= max(self.fewest_words, 1) and is_large_share


class EnginePolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """When the figures of an engine are signs that it hallucinates: the bounds of Picarones' narrative."""

    largest_page_rate: float = 0.3
    """Share of its pages that hallucinate."""
    smallest_anchor: float = 0.6
    """Mean anchor score of its pages."""
    largest_ratio: float = 1.3
    """Mean length of what it wrote, in lengths of the ground truth."""

    @property
    def bounds(self) -> dict[str, tuple[float, bool]]:
        """By metric the bound, and whether more than it is a sign."""
        return {
            "hallucinating_page_rate": (self.largest_page_rate, True),
            "anchor_mean": (self.smallest_anchor, False),
            "length_ratio_mean": (self.largest_ratio, True),
        }

    def signs(self, values: Mapping[str, float | None]) -> tuple[str, ...]:
        """The metrics that lie beyond their bounds; what was not measured is no sign, nor is the bound itself.

        >>> EnginePolicy().signs({"hallucinating_page_rate": 0.31, "anchor_mean": 0.6, "length_ratio_mean": None})
        ('hallucinating_page_rate',)
        """
        found = []
        for metric, (bound, is_above) in self.bounds.items():
            value = values.get(metric)
            if value is None:
                continue
            is_beyond = value > bound + _TOLERANCE if is_above else value < bound - _TOLERANCE
            found += [metric] * is_beyond
        return tuple(found)


class WitnessPolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """When a second reading of a page is sure enough to speak against what the first one wrote.

    OCR engines skip what they cannot read, so that a passage is not confirmed is no evidence by itself.
    """

    fewest_words: int = 10
    """Of the witness."""
    lowest_confidence: float = 0.8
    """Of the witness in its own reading."""
    smallest_share: float = 0.5
    """Of the engine's words that the witness has too, or else of the witness's words that the engine lacks."""
    fewest_copies: int = 6
    """Of a loop that speaks for itself: a refrain, or "ditto" in a list, comes again as well."""

    def __post_init__(self) -> None:
        _check_share("lowest_confidence", self.lowest_confidence)
        _check_share("smallest_share", self.smallest_share)

    def why_not(self, *, words: int, confidence: float | None, confirmed: float, contradicted: float) -> str | None:
        """Why the witness cannot speak against the engine; None when it can. The bounds themselves are good enough.

        `confirmed` is the share of the engine's words that the witness has, `contradicted` the share of the witness's
        words that the engine lacks.
        """
        # The reasons hold no numbers of the page, so that pages with the same reason can be counted together.
        if words < self.fewest_words:
            return f"the witness read fewer than {self.fewest_words} words"
        if confidence is None:
            return "the witness does not say how sure it is of its reading"
        if confidence < self.lowest_confidence - _TOLERANCE:
            return f"the witness is less than {self.lowest_confidence:g} sure of its reading"
        if max(confirmed, contradicted) < self.smallest_share - _TOLERANCE:
            return "the witness confirms too little of what the engine wrote, and may have skipped a part of the page"
        return None


def judges_apart(rows: Iterable[MetricSummary]) -> tuple[str, ...]:
    """Judges without whom the others agree better by more than chance, the largest gain first.

    They are those whose `alpha_gain_without` has an interval that lies above 0.
    """
    gains = [
        (row.value, row.judge)
        for row in rows
        if row.metric == "alpha_gain_without" and row.judge is not None and row.value is not None
        if row.interval is not None and row.interval[0] > 0
    ]
    return tuple(judge for _, judge in sorted(gains, key=lambda gain: -gain[0]))


def profile_of(policy: Policy, rows: Mapping[str, MetricSummary]) -> Profile:
    """The opinion of a policy on the headline rows of a summary, by metric."""
    return opinion_on(
        policy, {rule.metric: rule.examined(rows[rule.metric]) for rule in policy.rules if rule.metric in rows}
    )


def opinion_on(policy: Policy, values: Mapping[str, float | None]) -> Profile:
    """The opinion of a policy on the numbers that its rules look at; None, or no entry, for what was not measured.

    Low when any measured metric is beyond its bad bound, high when every measured one is good and none that is
    required is missing, unknown when nothing was measured, else medium. What was not measured never raises a risk.

    >>> opinion_on(JUDGE_AUDITOR, {"mihr": 2 / 3}).reliability
    'low'
    """
    measured = {rule: value for rule in policy.rules if (value := values.get(rule.metric)) is not None}
    if not measured:
        return Profile(policy.name, "unknown", is_high_risk=False, reasons=("nothing was measured",))
    missing = [rule for rule in policy.rules if rule.is_required and rule not in measured]
    reasons = [f"{rule.metric} was not measured" for rule in missing]
    reasons += [_reason(rule, value) for rule, value in measured.items() if not rule.is_good(value)]
    is_high_risk = any(rule.is_bad(value) for rule, value in measured.items())
    return Profile(
        policy=policy.name,
        reliability="low" if is_high_risk else "medium" if reasons else "high",
        is_high_risk=is_high_risk,
        measured=tuple(rule.metric for rule in measured),
        reasons=tuple(reasons),
    )


def parse_policy(text: str, *, source: str, known_metrics: Collection[str]) -> Policy:
    r"""Read a policy from TOML; every fault names the file, the rule and what was expected.

    >>> policy = parse_policy('name = "mine"\n[[rules]]\nmetric = "mihr"\ngood = 0.1\nbad = 0.2',
    ...                       source="policy.toml", known_metrics=["mihr"])
    >>> policy.rules[0].bad
    0.2
    """
    try:
        policy = msgspec.convert(tomllib.loads(text), Policy)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{source}: not valid TOML: {error}") from None
    except SettingsError as error:
        raise SettingsError(f"{source}: {error}") from None
    except msgspec.ValidationError as error:
        raise SettingsError(f"{source}: {error}; a policy has a name and [[rules]] with metric, good, bad") from None
    if not policy.rules:
        raise SettingsError(f"{source}: no [[rules]] found; a policy has at least one, with metric, good and bad")
    unknown = [rule.metric for rule in policy.rules if rule.metric not in known_metrics]
    if unknown:
        raise SettingsError(f"{source}: unknown metric {unknown[0]!r}; `hallumeter metrics` lists those that exist")
    return policy


def headline_rows(rows: Iterable[MetricSummary], headline: str | None) -> dict[str, MetricSummary]:
    """The rows that speak of the whole run: one per metric, by the headline judge where judges differ."""
    chosen: dict[str, MetricSummary] = {}
    for row in rows:
        if not row.by and (row.judge in (None, headline) or row.metric not in chosen):
            chosen[row.metric] = row
    return chosen


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise SettingsError(f"{name} is {value:g}; expected a share from 0 to 1, such as 0.05")


def _reason(rule: Rule, value: float) -> str:
    looked_at = {"point": "is", "interval": "is up to" if rule.is_lower_better else "is down to"}
    verb = looked_at.get(rule.looks_at, "is in the worst case")
    side = "above" if rule.is_lower_better else "below"
    bound = rule.bad if rule.is_bad(value) else rule.good
    return f"{rule.metric} {verb} {value:.3f}, {side} {bound:g}"
