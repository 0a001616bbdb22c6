"""Claims that a judge speaks of alike: the strata in which labels are drawn and counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hallumeter.errors import SettingsError
from hallumeter.records.columns import DECIDED_LABELS
from hallumeter.stats.allocation import FEWEST_LABELS

from .reading import LabelledRun

# The slices of a labelled run.


def record_slices(run: LabelledRun, by: tuple[str, ...]) -> Iterator[tuple[dict[str, str], NDArray[np.bool_]]]:
    """All records, then those of each combination of values of the fields.

    Raises:
        SettingsError: No record has one of the fields.
    """
    for place, name in enumerate(by):
        if not any(values[place] for values in run.slices):
            raise SettingsError(f"--by {name}: no record of the run has that field")
    yield {}, np.ones(len(run.record_ids), dtype=bool)
    if by:
        for values in sorted(set(run.slices)):
            yield dict(zip(by, values, strict=True)), np.array([each == values for each in run.slices])


PARTS = 3
"""Into how many parts of equal size the claims of a label are cut, by their probability."""
OUTSIDE = -1
"""The stratum of claims that the judge did not decide."""


def claim_strata(codes: NDArray[np.int8], probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
    """The stratum of each claim: the judge's label, and which third of that label's probabilities.

    A label whose claims have no probabilities, or all the same one, is one stratum.

    >>> claim_strata(np.array([0, 0, 0, 1, 3], np.int8), np.array([0.1, 0.3, 0.2, 0.9, 0.5])).tolist()
    [0, 2, 1, 3, -1]
    """
    strata = np.full(len(codes), OUTSIDE, dtype=np.int64)
    for code in range(DECIDED_LABELS):
        mine = np.flatnonzero(codes == code)
        strata[mine] = code * PARTS + _thirds(probabilities[mine])
    return strata


def merged_strata(
    strata: NDArray[np.int64], answers: NDArray[Any], is_labelled: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Strata with two labels or more, numbered from 0: one with fewer joins the next of the same answer.

    `answers` says which strata may be joined: those in which the judge said the same, as far as a metric cares.

    >>> is_flagged = np.array([False, False, False, True])
    >>> merged_strata(np.array([0, 0, 1, 3]), is_flagged, np.array([True, True, False, True])).tolist()
    [0, 0, 0, 1]
    """
    found = np.zeros(len(strata), dtype=np.int64)
    number = -1
    for answer in np.unique(answers):
        first = number + 1
        gathered: list[int] = []
        for stratum in np.unique(strata[answers == answer]).tolist():
            gathered.append(stratum)
            mine = np.isin(strata, gathered) & (answers == answer)
            if is_labelled[mine].sum() >= FEWEST_LABELS:
                number += 1
                found[mine] = number
                gathered = []
        if gathered:
            # What is left joins the last one of its answer, or is alone.
            number = max(number, first)
            found[np.isin(strata, gathered) & (answers == answer)] = number
    return found


def _thirds(probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
    """Which part of its like each probability is in; ties stay together, and one unknown makes all unknown."""
    if not len(probabilities) or np.isnan(probabilities).any():
        return np.zeros(len(probabilities), dtype=np.int64)
    cuts = np.quantile(probabilities, np.arange(1, PARTS) / PARTS, method="lower")
    parts: NDArray[np.int64] = np.searchsorted(cuts, probabilities, side="left").astype(np.int64)
    return parts
