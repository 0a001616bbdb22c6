"""How often `hallumeter compare` shows a regression that is there, and one that is not, by simulation.

    python benchmarks/compare_power.py [--seeds 200] [--null-seeds 2000]

Every response has 1 to 9 claims, of which about 15 % are unsupported. Between the runs as many claims break as are
mended, and which run a response is given to is tossed, so that the runs are exchangeable; then so many claims more are
broken in the second run. Changes gather in some responses (beta-binomial, intra-cluster correlation 0.2). The rows are
those of the command: MiHR, refuted MiHR and MaHR, Holm over the three. Where nothing is planted, `regression` is a
false alarm: a metric worse by chance. Two-sided tests promise 2.5 % of them at most, for one metric alone and, by Holm,
for the three together.
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import product

import numpy as np
from numpy.typing import NDArray

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.decide.compare.rows import Arms, Part, compared_rows
from hallumeter.decide.compare.sides import CompareSettings
from hallumeter.records.columns import LabelCounts
from hallumeter.records.comparison import MetricComparison

METRICS = ("mihr", "mihr_refuted", "mahr")
RATE, CORRELATION, MOST_CLAIMS = 0.15, 0.2, 9


def gathered(mean: float, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """A probability for each response, around a mean."""
    if mean == 0:
        return np.zeros(size)
    concentration = 1 / CORRELATION - 1
    return rng.beta(mean * concentration, (1 - mean) * concentration, size)


def simulated(records: int, changed: float, planted: float, seed: int) -> tuple[LabelCounts, LabelCounts]:
    """Labels of both runs; `changed` and `planted` are shares of all claims."""
    rng = np.random.default_rng([seed, records, round(1e4 * changed), round(1e4 * planted)])
    claims = rng.integers(1, MOST_CLAIMS + 1, records)
    bad = rng.binomial(claims, gathered(RATE, records, rng))
    gone = rng.binomial(bad, gathered(changed / 2 / RATE, records, rng))
    come = rng.binomial(claims - bad, gathered(changed / 2 / (1 - RATE), records, rng))
    is_first = rng.random(records) < 0.5
    other = bad - gone + come
    first, second = np.where(is_first, bad, other), np.where(is_first, other, bad)
    second = second + rng.binomial(claims - second, gathered(planted / (1 - RATE), records, rng))
    # A claim that is unsupported in both runs is refuted in both, or in none.
    lasting = np.minimum(first, second)
    refuted = rng.binomial(lasting, 0.5)
    return tuple(  # type: ignore[return-value]
        _labels(claims, each, refuted + rng.binomial(each - lasting, 0.5)) for each in (first, second)
    )


def _labels(claims: NDArray[np.int64], bad: NDArray[np.int64], refuted: NDArray[np.int64]) -> LabelCounts:
    nothing = np.zeros_like(claims)
    return LabelCounts(np.stack([claims - bad, refuted, bad - refuted, nothing, nothing], axis=1))


def rows_of(labels: tuple[LabelCounts, LabelCounts], settings: CompareSettings) -> tuple[MetricComparison, ...]:
    """What the command computes."""
    arms = [Arms(name, "lower", *(METRICS_BY_ID[name].compute(side) for side in labels)) for name in METRICS]
    everyone = np.arange(len(labels[0]))
    parts = [Part({}, everyone, everyone, is_one_each=True)]
    return compared_rows(arms, parts, labels, settings=settings, is_unchanged=False)


def outcomes(records: int, changed: float, planted: float, seeds: int) -> tuple[Counter[str], float, float, float]:
    """Outcomes of so many comparisons; how often MiHR alone is worse; its mean detectable difference; discordance."""
    found: Counter[str] = Counter()
    worse, detectable, discordance = 0, 0.0, 0.0
    settings = CompareSettings(resamples=400)
    for seed in range(seeds):
        rows = rows_of(simulated(records, changed, planted, seed), settings)
        found[settings.policy.outcome(rows, missing=0.0)[0]] += 1
        first = rows[0]
        worse += (first.p_value or 1.0) <= 0.05 and (first.difference or 0.0) > 0
        detectable += (first.minimum_detectable or 0.0) / seeds
        discordance += first.differing / first.clusters / seeds
    return found, worse / seeds, detectable, discordance


def main() -> None:
    """Print power and false alarms."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--null-seeds", type=int, default=2000)
    options = parser.parse_args()
    head = f"{'records':>8} {'planted':>8} {'changed':>8} {'responses that differ':>22} {'MiHR worse, alone':>18}"
    print(f"{head} {'regression':>11} {'inconclusive':>13} {'no regression':>14} {'detectable MiHR':>16}")
    cases = product(((0.03, options.seeds), (0.0, options.null_seeds)), (0.06, 0.02), (2000, 100))
    for (planted, seeds), changed, records in cases:
        found, worse, detectable, differing = outcomes(records, changed, planted, seeds)
        shares = {name: found[name] / seeds for name in ("regression", "inconclusive", "no_regression")}
        print(
            f"{records:8,} {planted:8.1%} {changed:8.1%} {differing:22.1%} {worse:18.1%} {shares['regression']:11.1%} "
            f"{shares['inconclusive']:13.1%} {shares['no_regression']:14.1%} {detectable:16.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
