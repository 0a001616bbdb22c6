"""Ways to answer compared on the same patients and turns."""

from typing import Literal

from msgspec import Struct, field

from .ranking import Direction

# What a run of aspect agents comes to, beyond its rates.


class Breakdown(Struct, frozen=True):
    """The parts of a whole in plain counts: which rules decided, why aspects were dropped."""

    name: str
    total: int
    """Of how many the parts are; they need not add up to it."""
    parts: dict[str, int]
    by: dict[str, str] = field(default_factory=dict)
    """The run that it speaks of; empty for all."""
    intervals: dict[str, tuple[float, float]] | None = None
    """Of the share of each part, by Wilson, where the whole counts sentences that add at most one to a part.

    None where one sentence adds several: aspects, risks, proposals, turns and overrides of a sentence belong together,
    as do the same sentences in several runs, and an interval that takes each for itself would be too narrow.
    """


class MappingWarning(Struct, frozen=True):
    """A debate whose turns can hardly be mapped to aspects."""

    level: str
    """``HIGH`` or ``WARN``."""
    metric: str
    value: float
    bound: float
    advice: str


class SeedSpread(Struct, frozen=True):
    """A metric over several runs."""

    metric: str
    mean: float | None
    """Of the runs in which it has a value; None when it has none."""
    deviation: float | None
    """Of the population; None with fewer than two values."""
    runs: int
    """Runs in which it has a value."""


class AspectSummary(Struct, frozen=True):
    """All that a summary of scorecards tells beside its metrics."""

    samples: int = 0
    """Sentences, measured or failed."""
    failed: int = 0
    with_gold: int = 0
    profile: str | None = None
    """The profile that was asked for; None for all."""
    profiles: dict[str, int] = field(default_factory=dict)
    """How many scorecards there are of every profile, those left out included."""
    runs: tuple[dict[str, str], ...] = ()
    """Every run, as its id and its seed."""
    right_under: dict[str, int] = field(default_factory=dict)
    """Spans that are right, by way of counting; ``placed`` is how many could be."""
    suggested_convention: str | None = None
    """The way of counting that makes more spans right than code points do."""
    grounding_sum: float | None = None
    """The four grounding buckets added up, which must be 1."""
    breakdowns: tuple[Breakdown, ...] = ()
    warnings: tuple[MappingWarning, ...] = ()
    spread: tuple[SeedSpread, ...] = ()
    unequal_gold: int = 0
    """Sentences whose gold does not match itself: nothing measured against it can be trusted."""
    unequal_final: int = 0
    """Sentences whose result does not match itself."""


class ModeDifference(Struct, frozen=True):
    """How far two ways to answer lie apart on the turns that both have answered."""

    metric: str
    first: str
    """What is compared with, such as ``llm``."""
    second: str
    """What is compared, such as ``agent``."""
    pairs: int
    """Turns of patients on which both have a value."""
    patients: int
    first_mean: float | None
    """Over the pairs."""
    second_mean: float | None
    difference: float | None
    """Mean of second minus first."""
    interval: tuple[float, float] | None
    """Of the difference, whole patients resampled."""
    effect_size: float | None
    """Cohen's d of the differences: their mean over their standard deviation; None when they do not vary."""
    p_value: float | None
    """Two-sided, by flipping the signs of whole patients."""
    adjusted_p_value: float | None
    """The same after Holm's correction over the metrics."""
    direction: Direction
    """Which way the metric is better."""
    undefined: str | None = None
    """Why there is no difference; None when there is one."""


class Fairness(Struct, frozen=True):
    """Whether all ways to answer were asked the same."""

    modes: tuple[str, ...]
    patients: int
    """Patients that any was asked about."""
    common_turns: int
    """Turns of patients on which all were asked the same question."""
    differences: tuple[str, ...]
    """The first of them, one sentence each."""
    differences_total: int

    @property
    def is_fair(self) -> bool:
        """Whether patients, turns and questions are the same."""
        return not self.differences_total


class ScoreBins(Struct, frozen=True):
    """How the values of a metric are spread over the answers of one mode."""

    metric: str
    mode: str
    answers: tuple[int, ...]
    """In bins of equal width from 0 to 1, the last with its upper end."""
    undefined: int
    """Answers without a value."""


class DialogueSummary(Struct, frozen=True):
    """What a summary of dialogues tells beside its metrics."""

    differences: tuple[ModeDifference, ...] = ()
    fairness: Fairness | None = None
    """None for a single mode."""
    spread: tuple[ScoreBins, ...] = ()


UnitStatus = Literal["absent", "right", "wrong"]


STATUSES: tuple[UnitStatus, ...] = ("absent", "right", "wrong")
"""In the order of their codes, by which they are counted."""
