"""Probabilities of labels out of the tokens of a reply."""

from __future__ import annotations

import math

import pytest

from hallumeter.claims.judges.replies import label_probabilities
from hallumeter.models.protocol import TokenLogprob


def token(text: str, *alternatives: tuple[str, float]) -> TokenLogprob:
    """A token with the probabilities, not their logarithms, of what could have stood there."""
    return TokenLogprob(
        text, math.log(dict(alternatives).get(text, 1.0)), tuple((t, math.log(p)) for t, p in alternatives)
    )


def test_each_label_is_looked_up_where_it_begins_in_the_order_of_the_reply() -> None:
    tokens = [
        *(
            token('{"'),
            token("1"),
            token('":"'),
            token("SUP", ("SUP", 0.6), ("REF", 0.3), ("NOT", 0.1)),
            token("PORTED"),
        ),
        *(
            token('","'),
            token("2"),
            token('":"'),
            token("NOT", ("NOT", 0.5), ("SUP", 0.25)),
            token("_ENOUGH_INFO"),
            token('"}'),
        ),
    ]
    first, second = label_probabilities(tokens)
    assert first == pytest.approx((0.6, 0.3, 0.1))
    assert second == pytest.approx((1 / 3, 0.0, 2 / 3))


def test_a_token_that_also_holds_the_mark_before_the_label_is_compared_without_it() -> None:
    tokens = [
        token('{"label":'),
        token(' "SU', (' "SU', 0.4), (' "RE', 0.2), (" {", 0.3), ("SU", 0.1)),
        token('PPORTED"}'),
    ]
    assert label_probabilities(tokens) == [pytest.approx((2 / 3, 1 / 3, 0.0))]


def test_letters_of_either_case_and_whole_labels_count_and_ambiguous_tokens_do_not() -> None:
    options = (("S", 0.3), ("Supported", 0.1), ("REFUTED", 0.2), ("", 0.2), ("UN", 0.1), ("SUPPORTED.", 0.05))
    tokens = [token('{"1": "'), token("S", *options), token('UPPORTED"}')]
    assert label_probabilities(tokens) == [pytest.approx((0.4 / 0.6, 0.2 / 0.6, 0.0))]


def test_without_alternatives_only_the_token_itself_is_known() -> None:
    assert label_probabilities([token('{"1":"'), token("REF"), token('UTED"}')]) == [(0.0, 1.0, 0.0)]


def test_a_label_that_is_no_outcome_has_no_distribution() -> None:
    assert label_probabilities([token('{"1":"'), token("UND"), token('ECIDED"}')]) == [None]


def test_labels_inside_a_quotation_are_no_labels() -> None:
    tokens = [
        token('{"1":{"quote":"say \\"label\\":\\"REFUTED\\"","label":"'),
        token("SUPPORTED", ("SUPPORTED", 0.9)),
        token('"}}'),
    ]
    assert label_probabilities(tokens) == [(1.0, 0.0, 0.0)]


def test_text_without_labels_has_none() -> None:
    assert label_probabilities([token("Hello"), token(" there")]) == []
