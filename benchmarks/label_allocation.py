"""What the order of `hallumeter label` is worth: half widths and coverage beside labels drawn uniformly at random.

    python benchmarks/label_allocation.py [--seeds 300]

Every seed is a run of 800 responses with 1 to 9 claims as in `correction_coverage.py`: claims of one response are true
together, the judge errs in some responses more than in others, and its probabilities tell more than its verdicts. The
truth is told claim by claim in the order in which `hallumeter label` asks, and in a random order. Held is the rate of
the population that the responses are drawn from; the bias is against the rate of the run itself. The last column says
how many random labels are worth as much as 100 in our order, from the mean squared distances to the rate of the run.
Two minutes on one core.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from correction_coverage import Scenario, Simulated, simulated_run
from hallumeter.claims.labelled.run import LabelledRun, claim_strata, merged_strata
from hallumeter.decide.label.claims import AnnotateSettings
from hallumeter.decide.label.order import ClaimOrder
from hallumeter.records.decisions import LabelCensus
from hallumeter.stats.correction import Estimate, LabelledUnits, prediction_powered_rate

RESPONSES = 800
RATES = (0.05, 0.15, 0.4)
LABELS = (50, 100, 200, 400)

FloatArray = NDArray[np.float64]
Order = Callable[[LabelledRun, Simulated, int], Iterator[tuple[int, FloatArray]]]


def columns_of(run: Simulated) -> LabelledRun:
    """The run as `hallumeter label` reads it."""
    records = int(run.clusters.max()) + 1
    return LabelledRun(
        judge="judge",
        unit="response",
        record_ids=[str(number) for number in range(records)],
        clusters=np.arange(records),
        slices=[()] * records,
        response_truth=np.full(records, np.nan),
        claim_ids=[str(number) for number in range(len(run.clusters))],
        owners=run.clusters,
        codes=run.is_flagged.astype(np.int8),
        probabilities=run.probabilities,
        unsupported=np.full(len(run.clusters), np.nan),
        refuted=np.full(len(run.clusters), np.nan),
        census=LabelCensus(0, 0, 0, {}),
    )


def asked_by_us(columns: LabelledRun, run: Simulated, seed: int) -> Iterator[tuple[int, FloatArray]]:
    """Number of labels and truths so far, in the order of `hallumeter label`."""
    drawing = ClaimOrder(columns, AnnotateSettings(annotator="kim", seed=seed))
    truth = np.full(len(run.clusters), np.nan)
    for labels in range(1, max(LABELS) + 1):
        claim = drawing.fresh(np.isnan(truth), truth)
        assert claim is not None
        truth[claim] = run.is_true[claim]
        yield labels, truth


def asked_at_random(_: LabelledRun, run: Simulated, seed: int) -> Iterator[tuple[int, FloatArray]]:
    """The same, every claim as likely as any other."""
    truth = np.full(len(run.clusters), np.nan)
    for labels, claim in enumerate(np.random.default_rng([seed, 1]).permutation(len(truth))[: max(LABELS)], 1):
        truth[claim] = run.is_true[claim]
        yield labels, truth


def estimates(order: Order, columns: LabelledRun, run: Simulated, *, seed: int) -> list[Estimate]:
    """The corrected rate after each of LABELS."""
    strata = claim_strata(columns.codes, columns.probabilities)
    return [
        prediction_powered_rate(
            LabelledUnits(
                run.clusters, merged_strata(strata, run.is_flagged, ~np.isnan(truth)), run.is_flagged, truth.copy()
            )
        )
        for labels, truth in order(columns, run, seed)
        if labels in LABELS
    ]


def row(found: list[tuple[float, Estimate]], rate: float) -> tuple[list[str], float]:
    """Cells of the table from the rates of runs and their estimates, and the mean squared error."""
    errors = np.array([each.value - own for own, each in found if each.value is not None])
    intervals = [each.interval for _, each in found if each.interval is not None]
    held = sum(interval.low <= rate <= interval.high for interval in intervals)
    half = sum(interval.high - interval.low for interval in intervals) / len(intervals) / 2
    bias = f"{100 * errors.mean():+.2f} ± {100 * errors.std() / len(errors) ** 0.5:.2f}"
    cells = [f"±{100 * half:.1f}", bias, f"{held} of {len(intervals)}", f"{100 * held / len(intervals):.1f}"]
    return cells, float((errors**2).mean())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=300)
    seeds = parser.parse_args().seeds
    started = time.process_time()
    orders: dict[str, Order] = {"hallumeter label": asked_by_us, "at random": asked_at_random}
    print(
        f"Corrected MiHR, {RESPONSES} responses, {seeds} seeds; half width and bias (± its standard error) in points\n"
    )
    print("| true rate | labels | order | half width | bias | held | coverage in % | 100 labels are worth |")
    print("| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for rate in RATES:
        found: dict[str, list[list[Estimate]]] = {name: [] for name in orders}
        own: list[float] = []
        for seed in range(seeds):
            rng = np.random.default_rng([seed, round(100 * rate)])
            run = simulated_run(Scenario(RESPONSES, rate, 0, "random"), rng)
            columns = columns_of(run)
            own.append(float(run.is_true.mean()))
            for name, order in orders.items():
                found[name].append(estimates(order, columns, run, seed=seed))
        for place, labels in enumerate(LABELS):
            rows = {
                name: row([(mine, each[place]) for mine, each in zip(own, found[name], strict=True)], rate)
                for name in orders
            }
            worth = rows["at random"][1] / rows["hallumeter label"][1]
            for name, (cells, _) in rows.items():
                last = f"{100 * worth:.0f}" if name == "hallumeter label" else "100"
                print(f"| {rate} | {labels} | {name} | {' | '.join(cells)} | {last} |")
    print(f"\n{time.process_time() - started:.0f} s of processor time")


if __name__ == "__main__":
    main()
