"""Are negated negatives and Korean compounds read rightly by the offline readers?

    python benchmarks/aspect_litotes.py [--errors] [--reviews FILE ...]

Reads the files in ``aspect_labels`` beside this file: sentences such as "The fries weren't bad" and "마스크팩이
촉촉해요", later ones with Korean compounds, such as "끈적이지만 클렌징폼은 순해요", and still later ones with English
understatements, such as "I can't fault the housekeeping". They were written and labelled before the readers were
changed. Of the first and the third set half is held back, the texts whose SHA-256 begins with an even byte; of the
compounds a third, those whose byte 3 divides. Errors are printed of the others only. The last set was
looked at whole, after it had been read once.

--reviews takes MAMS (.xml) or English files of M-ABSA, and counts the terms in them that the rule for denials decides.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import msgspec
from msgspec import Struct

from aspect_scoring import read_mabsa, read_mams
from hallumeter.aspects.readers.by_language import reader_for
from hallumeter.aspects.readers.english.reader import analysis_of
from hallumeter.stats.intervals import wilson_interval

LABELS = Path(__file__).parent / "aspect_labels"
SETS = {
    "litotes_and_compounds": ("en", "ko"),
    "korean_compounds": ("ko",),
    "understatement": ("en",),
    "first_reading": ("en", "ko"),
}
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
        if self.id.startswith("fr:"):
            return False
        return hashlib.sha256(self.text.encode()).digest()[0] % (3 if self.id.startswith("kc:") else 2) == 0


def share(count: int, total: int) -> str:
    """A rate with its counts and its 95 % Wilson interval."""
    interval = wilson_interval(count, total)
    return (
        "none"
        if interval is None
        else f"{count} of {total} = {count / total:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
    )


def main() -> None:
    """Print how many terms are found as written, and how many polarities are right, by set, language and part."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--reviews", nargs="+", type=Path, default=[])
    options = parser.parse_args()
    for name, languages in SETS.items():
        lines = (LABELS / f"{name}.jsonl").read_bytes().splitlines()
        cases = [msgspec.json.decode(line, type=Case) for line in lines]
        for language in languages:
            for held_back in (False, True):
                own = [each for each in cases if (each.language, each.is_held_back) == (language, held_back)]
                count_cases(f"{name}, {language}, {'held back' if held_back else 'seen'}", own, options.errors)
    for path in options.reviews:
        count_reviews(path)


def count_reviews(path: Path) -> None:
    """Print how many polarities of the terms that a denial decides are right, with the rule and without it."""
    decided = without = right = 0
    for sentence in read_mams(path) if path.suffix == ".xml" else read_mabsa(path):
        with_rule, network = analysis_of(sentence.text), analysis_of(sentence.text)
        network.denial = undecided  # type: ignore[method-assign, assignment]
        for key, polarity in sentence.terms.items():
            start, end = key if isinstance(key, tuple) else place_of(str(key), sentence.text)
            first, last = with_rule.sentence.tokens.covering(start, end)
            if not polarity or first == last or with_rule.denial(first, last) is None:
                continue
            decided += 1
            without += network.polarity(first, last).polarity == polarity
            right += with_rule.polarity(first, last).polarity == polarity
    print(f"{path.name}: {decided} terms decided by a denial, {right} right, by the network alone {without}")


def undecided(*_place: int) -> None:
    """In the place of the rule, to read without it."""


def place_of(term: str, text: str) -> tuple[int, int]:
    """Where a term that is its words stands; an empty place where it does not."""
    start = text.casefold().find(term.casefold())
    return (start, start + len(term)) if start >= 0 else (0, 0)


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
    main()
