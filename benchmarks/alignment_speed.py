"""How fast pages are aligned: against jiwer on the same pairs, page by page, and on a page that never ends.

    python benchmarks/alignment_speed.py [--truth TRUTH.jsonl --outputs OUTPUT.jsonl ...] [--pairs N]

Each line of a file is {"doc_id", "text"}. Without paths, pages of the same shape are made: 1.3 KB, one word in eight
misread, one page in forty with a loop. jiwer must be installed; its words are split at single spaces alone, so it is
given each text with its white space made single spaces, and its counts are compared with ours.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Callable
from pathlib import Path

import jiwer
import msgspec
from msgspec import Struct

from hallumeter.transcripts.page_reading import EditCounts, count_character_edits, count_word_edits, read_page

LETTERS = "eeeeettttaaaooiinnsshhrrddllucmwfygpbvk"
Pair = tuple[str, str]


class Row(Struct):
    """A page's text, or what an engine wrote for it."""

    doc_id: str
    text: str


def pairs_of(truth: Path, outputs: list[Path]) -> list[Pair]:
    """Reference and response of every page that has both."""

    def rows(path: Path) -> list[Row]:
        return [msgspec.json.decode(line, type=Row) for line in path.read_bytes().splitlines()]

    pages = {row.doc_id: row.text for row in rows(truth)}
    found = [(pages[row.doc_id], row.text) for path in outputs for row in rows(path) if row.doc_id in pages]
    return [(reference, response) for reference, response in found if reference.strip() and response.strip()]


def made_words(count: int, rng: random.Random) -> list[str]:
    """Words of a made language, the frequent ones far more often than the others."""
    vocabulary = ["".join(rng.choices(LETTERS, k=rng.randint(2, 9))) for _ in range(20_000)]
    return [vocabulary[int(len(vocabulary) * rng.random() ** 3)] for _ in range(count)]


def misread(words: list[str], rng: random.Random) -> list[str]:
    """The words, one in eight with a letter changed."""
    return [word if rng.random() > 0.125 else word[:1] + rng.choice(LETTERS) + word[2:] for word in words]


def made_pairs(count: int, rng: random.Random) -> list[Pair]:
    """Pages of 220 words and their readings."""
    pairs = []
    for number in range(count):
        words = made_words(220, rng)
        response = misread(words, rng) + (words[100:110] * 200 if number % 40 == 0 else [])
        lines = [" ".join(words[start : start + 9]) for start in range(0, len(words), 9)]
        pairs.append(("\n".join(lines), " ".join(response)))
    return pairs


def seconds(work: Callable[[Pair], object], pairs: list[Pair], repeats: int = 3) -> float:
    """CPU time for all pairs, the best of a few runs."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        for pair in pairs:
            work(pair)
        times.append(time.process_time() - started)
    return min(times)


def ours(pair: Pair) -> tuple[EditCounts, EditCounts]:
    """Edits of words and characters."""
    return count_word_edits(*pair)[0], count_character_edits(*pair)[0]


def theirs(pair: Pair) -> tuple[EditCounts, EditCounts]:
    """The same by jiwer."""
    words = jiwer.process_words(" ".join(pair[0].split()), " ".join(pair[1].split()))
    characters = jiwer.process_characters(*pair)
    first, second = (
        EditCounts(each.hits, each.substitutions, each.deletions, each.insertions) for each in (words, characters)
    )
    return first, second


def print_pairs(pairs: list[Pair]) -> None:
    """Compare with jiwer and time whole readings."""
    length = sum(len(reference) + len(response) for reference, response in pairs) / len(pairs) / 2
    different = sum(ours(pair) != theirs(pair) for pair in pairs)
    print(f"{len(pairs)} pairs of {length:,.0f} characters; counts differ from jiwer's in {different}")
    our_time, their_time, reading_time = (
        seconds(work, pairs) for work in (ours, theirs, lambda pair: read_page(*pair))
    )
    print(f"  edits   {1000 * our_time / len(pairs):6.3f} ms a page; jiwer {1000 * their_time / len(pairs):6.3f} ms")
    print(f"  ratio   {their_time / our_time:6.2f} times as fast as jiwer")
    print(f"  reading {1000 * reading_time / len(pairs):6.3f} ms a page, edits included")


def print_long_pages(rng: random.Random) -> None:
    """A page of which half is a loop, four times as long in the end as at first."""
    print("a response of which half is a loop of 100 words:")
    for megabytes in (0.5, 1, 2, 4):
        words = made_words(int(megabytes * 500_000 / 6.5), rng)
        loop = words[500:600] * (len(words) // 100)
        response = misread(words, rng)
        response[len(words) // 2 : len(words) // 2] = loop
        reference, text = " ".join(words), " ".join(response)
        started = time.process_time()
        reading = read_page(reference, text)
        took = time.process_time() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"  {len(text) / 1e6:4.1f} MB {took:6.2f} s, {1e6 * took / len(text):5.2f} s per MB, "
            f"peak so far {peak:5,.0f} MB; loop words found {reading.loop_words:,} of {len(loop):,}"
        )


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--truth", type=Path)
    parser.add_argument("--outputs", type=Path, nargs="+", default=[])
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    rng = random.Random(options.seed)
    if options.truth is None:
        pairs = made_pairs(options.pairs, rng)
    else:
        pairs = pairs_of(options.truth, options.outputs)
        pairs = rng.sample(pairs, min(options.pairs, len(pairs)))
    print_pairs(pairs)
    print_long_pages(rng)


if __name__ == "__main__":
    main()
