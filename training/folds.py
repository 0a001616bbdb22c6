"""Which examples are held back together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from training.examples import Example

FOLDS = 3
HALVES = 2
_DOMAINS = {
    "d2t_eval/football": 0,
    "summedits/ectsum": 0,
    "quintd1/wikidata": 1,
    "summedits/scitldr": 1,
    "begin": 0,
    "q2_wow": 0,
    "mts_dialog": 0,
}
"""Domains that are held back as a whole, beside a third of the sources of all others."""


def fold_of(example: Example) -> int:
    """The fold of an example: that of its domain, else by its source, whatever the data set."""
    data_set = example.data_set.removeprefix("swapped/")
    if data_set in _DOMAINS:
        return _DOMAINS[data_set]
    return hashlib.blake2b(example.source.encode(), digest_size=8).digest()[0] % FOLDS


def half_of(example: Example) -> int:
    """The half of its fold: how a tier decides is fitted on one half and reported on the other."""
    return hashlib.blake2b(example.source.encode(), digest_size=8).digest()[1] % HALVES


def some_of(examples: Iterable[Example], texts: int) -> list[Example]:
    """At most so many texts of each set and task, always the same; those of one source stay together."""
    by_set: dict[str, list[Example]] = {}
    for each in examples:
        by_set.setdefault(f"{each.data_set}:{each.task}", []).append(each)
    for members in by_set.values():
        members.sort(key=lambda each: hashlib.blake2b(each.source.encode()).digest())
    return [each for members in by_set.values() for each in members[:texts]]
