"""Modes compared on the same patients, turns and questions."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.dialogue.catalog import METRICS_BY_ID
from hallumeter.records.metric import Metric
from hallumeter.records.summaries import ModeDifference
from hallumeter.run.engines.local import map_in_order
from hallumeter.stats.significance import holm, paired_bootstrap_difference, permutation_p_value
from hallumeter.stats.summarize import SummarySettings

from .rate_table import ONE_ANSWER, RateFile, metric_rates

PLAIN = "llm"
"""The mode that others are compared with, where there is one of this name."""
TESTED = tuple(metric for metric in ONE_ANSWER if metric.id != "dialogue_score")
"""The overall score is made of the others, and takes no part in the tests."""
NO_PAIRS = "no turn of a patient has a value in both modes"
PERMUTATIONS = 10_000


class _Pairs(Struct, frozen=True, eq=False):
    """Sums over the pairs of each patient."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    pairs: NDArray[np.float64]
    difference_squares: float
    """Of single pairs, added up over all patients."""


def mode_differences(
    rate_table: RateFile, modes: Sequence[str], settings: SummarySettings, *, workers: int = 1
) -> tuple[ModeDifference, ...]:
    """Every other mode against the first, or against the plain model where there is one."""
    if len(modes) < 2:
        return ()
    baseline = modes.index(PLAIN) if PLAIN in modes else 0
    found: list[ModeDifference] = []
    for other in range(len(modes)):
        if other != baseline:
            compare = partial(
                _difference, rate_table=rate_table, codes=(baseline, other), modes=modes, settings=settings
            )
            ids = [metric.id for metric in TESTED]
            found += _adjusted(list(map_in_order(compare, ids, workers=workers)))
    return tuple(found)


def _difference(
    metric_id: str, *, rate_table: RateFile, codes: tuple[int, int], modes: Sequence[str], settings: SummarySettings
) -> ModeDifference:
    metric = METRICS_BY_ID[metric_id]
    first, second = (modes[code] for code in codes)
    paired = _paired(rate_table, metric, codes)
    pairs = int(paired.pairs.sum())
    empty = ModeDifference(
        metric=metric.id,
        first=first,
        second=second,
        pairs=pairs,
        patients=len(paired.pairs),
        first_mean=None,
        second_mean=None,
        difference=None,
        interval=None,
        effect_size=None,
        p_value=None,
        adjusted_p_value=None,
        direction=metric.direction,
        undefined=NO_PAIRS,
    )
    if not pairs:
        return empty
    rng = np.random.default_rng([settings.seed, zlib.crc32(f"{metric.id}|{first}|{second}".encode())])
    result = paired_bootstrap_difference(
        (paired.second, paired.pairs),
        (paired.first, paired.pairs),
        rng=rng,
        resamples=settings.resamples,
        confidence=settings.confidence,
    )
    interval = None if result is None or result.interval is None else (result.interval.low, result.interval.high)
    sums = paired.second - paired.first
    return structs.replace(
        empty,
        first_mean=float(paired.first.sum()) / pairs,
        second_mean=float(paired.second.sum()) / pairs,
        difference=float(sums.sum()) / pairs,
        interval=interval,
        effect_size=_effect_size(float(sums.sum()), paired.difference_squares, pairs),
        p_value=permutation_p_value(sums, rng=rng, resamples=PERMUTATIONS),
        undefined=None,
    )


def _effect_size(total: float, squares: float, pairs: int) -> float | None:
    """Cohen's d of paired differences: their mean over their standard deviation; None when they do not vary.

    >>> _effect_size(3.0, 5.0, 3)  # differences 0, 1, 2: mean 1, standard deviation 1
    1.0
    """
    if pairs < 2:
        return None
    mean = total / pairs
    variance = (squares - pairs * mean**2) / (pairs - 1)
    # What is left of equal differences after rounding is no spread.
    return mean / math.sqrt(variance) if variance > 1e-12 * max(1.0, squares) else None


def _adjusted(rows: list[ModeDifference]) -> list[ModeDifference]:
    """Holm's correction over the metrics."""
    tested = [place for place, row in enumerate(rows) if row.p_value is not None]
    adjusted = holm([row.p_value for row in rows if row.p_value is not None]).tolist()
    found = list(rows)
    for place, p_value in zip(tested, adjusted, strict=True):
        found[place] = structs.replace(rows[place], adjusted_p_value=p_value)
    return found


def _paired(rate_table: RateFile, metric: Metric, codes: tuple[int, int]) -> _Pairs:
    parts = list(_paired_blocks(rate_table, metric, codes))
    none = np.empty(0)
    first, second, pairs = (np.concatenate([none, *(part[place] for part in parts)]) for place in range(3))
    return _Pairs(first, second, pairs, sum(part[3] for part in parts))


def _paired_blocks(
    rate_table: RateFile, metric: Metric, codes: tuple[int, int]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]]:
    for block in rate_table.blocks():
        rates = metric_rates(block, metric)
        arms = []
        for code in codes:
            rows = np.flatnonzero((block["mode"] == code) & (rates.totals > 0))
            # Questions of a patient are numbered from 0 and are few.
            keys = block["patient"][rows] * (1 << 20) + block["question"][rows]
            arms.append((keys, rates.counts[rows]))
        (one, first), (two, second) = arms
        keys, at_first, at_second = np.intersect1d(one, two, return_indices=True)
        if not len(keys):
            continue
        _, patients = np.unique(keys >> 20, return_inverse=True)
        values = first[at_first], second[at_second]
        sums = [np.bincount(patients, value).astype(np.float64) for value in values]
        yield sums[0], sums[1], np.bincount(patients).astype(np.float64), float(((values[1] - values[0]) ** 2).sum())
