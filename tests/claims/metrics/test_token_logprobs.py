"""Log-probabilities of tokens: figures worked by hand, and what is refused."""

from __future__ import annotations

import math

import pytest

from hallumeter.claims.metrics.samples import TokenColumns, least_token_probability, token_surprisal
from hallumeter.errors import RecordError
from hallumeter.records.response import check_logprobs


def test_surprisal_is_pooled_over_tokens_and_the_least_probability_over_responses() -> None:
    # Probabilities 1, 1/2, 1/2 and 1/8: surprisals 0, log 2, log 2 and 3 log 2; the least are 1/2 and 1/8.
    half = math.log(0.5)
    columns = TokenColumns.of([[0.0, half, half], [math.log(0.125)], None, []])
    assert token_surprisal(columns).value == pytest.approx(5 * math.log(2) / 4)
    assert least_token_probability(columns).value == pytest.approx((0.5 + 0.125) / 2)
    assert (token_surprisal(columns).pooled.total, least_token_probability(columns).pooled.total) == (4, 2)


def test_the_exponential_of_the_surprisal_is_the_perplexity() -> None:
    # A model that always chooses among eight equal words has the perplexity 8.
    value = token_surprisal(TokenColumns.of([[math.log(1 / 8)] * 5])).value
    assert value is not None
    assert math.exp(value) == pytest.approx(8)


def test_certain_tokens_are_no_surprise_at_all() -> None:
    columns = TokenColumns.of([[0.0, -0.0]])
    assert math.copysign(1, columns.surprisal[0]) == 1
    assert token_surprisal(columns).value == 0
    assert least_token_probability(columns).value == 1


@pytest.mark.parametrize("responses", [[], [None], [[]], [None, ()]])
def test_without_tokens_nothing_is_defined(responses: list[list[float] | None]) -> None:
    columns = TokenColumns.of(responses)
    assert token_surprisal(columns).value is None
    assert least_token_probability(columns).value is None


@pytest.mark.parametrize(("bad", "shown"), [(0.1, "0.1"), (math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf")])
def test_what_is_no_log_probability_is_refused_with_its_place(bad: float, shown: str) -> None:
    with pytest.raises(RecordError, match=rf"token_logprobs\[2\] is {shown}; expected natural logarithms"):
        check_logprobs([-1.0, 0.0, bad])
    with pytest.raises(RecordError, match="token_logprobs"):
        TokenColumns.of([[-1.0], [bad]])
