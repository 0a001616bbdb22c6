"""How fast Picarones' metrics are measured over a corpus, as ratios to a plain algorithm in the same run.

    python benchmarks/transcripts_speed.py [TRUTH.jsonl OUTPUT.jsonl ...] [--megabytes 200] [--yardstick FILE.py]

Each line of a file is {"doc_id", "text"}. Without files it makes pages of the same shape. The corpus is repeated until
it holds that much text (pages and responses, UTF-8, each pair counted whole). The yardstick is the function page(truth,
output) of FILE.py, or the plain one below. Times are wall-clock seconds, the best of three; memory is that of a process
that measures the corpus as it makes it.
"""

import argparse
import importlib.util
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from hallumeter.run.engines.local import map_in_order
from hallumeter.transcripts.anchoring import PageTexts, anchor_pages

PAGES_PER_SHARE = 32
CORPUS: list[PageTexts] = []
"""Seen by the processes that are copied from this one, so that no text has to be sent to them."""


def plain_page(truth: str, output: str) -> bool:
    """Picarones' badge by tuples, lists and sets, with its blocks found and thrown away."""
    known_words, words = truth.lower().split(), output.lower().split()
    known = set(known_words)
    sum(word not in known for word in words)
    grams = [tuple(words[i : i + 3]) for i in range(len(words) - 2)] or ([tuple(words)] if words else [])
    known_grams = {tuple(known_words[i : i + 3]) for i in range(len(known_words) - 2)} or {tuple(known_words)}
    blocks, start, run = [], None, 0
    for place, word in enumerate(words):
        if word not in known:
            start, run = (place if start is None else start), 0
        elif start is not None:
            run += 1
            if run >= 3:
                blocks.append((start, place - run))
                start, run = None, 0
    anchor = sum(gram in known_grams for gram in grams) / len(grams) if grams else float(not known_words)
    characters = len(truth.strip())
    return anchor < 0.5 or len(output.strip()) > 1.2 * characters


def made_pages() -> Iterator[PageTexts]:
    """Pages with misread, left out and invented words, and here and there a loop, by forty engines each."""
    chance = random.Random(0)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    words = ["".join(chance.choices(letters, k=chance.choice((1, 2, 3, 4, 5, 7, 9)))) for _ in range(8_000)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    for _ in range(100):
        truth = chance.choices(words, weights, k=20 + int(chance.lognormvariate(5, 0.8)))
        responses = []
        for _ in range(40):
            kept = [word[::-1] if chance.random() < 0.1 else word for word in truth if chance.random() > 0.02]
            responses.append(" ".join(kept + (kept[:9] * 40 if chance.random() < 0.02 else [])))
        yield PageTexts(" ".join(truth), responses)


def read_pages(truth: Path, outputs: list[Path]) -> list[PageTexts]:
    """Pages of files, each with the responses of all engines."""
    with truth.open(encoding="utf-8") as lines:
        references = {row["doc_id"]: row["text"] for row in map(json.loads, lines)}
    responses: dict[str, list[str]] = {page: [] for page in references}
    for path in outputs:
        with path.open(encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row["doc_id"] in references and row.get("text"):
                    responses[row["doc_id"]].append(row["text"])
    return [PageTexts(references[page], texts) for page, texts in responses.items()]


def badged_in(share: range) -> int:
    """How many responses of some pages have the badge."""
    pages = (CORPUS[place % len(CORPUS)] for place in share)
    return sum(int(columns.are_hallucinating.sum()) for columns in anchor_pages(pages))


def shares(pages: int) -> list[range]:
    """Pages by number, some at a time."""
    return [range(first, min(first + PAGES_PER_SHARE, pages)) for first in range(0, pages, PAGES_PER_SHARE)]


def timed(work: Callable[[], int], times: int = 3) -> tuple[float, int]:
    """The best of a few runs, in seconds, and what came out."""
    best, found = float("inf"), 0
    for _ in range(times):
        began = time.perf_counter()
        found = work()
        best = min(best, time.perf_counter() - began)
    return best, found


def yardstick_of(path: str | None) -> Callable[[str, str], bool]:
    """The plain algorithm: of a file, or the one above."""
    if path is None:
        return plain_page
    spec = importlib.util.spec_from_file_location("yardstick", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda truth, output: bool(module.page(truth, output)["is_hallucinating"])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--yardstick")
    parser.add_argument("--memory-of", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    CORPUS.extend(read_pages(arguments.files[0], arguments.files[1:]) if arguments.files else made_pages())
    if arguments.memory_of is not None:
        badged_in(range(arguments.memory_of * len(CORPUS)))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return
    once = sum(len(page.reference.encode()) + len(text.encode()) for page in CORPUS for text in page.responses) / 1e6
    repeats = max(1, -int(-arguments.megabytes // once))
    size, pages = once * repeats, repeats * len(CORPUS)
    plain = yardstick_of(arguments.yardstick)
    pairs = [(page.reference, text) for page in CORPUS for text in page.responses]
    slow, expected = timed(lambda: sum(plain(*pair) for _ in range(repeats) for pair in pairs), times=1)
    print(f"{len(pairs) * repeats:,} responses to {pages:,} pages, {size:.0f} MB")
    print("| measurement | seconds | MB/s | ratio |\n| --- | ---: | ---: | ---: |")
    print(f"| plain algorithm, one core | {slow:.2f} | {size / slow:.1f} | 1 |")
    for workers in (1, 2):
        work = lambda workers=workers: sum(map_in_order(badged_in, shares(pages), workers=workers))  # noqa: E731
        fast, found = timed(work)
        assert found == expected, (found, expected)
        name = f"hallumeter, {workers} process{'es' * (workers > 1)}"
        print(f"| {name} | {fast:.2f} | {size / fast:.1f} | {slow / fast:.2f} |")
    command = [sys.executable, __file__, *map(str, arguments.files), "--memory-of"]
    peaks = [float(subprocess.check_output([*command, str(times)])) for times in (1, repeats, 4 * repeats)]
    sizes = (once, size, 4 * size)
    print("memory:", ", ".join(f"{peak:.0f} MiB for {size:.0f} MB" for peak, size in zip(peaks, sizes, strict=True)))


if __name__ == "__main__":
    main()
