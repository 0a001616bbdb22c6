"""How often can a witness tell, and is it right? On the 80 pairs of InkBench that were read by hand.

    python benchmarks/witness_validity.py GROUND_TRUTH.jsonl OUTPUTS_FOLDER [WITNESS ...]

The witnesses are engines of the data set that do not write on their own: Tesseract and EasyOcr by default. The ground
truth is only used to know which pairs are labelled; every response is compared with the witness's text.
"""

import sys
from pathlib import Path

from badge_validity import LABELS, is_hallucinated, rate, texts_of

from hallumeter.metrics.reading import read_page
from hallumeter.policy import PagePolicy, WitnessPolicy


def is_flagged(witness: str, response: str) -> bool | None:
    """Whether the witness and the loops speak against a response; None when it cannot be told."""
    reading = read_page(witness, response)
    agreement = 1 - reading.omitted_words / reading.reference_words if reading.reference_words else None
    why_not = WitnessPolicy().why_not(words=reading.reference_words, confidence=None, agreement=agreement)
    invented = reading.loop_words if why_not else reading.block_words + reading.loop_words
    flag = PagePolicy().is_hallucinated(invented_words=invented, words=reading.response_words)
    return flag if flag or why_not is None else None


def main(outputs: Path, witnesses: list[str]) -> None:
    """Print one line per witness."""
    import csv

    with LABELS.open(encoding="utf-8") as stream:
        labels = list(csv.DictReader(stream))
    print("| witness | pairs | could tell | precision | recall among those told |\n| --- | --- | --- | --- | --- |")
    for name in witnesses:
        readings = texts_of(outputs / f"{name}.jsonl")
        told, pairs = [], 0
        for label in labels:
            truth = is_hallucinated(label)
            if truth is None or label["engine"] == name or not readings.get(label["document"], "").strip():
                continue
            pairs += 1
            response = texts_of(outputs / f"{label['engine']}.jsonl")[label["document"]]
            flag = is_flagged(readings[label["document"]], response)
            if flag is not None:
                told.append((truth, flag))
        hits = sum(truth and flag for truth, flag in told)
        flags, trues = sum(flag for _, flag in told), sum(truth for truth, _ in told)
        print(f"| {name} | {pairs} | {rate(len(told), pairs)} | {rate(hits, flags)} | {rate(hits, trues)} |")


if __name__ == "__main__":
    main(Path(sys.argv[2]), sys.argv[3:] or ["Tesseract", "EasyOcr"])
