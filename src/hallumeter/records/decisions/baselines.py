"""A judge beside what needs no judge: guessing, length, shared words, and evidence that belongs to another response."""

from typing import Literal

from msgspec import Struct

from .labels import LabelCensus

BASELINES_VERSION = 1
"""Of the form of a file of baselines."""

Baseline = Literal["always_positive", "length", "overlap", "shuffled_overlap", "shuffled_judge"]
"""Flagging everything; how long a text is; how few of its words the evidence has; the same with the evidence of another
response; and the judge itself with that evidence."""
Level = Literal["claim", "response"]
"""What is told apart: claims, or responses with an unsupported claim."""
Standing = Literal["better", "not_distinguishable", "worse"]
"""How the judge stands to a baseline, after correction for all baselines."""


class Discrimination(Struct, frozen=True):
    """How well something tells unsupported from supported, on units that people labelled."""

    units: int
    """Labelled claims, or responses."""
    positives: float
    """Unsupported ones; a fraction where annotators disagree."""
    clusters: int
    """What they are nested in, and drawn by."""
    auroc: float | None
    """How probable it is that an unsupported unit scores above a supported one; equal scores count half."""
    interval: tuple[float, float] | None
    flagged: int | None = None
    """Units that it flags: the judge by its own decision, a baseline at a threshold that other responses chose."""
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    undefined: str | None = None
    """Why there is no AUROC."""


class BaselineRow(Struct, frozen=True):
    """The judge beside one baseline, on the same units."""

    baseline: Baseline
    found: Discrimination
    """Of the baseline."""
    judge_auroc: float | None = None
    """The judge's on these units: some may lack what the baseline needs."""
    difference: float | None = None
    """AUROC of the judge less that of the baseline."""
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    """Two-sided, that both AUROCs are the same."""
    adjusted_p_value: float | None = None
    """After Holm's correction over the baselines of this judge at this level."""
    standing: Standing | None = None
    direction: Literal["longer", "shorter"] | None = None
    """Which texts are suspicious, by length: whichever does better on the labels."""


class LevelBaselines(Struct, frozen=True):
    """A judge and all baselines at one level."""

    level: Level
    score: Literal["probability", "label", "count"]
    """What the judge is ranked by: its probability to be unsupported (of a response: the largest of its claims), its
    label, or the number of claims that it calls unsupported."""
    judge: Discrimination
    rows: tuple[BaselineRow, ...]
    left_out: int = 0
    """Labelled units that the judge left undecided, or failed on."""


class JudgeBaselines(Struct, frozen=True):
    """One judge of a run."""

    judge: str
    """Or `consensus`."""
    levels: tuple[LevelBaselines, ...]
    shuffled: str | None = None
    """Why the judge was not asked again with other evidence, and what that would take; None where it was."""


class ShuffledVerdict(Struct, frozen=True, array_like=True):
    """What a judge said of a claim beside the evidence of another response."""

    judge: str
    record_id: str
    claim_id: str
    label: str
    unsupported_probability: float | None = None


class NullBaselines(Struct, frozen=True):
    """Every judge of a run beside the baselines."""

    version: int
    run: str
    fingerprint: str
    """Of the verdicts of the run: what was kept belongs to no others."""
    cluster: str
    """What is drawn together."""
    confidence: float
    seed: int
    census: LabelCensus
    judges: tuple[JudgeBaselines, ...]
    verdicts: tuple[ShuffledVerdict, ...] = ()
    """With evidence of other responses; kept, so that no judge is asked twice."""
    notices: tuple[str, ...] = ()


class JudgeChecks(Struct, frozen=True):
    """What labels say about the judges of a run, for its report."""

    baselines: NullBaselines | None = None
    """None where nothing is labelled."""
