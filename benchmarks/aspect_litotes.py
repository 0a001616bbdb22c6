"""Are negated negatives and Korean compounds read rightly by the offline readers?

    python benchmarks/aspect_litotes.py [--errors]

Reads ``aspect_labels/litotes_and_compounds.jsonl`` beside this file: sentences such as "The fries weren't bad" and
"마스크팩이 촉촉해요", written and labelled before the readers were changed. Half are held back: the texts whose SHA-256
begins with an even byte. Errors are printed of the other half only.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from hallumeter.aspects.readers.by_language import reader_for
from hallumeter.stats.intervals import wilson_interval

CASES = Path(__file__).parent / "aspect_labels" / "litotes_and_compounds.jsonl"


class Case(Struct):
    """A sentence, a term in it, and what is felt about the term."""

    id: str
    language: str
    text: str
    term: str
    polarity: str

    @property
    def is_held_back(self) -> bool:
        """Whether the sentence was kept unseen while the readers were changed."""
        return hashlib.sha256(self.text.encode()).digest()[0] % 2 == 0


def share(count: int, total: int) -> str:
    """A rate with its counts and its 95 % Wilson interval."""
    interval = wilson_interval(count, total)
    return (
        "none"
        if interval is None
        else f"{count} of {total} = {count / total:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
    )


def main(*options: str) -> None:
    """Print how many terms are found as written, and how many polarities are right, by language and part."""
    cases = [msgspec.json.decode(line, type=Case) for line in CASES.read_bytes().splitlines()]
    for language in ("en", "ko"):
        reader = reader_for(language)
        for held_back in (False, True):
            own = [each for each in cases if (each.language, each.is_held_back) == (language, held_back)]
            found = felt = 0
            for case in own:
                start = case.text.index(case.term)
                end = start + len(case.term)
                is_found = any((term.start, term.end) == (start, end) for term in reader.read(case.text).terms)
                polarity = reader.polarity_of(case.text, start, end).polarity
                found, felt = found + is_found, felt + (polarity == case.polarity)
                if "--errors" in options and not held_back and not (is_found and polarity == case.polarity):
                    print(f"  - {case.id}: {case.text} {case.polarity}, read {polarity}, term found: {is_found}")
            print(f"{language}, {'held back' if held_back else 'seen'}: terms {share(found, len(own))}")
            print(f"{language}, {'held back' if held_back else 'seen'}: polarities {share(felt, len(own))}")


if __name__ == "__main__":
    main(*sys.argv[1:])
