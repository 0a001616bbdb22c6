"""How often 95 % intervals hold the true rate when the judge errs: raw, prediction-powered, Rogan and Gladen's.

    python benchmarks/correction_coverage.py [--replicates 1000]

Every replicate is a run of responses with 1 to 9 claims. Claims of one response are true together (beta-binomial,
intra-cluster correlation 0.3), and the judge errs in some responses more than in others (0.2). Its probabilities tell
more than its verdicts. Some claims are labelled: at random, or as many flagged ones as others (by verdict), or whole
responses at random for the share of responses with an unsupported claim. What is held is the rate of the population
that the responses are drawn from. Some five minutes on one core.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hallumeter.claims.labelled.run import claim_strata, merged_strata
from hallumeter.stats.bootstrap import cluster_bootstrap_interval
from hallumeter.stats.correction import (
    LabelledUnits,
    prediction_powered_rate,
    rogan_gladen_rate,
    sensitivity,
    specificity,
)
from hallumeter.stats.intervals import Interval

NOMINAL, TOLERANCE = 95.0, 1.5
LARGEST_RESPONSE = 9
TRUTH_CORRELATION, ERROR_CORRELATION = 0.3, 0.2
RESAMPLES = 200
SKILLS = {0.05: (0.8, 0.95), 0.15: (0.8, 0.9), 0.4: (0.7, 0.9)}
"""Sensitivity and specificity of the judge, by the true rate."""


class Scenario(NamedTuple):
    """What is simulated."""

    responses: int
    rate: float
    labels: int
    drawn: str
    """`random`, `by verdict`, or `responses`."""


class Simulated(NamedTuple):
    """One run: what is true and what the judge says of every claim."""

    clusters: NDArray[np.int64]
    is_true: NDArray[np.bool_]
    is_flagged: NDArray[np.bool_]
    probabilities: NDArray[np.float64]


SCENARIOS = [
    *(Scenario(500, rate, 200, drawn) for rate in SKILLS for drawn in ("random", "by verdict")),
    *(Scenario(2000, rate, 500, drawn) for rate in SKILLS for drawn in ("random", "by verdict")),
    *(Scenario(1000, rate, 200, "responses") for rate in (0.05, 0.15)),
]
COLUMNS = ("raw", "corrected", "by verdict alone", "Rogan-Gladen", "sensitivity", "specificity")


def beta_draws(mean: float, correlation: float, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    """Rates that differ from response to response."""
    concentration = 1 / correlation - 1
    return rng.beta(mean * concentration, (1 - mean) * concentration, size)


def simulated_run(scenario: Scenario, rng: np.random.Generator) -> Simulated:
    """Responses whose claims are true together, and a judge that errs in some of them more."""
    count = scenario.responses
    found, passed = SKILLS[scenario.rate]
    clusters = np.repeat(np.arange(count), rng.integers(1, LARGEST_RESPONSE + 1, count))
    size = len(clusters)
    is_true = rng.random(size) < beta_draws(scenario.rate, TRUTH_CORRELATION, rng, count)[clusters]
    is_found = rng.random(size) < beta_draws(found, ERROR_CORRELATION, rng, count)[clusters]
    is_passed = rng.random(size) < beta_draws(passed, ERROR_CORRELATION, rng, count)[clusters]
    is_flagged = np.where(is_true, is_found, ~is_passed)
    probabilities = (rng.beta(2, 2, size) + is_true + is_flagged) / 3
    return Simulated(clusters, is_true, is_flagged, probabilities)


def labelled_places(run: Simulated, scenario: Scenario, rng: np.random.Generator) -> NDArray[np.int64]:
    """Which claims are labelled."""
    if scenario.drawn == "random":
        return rng.choice(len(run.clusters), scenario.labels, replace=False)
    halves = [np.flatnonzero(run.is_flagged == side) for side in (False, True)]
    return np.concatenate([rng.choice(half, min(len(half), scenario.labels // 2), replace=False) for half in halves])


def units_of(run: Simulated, scenario: Scenario, rng: np.random.Generator) -> tuple[LabelledUnits, LabelledUnits]:
    """The units with strata by verdict and probability, and with strata by verdict alone."""
    if scenario.drawn == "responses":
        flagged, true = (
            np.bincount(run.clusters, column) > 0 for column in (run.is_flagged, run.is_true.astype(np.float64))
        )
        truth = np.full(len(true), np.nan)
        chosen = rng.choice(len(true), scenario.labels, replace=False)
        truth[chosen] = true[chosen]
        units = LabelledUnits(np.arange(len(true)), flagged.astype(np.int64), flagged, truth)
        return units, units
    truth = np.full(len(run.clusters), np.nan)
    places = labelled_places(run, scenario, rng)
    truth[places] = run.is_true[places]
    strata = claim_strata(run.is_flagged.astype(np.int8), run.probabilities)
    if scenario.drawn == "by verdict":
        strata = run.is_flagged.astype(np.int64)
    merged = merged_strata(strata, run.is_flagged, ~np.isnan(truth))
    by_verdict = LabelledUnits(run.clusters, run.is_flagged.astype(np.int64), run.is_flagged, truth)
    return LabelledUnits(run.clusters, merged, run.is_flagged, truth), by_verdict


def raw_interval(units: LabelledUnits, rng: np.random.Generator) -> Interval | None:
    """The interval that knows nothing of the judge's errors."""
    counts = np.bincount(units.clusters, units.is_flagged)
    return cluster_bootstrap_interval(counts, np.bincount(units.clusters), rng=rng, resamples=RESAMPLES)


def true_values(scenario: Scenario) -> tuple[float, float, float]:
    """The rate, the sensitivity and the specificity of the population."""
    if scenario.drawn != "responses":
        return (scenario.rate, *SKILLS[scenario.rate])
    large = simulated_run(scenario._replace(responses=400_000), np.random.default_rng(1))
    flagged, true = (np.bincount(large.clusters, column) > 0 for column in (large.is_flagged, large.is_true))
    return float(true.mean()), float(flagged[true].mean()), float((~flagged[~true]).mean())


def coverage(scenario: Scenario, replicates: int) -> tuple[list[str], list[float]]:
    """For each interval, how often it held the truth, in per cent; and the mean widths of the first four."""
    rate, found, passed = true_values(scenario)
    held, known = np.zeros(len(COLUMNS)), np.zeros(len(COLUMNS))
    widths = np.zeros(len(COLUMNS))
    for seed in range(replicates):
        rng = np.random.default_rng([seed, scenario.responses, round(100 * scenario.rate)])
        units, by_verdict = units_of(simulated_run(scenario, rng), scenario, rng)
        is_usable = scenario.drawn != "by verdict"
        intervals = [
            (raw_interval(units, rng), rate),
            (prediction_powered_rate(units).interval, rate),
            (prediction_powered_rate(by_verdict).interval, rate),
            (rogan_gladen_rate(units).interval if is_usable else None, rate),
            (sensitivity(units).interval, found),
            (specificity(units).interval, passed),
        ]
        for place, (interval, truth) in enumerate(intervals):
            if interval is not None:
                known[place] += 1
                held[place] += interval.low <= truth <= interval.high
                widths[place] += interval.high - interval.low
    shares = [f"{100 * yes / of:.1f}" if of else "-" for yes, of in zip(held, known, strict=True)]
    return shares, (widths / np.maximum(known, 1)).tolist()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=1000)
    replicates = parser.parse_args().replicates
    started = time.process_time()
    print(f"Coverage of 95 % intervals in per cent, {replicates:,} replicates each")
    print(f"(between {NOMINAL - TOLERANCE} and {NOMINAL + TOLERANCE} is as promised); mean widths in brackets\n")
    print("| responses | true rate | labels | drawn | " + " | ".join(COLUMNS) + " |")
    print("| ---: | ---: | ---: | --- |" + " ---: |" * len(COLUMNS))
    for scenario in SCENARIOS:
        shares, widths = coverage(scenario, replicates)
        cells = [
            f"{share} ({width:.3f})" if place < 4 and share != "-" else share
            for place, (share, width) in enumerate(zip(shares, widths, strict=True))
        ]
        rate = true_values(scenario)[0]
        print(f"| {scenario.responses:,} | {rate:.3f} | {scenario.labels} | {scenario.drawn} | {' | '.join(cells)} |")
    print(f"\n{time.process_time() - started:.0f} s of processor time")


if __name__ == "__main__":
    main()
