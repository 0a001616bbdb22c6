"""How often a threshold that `hallumeter calibrate` promises something of breaks the promise, by simulation.

    python benchmarks/risk_control_validity.py [--repetitions 300]
    python benchmarks/risk_control_validity.py --run RUN --labels labels.csv

A run has 1,500 responses of 1 to 8 claims. The claims of a response err together, and the judge's probabilities tell
something, but not what they say. So many claims or responses are labelled, and a threshold is chosen at a confidence of
90 %: it may break its promise in 10 of 100 repetitions. What it promises is held against 200,000 other responses.
`naive` is the most permissive threshold at which the labelled units keep the limit.

With a run whose claims are all labelled, some of the labels are taken instead, and held against all of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.claims.labelled.run import claim_strata, read_labelled
from hallumeter.claims.labelled.sources import LabelSettings
from hallumeter.decide.calibrate.pipeline import RunUnits, acceptance_threshold, candidate_thresholds, run_units
from hallumeter.decide.calibrate.settings import Target
from hallumeter.records.decisions import RiskName, Unit
from hallumeter.run.finished import load

RESPONSES, MOST_CLAIMS, ERROR = 1_500, 8, 0.1
HEAD = f"{'labelled':27} labels  limit   broken     none  accepted  naive broken"
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


class Outcomes:
    """What became of repeated choices."""

    def __init__(self, target: Target, true_risk: Callable[[float], float]) -> None:
        self._target, self._true_risk = target, true_risk
        self._repetitions = self._broken = self._none = self._naive = 0
        self._shares: list[float] = []

    def add(self, seen: RunUnits) -> None:
        """Choose once."""
        self._repetitions += 1
        row = acceptance_threshold(seen, {}, self._target, error=ERROR)
        if row.threshold is None:
            self._none += 1
        else:
            self._broken += self._true_risk(row.threshold) > self._target.limit
            self._shares.append(row.accepted_share or 0.0)
        guess = naive_threshold(seen, self._target)
        self._naive += guess is not None and self._true_risk(guess) > self._target.limit

    def __str__(self) -> str:
        accepted = f"{np.mean(self._shares):6.1%}" if self._shares else "     –"
        broken, none, naive = (count / self._repetitions for count in (self._broken, self._none, self._naive))
        return f"{self._target.limit:5.0%}  {broken:7.1%}  {none:7.1%}  {accepted}  {naive:7.1%}"


def study(world: World, labels: int, target: Target, repetitions: int) -> str:
    """One line of the table."""
    way = world.way
    found = Outcomes(target, lambda threshold: world.risk(target.risk, threshold))
    for repetition in range(repetitions):
        rng = np.random.default_rng([repetition, labels, round(1_000 * target.limit)])
        units = simulated(RESPONSES, way.unit, rng, is_long_tailed=way.is_long_tailed)
        found.add(structs.replace(units, truth=np.where(way.asked(units, labels, rng), units.truth, np.nan)))
    return f"{way.name:27} {labels:6,}  {found}"


def study_run(run: Path, labels: Path | None, repetitions: int) -> None:
    """The same with some of the labels of a run, held against all of them."""
    opened = read_labelled(load(run), LabelSettings(labels=labels))
    units: tuple[Unit, ...] = ("response", "claim")
    for unit, limit, share in product(units, (0.05, 0.1), (0.25, 0.5)):
        every = run_units(opened, unit)
        every = every.chosen(every.is_labelled)
        number = round(share * len(every))

        def true_risk(threshold: float, every: RunUnits = every) -> float:
            return float(every.truth[every.scores <= threshold].mean())

        asked = one_by_one if unit == "response" else whole_responses
        found = Outcomes(Target("among_accepted", limit), true_risk)
        for repetition in range(repetitions):
            rng = np.random.default_rng(repetition)
            found.add(structs.replace(every, truth=np.where(asked(every, number, rng), every.truth, np.nan)))
        print(f"{unit + 's of the run':27} {number:6,}  {found}", flush=True)


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
    parser.add_argument("--run", type=Path)
    parser.add_argument("--labels", type=Path)
    options = parser.parse_args()
    repetitions: int = options.repetitions
    if options.run is not None:
        print(HEAD)
        study_run(options.run, options.labels, repetitions)
        return
    worlds = [World(way) for way in WAYS]
    overall = (f"{world.way.name} {world.risk('among_accepted', 1.0):.1%}" for world in worlds)
    print(f"hallucinated of all: {', '.join(overall)}")
    print(f"\nhallucinated among accepted, confidence 90 %, {repetitions} repetitions")
    print(HEAD)
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
