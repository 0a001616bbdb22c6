"""How fast transcripts are measured, as ratios to a plain algorithm, to Picarones' function and to jiwer, in one run.

    python benchmarks/transcripts_ratios.py [--picarones HALLUCINATION.py] [--repeats 5] [--pages 10000]

HALLUCINATION.py is Picarones' module of that name, from a copy of its repository; without it the column is empty. The
pages are made. Every figure is the median ratio of CPU times (of elapsed times for the program in two processes) of the
repeats, each of which measures both sides one after the other, so that other work on the machine weighs on both. The
floor is the program's least: Python, the packages that it cannot do without, both tables read and decoded, and the
words counted.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from alignment_speed import LETTERS, Pair, made_pairs, misread, theirs
from hallumeter.compat.picarones import compute_hallucination_metrics
from hallumeter.transcripts.anchoring import anchor_pages
from hallumeter.transcripts.page_reading import read_page
from transcripts_speed import made_pages, plain_page

Compared = Callable[[str, str], object]
CHARACTERS_A_WORD = 6.3
PAGE_WORDS = 222


def made_texts(words: int, count: int) -> list[Pair]:
    """Pages of so many words of a made language, and readings with one word in eight misread."""
    rng = random.Random(words)
    vocabulary = ["".join(rng.choices(LETTERS, k=rng.randint(2, 9))) for _ in range(20_000)]
    pairs = []
    for _ in range(count):
        page = [vocabulary[int(len(vocabulary) * rng.random() ** 3)] for _ in range(words)]
        pairs.append((" ".join(page), " ".join(misread(page, rng))))
    return pairs


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of one run."""
    started = time.process_time()
    work()
    return time.process_time() - started


def median_ratio(theirs_: Callable[[], object], ours: Callable[[], object], repeats: int) -> float:
    """How many times as long theirs takes."""
    return statistics.median(cpu_seconds(theirs_) / cpu_seconds(ours) for _ in range(repeats))


def on_all(work: Compared, pairs: Sequence[Pair]) -> Callable[[], object]:
    """A function on every pair."""
    return lambda: [None for pair in pairs if work(*pair) is None]


def per_pair(picarones: Compared | None, repeats: int) -> None:
    """The compatible function, one pair at a time."""
    for characters in (200, 1_400, 30_000):
        pairs = made_texts(round(characters / CHARACTERS_A_WORD), max(20, 600_000 // characters))
        ours = on_all(compute_hallucination_metrics, pairs)
        ratios = [median_ratio(on_all(each, pairs), ours, repeats) for each in (plain_page, picarones) if each]
        print_row(f"one pair, {characters:,} characters", ratios)


def whole_program(picarones: Compared | None, pages: int, repeats: int) -> None:
    """The command on a table of one engine, its start included, against the same work in a loop without any start."""
    pairs = made_texts(PAGE_WORDS, pages)
    with tempfile.TemporaryDirectory() as name:
        tables = [Path(name, side) for side in ("truth.jsonl", "engine.jsonl")]
        for place, table in enumerate(tables):
            rows = ({"doc_id": f"p{number}", "text": pair[place]} for number, pair in enumerate(pairs))
            table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        for workers in (1, 2):
            command = [sys.executable, "-m", "hallumeter", "transcripts", *map(str, tables), "--measures", "anchoring"]
            command += ["--quiet", "--workers", str(workers)]
            program = running(command, name)
            clock, program_clock = (cpu_seconds, children_seconds) if workers == 1 else (elapsed, elapsed)
            ratios = []
            for each in filter(None, (plain_page, picarones)):
                found = [clock(on_all(each, pairs)) / program_clock(program) for _ in range(repeats)]
                ratios.append(statistics.median(found))
            print_row(f"one engine, {pages:,} pages, start included, {workers} process{'es' * (workers > 1)}", ratios)
        floor = running([sys.executable, "-c", FLOOR, *map(str, tables)], name)
        ratios = [
            statistics.median(cpu_seconds(on_all(each, pairs)) / children_seconds(floor) for _ in range(repeats))
            for each in filter(None, (plain_page, picarones))
        ]
        print_row("the floor of one process", ratios)


FLOOR = """
import sys, click, msgspec, numpy
from hallumeter.transcripts.anchoring import PageTexts, anchor_pages
decoder = msgspec.json.Decoder()
truth, engine = ([decoder.decode(line) for line in open(path, "rb")] for path in sys.argv[1:])
for _ in anchor_pages(PageTexts(one["text"], [other["text"]]) for one, other in zip(truth, engine)):
    pass
"""
"""No join by name, no counts kept, no intervals, nothing printed."""


def children_seconds(work: Callable[[], object]) -> float:
    """CPU time of the processes that a function starts and ends."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def elapsed(work: Callable[[], object]) -> float:
    """Seconds on the clock."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def running(command: list[str], folder: str) -> Callable[[], object]:
    """A program, whose modules are compiled, as they are once it is installed: it has run once."""
    compiled = {"PYTHONPYCACHEPREFIX": str(Path(folder, "compiled")), "PYTHONDONTWRITEBYTECODE": ""}
    threads = {"OPENBLAS_NUM_THREADS": "1"}
    run = partial(
        subprocess.run, command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **compiled, **threads}
    )
    run()
    return run


def many_engines(picarones: Compared | None, repeats: int) -> None:
    """Pages with 40 engines each, without files."""
    corpus = list(made_pages())[:25]
    pairs = [(page.reference, text) for page in corpus for text in page.responses]
    ours = lambda: [int(each.are_hallucinating.sum()) for each in anchor_pages(corpus)]  # noqa: E731
    ratios = [median_ratio(on_all(each, pairs), ours, repeats) for each in (plain_page, picarones) if each]
    print_row("40 engines, in one process", ratios)


def whole_readings(repeats: int) -> None:
    """Everything that is read of a page, against jiwer's error rates."""
    pairs = made_pairs(200, random.Random(0))
    ours, jiwer = on_all(read_page, pairs), on_all(lambda *pair: theirs(pair), pairs)
    print(f"| whole reading of a page / jiwer's CER and WER | {median_ratio(ours, jiwer, repeats):.2f} | |")


def print_row(name: str, ratios: Sequence[float]) -> None:
    """One line of the table."""
    print(f"| {name} | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} |{' |' * (2 - len(ratios))}", flush=True)


def function_of(path: Path | None) -> Compared | None:
    """Picarones' function, from its file."""
    if path is None:
        return None
    spec = importlib.util.spec_from_file_location("picarones_hallucination", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found: Compared = module.compute_hallucination_metrics
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picarones", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--pages", type=int, default=10_000)
    options = parser.parse_args()
    picarones = function_of(options.picarones)
    print("| work | times as fast as the plain algorithm | as Picarones' function |\n| --- | ---: | ---: |")
    per_pair(picarones, options.repeats)
    whole_program(picarones, options.pages, options.repeats)
    many_engines(picarones, options.repeats)
    whole_readings(options.repeats)


if __name__ == "__main__":
    main()
