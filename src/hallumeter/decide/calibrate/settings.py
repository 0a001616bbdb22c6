"""How a threshold is chosen."""

from __future__ import annotations

from msgspec import Struct

from hallumeter.claims.labelled.sources import LabelSettings
from hallumeter.errors import SettingsError
from hallumeter.records.decisions import RiskName, Unit
from hallumeter.stats.summarize import check_interval_settings
from hallumeter.text.normalize import one_line

# What is to be promised, in plain words.

LONGEST = 200
"""Characters that a target may have."""
FORMS: dict[RiskName, str] = {
    "among_accepted": "at most {} hallucinated among accepted",
    "of_all": "at most {} of all hallucinated and accepted",
    "missed": "miss at most {} of hallucinations",
}
_LEFT_OUT = {"the", "of", "all", "are", "is"}
_SAME = {"hallucinations": "hallucinated", "hallucination": "hallucinated", "missed": "miss"}
_RISKS: dict[tuple[str, ...], RiskName] = {
    ("at", "most", "{}", "hallucinated", "among", "accepted"): "among_accepted",
    ("at", "most", "{}", "hallucinated", "and", "accepted"): "of_all",
    ("at", "most", "{}", "accepted", "and", "hallucinated"): "of_all",
    ("miss", "at", "most", "{}", "hallucinated"): "missed",
}


class Target(Struct, frozen=True):
    """A risk and the most that it may be."""

    risk: RiskName
    limit: float

    @property
    def words(self) -> str:
        """The target as it is written."""
        return FORMS[self.risk].format(f"{self.limit * 100:g}%")


def read_target(text: str) -> Target:
    """Understand a target.

    Raises:
        SettingsError: It has none of the three forms, or its share is not between 0 and 1.

    >>> read_target("At most 5% hallucinated among accepted")
    Target(risk='among_accepted', limit=0.05)
    >>> read_target("miss at most 0.1 of the hallucinations").words
    'miss at most 10% of hallucinations'
    """
    words = text[: LONGEST + 1].lower().replace(" %", "%").split()
    numbers = [word for word in words if word[0].isdigit() or word[0] in "-+."]
    shape = tuple(
        "{}" if word in numbers else _SAME.get(word, word) for word in words if word not in _LEFT_OUT or word in numbers
    )
    risk = _RISKS.get(shape)
    if risk is None or len(text) > LONGEST:
        forms = "; ".join(f'"{form.format("5%")}"' for form in FORMS.values())
        raise SettingsError(f"--target {one_line(text[:LONGEST])!r}: expected one of {forms}")
    return Target(risk, _share(numbers[0]))


def _share(word: str) -> float:
    try:
        share = float(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
    except ValueError:
        raise SettingsError(f"--target: {one_line(word)!r} is no number; expected a share such as 5% or 0.05") from None
    if not 0 < share < 1:
        raise SettingsError(f"--target: the share is {one_line(word)}; expected one between 0% and 100%, such as 5%")
    return share


class CalibrateSettings(Struct, frozen=True, kw_only=True):
    """Settings of a calibration."""

    target: str = "at most 5% hallucinated among accepted"
    """What to promise, in words; `read_target` knows them."""
    source: LabelSettings = LabelSettings()
    """Which labels, judge and slices."""
    unit: Unit | None = None
    """What is accepted; None for responses where these are labelled as wholes, else claims."""
    confidence: float = 0.9
    """Of the promise, and of the intervals."""
    is_on_average: bool = False
    """Promise the target on average over calibrations, not in so many of a hundred of them."""
    is_joint: bool = False
    """Whether the confidence is to hold for all slices at once."""
    resamples: int = 2_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_interval_settings(confidence=self.confidence, resamples=self.resamples, seed=self.seed)
        if self.is_on_average and self.promised.risk == "among_accepted":
            raise SettingsError(
                "on average, only the targets of all and of what is missed can be promised: the share hallucinated "
                "among accepted may fall while the threshold rises"
            )

    @property
    def promised(self) -> Target:
        """The target, understood."""
        return read_target(self.target)
