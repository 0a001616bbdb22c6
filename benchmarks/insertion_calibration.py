"""How well invented passages are told from misread ones, for several shares of letters that make a word read.

    python benchmarks/insertion_calibration.py FILE.tsv|FILE.jsonl ... [--pages N] [--seed N]

The files hold readings by classical OCR, which misreads but does not invent, with corrected text: TSV with the columns
`input` and `output` (post-OCR pairs of ICDAR 2017 and 2019 and of Gutenberg and HathiTrust; ten rows make a page), or
JSON lines as in HIPE-OCRepair (Overproof). Words called inserted there are false, but for text that the corrected side
leaves out. Foreign passages from other pages of the same file are then spliced in, and how many of their words are
called inserted is the recall:

    replaced    5 to 40 words of the response give way to as many
    between     5 to 40 words stand between two words of the response
    shortened   20 to 60 words give way to 3 to 10
    lengthened  3 to 10 words give way to 20 to 60
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from hallumeter.transcripts import alignment as matching
from hallumeter.transcripts.page_reading import PageReading, read_page

SHARES = (0.3, 0.4, 0.5, 0.6, 0.7)
SPLICES = {
    "replaced": (range(5, 41), None),
    "between": (range(1), range(5, 41)),
    "shortened": (range(20, 61), range(3, 11)),
    "lengthened": (range(3, 11), range(20, 61)),
}
"""How many words are taken out, and how many are put in; None: as many."""
ROWS_ON_A_PAGE = 10
FEWEST_WORDS = 100


class Transcription(Struct):
    """One text of an article."""

    transcription_unit: str


class Article(Struct):
    """An article with its reading and its correction."""

    ground_truth: Transcription
    ocr_hypothesis: Transcription


class Spliced(Struct):
    """A page with a foreign passage, and where it stands."""

    kind: str
    reference: str
    response: str
    start: int
    end: int


def pages_of(path: Path) -> list[tuple[str, str]]:
    """Reference and response of each page of a file."""
    if path.suffix == ".jsonl":
        articles = [msgspec.json.decode(line, type=Article) for line in path.read_bytes().splitlines()]
        return [(each.ground_truth.transcription_unit, each.ocr_hypothesis.transcription_unit) for each in articles]
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row["output"]]
    groups = (rows[start : start + ROWS_ON_A_PAGE] for start in range(0, len(rows), ROWS_ON_A_PAGE))
    return [("\n".join(row["output"] for row in group), "\n".join(row["input"] for row in group)) for group in groups]


def spliced_pages(pages: list[tuple[str, str]], rng: random.Random) -> Iterator[Spliced]:
    """Every page once for each kind of splice, with words of another page."""
    for number, (reference, response) in enumerate(pages):
        foreign = pages[(number + rng.randrange(1, len(pages))) % len(pages)][0].split()
        words = response.split()
        for kind, (taken_out, put_in) in SPLICES.items():
            out = rng.choice(taken_out)
            length = out if put_in is None else rng.choice(put_in)
            passage = foreign[(first := rng.randrange(len(foreign) - length)) : first + length]
            start = rng.randrange(len(words) - out)
            before, after = " ".join(words[:start]), " ".join(words[start + out :])
            begin = len(before) + 1
            end = begin + len(" ".join(passage))
            yield Spliced(kind, reference, f"{before} {' '.join(passage)} {after}", begin, end)


def inserted_letters(reading: PageReading, response: str, start: int, end: int) -> int:
    """Characters between two places that are called inserted, white space aside."""
    parts = [
        response[max(each.start, start) : min(each.end, end)]
        for each in reading.stretches
        if each.kind in {"insertion", "block", "loop"} and each.start is not None and each.end is not None
    ]
    return sum(len("".join(part.split())) for part in parts)


def print_row(share: float, pages: list[tuple[str, str]], spliced: list[Spliced]) -> None:
    """Print false insertions and recall when this share of letters makes a word read."""
    matching.ALIKE = share
    readings = [read_page(reference, response) for reference, response in pages]
    words = sum(reading.response_words for reading in readings)
    false = sum(reading.inserted_words for reading in readings) / words
    blocks = sum(each.kind == "block" for reading in readings for each in reading.stretches) / words
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for page in spliced:
        reading = read_page(page.reference, page.response)
        found[page.kind] += inserted_letters(reading, page.response, page.start, page.end)
        total[page.kind] += len("".join(page.response[page.start : page.end].split()))
    recalls = "  ".join(f"{found[kind] / total[kind]:10.1%}" for kind in SPLICES)
    print(f"{share:5.2f}  {false:8.2%}  {1000 * blocks:12.2f}  {recalls}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--pages", type=int, default=40, help="pages taken from each file")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    rng = random.Random(options.seed)
    pages: list[tuple[str, str]] = []
    spliced: list[Spliced] = []
    for path in options.files:
        usable = [page for page in pages_of(path) if min(len(text.split()) for text in page) > FEWEST_WORDS]
        chosen = rng.sample(usable, min(options.pages, len(usable)))
        pages += chosen
        spliced += spliced_pages(chosen, rng)
    print(
        f"{len(pages)} pages from {len(options.files)} files; {len(spliced)} spliced passages; used: {matching.ALIKE}"
    )
    print("share  inserted  blocks/1000w  " + "  ".join(f"{kind:>10}" for kind in SPLICES))
    for share in SHARES:
        print_row(share, pages, spliced)


if __name__ == "__main__":
    main()
