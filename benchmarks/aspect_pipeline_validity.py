"""Tuple F1 of the offline agents after stage 1 and at the end, against two baselines.

    python benchmarks/aspect_pipeline_validity.py [--mams MAMS-ATSA_val.xml] [--korean hotel_ko_test.txt ...]

Tuple F1 is the mean over sentences: an aspect counts when its term and its polarity are those of gold; it is given for
all aspects and for those that are named alone. Term F1 and the accuracy of polarities on matched terms are pooled over
all sentences. Baselines: every noun phrase with the polarity that is most frequent in the file; the terms of the reader
with the polarity of the lexicon alone. Intervals of 95 % by resampling sentences; the difference that stage 2 makes is
paired by sentence. The Korean sentences were translated by machine.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from aspect_datasets import read_mabsa, read_mams, shipped_settings
from hallumeter.aspects.agents.offline import OfflineAgent
from hallumeter.aspects.metrics.tuples import (
    match_explicit,
    match_tuples,
    pairs_of,
    stated_by,
    tidy_polarity,
    tidy_term,
)
from hallumeter.aspects.readers.by_language import reader_for
from hallumeter.aspects.readers.english.reader import noun_phrases
from hallumeter.aspects.readers.english.words import lexicon_polarity, tokens_of, wording
from hallumeter.aspects.readers.korean.parsing import sentence_of
from hallumeter.aspects.readers.korean.vocabulary import vocabulary
from hallumeter.aspects.records.aspect import AspectTuple
from hallumeter.aspects.settings import Sentence
from hallumeter.aspects.stages.sequence import processed
from hallumeter.stats.bootstrap import cluster_bootstrap_interval

Tuples = Sequence[AspectTuple]
Row = dict[str, tuple[float, float]]
"""A count and a total of one sentence, by figure."""
FIGURES = ("tuple F1, named", "tuple F1, all", "term F1", "polarity accuracy")


def english_noun_phrases(text: str) -> list[str]:
    """All noun phrases of an English sentence."""
    tokens = tokens_of(text)
    spans = noun_phrases(tokens.words, wording())
    return [text[tokens.starts[first] : tokens.ends[last - 1]] for first, last in spans]


def korean_noun_phrases(text: str) -> list[str]:
    """All noun phrases of a Korean sentence that name a thing."""
    return [text[each.start : each.end] for each in sentence_of(text).nominals if each.is_thing]


def korean_lexicon_polarity(text: str, _start: int, _end: int) -> str:
    """The sign of the sum of all words of a sentence."""
    words = vocabulary()
    weight = sum(
        words.weights.get(f"{each.form}다", 0.0) if each.tag[0] == "V" else words.noun_weight(each.form)
        for each in sentence_of(text).morphemes
    )
    return "positive" if weight > 0 else "negative" if weight < 0 else "neutral"


NOUN_PHRASES: dict[str, Callable[[str], list[str]]] = {"en": english_noun_phrases, "ko": korean_noun_phrases}
LEXICONS: dict[str, Callable[[str, int, int], str]] = {"en": lexicon_polarity, "ko": korean_lexicon_polarity}


def predictions(sentences: list[Sentence]) -> dict[str, list[Tuples]]:
    """The tuples of every sentence, by who made them."""
    language = sentences[0].language
    reader, settings = reader_for(language), shipped_settings()
    agent = OfflineAgent([reader])
    counts = Counter(each.polarity for sentence in sentences for each in sentence.gold_tuples or ())
    majority = counts.most_common(1)[0][0]
    names = ("stage 1", "final", f"noun phrases, all {majority}", "lexicon only")
    made: dict[str, list[Tuples]] = {name: [] for name in names}
    for sentence in sentences:
        output = processed(sentence, settings, lambda task: agent.answer(task).answer, reader=reader)
        assert output.final_result is not None, output.failed
        phrases = NOUN_PHRASES[language](sentence.text)
        terms = reader.read(sentence.text).terms
        lexical = [
            AspectTuple(sentence.text[each.start : each.end], LEXICONS[language](sentence.text, each.start, each.end))
            for each in terms
        ]
        stated = (
            output.final_result.stage1_tuples,
            output.final_result.final_tuples,
            [AspectTuple(phrase, majority) for phrase in phrases],
            lexical,
        )
        for name, tuples in zip(names, stated, strict=True):
            made[name].append(tuples)
    return made


def row_of(tuples: Tuples, gold: Tuples) -> Row:
    """The counts of one sentence."""
    pairs = pairs_of(gold)
    stated, wanted = _by_term(tuples), _by_term(gold)
    both = [term for term in stated if term in wanted]
    judged = [term for term in both if len(wanted[term]) == 1]
    right = sum(next(iter(stated[term])) in wanted[term] for term in judged)
    return {
        "tuple F1, named": (match_explicit(stated_by(tuples), pairs).f1, 1),
        "tuple F1, all": (match_tuples(tuples, pairs).f1, 1),
        "term F1": (2 * len(both), len(stated) + len(wanted)),
        "polarity accuracy": (right, len(judged)),
    }


def _by_term(tuples: Tuples) -> dict[str, dict[str, None]]:
    """The polarities of every named term, in their order."""
    found: dict[str, dict[str, None]] = {}
    for each in tuples:
        if tidy_term(each.aspect_term):
            found.setdefault(tidy_term(each.aspect_term), {})[tidy_polarity(each.polarity)] = None
    return found


def figure(rows: list[Row], name: str) -> str:
    """A pooled figure with its interval."""
    counts, totals = np.array([row[name] for row in rows], dtype=float).T
    interval = cluster_bootstrap_interval(counts, totals, rng=np.random.default_rng(0))
    told = "" if interval is None else f" ({interval.low:.3f}–{interval.high:.3f})"
    return f"{counts.sum() / totals.sum():.3f}{told}"


def difference(first: list[Row], second: list[Row], name: str) -> str:
    """By how much the second is higher, paired by sentence; only for means over sentences."""
    change = np.array([after[name][0] - before[name][0] for before, after in zip(first, second, strict=True)])
    interval = cluster_bootstrap_interval(change, np.ones(len(change)), rng=np.random.default_rng(0), is_share=False)
    told = "" if interval is None else f" ({interval.low:+.4f} to {interval.high:+.4f})"
    better, worse = int((change > 0).sum()), int((change < 0).sum())
    return f"{change.mean():+.4f}{told}; {better} sentences better, {worse} worse"


def show(name: str, sentences: list[Sentence]) -> None:
    """Print the table of one file."""
    named = sum(bool(each.aspect_term) for sentence in sentences for each in sentence.gold_tuples or ())
    total = sum(len(sentence.gold_tuples or ()) for sentence in sentences)
    print(f"\n{name}: {len(sentences)} sentences, {total} aspects in gold, {named} of them named\n")
    print(f"| | {' | '.join(FIGURES)} |\n|---|{'---|' * len(FIGURES)}")
    rows = {
        system: [row_of(tuples, sentence.gold_tuples or ()) for tuples, sentence in zip(made, sentences, strict=True)]
        for system, made in predictions(sentences).items()
    }
    for system, made_rows in rows.items():
        print(f"| {system} | {' | '.join(figure(made_rows, each) for each in FIGURES)} |")
    for each in FIGURES[:2]:
        print(f"stage 2 changes {each} by {difference(rows['stage 1'], rows['final'], each)}")


def main() -> None:
    """Print a table for every file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mams", type=Path)
    parser.add_argument("--korean", type=Path, nargs="*", default=[])
    parser.add_argument("--limit", type=int, help="only so many sentences of each file")
    given = parser.parse_args()
    if given.mams is not None:
        show(given.mams.name, read_mams(given.mams)[: given.limit])
    for path in given.korean:
        sentences, broken = read_mabsa(path)
        show(f"{path.name} (translated by machine; {broken} broken lines left out)", sentences[: given.limit])


if __name__ == "__main__":
    main()
