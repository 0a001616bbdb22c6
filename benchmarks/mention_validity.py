"""How many of the clinical mentions that people marked are found, and how much of what is found was marked?

    python benchmarks/mention_validity.py [--list] [--reader entities]

On the hundred passages of clinical_labels/. A mention is found when something of the same kind is found at a place that
overlaps it. Names of labs and vitals count with a value or without; what is found of these is held against the marks of
both kinds, as a name alone does not always tell which it is. Intervals by resampling passages. --list prints what was
missed and what was found beyond.
"""

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hallumeter.dialogue.measure.entities import entity_reader
from hallumeter.dialogue.measure.setup import EntityReader
from hallumeter.dialogue.reading.reader import ClinicalReader, ClinicalText
from hallumeter.stats.bootstrap import cluster_bootstrap_interval

LABELS = Path(__file__).parent / "clinical_labels" / "passages.jsonl"
MEASUREMENTS = ("lab", "vital")
KINDS = {"medication": ("medication",), "condition": ("condition",), "lab": MEASUREMENTS, "vital": MEASUREMENTS}
"""A kind, and the kinds that are the same as it."""


class Place(NamedTuple):
    """Where something of a kind stands."""

    kind: str
    start: int
    end: int

    def meets(self, other: "Place") -> bool:
        """Whether both share a character and could be the same."""
        return other.kind in KINDS[self.kind] and self.start < other.end and other.start < self.end


class Passage(NamedTuple):
    """A passage with what was marked and what was found."""

    source: str
    text: str
    marked: list[Place]
    found: list[Place]


def found_in(read: ClinicalText) -> list[Place]:
    """Every occurrence of a mention, and every name of a measurement that stands alone."""
    places = {
        Place(mention.kind, occurrence.start, occurrence.end)
        for mention in read.mentions
        if mention.kind in KINDS
        for occurrence in mention.occurrences
    }
    names = {Place("lab", hint.start, hint.end) for hint in read.hints if hint.kind == "measurement"}
    return sorted(places | {name for name in names if not any(name.meets(place) for place in places)})


def passages(reader: ClinicalReader | EntityReader) -> list[Passage]:
    """The labelled passages, read."""
    read = []
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        marked = [Place(mark["kind"], mark["start"], mark["end"]) for mark in row["mentions"]]
        read.append(Passage(row["source"], row["text"], marked, found_in(reader.read(row["text"]))))
    return read


def missed(passage: Passage, kind: str) -> list[Place]:
    """Marks of a kind that nothing found meets."""
    return [mark for mark in passage.marked if mark.kind == kind and not any(map(mark.meets, passage.found))]


def beyond(passage: Passage, kind: str) -> list[Place]:
    """What was found of a kind without a mark."""
    return [place for place in passage.found if place.kind in KINDS[kind] and not any(map(place.meets, passage.marked))]


def share(rows: list[tuple[int, int]]) -> str:
    """A rate over passages with its counts and interval."""
    count, total = (sum(column) for column in zip(*rows, strict=True))
    interval = cluster_bootstrap_interval(*zip(*rows, strict=True), rng=np.random.default_rng(0)) if total else None
    if interval is None:
        return f"– ({count} of {total})"
    return f"{count / total:.3f} ({interval.low:.3f}–{interval.high:.3f}), {count} of {total}"


def row(group: list[Passage], kind: str) -> tuple[str, str]:
    """Recall and precision of one kind; precision of labs and vitals together."""
    marked = [sum(mark.kind == kind for mark in passage.marked) for passage in group]
    found = [sum(place.kind in KINDS[kind] for place in passage.found) for passage in group]
    recall = [(total - len(missed(passage, kind)), total) for passage, total in zip(group, marked, strict=True)]
    precision = [(total - len(beyond(passage, kind)), total) for passage, total in zip(group, found, strict=True)]
    return share(recall), share(precision)


def main() -> None:
    """Print a row per source and kind; with --list, every miss and every find without a mark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print what was missed and what was found beyond")
    parser.add_argument("--reader", choices=("lexicon", "entities"), default="lexicon", help="entities reads more")
    given = parser.parse_args()
    is_listing = given.list
    everything = passages(ClinicalReader() if given.reader == "lexicon" else entity_reader())
    print("| passages | kind | recall | precision |\n|---|---|---|---|")
    for source in ("MTS-Dialog", "MEDEC", "both"):
        group = [passage for passage in everything if source in (passage.source, "both")]
        for kind in KINDS:
            print(f"| {source} | {kind} | {' | '.join(row(group, kind))} |")
    if is_listing:
        for name, places in (("missed", missed), ("beyond", beyond)):
            for kind in KINDS:
                words = [
                    passage.text[place.start : place.end] for passage in everything for place in places(passage, kind)
                ]
                print(f"{name} {kind}: {'; '.join(words)}")


if __name__ == "__main__":
    main()
