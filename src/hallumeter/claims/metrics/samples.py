"""Whether a model that is asked again means the same: figures from the meanings of its answers.

The answers of a record are its response and its samples, in this order; their meanings are numbers, equal for answers
that mean the same. Who decides that, sentence vectors or a judge, is chosen elsewhere and stands in the signature.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.records.rate import Rate, Rates
from hallumeter.records.response import check_logprobs

from .uncertainty import semantic_entropy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray


# How surprised a model was by its own words: figures from the log-probabilities of the tokens it wrote.


class TokenColumns(Struct, frozen=True, eq=False):
    """The log-probabilities of each response added up; one row per response, zeros for one that has none."""

    tokens: NDArray[np.int64]
    surprisal: NDArray[np.float64]
    """Sum of the negative log-probabilities, in nats."""
    least_probability: NDArray[np.float64]
    """Of the token that the model held least probable."""

    @classmethod
    def of(cls, responses: Iterable[Sequence[float] | None]) -> TokenColumns:
        """Columns from the log-probabilities of each response's tokens; None where they are not known.

        >>> TokenColumns.of([[0.0, math.log(0.5)], None]).least_probability.tolist()
        [0.5, 0.0]
        """
        rows = [_row(logprobs) for logprobs in responses]
        tokens, surprisal, least = np.array(rows, dtype=np.float64).reshape(-1, 3).T
        return cls(tokens.astype(np.int64), surprisal, least)

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, rows: slice | NDArray[np.intp] | NDArray[np.bool_]) -> TokenColumns:
        return TokenColumns(self.tokens[rows], self.surprisal[rows], self.least_probability[rows])


def token_surprisal(columns: TokenColumns) -> Rates:
    """Mean negative log-probability per token, in nats; its exponential is the perplexity. Undefined without tokens."""
    return Rates(columns.surprisal, columns.tokens.astype(np.float64))


def least_token_probability(columns: TokenColumns) -> Rates:
    """Mean over responses of the probability of their least probable token. Undefined without tokens."""
    return Rates(columns.least_probability, (columns.tokens > 0).astype(np.float64))


def _row(logprobs: Sequence[float] | None) -> tuple[int, float, float]:
    if not logprobs:
        return 0, 0.0, 0.0
    check_logprobs(logprobs)
    # Adding zero turns the -0.0 of a certain token into a plain 0.0.
    return len(logprobs), -math.fsum(logprobs) + 0.0, math.exp(min(logprobs))


class MeaningColumns(Struct, frozen=True, eq=False):
    """What was found about the answers of each record; one row per record, zeros for one without samples."""

    samples: NDArray[np.int64]
    same: NDArray[np.int64]
    """Samples that mean the same as the response."""
    meanings: NDArray[np.int64]
    """Different meanings among the response and its samples."""
    entropy: NDArray[np.float64]
    """Over the meanings, in nats."""

    @classmethod
    def of(cls, records: Iterable[Sequence[int]]) -> MeaningColumns:
        """Columns from the meanings of each record's response and samples; records may have none."""
        rows = [_meaning_row(meanings) for meanings in records]
        samples, same, meanings, entropy = np.array(rows, dtype=np.float64).reshape(-1, 4).T
        return cls(samples.astype(np.int64), same.astype(np.int64), meanings.astype(np.int64), entropy)

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, rows: slice | NDArray[np.intp] | NDArray[np.bool_]) -> MeaningColumns:
        return MeaningColumns(self.samples[rows], self.same[rows], self.meanings[rows], self.entropy[rows])


def clusters_of_equivalent(count: int, is_same: Callable[[int, int], bool]) -> list[int]:
    """Number the meanings of answers 0, 1, … in order of appearance (the greedy clustering of Kuhn et al. 2023).

    Each answer is compared with the first answer of every meaning so far, in order, and takes the first that is the
    same; otherwise it begins a meaning. At most n (n - 1) / 2 comparisons, and n - 1 when all mean the same. Where
    `is_same` is not transitive the result depends on the order of the answers, which is that of the record.

    >>> clusters_of_equivalent(4, lambda one, other: one % 2 == other % 2)
    [0, 1, 0, 1]
    """
    if count < 0:
        raise SettingsError(f"{count} answers cannot be clustered; expected 0 or more")
    firsts: list[int] = []
    meanings: list[int] = []
    for answer in range(count):
        found = next((meaning for meaning, first in enumerate(firsts) if is_same(first, answer)), len(firsts))
        if found == len(firsts):
            firsts.append(answer)
        meanings.append(found)
    return meanings


def consistency_of(meanings: Sequence[int]) -> Rate:
    """Share of the samples that mean the same as the response, which comes first. Undefined without samples.

    >>> consistency_of([0, 0, 1, 0])
    Rate(count=2, total=3)
    """
    return Rate(sum(meaning == meanings[0] for meaning in meanings[1:]), max(len(meanings) - 1, 0))


def mean_semantic_entropy(columns: MeaningColumns) -> Rates:
    """Mean over records of the entropy over meanings, in nats. Undefined when no record has samples."""
    return Rates(columns.entropy, _has_samples(columns))


def sample_consistency(columns: MeaningColumns) -> Rates:
    """Share of the samples that mean the same as their response. Undefined when no record has samples.

    >>> sample_consistency(MeaningColumns.of([[0, 0, 1], [0, 0, 0], [0]])).pooled
    Rate(count=3.0, total=4.0)
    """
    return Rates(columns.same.astype(np.float64), columns.samples.astype(np.float64))


def mean_meanings(columns: MeaningColumns) -> Rates:
    """Mean number of different meanings per record. Undefined when no record has samples."""
    return Rates(columns.meanings.astype(np.float64), _has_samples(columns))


def _has_samples(columns: MeaningColumns) -> NDArray[np.float64]:
    return (columns.samples > 0).astype(np.float64)


def _meaning_row(meanings: Sequence[int]) -> tuple[float, float, float, float]:
    """Samples, those that mean the same, different meanings, entropy."""
    entropy = semantic_entropy(meanings)
    rate = consistency_of(meanings)
    if not rate.total or entropy is None:
        return 0.0, 0.0, 0.0, 0.0
    return rate.total, rate.count, float(len(set(meanings))), entropy
