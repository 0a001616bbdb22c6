"""How well do the badges find invented text? Precision and recall on 80 pairs of InkBench read by hand.

    python benchmarks/badge_validity.py GROUND_TRUTH.jsonl OUTPUTS_FOLDER

The labels (benchmarks/inkbench_labels) were written before any badge was run. A page is truly hallucinated when its
reader found invented text or a loop. Pairs on which only the image could tell (`unclear`, and no loop) count on neither
side; the last columns say what happens if all of them are hallucinated, or none. Weights give every band of the length
ratio its share of all outputs.
"""

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hallumeter.stats.bootstrap import bootstrap_statistic
from hallumeter.stats.intervals import wilson_interval
from hallumeter.transcripts.anchoring import Anchoring, anchoring
from hallumeter.transcripts.page_reading import PageReading, read_page
from hallumeter.transcripts.policy import PagePolicy

LABELS = Path(__file__).parent / "inkbench_labels" / "labels.csv"
Judged = tuple[dict[str, str], Anchoring, PageReading]
Detector = Callable[[Judged], bool]


def texts_of(path: Path) -> dict[str, str]:
    """Text by document."""
    with path.open(encoding="utf-8") as lines:
        return {row["doc_id"]: row.get("text") or "" for row in map(json.loads, lines)}


def judged_pairs(truth: Path, outputs: Path) -> list[Judged]:
    """Every labelled pair with what the two instruments say of it."""
    references = texts_of(truth)
    pairs = []
    with LABELS.open(encoding="utf-8") as stream:
        for label in csv.DictReader(stream):
            response = texts_of(outputs / f"{label['engine']}.jsonl")[label["document"]]
            reference = references[label["document"]]
            pairs.append((label, anchoring(reference, response), read_page(reference, response)))
    return pairs


def is_hallucinated(label: dict[str, str]) -> bool | None:
    """The reader's word; None when only the image could tell."""
    if "yes" in (label["invented"], label["looped"]):
        return True
    return None if label["invented"] == "unclear" else False


def has_badge(judged: Judged) -> bool:
    """The badge of hallumeter."""
    reading = judged[2]
    invented = reading.block_words + reading.loop_words
    is_whole = reading.is_wholly_inserted
    return PagePolicy().is_hallucinated(invented_words=invented, words=reading.response_words, is_whole=is_whole)


def has_picarones_badge(judged: Judged) -> bool:
    """The badge of Picarones."""
    return judged[1].is_hallucinating


def rate(found: int, total: int) -> str:
    """A rate with its counts and interval."""
    interval = wilson_interval(found, total)
    if not total or interval is None:
        return "–"
    return f"{found / total:.2f} ({interval.low:.2f}–{interval.high:.2f}), {found} of {total}"


def weighted(truths: list[bool], flags: list[bool], weights: list[float]) -> tuple[str, str]:
    """Precision and recall over all outputs, each pair standing for those of its band, resampling pairs."""
    table = np.array([[t and f, f, t] for t, f in zip(truths, flags, strict=True)], dtype=float)
    table *= np.array(weights)[:, None]
    shown = []
    for denominator in (1, 2):

        def share(draws: np.ndarray, denominator: int = denominator) -> np.ndarray:
            sums = draws @ table
            with np.errstate(invalid="ignore"):  # a resample without any flag has no precision
                return np.asarray(sums[:, 0] / sums[:, denominator])

        value = float(share(np.ones((1, len(table))))[0])
        interval = bootstrap_statistic(np.ones(len(table), dtype=int), share, rng=np.random.default_rng(0))
        shown.append(f"{value:.2f} ({interval.low:.2f}–{interval.high:.2f})" if interval else f"{value:.2f}")
    return shown[0], shown[1]


def report(name: str, detector: Detector, truth: Callable[[dict[str, str]], bool | None], pairs: list[Judged]) -> None:
    """One line of the table."""
    told = [(truth(pair[0]), detector(pair), float(pair[0]["pairs_in_band"]) / 10) for pair in pairs]
    sure = [(is_true, flag, weight) for is_true, flag, weight in told if is_true is not None]
    hits = sum(is_true and flag for is_true, flag, _ in sure)
    flags, trues = sum(flag for _, flag, _ in sure), sum(bool(is_true) for is_true, _, _ in sure)
    all_precision, all_recall = weighted(*(list(column) for column in zip(*sure, strict=True)))
    unclear = [flag for is_true, flag, _ in told if is_true is None]
    flagged = sum(unclear)
    precisions = [hits / (flags + flagged), (hits + flagged) / (flags + flagged)] if flags + flagged else []
    bounds = " to ".join(f"{value:.2f}" for value in precisions)
    cells = [rate(hits, flags), rate(hits, trues), all_precision, all_recall, f"{flagged} of {len(unclear)}", bounds]
    print("| " + " | ".join([name, *cells]) + " |")


def main(truth: str, outputs: str) -> None:
    """Print the tables."""
    pairs = judged_pairs(Path(truth), Path(outputs))
    print("| badge | precision | recall | precision, weighted | recall, weighted | unclear badged | precision bounds |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    report("Picarones", has_picarones_badge, is_hallucinated, pairs)
    report("hallumeter", has_badge, is_hallucinated, pairs)
    report("loop found", lambda pair: pair[2].loop_words > 0, lambda label: label["looped"] == "yes", pairs)
    report(
        "omission, 10 words or a tenth",
        lambda pair: pair[2].omitted_words >= 10 or pair[2].omitted_words >= 0.1 * max(1, pair[2].reference_words),
        lambda label: label["omitted"] == "yes",
        pairs,
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
