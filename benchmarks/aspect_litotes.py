"""Are negated negatives and Korean compounds read rightly by the offline readers?

    python benchmarks/aspect_litotes.py [--errors]

Reads the files in ``aspect_labels`` beside this file: sentences such as "The fries weren't bad" and "마스크팩이
촉촉해요", and later ones with Korean compounds, such as "끈적이지만 클렌징폼은 순해요". They were written and labelled
before the readers were changed. Of the first set half is held back, the texts whose SHA-256 begins with an even byte;
of the later ones a third, those whose byte 3 divides. Errors are printed of the others only.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from hallumeter.aspects.readers.by_language import reader_for
from hallumeter.stats.intervals import wilson_interval

LABELS = Path(__file__).parent / "aspect_labels"
SETS = {"litotes_and_compounds": ("en", "ko"), "korean_compounds": ("ko",)}
"""The files of labels, and their languages."""


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
        return hashlib.sha256(self.text.encode()).digest()[0] % (3 if self.id.startswith("kc:") else 2) == 0


def share(count: int, total: int) -> str:
    """A rate with its counts and its 95 % Wilson interval."""
    interval = wilson_interval(count, total)
    return (
        "none"
        if interval is None
        else f"{count} of {total} = {count / total:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
    )


def main(*options: str) -> None:
    """Print how many terms are found as written, and how many polarities are right, by set, language and part."""
    for name, languages in SETS.items():
        lines = (LABELS / f"{name}.jsonl").read_bytes().splitlines()
        cases = [msgspec.json.decode(line, type=Case) for line in lines]
        for language in languages:
            for held_back in (False, True):
                own = [each for each in cases if (each.language, each.is_held_back) == (language, held_back)]
                count_cases(f"{name}, {language}, {'held back' if held_back else 'seen'}", own, "--errors" in options)


def count_cases(title: str, cases: list[Case], with_errors: bool) -> None:
    """Print the figures of one part of a set."""
    found = felt = 0
    for case in cases:
        reader = reader_for(case.language)
        start = case.text.index(case.term)
        end = start + len(case.term)
        is_found = any((term.start, term.end) == (start, end) for term in reader.read(case.text).terms)
        polarity = reader.polarity_of(case.text, start, end).polarity
        found, felt = found + is_found, felt + (polarity == case.polarity)
        if with_errors and not case.is_held_back and not (is_found and polarity == case.polarity):
            print(f"  - {case.id}: {case.text} {case.polarity}, read {polarity}, term found: {is_found}")
    print(f"{title}: terms {share(found, len(cases))}, polarities {share(felt, len(cases))}")


if __name__ == "__main__":
    main(*sys.argv[1:])
