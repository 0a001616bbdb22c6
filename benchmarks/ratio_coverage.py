"""How often 95 % intervals hold a true error rate that may pass 1, by simulation.

    python benchmarks/ratio_coverage.py [--replicates 3000]

Pages have lengths and error rates drawn from lognormal distributions; in the last case one page in twenty runs away, to
five times its length in the median. The rate to be held is that of all characters, from a million pages.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from hallumeter.stats.bootstrap import cluster_bootstrap_interval

FloatArray = NDArray[np.float64]
CASES = {"median rate 0.08": (0.08, 0.0), "median rate 0.4": (0.4, 0.0), "0.08, one in 20 runs away": (0.08, 0.05)}
"""Median error rate of a page, and the share of pages that run away."""
SPREAD, RUNAWAY_RATE = 1.0, 5.0


def simulated_pages(pages: int, case: tuple[float, float], rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Errors and characters of each page."""
    median, runaway_share = case
    characters = np.round(rng.lognormal(np.log(1_000), 0.7, pages)) + 1
    medians = np.where(rng.random(pages) < runaway_share, RUNAWAY_RATE, median)
    return np.round(characters * medians * rng.lognormal(0, SPREAD, pages)), characters


def coverage(pages: int, case: tuple[float, float], *, replicates: int) -> float:
    """Share, in percent, of simulated samples whose interval holds the rate."""
    rng = np.random.default_rng([pages, round(1000 * case[0]), round(1000 * case[1])])
    errors, characters = simulated_pages(1_000_000, case, rng)
    rate = errors.sum() / characters.sum()
    held = 0
    for _ in range(replicates):
        interval = cluster_bootstrap_interval(*simulated_pages(pages, case, rng), rng=rng, is_share=False)
        held += interval is not None and interval.low <= rate <= interval.high
    return 100 * held / replicates


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Coverage of 95 % intervals of ratios such as CER, in percent.")
    parser.add_argument("--replicates", type=int, default=3_000, help="simulated samples per cell (default 3000)")
    replicates = parser.parse_args().replicates
    print("| error rate of a page | 40 pages | 200 pages |\n| --- | ---: | ---: |")
    for name, case in CASES.items():
        cells = " | ".join(f"{coverage(pages, case, replicates=replicates):.1f}" for pages in (40, 200))
        print(f"| {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
