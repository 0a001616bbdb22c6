"""Whether models refuse what cannot be answered, and answer what can."""

from __future__ import annotations

import numpy as np

from hallumeter.records import Answers, Rates


def false_acceptance_rate(answers: Answers) -> Rates:
    """Share of unanswerable questions that the model answered all the same (FAR).

    Answerable questions are ignored. Undefined when no question is unanswerable.

    >>> false_acceptance_rate(Answers.of([(False, False), (False, True)])).value
    0.5
    """
    return _rates(~answers.is_answerable & ~answers.did_abstain, ~answers.is_answerable)


def correct_refusal_rate(answers: Answers) -> Rates:
    """Share of unanswerable questions that the model refused; one minus the false acceptance rate."""
    return _rates(~answers.is_answerable & answers.did_abstain, ~answers.is_answerable)


def over_refusal_rate(answers: Answers) -> Rates:
    """Share of answerable questions that the model refused. Undefined when no question is answerable."""
    return _rates(answers.is_answerable & answers.did_abstain, answers.is_answerable)


def _rates(
    counts: np.ndarray[tuple[int], np.dtype[np.bool_]], totals: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> Rates:
    return Rates(counts.astype(np.float64), totals.astype(np.float64))
