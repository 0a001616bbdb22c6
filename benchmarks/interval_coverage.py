"""How often 95 % intervals hold the true rate: Wilson's exactly, the cluster bootstrap's by simulation.

    python benchmarks/interval_coverage.py [--replicates 1500]

The simulated responses have 1 to 15 claims each, and the claims of one response are correlated (beta-binomial,
intra-cluster correlation 0.2); the rate to be held is that of all claims. Plain percentiles of the same resamples are
shown beside it, because they are what most tools print. Two to three minutes on one core.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hallumeter.stats.bootstrap import cluster_bootstrap_interval, resampled_rates
from hallumeter.stats.intervals import Interval, wilson_interval

NOMINAL = 95.0
TOLERANCE = 1.5
RATES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95)
WILSON_RATES = tuple(step / 20 for step in range(1, 20))
LARGEST_CLUSTER = 15
CORRELATION = 0.2

FloatArray = NDArray[np.float64]
IntervalFunction = Callable[[FloatArray, FloatArray, np.random.Generator], Interval | None]


def wilson_coverage(total: int, rate: float) -> float:
    """Probability, in percent, that Wilson's interval of a binomial count holds the rate."""
    held = 0.0
    for count in range(total + 1):
        interval = wilson_interval(count, total)
        assert interval is not None
        if interval.low <= rate <= interval.high:
            held += math.comb(total, count) * rate**count * (1 - rate) ** (total - count)
    return 100 * held


def simulated_clusters(clusters: int, rate: float, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Unsupported claims and claims of each response."""
    totals = rng.integers(1, LARGEST_CLUSTER + 1, clusters)
    concentration = 1 / CORRELATION - 1
    response_rates = rng.beta(rate * concentration, (1 - rate) * concentration, clusters)
    return rng.binomial(totals, response_rates).astype(np.float64), totals.astype(np.float64)


def cluster_coverage(method: IntervalFunction, clusters: int, *, rate: float, replicates: int) -> float:
    """Share, in percent, of simulated samples whose interval holds the rate."""
    rng = np.random.default_rng([clusters, round(100 * rate)])
    held = 0
    for _ in range(replicates):
        interval = method(*simulated_clusters(clusters, rate, rng), rng)
        held += interval is not None and interval.low <= rate <= interval.high
    return 100 * held / replicates


def bootstrap(counts: FloatArray, totals: FloatArray, rng: np.random.Generator) -> Interval | None:
    """The package's interval."""
    return cluster_bootstrap_interval(counts, totals, rng=rng)


def percentiles(counts: FloatArray, totals: FloatArray, rng: np.random.Generator) -> Interval:
    """The interval that most tools print."""
    low, high = np.quantile(resampled_rates(counts, totals, rng=rng), [0.025, 0.975])
    return Interval(float(low), float(high), "percentiles")


def row(name: str, coverages: list[float], shown: int) -> str:
    """One line of a table: each coverage, their average, and whether it is close to nominal."""
    average = sum(coverages) / len(coverages)
    verdict = "yes" if abs(average - NOMINAL) <= TOLERANCE else "NO"
    return f"{name:<24}" + "".join(f"{value:6.1f}" for value in coverages[:shown]) + f"{average:9.2f}  {verdict:>6}"


def header(title: str, rates: tuple[float, ...]) -> str:
    """The line above a table."""
    return f"\n{title:<24}" + "".join(f"{rate:6.2f}" for rate in rates) + "  average  within"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="Coverage of the package's 95 % intervals, in percent.")
    parser.add_argument("--replicates", type=int, default=1_500, help="simulated samples per cell (default 1500)")
    replicates = parser.parse_args().replicates
    print(f"Coverage of 95 % intervals, in percent; within: the average is {TOLERANCE} points or less from {NOMINAL}.")

    half = WILSON_RATES[: len(WILSON_RATES) // 2 + 1]
    print(header("Wilson, exact; rate", half))
    for total in (20, 50, 100):
        coverages = [wilson_coverage(total, rate) for rate in WILSON_RATES]
        print(row(f"n = {total}", coverages, len(half)))
    print("The average runs over 0.05 to 0.95; above 0.5 mirrors below.")

    print(header("Clusters; rate", RATES))
    started = time.perf_counter()
    cases = (("", bootstrap, 40), ("", bootstrap, 80), ("", bootstrap, 200), (", percentiles", percentiles, 40))
    for suffix, method, clusters in cases:
        coverages = [cluster_coverage(method, clusters, rate=rate, replicates=replicates) for rate in RATES]
        print(row(f"{clusters} clusters{suffix}", coverages, len(RATES)), flush=True)
    cell = 100 * math.sqrt(0.95 * 0.05 / replicates)
    print(
        f"Monte-Carlo standard error: {cell:.2f} points per cell, {cell / math.sqrt(len(RATES)):.2f} per average "
        f"({replicates} samples per cell, {time.perf_counter() - started:.0f} s)."
    )


if __name__ == "__main__":
    main()
