"""Which examples are held back together."""

from __future__ import annotations

import hashlib

from training.examples import Example

FOLDS = 3
_DOMAINS = {
    "quintd1/gsmarena": 0,
    "quintd1/openweather": 1,
    "quintd1/wikidata": 2,
    "summedits/ectsum": 0,
    "summedits/sales_call": 1,
    "summedits/sales_email": 1,  # of a kind with the calls
    "summedits/scitldr": 2,
}
"""Domains that are held back as a whole."""


def fold_of(example: Example) -> int:
    """The fold of an example: that of its domain, else by its source, whatever the data set."""
    data_set = example.data_set.removeprefix("injected/")
    if data_set in _DOMAINS:
        return _DOMAINS[data_set]
    return hashlib.blake2b(example.source.encode(), digest_size=8).digest()[0] % FOLDS
