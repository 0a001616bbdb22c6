"""How well are aspect terms found in English sentences, and what is felt about them?

    python benchmarks/aspect_reader_validity.py MAMS-ATSA_val.xml [--others FOLDER] [--rounds N]

On MAMS terms match when their offsets are equal. --others names a folder with <domain>_en_dev.txt of M-ABSA: other
domains, on which nothing was fitted; there terms match when they are written alike, and many sentences that speak of
an aspect carry no label. Polarities are scored on the terms that the reader and the people have in common, and on all
terms of the people. Intervals by resampling sentences.

Three readers: the reader itself; its terms with the sign of the lexicon's words in the clause of the term; all noun
phrases with the polarity that is most frequent in the file.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Hashable
from pathlib import Path

from aspect_scoring import (
    MarkedSentence,
    SentenceCounts,
    Terms,
    calibration_error,
    count,
    read_mabsa,
    read_mams,
    scores,
    written,
)
from hallumeter.aspects.readers.english.reader import EnglishReader, noun_phrases
from hallumeter.aspects.readers.english.words import lexicon_polarity, tokens_of, wording

Key = Callable[[str, int, int], Hashable]
READER = EnglishReader()


def by_offsets(_text: str, start: int, end: int) -> Hashable:
    """A term is where it stands."""
    return start, end


def by_words(text: str, start: int, end: int) -> Hashable:
    """A term is its words."""
    return written(text[start:end])


def read_whole(text: str, key: Key) -> Terms:
    """Terms and polarities of the reader."""
    terms = READER.read(text).terms
    return {key(text, t.start, t.end): READER.polarity_of(text, t.start, t.end).polarity for t in terms}


def read_lexicon(text: str, key: Key) -> Terms:
    """Terms of the reader, polarities of the lexicon."""
    return {key(text, t.start, t.end): lexicon_polarity(text, t.start, t.end) for t in READER.read(text).terms}


def read_nouns(text: str, key: Key, polarity: str) -> Terms:
    """All noun phrases, one polarity."""
    tokens = tokens_of(text)
    spans = noun_phrases(tokens.words, wording())
    return {key(text, tokens.starts[first], tokens.ends[last - 1]): polarity for first, last in spans}


def show(name: str, counts: list[SentenceCounts]) -> None:
    """Print the scores of one reader."""
    found, marked = sum(each.found for each in counts), sum(each.marked for each in counts)
    both, judged = sum(each.both for each in counts), sum(each.judged for each in counts)
    print(f"  {name}: {found} terms found, {marked} marked, {both} in both, {judged} of them with a polarity")
    for measure, score in scores(counts).items():
        print(f"    {measure:18} {score}")


def compare(name: str, sentences: list[MarkedSentence], key: Key) -> None:
    """Print the scores of all readers on a file."""
    common = Counter(polarity for each in sentences for polarity in each.terms.values() if polarity)
    majority = common.most_common(1)[0][0]
    print(f"{name}: {len(sentences)} sentences, polarities {dict(common)}")
    readers: dict[str, Callable[[str], Terms]] = {
        "reader": lambda text: read_whole(text, key),
        "lexicon only": lambda text: read_lexicon(text, key),
        f"noun phrases, all {majority}": lambda text: read_nouns(text, key, majority),
    }
    for label, read in readers.items():
        show(label, [count(read(each.text), each.terms) for each in sentences])
    empty = sum(not READER.read(each.text).terms for each in sentences)
    print(f"  sentences without any term: {empty}")


def marked_terms(sentences: list[MarkedSentence]) -> None:
    """Print how often polarities of the people's terms are right, wherever the reader itself finds terms."""
    right = lexical = total = 0
    for each in sentences:
        for place, polarity in each.terms.items():
            assert isinstance(place, tuple)
            total += 1
            right += READER.polarity_of(each.text, *place).polarity == polarity
            lexical += lexicon_polarity(each.text, *place) == polarity
    print(f"  polarity of all {total} marked terms: reader {right / total:.3f}, lexicon {lexical / total:.3f}")


def calibrated(sentences: list[MarkedSentence]) -> None:
    """Print how far confidences are from what comes true."""
    sure: list[float] = []
    hits: list[bool] = []
    felt: list[float] = []
    agreed: list[bool] = []
    for each in sentences:
        for term in READER.read(each.text).terms:
            place = (term.start, term.end)
            sure.append(term.confidence)
            hits.append(place in each.terms)
            if place in each.terms:
                said = READER.polarity_of(each.text, term.start, term.end)
                felt.append(said.confidence)
                agreed.append(said.polarity == each.terms[place])
    print(f"  terms: mean confidence {sum(sure) / len(sure):.3f}, precision {sum(hits) / len(hits):.3f}")
    errors = calibration_error(sure, hits), calibration_error(felt, agreed)
    print(f"  calibration error: terms {errors[0]:.3f}, polarities {errors[1]:.3f}")


def timed(sentences: list[MarkedSentence], rounds: int) -> None:
    """Print how many sentences are read in a second on one core, terms and all their polarities."""
    best = float("inf")
    for _ in range(rounds):
        reader = EnglishReader()  # which remembers no text yet
        began = time.process_time()
        for each in sentences:
            for term in reader.read(each.text).terms:
                reader.polarity_of(each.text, term.start, term.end)
        best = min(best, time.process_time() - began)
    print(f"  speed: {len(sentences) / best:,.0f} sentences a second on one core")


def main() -> None:
    """Measure one file of MAMS, and other domains where they are given."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("mams", type=Path, help="MAMS-ATSA_val.xml")
    parser.add_argument("--others", type=Path, help="a folder with <domain>_en_dev.txt of M-ABSA")
    parser.add_argument("--rounds", type=int, default=5, help="of the measure of speed")
    options = parser.parse_args()
    print(READER.version)
    sentences = read_mams(options.mams)
    compare(options.mams.name, sentences, by_offsets)
    marked_terms(sentences)
    calibrated(sentences)
    timed(sentences, options.rounds)
    if options.others is not None:
        for path in sorted(options.others.glob("*_en_dev.txt")):
            compare(path.name, read_mabsa(path), by_words)


if __name__ == "__main__":
    main()
