"""How well is modernised spelling told from misread letters and from other words? On 269 pairs labelled by hand.

    python benchmarks/modernised_spelling.py [--errors]

The rules were made with the half of the pairs that is not held back; `--errors` lists those of it that went wrong.
"""

import csv
import sys
from pathlib import Path

from hallumeter.stats.intervals import wilson_interval
from hallumeter.transcripts.error_classes import error_class

LABELS = Path(__file__).parent / "spelling_labels" / "pairs.csv"


def rate(found: int, total: int) -> str:
    """A rate with its counts and interval."""
    interval = wilson_interval(found, total)
    if not total or interval is None:
        return "–"
    return f"{found / total:.2f} ({interval.low:.2f}–{interval.high:.2f}), {found} of {total}"


def main(*options: str) -> None:
    """Print precision and recall, on both halves, for each language and for all."""
    with LABELS.open(encoding="utf-8") as stream:
        pairs = list(csv.DictReader(stream))
    for half, title in (("open", "seen"), ("held", "held back")):
        own = [pair for pair in pairs if pair["half"] == half]
        print(f"\n{title}: {len(own)} pairs\n| language | precision | recall |\n| --- | --- | --- |")
        for language in ("fr", "en", "de", "all"):
            told = [
                (pair["label"] == "modernised", error_class(pair["reference"], pair["response"]) == "modernised")
                for pair in own
                if language in (pair["language"], "all")
            ]
            both = sum(true and found for true, found in told)
            precision, recall = rate(both, sum(found for _, found in told)), rate(both, sum(true for true, _ in told))
            print(f"| {language} | {precision} | {recall} |")
    for pair in pairs if "--errors" in options else ():
        found = error_class(pair["reference"], pair["response"])
        if pair["half"] == "open" and (found == "modernised") != (pair["label"] == "modernised"):
            print(pair["language"], pair["reference"], pair["response"], pair["label"], "found:", found)


if __name__ == "__main__":
    main(*sys.argv[1:])
