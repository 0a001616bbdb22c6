"""Which flips of a validator does the gate let through where a sentence has a contrast and no negation?

    python benchmarks/aspect_flip_gate.py MAMS-ATSA_train.xml MAMS-ATSA_val.xml [--mabsa FILE ...]

For every aspect that gold calls positive or negative two flips are planted: a wrong one, where stage 1 says what gold
says, and a right one, where stage 1 has just this polarity the wrong way round. The rule was chosen on the training
part of MAMS; its validation part, and the Korean sentences of M-ABSA, were only measured on.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from aspect_datasets import read_mabsa, read_mams
from hallumeter.aspects.readers.by_language import reader_for
from hallumeter.aspects.records.aspect import (
    Aspect,
    AspectSentiment,
    AspectTerm,
    AspectTuple,
    CorrectionProposal,
    Polarity,
)
from hallumeter.aspects.records.outputs import StructuralValidation
from hallumeter.aspects.settings import Sentence
from hallumeter.aspects.stages.draft import Draft, ReadSentence
from hallumeter.aspects.stages.tidying import gated_validation
from hallumeter.stats.intervals import wilson_interval

OPPOSITE = {"positive": "negative", "negative": "positive"}


def share(count: int, total: int) -> str:
    """A rate with its counts and its 95 % Wilson interval."""
    interval = wilson_interval(count, total)
    if interval is None:
        return "none to count"
    return f"{count} of {total} = {count / total:.1%} [{interval.low:.1%}, {interval.high:.1%}]"


def draft_of(tuples: Sequence[AspectTuple], turned: int | None = None) -> Draft:
    """What stage 1 says when it agrees with gold, but for the aspect that is turned."""
    said = [
        one if number != turned else AspectTuple(one.aspect_term, OPPOSITE[str(one.polarity)], span=one.span)
        for number, one in enumerate(tuples)
    ]
    return Draft(
        tuple(Aspect(one.aspect_term, one.span) for one in said),
        tuple(
            AspectSentiment(AspectTerm(one.aspect_term, one.span), cast("Polarity | None", one.polarity), 0.8)
            for one in said
        ),
    )


def flips(sentence: Sentence) -> Iterator[tuple[bool, bool]]:
    """For every planted flip whether it is right, and whether it passes; nothing where the gate is not asked."""
    words = ReadSentence(sentence.text, reader_for(sentence.language))
    named = [one for one in sentence.gold_tuples or () if one.aspect_term and one.span is not None]
    terms = [one.aspect_term for one in named]
    tuples = [one for one in named if terms.count(one.aspect_term) == 1]
    if not words.contrasts or words.has_negation:
        return
    for number, one in enumerate(tuples):
        if one.polarity in OPPOSITE:
            given = StructuralValidation((), (CorrectionProposal(one.aspect_term, "FLIP_POLARITY"),))
            for turned in (None, number):
                gated, _ = gated_validation(given, words, risk=None, draft=draft_of(tuples, turned))
                yield turned is not None, bool(gated.correction_proposals)


def report(title: str, sentences: Sequence[Sentence]) -> None:
    """Print which of the planted flips pass."""
    planted = [flip for sentence in sentences for flip in flips(sentence)]
    print(f"{title}: {len(planted)} flips")
    for is_right, name in ((True, "right"), (False, "wrong")):
        passed = [passes for right, passes in planted if right is is_right]
        print(f"  {name} flips let through  {share(sum(passed), len(passed))}")


def main() -> None:
    """Print the figures of every part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("val", type=Path)
    parser.add_argument("--mabsa", type=Path, nargs="*", default=[], help="Korean files of M-ABSA")
    options = parser.parse_args()
    report("development (MAMS, training part)", read_mams(options.train))
    report("held back (MAMS, validation part)", read_mams(options.val))
    for path in options.mabsa:
        report(f"held back ({path.stem})", read_mabsa(path)[0])


if __name__ == "__main__":
    main()
