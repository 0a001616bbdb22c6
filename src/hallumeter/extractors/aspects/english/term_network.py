"""The network that marks aspect terms: two layers over neighbouring words, then begin, inside or outside."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .first_layer import FirstSums, product
from .model_files import Numbers, Weights

OUTSIDE, BEGIN, INSIDE = range(3)
LABELS = 3
_NEVER = -1e9


class TermNetwork:
    """Gives every word the probabilities of the three labels."""

    def __init__(self, weights: Weights) -> None:
        self._first_bias = weights.numbers("term_first_bias")
        self._second, self._second_bias = weights.numbers("term_second"), weights.numbers("term_second_bias")
        self._size = len(self._first_bias)
        self._out, self._out_bias = weights.numbers("term_out")[: self._size], weights.numbers("term_out_bias")

    def logarithms(self, sums: FirstSums) -> Numbers:
        """Logarithms of the probabilities of the labels, a row for each word."""
        count, size = sums.term_near.shape
        padded = np.zeros((count + 2, size), np.float32)
        near = padded[1:-1]
        np.maximum(sums.term_near + self._first_bias, 0.0, out=near)
        step = padded.itemsize
        beside = np.lib.stride_tricks.as_strided(padded, (count, 3 * size), (size * step, step), writeable=False)
        far = np.maximum(product(beside, self._second) + self._second_bias, 0.0)
        far += near
        scores = product(far, self._out) + sums.term_own + self._out_bias
        scores -= scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return np.asarray(scores, np.float32)


def best_spans(logarithms: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """First and one past the last word of the terms of the most probable labelling in which none begins inside.

    >>> best_spans([[-0.1, -3.0, -4.0], [-2.0, -0.2, -3.0], [-2.0, -3.0, -0.2], [-0.1, -3.0, -3.0]])
    [(1, 3)]
    """
    outside, begun, inside = 0.0, _NEVER, _NEVER
    sources: list[tuple[int, int, int]] = []
    for out, begin, within in logarithms:
        before, source = outside, OUTSIDE
        if begun > before:
            before, source = begun, BEGIN
        if inside > before:
            before, source = inside, INSIDE
        sources.append((source, source, BEGIN if begun >= inside else INSIDE))
        outside, begun, inside = before + out, before + begin, max(begun, inside) + within
    label = max((outside, -OUTSIDE), (begun, -BEGIN), (inside, -INSIDE))[1] * -1
    spans: list[tuple[int, int]] = []
    end = len(sources)
    for place in range(len(sources) - 1, -1, -1):
        if label == OUTSIDE:
            end = place
        elif label == BEGIN:
            spans.append((place, end))
            end = place
        label = sources[place][label]
    return spans[::-1]


def span_score(logarithms: Sequence[Sequence[float]], first: int, last: int) -> float:
    """The logit of the probability that exactly these words are a term, each word taken alone."""
    total = logarithms[first][BEGIN] + sum(row[INSIDE] for row in logarithms[first + 1 : last])
    if last < len(logarithms):
        total += math.log1p(-min(math.exp(logarithms[last][INSIDE]), 0.999))
    total = min(total, -1e-4)
    return total - math.log(-math.expm1(total))
