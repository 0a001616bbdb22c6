"""Ways to answer compared on the same patients and turns."""

from msgspec import Struct

from .ranking import Direction


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
