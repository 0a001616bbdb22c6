"""How sure a language model was of its labels, from the tokens that it could have written instead."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from hallumeter.formats import label_of
from hallumeter.records import Label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.providers.language_models.protocol import TokenLogprob

OUTCOMES = (Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_INFO)
"""The order of the numbers in a distribution over labels."""
_LABEL = re.compile(r'"(?:label|verdict|\d+)"\s*:\s*"([^"\\]+)"')


def label_probabilities(tokens: Sequence[TokenLogprob]) -> list[tuple[float, ...] | None]:
    """A distribution over the three outcomes for each label of a reply, in the order of the reply.

    The first token that tells one label from another is looked at, and those that could have stood there: each is
    counted for the one label that it begins. What is left, tokens that begin no label or several, UNDECIDED, and
    tokens that the provider does not list, is not known to belong to any outcome: the distribution is that among the
    three outcomes, and None where none of them is listed.

    >>> from hallumeter.providers.language_models.protocol import TokenLogprob
    >>> options = (("SUP", -0.5), ("REF", -1.5), ("NOT", -2.5), ("The", -3.0))
    >>> tokens = [TokenLogprob('{"1":"', 0.0), TokenLogprob("SUP", -0.5, options), TokenLogprob('PORTED"}', 0.0)]
    >>> [f"{probability:.3f}" for probability in label_probabilities(tokens)[0]]
    ['0.665', '0.245', '0.090']
    """
    starts = [0, *accumulate(len(token.token) for token in tokens)]
    text = "".join(token.token for token in tokens)
    places = [match.start(1) for match in _LABEL.finditer(text) if label_of(match[1]) is not None]
    found = []
    for place in places:
        index = bisect_right(starts, place) - 1
        found.append(_distribution(tokens[index], place - starts[index]))
    return found


def _distribution(token: TokenLogprob, before: int) -> tuple[float, ...] | None:
    """The distribution where a token stands whose first characters are not yet part of the label."""
    head = token.token[:before]
    masses = dict.fromkeys(Label, 0.0)
    options = dict(token.alternatives)
    options.setdefault(token.token, token.logprob)
    for option, logprob in options.items():
        label = _label_begun_by(option.removeprefix(head)) if option.startswith(head) else None
        if label is not None and logprob <= 0:
            masses[label] += math.exp(logprob)
    total = math.fsum(masses[label] for label in OUTCOMES)
    return tuple(masses[label] / total for label in OUTCOMES) if total > 0 else None


def _label_begun_by(option: str) -> Label | None:
    """The only label that a token can begin; letters of either case, since models write both."""
    letters = option.strip(' "\n,}').upper()
    begun = [label for label in Label if letters and (label.value.startswith(letters) or letters == label.value)]
    return begun[0] if len(begun) == 1 else None
