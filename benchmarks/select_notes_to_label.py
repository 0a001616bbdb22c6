"""Choose 225 outputs of InkBench to label by hand: does the engine refuse, apologise, wrap, annotate or describe?

    python benchmarks/select_notes_to_label.py GROUND_TRUTH.jsonl OUTPUTS_FOLDER > pairs.csv

Four strata, by which words and brackets the two texts share; no phrase is looked for and no metric of the package takes
part. Engines and documents are spread as evenly as possible. Every third pair of a stratum is held back.
"""

import csv
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

PAIRS = (("foreign", 45), ("foreign head", 40), ("bracket", 40), ("rest", 40), ("foreign", 60))
"""The first round had few refusals, so a second one adds outputs that share little with their page."""
SEED = 20261118
_WORD = re.compile(r"[^\W_]+")


def texts_of(path: Path) -> Iterator[tuple[str, str]]:
    """Document id and stripped text of each line of a file."""
    with path.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            yield row["doc_id"], (row.get("text") or "").strip()


def known_share(text: str, vocabulary: set[str]) -> float:
    """How many of the words of a text another one has."""
    words = _WORD.findall(text.lower())
    return sum(word in vocabulary for word in words) / len(words) if words else 1.0


def stratum(text: str, truth: str) -> str:
    """Which stratum an output belongs to."""
    vocabulary = set(_WORD.findall(truth.lower()))
    if known_share(text, vocabulary) < 0.3:
        return "foreign"
    if known_share(text.splitlines()[0], vocabulary) < 0.5:
        return "foreign head"
    marks = "[", "```"
    return "bracket" if any(mark in text and mark not in truth for mark in marks) else "rest"


def pairs_by_stratum(truth: Path, outputs: Path) -> dict[str, list[tuple[str, str]]]:
    """Every (engine, document) with a text, by stratum."""
    references = {document: text for document, text in texts_of(truth) if text}
    pairs: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for path in sorted(outputs.glob("*.jsonl")):
        for document, text in texts_of(path):
            if text and document in references:
                pairs[stratum(text, references[document])].append((path.stem, document))
    return pairs


def main(truth: str, outputs: str) -> None:
    """Write the pairs with their stratum, how many pairs that holds, and whether they are held back."""
    generator = random.Random(SEED)
    strata = pairs_by_stratum(Path(truth), Path(outputs))
    times_used: Counter[str] = Counter()
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["document", "engine", "stratum", "pairs_in_stratum", "is_held_back"])
    shuffled = {name: generator.sample(strata[name], len(strata[name])) for name in dict(PAIRS)}
    for name, wanted in PAIRS:
        waiting = shuffled[name]
        for number in range(wanted):
            pair = min(waiting, key=lambda pair: [times_used[each] for each in pair])
            waiting.remove(pair)
            times_used.update(pair)
            table.writerow([pair[1], pair[0], name, len(strata[name]), "yes" if number % 3 == 2 else "no"])


if __name__ == "__main__":
    main(*sys.argv[1:])
