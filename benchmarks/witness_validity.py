"""How often can a witness tell, and is it right? On InkBench, with two of its own engines as witnesses.

    python benchmarks/witness_validity.py GROUND_TRUTH.jsonl OUTPUTS_FOLDER [WITNESS ...]

The witnesses are engines of the data set that do not write on their own: Tesseract and EasyOcr by default. Neither says
how sure it is, so each is taken as it is and as if its user had vouched for it with 0.95. The first table sets what
they say beside the labels of the 80 pairs that were read by hand, without those on which only the image could tell. The
second sets it beside hallumeter's own badge by the ground truth, on all other outputs, with intervals by resampling
pages; a loop is found by both alike, so that only what else is flagged, and what is cleared, is tested there.
"""

import csv
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from badge_validity import LABELS, is_hallucinated, rate, texts_of
from hallumeter.records.page import Transcript
from hallumeter.stats.bootstrap import cluster_bootstrap_interval
from hallumeter.transcripts.anchoring import anchoring
from hallumeter.transcripts.page import Comparison, measure_page
from hallumeter.transcripts.page_reading import read_page
from hallumeter.transcripts.settings import TranscriptSettings

GIVEN: tuple[float | None, ...] = (None, 0.95)
"""Confidence that the user states for the witness."""
HEADER = "| witness | confidence | pairs | cleared | truly clean | flagged | truly hallucinated | undecided |"


class Told(NamedTuple):
    """What was said of one output."""

    document: str
    is_true: bool
    said: dict[float | None, bool | None]
    """By the witness, at each confidence; None when it could not tell."""


def badges(
    reference: str, response: str, *, name: str, given: Sequence[float | None]
) -> dict[float | None, bool | None]:
    """What the product says of an output, at each confidence."""
    reading, anchored = read_page(reference, response), anchoring(reference, response)
    transcript = Transcript("page", "engine", reference, response)
    said = {}
    for confidence in given:
        comparison = Comparison(TranscriptSettings(witness_confidence=confidence), reference_name=name)
        said[confidence] = measure_page(transcript, anchored, comparison, reading=reading).row.is_hallucinating
    return said


def by_cluster(told: list[Told], found: Callable[[Told], bool]) -> str:
    """The share of the outputs in which something was found, resampling pages."""
    pages: dict[str, list[bool]] = {}
    for each in told:
        pages.setdefault(each.document, []).append(found(each))
    counts, totals = [sum(page) for page in pages.values()], [len(page) for page in pages.values()]
    interval = cluster_bootstrap_interval(counts, totals, rng=np.random.default_rng(0))
    if interval is None:
        return f"{sum(counts)} of {sum(totals)}"
    share = sum(counts) / sum(totals)
    return f"{share:.3f} ({interval.low:.3f}–{interval.high:.3f}), {sum(counts)} of {sum(totals)}"


def by_pair(told: list[Told], found: Callable[[Told], bool]) -> str:
    """The share of pairs in which something was found."""
    return rate(sum(map(found, told)), len(told))


def report(name: str, told: list[Told], shown: Callable[[list[Told], Callable[[Told], bool]], str]) -> None:
    """The lines of one witness."""
    for given in GIVEN:
        cleared = [each for each in told if each.said[given] is False]
        flagged = [each for each in told if each.said[given]]
        cells = [name, "not known" if given is None else f"{given:g}", str(len(told))]
        cells += [str(len(cleared)), shown(cleared, lambda each: not each.is_true)]
        cells += [str(len(flagged)), shown(flagged, lambda each: each.is_true)]
        print("| " + " | ".join([*cells, str(len(told) - len(cleared) - len(flagged))]) + " |")


def main(truth: Path, outputs: Path, witnesses: list[str]) -> None:
    """Print both tables."""
    references = texts_of(truth)
    engines = {path.stem: texts_of(path) for path in sorted(outputs.glob("*.jsonl"))}
    with LABELS.open(encoding="utf-8") as stream:
        labels = {(row["document"], row["engine"]): is_hallucinated(row) for row in csv.DictReader(stream)}
    by_hand: dict[str, list[Told]] = {name: [] for name in witnesses}
    by_badge: dict[str, list[Told]] = {name: [] for name in witnesses}
    for engine, texts in engines.items():
        for document, response in texts.items():
            readers = [name for name in witnesses if name != engine and document in engines[name]]
            is_labelled = (document, engine) in labels
            if not readers or not response.strip():
                continue
            is_true = labels.get((document, engine))
            if not is_labelled:
                is_true = badges(references[document], response, name="truth", given=[None])[None]
            for name in readers if is_true is not None else ():
                said = badges(engines[name][document], response, name="witness", given=GIVEN)
                (by_hand if is_labelled else by_badge)[name].append(Told(document, bool(is_true), said))
    for title, found, shown in (("by hand", by_hand, by_pair), ("by the ground truth", by_badge, by_cluster)):
        print(f"\nTruth {title}:\n\n{HEADER}\n|{' --- |' * HEADER.count(' | ')} --- |")
        for name, told in found.items():
            report(name, told, shown)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:] or ["Tesseract", "EasyOcr"])
