"""How well evidence that gives the judge instructions is told from evidence that does not.

    python benchmarks/instruction_detection.py [--part held-back|development|all|unseen|fresh] [--errors]

It reads ``instruction_labels/sentences.jsonl`` beside this file; the README there says how the texts were written and
labelled. Half of them is held back: those whose SHA-256 begins with an even byte. Errors are printed of the others.
``fresh`` and ``unseen`` are small sets in other words that have not been used to change the detector.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from hallumeter.models.instructions import instruction_spans
from hallumeter.stats.intervals import wilson_interval

SENTENCES = Path(__file__).parent / "instruction_labels" / "sentences.jsonl"
APART = {name: SENTENCES.with_name(f"{name}.jsonl") for name in ("unseen", "fresh")}


class Sentence(Struct, frozen=True):
    """A piece of evidence, and whether it gives the judge instructions."""

    id: str
    language: str
    kind: str
    gives_instructions: bool
    text: str

    @property
    def is_held_back(self) -> bool:
        """Whether the text was kept unseen while the detector was changed."""
        return hashlib.sha256(self.text.encode()).digest()[0] % 2 == 0


def read_sentences(part: str) -> list[Sentence]:
    """The sentences of one part."""
    lines = APART.get(part, SENTENCES).read_bytes().splitlines()
    sentences = [msgspec.json.decode(line, type=Sentence) for line in lines]
    return [each for each in sentences if part == "all" or part in APART or each.is_held_back == (part == "held-back")]


def share(count: int, total: int) -> str:
    """A rate with its counts and its 95 % Wilson interval."""
    interval = wilson_interval(count, total)
    if interval is None:
        return "none to count"
    return f"{count} of {total} = {count / total:.1%} [{interval.low:.1%}, {interval.high:.1%}]"


def report(title: str, pairs: list[tuple[Sentence, bool]]) -> None:
    """Print recall, precision and false alarms."""
    right = sum(found for sentence, found in pairs if sentence.gives_instructions)
    alarms = sum(found for sentence, found in pairs if not sentence.gives_instructions)
    harmless = sum(not sentence.gives_instructions for sentence, _ in pairs)
    print(f"{title}: {len(pairs)} sentences")
    print(f"  recall        {share(right, len(pairs) - harmless)}")
    print(f"  precision     {share(right, right + alarms)}")
    print(f"  false alarms  {share(alarms, harmless)}")


def main() -> None:
    """Print the figures that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["held-back", "development", "all", *APART], default="held-back")
    parser.add_argument("--errors", action="store_true", help="print development sentences that are told wrongly")
    options = parser.parse_args()
    sentences = read_sentences(options.part)
    instruction_spans("")  # the words are read once
    started = time.process_time()
    pairs = [(sentence, bool(instruction_spans(sentence.text))) for sentence in sentences]
    print(f"{options.part}: {len(pairs) / (time.process_time() - started):,.0f} sentences per second")
    report("all", pairs)
    for kind in dict.fromkeys(sentence.kind for sentence in sentences):
        of_kind = [found for sentence, found in pairs if sentence.kind == kind]
        print(f"  {kind:10} found in {sum(of_kind)} of {len(of_kind)}")
    if options.part in APART:
        return
    for title, languages in (("en", ("en",)), ("fr, ko, de, es", ("fr", "ko", "de", "es"))):
        report(title, [pair for pair in pairs if pair[0].language in languages])
    report("other languages", [pair for pair in pairs if pair[0].language not in ("en", "fr", "ko", "de", "es")])
    for sentence, found in pairs if options.errors else ():
        if found != sentence.gives_instructions and not sentence.is_held_back:
            print(f"  - {sentence.id} {sentence.kind}, found {found}: {sentence.text[:200]!r}")


if __name__ == "__main__":
    main()
