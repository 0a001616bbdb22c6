"""Choose 80 page-engine pairs to label by hand: ten from each band of the length ratio, engines spread evenly.

    python benchmarks/select_pages_to_label.py GROUND_TRUTH.jsonl OUTPUTS_FOLDER > pairs.csv

Only the two texts' lengths are looked at: no metric of the package and no badge takes part in the choice.
Empty outputs are left out: whether they invent anything is not a question.
"""

import csv
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

BAND_ENDS = (0.5, 0.8, 0.95, 1.05, 1.2, 1.5, 3.0, float("inf"))
PAIRS_PER_BAND = 10
SEED = 20261116


def texts_of(path: Path) -> Iterator[tuple[str, str]]:
    """Document id and stripped text of each line of a file."""
    with path.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            yield row["doc_id"], (row.get("text") or "").strip()


def pairs_by_band(truth: Path, outputs: Path) -> dict[float, list[tuple[str, str]]]:
    """Every (engine, document) with a text, under the end of the band that holds its length ratio."""
    lengths = {document: len(text) for document, text in texts_of(truth) if text}
    bands: dict[float, list[tuple[str, str]]] = defaultdict(list)
    for path in sorted(outputs.glob("*.jsonl")):
        for document, text in texts_of(path):
            if text and document in lengths:
                ratio = len(text) / lengths[document]
                bands[next(end for end in BAND_ENDS if ratio <= end)].append((path.stem, document))
    return bands


def chosen_pairs(pairs: list[tuple[str, str]], times_used: Counter[str]) -> list[tuple[str, str]]:
    """Ten pairs of one band: the engine, then the document used least so far, never twice the same engine."""
    chosen: list[tuple[str, str]] = []
    for _ in range(PAIRS_PER_BAND):
        taken = {engine for engine, _ in chosen}
        free = (pair for pair in pairs if pair[0] not in taken)
        pair = min(free, key=lambda pair: [times_used[name] for name in pair])
        chosen.append(pair)
        times_used.update(pair)
    return chosen


def main(truth: str, outputs: str) -> None:
    """Write the pairs with their band and how many pairs the band holds."""
    generator = random.Random(SEED)
    bands = pairs_by_band(Path(truth), Path(outputs))
    times_used: Counter[str] = Counter()
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["document", "engine", "band_end", "pairs_in_band"])
    # The sparse bands choose first: few engines reach them.
    for end in sorted(bands, key=lambda band: (len({engine for engine, _ in bands[band]}), band)):
        pairs = generator.sample(bands[end], len(bands[end]))
        for engine, document in chosen_pairs(pairs, times_used):
            table.writerow([document, engine, end, len(bands[end])])


if __name__ == "__main__":
    main(*sys.argv[1:])
