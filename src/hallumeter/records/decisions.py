"""What people say is true of claims and of responses, and what came of computing numbers once more."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from .claim import Label

# A run held to the bounds of a policy.

GATE_VERSION = 1
"""Of the form of a gate's result."""


class Place(Struct, frozen=True):
    """Where a record or a claim stands in a file."""

    file: str
    line: int | None = None
    """From 1; None when it is not known."""


class OffendingClaim(Struct, frozen=True):
    """A claim that the evidence does not support."""

    record_id: str
    claim_id: str
    text: str
    label: str
    reason: str | None = None
    note: str | None = None
    place: Place | None = None


class OffendingRecord(Struct, frozen=True):
    """A record that a metric counts against the run."""

    record_id: str
    count: float
    """What the metric counts in it, of so much."""
    total: float
    place: Place | None = None


class BoundCheck(Struct, frozen=True):
    """One bound on one row of a summary."""

    metric: str
    by: dict[str, str]
    rule: str
    """The bound in words."""
    value: float | None
    """The number that was looked at."""
    point: float | None
    interval: tuple[float, float] | None
    unmeasured: float
    """Share of the claims that are undecided or failed."""
    status: Literal["passed", "broken", "unmeasured"]
    reason: str | None = None
    """Why it is unmeasured, or what to know of it all the same."""
    offenders: tuple[OffendingRecord, ...] = ()
    """The worst records, if the bound is broken."""
    offenders_total: int = 0


class GateResult(Struct, frozen=True):
    """Every bound of a policy on one run."""

    version: int
    run: str
    policy: str
    outcome: Literal["passed", "broken", "unmeasured"]
    checks: tuple[BoundCheck, ...]
    claims: tuple[OffendingClaim, ...] = ()
    """Claims that the evidence does not support, the first of them."""
    claims_total: int = 0
    notices: tuple[str, ...] = ()
    threshold: float | None = None
    """Where labels were decided again, from the probabilities of the run; None where they are those of the run."""


class GivenLabel(Struct, frozen=True):
    """What one person, or a reference, says of a claim or of a whole response."""

    record_id: str
    claim_id: str | None
    """None for the whole response."""
    annotator: str
    is_unsupported: bool | None
    """None when the annotator could not tell."""
    is_refuted: bool | None = None
    """None where only support was asked for."""
    fingerprint: str | None = None
    """Of the claim that was looked at; None where it was not kept."""

    @classmethod
    def saying(cls, label: Label, record_id: str, claim_id: str | None, *, annotator: str) -> "GivenLabel":
        """From the label itself; UNDECIDED is an annotator who could not tell."""
        if label is Label.UNDECIDED:
            return cls(record_id, claim_id, annotator, None)
        return cls(record_id, claim_id, annotator, label is not Label.SUPPORTED, label is Label.REFUTED)

    @classmethod
    def of_verdict(
        cls, judged: Label, record_id: str, claim_id: str | None, *, is_right: bool, annotator: str
    ) -> "GivenLabel":
        """From right or wrong: a wrong SUPPORTED is unsupported, a wrong REFUTED or NOT_ENOUGH_INFO is supported.

        >>> GivenLabel.of_verdict(Label.SUPPORTED, "r1", "c1", is_right=False, annotator="kim").is_unsupported
        True
        """
        if is_right:
            return cls.saying(judged, record_id, claim_id, annotator=annotator)
        if judged is Label.UNDECIDED:
            return cls(record_id, claim_id, annotator, None)
        is_unsupported = judged is Label.SUPPORTED
        # What was wrongly called supported may be refuted or not; what is supported after all is not refuted.
        return cls(record_id, claim_id, annotator, is_unsupported, None if is_unsupported else False)


class LabelCensus(Struct, frozen=True):
    """What the labels of a run amount to."""

    labels: int
    """All that count: the last word of every annotator on every claim."""
    claims: int
    """Claims with a truth."""
    responses: int
    """Responses with a truth of their own, or with a labelled claim."""
    annotators: dict[str, int]
    """How many labels each of them gave."""
    disputed: int = 0
    """Claims on which annotators disagree; they count by their shares."""
    unsure: int = 0
    """Labels of annotators who could not tell."""
    detached: int = 0
    """Labels of claims that now say something else, or are gone; they do not count."""


# A judge beside what needs no judge: guessing, length, shared words, and evidence that belongs to another response.

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


# A threshold with a promise, and how far the probabilities of a judge can be believed.

CALIBRATION_VERSION = 1
"""Of the form of a calibration."""

RiskName = Literal["among_accepted", "of_all", "missed"]
"""Hallucinated among accepted; hallucinated and accepted among all; accepted among hallucinated."""
Unit = Literal["claim", "response"]


class Promise(Struct, frozen=True):
    """What is promised of what is accepted."""

    risk: RiskName
    limit: float
    """The largest share that is promised."""
    words: str
    """The same in words."""
    confidence: float | None
    """In so many of a hundred calibrations the promise is kept; None for a promise on average over all of them."""
    is_joint: bool = False
    """Whether the confidence holds for all rows at once, not for each on its own."""


class AcceptanceThreshold(Struct, frozen=True):
    """Up to which probability to accept, in all of a run or in a slice of it."""

    by: dict[str, str]
    """The slice, as field and value; empty for all."""
    units: int
    labelled: int
    labelled_clusters: int
    """Responses (patients, questions) that the labelled ones belong to."""
    threshold: float | None
    """The largest probability to be unsupported at which a unit is accepted; None when nothing can be promised."""
    accepted: int = 0
    """Units of the run that it accepts."""
    labelled_accepted: int = 0
    hallucinated: float = 0.0
    """Labelled, accepted and hallucinated; a share where annotators disagree counts as that."""
    risk: float | None = None
    """The share that is promised about, as the labels estimate it."""
    upper_bound: float | None = None
    """What it is at most, by the test of this threshold alone; None for a promise on average."""
    method: str | None = None
    """`binomial`, `betting` or `conformal`."""
    is_weighted: bool = False
    """Whether labelled units stand for different numbers of units."""
    why_not: str | None = None
    best_limit: float | None = None
    """Without a threshold: the smallest limit that could be promised at this confidence."""
    best_threshold: float | None = None
    best_labelled_accepted: int = 0
    fewest_clean: int | None = None
    """Labelled units without a hallucination that are the least to show the promise."""

    @property
    def accepted_share(self) -> float | None:
        """Of all units."""
        return self.accepted / self.units if self.units else None


class ReliabilityBin(Struct, frozen=True):
    """Labelled units whose probabilities are close to each other."""

    low: float
    high: float
    labelled: int
    mean_probability: float
    share: float
    """Of these, hallucinated."""
    interval: tuple[float, float] | None


class ProbabilityScores(Struct, frozen=True):
    """How far probabilities lie from what is true."""

    ece: float
    """Expected calibration error."""
    brier: float
    """Mean squared distance."""
    brier_interval: tuple[float, float] | None


class ProbabilityMap(Struct, frozen=True):
    """What makes the probabilities hold what they promise."""

    method: Literal["isotonic", "logistic"]
    knots: tuple[float, ...] = ()
    values: tuple[float, ...] = ()
    slope: float | None = None
    intercept: float | None = None


class Reliability(Struct, frozen=True):
    """Probabilities beside what is true, before and after they are mapped."""

    labelled: int
    bins: tuple[ReliabilityBin, ...]
    before: ProbabilityScores
    after: ProbabilityScores | None
    """Of maps that were fitted without the cluster they are tried on; None with a single cluster."""
    brier_change: float | None
    """After less before."""
    brier_change_interval: tuple[float, float] | None
    mapping: ProbabilityMap
    """Fitted on all labels."""


class Calibration(Struct, frozen=True):
    """What labels allow to promise about the judge of a run."""

    version: int
    run: str
    judge: str
    unit: Unit
    """What is accepted or not."""
    cluster: str
    """What is drawn together."""
    confidence: float
    """Of the intervals."""
    promise: Promise
    labels: LabelCensus
    unscored: int
    """Units without a probability: they are never accepted."""
    thresholds: tuple[AcceptanceThreshold, ...]
    reliability: Reliability | None
    """None when no labelled unit has a probability."""
    notices: tuple[str, ...] = ()

    @property
    def is_promised(self) -> bool:
        """Whether any threshold keeps the promise."""
        return any(row.threshold is not None for row in self.thresholds)


# Rates corrected for the errors of the judge that counted.

CORRECTION_VERSION = 1
"""Of the form of corrected rates."""


class EstimatedRate(Struct, frozen=True):
    """A rate that labels allow to estimate."""

    value: float | None
    interval: tuple[float, float] | None = None
    interval_method: str | None = None
    undefined: str | None = None
    """Why there is no value; None when there is one."""


class CorrectedRate(Struct, frozen=True):
    """What a judge counts, and what there would be to count."""

    metric: str
    by: dict[str, str]
    """The slice, as field and value; empty for all."""
    unit: str
    """What is counted: claim or response."""
    flagged: int
    """Units that the judge counts."""
    total: int
    """Units that the metric is measured on."""
    labelled: int
    """Units of these with a truth."""
    labelled_clusters: int
    """Responses (patients, questions) that these belong to."""
    raw: EstimatedRate
    """The judge's own rate; its interval knows nothing of the judge's errors."""
    corrected: EstimatedRate
    """Prediction-powered: what the labels say each answer of the judge is worth."""
    rogan_gladen: EstimatedRate
    """From the judge's rate, sensitivity and specificity."""
    sensitivity: EstimatedRate
    specificity: EstimatedRate
    more_labels: int | None = None
    """Labels that are still missing for the wanted width; None when labels alone do not suffice."""
    narrowest: float | None = None
    """Half the width of the interval if every unit were labelled; None without an estimate."""


class Correction(Struct, frozen=True):
    """Every rate of a run that its labels allow to correct."""

    version: int
    run: str
    judge: str
    cluster: str
    """The unit of resampling."""
    confidence: float
    half_width: float
    """What `more_labels` is asked for."""
    labels: LabelCensus
    rates: tuple[CorrectedRate, ...]
    notices: tuple[str, ...] = ()

    @property
    def is_corrected(self) -> bool:
        """Whether any rate could be."""
        return any(rate.corrected.value is not None for rate in self.rates)


# What labels say about the judges of a run, for its report.


class JudgeChecks(Struct, frozen=True):
    """Everything that could be computed without asking a judge."""

    baselines: NullBaselines | None = None
    correction: Correction | None = None
    """Of the judge that the headline rests on."""


# What came of computing numbers once more.

Outcome = Literal["equal", "different", "not_verifiable"]
MOST_DIFFERENCES = 20
"""Differences that are kept of one check; all are counted."""


class Difference(Struct, frozen=True):
    """A number, or a line, that is not what it should be."""

    where: str
    found: str
    """As it stands there."""
    computed: str
    """As it should be."""


class Check(Struct, frozen=True, kw_only=True):
    """One thing that was verified, or could not be."""

    name: str
    """What was looked at, such as a file."""
    equal: int = 0
    """Numbers, files or lines that are as they should be."""
    different: int = 0
    differences: tuple[Difference, ...] = ()
    """The first of them."""
    why_not: str | None = None
    """Why it could not be verified; None when it could."""

    @property
    def outcome(self) -> Outcome:
        """A difference weighs more than what could not be verified."""
        if self.different:
            return "different"
        return "equal" if self.why_not is None else "not_verifiable"


class Verification(Struct, frozen=True):
    """Everything that was verified."""

    subject: str
    """The run folder, or the page."""
    checks: tuple[Check, ...]

    @property
    def outcome(self) -> Outcome:
        """Different if anything is; not verifiable if anything could not be."""
        found = {check.outcome for check in self.checks}
        if "different" in found:
            return "different"
        return "equal" if found == {"equal"} else "not_verifiable"


def check_of(name: str, equal: int, differences: Iterable[Difference]) -> Check:
    """A check with what was found different."""
    found = list(differences)
    return Check(name=name, equal=equal, different=len(found), differences=tuple(found[:MOST_DIFFERENCES]))
