"""How surprised a model was by its own words: figures from the log-probabilities of the tokens it wrote."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from hallumeter.errors import RecordError
from hallumeter.records import Rates

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray


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


def check_logprobs(logprobs: Sequence[float]) -> None:
    """Refuse what is no log-probability: not finite, or above 0.

    >>> check_logprobs([-0.1, 0.2])
    Traceback (most recent call last):
    hallumeter.errors.RecordError: token_logprobs[1] is 0.2; expected natural logarithms of probabilities, 0 or less
    """
    for place, logprob in enumerate(logprobs):
        if not -math.inf < logprob <= 0:
            expected = "natural logarithms of probabilities, 0 or less"
            raise RecordError(f"token_logprobs[{place}] is {logprob:g}; expected {expected}")


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
