"""Whether annotators say the same of the same claims."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from hallumeter.metrics.agreement import cohen_kappa
from hallumeter.records import Ratings
from hallumeter.stats import distinct_patterns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hallumeter.records.decisions.labels import GivenLabel


class AnnotatorAgreement(Struct, frozen=True):
    """How far two annotators agree on whether claims are supported."""

    annotators: tuple[str, str]
    claims: int
    """Claims on which both said something."""
    agreed: int
    """Claims on which they said the same."""
    kappa: float | None
    """Cohen's."""
    undefined: str | None = None
    """Why there is no kappa; None when there is one."""


def annotator_agreements(said: Iterable[Mapping[str, GivenLabel]]) -> tuple[AnnotatorAgreement, ...]:
    """The agreement of every two annotators with a claim in common, in the order of their names."""
    rows = [
        {name: int(label.is_unsupported) for name, label in labels.items() if label.is_unsupported is not None}
        for labels in said
    ]
    together = [row for row in rows if len(row) > 1]
    names = sorted({name for row in together for name in row})
    pairs = [(pair, _votes(together, pair)) for pair in combinations(names, 2)]
    return tuple(_agreement(pair, votes) for pair, votes in pairs if len(votes))


def _votes(rows: Iterable[Mapping[str, int]], pair: tuple[str, str]) -> np.ndarray:
    return np.array([[row[name] for name in pair] for row in rows if all(name in row for name in pair)], dtype=np.int8)


def _agreement(pair: tuple[str, str], votes: np.ndarray) -> AnnotatorAgreement:
    patterns, times, _ = distinct_patterns(votes)
    found = cohen_kappa(Ratings(patterns, times, pair), 0, 1)
    agreed = int((votes[:, 0] == votes[:, 1]).sum())
    return AnnotatorAgreement(pair, len(votes), agreed, found.value, found.undefined)
