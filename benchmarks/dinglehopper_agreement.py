"""Is the CER under `--normalize dinglehopper` dinglehopper's? Both on the same pages, side by side.

    python benchmarks/dinglehopper_agreement.py TRUTH.page.xml OCR.xml [TRUTH OCR ...] [--python /path/to/python]

`--python` is an interpreter that has dinglehopper (`pip install dinglehopper` in an environment of its own); without it
dinglehopper must be importable here. Exits with 1 when a pair differs by more than 0.001.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from hallumeter.text.spelling import parse_spelling
from hallumeter.transcripts.page_reading import count_character_edits
from hallumeter.transcripts.pages.page_file import read_page_file

TOLERANCE = 0.001
THEIRS = """
import json, sys
from dinglehopper.character_error_rate import character_error_rate_n
from dinglehopper.ocr_files import extract
pairs = json.load(sys.stdin)
json.dump([character_error_rate_n(extract(truth), extract(ocr)) for truth, ocr in pairs], sys.stdout)
"""


def their_rates(pairs: list[tuple[Path, Path]], python: str) -> list[tuple[float, int]]:
    """The CER of each pair and the characters of its reference, by dinglehopper."""
    given = json.dumps([[str(path.resolve()) for path in pair] for pair in pairs])
    done = subprocess.run([python, "-c", THEIRS], input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{python}: dinglehopper did not run:\n{done.stderr.strip().splitlines()[-1]}")
    return [(rate, count) for rate, count in json.loads(done.stdout)]


def our_rate(truth: Path, ocr: Path) -> tuple[float, int]:
    """The same by hallumeter."""
    spelling = parse_spelling("dinglehopper")
    texts = (spelling.text(read_page_file(path, level="region").text) for path in (truth, ocr))
    counts, _ = count_character_edits(*texts, spelling=spelling)
    return counts.errors / counts.reference, counts.reference


def main() -> None:
    """Print a line for each pair."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, help="ground truth and OCR in turn")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has dinglehopper")
    options = parser.parse_args()
    if len(options.paths) % 2:
        parser.error("expected ground truth and OCR in turn")
    pairs = list(zip(options.paths[::2], options.paths[1::2], strict=True))
    print("| page | dinglehopper | hallumeter | characters |\n| --- | --- | --- | --- |")
    largest = 0.0
    for (truth, ocr), (theirs, count) in zip(pairs, their_rates(pairs, options.python), strict=True):
        ours, our_count = our_rate(truth, ocr)
        largest = max(largest, abs(ours - theirs))
        print(f"| {ocr.name} | {theirs:.6f} | {ours:.6f} | {count} / {our_count} |")
    print(f"largest difference: {largest:.6f}")
    sys.exit(largest > TOLERANCE)


if __name__ == "__main__":
    main()
