"""Thresholds to opinions: the only place where a number becomes good or bad.

A policy is a list of rules, one per metric, each with two bounds: on the good side of the first the metric speaks for
high reliability, beyond the second for low. Which end of the number is looked at (`looks_at`) is part of the rule: the
point, the far end of its interval, or the worst case that the unmeasured claims allow. A policy's bounds are what a
gate holds a run to, and `ComparePolicy` says what a difference between two runs amounts to.
"""

from __future__ import annotations

import difflib
import math
import tomllib
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.records import MetricSummary, Profile
from hallumeter.records.comparison import MetricComparison, Outcome, RowOutcome

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


class ComparePolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """When a difference between two runs is a regression, and when it is ruled out that there is one.

    Not shown to differ is not equal: without a regression the second run passes only if one larger than the margin
    is ruled out as well.
    """

    margin: float = 0.05
    """The largest change for the worse that does not matter, in the units of the metric: five points of a rate."""
    margins: dict[str, float] = {}
    """The same for single metrics. A margin that the user chose also excuses a smaller difference that is shown."""
    is_margin_chosen: bool = False
    largest_unmeasured: float = 0.05
    """Share of records, and of claims, that one of the runs may lack before nothing can be said."""

    def __post_init__(self) -> None:
        _check_share("largest_unmeasured", self.largest_unmeasured)
        for margin in (self.margin, *self.margins.values()):
            if not 0 < margin < math.inf:
                raise SettingsError(f"margin is {margin:g}; expected a number above 0, such as 0.02")

    def margin_of(self, metric: str, *, is_share: bool) -> float | None:
        """The margin of a metric; only a share has one that nobody chose."""
        if metric in self.margins:
            return self.margins[metric]
        return self.margin if is_share or self.is_margin_chosen else None

    def outcome_of(self, row: MetricComparison, *, alpha: float, is_unchanged: bool = False) -> RowOutcome:
        """What is shown of one metric, from its tests; nothing has to be where no response and no label changed."""
        if row.difference is None or self.is_unmeasured(row):
            return "unmeasured"
        if is_unchanged:
            return "same"
        is_equal = row.equivalence_p_value is not None and row.equivalence_p_value <= alpha
        is_excused = is_equal and (self.is_margin_chosen or row.metric in self.margins)
        if row.adjusted_p_value is not None and row.adjusted_p_value <= alpha and not is_excused:
            if row.direction == "none":
                return "differs"
            return "worse" if (row.difference > 0) == (row.direction == "lower") else "better"
        if is_equal:
            return "equivalent"
        is_ruled_out = row.not_worse_p_value is not None and row.not_worse_p_value <= alpha
        return "not_worse" if is_ruled_out else "inconclusive"

    def is_unmeasured(self, row: MetricComparison) -> bool:
        """Whether too many claims of either run are undecided or failed."""
        pairs = zip(row.unmeasured, row.measurable, strict=True)
        return any(missing > self.largest_unmeasured * claims + _TOLERANCE for missing, claims in pairs)

    def outcome(self, rows: Iterable[MetricComparison], *, missing: float) -> tuple[Outcome, tuple[str, ...]]:
        """What is shown of all metrics with a better side, and why; `missing` is the share of records not common."""
        decisive = [row for row in rows if row.direction != "none"]
        if worse := [row for row in decisive if row.outcome == "worse"]:
            return "regression", tuple(f"{_where(row)} is worse by more than chance" for row in worse)
        reasons = [f"{_where(row)}: {_why_unmeasured(row)}" for row in decisive if row.outcome == "unmeasured"]
        if missing > self.largest_unmeasured + _TOLERANCE:
            reasons.append(f"{missing:.1%} of the records are in one run only; {self.largest_unmeasured:.1%} may be")
        if reasons or not decisive:
            return "unmeasured", tuple(reasons or ["no metric with a better side was compared"])
        if all(row.outcome == "same" for row in decisive):
            return "no_regression", ("every response, and the label of every claim, is the same in both runs",)
        if open_ones := [row for row in decisive if row.outcome == "inconclusive"]:
            return "inconclusive", tuple(map(_why_inconclusive, open_ones))
        return "no_regression", ("no metric is worse by more than chance, nor possibly by more than its margin",)


def nearest(name: str, known: Collection[str]) -> str:
    """What a misspelt metric may have been meant to be.

    >>> nearest("mihrr", ["mihr", "mahr", "far"])
    'did you mean mihr or mahr?'
    """
    near = difflib.get_close_matches(name, list(known), n=2)
    return f"did you mean {' or '.join(near)}?" if near else "`hallumeter metrics` lists those that exist"


def _where(row: MetricComparison) -> str:
    slice_ = ", ".join(f"{field}={value}" for field, value in row.by.items())
    return f"{row.metric} ({slice_})" if slice_ else row.metric


def _why_unmeasured(row: MetricComparison) -> str:
    return row.undefined or "too many claims are undecided or failed"


def _why_inconclusive(row: MetricComparison) -> str:
    if row.margin is None:
        return f"{_where(row)}: no margin says what is too much; give --margin {row.metric}=NUMBER"
    return f"{_where(row)}: a change for the worse of {row.margin:g} or more is neither shown nor ruled out"


COMPARED = {
    "audit": ("mihr", "mihr_refuted", "mahr"),
    "measure": ("mihr", "mihr_refuted", "mahr"),
    "transcripts": ("invented_rate", "omission_rate", "hallucinating_page_rate"),
    "dialogue": ("sfs", "csp", "cus_improved", "mcs", "ass"),
    "aspects": ("aspect_hallucination_rate", "out_of_text_aspect_rate", "misplaced_aspect_rate", "tuple_f1_final"),
}
"""The metrics that tell whether a run is better, by instrument: few, since every test makes the others stricter."""


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
