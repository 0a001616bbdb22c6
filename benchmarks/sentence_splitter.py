"""Where sentences end by our own rules, against the sentencex package that they replaced.

    pip install sentencex==1.0.32
    python benchmarks/sentence_splitter.py FOLDER [--show N]

Every line of every text in FOLDER (JSON, JSONL, CSV, TSV, plain text) is split twice: by the package, with the rules of
`text/sentences.py` that mended it, and by those rules alone. Printed are the lines that differ, by source, the time of
both, and N of the differences, drawn at random.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import sentencex

from hallumeter.text import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACES = dict.fromkeys([0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " ")
_STAND_INS = {**_SPACES, 0x2026: ".", 0xFF0E: ".", **dict.fromkeys(range(0xD800, 0xE000), "\ufffd")}
_PAGES = ("vlm_inkbench", "ocr_icdar_tsv", "ocr_overproof", "vlm_gt4histocr", "ocr_dinglehopper")


def main(folder: Path, show: int) -> None:
    """Compare line by line."""
    lines = sorted({(source, line) for source, text in _texts(folder) for line in text.splitlines() if _matters(line)})
    ours, seconds = _split(lines)
    original, sentences._pieces = sentences._pieces, _pieces_of_package
    theirs, package_seconds = _split(lines)
    sentences._pieces = original
    differing = [number for number in range(len(lines)) if ours[number] != theirs[number]]
    by_source = Counter(lines[number][0] for number in differing)
    total = Counter(source for source, _ in lines)
    print("lines    differ  source")
    for source in sorted(total):
        print(f"{total[source]:7,}  {by_source[source]:6,}  {source}")
    pages = sum(total[each] for each in _PAGES)
    print(f"{len(lines):7,}  {len(differing):6,}  all; {sum(map(len, ours)):,} sentences")
    print(f"{len(lines) - pages:7,}  {len(differing) - sum(by_source[each] for each in _PAGES):6,}  all but read pages")
    print(f"time: {seconds / package_seconds:.2f} of the package's")
    for number in random.Random(0).sample(differing, min(show, len(differing))):
        line = lines[number][1]
        for name, spans, others in (
            ("ours", ours[number], theirs[number]),
            ("sentencex", theirs[number], ours[number]),
        ):
            print(f"{name:10}", [line[start:end] for start, end in spans if (start, end) not in others])


def _split(lines: list[tuple[str, str]]) -> tuple[list[list[tuple[int, int]]], float]:
    start = time.process_time()
    return [sentences.sentence_spans(line) for _, line in lines], time.process_time() - start


def _pieces_of_package(line: str) -> Iterator[tuple[int, int]]:
    end = 0
    for piece in sentencex.segment("en", line.translate(_STAND_INS)):
        start, end = end, end + len(piece)
        if words := piece.strip():
            first = start + piece.index(words[0])
            yield first, first + len(words)


def _matters(line: str) -> bool:
    return len(line) >= 20 and re.search("[.!?…。]", line) is not None


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    csv.field_size_limit(10**9)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "synthea" not in path.parts[-2]:
            source = path.relative_to(folder).parts[0]
            try:
                yield from ((source, text) for text in _strings(_read(path)))
            except (ValueError, csv.Error):
                continue


def _read(path: Path) -> object:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    if path.suffix == ".json":
        return json.loads(text)
    if path.suffix in {".csv", ".tsv"}:
        return list(csv.reader(text.splitlines(keepends=True), delimiter="\t" if path.suffix == ".tsv" else ","))
    return text if path.suffix in {".txt", ".md"} else ""


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args()
    main(options.folder, options.show)
