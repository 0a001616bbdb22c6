"""How often a threshold that `hallumeter calibrate` promises something of breaks the promise, by simulation.

    python benchmarks/risk_control_validity.py [--repetitions 300]

A run has 1,500 responses of 1 to 8 claims. The claims of a response err together, and the judge's probabilities tell
something, but not what they say. So many claims or responses are labelled, and a threshold is chosen at a confidence of
90 %: it may break its promise in 10 of 100 repetitions. What it promises is held against 200,000 other responses.
`naive` is the most permissive threshold at which the labelled units keep the limit.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.pipelines.calibrating.targets import Target
from hallumeter.pipelines.calibrating.thresholds import acceptance_threshold, candidate_thresholds
from hallumeter.pipelines.calibrating.units import RunUnits
from hallumeter.pipelines.labelled.strata import claim_strata
from hallumeter.records.decisions.calibration import RiskName, Unit

RESPONSES, MOST_CLAIMS, ERROR = 1_500, 8, 0.1
FloatArray = NDArray[np.float64]
Asked = Callable[[RunUnits, int, np.random.Generator], NDArray[np.bool_]]
"""Which units of a run are labelled."""


def simulated(responses: int, unit: Unit, rng: np.random.Generator, *, is_long_tailed: bool = False) -> RunUnits:
    """A run of which the truth is known; long tails are one response in fifty with five times as many claims."""
    sizes = rng.integers(1, MOST_CLAIMS + 1, responses)
    if is_long_tailed:
        sizes = np.where(rng.random(responses) < 0.02, sizes * 5, sizes)
    owners = np.repeat(np.arange(responses), sizes)
    latent = rng.normal(-2.5, 1.8, len(owners)) + np.repeat(rng.normal(0.0, 1.0, responses), sizes)
    truth = (rng.random(len(owners)) < 1 / (1 + np.exp(-2 * latent))).astype(float)
    scores = 1 / (1 + np.exp(-(0.7 * latent + rng.normal(0.0, 0.6, len(owners)))))
    if unit == "response":
        worst, is_bad = np.zeros(responses), np.zeros(responses)
        np.maximum.at(worst, owners, scores)
        np.maximum.at(is_bad, owners, truth)
        scores, truth, owners = worst, is_bad, np.arange(responses)
    strata = claim_strata((scores > 0.5).astype(np.int8), scores)
    return RunUnits(unit, "response", owners, scores, truth, owners, strata)


def whole_responses(units: RunUnits, labels: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """All units of responses drawn at random, until there are enough."""
    order = rng.permutation(units.clusters.max() + 1)
    sizes = np.bincount(units.clusters)[order]
    chosen = order[: int(np.searchsorted(np.cumsum(sizes), labels)) + 1]
    return np.isin(units.clusters, chosen)


def one_by_one(units: RunUnits, labels: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Units drawn at random."""
    return rng.permutation(len(units)) < labels


def by_verdict(units: RunUnits, labels: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Half of the labels for the units that the judge flags, which are few."""
    flagged = np.flatnonzero(units.scores > 0.5)
    passed = np.flatnonzero(units.scores <= 0.5)
    half = min(len(flagged), labels // 2)
    chosen = np.zeros(len(units), dtype=bool)
    chosen[rng.choice(flagged, half, replace=False)] = True
    chosen[rng.choice(passed, labels - half, replace=False)] = True
    return chosen


class Way(Struct, frozen=True):
    """A way to label."""

    name: str
    unit: Unit
    asked: Asked
    is_long_tailed: bool = False


WAYS = (
    Way("responses", "response", one_by_one),
    Way("claims one by one", "claim", one_by_one),
    Way("claims of whole responses", "claim", whole_responses),
    Way("the same, long tails", "claim", whole_responses, is_long_tailed=True),
    Way("claims by verdict", "claim", by_verdict),
)


class World:
    """The risk of every threshold, counted on many responses."""

    def __init__(self, way: Way) -> None:
        self.way = way
        units = simulated(200_000, way.unit, np.random.default_rng(7), is_long_tailed=way.is_long_tailed)
        order = np.argsort(units.scores)
        self._scores, truth = units.scores[order], units.truth[order]
        self._bad = np.concatenate([[0.0], np.cumsum(truth)])

    def risk(self, risk: RiskName, threshold: float) -> float:
        """The true risk at a threshold."""
        accepted = int(np.searchsorted(self._scores, threshold, side="right"))
        whole = {"among_accepted": max(accepted, 1), "of_all": len(self._scores), "missed": self._bad[-1]}[risk]
        return float(self._bad[accepted] / whole)


def naive_threshold(units: RunUnits, target: Target) -> float | None:
    """What the labelled units alone would allow."""
    tried = candidate_thresholds(units, np.ones(len(units)), most=np.inf).thresholds
    scores, truth = units.scores[units.is_labelled], units.truth[units.is_labelled]
    order = np.argsort(scores)
    bad = np.concatenate([[0.0], np.cumsum(truth[order])])
    accepted = np.searchsorted(scores[order], tried, side="right")
    whole = accepted if target.risk == "among_accepted" else np.full(len(tried), bad[-1])
    kept = tried[(accepted > 0) & (bad[accepted] <= target.limit * whole)]
    return float(kept.max()) if len(kept) else None


def study(world: World, labels: int, target: Target, repetitions: int) -> str:
    """One line of the table."""
    way = world.way
    broken = none = naive = 0
    shares: list[float] = []
    for repetition in range(repetitions):
        rng = np.random.default_rng([repetition, labels, round(1_000 * target.limit)])
        units = simulated(RESPONSES, way.unit, rng, is_long_tailed=way.is_long_tailed)
        truth = np.where(way.asked(units, labels, rng), units.truth, np.nan)
        seen = structs.replace(units, truth=truth)
        row = acceptance_threshold(seen, {}, target, error=ERROR)
        if row.threshold is None:
            none += 1
        else:
            broken += world.risk(target.risk, row.threshold) > target.limit
            shares.append(row.accepted_share or 0.0)
        guess = naive_threshold(seen, target)
        naive += guess is not None and world.risk(target.risk, guess) > target.limit
    accepted = f"{np.mean(shares):6.1%}" if shares else "     –"
    told = f"{broken / repetitions:7.1%}  {none / repetitions:7.1%}  {accepted}  {naive / repetitions:7.1%}"
    return f"{way.name:27} {labels:6,}  {target.limit:5.0%}  {told}"


def average(world: World, labels: int, target: Target, repetitions: int) -> str:
    """The mean risk of thresholds that are promised on average."""
    way = world.way
    risks = []
    for repetition in range(repetitions):
        rng = np.random.default_rng([repetition, labels])
        units = simulated(RESPONSES, way.unit, rng)
        truth = np.where(way.asked(units, labels, rng), units.truth, np.nan)
        seen = structs.replace(units, truth=truth)
        row = acceptance_threshold(seen, {}, target, error=None)
        risks.append(0.0 if row.threshold is None else world.risk(target.risk, row.threshold))
    return f"{way.name:27} {labels:6,}  {target.words:45}  {np.mean(risks):6.2%}"


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repetitions", type=int, default=300)
    repetitions = parser.parse_args().repetitions
    worlds = [World(way) for way in WAYS]
    overall = (f"{world.way.name} {world.risk('among_accepted', 1.0):.1%}" for world in worlds)
    print(f"hallucinated of all: {', '.join(overall)}")
    print(f"\nhallucinated among accepted, confidence 90 %, {repetitions} repetitions")
    print(f"{'labelled':27} labels  limit   broken     none  accepted  naive broken")
    for world, limit, labels in product(worlds, (0.05, 0.1), (100, 300, 1_000)):
        print(study(world, labels, Target("among_accepted", limit), repetitions), flush=True)
    print("\nmissed of hallucinations, confidence 90 %")
    for world, labels in product(worlds[:3], (300, 1_000)):
        print(study(world, labels, Target("missed", 0.2), repetitions), flush=True)
    print("\non average                  labels  promise                                        mean risk")
    for world, labels in product(worlds[:3], (100, 300)):
        for target in (Target("of_all", 0.05), Target("missed", 0.2)):
            print(average(world, labels, target, repetitions), flush=True)


if __name__ == "__main__":
    main()
