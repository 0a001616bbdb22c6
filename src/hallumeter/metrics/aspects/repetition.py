"""The same sentence in several runs: does it get the same label, the same risks, the same tuples?"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hallumeter.records.aspects.columns import CaseColumns

from .tuples import pairs_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hallumeter.records.aspects.scorecard import Scorecard

UNKNOWN = -1


class Repeated(NamedTuple):
    """What is compared between the runs of a sentence, each as a number that tells it from others."""

    label: int
    risks: int
    tuples: int


def repeated(card: Scorecard) -> Repeated:
    """What a scorecard says that another run of the sentence could say otherwise; `UNKNOWN` where it says nothing."""
    if card.is_failed:
        return Repeated(UNKNOWN, UNKNOWN, UNKNOWN)
    label, validator, result = card.final_label, card.validator_of("stage1"), card.final_result
    risks = None if validator is None else {risk.risk_id or "" for risk in validator.structural_risks}
    tuples = None if result is None or result.final_tuples is None else pairs_of(result.final_tuples)
    return Repeated(
        UNKNOWN if label is None else _number((label,)),
        UNKNOWN if risks is None else _number(tuple(sorted(risks))),
        UNKNOWN if tuples is None else _number(tuple(sorted(tuples))),
    )


def case_columns(cases: NDArray[np.int64], runs: NDArray[np.int64], said: NDArray[np.int64]) -> CaseColumns:
    """Compare the runs of every sentence; `said` has a row of `Repeated` for each scorecard.

    Of two scorecards of one sentence in one run the first counts. A sentence that only one run tells something of has
    nothing to be compared with.

    >>> cases, runs = np.array([0, 0, 1]), np.array([0, 1, 0])
    >>> found = case_columns(cases, runs, np.array([[5, 1, -1], [5, 2, 7], [5, 1, 7]]))
    >>> found.labels.tolist(), found.same_labels.tolist(), found.same_risks.tolist(), found.tuples.tolist()
    ([1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    """
    size = int(cases.max()) + 1 if len(cases) else 0
    columns = [column for place in range(said.shape[1]) for column in _compared(cases, runs, said[:, place], size=size)]
    return CaseColumns(*columns)


def _compared(
    cases: NDArray[np.int64], runs: NDArray[np.int64], said: NDArray[np.int64], *, size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    known = np.flatnonzero(said != UNKNOWN)
    places = cases[known] * (int(runs.max(initial=0)) + 1) + runs[known]
    first = known[np.unique(places, return_index=True)[1]]
    several = np.bincount(cases[first], minlength=size) > 1
    pairs = np.unique(np.stack([cases[first], said[first]]), axis=1)
    is_same = np.bincount(pairs[0], minlength=size) == 1
    return several.astype(np.float64), (several & is_same).astype(np.float64)


@lru_cache(maxsize=1 << 14)
def _number(parts: tuple[str, ...] | tuple[tuple[str, str], ...]) -> int:
    """A number that stays the same in every process, as Python's own hashes do not."""
    text = repr(parts).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest())
