"""How well are aspect terms found in Korean sentences, and what is felt about them?

    python benchmarks/aspect_reader_validity_ko.py FOLDER [--part dev|test] [--list N] [--samples]

FOLDER holds <domain>_ko_<part>.txt of M-ABSA: a sentence, four number signs, and a list of term, category, polarity.
Its Korean is machine-translated from English with projected labels, and many sentences that speak of an aspect carry
no label; both lower what any reader can reach. So terms are scored on all sentences, and on those that carry a label.
Terms count once a sentence; they match when they are written alike. A term with two polarities is left out of the
polarities. Intervals by resampling sentences. Nothing is fitted on it.

Three readers: the reader itself; all noun phrases with the polarity that is most frequent in the file; the reader's
terms with the sum of the lexicon's words in the whole sentence, without clauses and negation. --samples adds the
Korean reviews that come with the package, which the author of the lexicon wrote.
"""

from __future__ import annotations

import argparse
import ast
import json
import time
import unicodedata
from collections import Counter
from collections.abc import Hashable, Sequence
from pathlib import Path

from aspect_scoring import MarkedSentence, Terms, calibration_error, count, scores, written
from hallumeter.aspects.readers.korean.parsing import sentence_of
from hallumeter.aspects.readers.korean.reader import KoreanReader
from hallumeter.aspects.readers.korean.vocabulary import DICTIONARY_ENDING, vocabulary

DOMAINS = ("hotel", "phone", "coursera")
SAMPLES = Path(__file__).parents[1] / "src" / "hallumeter" / "samples" / "reviews" / "reviews_ko.jsonl"
READER = KoreanReader()


def key(text: str, start: int, end: int) -> str:
    """What makes two terms the same."""
    return written(unicodedata.normalize("NFC", text[start:end]))


def sentences(path: Path) -> list[MarkedSentence]:
    """The lines of a file; lines that cannot be read, and terms that are not in their sentence, are left out."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        text, mark, labels = line.partition("####")
        try:
            tuples = ast.literal_eval(labels) if mark else None
        except (SyntaxError, ValueError):
            tuples = None
        if tuples is None:
            continue
        terms: dict[Hashable, str] = {}
        for term, _, polarity in tuples:
            name = key(term, 0, len(term))
            if term != "NULL" and name and name in written(text):
                terms[name] = polarity if terms.get(name, polarity) == polarity else ""
        rows.append(MarkedSentence(text, terms))
    return rows


def samples() -> list[MarkedSentence]:
    """The reviews that come with the package."""
    rows = []
    for line in SAMPLES.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        terms: dict[Hashable, str] = {
            written(gold["aspect_term"]): gold["polarity"] for gold in row["gold_tuples"] if gold["aspect_term"]
        }
        rows.append(MarkedSentence(row["text"], terms))
    return rows


def by_reader(text: str) -> Terms:
    """The reader's terms and polarities; the first occurrence of a term counts."""
    found: dict[Hashable, str] = {}
    for term in READER.read(text).terms:
        polarity = READER.polarity_of(text, term.start, term.end).polarity
        found.setdefault(key(text, term.start, term.end), polarity)
    return found


def by_noun_phrases(text: str, majority: str) -> Terms:
    """Every noun phrase, with one polarity for all."""
    nominals = [nominal for nominal in sentence_of(text).nominals if nominal.is_thing]
    return {key(text, nominal.start, nominal.end): majority for nominal in nominals}


def sum_of_words(text: str) -> str:
    """The polarity of all words together."""
    words = vocabulary()
    total = sum(
        words.weight(morpheme.form + DICTIONARY_ENDING) if morpheme.tag[0] == "V" else words.noun_weight(morpheme.form)
        for morpheme in sentence_of(text).morphemes
    )
    return "positive" if total > 0 else "negative" if total < 0 else "neutral"


def by_lexicon_alone(text: str) -> Terms:
    """The reader's terms, with the sum of all words."""
    return dict.fromkeys(by_reader(text), sum_of_words(text))


def report(name: str, rows: Sequence[MarkedSentence], found: Sequence[Terms]) -> None:
    """The scores of one reader on all sentences, and on those that carry a label."""
    counts = [count(terms, row.terms) for row, terms in zip(rows, found, strict=True)]
    for kind, part in (("all", counts), ("labelled", [each for each in counts if each.marked])):
        judged, right = sum(each.judged for each in part), sum(each.right for each in part)
        figures = ", ".join(f"{measure} {score}" for measure, score in scores(part).items())
        print(f"  {name:13} on {len(part)} sentences ({kind}): {figures}, polarities {right}/{judged}")


def report_given_terms(rows: Sequence[MarkedSentence], majority: str) -> None:
    """Polarity where the terms are given, so that all readers are asked about the same."""
    right: Counter[str] = Counter()
    confidences: list[float] = []
    hits: list[bool] = []
    for row in rows:
        for term, polarity in row.terms.items():
            start = row.text.lower().find(str(term))
            if not polarity or start < 0:
                continue
            found = READER.polarity_of(row.text, start, start + len(str(term)))
            confidences.append(found.confidence)
            hits.append(found.polarity == polarity)
            right["reader"] += hits[-1]
            right["majority"] += majority == polarity
            right["sum of words"] += sum_of_words(row.text) == polarity
    shares = ", ".join(f"{name} {number}/{len(hits)} = {number / len(hits):.3f}" for name, number in right.items())
    print(f"  polarity of given terms: {shares}; calibration error {calibration_error(confidences, hits):.3f}")


def show_errors(rows: Sequence[MarkedSentence], found: Sequence[Terms], most: int) -> None:
    """Labelled sentences with something wrong."""
    wrong = [(row, terms) for row, terms in zip(rows, found, strict=True) if row.terms and row.terms != terms]
    for row, terms in wrong[:most]:
        print(row.text, "\n    marked", dict(row.terms), "\n    found ", dict(terms))


def measure(name: str, rows: Sequence[MarkedSentence], listed: int) -> None:
    """Print the figures of some sentences."""
    sentence_of.cache_clear()
    started = time.perf_counter()
    found = [by_reader(row.text) for row in rows]
    speed = len(rows) / (time.perf_counter() - started)
    polarities = Counter(polarity for row in rows for polarity in row.terms.values() if polarity)
    majority = polarities.most_common(1)[0][0]
    print(f"{name}: {len(rows)} sentences, {dict(polarities.most_common())}, {speed:.0f} sentences/s")
    report("reader", rows, found)
    report("noun phrases", rows, [by_noun_phrases(row.text, majority) for row in rows])
    report("sum of words", rows, [by_lexicon_alone(row.text) for row in rows])
    report_given_terms(rows, majority)
    show_errors(rows, found, listed)


def main() -> None:
    """Read the files and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", default="dev", choices=("dev", "test"))
    parser.add_argument("--list", type=int, default=0, metavar="N", help="print so many faulty sentences a domain")
    parser.add_argument("--samples", action="store_true")
    arguments = parser.parse_args()
    print(READER.version)
    READER.read("준비")
    everything: list[MarkedSentence] = []
    for domain in DOMAINS:
        rows = sentences(arguments.folder / f"{domain}_ko_{arguments.part}.txt")
        everything += rows
        measure(f"{domain} {arguments.part} (machine-translated)", rows, arguments.list)
    measure(f"all domains {arguments.part} (machine-translated)", everything, 0)
    if arguments.samples:
        measure("reviews of the package", samples(), arguments.list)


if __name__ == "__main__":
    main()
