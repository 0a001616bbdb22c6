"""How many claims, and how many responses, the evidence does not support, by labels and in expectation.

Every metric here reads the label counts of each response and returns one rate per response, so that the same two
columns can be pooled, grouped, resampled and written down. Undecided and failed claims are in no count and no total:
they widen the bounds (`rate_bounds`).

A share of flagged claims depends on where a judge draws its line. The mean of calibrated probabilities does not: when
claims with a probability of 0.3 are unsupported in 3 of 10 cases, the probabilities add up to the number of
unsupported claims, whichever of them are called so. How well a judge is calibrated was itself measured on finitely
many claims. Refits of the calibration on resampled claims, each a shift and a slope of the logit, tell how far that
could be off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hallumeter.records.claim import Label, Verdict
from hallumeter.records.columns import Answers, LabelCounts, ProbabilitySums
from hallumeter.records.rate import Rate, Rates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    """Shift and slope of the logit, one pair for each refit."""
    Labelled = LabelCounts | Iterable[Verdict]
    Refits = tuple[tuple[float, float], ...]


# Whether models refuse what cannot be answered, and answer what can.


def false_acceptance_rate(answers: Answers) -> Rates:
    """Share of unanswerable questions that the model answered all the same (FAR).

    Answerable questions are ignored. Undefined when no question is unanswerable.

    >>> false_acceptance_rate(Answers.of([(False, False), (False, True)])).value
    0.5
    """
    return _rates(~answers.is_answerable & ~answers.did_abstain, ~answers.is_answerable)


def correct_refusal_rate(answers: Answers) -> Rates:
    """Share of unanswerable questions that the model refused; one minus the false acceptance rate."""
    return _rates(~answers.is_answerable & answers.did_abstain, ~answers.is_answerable)


def over_refusal_rate(answers: Answers) -> Rates:
    """Share of answerable questions that the model refused. Undefined when no question is answerable."""
    return _rates(answers.is_answerable & answers.did_abstain, answers.is_answerable)


def _rates(
    counts: np.ndarray[tuple[int], np.dtype[np.bool_]], totals: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> Rates:
    return Rates(counts.astype(np.float64), totals.astype(np.float64))


FACTSCORE_GAMMA = 10.0
"""Facts below which FActScore (Min et al. 2023) counts a response as too short."""


def micro_hallucination_rate(verdicts: Labelled) -> Rates:
    """Share of decided claims that the evidence does not support, all responses pooled (MiHR).

    Undefined when no claim is decided.

    >>> labels = [Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_INFO]
    >>> verdicts = [Verdict("r1", f"c{i}", "human", label) for i, label in enumerate(labels)]
    >>> micro_hallucination_rate(verdicts).pooled
    Rate(count=2.0, total=3.0)
    """
    counts = _label_counts(verdicts)
    return _label_rates(counts.unsupported, counts.decided)


def refuted_claim_rate(verdicts: Labelled) -> Rates:
    """Share of decided claims that the evidence contradicts; silence of the evidence is no hallucination here.

    Undefined when no claim is decided.
    """
    counts = _label_counts(verdicts)
    return _label_rates(counts.refuted, counts.decided)


def mean_hallucination_rate(verdicts: Labelled) -> Rates:
    """Mean over responses of the share of unsupported claims, as in HaluEval 2.0 (Li et al. 2024).

    A response with one claim weighs as much as a response with fifty. Undefined when no response has a decided claim.
    """
    counts = _label_counts(verdicts)
    return _mean_of_shares(counts.unsupported, counts.decided)


def macro_hallucination_rate(verdicts: Labelled) -> Rates:
    """Share of responses with at least one unsupported claim, among those with a decided claim (MaHR).

    Undefined when no response has a decided claim.

    >>> verdicts = [Verdict("r1", "c", "human", Label.SUPPORTED), Verdict("r2", "c", "human", Label.REFUTED)]
    >>> macro_hallucination_rate(verdicts).value
    0.5
    """
    counts = _label_counts(verdicts)
    return _label_rates(counts.unsupported > 0, counts.decided > 0)


def factual_precision(verdicts: Labelled) -> Rates:
    """Share of decided claims that the evidence supports (FactScore); one minus MiHR on the same claims.

    Undefined when no claim is decided.
    """
    counts = _label_counts(verdicts)
    return _label_rates(counts.supported, counts.decided)


def penalized_factual_precision(verdicts: Labelled, gamma: float = FACTSCORE_GAMMA) -> Rates:
    """Mean over responses of factual precision times a length penalty (FActScore, Min et al. 2023).

    Responses without a claim are abstentions and left out. The penalty counts all claims of a response, decided or not.
    Undefined when no response has a decided claim.
    """
    counts = _label_counts(verdicts)
    shares = _mean_of_shares(counts.supported, counts.decided)
    return Rates(shares.counts * length_penalty(counts.claims, gamma), shares.totals)


def length_penalty(claims: NDArray[np.int64], gamma: float = FACTSCORE_GAMMA) -> NDArray[np.float64]:
    """FActScore's factor for short responses: exp(1 - gamma / claims) below gamma claims, else 1.

    A gamma of 0 switches the penalty off.

    >>> length_penalty(np.array([1, 5, 10, 30])).round(6).tolist()
    [0.000123, 0.367879, 1.0, 1.0]
    """
    is_short = (claims > 0) & (claims < gamma)
    exponents = np.zeros(len(claims))
    np.divide(gamma, claims, out=exponents, where=is_short)
    return np.where(is_short, np.exp(1.0 - exponents), 1.0)


def rate_bounds(
    metric: Callable[[LabelCounts], Rates], counts: LabelCounts, *, widened_by_claimless: bool
) -> tuple[float, float] | None:
    """The values possible if every unmeasured claim had turned out supported, and if none had.

    A metric that counts responses is also widened by those without any claim: each may be clean or not. The measured
    value is always within, also where it leaves out responses that are wholly unmeasured. None when there is nothing
    that could have been counted.
    """
    best, worst = (metric(counts.resolved(label)).pooled for label in (Label.SUPPORTED, Label.REFUTED))
    claimless = int((counts.claims == 0).sum()) if widened_by_claimless else 0
    return ends_of_rate((best, worst), metric(counts).value, claimless=claimless)


def ends_of_rate(resolved: tuple[Rate, Rate], value: float | None, *, claimless: int) -> tuple[float, float] | None:
    """The same from the pooled rates if every unmeasured claim had turned out supported, and if each were refuted.

    >>> ends_of_rate((Rate(1, 4), Rate(3, 4)), 0.5, claimless=0)
    (0.25, 0.75)
    """
    totals = [rate.total + claimless for rate in resolved]
    if not all(totals):
        return None
    low, high = sorted(rate.count / total for rate, total in zip(resolved, totals, strict=True))
    high += claimless / totals[0]
    return (low, high) if value is None else (min(low, value), max(high, value))


def _label_counts(verdicts: Labelled) -> LabelCounts:
    return verdicts if isinstance(verdicts, LabelCounts) else LabelCounts.of(verdicts)


def _label_rates(counts: NDArray[np.int64] | NDArray[np.bool_], totals: NDArray[np.int64] | NDArray[np.bool_]) -> Rates:
    return Rates(counts.astype(np.float64), totals.astype(np.float64))


def _mean_of_shares(parts: NDArray[np.int64], wholes: NDArray[np.int64]) -> Rates:
    """Each response counts once, with its share; responses without a decided claim count nowhere."""
    shares = np.zeros(len(wholes))
    np.divide(parts, wholes, out=shares, where=wholes > 0)
    return Rates(shares, (wholes > 0).astype(np.float64))


def expected_unsupported_rate(sums: ProbabilitySums) -> Rates:
    """Mean probability of being unsupported over the claims that have one. Undefined when none has.

    >>> sums = ProbabilitySums(np.array([2, 1]), np.array([0.5, 0.1]), unknown=np.array([0, 3]))
    >>> expected_unsupported_rate(sums).pooled
    Rate(count=0.6, total=3.0)
    """
    return Rates(sums.expected, sums.claims.astype(np.float64))


def expected_bounds(sums: ProbabilitySums) -> tuple[float, float] | None:
    """The values possible if all claims without a probability were supported, and if none were; None without claims.

    >>> expected_bounds(ProbabilitySums(np.array([3]), np.array([0.6]), unknown=np.array([1])))
    (0.15, 0.4)
    """
    expected, unknown = float(sums.expected.sum()), int(sums.unknown.sum())
    claims = int(sums.claims.sum()) + unknown
    return (expected / claims, (expected + unknown) / claims) if claims else None


def recalibrated(probabilities: NDArray[np.float64], shift: float, slope: float) -> NDArray[np.float64]:
    """Probabilities after another calibration; 0 and 1 stay what they are.

    >>> recalibrated(np.array([0.0, 0.5, 1.0]), 0.0, 2.0).tolist()
    [0.0, 0.5, 1.0]
    """
    with np.errstate(divide="ignore", over="ignore"):
        logits = np.log(probabilities) - np.log1p(-probabilities)
        return np.asarray(1.0 / (1.0 + np.exp(-(shift + slope * logits))))


def changes_by_response(
    responses: NDArray[np.int64], probabilities: NDArray[np.float64], refits: Refits, *, size: int
) -> NDArray[np.float64]:
    """By how much each refit changes the sum of the probabilities of each response; one column for each refit."""
    changes = np.zeros((size, len(refits)))
    for column, (shift, slope) in enumerate(refits):
        differences = recalibrated(probabilities, shift, slope) - probabilities
        changes[:, column] = np.bincount(responses, differences, minlength=size)
    return changes


def calibration_shifts(sums: ProbabilitySums) -> Sequence[NDArray[np.float64]]:
    """By how much each refit moves the expected share; one array for each calibration, empty without claims.

    The bootstrap adds one of them, drawn at random, to the share of each resample. That is exact for all responses
    together and of first order for a resample: how much a refit moves a share differs between resamples by less than
    either moves it alone, and no sum of each response under each refit is needed for it.
    """
    claims = int(sums.claims.sum())
    return [change.sum(axis=0) / claims for change in sums.changes] if claims else []
