"""Judges beside each other: who agrees with whom, where they differ, and whether their probabilities hold."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from hallumeter.metrics.agreement import cohen_kappa
from hallumeter.records import Label
from hallumeter.records.columns import DECIDED_LABELS, LABEL_CODES, Ratings
from hallumeter.report.counting.votes import BINS
from hallumeter.stats import expected_calibration_error

from .sections import CONFUSED, Calibration, CalibrationBin, JudgePair

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from hallumeter.report.counting.votes import CalibrationTally, VoteTally

JUDGES_SHOWN = 12
"""More judges make a table that nobody reads: those with most verdicts are kept."""
LEVELS = 5
_LABELS = len(LABEL_CODES)
_ORDER = [LABEL_CODES[Label(name)] for name in CONFUSED]


def most_active(judges: Mapping[str, int]) -> list[str]:
    """The judges with most verdicts, at most as many as are shown, in the order in which they were given."""
    ranked = sorted(judges, key=lambda judge: -judges[judge])[:JUDGES_SHOWN]
    return [judge for judge in judges if judge in ranked]


def judge_pairs(tally: VoteTally, verdicts: Mapping[str, int]) -> tuple[JudgePair, ...]:
    """Every two of the most active judges; `verdicts` is how many each of them gave."""
    places = {judge: place for place, judge in enumerate(tally.judges)}
    shown = most_active({judge: verdicts.get(judge, 0) for judge in tally.judges})
    if len(shown) < 2:
        return ()
    return tuple(
        _pair(first, second, _block(tally.together, places[first], places[second]))
        for first, second in combinations(shown, 2)
    )


def calibrations(tally: VoteTally, verdicts: Mapping[str, int], *, confidence: float) -> tuple[Calibration, ...]:
    """The judges that give probabilities, as far as they are shown."""
    shown = most_active({judge: verdicts.get(judge, 0) for judge in tally.calibration})
    return tuple(_calibration(judge, tally, confidence=confidence) for judge in shown)


def pair_grid(pairs: Sequence[JudgePair]) -> tuple[list[str], dict[tuple[str, str], JudgePair]]:
    """The judges of all pairs, and each pair under both orders of its names."""
    judges = list(dict.fromkeys(judge for pair in pairs for judge in (pair.first, pair.second)))
    return judges, {names: pair for pair in pairs for names in ((pair.first, pair.second), (pair.second, pair.first))}


def agreement_level(kappa: float) -> int:
    """How dark a kappa is drawn: 0 for none or less than chance gives, 5 for full agreement.

    >>> agreement_level(-0.2), agreement_level(0.47), agreement_level(1.0)
    (0, 3, 5)
    """
    return min(LEVELS, max(0, math.ceil(kappa * LEVELS)))


def _block(together: NDArray[np.int64], first: int, second: int) -> NDArray[np.int64]:
    """Claims by the labels of two judges, as codes."""
    rows, columns = (slice(place * _LABELS, (place + 1) * _LABELS) for place in (first, second))
    return together[rows, columns]


def _pair(first: str, second: str, table: NDArray[np.int64]) -> JudgePair:
    decided = table[:DECIDED_LABELS, :DECIDED_LABELS]
    votes = np.indices(decided.shape).reshape(2, -1).T.astype(np.int8)
    kappa = cohen_kappa(Ratings(votes, decided.ravel(), (first, second)), 0, 1)
    return JudgePair(
        first,
        second,
        shared=int(decided.sum()),
        agreed=int(np.trace(decided)),
        kappa=kappa.value,
        undefined=kappa.undefined,
        table=tuple(tuple(row) for row in table[np.ix_(_ORDER, _ORDER)].tolist()),
    )


def _calibration(judge: str, votes: VoteTally, *, confidence: float) -> Calibration:
    tally = votes.calibration[judge]
    bins = tuple(_bin(tally, place, confidence=confidence) for place in range(BINS))
    counts, totals = [each.count for each in bins], [each.total for each in bins]
    return Calibration(
        judge,
        reference=votes.reference,
        claims=sum(totals),
        without_reference=tally.without_reference,
        error=expected_calibration_error(counts, totals, tally.sums),
        bins=bins if sum(totals) else (),
    )


def _bin(tally: CalibrationTally, place: int, *, confidence: float) -> CalibrationBin:
    rate = tally.cells.rate([place], confidence=confidence)
    return CalibrationBin(
        start=place / BINS,
        end=(place + 1) / BINS,
        count=rate.count,
        total=rate.total,
        mean=float(tally.sums[place]) / rate.total if rate.total else None,
        interval=rate.interval,
    )
