"""The kind of every token of a claim, by what was measured of it against all of the evidence."""

from __future__ import annotations

from hallumeter.judges.rules.findings import is_doubt

from .chunks import ALIKE, DOUBTED, KNOWN, UNKNOWN, MarkedClaim
from .features import Measured
from .tokens import tokens_of

_ALIKE = 0.45
"""Cosine from which two words are taken to be alike."""
_SAME = 0.999


def marked(measured: Measured) -> MarkedClaim:
    """A claim with the kinds of its tokens."""
    text = measured.statement.text
    tokens = tokens_of(text)
    wrong = [(finding.start, finding.end) for finding in measured.findings if not is_doubt(finding)]
    kinds = []
    for (start, end), likeness in zip(tokens.spans, measured.likeness.best.tolist(), strict=True):
        if any(first < end and start < last for first, last in wrong):
            kinds.append(DOUBTED)
        else:
            kinds.append(KNOWN if likeness >= _SAME else ALIKE if likeness >= _ALIKE else UNKNOWN)
    return MarkedClaim(text, tokens, tuple(kinds))
