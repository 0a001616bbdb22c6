"""Tokens of a text, where nobody has counted them."""

from __future__ import annotations


def estimated_tokens(text: str) -> int:
    """About as many tokens as a text has: four characters of ASCII each, or one and a half of another script.

    >>> estimated_tokens("four words of text, a few"), estimated_tokens("서울은 수도이다")
    (7, 6)
    """
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return -(-plain // 4) + round((len(text) - plain) / 1.5)
