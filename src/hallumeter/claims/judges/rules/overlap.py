"""How many of a claim's words the evidence has."""

from __future__ import annotations

from msgspec import Struct

from .check_numbers import matched_keys
from .statement import Statement


class Overlap(Struct, frozen=True):
    """The words of a claim that stand in the evidence."""

    share: float
    """The weighted share of the claim's words that stand anywhere in the evidence."""
    best: float
    """The weighted share that stand in the best sentence."""
    run: tuple[int, int] | None
    """Where the longest part of the claim without a word of the evidence begins and ends, in code points."""
    run_words: int
    """How many words that say something this part has."""
    missing: int
    """How many words the evidence does not have."""


def overlap_of(statement: Statement) -> Overlap:
    """Compare the words of a claim with all of the evidence; words of the question do not count as missing."""
    matched = matched_keys(statement)
    is_known = {key: key in matched or _is_known(statement, key) for key in statement.keys}
    found = sum(weight for key, weight in statement.weights.items() if is_known[key])
    run, words = _longest_run(statement, is_known)
    return Overlap(
        share=found / statement.total if statement.total else 0.0,
        best=_best(statement, matched),
        run=run,
        run_words=words,
        missing=sum(not known for known in is_known.values()),
    )


def _best(statement: Statement, matched: dict[str, frozenset[int]]) -> float:
    """The share of the best sentence, with the words of numbers that it has in another form."""
    if not statement.best:
        return 0.0
    number, share = statement.best[0]
    added = [key for key, sentences in matched.items() if number in sentences]
    return share + sum(statement.weights[key] for key in added) / statement.total


def _is_known(statement: Statement, key: str) -> bool:
    evidence = statement.evidence
    if key in evidence.postings or key in statement.given:
        return True
    if not "가" <= key[0] <= "힣" or len(key) < 3:
        return False
    pairs = [key[place : place + 2] for place in range(len(key) - 1)]
    return sum(pair in evidence.syllable_pairs for pair in pairs) * 2 > len(pairs)


def _longest_run(statement: Statement, is_known: dict[str, bool]) -> tuple[tuple[int, int] | None, int]:
    """The part of the claim with the most missing words in a row; words that say nothing do not break it."""
    terms = statement.terms
    best: tuple[int, int] | None = None
    most = count = 0
    start = end = 0
    for index, key in enumerate(terms.keys):
        if not key:
            continue
        if is_known[key]:
            count = 0
            continue
        if not count:
            start = terms.starts[index]
        count, end = count + 1, terms.ends[index]
        if count > most:
            most, best = count, (start, end)
    return best, most
