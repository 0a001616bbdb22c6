"""How well are refusals, apologies, wrappers, notes and descriptions found? On 225 outputs of InkBench read by hand.

    python benchmarks/remark_validity.py GROUND_TRUTH.jsonl OUTPUTS_FOLDER [--errors]

A class is found on an output when a remark of it has a word that is not on the page, or is a fence. The detector was
written while looking at the outputs that are not held back; `--errors` lists those of them that went wrong.
"""

import csv
import json
import sys
from pathlib import Path

from hallumeter.stats.intervals import wilson_interval
from hallumeter.transcripts.page_reading import read_page
from hallumeter.transcripts.records import REMARK_KINDS

LABELS = Path(__file__).parent / "inkbench_labels" / "notes.csv"


def texts_of(path: Path) -> dict[str, str]:
    """Text by document."""
    with path.open(encoding="utf-8") as lines:
        return {row["doc_id"]: row.get("text") or "" for row in map(json.loads, lines)}


def rate(found: int, total: int) -> str:
    """A rate with its counts and interval."""
    interval = wilson_interval(found, total)
    if not total or interval is None:
        return "–"
    return f"{found / total:.2f} ({interval.low:.2f}–{interval.high:.2f}), {found} of {total}"


def main(truth: str, outputs: str, *options: str) -> None:
    """Print precision and recall of each class, on both parts."""
    references = texts_of(Path(truth))
    with LABELS.open(encoding="utf-8") as stream:
        labels = list(csv.DictReader(stream))
    judged = []
    for label in labels:
        response = texts_of(Path(outputs) / f"{label['engine']}.jsonl")[label["document"]]
        reading = read_page(references[label["document"]], response)
        judged.append((label, set(label["classes"].split("+")) - {"none"}, set(reading.remarks)))
    for part in ("no", "yes"):
        own = [(label, true, found) for label, true, found in judged if label["is_held_back"] == part]
        print(f"\n{'held back' if part == 'yes' else 'seen'}: {len(own)} outputs")
        print("| class | precision | recall |\n| --- | --- | --- |")
        for kind in (*REMARK_KINDS, "any"):
            pairs = [(bool(t), bool(f)) if kind == "any" else (kind in t, kind in f) for _, t, f in own]
            both = sum(t and f for t, f in pairs)
            print(f"| {kind} | {rate(both, sum(f for _, f in pairs))} | {rate(both, sum(t for t, _ in pairs))} |")
    if "--errors" in options:
        for number, (label, true, found) in enumerate(judged):
            if label["is_held_back"] == "no" and true != found:
                print(number, label["document"], label["engine"], "missed", true - found, "wrong", found - true)


if __name__ == "__main__":
    main(*sys.argv[1:])
